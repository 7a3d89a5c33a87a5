"""Matrices that stay on a device hold the numbers of the processor and are solved where they are."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import DeviceMatrix
from calderon.galerkin.device import local_matrices

MESH = cal.mesh.sphere(radius=1.0, h=0.6)
P0, P1, P2, RWG = cal.P0(MESH), cal.P1(MESH), cal.P2(MESH), cal.RWG(MESH)
HELMHOLTZ = cal.Helmholtz(1.5)
SINGLE, DOUBLE, HYPER = (f(HELMHOLTZ, P1) for f in (cal.single_layer, cal.double_layer, cal.hypersingular))
STATIC = cal.single_layer(cal.Laplace(), P1)
OPERATORS = {
    "symmetric": cal.single_layer(HELMHOLTZ, P0),
    "edges": cal.electric_field(1.5, RWG),
    "sum": 0.5 * cal.identity(P1) - DOUBLE + 0.3j * HYPER + 2 * SINGLE,
    "adjoint": DOUBLE.H + (1 + 1j) * STATIC.T,
    "product on the host": SINGLE @ HYPER - DOUBLE,
    "transformed": cal.hypersingular(cal.Laplace(), P2),
    "dual functions": cal.electric_field(1.0, cal.BC(cal.mesh.cube(size=1.0, h=1.0))),
    "blocks": cal.blocks([[SINGLE, DOUBLE.T], [None, HYPER + cal.identity(P1)]]),
}


GRADED, REGULAR = cal.mesh.cuboid((1.0, 1.0, 1.0), 0.25, grading=2), cal.mesh.plate((1.0, 1.0), 0.08)
STATIC_GREEN, WAVE = cal.Laplace(), cal.Helmholtz(0.8)
ZONES = {
    "constants": (cal.single_layer, STATIC_GREEN, cal.P0(REGULAR)),
    "linear": (cal.single_layer, STATIC_GREEN, cal.P1(GRADED)),
    "adjoint": (cal.adjoint_double_layer, STATIC_GREEN, cal.P1(GRADED)),
    "waves": (cal.single_layer, WAVE, cal.P1(GRADED)),
    "curls of waves": (cal.hypersingular, WAVE, cal.P1(GRADED)),
    "currents": (cal.electric_field, WAVE, cal.RWG(REGULAR)),
}
"""Forms, on meshes with triangles of several sizes, and with many pairs at one distance."""


def kept(operator, precision="double"):
    return operator.assemble(backend="opencl", precision=precision, keep_on_device=True)


@pytest.mark.parametrize("name", [each for each in OPERATORS if each != "edges"])
def test_entries_are_those_of_the_processor(opencl, name):
    exact = OPERATORS[name].assemble().to_array()
    matrix = kept(OPERATORS[name])
    assert isinstance(matrix, DeviceMatrix) and matrix.dtype == exact.dtype and matrix.shape == exact.shape
    assert np.abs(matrix.to_array() - exact).max() < 1e-12 * np.abs(exact).max()


@pytest.mark.parametrize(
    ("name", "accuracy", "precision", "bound"),
    [(name, 1e-4, "double", 1e-12) for name in ("constants", "adjoint", "curls of waves", "currents")]
    + [("linear", 0.0, "double", 1e-12), ("waves", 1e-4, "single", 1e-5)],
)
def test_distant_pairs_have_the_rule_of_the_processor(opencl, name, accuracy, precision, bound):
    """In matrices and in products without one, on some thousand triangles, or some hundred thousand distant pairs."""
    layer, green, space = ZONES[name]
    one, two = (layer(green, space, quadrature=cal.Quadrature(accuracy=each)) for each in (accuracy, 0.0))
    exact, without = (each.assemble(precision=precision).to_array() for each in (one, two))
    scale, x = np.abs(exact).max(), np.cos(np.arange(space.dimension))
    found = one.assemble(backend="opencl", precision=precision).to_array()
    assert np.abs(found - exact).max() < bound * scale
    product = one.assemble("matrix-free", backend="opencl", precision=precision) @ x
    assert np.abs(product - exact @ x).max() < bound * np.abs(exact).sum(axis=1).max()
    if precision == "double" and accuracy == 1e-4:  # there are distant pairs
        assert np.abs(exact - without).max() > 1e-10 * scale


def test_rows_that_go_to_the_device_in_slices(opencl, monkeypatch):
    monkeypatch.setattr("calderon.products.device.places.SLICE", 4_000)
    test_entries_are_those_of_the_processor(opencl, "product on the host")


def test_small_tiles_add_to_the_same_rows(opencl, monkeypatch):
    monkeypatch.setattr(local_matrices, "LIMITS", local_matrices.TileLimits(local_matrices=100_000))
    test_entries_are_those_of_the_processor(opencl, "sum")


def test_scaled_operators(opencl):
    problem = cal.ImpedanceScattering(MESH, 1.0, lambda x, n: 1.5 + x[:, 2])
    operator = problem.system.operator
    exact = operator.assemble().to_array()
    assert np.abs(kept(operator).to_array() - exact).max() < 1e-12 * np.abs(exact).max()


def test_single_precision(opencl):
    exact, matrix = OPERATORS["sum"].assemble().to_array(), kept(OPERATORS["sum"], "single")
    assert matrix.dtype == np.complex64
    assert np.abs(matrix.to_array() - exact).max() < 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize(
    ("name", "backend"),
    [("edges", "numba"), ("edges", "opencl"), ("blocks", "numba+opencl")],
)
def test_mixed_precision(opencl, name, backend):
    """Touching and near pairs as in double precision, all others as in single; sums of either in double."""
    operator = OPERATORS[name]
    double, single = (operator.assemble(precision=each).to_array() for each in ("double", "single"))
    mixed = operator.assemble(backend=backend, precision="mixed")
    scale = np.abs(double).max()
    assert mixed.dtype == double.dtype
    error = np.abs(mixed.to_array() - double).max() / scale
    assert 1e-12 < error < 1e-5 and error <= 1.1 * np.abs(single - double).max() / scale
    if backend == "opencl":
        assert np.abs(kept(operator, "mixed").to_array() - mixed.to_array()).max() < 1e-12 * scale


def test_mixed_precision_keeps_the_digits_of_touching_pairs(opencl):
    """The potential of a point of the surface is mostly its triangle's: entries on the diagonal are those in double."""
    operator = OPERATORS["symmetric"]
    exact = operator.assemble().to_array()
    for backend in ("numba", "opencl"):
        mixed = operator.assemble(backend=backend, precision="mixed").to_array()
        near = np.abs(exact) > 0.5 * np.abs(exact).max()
        assert near.sum() >= len(exact)
        assert np.abs(mixed - exact)[near].max() < 1e-12 * np.abs(exact).max()


