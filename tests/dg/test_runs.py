"""Runs that are watched, interrupted and resumed."""

import resource
import tracemalloc
from pathlib import Path

import h5py
import meshio
import numpy as np
import pytest

import calderon as cal

MODE = cal.exact.cubic_cavity(mode=(1, 1, 1))


def cavity(cells=2, order=2, **options):
    result = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=cells), order, **options)
    result.set_fields(MODE.electric, MODE.magnetic)
    return result


@pytest.mark.parametrize(("backend", "flux"), [("numba", "centred"), ("numba", "upwind"), ("opencl", "upwind")])
def test_a_killed_run_goes_on_to_the_identical_field(flux, backend, tmp_path, request):
    if backend == "opencl":
        request.getfixturevalue("opencl")
    file = tmp_path / "run.h5"
    whole = cavity(flux=flux, backend=backend)
    whole.run(1.0, checkpoint=file)
    assert not file.exists()
    killed = cavity(flux=flux, backend=backend)
    killed.add_probe([[0.5, 0.5, 0.5]])
    killed._observers[0].record = stop_at(7)
    with pytest.raises(KeyboardInterrupt):
        killed.run(1.0, checkpoint=file, checkpoint_seconds=0.0)
    assert file.exists()
    resumed = cavity(flux=flux, backend=backend)
    resumed.add_probe([[0.5, 0.5, 0.5]])
    resumed.run(1.0, checkpoint=file)
    for name in ("electric", "magnetic"):
        assert np.array_equal(getattr(resumed._system, name), getattr(whole._system, name))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flux", ["centred", "upwind"])
def test_what_was_observed_before_an_interruption_is_kept(flux, tmp_path):
    """Probes, amplitudes and currents end with the same numbers, bit by bit."""
    points, results, probes = [[0.2, 0.5, 0.4]], [], []
    options = {"flux": flux, "sources": [cal.CurrentSource("vacuum", [0, 0, 1], cal.RampedSine(1.0, 1e-2))]}
    for interrupted in (False, True):
        if interrupted:
            killed = cavity(**options)
            killed.add_probe(points, stride=3).record, after = stop_at(74), 0.0
            killed.add_probe(points, stride=2)
            with pytest.raises(KeyboardInterrupt):
                killed.run_until_periodic(1.0, 4, checkpoint=tmp_path / "run.h5", checkpoint_seconds=after)
            assert (tmp_path / "run.h5").exists()
        simulation = cavity(**options)
        probes.append([simulation.add_probe(points, stride) for stride in (3, 2)][1])
        results.append(simulation.run_until_periodic(1.0, 4, checkpoint=tmp_path / "run.h5"))
    whole, resumed = results
    assert whole.change == resumed.change
    assert whole.ports == resumed.ports and whole.ports["vacuum"].voltage != 0
    assert np.array_equal(probes[0].electric, probes[1].electric)
    assert np.array_equal(probes[0].magnetic, probes[1].magnetic)
    assert np.array_equal(whole.electric(points), resumed.electric(points)) and abs(whole.electric(points)).max() > 0
    assert np.array_equal(whole.magnetic(points), resumed.magnetic(points))


def stop_at(step):
    def record(now):
        if now.step == step:
            raise KeyboardInterrupt

    return record


def test_checkpoints_of_other_runs_and_damaged_ones_are_refused(tmp_path):
    file = tmp_path / "run.h5"
    killed = cavity()
    killed.add_probe([[0.5, 0.5, 0.5]])
    killed._observers[0].record = stop_at(3)
    with pytest.raises(KeyboardInterrupt):
        killed.run(1.0, checkpoint=file, checkpoint_seconds=0.0)
    with pytest.raises(ValueError, match="observers differ"):
        cavity().run(1.0, checkpoint=file)
    with pytest.raises(ValueError, match="order, step, count, observers differ"):
        cavity(order=3).run(1.0, checkpoint=file)
    with pytest.raises(ValueError, match="belongs to another run .mesh"):
        cavity(cells=3).run(1.0, checkpoint=file)
    with h5py.File(file, "r+") as older:
        older.attrs["version"] = 3
    with pytest.raises(
        ValueError, match="checkpoint. of version 3, and this release reads version 5: delete it to restart"
    ):
        cavity().run(1.0, checkpoint=file)
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(ValueError, match="damaged"):
        cavity().run(1.0, checkpoint=file)


