"""Antennas from case files and decks of NEC-2."""

import re
from dataclasses import replace

import numpy as np
import pytest

import calderon as cal
from calderon.case import CaseError, parse, read
from calderon.formulations.linear_system import LinearSystem
from calderon.report import headlines, run
from calderon.report.kind import plan, sheet_of
from calderon.report.sheet import BestEffort

DIPOLE = """\
[antennas]
frequency = "299.792458 MHz"
[[wire]]
points = [["0 m", "0 m", "-0.25 m"], ["0 m", "0 m", "0.25 m"]]
radius = "1 mm"
segments = 42
[[port]]
kind = "wire"
at = ["0 m", "0 m", "0 m"]
"""
LOAD = '[[load]]\nkind = "wire"\nat = ["0 m", "0 m", "0 m"]\nresistance = "100 ohm"\n'
BOARD = """\
[antennas]
frequency = "299.792458 MHz"
[[surface]]
name = "strip"
shape = "plate"
lengths = ["0.5 m", "0.1 m"]
h = "0.05 m"
[[port]]
kind = "gap"
from_to = [["0 m", "-0.05 m", "0 m"], ["0 m", "0.05 m", "0 m"]]
"""
DECK = """\
CM a dipole
GW 1 41 0 0 -.25 0 0 .25 .001
GE 0
EX 0 1 21 0 1 0
FR 0 3 0 0 290 10
EN
"""


def test_a_dipole_with_a_load_in_series_with_its_port():
    results = run(parse(DIPOLE + LOAD))
    z = results.solution.input_impedance
    assert z.real == pytest.approx(185.72, rel=0.05) and -z.imag == pytest.approx(48.7, rel=0.15)
    told = {name: (value, unit) for name, value, unit in headlines(results, {})}
    assert told["largest gain"][1] == "dBi" and float(told["radiated, of the accepted power"][0]) < 60
    sheet = sheet_of(results)
    numbers = sheet.numbers
    assert numbers["radiated_W"] / numbers["accepted_W"] == pytest.approx(85.7 / 185.7, rel=0.05)
    widths = {plane: each["width_deg"] for plane, each in numbers["beams"].items()}  # 78 degrees of a thin dipole
    assert widths == pytest.approx({"xz plane": 78, "yz plane": 78, "xy plane": 360}, abs=1)
    shown = re.findall(r"(front to back|next lobe) there</th><td><span class=\"short\">(.*?) <", sheet.tables)
    assert shown == [*(("front to back", "0.0"), ("next lobe", "0.0")) * 2, ("front to back", "0.0")]  # none around z
    assert dict((row[0], row[1]) for row in plan(parse(DIPOLE)))["unknowns"] == "41"


@pytest.mark.parametrize("band", ["", 'band = { start = "270 MHz", stop = "320 MHz", points = 3 }\n'])
def test_too_long_segments_are_warned_of_once(band):
    text = DIPOLE.replace("segments = 42", "segments = 2").replace("[[wire]]", f"{band}[[wire]]")
    (found,) = [each for each in run(parse(text)).warnings if "at least 6 are needed" in each]
    assert found.startswith("3 of 3 frequencies" if band else "segments of wires are up to")


def test_a_deck_is_a_case(tmp_path):
    (tmp_path / "dipole.nec").write_text(DECK)
    results = run(read(tmp_path / "dipole.nec"))
    np.testing.assert_allclose(results.sweep.frequencies, [290e6, 300e6, 310e6])
    model = cal.read_nec(tmp_path / "dipole.nec")
    expected = model.antenna(300e6).impedance_matrix()
    np.testing.assert_allclose(results.sweep.z[1], expected, rtol=1e-9)
    assert sheet_of(results).failures == []
    with pytest.raises(CaseError, match="no voltage"):
        (tmp_path / "still.nec").write_text(DECK.replace("EX", "CM"))
        run(read(tmp_path / "still.nec"))


def test_gain_and_efficiency_over_a_band(tmp_path):
    """A dipole with a load next to a second port: gains shown at solved frequencies are those of the solutions."""
    band = 'band = { start = "270 MHz", stop = "320 MHz", points = 11 }\nreference = 75\n[[wire]]'
    results = run(parse(DIPOLE.replace("[[wire]]", band, 1) + LOAD + SECOND))
    sheet, files = sheet_of(results), BestEffort(tmp_path)
    for writing in sheet.writings:
        writing(files)
    assert sheet.failures == files.failures == [] and results.radiations
    rows = np.genfromtxt(tmp_path / "gain_over_frequency.csv", delimiter=",", names=True)
    for each in results.radiations:
        row = rows[np.argmin(abs(rows["frequency_Hz"] - each.frequency))]
        model = cal.WireAntenna(
            results.problem.wires, results.problem.ports, loads=results.problem.loads, frequency=each.frequency
        )
        solution = model.solve(results.solution.voltages)
        realised = solution.realized_gain(np.pi / 2, 0.0, reference=75.0, decibels=True)
        assert row["efficiency"] == pytest.approx(solution.efficiency(), rel=1e-5)
        assert row["realised_gain_dBi"] == pytest.approx(realised, abs=0.02)
        assert row["gain_dBi"] - row["realised_gain_dBi"] > 0.05
    places = results.scene.arrows[0].places + results.scene.arrows[0].vectors / 2
    assert np.allclose(places, [[0, 0, 0], [0, 0, 0.125]]) and results.scene.arrows[0].texts == results.solution.feeds
    assert np.allclose(results.scene.arrows[0].vectors[:, :2], 0) and (results.scene.arrows[0].vectors[:, 2] > 0).all()


