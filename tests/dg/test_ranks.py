"""Ranks that share a mesh get the fields of one alone."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.tetrahedral.partition import part_of, partition
from calderon.parallel import world

PROGRAM = """
import sys
import numpy as np
import calderon as cal

folder, backend = sys.argv[1:]
mesh = cal.mesh.box([0, 0, 0], [0.3, 0.3, 0.3], cells=3)
tags = (mesh.centroids[:, 2] > 0.15) * (1 + (mesh.centroids[:, 0] > 0.15))
mesh = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, {"air": 0, "tissue": 1, "metal": 2})
tissue = {"tissue": cal.Material(permittivity=3.0, permeability=1.5, conductivity=0.05, density=1e3)}
tissue["metal"] = cal.Material(conductivity=1e6)
sources = [
    cal.TransientPlaneWave([0, 0, 1], [1, 1j, 0], 3e8),
    cal.CurrentSource("tissue", [1, 0, 0], cal.RampedSine(3e8, 1e-3)),
    cal.CurrentDipole([0.14, 0.16, 0.12], [0, 0, 1e-4], cal.RampedSine(3e8)),
]
points = np.random.default_rng(0).random((20, 3)) * 0.3
numbers = {}
for flux in ("centred", "upwind"):
    simulation = cal.MaxwellDG(
        mesh, 2, flux=flux, materials=tissue, boundaries={"wall": "absorbing"}, sources=sources, backend=backend
    )
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
sys.stdout.write(f"{rank} of {simulation._domain.communicator.size}\\n")
"""

SCATTERING = """
import sys
import numpy as np
import calderon as cal

folder = sys.argv[1]
mesh = cal.mesh.box([-0.5] * 3, [0.5] * 3, cells=8)
away = np.linalg.norm(mesh.vertices, axis=1)[:, None]
mesh = cal.TetrahedralMesh(
    mesh.vertices * np.clip(0.3 + (away - 0.1) / 0.4, 0.3, 1.0), mesh.tetrahedra,
    (np.linalg.norm(mesh.centroids, axis=1) < 0.25).astype(int), {"air": 0, "body": 1},
    mesh.faces, mesh.face_tags, mesh.face_names,
)
numbers = {}
for name, sources in {
    "wave": [cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], 3e8)],
    "feed": [cal.CurrentSource("body", [0, 0, 1], cal.RampedSine(3e8))],
    "dipole": [cal.CurrentDipole([0, 0, 0.02], [0, 0, 1e-3], cal.RampedSine(3e8), radius=0.1)],
}.items():
    simulation = cal.MaxwellDG(
        mesh, 1, materials={"body": cal.Material(3.0, 1.0, 0.02, 1e3)}, boundaries={"wall": "absorbing"},
        sources=sources, local_time_stepping=True,
    )
    result = simulation.run_until_periodic(3e8, periods=2)
    port = next(iter(simulation.ports.values()), None)
    numbers |= {
        f"{name} {key}": np.atleast_1d(value)
        for key, value in {
            "far": result.far_field(np.eye(3)), "ball": result.far_field(np.eye(3), radius=0.4),
            "radiated": result.radiated_power(), "outward": result.outward_power(),
            "absorbed": result.absorbed_power()["body"], "electric": result.electric(np.eye(3) / 10),
            "step": simulation.time_step, "classes": simulation.elements_by_step,
            "section": result.rcs(np.pi, 0.0) if port is None else 0.0,
            "voltage": 0.0 if port is None else port.voltage, "current": 0.0 if port is None else port.current,
        }.items()
    }
rank = simulation._domain.communicator.rank
if rank == 0:
    np.savez(f"{folder}/fields.npz", **numbers)
sys.stdout.write(f"{rank} of {simulation._domain.communicator.size}\\n")
"""


def launched(count, program, *arguments):
    """The output of a program on so many ranks; skips the test where there is no MPI."""
    pytest.importorskip("mpi4py")
    pytest.importorskip("pymetis")
    command = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if command is None:
        pytest.skip("mpiexec is not available")
    environment = os.environ | {"NUMBA_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    given = [command, "-n", str(count), sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(given, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise AssertionError(done.stderr)  # alone, without what pytest adds to an assert statement
    return done.stdout


def numbers_of(program, count, folder, *arguments):
    """Numbers that a program on so many ranks has left in its folder."""
    folder.mkdir()
    output = launched(count, program, folder, *arguments)
    assert sorted(output.split("\n"))[1:] == [f"{rank} of {count}" for rank in range(count)]
    with np.load(folder / "fields.npz") as found:
        return dict(found)


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """computed(count, backend): the numbers of PROGRAM on so many ranks, and its folder."""

    @functools.cache
    def run(count, backend):
        folder = tmp_path_factory.mktemp("ranks") / f"{backend}-{count}"
        return numbers_of(PROGRAM, count, folder, backend), folder

    return run


def agree(first, second, bound=1e-12):
    """Two sets of numbers do, relative to the largest of each kind."""
    assert len(first) == 18 and set(first) == set(second)
    for name in first:
        assert np.allclose(second[name], first[name], rtol=0, atol=bound * np.abs(first[name]).max()), name


def test_two_ranks_equal_one(computed):
    second, folder = computed(2, "numba")
    agree(computed(1, "numba")[0], second)
    for flux in ("centred", "upwind"):
        assert len((folder / f"{flux}.vtu").read_bytes()) > 1000


def test_two_ranks_on_devices_equal_one_and_the_processor(opencl, computed):
    second = computed(2, "opencl")[0]
    agree(computed(1, "opencl")[0], second)
    agree(computed(1, "numba")[0], second, 1e-11)


def test_far_fields_currents_and_shorter_steps_are_those_of_one_rank(tmp_path):
    first, second = (numbers_of(SCATTERING, count, tmp_path / str(count)) for count in (1, 2))
    assert len(first) == 33 and len(first["wave classes"]) > 1
    for name in first:
        assert np.allclose(second[name], first[name], rtol=0, atol=1e-11 * np.abs(first[name]).max()), name
        blank = ("section", "outward") if "wave" not in name else ("voltage", "current")
        assert name.endswith(blank) or np.abs(first[name]).max() > 0, name


def test_elements_that_belong_together_stay_on_one_rank():
    pytest.importorskip("pymetis")
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=6)
    together = np.abs(mesh.centroids - 0.5).max(axis=1) < 0.3
    work = np.where(together, 2, 1)
    parts = partition(mesh, 2, together, work)
    assert len(np.unique(parts[together])) == 1
    assert np.bincount(parts, work).min() > 0.9 * work.sum() / 2
    with pytest.raises(cal.MeshError, match="2 parts of a mesh in 1 pieces that must stay whole"):
        partition(mesh, 2, np.ones(mesh.number_of_tetrahedra, bool))


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
    with pytest.raises(ValueError, match="no other ranks"):
        alone.exchange({1: np.zeros(1)}, {})
