"""Case files of bodies of varying material and of elastic structures: against series and the law of mass, mistakes."""

import re

import meshio
import numpy as np
import pytest

import calderon as cal
from calderon.case import CaseError, parse
from calderon.report import example, plan, run, write

STEEL = """\
[mesh]
shape = "ball"
radius = "0.5 m"
h = "0.3 m"
[structure]
frequency = "500 Hz"
fluid = "water"
material = "steel"
[[source]]
kind = "plane-wave"
direction = [0, 0, 1]
[output]
target_strength = { plane = "xz", start = "0 deg", stop = "90 deg", count = 7 }
slice = { points = 20 }
"""
LAYERED = """\
[mesh]
shape = "layered_ball"
radii = ["0.35 m", "0.5 m"]
names = ["core", "coat"]
h = "0.2 m"
[inhomogeneous]
frequency = "400 Hz"
fluid = "sea"
material = { core = "oil", coat = "rubber" }
[media.sea]
density = 1000.0
speed_of_sound = 1500.0
[media.oil]
density = 870.0
speed_of_sound = 1380.0
[[source]]
kind = "plane-wave"
direction = [0, 0, 1]
[output]
points = [[0, 0, -2]]
"""
BLOCK = """\
[mesh]
shape = "box"
low = [-0.2, -0.1, -0.05]
high = [0.2, 0.1, 0.05]
cells = [2, 1, 1]
[structure]
frequency = ["30 Hz", "40 Hz"]
fluid = "air"
material = "damped"
[materials.damped]
kind = "aluminium"
loss_factor = 0.01
[[load]]
position = [0, 0, 0]
force = [0, 0, "2 N"]
[[load]]
tag = "wall"
force = [0, 0, "2 N"]
[output]
slice = { points = 10 }
"""
HALF = """\
[mesh]
shape = "box"
low = [-0.2, -0.1, 0]
high = [0.2, 0.1, 0.05]
cells = [2, 1, 1]
[structure]
frequency = "800 Hz"
mirrors = { z = "even" }
material = "aluminium"
[output]
points = [[0, 0, 0.5], [0.3, 0, 0.1]]
slice = { points = 10 }
[[source]]
kind = "plane-wave"
direction = [0.6, 0, -0.8]
"""
UP = """\
[[source]]
kind = "plane-wave"
direction = [0.6, 0, 0.8]
"""


def test_a_steel_ball_has_the_echo_of_the_series_and_its_files(tmp_path):
    results = run(parse(STEEL, "ball.toml"))
    case, step = results.file.case, results.last
    exact = cal.exact.elastic_sphere(results.problem.wavenumber, 0.5, case.materials_by_tag, case.fluid)
    assert step.echo == pytest.approx(float(exact.target_strength(np.pi, 0.0)), abs=0.3)
    expected = exact.target_strength(case.output.target_strength.directions)
    assert np.allclose(step.strength, expected, atol=0.5)
    assert step.power_error < 0.02
    written = write(results, tmp_path / "out")
    assert not written.failures
    assert {"volume.vtu", "motion.png", "slice.png", "target_strength.csv", "echo.csv"} <= set(written.files)
    body = meshio.read(tmp_path / "out" / "volume.vtu")
    assert len(body.cells_dict["tetra10"]) == results.volume.number_of_tetrahedra
    at_nodes = results.solution.displacement(0.999 * body.points[:20])
    assert np.allclose(body.point_data["displacement [m] real"][:20], at_nodes.real, atol=0.05 * abs(at_nodes).max())


def test_layers_of_fluids_by_name_scatter_as_the_series_says():
    results = run(parse(LAYERED))
    case, k = results.file.case, results.problem.wavenumber
    given = [case.materials_by_tag[name].fluid_at(400.0) for name in ("core", "coat")]
    inside = [2 * np.pi * 400.0 / one.speed_of_sound for one in given]
    exact = cal.exact.layered_fluid_sphere(k, [0.35, 0.5], inside, [one.density / 1000.0 for one in given])
    scattered = abs(exact.far_field(np.pi, 0.0))
    assert abs(10 ** (results.last.echo / 20) - scattered) < 0.03 * scattered
    assert results.last.lost == 0 and results.last.power_error < 0.02


def test_a_graded_body_without_a_gradient_is_a_body_of_one_material():
    plain = LAYERED.replace('{ core = "oil", coat = "rubber" }', '"oil"')
    rows = "at = [0, 1]\ndensity = [870, 870]\nspeed_of_sound = [1380, 1380]\n"
    graded = plain.replace('"oil"', '"gel"') + f'[graded.gel]\nalong = "radius"\n{rows}'
    one, other = (run(parse(text)).pressures for text in (plain, graded))
    assert np.allclose(one, other, rtol=1e-9)


def test_a_block_below_its_resonances_moves_as_its_mass():
    results = run(parse(BLOCK))
    mass = 2700.0 * 0.4 * 0.2 * 0.1
    omega = 2 * np.pi * results.frequencies
    assert np.allclose(results.mobilities[:, 0], 2j / (omega * mass), rtol=0.02)  # both forces move it
    assert len(results.powers) == 2 and results.powers[1] > results.powers[0] > 0
    by_modes = run(parse(BLOCK + '[solver]\npreconditioner = "modes"\nrtol = 1e-8\n'))
    assert np.allclose(by_modes.mobilities, results.mobilities, rtol=1e-5)