def test_gain_over_a_band_takes_no_further_solutions(monkeypatch):
    """By superposition of those for S; the one further is that of the pattern."""
    solves, solve = [], LinearSystem.solve
    monkeypatch.setattr(LinearSystem, "solve", lambda *given: solves.append(given) or solve(*given))
    band = 'band = { start = "280 MHz", stop = "300 MHz", points = 2 }'
    results = run(parse(BOARD.replace('frequency = "299.792458 MHz"', band) + "voltage = 2.0\n"))
    assert len(solves) == results.sweep.solves + 1 == 3
    (same,) = (each for each in results.radiations if each.frequency == results.solution.frequency)
    assert same.gain == pytest.approx(results.largest_gain, abs=1e-6)


SECOND = '[[port]]\nkind = "wire"\nat = ["0 m", "0 m", "0.125 m"]\nvoltage = 0.5\n'
LOWER, UPPER = (f'[[circuit.end]]\nkind = "wire"\nat = ["0 m", "0 m", "{z} m"]\n' for z in (0, 0.125))


def test_lines_and_measured_networks_join_gaps(tmp_path):
    line = '[[circuit]]\nkind = "line"\nimpedance = "75 ohm"\nlength = "0.1 m"\nvelocity = 0.66\n'
    found = run(parse(DIPOLE + line + LOWER + UPPER)).solution.input_impedance
    wire, gap = cal.Wire([[0, 0, -0.25], [0, 0, 0.25]], 1e-3, 42), cal.WireGap([0, 0, 0])
    antenna, upper = cal.WireAntenna(wire, gap, 299.792458e6), cal.WireGap([0, 0, 0.125])
    expected = antenna.connected(cal.Line(75.0, 0.1, 0.66), [gap, upper]).solve()
    assert found == pytest.approx(expected.input_impedance, rel=1e-9)
    pytest.importorskip("skrf", reason="Touchstone files are read by scikit-rf")
    ohms = np.array([[1 / 100.0]])
    s = np.tile(np.linalg.solve(np.eye(1) + 50 * ohms, np.eye(1) - 50 * ohms), (2, 1, 1))
    cal.formulations.PortSweep(np.array([2e8, 4e8]), s, 50.0, np.zeros(0), s, 0.0).write_touchstone(tmp_path / "r.s1p")
    measured = '[[circuit]]\nkind = "network"\nfile = "r.s1p"\n' + UPPER
    (tmp_path / "case.toml").write_text(DIPOLE + measured)
    results = run(read(tmp_path / "case.toml"))
    resistor = cal.WireAntenna(wire, gap, 299.792458e6, loads=cal.Lumped(upper, resistance=100.0)).solve()
    assert results.solution.input_impedance == pytest.approx(resistor.input_impedance, rel=1e-8)
    numbers = sheet_of(results).numbers
    assert numbers["absorbed_W"]["in circuits"] == pytest.approx(resistor.lost, rel=1e-8)
    assert abs(numbers["balance_error"]) < 1e-3
    with pytest.raises(CaseError, match="a line has two ends"):
        parse(DIPOLE + line + UPPER)
    with pytest.raises(CaseError, match="also needs file"):
        parse(DIPOLE + line.replace('"line"', '"network"') + LOWER + UPPER)


def test_a_strip_of_metal_is_the_conductor_alone():
    results = run(parse(BOARD))
    gap = cal.DeltaGap(line=[[0, -0.05, 0], [0, 0.05, 0]])
    alone = cal.PECAntenna(cal.mesh.plate([0.5, 0.1], 0.05), 2 * np.pi, gap).solve()
    assert results.solution.input_impedance == pytest.approx(alone.input_impedance, rel=1e-6)
    assert results.largest_gain == pytest.approx(alone.gain(0.0, 0.0, decibels=True), abs=0.05)
    (arrows,) = results.scene.arrows
    assert np.allclose(arrows.places + arrows.vectors / 2, 0) and np.allclose(arrows.vectors[0, 1:], 0)
    assert arrows.vectors[0, 0] > 0 and arrows.texts == results.solution.feeds


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('frequency = "299.792458 MHz"', "", "antennas.band: give frequency"),
        ('at = ["0 m", "0 m", "0 m"]', "", "also needs at"),
        ('at = ["0 m", "0 m", "0 m"]', 'at = ["1 m", "0 m", "0 m"]', "no wire is at the gap"),
        ("[[port]]", '[[region]]\nname = "board"\nmaterial = "FR5"\n[[port]]', "did you mean 'FR4'"),
        ("[[port]]", "[[ports]]", "did you mean 'port'"),
        ("[antennas]", '[antennas]\ndeck = "a.nec"', r"leave \[\[wire\]\] out"),
    ],
)
def test_mistakes_are_told(old, new, message):
    with pytest.raises(CaseError, match=message):
        run(parse(DIPOLE.replace(old, new)))


