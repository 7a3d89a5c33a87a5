"""Cases of sheets, four-poles, resonances, split sources, own fluids, bands and beams against closed forms."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import calderon as cal
from calderon.case import CaseError, parse
from calderon.report import headlines, plan, run, write

ROOT = Path(__file__).parents[3]
DISC = """\
[mesh]
shape = "disc"
radius = "100 mm"
h = "14 mm"
[acoustics]
frequency = "100 Hz"
side = "both"
[[source]]
kind = "plane-wave"
direction = [0, 0, -1]
amplitude = "1 Pa"
[output]
points = [[0, 0, "2 m"], [0, 0, "-50 mm"]]
"""
DUCT = """\
[mesh]
shape = "cuboid"
lengths = ["0.5 m", "0.1 m", "0.1 m"]
h = "0.1 m"
[acoustics]
frequency = ["200 Hz", "343 Hz"]
fluid = "gas"
side = "interior"
space = "P2"
[media.gas]
density = 1.2
speed_of_sound = 343.0
[[face]]
name = "inlet"
normal = [-1, 0, 0]
[[face]]
name = "outlet"
normal = [1, 0, 0]
[output]
"""
SPHERE = """\
[mesh]
shape = "sphere"
radius = 0.1
h = "60 mm"
[acoustics]
frequency = { start = "85 Hz", stop = "230 Hz", count = 60 }
interpolate = 1e-3
[[surface]]
velocity = "1 mm/s"
[output]
points = [["0.5 m", 0, 0]]
a_weighted = true
third_octaves = "mean"
"""


def test_a_rigid_disc_scatters_by_its_closed_form_and_takes_off_what_it_says():
    """At low frequencies the scattered pressure is 2 k^2 a^3 cos / (3 pi) exp(ikr) / r far away."""
    results = run(parse(DISC))
    k = results.problem.wavenumber
    scattered = results.pressures[0] - results.without_sheet[0]
    far = 2 * k**2 * 0.1**3 / (3 * np.pi) * np.exp(2j * k) / 2 * (1 + 1j / (2 * k))  # a dipole, near terms with it
    assert abs(scattered[0]) == pytest.approx(abs(far), rel=0.06)
    loss = results.levels(results.without_sheet) - results.levels(results.pressures)
    shown = {name: value for name, value, _ in headlines(results, {})}
    name = next(each for each in shown if each.startswith("insertion loss at point 2"))
    assert float(shown[name].replace("\u2212", "-")) == pytest.approx(loss[0, 1], abs=0.05)


def test_sheets_have_the_impedances_of_the_program_with_and_without_tags(tmp_path):
    panel = '{ hole = "0.5 mm", thickness = "1 mm", porosity = 0.02 }'
    text = DISC.replace("[output]", f'[[surface]]\nperforated = {panel}\n[output]\nsurface = ["abs"]')
    results = run(parse(text))
    mesh, wave = cal.mesh.disc(0.1, 0.014), cal.PlaneWave([0, 0, -1.0])
    sheet = cal.Impedance.perforated(0.5e-3, 1e-3, 0.02, cavity=None)
    direct = cal.AcousticSheet(mesh, frequency=100.0, fluid=cal.Fluid.air(), impedance=sheet).solve(wave)
    points = [[0, 0, 2.0], [0, 0, -0.05]]
    assert results.pressures[0] == pytest.approx(direct.field(points), rel=1e-4)
    assert results.last.absorbed == pytest.approx(direct.absorbed_power(*_constants()), rel=1e-4)
    written = write(results, tmp_path / "out")
    assert not written.failures and {"insertion_loss.csv", "surface_abs.png", "levels.csv"} <= set(written.files)


def _constants():
    air = cal.Fluid.air()
    return air.density, air.speed_of_sound


def test_a_pipe_has_its_four_pole_and_no_transmission_loss(tmp_path):
    results = run(parse(DUCT + 'four_pole = ["inlet", "outlet"]\n'))
    for pole in results.four_poles:
        exact = cal.FourPole.pipe(0.5, 0.01, pole.frequency, results.problem.fluid)
        scale = np.array([[1, exact.fluid.impedance / 0.01], [0.01 / exact.fluid.impedance, 1]])
        assert np.abs((pole.matrix - exact.matrix) / scale).max() < 2e-3
        assert abs(pole.transmission_loss) < 1e-3
    write(results, tmp_path / "out")
    with (tmp_path / "out" / "four_pole.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert float(rows[1]["A_real"]) == pytest.approx(-1, abs=2e-3)  # half a wavelength
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["transmission_loss_dB"][0] < 1e-3


def test_four_poles_of_a_band_come_from_few_solutions():
    band = 'frequency = { start = "100 Hz", stop = "600 Hz", count = 51 }\ninterpolate = 1e-3'
    text = DUCT.replace('frequency = ["200 Hz", "343 Hz"]', band).replace('"P2"', '"P1"')
    results = run(parse(text + 'four_pole = ["inlet", "outlet"]\n'))
    assert len(results.four_poles) == 51 and len(results.solved) < 20
    angles = 2 * np.pi * results.frequencies / 343.0 * 0.5
    assert [each.matrix[0, 0].real for each in results.four_poles] == pytest.approx(np.cos(angles), abs=0.03)


@pytest.mark.variant
def test_rooms_have_their_resonances_with_and_without_absorption(tmp_path):
    """k = pi / L, and with b = rho c / Z at one end k = (pi - i artanh b) / L."""
    text = DUCT.replace('frequency = ["200 Hz", "343 Hz"]\n', "") + 'resonances = ["300 Hz", "400 Hz"]\n'
    rows = {name: value for name, value, _ in plan(parse(text))}
    assert rows["matrices of a contour"] == "32" and "frequencies" not in rows
    rigid = run(parse(text))
    assert [each.frequency.real for each in rigid.modes] == pytest.approx([343.0], rel=1e-3)
    lossy = run(parse(text + '[[surface]]\ntag = "outlet"\nrelative_impedance = 5.0\n'))
    exact = 343.0 / np.pi * (np.pi - 1j * np.arctanh(0.2))
    assert lossy.modes[0].frequency == pytest.approx(exact, rel=2e-3)
    written = write(lossy, tmp_path / "out")
    assert not written.failures and {"resonances.csv", "mode_01.png", "mode_01.vtu"} <= set(written.files)
    assert "quality factor" in (tmp_path / "out" / "report.html").read_text()


def test_sources_beside_a_mirror_are_split():
    source = '[[source]]\nkind = "point-source"\nposition = [0, 0.1, "0.4 m"]\n'
    head, output = SPHERE.split("frequency = ")[0], 'frequency = "400 Hz"\n'
    points = "[output]\npoints = [[0.2, 0, 0.1], [0.2, 0, -0.1]]\n"
    whole = run(parse(head + output + source + points)).pressures[0]
    half = head.replace('"sphere"', '"hemisphere"') + output + 'mirrors = { z = "even" }\n'
    split = run(parse(half + "decompose = true\n" + source + points))
    assert split.pressures[0] == pytest.approx(whole, rel=0.02)
    assert abs(whole[0] / whole[1] - 1) > 0.1
    with pytest.raises(ValueError, match="decompose = true of a case"):
        run(parse(half + source + points))


def test_boundary_layers_are_those_of_constants_in_media():
    air, walls = cal.Fluid.air(), '[[surface]]\ntag = "sides"\nviscothermal = true\n'
    text = DUCT.replace('"0.1 m", "0.1 m"', '"10 mm", "10 mm"').replace('["200 Hz", "343 Hz"]', '"343 Hz"')
    text = text.replace('"0.1 m"', '"50 mm"').replace('"P2"', '"P1"').replace("[output]", (
        '[[face]]\nname = "sides"\nlow = [-0.3, -0.006, -0.006]\nhigh = [0.3, 0.006, 0.006]\n'
        '[[surface]]\ntag = "drive"\nvelocity = 1.0\n' + walls + "[output]\npoints = [[0, 0, 0]]\n"
    ))  # fmt: skip
    ends = '[[face]]\nname = "drive"\nnormal = [-1, 0, 0]\n'
    text = text.replace('[[surface]]\ntag = "drive"', ends + '[[surface]]\ntag = "drive"')
    named = text.replace("density = 1.2\nspeed_of_sound = 343.0", 'kind = "air"')
    constants = f"density = {air.density}\nspeed_of_sound = {air.speed_of_sound}\n"
    constants += f'kinematic_viscosity = "{1e6 * air.kinematic_viscosity} mm^2/s"\n'
    constants += f"heat_capacity_ratio = {air.heat_capacity_ratio}\nprandtl = {air.prandtl}"
    own = text.replace("density = 1.2\nspeed_of_sound = 343.0", constants)
    assert run(parse(own)).pressures == pytest.approx(run(parse(named)).pressures, rel=1e-9)
    with pytest.raises(CaseError, match=r"kinematic_viscosity, .* of the fluid: give them in \[media.gas\]"):
        run(parse(text))


def test_bands_and_weights_are_those_of_the_exact_power():
    results = run(parse(SPHERE))
    hertz, fluid = results.frequencies, results.problem.fluid
    ka = 2 * np.pi * hertz / fluid.speed_of_sound * 0.1
    exact = 0.5 * fluid.impedance * 1e-6 * 4 * np.pi * 0.01 * ka**2 / (1 + ka**2)
    bands = cal.third_octaves(hertz, exact, "mean")
    rows = headlines(results, {})
    shown = {name: (float(value), unit) for name, value, unit in rows if "third octaves" in name}
    assert [unit for _, unit in shown.values()] == ["dB re 1 pW", "dB(A) re 1 pW"]
    sums = [value for value, _ in shown.values()]
    assert sums == pytest.approx([bands.total_level, bands.total_a_weighted_level], abs=0.3)  # the area of facets
    assert results.power_levels == pytest.approx(10 * np.log10(exact / 1e-12) + cal.a_weighting(hertz), abs=0.3)
    assert any(unit == "dB(A) re 20 µPa" for _, _, unit in rows)


def test_a_piston_has_its_beamwidth(tmp_path):
    """In a baffle the pressure falls to -3 dB where 2 J1(x) / x does, x = ka sin."""
    text = SPHERE.split("[acoustics]")[0].replace('"sphere"', '"disc"').replace("60 mm", "25 mm")
    text += '[acoustics]\nfrequency = ["1.5 kHz", "2.2 kHz"]\nbaffle = true\n[[surface]]\nvelocity = 1.0\n'
    text += '[output]\ndirectivity = { plane = "xz", start = "0 deg", stop = "180 deg", count = 181 }\n'
    results = run(parse(text))
    edge = next(x for x in np.linspace(1.6, 1.7, 10001) if 2 * special.j1(x) / x < 10 ** (-3 / 20))
    for step in results.steps:
        angle, width = step.beam
        ka = 2 * np.pi * step.frequency / results.problem.fluid.speed_of_sound * 0.1
        assert np.degrees(angle) == pytest.approx(90) and width == pytest.approx(2 * np.arcsin(edge / ka), rel=0.02)
    write(results, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "beamwidth" in page and "Beams in the xz plane" in page


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (DISC, "[output]", '[[surface]]\nvelocity = "1 m/s"\n[output]', "a sheet (side = 'both') has a transfer"),
        (DISC, "[output]", "[[surface]]\nabsorption = 0.5\n[output]", "one of impedance, relative_impedance, perf"),
        (DISC, "[output]", "[output]\ndirectivity = {}", "a sheet has none"),
        (DISC, "[output]", '[output]\nresonances = ["1 Hz", "2 Hz"]', 'give side = "interior"'),
        (DUCT, "[output]", "[output]\npoints = [[0, 0, 0]]", "nothing sounds: give"),
        (DUCT, "[output]", "[output]\nresonances = [300, 200]", "the lower and the upper frequency"),
        (DUCT, "[output]", '[output]\nfour_pole = ["inlet", "outlet"]\npoints = [[0, 0, 0]]', "output.points: nothing"),
        (SPHERE, '"mean"', '"sum"', "output.third_octaves"),
        (SPHERE, "count = 60", "count = 3", "output.third_octaves: no frequency lies in the third octave"),
        (SPHERE, "interpolate", "decompose = true\ninterpolate", "decompose: it splits sources by planes"),
        (SPHERE, 'frequency = {', 'fluid = "water"\nfrequency = {', "output.a_weighted is of hearing in air"),
        (SPHERE, "[[surface]]", "[[source]]\nkind = 'plane'\n[[surface]]", "plane-wave"),
    ],
)  # fmt: skip
def test_mistakes_are_named(text, old, new, message):
    with pytest.raises(CaseError) as caught:
        parse(text.replace(old, new), "case.toml")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (DUCT, "[output]", '[output]\nfour_pole = ["inlt", "outlet"]', "output.four_pole.*did you mean 'inlet'"),
        (DUCT, "[output]", '[output]\nfour_pole = ["inlet", "inlet"]', "two parts of the surface"),
        (DUCT, "[output]", '[output]\nresonances = ["0.1 Hz", "20 Hz"]', "output.resonances.*divide the band"),
        (DISC, '"disc"', '"sphere"', "AcousticSheet is for open meshes"),
        (DISC, "[output]", "[[surface]]\nimpedance = -100\n[output]", "gives energy to the sound"),
        (DISC, "[output]", '[[surface]]\ntag = "mesh"\nimpedance = 100\n[output]', "unknown tags"),
    ],
)
def test_mistakes_on_the_mesh_are_named(text, old, new, message):
    with pytest.raises(CaseError, match=message):
        run(parse(text.replace(old, new), "case.toml"))


def test_the_cases_of_the_guide_are_cases():
    texts = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "guides" / "sound.md").read_text("utf-8"), re.S)
    assert [parse(text).case.acoustics.side for text in texts] == ["interior", "both"]
