"""Small elements take several steps while the others take one: the same fields for less work."""

import numpy as np
import pytest

import calderon as cal
from calderon.dg.operator.step_classes import step_classes
from calderon.dg.stepping.system import Steps

MODE = cal.exact.cubic_cavity(mode=(1, 1, 1))


def graded(cells, ratio=0.15):
    """A unit cube in which the middle layer of cells is thinner than the others by that ratio."""
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=cells)
    widths = np.where(np.arange(cells) == cells // 2, ratio, 1.0)
    places = np.concatenate([[0.0], np.cumsum(widths)]) / widths.sum()
    vertices = mesh.vertices.copy()
    vertices[:, 0] = np.interp(vertices[:, 0], np.linspace(0, 1, cells + 1), places)
    return cal.TetrahedralMesh(
        vertices, mesh.tetrahedra, mesh.tags, mesh.names, mesh.faces, mesh.face_tags, mesh.face_names
    )


def dense(cells, ratio=0.2):
    """A unit cube with small tetrahedra around its middle."""
    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=cells)
    away = mesh.vertices - 0.5
    part = np.clip((np.linalg.norm(away, axis=1) - 0.1) / 0.35, 0, 1)
    vertices = 0.5 + away * (ratio + (1 - ratio) * part**2 * (3 - 2 * part))[:, None]
    return cal.TetrahedralMesh(
        vertices, mesh.tetrahedra, mesh.tags, mesh.names, mesh.faces, mesh.face_tags, mesh.face_names
    )


def simulation(mesh, order=2, local=True, **options):
    result = cal.MaxwellDG(mesh, order, local_time_stepping=local, **options)
    result.set_fields(MODE.electric, MODE.magnetic)
    return result


def set_noise(result):
    rng = np.random.default_rng(0)
    result.set_fields(lambda x, t: rng.standard_normal(x.shape), lambda x, t: rng.standard_normal(x.shape))


def test_the_discrete_energy_is_conserved():
    result = simulation(dense(6, 0.1))
    assert len(result.elements_by_step) == 3
    set_noise(result)
    step = result.time_step
    before = result._system.discrete_energy(step)
    for n in range(1, 4):
        result.run(200 * n * step)
        assert result._system.discrete_energy(step) == pytest.approx(before, rel=1e-10)


def test_error_and_rate_are_those_of_one_step_for_all():
    errors = []
    for cells in (3, 6):
        pair = [simulation(graded(cells), local=local) for local in (True, False)]
        for each in pair:
            each.run(0.7)
        local, whole = (each.l2_error(MODE.electric, MODE.magnetic) for each in pair)
        assert local == pytest.approx(whole, rel=0.05)
        errors.append(local)
    assert np.log2(errors[0] / errors[1]) > 1.8


def test_the_error_of_the_step_is_of_second_order():
    """On one mesh, against a very short step, at points in large and small elements."""
    points = np.random.default_rng(1).random((40, 3))
    fields = []
    for courant in (0.9, 0.45, 0.05):
        result = simulation(graded(3), courant=courant)
        result.run(0.6)
        fields.append(np.concatenate([result.electric(points), result.magnetic(points)]))
    coarse, fine = (np.abs(field - fields[-1]).max() for field in fields[:2])
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("order", [1, 3])
def test_the_limit_is_sharp(order):
    """Noise grows without bound some tenths above the limit and not at 0.99 of it."""
    result = simulation(graded(3, 0.1), order)

    def growth(factor, steps):
        set_noise(result)
        start = result.energy()
        result._system.advance(Steps(0.0, factor * result.time_step_limit, steps))
        return result.energy() / start

    assert growth(0.99, 400) < 30
    assert growth(1.2, 60) > 1e6


def test_the_work_is_what_is_promised():
    """Blocks that are advanced in a span of time, counted, against those of one step for all."""
    counts, savings = [], []
    for local in (True, False):
        result = simulation(dense(10, 0.15), 1, local)
        system, done = result._system, []
        kernel = system._kernel
        system._kernel = lambda *given, kernel=kernel, done=done: done.append(given[1:3]) or kernel(*given)
        result.run(20 * result.time_step)
        counts.append(sum(end - begin for begin, end in done) / result.time)
        savings.append(result.saving)
    assert savings[0] > 3 and savings[1] == 1
    assert counts[1] / counts[0] == pytest.approx(savings[0], rel=0.15)


