"""Case files of printed circuits and antennas: mistakes by line and key, numbers, and the files of a result."""

import csv
import json

import numpy as np
import pytest

import calderon as cal
from calderon.case import CaseError, parse
from calderon.kinds.planar import KIND
from calderon.kinds.planar.results import gain_scene
from calderon.report import example, headlines, plan, run, write
from calderon.report.stages import Stages

CASE = """\
title = "patch"
[planar]
band = { start = "2.2 GHz", stop = "2.5 GHz", points = 31 }
[metal]
shape = "patch"
length = "38 mm"
width = "57 mm"
h = "40 mm"
[[port]]
kind = "probe"
place = ["-8 mm", 0.0]
radius = "0.5 mm"
[[layer]]
thickness = "3.175 mm"
permittivity = 2.33
[solver]
interpolate = 1e-2
"""


@pytest.mark.parametrize(
    "old, new, text",
    [
        ('shape = "patch"', 'shape = "star"', "line 5: metal.shape = \"star\": choose 'patch'"),
        ('h = "40 mm"', "", "the shape 'patch' also needs h"),
        ('h = "40 mm"', 'h = "40 mm"\nfile = "patch.msh"', "give exactly one of shape and file"),
        ('h = "40 mm"', 'h = "40 mm"\ninterface = 2', "metal.interface = 2: the board has 1 [[layer]] tables"),
        ('h = "40 mm"', 'h = "40 mm"\ninterface = 0', "the metal lies on a wall: give metal.interface another number"),
        ('radius = "0.5 mm"', "", "a probe also needs radius"),
        ('radius = "0.5 mm"', 'radius = "0.5 mm"\nwidth = "1 mm"', "width is not supported by a probe"),
        ('kind = "probe"', 'kind = "pin"', "line 10: port.kind"),
        ('radius = "0.5 mm"', 'radius = "0.5 mm"\nvoltage = 0', "the voltages of all ports are 0"),
        ('stop = "2.5 GHz"', 'stop = "2.1 GHz"', "line 3: planar.band: the stop of a band lies above its start"),
        ('band = { start = "2.2 GHz", stop = "2.5 GHz", points = 31 }', "", 'give frequency = "2.4 GHz", or band'),
        ("permittivity = 2.33", "permittivity = -2", "layer.permittivity"),
    ],
)
def test_mistakes_are_named(old, new, text):
    with pytest.raises(CaseError) as caught:
        parse(CASE.replace(old, new), "case.toml")
    assert text in str(caught.value)


def test_mistakes_of_ports_and_files_are_named_by_their_keys():
    with pytest.raises(CaseError, match="line 10: port.kind.*"):
        plan(parse(CASE.replace("-8 mm", "-80 mm"), "case.toml"))
    shape = CASE[CASE.index("shape") : CASE.index("[[port]]")]
    with pytest.raises(CaseError, match=r"line 5: metal.file.*no such file"):
        plan(parse(CASE.replace(shape, 'file = "missing.msh"\n'), "case.toml"))