def box(amplitude=1.0, points=((0.5, 0.4, 0.3),), frequencies=(1e8,), **options):
    """A cubic metre around a slab, with a dipole, a feed and a wave; steps do not depend on what is changed."""
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=3)
    tags = np.where(np.abs(mesh.centroids - 0.5).max(axis=1) < 0.17, 2, 1)
    faces = {"faces": mesh.faces, "face_tags": mesh.face_tags, "face_names": mesh.face_names}
    mesh = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, {"air": 1, "slab": 2}, **faces)
    choices = {"materials": {"slab": cal.Material(2.0)}, "boundaries": {"wall": "absorbing"}, "sources": sources()}
    result = cal.MaxwellDG(mesh, 2, time_step=5e-11, **choices | options)
    result.set_fields(lambda x, t: amplitude * MODE.electric(x, 0.0), lambda x, t: 0 * x)
    result.add_probe(points)
    result.add_transform(frequencies)
    return result


def sources(position=(0.5, 0.5, 0.5), direction=(0, 0, 1), width=1e-9, course=lambda t: 1e9 * t, wave=(0, 0, 1)):
    return [
        cal.CurrentDipole(position, [0, 0, 1], cal.GaussianPulse(width), radius=0.4),
        cal.CurrentSource("slab", direction, course),
        cal.TransientPlaneWave(wave, [1, 0, 0], 1e8),
    ]


OTHERS = {
    "materials": [
        {"materials": {"slab": cal.Material(2.0, conductivity=1e-6)}},
        {"materials": {"slab": cal.Material(2.0, 1.1)}},
        {"materials": {"slab": cal.Material(2.1)}},
    ],
    "boundaries": [{"boundaries": {"wall": "pmc"}, "sources": sources()[:2]}],
    "sources": [
        {"sources": sources(**changed)}
        for changed in (
            {"position": (0.5, 0.5, 0.51)},
            {"direction": (0, 1, 0)},
            {"width": 1.1e-9},
            {"course": lambda t: 1e9 * t + 1e-6},
            {"wave": (0, 1e-6, 1)},
        )
    ],
    "initial fields": [{"amplitude": 1 + 1e-6}],
    "observers": [{"points": [[0.5, 0.4, 0.31]]}, {"frequencies": [1.1e8]}],
}


def test_checkpoints_of_other_problems_are_refused(tmp_path):
    """Whatever acts on the fields or on what is recorded; a density does not, and a new function is no new course."""
    file, until = tmp_path / "run.h5", 2e-9

    def stop(done, total):
        raise KeyboardInterrupt

    killed = box()
    with pytest.raises(KeyboardInterrupt):
        killed.run(until, stop, file, checkpoint_seconds=0.0)
    for name, changes in OTHERS.items():
        for change in changes:
            other = box(**change)
            with pytest.raises(ValueError, match=f"belongs to another run .*{name}.* differ"):
                other.run(until, checkpoint=file)
    assert file.exists()
    same = {"materials": {"slab": cal.Material(2.0, density=1000.0)}, "boundaries": {"wall": "absorbing"}}
    resumed, whole = box(sources=sources(course=lambda t: 1e9 * t), **same), box()
    file.rename(kept := tmp_path / "kept.h5")
    whole.run(until)
    for each in (resumed, killed):  # in another simulation, and in the one that was interrupted
        file.write_bytes(kept.read_bytes())
        each.run(until, checkpoint=file)
        assert np.array_equal(each._system.electric, whole._system.electric)
        assert np.array_equal(each._observers[0].magnetic, whole._observers[0].magnetic)


def test_a_run_does_not_begin_with_fields_from_amid_another():
    simulation = box()

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulation.run(2e-9, stop)
    for again in (lambda: simulation.run(2e-9), lambda: simulation.run(1e-9)):
        with pytest.raises(RuntimeError, match="an earlier run from t = 0 was not finished.* create a new simulation"):
            again()


@pytest.mark.parametrize("flux", ["centred", "upwind"])
def test_probes_record_both_fields(flux):
    simulation = cavity(cells=4, order=3, flux=flux, courant=0.3)
    points = np.random.default_rng(0).random((5, 3))
    probe = simulation.add_probe(points, stride=3)
    simulation.run(0.4)
    assert len(probe.times) > 5
    for time, electric, magnetic in zip(probe.times, probe.electric, probe.magnetic, strict=True):
        assert np.abs(electric - MODE.electric(points, time)).max() < 0.01
        assert np.abs(magnetic - MODE.magnetic(points, time)).max() < 0.01