def test_solutions_stay_with_the_host_s(opencl):
    """Device and host take as many steps to one solution, to rounding; the matrix describes itself."""
    operator, b = OPERATORS["sum"], np.ones(P1.dimension)
    matrix = kept(operator)
    expected, host = cal.gmres(operator.assemble(), b, rtol=1e-10)
    found, info = cal.gmres(matrix, b, rtol=1e-10)
    assert info.iterations == host.iterations
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
    assert "on opencl:0" in str(matrix) and "double_layer" in str(matrix) and matrix.seconds > 0


def test_refusals(opencl, monkeypatch):
    operator = OPERATORS["symmetric"]
    with pytest.raises(ValueError, match="keep_on_device=True is for devices.*backend='cuda'"):
        operator.assemble(keep_on_device=True)
    with pytest.raises(ValueError, match="keep_on_device= is supported by method='dense' only: method 'matrix-free'"):
        operator.assemble("matrix-free", backend="opencl", keep_on_device=True)
    with pytest.raises(ValueError, match="precision='mixed' is for dense matrices"):
        operator.assemble("matrix-free", precision="mixed")
    with pytest.raises(ValueError, match="unknown precision 'half': choose 'double', 'single' or 'mixed'"):
        operator.assemble(precision="half")
    monkeypatch.setattr(type(opencl), "memory", lambda self: 10_000)
    size = operator.shape[0]
    with pytest.raises(MemoryError, match=rf"a matrix of {size} x {size} complex128 needs .* keep_on_device=False"):
        kept(operator)
