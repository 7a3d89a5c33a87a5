"""Sound of a case at a distance, and its deviation on another backend."""

import json
import re

import numpy as np
import pytest

import calderon as cal
from calderon.backends import get
from calderon.case import CaseError, parse, surface_mesh
from calderon.formulations.checks import elements_per_wavelength
from calderon.kinds.surface.panels.fields import surface_scene
from calderon.report import example, run, write

BALL = """\
[mesh]
shape = "sphere"
radius = "1 m"
h = 0.4
[physics]
problem = "sound-hard"
wavenumber = 2.0
[incident]
azimuth = "30 deg"
[solver]
rtol = 1e-8
[output]
far_field = { plane = "xy", start = "0 deg", stop = "350 deg", count = 36 }
"""
AT = BALL.replace("count = 36", 'count = 36, distance = "5 m"')


def test_levels_at_a_distance_are_those_of_the_field_there():
    step = run(parse(AT)).steps[0]
    ball = run(parse(BALL))
    problem = cal.SoundHardScattering(ball.mesh, 2.0)
    wave = cal.PlaneWave([np.cos(np.radians(30)), np.sin(np.radians(30)), 0], 2.0)
    points = 5 * parse(AT).case.output.far_field.directions
    pressure = problem.solve(wave, rtol=1e-8).scattered(points)
    assert np.allclose(step.strength, 20 * np.log10(5 * np.abs(pressure)), atol=1e-6)
    assert 0.05 < np.abs(step.strength - ball.steps[0].strength).max() < 5  # 5 m is not far away
    distant = run(parse(AT.replace("5 m", "20 km"))).steps[0]
    assert np.abs(distant.strength - ball.steps[0].strength).max() < 1e-2
    far = [each.far_field["far_field", "Pa_m"] for each in (distant, ball.steps[0])]
    assert np.linalg.norm(far[0] - far[1]) < 1e-3 * np.linalg.norm(far[1])


def test_the_deviation_on_a_device_is_told(opencl, tmp_path):
    text = BALL.replace("[solver]", '[solver]\nprecision = "single"\ncompare = "opencl"').replace("1e-8", "1e-5")
    results = run(parse(text))
    name = get("opencl").name
    deviation = results.steps[0].deviations[name]
    assert 1e-9 < deviation < 1e-4
    write(results, tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["steps"][0][f"far_field_deviation_on_{name}"] == deviation
    assert f"deviation of the far field computed on {name}" in (tmp_path / "out" / "report.html").read_text()


def test_without_a_graphics_processor_auto_compares_nothing():
    found = run(parse(BALL.replace("[solver]", '[solver]\ncompare = "auto"'))).steps[0].deviations
    device = get("auto")
    assert list(found) == ([] if device is None else [device.name])


def test_a_run_takes_the_matrix_that_another_has_saved(tmp_path):
    text = BALL.replace("[solver]", '[solver]\nmethod = "hmatrix"\nmatrix_file = "ball.h5"').replace("1e-8", "1e-4")
    first = run(parse(text, "case.toml", tmp_path)).steps[0]
    content = (tmp_path / "ball.h5").read_bytes()
    second = run(parse(text.replace("30 deg", "40 deg"), "case.toml", tmp_path)).steps[0]  # another wave
    assert (tmp_path / "ball.h5").read_bytes() == content
    assert np.abs(second.strength - first.strength).max() > 0.1
    with pytest.raises(ValueError, match="another problem: Green's function"):
        run(parse(text.replace("wavenumber = 2.0", "wavenumber = 2.1"), "case.toml", tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[solver]",
            '[solver]\nmethod = "dense"\nmatrix_file = "ball.h5"',
            "matrix_file= is supported by method='hmatrix' or method='mlfmm' only",
        ),
        ("[solver]", '[solver]\nmethod = "hmatrix"\nmatrix_file = "ball"', "should end in .h5"),
        ('distance = "5 m"', 'distance = "0 m"', "greater than zero"),
        ("[output]", "[output]\nexact = true", "without the exact series"),
        ("[solver]", '[solver]\ncompare = "gpu"', "a device of one"),
        (AT[AT.index("far_field") :], 'surface = ["abs"]', "requires output.far_field"),
    ],
)
def test_a_mistake_is_named(old, new, message):
    text = AT.replace("[solver]", '[solver]\ncompare = "auto"') if "surface" in new else AT
    with pytest.raises(CaseError, match=message):
        parse(text.replace(old, new))


def test_a_distance_within_the_body_is_refused():
    with pytest.raises(ValueError, match="the body reaches to 1.0"):
        run(parse(AT.replace("5 m", "0.9 m")))
    with pytest.raises(CaseError, match='line .*: output.far_field.distance = "0.9 m": the body'):
        run(parse(AT.replace("5 m", "0.9 m")))