def test_metal_of_a_case_has_thickness_permeability_and_roughness():
    metal = 'conductivity = "5.8e7 S/m"\npermeability = 100\nroughness = "1 um"\n'
    sheet = parse(BOARD.replace("[[port]]", f'{metal}thickness = "18 um"\n[[port]]'))
    assert sheet.case.surface[0].sides.ohms == cal.planar.Conductor(5.8e7, 18e-6, 100, 1e-6)
    wire = parse(DIPOLE.replace("[[port]]", f"{metal}[[port]]")).case.wire[0].wire
    assert wire.conductor == cal.planar.Conductor(5.8e7, None, 100, 1e-6)
    for wrong in ("permeability = 2", 'roughness = "1 um"'):
        with pytest.raises(CaseError, match="needs the conductivity of the metal"):
            parse(BOARD.replace("[[port]]", f"{wrong}\n[[port]]"))


GUIDE = """\
[antennas]
frequency = "10 GHz"
[[surface]]
name = "walls"
file = "walls.vtu"
unit = "m"
[[surface]]
name = "feed"
file = "feed.vtu"
unit = "m"
kind = "waveguide"
inside = "air"
into = [0, 0, 1]
"""


@pytest.mark.filterwarnings("ignore::calderon.mesh.errors.CoarseMeshWarning")
def test_an_open_guide_is_fed_by_its_waveguide_port(tmp_path):
    """The case solves the problem that is posed in Python; keys of waveguide ports stay with them."""
    mesh = cal.mesh.cuboid([22.86e-3, 10.16e-3, 16e-3], 5e-3)
    z = mesh.vertices[mesh.triangles][:, :, 2]
    walls, feed = (
        cal.TriangleMesh(mesh.vertices, mesh.triangles[chosen])
        for chosen in ((z.max(axis=1) > -7e-3) & (z.min(axis=1) < 7e-3), z.max(axis=1) < -7e-3)
    )
    walls.write(tmp_path / "walls.vtu")
    feed.write(tmp_path / "feed.vtu")
    (tmp_path / "guide.toml").write_text(GUIDE)
    results = run(read(tmp_path / "guide.toml"))
    surfaces = {"walls": cal.Sheet("air"), "feed": cal.WaveguidePort("air", "air", into=(0, 0, 1))}
    joined = cal.mesh.merge([walls, feed]).merged_vertices(1e-9)
    tags = np.repeat([0, 1], [walls.number_of_triangles, feed.number_of_triangles])
    whole = cal.TriangleMesh(joined.vertices, joined.triangles, tags, {"walls": 0, "feed": 1})
    problem = cal.MaxwellProblem(whole, regions={"air": cal.Material()}, surfaces=surfaces, frequency=10e9)
    assert results.sweep.s[0] == pytest.approx(problem.scattering_matrix(), abs=1e-9)
    assert results.solution.input_power == pytest.approx((1 - abs(results.sweep.s[0, 0, 0]) ** 2) / 2, rel=1e-6)
    (arrows,) = results.scene.arrows
    assert np.allclose(arrows.places + arrows.vectors, [[0, 0, -8e-3]]) and np.allclose(arrows.vectors[0, :2], 0)
    assert arrows.vectors[0, 2] > 0
    sheet = sheet_of(results)
    assert sheet.failures == [] and sheet.numbers["balance_error"] == pytest.approx(0, abs=2e-3)
    assert sheet.numbers["least_S11_dB"] == pytest.approx(20 * np.log10(abs(results.sweep.s[0, 0, 0])))
    # a band, also of a guide and a gap: modes have no impedance, and S of all ports go into files
    for ports in (1, 2):
        s, hertz = np.full((3, ports, ports), 0.1j), np.linspace(9e9, 11e9, 3)
        sweep = replace(results.sweep, frequencies=hertz, s=s, solved=hertz, solved_s=s)
        sheet, files = sheet_of(replace(results, sweep=sweep)), BestEffort(tmp_path)
        for writing in sheet.writings:
            writing(files)
        assert sheet.failures == files.failures == []
        assert (tmp_path / f"scattering.s{ports}p").is_file()
        columns = (tmp_path / "scattering.csv").read_text().splitlines()[0].split(",")
        assert len(columns) == 1 + 2 * ports**2
    with pytest.raises(CaseError, match="waves: that of a waveguide port"):
        parse(BOARD.replace('h = "0.05 m"', 'h = "0.05 m"\nwaves = 2'))
    with pytest.raises(CaseError, match="open"):
        parse(GUIDE + 'conductivity = "1e7 S/m"\n')
