"""A method of assembly is entered once, from anywhere; what it cannot do is refused with the methods that can."""

import numpy as np
import pytest

import calderon as cal
from calderon.dense import assemble_dense
from calderon.operators import methods
from calderon.operators.methods import Method, candidates, first_that, register

SPACE = cal.P0(cal.mesh.sphere(1.0, 0.6))
OPERATOR = cal.single_layer(cal.Laplace(), SPACE)


@pytest.fixture
def halved(monkeypatch):
    """A method of this file, which gives half of every entry and notes its options."""
    monkeypatch.setattr(methods, "_methods", dict(methods.table()))
    noted = []

    def build(operator, *, backend, precision, progress, **options):
        noted.append(options)
        return assemble_dense(0.5 * operator, backend=backend, precision=precision, progress=progress)

    register(Method("halved", build, stores_entries=True, compresses=True, matrix="half a matrix"))
    return noted


def test_a_method_is_entered_from_one_file(halved):
    whole = OPERATOR.assemble().to_array()
    assert np.allclose(OPERATOR.assemble("halved", rtol=1e-3).to_array(), whole / 2)
    assert np.allclose(cal.blocks([[OPERATOR]]).assemble("halved").to_array(), whole / 2)
    assert halved == [{"rtol": 1e-3}, {}]


def test_a_method_solves_problems(halved):
    problem = cal.LaplaceDirichlet(SPACE.mesh)
    solutions = [problem.solve(1.0, method=method, rtol=1e-8, solver="lu") for method in ("dense", "halved")]
    first, second = (solution.surface.coefficients for solution in solutions)
    assert np.allclose(2 * first, second)
    assert halved == [{"rtol": 1e-9}]


def test_refusals_name_the_methods_that_can(halved):
    with pytest.raises(ValueError, match="unknown method 'fast': choose 'dense' or 'fft' or 'fmm' or 'halved' or "):
        OPERATOR.assemble("fast")
    with pytest.raises(ValueError, match="rtol= is supported by method='hmatrix' or method='fmm' or "):
        OPERATOR.assemble("dense", rtol=1e-3)
    with pytest.raises(ValueError, match="matrix_file= is supported by method='hmatrix' or method='mlfmm' only: "):
        OPERATOR.assemble("halved", matrix_file="matrix.h5")
    with pytest.raises(ValueError, match="keep_on_device= is supported by method='dense' only: method 'halved' keeps"):
        OPERATOR.assemble("halved", keep_on_device=True)
    with pytest.raises(ValueError, match="precision='mixed'"):
        OPERATOR.assemble("halved", precision="mixed")
    with pytest.raises(ValueError, match="several"):
        OPERATOR.assemble("halved", backend="numba+opencl")


def test_names_are_entered_once(halved):
    for name in ("halved", "auto"):
        with pytest.raises(ValueError, match=f"method '{name}' is registered already"):
            register(Method(name, assemble_dense))


def test_auto_stands_for_all_methods():
    assert {method.name for method in candidates("auto")} == {"dense", "fft", "fmm", "hmatrix", "matrix-free", "mlfmm"}
    assert [method.name for method in candidates("dense")] == ["dense"]
    assert first_that("stores_entries").name == "dense" and first_that("compresses").name == "hmatrix"