def fed_box():
    """Lossy matter next to a thin layer of metres over waves, in which a current flows; a wave comes in, too."""
    mesh = graded(5, 0.12)
    middle, x = np.abs(mesh.centroids - 0.5), mesh.centroids[:, 0]
    tags = np.where(x > 0.75, 1, 0)
    tags[(middle[:, 0] < 0.02) & (middle[:, 1:].max(axis=1) < 0.2)] = 2
    names = {"air": 0, "tissue": 1, "feed": 2}
    materials = {"tissue": cal.Material(3.0, 1.5, 0.01, density=1e3), "feed": cal.Material(conductivity=0.002)}
    sources = [
        cal.CurrentSource("feed", [0, 0, 1], cal.RampedSine(1.5e8)),
        cal.TransientPlaneWave([1, 0, 0], [0, 0, 1], 1.5e8, amplitude=10.0),
    ]
    sides = {"x_min": 0, "x_max": 1, "rest": 2}
    faces = mesh.vertices[mesh.faces].mean(axis=1)[:, 0]
    face_tags = np.where(faces < 1e-9, 0, np.where(faces > 1 - 1e-9, 1, 2))
    mesh = cal.TetrahedralMesh(mesh.vertices, mesh.tetrahedra, tags, names, mesh.faces, face_tags, sides)
    return mesh, {
        "materials": materials,
        "boundaries": {"x_min": "absorbing", "x_max": "absorbing", "rest": "pmc"},
        "sources": sources,
    }


def test_currents_losses_and_open_faces_agree_with_one_step_for_all():
    mesh, options = fed_box()
    points = np.random.default_rng(2).random((30, 3))
    results = []
    for local in (True, False):
        made = cal.MaxwellDG(mesh, 2, local_time_stepping=local, **options)
        probe = made.add_probe(points[:2])
        results.append((made, made.run_until_periodic(1.5e8, 3), probe))
    (local, few, one), (whole, many, two) = results
    assert local.time_step > 3 * whole.time_step and len(local.elements_by_step) > 2
    assert few.ports["feed"].impedance == pytest.approx(many.ports["feed"].impedance, rel=5e-3)
    assert few.absorbed_power()["tissue"] == pytest.approx(many.absorbed_power()["tissue"], rel=5e-3)
    assert few.outward_power() == pytest.approx(many.outward_power(), rel=1e-2)
    for name in ("electric", "magnetic"):
        first, second = (getattr(each, name)(points) for each in (few, many))
        assert np.linalg.norm(first - second) < 1e-2 * np.linalg.norm(second)
    shared = np.interp(one.times, two.times, two.electric[:, 0, 2])
    assert np.abs(one.electric[:, 0, 2] - shared).max() < 0.02 * np.abs(shared).max()


def test_two_runs_are_one():
    once, twice = (simulation(graded(4)) for _ in range(2))
    span = 20 * once.time_step
    once.run(span)
    twice.run(span / 2)
    twice.run(span)
    assert np.allclose(once._system.electric, twice._system.electric, atol=1e-13)


def test_a_killed_run_goes_on_to_the_identical_field(tmp_path):
    mesh, options = fed_box()

    def stop(done, total):
        raise KeyboardInterrupt

    for name in ("killed", "resumed", "whole"):
        made = cal.MaxwellDG(mesh, 1, local_time_stepping=True, **options)
        if name == "killed":
            with pytest.raises(KeyboardInterrupt):
                made.run(40 * made.time_step, stop, tmp_path / "run.h5", checkpoint_seconds=0.0)
            assert (tmp_path / "run.h5").exists()
        elif name == "resumed":
            made.run(40 * made.time_step, checkpoint=tmp_path / "run.h5")
            resumed = made
    made.run(40 * made.time_step)
    for name in ("electric", "magnetic"):
        assert np.array_equal(getattr(made._system, name), getattr(resumed._system, name))


def test_single_precision_follows_double():
    points = np.random.default_rng(3).random((50, 3))
    made = [simulation(graded(5), precision=precision) for precision in ("double", "single")]
    for each in made:
        each.run(0.5)
    assert np.abs(made[0].electric(points) - made[1].electric(points)).max() < 2e-5


def test_classes_are_nested_and_spare_open_faces():
    mesh = graded(8, 0.05)
    inside = mesh.neighbours >= 0
    whole = ((~inside) & (mesh.centroids[:, None, 0] < 0.2)).any(axis=1)
    found = step_classes(mesh, mesh.inradii, whole)
    adjacent = np.where(inside, found.own[np.maximum(mesh.neighbours, 0)], 0).max(axis=1)
    assert np.array_equal(found.near, np.maximum(found.own, adjacent)) and (found.near - found.own).max() == 1
    assert not found.near[whole].any()
    longest = found.ratio * mesh.inradii.min()
    assert (longest / 2.0**found.own <= mesh.inradii).all()
    assert found.work / found.ratio < 0.5


def test_a_regular_mesh_has_one_class():
    result = simulation(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=3))
    assert result.elements_by_step == (162,) and result.saving == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flux": "upwind"}, "only flux='centred' supports it"),
        ({"local_time_stepping": 2}, "local_time_stepping=2: True or False"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        cal.MaxwellDG(graded(3), **{"order": 1, "local_time_stepping": True} | options)


def test_devices_are_refused(opencl):
    with pytest.raises(ValueError, match="only backend='numba' supports it"):
        cal.MaxwellDG(graded(3), 1, local_time_stepping=True, backend="opencl")
