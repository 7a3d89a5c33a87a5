"""Case files of sound that bodies make: a case for each condition against closed forms, mistakes, files of a result."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from calderon.case import CaseError, parse
from calderon.formulations.impulse_response import ImpulseResponse
from calderon.kinds.acoustics.walls import conditions_of
from calderon.mesh import sphere
from calderon.report import Stages, headlines, plan, run, write

SPHERE = """\
title = "pulsating sphere"
[mesh]
shape = "sphere"
radius = 0.1
h = "50 mm"
[acoustics]
frequency = "500 Hz"
fluid = "air"
[[surface]]
velocity = "1 mm/s"
[output]
points = [["0.5 m", 0, 0]]
"""
DUCT = """\
[mesh]
shape = "cuboid"
lengths = ["0.5 m", "0.1 m", "0.1 m"]
h = "0.1 m"
[acoustics]
frequency = "343 Hz"
fluid = "gas"
side = "interior"
space = "P2"
[media.gas]
density = 1.2
speed_of_sound = 343.0
[[face]]
name = "piston"
normal = [-1, 0, 0]
[[face]]
name = "end"
normal = [1, 0, 0]
[[surface]]
tag = "piston"
velocity = "1 mm/s"
[output]
points = [[-0.1, 0, 0], [0.2, 0.02, 0.0]]
"""
RHO_C, K = 1.2 * 343.0, 2 * np.pi


def pressures(text):
    """At the points of a case, one frequency after the other."""
    return run(parse(text, "case.toml")).pressures


def in_duct(ratio, k=K):
    """The pressure at the points of DUCT, whose end has Z over rho c, 1 mm/s at x = -1/4."""
    reflected = (ratio - 1) / (ratio + 1) if np.isfinite(ratio) else 1.0
    x = np.array([-0.1, 0.2]) + 0.25
    forth, back = np.exp(1j * k * x), reflected * np.exp(1j * k * (1.0 - x))
    return 1e-3 * RHO_C * (forth + back) / (1 - reflected * np.exp(1j * k))


def test_a_pulsating_sphere_has_its_level_and_power():
    results = run(parse(SPHERE))
    fluid, k, a = results.problem.fluid, results.problem.wavenumber.real, 0.1
    amplitude = 1j * k * fluid.impedance * 1e-3 * a**2 * np.exp(-1j * k * a) / (1j * k * a - 1)
    assert results.pressures[0, 0] == pytest.approx(amplitude * np.exp(0.5j * k) / 0.5, rel=0.02)
    step = results.last
    assert step.power == pytest.approx(2 * np.pi * abs(amplitude) ** 2 / fluid.impedance, rel=0.03)
    assert step.power_error < 0.02 and abs(step.pattern).max() < 0.1  # it radiates alike in all directions
    assert step.efficiency == pytest.approx((k * a) ** 2 / (1 + (k * a) ** 2), rel=0.02)


def test_frequencies_with_too_coarse_a_mesh_are_warned_of_together():
    text = SPHERE.replace('"500 Hz"', '["500 Hz", "1.2 kHz", "1.3 kHz"]')
    results = run(parse(text))
    (notice,) = results.warnings
    assert notice.startswith("2 of 3 frequencies") and "elements per wavelength" in notice
    assert [each.name for each in results.last.parts] == ["surface"]


@pytest.mark.parametrize(
    ("keys", "ratio"),
    [
        ("relative_impedance = 1.0", 1.0),
        ("relative_impedance = [0.5, 1.0]", 0.5 + 1.0j),
        (f'impedance = "{RHO_C} Pa s/m"', 1.0),
        ("absorption = 0.75", 3.0),
        ('porous = { flow_resistivity = "10 kPa s/m^2", thickness = "50 mm" }', None),
        ('perforated = { hole = "1 mm", thickness = "1 mm", porosity = 0.02, cavity = "50 mm" }', None),
        ("pressure = 0", 0.0),
    ],
)
def test_a_duct_has_the_field_of_the_condition_at_its_end(keys, ratio):
    text = DUCT + f'[[surface]]\ntag = "end"\n{keys}\n'
    file = parse(text)
    if ratio is None:
        problem = file.kind.build(file, Stages())
        condition = conditions_of(file, problem.mesh)["end"][0]
        ratio = condition.at(2 * np.pi * 343.0, problem.fluid) / problem.fluid.impedance
        assert ratio.real > 0.01
    expected = in_duct(ratio)
    assert np.abs(pressures(text)[0] - expected).max() < 0.02 * np.abs(expected).max()


def test_power_given_is_power_absorbed():
    results = run(parse(DUCT + '[[surface]]\ntag = "end"\nrelative_impedance = 1.0\n'))
    step = results.last
    assert step.power == pytest.approx(0.5e-6 * RHO_C * 0.01, rel=1e-2)
    absorbed = {part.name: part.absorbed for part in step.parts}
    assert absorbed["end"] == pytest.approx(step.power, rel=1e-3) and absorbed["piston"] is None
    assert 1e-9 < step.power_error < 1e-3  # two integrals over other parts of the surface: neither 0 nor large
    assert any("power that walls absorb" in name for name, *_ in headlines(results, {}))


def test_narrow_ducts_lose_sound_at_their_walls():
    """The field of a piston and a rigid end, with and without boundary layers, by waves along the duct."""
    narrow = DUCT.replace('"0.1 m", "0.1 m"', '"0.01 m", "0.01 m"').replace('h = "0.1 m"', 'h = "0.05 m"')
    narrow = narrow.replace('fluid = "gas"', 'fluid = "air"').replace('"0.5 m"', '"0.2 m"')
    narrow = narrow.replace("[[-0.1, 0, 0], [0.2,", "[[-0.05, 0, 0], [0.05,").replace("0.02, 0.0", "0.002, 0.0")
    walls = '[[face]]\nname = "sides"\nlow = [-0.1, -0.006, -0.006]\nhigh = [0.1, 0.006, 0.006]\n'
    named = narrow.replace('[[face]]\nname = "piston"', walls + '[[face]]\nname = "piston"')
    lossy = run(parse(named + '[[surface]]\ntag = "sides"\nviscothermal = true\n'))
    fluid, omega, k = lossy.problem.fluid, 2 * np.pi * 343.0, lossy.problem.wavenumber.real
    viscous = np.sqrt(2 * fluid.kinematic_viscosity / omega)
    heat = viscous / np.sqrt(fluid.prandtl)
    first = 1 - (1 + 1j) / 2 * viscous * 400.0  # 400 per metre: perimeter over area
    second = 1 + (1 + 1j) / 2 * (fluid.heat_capacity_ratio - 1) * heat * 400.0
    for found, factors in ((lossy.pressures[0], (first, second)), (pressures(narrow)[0], (1.0, 1.0))):
        along = k * np.sqrt(factors[1] / factors[0])
        x = np.array([-0.05, 0.05]) + 0.1
        exact = 1e-3j * omega * fluid.density * np.cos(along * (0.2 - x)) / (along * np.sin(along * 0.2) * factors[0])
        assert np.abs(found / exact - 1).max() < 5e-3
    assert np.abs(lossy.pressures[0] / pressures(narrow)[0] - 1).max() > 0.02
    with pytest.raises(CaseError, match="surface.viscothermal = true"):
        text = named.replace('fluid = "air"', 'fluid = "gas"') + '[[surface]]\ntag = "sides"\nviscothermal = true\n'
        run(parse(text, "case.toml"))


def test_an_impedance_by_frequency_is_that_of_its_file(tmp_path):
    (tmp_path / "wall.csv").write_text("frequency,real,imaginary\n300,411.6,0\n400,411.6,0\n")
    text = DUCT + '[[surface]]\ntag = "end"\nimpedance_file = "wall.csv"\n'
    found = run(parse(text, "case.toml", tmp_path)).pressures[0]
    assert np.abs(found - in_duct(1.0)).max() < 0.02 * RHO_C * 1e-3
    with pytest.raises(CaseError, match=r"surface.impedance_file = \"other.csv\": no such file"):
        run(parse(text.replace("wall.csv", "other.csv"), "case.toml", tmp_path))
    with pytest.raises(CaseError, match="given from 300 to 400 Hz"):
        run(parse(text.replace("343 Hz", "443 Hz"), "case.toml", tmp_path))


def test_a_body_that_moves_turns_and_has_a_phase():
    still = SPHERE.replace('"1 mm/s"', '[0, 0, "1 mm/s"]').replace('["0.5 m", 0, 0]', '[0, 0, "0.5 m"]')
    moving = pressures(still)[0, 0]
    late = pressures(still.replace("[output]", 'phase = "90 deg"\n[output]'))[0, 0]
    assert late == pytest.approx(1j * moving, rel=1e-9)
    turning = still.replace("[output]", "rotation = [0, 0, 0.1]\n[output]")  # about an axis through the centre
    assert pressures(turning)[0, 0] == pytest.approx(moving, rel=1e-3)


def test_velocities_of_a_structural_code_are_those_of_its_file(tmp_path):
    vertices = sphere(0.1, 0.05).vertices
    names = "x [mm],y [mm],z [mm],vx_re [mm/s],vx_im [mm/s],vy_re [mm/s],vy_im [mm/s],vz_re [mm/s],vz_im [mm/s]"
    rows = [f"{x:.9g},{y:.9g},{z:.9g},0,0,0,0,0,1" for x, y, z in 1e3 * vertices]
    (tmp_path / "ball.csv").write_text("\n".join([names, *rows]))
    text = SPHERE.replace('["0.5 m", 0, 0]', '[0, 0, "0.5 m"]')
    moving = pressures(text.replace('"1 mm/s"', '[0, 0, "1 mm/s"]'))[0, 0]
    text = text.replace('velocity = "1 mm/s"', 'velocity_file = "ball.csv"\ntime_factor = "exp(+i omega t)"')
    found = run(parse(text, "case.toml", tmp_path)).pressures[0, 0]
    assert found == pytest.approx(-1j * moving, rel=1e-6)
    with pytest.raises(CaseError, match='surface.velocity_file = "none.csv"'):
        run(parse(text.replace("ball.csv", "none.csv"), "case.toml", tmp_path))


def test_half_spheres_on_mirrors_sound_as_the_whole():
    whole = SPHERE.replace("0.5 m", "0.3 m")
    half = whole.replace('"sphere"', '"hemisphere"')
    mirrored = pressures(half.replace('fluid = "air"', 'mirrors = { z = "even" }'))[0, 0]
    floor = pressures(half.replace('fluid = "air"', 'half_space = { plane = "z" }'))[0, 0]
    assert mirrored == pytest.approx(floor, rel=1e-9) and mirrored == pytest.approx(pressures(whole)[0, 0], rel=0.02)


def test_nothing_sounds_at_the_surface_of_the_sea():
    text = SPHERE.replace("h = ", 'translation = [0, 0, "-1 m"]\nh = ')
    text = text.replace('fluid = "air"', 'fluid = "sea-water"\nhalf_space = { plane = "z", rigid = false }')
    results = run(parse(text.replace("points = [", "points = [[0.3, 0, -1.0], ")))
    assert results.level_unit == "dB re 1 µPa"
    assert abs(results.pressures[0, 1]) < 1e-9 * abs(results.pressures[0, 0])


def test_a_piston_in_a_baffle():
    text = SPHERE.replace('"sphere"', '"disc"').replace('fluid = "air"', "baffle = true")
    results = run(parse(text.replace('"50 mm"', '"25 mm"')))
    k, a, rho_c = results.problem.wavenumber.real, 0.1, results.problem.fluid.impedance
    impedance = results.last.parts[0].impedance / rho_c
    exact = 1 - (special.j1(2 * k * a) + 1j * special.struve(1, 2 * k * a)) / (k * a)
    assert impedance == pytest.approx(exact, rel=0.03)


def test_sources_sound_together():
    rigid = SPHERE.replace('[[surface]]\nvelocity = "1 mm/s"\n', "")
    one = rigid + '[[source]]\nkind = "point-source"\nposition = [0.4, 0.3, 0]\namplitude = "2 Pa"\n'
    other = rigid + '[[source]]\nkind = "plane-wave"\nazimuth = "30 deg"\nphase = "45 deg"\n'
    third = rigid + '[[source]]\nkind = "multipole"\nposition = [0, 0.5, 0]\ncoefficients = [0, [0, 1.5], 1.0, 0]\n'
    together = one + "".join("[[source]]" + text.split("[[source]]")[1] for text in (other, third))
    assert pressures(together) == pytest.approx(sum(pressures(each) for each in (one, other, third)), rel=1e-4)
    far = rigid.replace("radius = 0.1", "radius = 0.001").replace("50 mm", "0.5 mm")
    alone = pressures(far + '[[source]]\nkind = "point-source"\nposition = [1.5, 0, 0]\namplitude = "2 Pa"\n')
    assert abs(alone[0, 0]) == pytest.approx(2.0, rel=1e-3)  # at a distance of 1 m


def test_a_band_is_solved_at_few_frequencies(tmp_path):
    band = 'frequency = { start = "100 Hz", stop = "600 Hz", count = 51 }'
    text = DUCT.replace('frequency = "343 Hz"', f"{band}\ninterpolate = 1e-3").replace('"P2"', '"P1"')
    text += '[[surface]]\ntag = "end"\nrelative_impedance = [2.0, 0.5]\n'
    results = run(parse(text))
    assert len(results.steps) < 20 and results.pressures.shape == (51, 2) and results.powers.shape == (51,)
    one = run(parse(text.replace(f"{band}\ninterpolate = 1e-3", 'frequency = "350 Hz"')))
    assert results.pressures[25] == pytest.approx(one.pressures[0], rel=2e-3)
    assert results.powers[25] == pytest.approx(one.last.power, rel=1e-2)
    write(results, tmp_path / "out")
    with (tmp_path / "out" / "levels.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 51 and float(rows[25]["frequency_Hz"]) == 350.0
    level = 20 * np.log10(abs(one.pressures[0, 0]) / 2**0.5 / 2e-5)
    assert float(rows[25]["level_1_dB"]) == pytest.approx(level, abs=0.05)


def test_fluids_of_media_have_their_constants():
    for keys, density in (('kind = "air"\ncelsius = 0.0', 1.2922), ('kind = "sea-water"\ndepth = "100 m"', 1027.4)):
        case = parse(SPHERE.replace('fluid = "air"', 'fluid = "f"') + f"[media.f]\n{keys}\n").case
        assert case.fluid_at(500.0).density == pytest.approx(density, rel=1e-3)
    columns = "frequency = [100.0, 1000.0]\ndensity = [1.0, 1.9]\nspeed_of_sound = [300.0, 390.0]\n"
    fluid = parse(SPHERE.replace('fluid = "air"', 'fluid = "f"') + f"[media.f]\n{columns}").case.fluid_at(500.0)
    assert (fluid.density, fluid.speed_of_sound) == (pytest.approx(1.4), pytest.approx(340.0))


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('velocity = "1 mm/s"', 'velocity = "1 mm"', "a velocity is written like"),
        ('velocity = "1 mm/s"', "", "a surface needs one of velocity, velocity_file"),
        ('velocity = "1 mm/s"', "impedance = 400\nabsorption = 0.5", "give one impedance"),
        ('velocity = "1 mm/s"', "velocity = 1\npressure = 0", "a pressure stands alone"),
        ('velocity = "1 mm/s"', "absorption = 1.5", "surface.absorption"),
        ('velocity = "1 mm/s"', 'pressure = 0\nphase = "1 deg"', "phase is not supported"),
        ('fluid = "air"', 'fluid = "are"', "did you mean 'air'"),
        ('fluid = "air"', 'mirrors = { z = "even" }\nbaffle = true', "give one of them"),
        ('fluid = "air"', 'side = "interior"\nbaffle = true', "the fluid is on the side of the normals"),
        ('fluid = "air"', "interpolate = 1e-3", "a band has three frequencies"),
        ("[output]", "[output]\nimpulse = { rate = 0 }", "output.impulse.rate"),
        ('[[surface]]\nvelocity = "1 mm/s"\n', "", "nothing sounds"),
        ("[output]", '[[source]]\nkind = "point-source"\n[output]', "also needs position"),
    ],
)
def test_mistakes_are_named(old, new, text):
    with pytest.raises(CaseError) as caught:
        parse(SPHERE.replace(old, new), "case.toml")
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('velocity = "1 mm/s"', 'tag = "cone"\nvelocity = 1', r"line 10: surface.tag.*unknown tags"),
        ("[output]", "[[surface]]\nabsorption = 0.5\n[output]", r"line 11: surface.tag.*has a condition in"),
        ('velocity = "1 mm/s"', "velocity = 1\nimpedance = -400", "gives energy to the sound"),
        ("[output]", '[[source]]\nkind = "point-source"\nposition = [0, 0, 0]\n[output]', "source.position"),
        ('fluid = "air"', 'mirrors = { z = "even" }', "mesh.shape"),
    ],
)
def test_mistakes_on_the_mesh_are_named(old, new, text):
    with pytest.raises(CaseError, match=text):
        run(parse(SPHERE.replace(old, new), "case.toml"))


def test_the_second_mesh_has_the_parts_that_a_box_selects():
    """A box selects other triangles of a mesh with longer edges: it is divided instead."""
    cap = '[[face]]\nname = "cap"\nlow = [-0.1, -0.1, 0.05]\nhigh = [0.1, 0.1, 0.1]\n[[surface]]\ntag = "cap"\n'
    found = run(
        parse(SPHERE.replace("[[surface]]\n", cap).replace("[output]", "[output]\nestimate = true"))
    ).second_mesh
    assert found.ratio == pytest.approx(0.5) and found.error < 0.05


def test_a_result_has_its_files_with_units(tmp_path):
    extra = 'directivity = { plane = "xz", count = 37 }\nslice = { plane = "xz", points = 24 }\nestimate = true\n'
    file = parse(SPHERE.replace('"500 Hz"', '["400 Hz", "800 Hz"]').replace("[output]", f"[output]\n{extra}"))
    assert dict((name, value) for name, value, _ in plan(file))["planned, of the sweep"] == "800 Hz"
    results = run(file)
    assert results.second_mesh.error < 0.05
    results = replace(results, response=ImpulseResponse(np.eye(8)[:, :1], 8000.0, "pressure", "Pa"))
    written = write(results, tmp_path / "out")
    names = {
        "impulse.csv",
        "impulse.wav",
        "impulse.png",
        "levels.csv",
        "power.csv",
        "directivity.csv",
        "surface_01.vtu",
        "slice.png",
        "directivity_polar.png",
    }
    assert names <= set(written.files) and not written.failures
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["steps"][1]["sound_power_W"] == results.last.power
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Sound that bodies make" in page and "dB re 20 µPa" in page and "dB re 1 pW" in page


def test_a_response_needs_a_band_that_holds_it():
    frequencies = 'frequency = ["450 Hz", "900 Hz"]'
    text = SPHERE.replace('frequency = "500 Hz"', frequencies)
    text = text.replace("[output]", "[output]\nimpulse = { rate = 4050.0 }").replace('"50 mm"', '"65 mm"')
    with pytest.raises(CaseError, match=r"output.impulse.rate.*the band ends at 900 Hz"):
        run(parse(text))
