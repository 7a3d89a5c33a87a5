"""Operators on a device have the numbers of the processor: other spaces, near pairs, sums, parts of matrices.

Every form: test_every_form.py.
"""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import Execution
from calderon.galerkin.device import local_matrices
from calderon.galerkin.selection import select
from calderon.operators.tree import ArrayPlace
from catalogue import PRECISIONS


@pytest.fixture(scope="module")
def mesh():
    return cal.mesh.sphere(radius=1.0, h=0.6)


def agrees(operator, precision):
    exact = operator.assemble().to_array()
    matrix = operator.assemble(backend="opencl", precision=precision).to_array()
    assert matrix.dtype == operator.dtype(precision)
    assert np.abs(matrix - exact).max() < PRECISIONS[precision] * np.abs(exact).max()


@pytest.mark.parametrize("spaces", [("P0", "P1"), ("P2", "P2")], ids="-".join)
def test_other_spaces(opencl, mesh, spaces):
    test, trial = (getattr(cal, name)(mesh) for name in spaces)
    agrees(cal.double_layer(cal.Laplace(), trial, test), "double")


def test_near_pairs_and_other_meshes(opencl):
    """Plates closer than their triangles: pairs in parts. Different meshes, an open surface, junctions."""
    lower = cal.mesh.plate(lengths=(1.0, 1.0), h=0.5)
    upper = cal.TriangleMesh(lower.vertices + [0.1, 0.05, 0.03], lower.triangles)
    both = cal.TriangleMesh(
        np.concatenate([lower.vertices, upper.vertices]),
        np.concatenate([lower.triangles, upper.triangles + len(lower.vertices)]),
    )
    agrees(cal.hypersingular(cal.Helmholtz(2.0), cal.P1(both, boundary=False)), "double")
    agrees(cal.electric_field(2.0, cal.RWG(both)), "double")
    agrees(cal.magnetic_field(2.0, cal.RWG(both)), "single")
    agrees(cal.double_layer(cal.Laplace(), cal.P1(upper), cal.P0(lower)), "double")


def test_sums_products_and_blocks(opencl, mesh):
    space, green = cal.P1(mesh), cal.Helmholtz(3.0)
    single, double, hyper = (layer(green, space) for layer in (cal.single_layer, cal.double_layer, cal.hypersingular))
    agrees(0.5 * cal.identity(space) - double + 0.3j * hyper, "double")
    agrees(single @ hyper, "double")
    agrees(double.T, "double")
    agrees(cal.blocks([[single, double], [None, hyper]]), "double")


def test_entries(opencl, mesh):
    operator = cal.double_layer(cal.Helmholtz(3.0), cal.P1(mesh))
    rows, columns = [5, 0, 7, 7], [3, 1, 30]
    exact = operator.entries(rows, columns)
    assert np.abs(operator.entries(rows, columns, backend="opencl") - exact).max() < 1e-12 * np.abs(exact).max()


class Counting:
    """A device that counts threads of the regular part and bytes that go to it."""

    def __init__(self, device):
        self.device, self.threads, self.sent = device, 0, 0

    def __getattr__(self, name):
        return getattr(self.device, name)

    def array(self, host):
        self.sent += host.nbytes
        return self.device.array(host)

    def launch(self, program, kernel, threads, *arguments):
        self.threads += np.prod(threads) if kernel.endswith("regular") else 0
        self.device.launch(program, kernel, threads, *arguments)


def touched(space, functions):
    return (np.isin(space.dofs, functions).any(axis=1)).sum()


@pytest.mark.parametrize("kind", ["P0", "RWG"])
def test_entries_cost_what_their_block_costs(opencl, kind):
    """Pairs of triangles that carry the functions, and no bytes for others: the mesh may be as large as it likes."""
    found = []
    for h in (0.4, 0.1):
        space = getattr(cal, kind)(cal.mesh.sphere(radius=1.0, h=h))
        operator = cal.electric_field(3.0, space) if kind == "RWG" else cal.single_layer(cal.Laplace(), space)
        rows, columns = np.array([9, 3, 40]), space.dimension - 1 - np.arange(5)
        device = Counting(opencl)
        out = np.zeros((3, 5), operator.dtype())
        place = ArrayPlace(out, Execution(np.dtype(float), device))
        operator.add_to(place, 1.0, np.sort(rows), np.sort(columns))
        group = local_matrices.SMALL_GROUP  # of threads along the triangles of the columns
        assert device.threads == touched(space, rows) * group * -(-touched(space, columns) // group)
        scale = np.abs(operator.entries(rows, rows)).max()
        assert np.abs(out - operator.entries(np.sort(rows), np.sort(columns))).max() < 1e-12 * scale
        found.append(device.sent / (touched(space, rows) + touched(space, columns)))
    assert found[1] < 1.5 * found[0]


@pytest.mark.parametrize("numbers", [[7], [30, 2, 11], range(40), []])
@pytest.mark.parametrize("kind", ["P0", "P1", "P2", "RWG"])
def test_triangles_that_carry_functions(mesh, kind, numbers):
    space, wanted = getattr(cal, kind)(mesh), np.array(numbers, np.int64)
    selection = select(space, wanted)
    carried = np.flatnonzero(np.isin(space.dofs, wanted).any(axis=1))
    assert np.array_equal(np.sort(selection.triangles), carried)
    dofs = space.dofs[selection.triangles]
    kept = selection.places >= 0
    assert np.array_equal(kept, np.isin(dofs, wanted)) and np.array_equal(wanted[selection.places[kept]], dofs[kept])


def test_solution_on_a_device(opencl, mesh):
    wave = cal.PlaneWave(direction=[0, 0, 1], wavenumber=2.0)
    problem = cal.SoundHardScattering(mesh, 2.0)
    expected, found = (problem.solve(wave, backend=name).far_field([[0, 0, -1.0]]) for name in ("numba", "opencl"))
    assert np.abs(found - expected) < 1e-6 * np.abs(expected)
    assert "opencl:0" in problem.solve(wave, backend="opencl").info.matrix


def test_too_little_memory(opencl, mesh, monkeypatch):
    monkeypatch.setattr(type(opencl), "memory", lambda self: 1_000)
    operator = cal.single_layer(cal.Laplace(), cal.P0(mesh))
    with pytest.raises(MemoryError, match="the data of .* triangles needs .* opencl:0 .* 1.0 kB free: try precision"):
        operator.assemble(backend="opencl")
    monkeypatch.setattr(type(opencl), "memory", lambda self: 500_000)
    with pytest.raises(MemoryError, match="the rules of touching pairs needs .* opencl:0 .* 500.0 kB free"):
        operator.assemble(backend="opencl")
    monkeypatch.setattr(local_matrices, "LIMITS", local_matrices.TileLimits(share=1 << 20))
    monkeypatch.setattr(type(opencl), "memory", lambda self: 100_000_000)
    with pytest.raises(MemoryError, match="opencl:0 .* 100.0 MB free, .* those of one triangle need"):
        operator.assemble(backend="opencl")
