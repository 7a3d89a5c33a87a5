"""Several devices, or the processor and devices, share the rows of a matrix: the same numbers."""

import numpy as np
import pytest

import calderon as cal
from calderon.galerkin.device import local_matrices

MESH = cal.mesh.sphere(radius=1.0, h=0.3)
P1, HELMHOLTZ = cal.P1(MESH), cal.Helmholtz(3.0)
LAYERS = [f(HELMHOLTZ, P1) for f in (cal.single_layer, cal.double_layer, cal.hypersingular)]
OPERATORS = {
    "symmetric": LAYERS[0],
    "discontinuous": cal.double_layer(cal.Laplace(), cal.P0(MESH)),
    "edges": cal.magnetic_field(3.0, cal.RWG(cal.mesh.sphere(radius=1.0, h=0.6))),
    "sum": 0.5 * cal.identity(P1) - LAYERS[1] + 0.3j * LAYERS[2],
    "blocks": cal.blocks([[LAYERS[0], LAYERS[1].T], [None, LAYERS[2]]]),
}


@pytest.mark.parametrize(
    ("name", "team"),
    [
        ("symmetric", "numba+opencl:0"),
        ("discontinuous", "opencl:0+opencl:1"),
        ("edges", "opencl:1+numba+opencl:0"),
        ("sum", "opencl:0+opencl:1"),
        ("blocks", "opencl:1+numba+opencl:0"),
    ],
)
def test_same_numbers(two, monkeypatch, name, team):
    """Tiles so small that neighbours meet between processor and devices, and runs of several tiles."""
    monkeypatch.setattr(local_matrices, "LIMITS", local_matrices.TileLimits(local_matrices=2_000_000))
    exact = OPERATORS[name].assemble().to_array()
    matrix = OPERATORS[name].assemble(backend=team)
    assert np.abs(matrix.to_array() - exact).max() < 1e-12 * np.abs(exact).max()
    for each in team.split("+"):
        assert f"{each} (" in str(matrix) and "%)" in str(matrix)


def test_single_precision_and_a_solution(two):
    wave = cal.PlaneWave(direction=[0, 0, 1], wavenumber=2.0)
    problem = cal.SoundHardScattering(MESH, 2.0)
    solve = {name: problem.solve(wave, backend=name, rtol=1e-8) for name in ("numba", "numba+opencl:0")}
    expected, found = (solution.far_field([[0, 0, -1.0]]) for solution in solve.values())
    assert np.abs(found - expected) < 1e-7 * np.abs(expected)
    matrix = LAYERS[0].assemble(backend="opencl:0+opencl:1", precision="single")
    exact = LAYERS[0].assemble().to_array()
    assert matrix.dtype == np.complex64 and np.abs(matrix.to_array() - exact).max() < 1e-5 * np.abs(exact).max()


def test_an_error_on_one_of_them_ends_all(two, monkeypatch):
    def broken(*arguments):
        raise RuntimeError("the bus is gone")

    monkeypatch.setattr(two[1], "launch", broken)
    with pytest.raises(RuntimeError, match="the bus is gone"):
        LAYERS[1].assemble(backend="numba+opencl:0+opencl:1")


def test_refusals(opencl):
    operator = LAYERS[0]
    with pytest.raises(ValueError, match="names one of 'numba', 'opencl:0', 'opencl:0' twice"):
        operator.assemble(backend="numba+opencl+opencl:0")
    for compute in (
        lambda: operator.assemble("matrix-free", backend="numba+opencl"),
        lambda: operator.assemble(backend="numba+opencl", keep_on_device=True),
        lambda: operator.entries([0], [1], backend="numba+opencl"),
    ):
        with pytest.raises(
            ValueError,
            match="'hmatrix' and 'mlfmm' accept several backends, and not for solids: choose one of 'numba', '",
        ):
            compute()
    with pytest.raises(ValueError, match="unknown backend 'gpu'"):
        operator.assemble(backend="numba+gpu")
