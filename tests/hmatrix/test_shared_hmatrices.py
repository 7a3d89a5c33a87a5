"""Several devices, or the processor and devices, share the blocks of an H-matrix: the same numbers."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import SharingWarning, survey
from calderon.hmatrix import Choices, assemble_hmatrix, compression
from calderon.hmatrix.device import dense_blocks as device_dense_blocks

SPACE = cal.P1(cal.mesh.sphere(1.0, 0.13))
OPERATORS = {
    "symmetric": cal.single_layer(cal.Laplace(), SPACE),
    "rectangular": cal.double_layer(cal.Laplace(), SPACE, cal.P0(SPACE.mesh)),
    "edges": cal.electric_field(2.0, cal.RWG(cal.mesh.sphere(1.0, 0.18))),
}
CHOICES = Choices(leaf=24, coarsen=False)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """So that each worker has several, however fast the others are."""
    monkeypatch.setattr(compression, "MOST_WORK", 1e4)
    monkeypatch.setattr(compression, "LEAST_WORK", 1e4)


def assembled(operator, backend, precision="double"):
    return assemble_hmatrix(operator, rtol=1e-5, backend=backend, precision=precision, choices=CHOICES)


def blocks_of(matrix):
    """Which blocks it has, and their ranks."""
    table = np.concatenate([slab.table[:, [6, 4]] for slab in matrix.slabs])
    return table[np.argsort(table[:, 0])]


@pytest.mark.parametrize(
    ("name", "team"),
    [
        ("symmetric", "opencl:1+numba+opencl:0"),
        ("rectangular", "opencl:0+opencl:1"),
        ("edges", "numba+opencl:0"),
    ],
)
def test_same_blocks(two, name, team):
    alone, shared = assembled(OPERATORS[name], "numba"), assembled(OPERATORS[name], team)
    assert (blocks_of(shared)[:, 0] == blocks_of(alone)[:, 0]).all()
    for each in team.split("+"):
        assert f"{each} (" in shared.backend and f"{each} (0%)" not in shared.backend
    rng = np.random.default_rng(0)
    x, z = (rng.standard_normal((size, 2)) for size in shared.shape[::-1])
    for found, exact in ((shared @ x, alone @ x), (shared.H @ z, alone.H @ z)):
        assert np.linalg.norm(found - exact) < 1e-5 * np.linalg.norm(exact)
    assert len(shared.on_device.parts) == team.count("opencl")
    assert np.linalg.norm(shared.to_array() @ x - shared @ x) < 1e-12 * np.linalg.norm(alone @ x)


def test_the_processor_has_the_small_blocks(two, monkeypatch):
    sizes = []
    run = compression.Compression.run

    def noted(self, kind, blocks):
        sizes.append(np.mean(self.tree.sizes(blocks)))
        return run(self, kind, blocks)

    monkeypatch.setattr(compression.Compression, "run", noted)
    matrix = assembled(OPERATORS["symmetric"], "numba+opencl:0")
    leaves = matrix.tree.leaves
    assert sizes and np.mean(sizes) < np.mean(matrix.tree.sizes(leaves))


def test_single_precision_and_a_solution(two):
    operator = OPERATORS["symmetric"]
    matrix = operator.assemble("hmatrix", rtol=1e-4, backend="numba+opencl:0+opencl:1", precision="single")
    b = operator.assemble() @ np.ones(SPACE.dimension)
    assert matrix.dtype == np.float32
    assert np.linalg.norm(matrix @ np.ones(SPACE.dimension) - b) < 1e-4 * np.linalg.norm(b)
    wave = cal.PlaneWave(direction=[0, 0, 1], wavenumber=2.0)
    problem = cal.SoundHardScattering(SPACE.mesh, 2.0)
    fields = [
        problem.solve(wave, method="hmatrix", backend=name, rtol=1e-6).far_field([[0, 0, -1.0]])
        for name in ("numba", "numba+opencl:0")
    ]
    assert np.abs(fields[1] - fields[0]) < 1e-5 * np.abs(fields[0])


@pytest.mark.parametrize(("team", "first"), [("opencl:0+opencl:1", 2), ("numba+opencl:1", 0)])
def test_what_a_device_leaves_is_done_by_the_others(two, monkeypatch, team, first):
    """Whether it fails at once or in the midst of a run."""
    operator = OPERATORS["symmetric"]
    launch, count = two[1].launch, [0]

    def failing(program, kernel, *arguments):
        count[0] += 1
        if count[0] > first:
            raise RuntimeError("the bus is gone")
        launch(program, kernel, *arguments)

    alone = assembled(operator, "numba")
    assert len(survey("opencl").devices) == 2  # a device that fails a probe is not chosen
    monkeypatch.setattr(two[1], "launch", failing)
    with pytest.warns(SharingWarning, match=r"opencl:1 \(.*\) failed: the bus is gone; the others do its work"):
        matrix = assembled(operator, team)
    assert (blocks_of(matrix)[:, 0] == blocks_of(alone)[:, 0]).all()
    x = np.random.default_rng(1).standard_normal(SPACE.dimension)
    if team == "numba+opencl:1":
        assert matrix.on_device is None
    else:
        assert [part.device for part in matrix.on_device.parts] == two[:1]
    assert np.linalg.norm(matrix @ x - alone @ x) < 1e-5 * np.linalg.norm(alone @ x)


def test_a_device_without_room_for_the_tables(two, monkeypatch):
    prepare = device_dense_blocks.DeviceDenseBlocks.__init__

    def failing(self, on_device, *arguments):
        if on_device.device is two[0]:
            raise MemoryError("no room")
        prepare(self, on_device, *arguments)

    monkeypatch.setattr(device_dense_blocks.DeviceDenseBlocks, "__init__", failing)
    with pytest.warns(SharingWarning, match=r"opencl:0 \(.*\) failed: no room"):
        matrix = assembled(OPERATORS["symmetric"], "opencl:0+opencl:1")
    assert [part.device for part in matrix.on_device.parts] == two[1:]
    with pytest.raises(MemoryError, match="no room"):
        assembled(OPERATORS["symmetric"], "opencl:0")


def test_devices_alone_that_all_fail_say_why(two, monkeypatch):
    def gone(*arguments):
        raise RuntimeError("the bus is gone")

    assert len(survey("opencl").devices) == 2
    for device in two:
        monkeypatch.setattr(device, "launch", gone)
    with pytest.raises(RuntimeError, match="the bus is gone"), pytest.warns(SharingWarning):
        assembled(OPERATORS["symmetric"], "opencl:0+opencl:1")