def test_every_sample_of_a_probe_is_of_its_time():
    """E and H of the probe, from two runs between which the field is set anew, are those of a run that ends there."""
    points, steps, factors = [[0.2, 0.3, 0.4]], 4, (1.0, 100.0)
    simulation = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2), 2)
    step, probe = simulation.time_step, simulation.add_probe(points)
    for n, factor in enumerate(factors):
        simulation.set_fields(*(lambda x, t, f=f, s=factor: s * f(x, t) for f in (MODE.electric, MODE.magnetic)))
        begin = simulation.time
        simulation.run((n + 1) * steps * step)
        for k in range(1, steps + 1):
            stopped = cal.MaxwellDG(simulation.mesh, 2, time_step=step * (1 + 1e-9))
            stopped.time = begin
            stopped.set_fields(MODE.electric, MODE.magnetic)
            stopped.run(begin + k * step)
            number = n * steps + k - 1
            assert probe.times[number] == pytest.approx(stopped.time, rel=1e-12)
            for name in ("electric", "magnetic"):
                exact = factor * getattr(stopped, name)(points)
                assert getattr(probe, name)[number] == pytest.approx(exact, rel=1e-9, abs=1e-12 * factor)


def test_a_listener_hears_how_far_a_run_is():
    reports = []
    simulation = cavity()
    simulation.run(50 * simulation.time_step, progress=lambda done, total: reports.append((done, total)))
    assert reports == [(20, 50), (40, 50), (50, 50)]


def test_two_runs_are_one():
    once, twice = cavity(), cavity()
    span = 20 * once.time_step
    once.run(span)
    twice.run(span / 2)
    twice.run(span)
    assert np.allclose(once._system.electric, twice._system.electric, atol=1e-13)


def test_too_little_memory_is_told_before(monkeypatch):
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2)
    monkeypatch.setattr("calderon.backends.memory.free_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match="precision='single'"):
        cal.MaxwellDG(mesh, 2)


@pytest.mark.parametrize("flux", ["centred", "upwind"])
@pytest.mark.parametrize("order", [2, 4])
def test_making_a_simulation_takes_no_more_memory_than_it_says(flux, order):
    cavity(cells=2, order=order, flux=flux)  # what is made once in a process
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=8)
    assert len(mesh.neighbours)
    tracemalloc.start()
    try:
        simulation = cal.MaxwellDG(mesh, order, flux=flux)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.4 * simulation.memory < peak < simulation.memory


def test_simulations_that_are_dropped_leave_no_memory():
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2)

    def resident(count):
        for _ in range(count):
            simulation = cal.MaxwellDG(mesh, 2)
        simulation.run(3 * simulation.time_step)
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    before = resident(5)
    assert resident(200) - before < 5e6


def test_memory_stays_below_four_copies_of_the_fields():
    """E and H are one; a run that ends with amplitudes may take three more."""
    simulation = cavity(cells=10, order=3)
    fields = simulation._system.electric.nbytes + simulation._system.magnetic.nbytes
    tracemalloc.start()
    try:
        simulation.run_until_periodic(1 / (24 * simulation.time_step), periods=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * fields


def test_snapshots_hold_the_field_at_the_corners(tmp_path):
    """Every tenth step from the fifth on, with times; resumed runs number them on."""
    simulation = cavity(cells=4, order=3, courant=0.5)
    snapshots = simulation.add_snapshots(tmp_path / "fields", stride=10, first=5)
    step = simulation.time_step
    simulation.run(26 * step)
    assert [name for name, _ in snapshots.files] == ["fields_0001.vtu", "fields_0002.vtu", "fields_0003.vtu"]
    assert [time for _, time in snapshots.files] == pytest.approx([5 * step, 15 * step, 25 * step])
    collection = (tmp_path / "fields" / "fields.pvd").read_text()
    for name, time in snapshots.files:
        content = meshio.read(tmp_path / "fields" / name)
        assert f'timestep="{time!r}" part="0" file="{name}"' in collection
        assert np.abs(content.point_data["E (V/m)"] - MODE.electric(content.points, time)).max() < 0.03
        assert np.abs(content.point_data["H (E0/eta)"] - MODE.magnetic(content.points, time + step / 2)).max() < 0.03
    assert sorted(path.name for path in (tmp_path / "fields").iterdir()) == [
        "fields.pvd",
        *[n for n, _ in snapshots.files],
    ]
    with pytest.raises(ValueError, match="stride=0"):
        simulation.add_snapshots(tmp_path / "fields", stride=0)


@pytest.mark.parametrize("options", [{}, {"flux": "upwind"}, {"local_time_stepping": True}])
def test_a_listener_hears_how_far_the_search_for_the_step_is(options):
    reports = []
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=4)
    vertices = mesh.vertices * np.where(mesh.vertices < 0.3, 0.2, 1.0)
    names = {"face_names": mesh.face_names}
    mesh = cal.TetrahedralMesh(vertices, mesh.tetrahedra, faces=mesh.faces, face_tags=mesh.face_tags, **names)
    cal.MaxwellDG(mesh, 1, progress=lambda *parts: reports.append(parts), **options)
    done, total = np.array(reports).T
    assert len(done) >= 2 and (np.diff(done) == 20).all() and (done <= total).all() and len(set(total)) == 1
