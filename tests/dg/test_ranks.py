"""Ranks that share a mesh get the fields of one alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.partition import part_of, partition
from calderon.parallel import world

PROGRAM = """
import sys
import numpy as np
import calderon as cal

folder = sys.argv[1]
mesh = cal.mesh.box([0, 0, 0], [0.3, 0.3, 0.3], cells=3)
tags = (mesh.centroids[:, 2] > 0.15).astype(int)
mesh = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, {"air": 0, "tissue": 1})
tissue = {"tissue": cal.Material(permittivity=3.0, permeability=1.5, conductivity=0.05, density=1e3)}
sources = [
    cal.TimeHarmonicPlaneWave([0, 0, 1], [1, 1j, 0], 3e8),
    cal.CurrentSource("tissue", [1, 0, 0], cal.RampedSine(3e8, 1e-3)),
    cal.CurrentDipole([0.14, 0.16, 0.12], [0, 0, 1e-4], cal.RampedSine(3e8)),
]
points = np.random.default_rng(0).random((20, 3)) * 0.3
numbers = {}
for flux in ("centred", "upwind"):
    simulation = cal.MaxwellDG(mesh, 2, flux=flux, materials=tissue, boundaries={"wall": "absorbing"}, sources=sources)
    probe = simulation.add_probe(points[:3], stride=5)
    result = simulation.run_until_periodic(3e8, periods=2)
    numbers |= {
        f"{flux} {name}": np.atleast_1d(value)
        for name, value in {
            "electric": result.electric(points), "magnetic": result.magnetic(points), "probe": probe.electric,
            "power": list(result.absorbed_power().values()), "energy": simulation.energy(),
            "voltage": simulation.ports["tissue"].voltage, "fed": simulation.ports["dipole"].power,
            "rate": np.nan_to_num(result.specific_absorption_rate()), "step": simulation.time_step,
        }.items()
    }
    result.write(f"{folder}/{flux}.vtu")
rank = simulation._domain.communicator.rank
if rank == 0:
    np.savez(f"{folder}/fields.npz", **numbers)
print(rank, "of", simulation._domain.communicator.size)
"""


def launched(count, program, *arguments):
    """The output of a program on so many ranks; skips the test where there is no MPI."""
    pytest.importorskip("mpi4py")
    pytest.importorskip("pymetis")
    command = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if command is None:
        pytest.skip("mpiexec is not at hand")
    environment = os.environ | {"NUMBA_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    given = [command, "-n", str(count), sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(given, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_ranks_equal_one(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, count in ((one, 1), (two, 2)):
        folder.mkdir()
        output = launched(count, PROGRAM, folder)
        assert sorted(output.split("\n"))[1:] == [f"{rank} of {count}" for rank in range(count)]
    with np.load(one / "fields.npz") as first, np.load(two / "fields.npz") as second:
        assert len(first.files) == 18
        for name in first.files:
            assert np.allclose(second[name], first[name], rtol=0, atol=1e-12 * np.abs(first[name]).max()), name
    for flux in ("centred", "upwind"):
        assert len((two / f"{flux}.vtu").read_bytes()) > 1000


@pytest.mark.parametrize("count", [2, 3, 7])
def test_parts_meet_face_to_face(count):
    pytest.importorskip("pymetis")
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=4)
    parts = partition(mesh, count)
    sizes = np.bincount(parts, minlength=count)
    assert sizes.min() > 0.8 * sizes.mean()
    pieces = [part_of(mesh, parts, number) for number in range(count)]
    assert sum(piece.mesh.volumes.sum() for piece in pieces) == pytest.approx(1)
    for number, piece in enumerate(pieces):
        for place, other in enumerate(piece.others):
            across = pieces[other]
            there = across.others.index(number)
            runs = [slice(*each.first[n : n + 2]) for each, n in ((piece, place), (across, there))]
            own, its = (
                each.mesh.vertices[each.mesh.faces[run]] for each, run in zip((piece, across), runs, strict=True)
            )
            assert len(own) and np.array_equal(own, its)


def test_more_parts_than_tetrahedra_are_refused():
    with pytest.raises(cal.MeshError, match="7 parts of 6 tetrahedra"):
        partition(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=1), 7)


def test_a_process_that_nobody_launched_is_alone():
    alone = world()
    assert (alone.rank, alone.size) == (0, 1)
    with pytest.raises(ValueError, match="no others"):
        alone.exchange({1: np.zeros(1)}, {})