def test_the_hull_at_1000_hz_is_heard_at_20_km_at_3600_points():
    file = example("submarine-1000")
    case, mesh = file.case, surface_mesh(file)
    assert elements_per_wavelength(mesh, case.physics.wavenumbers[0]) > 6
    asked = case.output.far_field
    assert asked.distance == 20e3 and len(asked.directions) == 3600 and case.solver.compare == "auto"
    assert len(np.unique(asked.directions.round(9), axis=0)) == 3600
    assert case.output.surface == ("abs",) and case.mesh.resolution == "fine"


FLUIDS = """\
[mesh]
file = "balls.msh"
[physics]
problem = "transmission"
frequency = "300 Hz"
speed_of_sound = 1500
density = "1 g/cm^3"
interior_speed_of_sound = { gel = "1.2 km/s", oil = 1400 }
interior_density = { gel = 900, oil = "0.8 g/cm^3" }
rigid = ["steel"]
[incident]
azimuth = "30 deg"
[output]
far_field = { plane = "xy", start = "0 deg", stop = "350 deg", count = 4 }
slice = { plane = "xy", points = 8 }
"""


def test_bodies_of_fluid_and_rigid_ones_by_their_tags(tmp_path):
    ball, names = cal.mesh.sphere(0.5, h=0.4), ["gel", "oil", "steel"]
    parts = [cal.TriangleMesh(ball.vertices + [1.5 * n, 0, 0], ball.triangles, 0 * ball.tags + n, {name: n})
             for n, name in enumerate(names, 1)]  # fmt: skip
    mesh = cal.mesh.merge(parts)
    mesh.write(tmp_path / "balls.msh")
    results = run(parse(FLUIDS, "case.toml", tmp_path))
    step, (fluid, steel, plane) = results.steps[0], surface_scene(results).layers
    assert fluid.open is not None and steel.open is None and plane.filled  # there is no field within the rigid one
    assert np.array_equal(steel.numbers, np.flatnonzero(mesh.tags == 3)) and steel.triangles.max() < len(mesh.vertices)
    problem = cal.FluidTransmission(
        mesh,
        frequency=300.0,
        speed_of_sound=1500.0,
        interior_speed_of_sound={1: 1200.0, 2: 1400.0},
        density_ratio={1: 0.9, 2: 0.8},
        rigid=3,
    )
    wave = cal.PlaneWave([np.cos(np.radians(30)), np.sin(np.radians(30)), 0])
    far = problem.solve(wave).far_field(np.radians([90] * 4), np.radians([0, 350 / 3, 700 / 3, 350]))
    assert step.far_field["far_field", "Pa_m"] == pytest.approx(far, rel=1e-4)
    for old, new, message in (
        ('["steel"]', '["iron"]', 'line 10: physics.rigid = ["iron"]: unknown tags'),
        (
            "oil = 1400",
            "oel = 1400",
            "line 8: physics.interior_speed_of_sound = { gel = 1200.0, oel = 1400.0 }: unknown",
        ),
        ('["steel"]', '["steel", "oil"]', "the tags [2] are both"),
        ("1.2 km/s", "1.2 km", "line 8: physics.interior_speed_of_sound: a speed is written like"),
    ):
        with pytest.raises(CaseError, match=re.escape(message)):
            run(parse(FLUIDS.replace(old, new), "case.toml", tmp_path))


COATED = """
[mesh]
shape = "hollow_sphere"
radius = 1.0
inner_radius = 0.5
h = 0.4
[physics]
problem = "transmission"
frequency = "450 Hz"
speed_of_sound = 1500
density = "1 g/cm^3"
interior_speed_of_sound = { outer = "1.2 km/s", inner = 1400 }
interior_density = { outer = 1300, inner = "0.8 g/cm^3" }
[incident]
azimuth = "30 deg"
[output]
far_field = { plane = "xy", start = "0 deg", stop = "350 deg", count = 4 }
"""


def test_a_fluid_within_another_by_their_tags(tmp_path):
    """Densities of a file are those of the fluids themselves, whatever is around them."""
    step = run(parse(COATED, "case.toml", tmp_path)).steps[0]
    along = [np.cos(np.radians(30)), np.sin(np.radians(30)), 0]
    k = [2 * np.pi * 450 / speed for speed in (1500, 1400, 1200)]
    series = cal.exact.layered_fluid_sphere(k[0], [0.5, 1.0], k[1:], [0.8, 1.3], along)
    far = series.far_field(np.radians([90] * 4), np.radians([0, 350 / 3, 700 / 3, 350]))
    assert np.abs(step.far_field["far_field", "Pa_m"] - far).max() < 0.01 * np.abs(far).max()