@pytest.mark.filterwarnings("ignore:edges of up to")
def test_a_result_has_its_files_with_units(tmp_path):
    file = parse(CASE)
    results = run(file)
    unknowns = results.problem.function_space.dimension
    planned = plan(file)
    assert planned[0][1].startswith(f"{unknowns} on ") and planned[1][1] == "dense"
    first = headlines(results, {"solve": 1.0})
    assert any(name.startswith("resonance, of Q ") and unit == "GHz" for name, _, unit in first)
    assert results.resonances[0].frequency == pytest.approx(2.358e9, rel=0.03)  # another moment method; a coarse mesh
    written = write(results, tmp_path / "out")
    names = {"scattering.csv", "scattering.s1p", "gain.csv", "current.vtu", "scattering.png", "smith.png", "gain.png"}
    assert names | {"current.png"} <= set(written.files)
    with (tmp_path / "out" / "scattering.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    levels = np.array([float(row["S11_dB"]) for row in rows])
    least = int(levels.argmin())
    at = results.solution.frequency
    assert float(rows[least]["frequency_Hz"]) == pytest.approx(at, rel=1e-9)
    z = 1 / (results.solution.feed_currents[0] / results.solution.voltages[0])
    assert float(rows[least]["R_ohm"]) == pytest.approx(z.real, rel=0.02)
    assert float(rows[least]["X_ohm"]) == pytest.approx(-z.imag, rel=0.02)
    text = (tmp_path / "out" / "scattering.s1p").read_text().splitlines()
    values = [float(each) for each in text[2 + least].split()]
    assert abs(complex(*values[1:])) == pytest.approx(10 ** (levels[least] / 20), rel=1e-6)
    with (tmp_path / "out" / "gain.csv").open() as stream:
        gains = list(csv.DictReader(stream))
    upward = float(results.solution.gain(0.0, 0.0, decibels=True))
    assert [float(gains[90][f"gain_{plane}_dBi"]) for plane in ("xz", "yz")] == pytest.approx([upward] * 2, abs=1e-6)
    band = np.genfromtxt(tmp_path / "out" / "gain_over_frequency.csv", delimiter=",", names=True)[least]
    assert len(results.radiations) == results.sweep.solves
    assert band["gain_dBi"] == pytest.approx(results.largest_gain, abs=0.02)
    power = results.solution.power
    assert band["efficiency"] == pytest.approx(power.radiated / power.accepted, rel=2e-3)
    returned = 10 * np.log10(1 - 10 ** (levels[least] / 10))
    assert band["realised_gain_dBi"] - band["gain_dBi"] == pytest.approx(returned, abs=1e-6)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    power = summary["power_W"]
    assert power["radiated"] + power["surface_waves"] == pytest.approx(power["accepted"], rel=1e-3)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Printed circuits and antennas" in page and "Power at 2." in page


def test_the_example_is_the_patch_of_the_example_program():
    case = example("patch-antenna").case
    assert case.height == 3.175e-3 and case.planar.band.points == 121
    assert case.metal.mesh().area == pytest.approx(57e-3 * 38e-3)
    assert case.voltages == [1.0]


SHORTED = CASE.replace(
    """\
[[port]]
kind = "probe"
place = ["-8 mm", 0.0]
""",
    """\
[[ribbon]]
from_to = [["-19 mm", "-28.5 mm"], ["-19 mm", "28.5 mm"]]
[[via]]
place = ["-8 mm", 0.0]
radius = "0.5 mm"
[[port]]
kind = "edge"
place = ["-8 mm", 0.0]
""",
)


def test_vias_ribbons_and_their_ports_are_those_of_the_library():
    problem = KIND.build(parse(SHORTED), Stages())
    heights, line = (0.0, 3.175e-3), ((-19e-3, -28.5e-3), (-19e-3, 28.5e-3))
    patch = cal.planar.patch(57e-3, 38e-3, h=40e-3, z=heights[1])
    mesh = cal.planar.via(cal.planar.ribbon(line, heights, heights[1], patch), (-8e-3, 0.0), 0.5e-3, heights)
    assert np.array_equal(problem.mesh.triangles, mesh.triangles)
    assert np.allclose(problem.mesh.vertices, mesh.vertices, rtol=0, atol=1e-15)
    assert np.array_equal(problem.ports[0].around, (-8e-3, 0.0, 0.5e-3))
    ribbon = 'from_to = [["-19 mm", "-28.5 mm"], ["-19 mm", "28.5 mm"]]'
    port = SHORTED.index("[[port]]")
    from_to = SHORTED[:port] + SHORTED[port:].replace('place = ["-8 mm", 0.0]\nradius = "0.5 mm"', ribbon)
    assert np.allclose(KIND.build(parse(from_to), Stages()).ports[0].line, line, rtol=0, atol=1e-15)
    cover = "[[layer]]\nthickness = '1 mm'\n"
    above = SHORTED.replace("[[layer]]", cover + "[[layer]]").replace("[[via]]", "[[via]]\ninterfaces = [1, 2]")
    with pytest.raises(CaseError, match=r"no vertical metal stands on the ground within 0.5 mm of \(-8, 0\) mm"):
        KIND.build(parse(above), Stages())


@pytest.mark.parametrize(
    "old, new, text",
    [
        ("[[via]]", "[[via]]\ninterfaces = [1, 1]", "line 11: via: interfaces are the numbers of layers"),
        ("[[via]]", "[[via]]\ninterfaces = [0, 2]", "interfaces = [0, 2]: the board has 1 [[layer]] tables"),
        ('[[via]]\nplace = ["-8 mm"', '[[via]]\nplace = ["-80 mm"', "line 12: via.place = "),
        ('[["-19 mm", "-28.5 mm"]', '[["-18 mm", "-28.5 mm"]', "edges of the metal do not cover the line"),
        ('kind = "edge"\nplace = ["-8 mm", 0.0]\n', 'kind = "edge"\n', "or place and radius of a via"),
        ('kind = "edge"\nplace = ["-8 mm"', 'kind = "edge"\nplace = ["8 mm"', "line 15: port.kind"),
        ("[[via]]", "[[via]]\nthickness = 1", "via.thickness: unknown key"),
    ],
)
def test_mistakes_of_vertical_metal_are_named(old, new, text):
    with pytest.raises(CaseError) as caught:
        KIND.build(parse(SHORTED.replace(old, new), "case.toml"), Stages())
    assert text in str(caught.value)


LOADED = SHORTED.replace(
    "[[layer]]",
    """\
[[load]]
kind = "edge"
from_to = [["-19 mm", "-28.5 mm"], ["-19 mm", "28.5 mm"]]
resistance = "0.1 kohm"
capacitance = "2 pF"
parallel = true
[[load]]
kind = "gap"
from_to = [[0, "-28.5 mm"], [0, "28.5 mm"]]
inductance = "3 nH"
[[layer]]""",
).replace('h = "40 mm"', 'h = "19 mm"')


def test_loads_are_those_of_the_library():
    problem = KIND.build(parse(LOADED), Stages())
    first, second = problem.loads
    assert np.allclose(first.gap.line, ((-19e-3, -28.5e-3), (-19e-3, 28.5e-3)), rtol=0, atol=1e-15)
    assert first.impedance_at(1e9) == pytest.approx(1 / (1 / 100 - 2j * np.pi * 2e-3), rel=1e-12)
    assert second.impedance_at(1e9) == pytest.approx(-6j * np.pi, rel=1e-12)
    # positive along the foot of the ribbon, in all 57 mm of either slot
    assert np.abs(problem.load_weights).sum(axis=0) == pytest.approx([57e-3, 57e-3])


@pytest.mark.parametrize(
    "old, new, text",
    [
        ('inductance = "3 nH"\n', "", 'load: a load needs a resistance = "50 ohm", an inductance = "1 nH" or'),
        ('"3 nH"', '"-3 nH"', "an inductance here must be greater than zero"),
        ('"3 nH"', '"3 pF"', 'an inductance is written like "10 H", in one of: H, mH, uH, nH, pH'),
        ("parallel = true", 'parallel = "yes"', "choose true or false"),
        ('kind = "gap"', 'kind = "gap"\nplace = [0, 0]', "place is not supported by a load in a gap"),
        ("[[0, ", '[["1 mm", ', "load.kind"),
        ('[[0, "-28.5 mm"], [0, "28.5 mm"]]', '[[0, "-28.5 mm"], [0, "28.5 mm"]]\nbetween = [1, 2]', "either from_to"),
        ('place = ["-8 mm", 0.0]\nradius = "0.5 mm"\n[[load]]',
         'from_to = [["-19 mm", "-28.5 mm"], ["-19 mm", "28.5 mm"]]\n[[load]]', "ports and loads share"),
    ],
)  # fmt: skip
def test_mistakes_of_loads_are_named(old, new, text):
    assert old in LOADED
    with pytest.raises(CaseError) as caught:
        KIND.build(parse(LOADED.replace(old, new), "case.toml"), Stages())
    assert text in str(caught.value)


@pytest.mark.filterwarnings("ignore:edges of up to")
def test_the_views_have_a_slider_over_the_ports():
    more = '[[port]]\nkind = "probe"\nname = "right"\nplace = ["8 mm", 0.0]\nradius = "0.5 mm"\n[[layer]]'
    band = 'band = { start = "2.2 GHz", stop = "2.5 GHz", points = 31 }'
    results = run(parse(CASE.replace(band, 'frequency = "2.3 GHz"').replace("[[layer]]", more, 1)))
    scene = results.current.scene()
    assert scene.steps.labels == ["voltages of the case", "1: 1 V at port 1", "2: 1 V at right"] and scene.steps.own
    given, left, right = (np.asarray(each) for each in scene.layers[0].fields[0].values)
    assert given == pytest.approx(left) and np.abs(right - left).max() > 0.1 * np.abs(left).max()
    assert results.by_port[1].voltages.tolist() == [0, 1]
    gains = gain_scene(results.sources).layers[0].fields[0].values
    assert len(gains) == 3 and gains[0][0] == pytest.approx(results.solution.gain(0.0, 0.0, decibels=True))