def test_half_a_block_on_a_mirror_or_a_floor_scatters_as_the_whole():
    mirror = run(parse(HALF + UP))
    floor = run(parse(HALF.replace('mirrors = { z = "even" }', 'half_space = { plane = "z" }')))
    whole = run(parse(HALF.replace('mirrors = { z = "even" }\n', "").replace("0]\nhigh", "-0.05]\nhigh") + UP))
    assert floor.pressures == pytest.approx(mirror.pressures, rel=1e-6)
    assert mirror.pressures == pytest.approx(whole.pressures, rel=2e-3)
    for low, other in zip(mirror.mesh.bounds, whole.mesh.bounds, strict=True):
        assert low == pytest.approx(other)
    assert mirror.body.volumes.sum() == pytest.approx(2 * floor.body.volumes.sum())
    below = np.argmin(floor.last.plane.places.points[..., 2].ravel())
    assert np.isnan(floor.last.plane.arrays["pressure"].ravel()[below])
    assert np.isfinite(mirror.last.plane.arrays["pressure"].ravel()[below])


def test_a_shell_with_a_fluid_inside_has_the_echo_of_the_series(tmp_path):
    shell = STEEL.replace('"ball"', '"shell"\nthickness = "0.05 m"').replace(
        "[output]", "[output]\npoints = [[0, 0, 0.2]]"
    )
    results = run(parse(shell.replace('material = "steel"', 'material = "steel"\ninside = "water"')))
    case, step, k = results.file.case, results.last, results.problem.wavenumber
    full, empty = (
        float(
            cal.exact.elastic_shell(k, 0.5, 0.45, case.materials_by_tag, case.fluid, each).target_strength(np.pi, 0.0)
        )
        for each in (case.inner_fluid, None)
    )
    assert step.echo == pytest.approx(full, abs=0.1) and abs(full - empty) > 1
    assert abs(step.pressures[0]) > 0.1
    write(results, tmp_path / "out")
    assert "Fluid in holes" in (tmp_path / "out" / "report.html").read_text()


def test_plans_count_finite_elements():
    rows = {name: value for name, value, _ in plan(parse(STEEL))}
    assert re.fullmatch(r"\d+ on \d+ tetrahedra", rows["finite elements"]) and rows["method"] == "dense"


@pytest.mark.parametrize("name", ["steel-sphere", "driven-block", "sound-lens"])
def test_the_shipped_cases_are_accepted(name):
    assert example(name).kind.name in ("structure", "inhomogeneous")


@pytest.mark.parametrize(
    "text, old, new, message",
    [
        (STEEL, '"steel"', '"stele"', "line 8: structure.material .*did you mean 'steel'"),
        (STEEL, '"steel"', '"water"', "a fluid: that in holes is structure.inside"),
        (STEEL, '"steel"', '"steel"\ninside = "watr"', "line 9: structure.inside .*did you mean 'water'"),
        (STEEL, '"steel"', '"steel"\ninside = "air"', "structure.inside .*this one has none"),
        (STEEL, '"steel"', '"steel"\nmirrors = { z = "even" }', "mesh.shape .*both sides of the mirror"),
        (LAYERED, "fluid = ", 'mirrors = { x = "evn" }\nfluid = ', "did you mean 'even'"),
        (STEEL, "material", 'mirrors = { z = "odd" }\nhalf_space = { plane = "z" }\nmaterial', "give one of them"),
        (HALF, "0.6", "0.5", "structure.mirrors .*not as even or odd"),
        (STEEL, '"steel"', '{ tag = "steel" }', "no tetrahedron has the tag 'tag'"),
        (STEEL, 'shape = "ball"', 'shape = "bal"', "did you mean 'ball'"),
        (STEEL, "[[source]]", "[[load]]\nforce = [0, 0, 1]\nposition = [0, 0, 2]\n[[source]]", "target_strength"),
        (BLOCK, "[output]", '[solver]\npreconditioner = "near"\n[output]', "line .*choose 'osrc' or 'modes'"),
        (LAYERED, '"rubber"', '"steel"', "an elastic solid, which a case with .structure. has"),
        (LAYERED, '"rubber"', '"oill"', "did you mean 'oil'"),
        (LAYERED, 'names = ["core", "coat"]', 'names = ["core"]', "2 radii and 1 names"),
        (BLOCK, "loss_factor = 0.01", "loss_factor = -0.01", "greater than or equal to 0"),
        (BLOCK, '"wall"', '"walls"', "load.tag = .*did you mean 'wall'"),
        (BLOCK, "position = [0, 0, 0]", "position = [0, 0, 1]", "load.*point"),
        (BLOCK, 'force = [0, 0, "2 N"]', "force = [0, 0, 0]", "does nothing"),
        (BLOCK, 'kind = "aluminium"', 'kind = "aluminum"', "did you mean 'aluminium'"),
    ],
)
def test_mistakes_are_refused_with_what_is_allowed(text, old, new, message):
    with pytest.raises(CaseError, match=message):
        plan(parse(text.replace(old, new), "case.toml"))
