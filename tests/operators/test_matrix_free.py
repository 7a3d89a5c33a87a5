"""Products without a matrix are those of the dense one, also of sums, products and blocks.

Every form: test_every_form.py.
"""

import pickle

import numpy as np
import pytest

import calderon as cal
from calderon.dense.matrix_free import JointLayers

MESH = cal.mesh.sphere(radius=1.0, h=0.6)
P0, P1, HELMHOLTZ = cal.P0(MESH), cal.P1(MESH), cal.Helmholtz(1.5)
OPERATORS = {
    "P0": cal.single_layer(HELMHOLTZ, P0),
    "hypersingular": cal.hypersingular(HELMHOLTZ, P1),
    "sum": 0.5 * cal.identity(P1) - cal.double_layer(HELMHOLTZ, P1) + 0.3j * cal.hypersingular(HELMHOLTZ, P1),
    "adjoint": cal.double_layer(HELMHOLTZ, P1).H,
    "transposed": cal.double_layer(HELMHOLTZ, P1).T,
    "product": cal.single_layer(HELMHOLTZ, P1) @ cal.hypersingular(HELMHOLTZ, P1),
    "blocks": cal.blocks(
        [[cal.single_layer(HELMHOLTZ, P1), cal.double_layer(HELMHOLTZ, P1)], [None, cal.hypersingular(HELMHOLTZ, P1)]]
    ),
}


def agrees(operator, bound=1e-10, **options):
    dense = operator.assemble().to_array()
    product = operator.assemble("matrix-free", **options)
    assert product.shape == dense.shape
    random = np.random.default_rng(0)
    for matrix, apply in ((dense, product.matmat), (dense.conj().T, product.rmatmat)):
        x = random.standard_normal((matrix.shape[1], 2)) + 1j * random.standard_normal((matrix.shape[1], 2))
        assert np.abs(apply(x) - matrix @ x).max() < bound * np.abs(matrix @ x).max()
        assert np.abs(apply(1e60 * x) - matrix @ (1e60 * x)).max() < bound * np.abs(matrix @ (1e60 * x)).max()
        assert apply(x[:, :0]).shape == (len(matrix), 0)
    x = random.standard_normal(dense.shape[1])
    assert np.abs(product @ x - dense @ x).max() < bound


@pytest.mark.parametrize("name", OPERATORS)
def test_products(name):
    agrees(OPERATORS[name])


def test_a_single_layer_and_an_adjoint_double_layer_are_computed_together():
    """Their distances are found once, also for quadratic test functions."""
    given = HELMHOLTZ, cal.DP1(MESH), cal.P2(MESH)
    together = (0.7 - 0.2j) * cal.single_layer(*given) + (0.1 + 0.3j) * cal.adjoint_double_layer(*given)
    assert isinstance(together.assemble("matrix-free")._product, JointLayers)
    agrees(together)


@pytest.mark.parametrize("name", ["P0", "sum", "adjoint"])
def test_products_on_a_device(opencl, name):
    agrees(OPERATORS[name], backend="opencl")


@pytest.mark.parametrize("backend", ["numba", "opencl"])
def test_single_precision(backend, request):
    if backend == "opencl":
        request.getfixturevalue("opencl")
    agrees(OPERATORS["hypersingular"], 1e-5, backend=backend, precision="single")


def test_copies_are_prepared_anew():
    given = OPERATORS["P0"].assemble("matrix-free")
    copy = pickle.loads(pickle.dumps(given))
    x = np.linspace(1.0, 2.0, given.shape[1])
    assert repr(copy) == repr(given) and np.array_equal(copy @ x, given @ x)


def test_what_is_on_a_device_is_not_copied(opencl):
    for method, options in (("hmatrix", {}), ("dense", {"keep_on_device": True})):
        matrix = OPERATORS["P0"].assemble(method, backend="opencl", **options)
        with pytest.raises(TypeError, match="what is held on opencl:. cannot be pickled or copied: take the operator"):
            pickle.dumps(matrix)


def test_dual_functions():
    agrees(cal.electric_field(1.0, cal.BC(cal.mesh.cube(size=1.0, h=1.0))))


def test_solution_and_what_it_says():
    wave = cal.PlaneWave(direction=[0, 0, 1], wavenumber=1.5)
    problem = cal.SoundHardScattering(MESH, 1.5)
    dense, free = (problem.solve(wave, method=name, rtol=1e-10) for name in ("dense", "matrix-free"))
    assert np.abs(dense.surface.coefficients - free.surface.coefficients).max() < 1e-8
    assert "matrix-free" in free.info.matrix
    assert "matrix-free operator" in str(OPERATORS["P0"].assemble("matrix-free"))


@pytest.mark.parametrize("backend", ["numba", "opencl"])
def test_memory_is_asked_for_before_anything_is_prepared(backend, request, monkeypatch):
    """Lists of pairs, tables of rules and, on the processor, the rows of a tile for each thread."""
    if backend == "opencl":
        request.getfixturevalue("opencl")
    monkeypatch.setattr("calderon.backends.memory.free_memory", lambda: 2_000_000)
    monkeypatch.setattr("calderon.dense.matrix_free.block_of", None)
    with pytest.raises(MemoryError, match=r"matrix-free product of single_layer .* needs .* 2.0 MB are free: try"):
        OPERATORS["P0"].assemble("matrix-free", backend=backend)


def test_refusals():
    with pytest.raises(ValueError, match="method 'matrix-free' compresses nothing"):
        OPERATORS["P0"].assemble("matrix-free", rtol=1e-3)
