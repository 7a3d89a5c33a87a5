"""Case files of electromagnetics: what they compute, write and refuse."""

import json
import re

import numpy as np
import pytest

import calderon as cal
from calderon.case import CaseError, parse
from calderon.report import example, headlines, run, write
from calderon.report.formatting import decibels_of_power

SPHERE = """\
title = "conducting sphere"
[mesh]
shape = "sphere"
radius = "0.3 m"
h = "0.12 m"
[physics]
problem = "conductor"
frequency = "0.2 GHz"
[incident]
direction = [0, 0, 1]
polarization = [1, 0, 0]
[solver]
solver = "lu"
[output]
exact = true
far_field = { plane = "xz", start = "0 deg", stop = "360 deg", count = 37 }
monostatic = { plane = "yz", start = "0 deg", stop = "90 deg", count = 3, polarizations = ["VV", "VH"] }
slice = { plane = "xz", points = 10, quantity = "abs" }
[[output.reference]]
curve = "monostatic"
file = "known.csv"
label = "Mie"
angle = "angle_deg"
level = "rcs"
polarization = "VV"
"""
DIPOLE = """\
[mesh]
shape = "plate"
lengths = ["4 mm", "1 m"]
h = "25 mm"
[physics]
problem = "antenna"
frequency = ["140 MHz", "145 MHz"]
feed = { line = [[-0.002, 0, 0], [0.002, 0, 0]], voltage = "2 V" }
[solver]
solver = "lu"
[output]
far_field = { plane = "xy", start = "0 deg", stop = "90 deg", count = 3 }
"""


def mistakes(text):
    with pytest.raises(CaseError) as caught:
        parse(text, "case.toml")
    return str(caught.value)


def exact_sphere():
    k = parse(SPHERE).case.physics.wavenumbers[0]
    return cal.exact.mie_pec_sphere(k, 0.3, [0, 0, 1], [1, 0, 0])


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """The results of the sphere and the folder of their files."""
    folder = tmp_path_factory.mktemp("radar")
    level = 10 * np.log10(exact_sphere().rcs(np.pi, 0.0))
    (folder / "known.csv").write_text(f"# Mie\nangle_deg,rcs\n0,{level:.4f}\n45,{level:.4f}\n90,{level:.4f}\n")
    results = run(parse(SPHERE, "case.toml", folder))
    write(results, folder / "out")
    return results, folder / "out"


def test_a_conducting_sphere_is_compared_with_mie(result):
    results, folder = result
    table = np.genfromtxt(folder / "far_field.csv", delimiter=",", names=True)
    angles = np.radians(table["angle_deg"])  # from +x toward +z
    series = exact_sphere()
    directions = np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=1)
    far = series.far_field(directions)
    level = 10 * np.log10(4 * np.pi * np.sum(np.abs(far) ** 2, axis=1))
    assert np.abs(table["exact_rcs_dB_re_1m2"] - level).max() < 1e-6
    assert np.abs(table["rcs_dB_re_1m2"] - level).mean() < 0.3
    step = json.loads((folder / "summary.json").read_text())["steps"][0]
    assert 0 < step["far_field_error_against_exact"] < 0.1
    assert step["rcs_toward_source_dB"] == pytest.approx(10 * np.log10(series.rcs(np.pi, 0.0)), abs=0.3)
    components = table["far_field_theta_real_V"] + 1j * table["far_field_theta_imag_V"]
    theta_hat = np.stack([np.sin(angles), 0 * angles, -np.cos(angles)], axis=1)
    sign = np.where(np.cos(angles) < -1e-12, -1, 1)  # beyond the poles phi is 180 degrees
    expected = np.sum(far * theta_hat, axis=1) * sign
    assert np.linalg.norm(components - expected) < 0.1 * np.linalg.norm(expected)


def test_monostatic_levels_by_polarisation_with_a_reference(result):
    results, folder = result
    table = np.genfromtxt(folder / "monostatic.csv", delimiter=",", names=True)
    level = 10 * np.log10(exact_sphere().rcs(np.pi, 0.0))
    assert np.abs(table["rcs_VV_dB_re_1m2"] - level).max() < 0.3
    assert (table["rcs_VH_dB_re_1m2"] < level - 20).all()
    assert (folder / "known.csv").read_text().startswith("# Mie")
    rows = {name: (value, unit) for name, value, unit in headlines(results, {})}
    value, unit = rows["mean difference to “Mie” down to 25 dB below its maximum"]
    assert float(value) == pytest.approx(np.abs(table["rcs_VV_dB_re_1m2"] - level).mean(), abs=0.006) and unit == "dB"
    assert rows["largest monostatic radar cross-section, VV"][1] == "dB re 1 m²"


def test_the_files_of_a_radar_case(result):
    results, folder = result
    names = {path.name for path in folder.iterdir()}
    assert {"monostatic.png", "monostatic_polar.png", "far_field.png", "surface_abs.png", "slice.png"} <= names
    page = (folder / "report.html").read_text()
    assert "perfect conductor" in page and "radar cross-section" in page and "target strength" not in page
    assert "toward the radar" in page and "electric field along (1, 0, 0)" in page and "sonar" not in page
    assert results.steps[0].slice.values[0, 0].imag == 0  # a magnitude
    assert np.isnan(results.steps[0].slice.values).any()  # no field inside of a conductor


def test_polarisations_of_the_incident_wave():
    text = SPHERE.replace("direction = [0, 0, 1]", 'azimuth = "180 deg"')
    for name, vector in (("V", [0, 0, -1]), ("H", [0, 1, 0])):
        wave = parse(text.replace("[1, 0, 0]", f'"{name}"')).case.incident.electromagnetic(2.0)
        assert wave.direction == pytest.approx([-1, 0, 0], abs=1e-15)
        assert wave.polarization == pytest.approx(vector, abs=1e-15)
        assert wave.impedance == pytest.approx(376.73, abs=0.01)


@pytest.mark.parametrize(("along", "v", "h"), [([0, 0, -1], [1, 0, 0], [0, 1, 0]), ([0, 0, 1], [-1, 0, 0], [0, 1, 0])])
def test_on_the_z_axis_phi_is_zero(along, v, h):
    for name, vector in (("V", v), ("H", h)):
        text = SPHERE.replace("[0, 0, 1]", str(along)).replace("[1, 0, 0]", f'"{name}"')
        assert parse(text).case.incident.electromagnetic(2.0).polarization == pytest.approx(vector, abs=1e-15)


def test_zeros_stay_finite_in_decibels():
    np.testing.assert_allclose(decibels_of_power(np.array([0.0, 0.01, 1.0])), [-300, -20, 0])


def test_a_dielectric_sphere_over_frequency():
    text = SPHERE[: SPHERE.index("monostatic =")].replace('"conductor"', '"dielectric"\npermittivity = [2.0, 0.1]')
    text = text.replace('"0.2 GHz"', '["100 MHz", "150 MHz"]').replace('"0.12 m"', '"0.15 m"')
    results = run(parse(text))
    assert [step.name for step in results.steps] == ["100 MHz", "150 MHz"]
    for step in results.steps:
        series = cal.exact.mie_dielectric_sphere(step.wavenumber, 0.3, 2 + 0.1j, polarization=[1, 0, 0])
        assert step.backward == pytest.approx(10 * np.log10(series.rcs(np.pi, 0.0)), abs=1.0)
        assert step.exact_error < 0.15


def test_a_dipole_over_frequency(tmp_path):
    file = parse(DIPOLE)
    results = run(file)
    names = write(results, tmp_path / "out").files
    pictures = {"impedance.png", "sweep.png", "reflection.png", "smith.png"}
    assert {"impedance.csv", "far_field.csv"} | pictures <= set(names)
    table = np.genfromtxt(tmp_path / "out" / "impedance.csv", delimiter=",", names=True)
    assert (np.diff(table["resistance_ohm"]) > 0).all() and (np.diff(table["reactance_ohm"]) > 0).all()
    lines = (tmp_path / "out" / "antenna.s1p").read_text().splitlines()
    f, real, imag = map(float, lines[-1].split())  # of exp(+j omega t), as the reactance of the table
    z = table["resistance_ohm"][-1] + 1j * table["reactance_ohm"][-1]
    assert real + 1j * imag == pytest.approx((z - 50) / (z + 50), rel=1e-6) and f == table["frequency_Hz"][-1]
    size = np.hypot(real, imag)
    assert table["S11_dB"][-1] == pytest.approx(20 * np.log10(size)) and 1 < table["VSWR"][-1] < 3
    assert table["VSWR"][-1] == pytest.approx((1 + size) / (1 - size))
    said = json.loads((tmp_path / "out" / "summary.json").read_text())["steps"][-1]
    lost = said["gain_max_dB"] - said["realised_gain_max_dB"]
    assert lost == pytest.approx(-10 * np.log10(1 - size**2)) and said["S11_dB"] == pytest.approx(table["S11_dB"][-1])
    posed = file.case.physics.build(results.mesh, results.steps[0].wavenumber)
    assert table["resistance_ohm"][0] == pytest.approx(posed.solve().input_impedance.real, rel=1e-6)
    rows = {name: (value, unit) for name, value, unit in headlines(results, {})}
    x = table["reactance_ohm"]
    assert float(rows["resonance of the input impedance"][0]) == pytest.approx(140 - 5 * x[0] / (x[1] - x[0]), abs=1e-3)
    assert 66 < float(rows["resistance there"][0]) < 76
    gain = results.steps[0].strength
    assert gain[0] == pytest.approx(2.15, abs=0.1) and gain[-1] < gain[1] < gain[0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('frequency = "0.2 GHz"', "", "give either frequency or wavenumber"),
        ('frequency = "0.2 GHz"', 'frequency = "2 GHz"\nspeed_of_sound = 340.0', "speed_of_sound is not supported"),
        ('frequency = "0.2 GHz"', 'wavenumber = 3.0\nformulation = "pmchwt"', "choose 'cfie', 'efie'"),
        ('"conductor"', '"conductor"\ntesting = "rwg"', "choose 'dual', 'primal'"),
        ('"conductor"', '"conducter"', "did you mean 'conductor'?"),
        ('"conductor"', '"dielectric"', "the problem 'dielectric' also needs permittivity"),
        ('"conductor"', '"sound-hard"\nspeed_of_sound = 340.0', "output.monostatic.polarizations is not supported"),
        ("polarization = [1, 0, 0]", "", 'needs incident.polarization = "V", "H" or [x, y, z]'),
        ("polarization = [1, 0, 0]", "polarization = [1, 0, 1]", "perpendicular to the direction of travel"),
        ("polarization = [1, 0, 0]", "polarization = [0, 0, 0]", "is not a direction"),
        ("polarization = [1, 0, 0]", 'polarization = "V"\namplitude = 2.0', "accepts electric_field"),
        ('direction = [0, 0, 1]', 'kind = "point-source"\nposition = [0, 0, 9]', "needs an incident plane wave"),
        ('"VV", "VH"', '"VV", "VX"', "choose 'VV', 'HH', 'VH', 'HV'"),
        ('curve = "monostatic"', 'curve = "bistatic"', "choose 'far_field', 'monostatic'"),
        ('label = "Mie"', 'labl = "Mie"', "did you mean 'label'?"),
        ("exact = true", 'exact = true\nsurface = ["phase"]', 'a current supports "abs" and "db"'),
        ("far_field = {", 'reference = []\n#', "not valid TOML"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(old, new, message):
    assert old in SPHERE
    assert message in mistakes(SPHERE.replace(old, new, 1))


COATED = """\
[mesh]
file = "coated.msh"
[physics]
problem = "dielectric"
wavenumber = 2.0
permittivity = { core = [4.0, 0.5], coat = 2.25 }
[incident]
direction = [0, 0, 1]
polarization = [1, 0, 0]
[output]
far_field = { plane = "xz", start = "0 deg", stop = "180 deg", count = 19 }
"""


@pytest.fixture(scope="module")
def coated(tmp_path_factory):
    """The folder with the mesh of a coated sphere, its two surfaces named."""
    folder = tmp_path_factory.mktemp("coated")
    parts = [cal.mesh.sphere(radius, 0.2) for radius in (0.7, 0.4)]
    both = cal.mesh.merge(parts)
    tags = np.repeat([4, 9], [part.number_of_triangles for part in parts])
    cal.TriangleMesh(both.vertices, both.triangles, tags, {"coat": 4, "core": 9}).write(folder / "coated.msh")
    return folder


def test_bodies_of_a_file_have_permittivities_by_tag(coated):
    results = run(parse(COATED, "case.toml", coated))
    (step,) = results.steps
    exact = cal.exact.mie_layered_sphere(2.0, [0.4, 0.7], [4 + 0.5j, 2.25], polarization=[1, 0, 0])
    far = results.file.case.output.far_field
    assert np.abs(step.strength - decibels_of_power(exact.rcs(*far.theta_phi))).mean() < 0.03
    # the current on both surfaces is n x H
    assert step.surface.space.mesh is results.mesh
    normals = results.mesh.centroids / np.linalg.norm(results.mesh.centroids, axis=1)[:, None]
    radii = np.where(results.mesh.tags == results.mesh.names["core"], 0.4, 0.7)
    field = exact.magnetic(1.0001 * radii[:, None] * normals) / cal.exact.VACUUM_IMPEDANCE
    difference = step.surface.at_centroids() - np.cross(normals, field)
    assert np.linalg.norm(difference) < 0.1 * np.linalg.norm(field)


def test_a_case_grades_the_elements_of_a_box():
    box = re.sub(r"(?m)^lengths = .*$", 'lengths = ["1 m", "1 m", "1 mm"]', DIPOLE.replace('"plate"', '"cuboid"'))
    h = 'h = "25 mm"'
    graded = parse(box.replace(h, f"{h}\ngrading = 2.5")).case.mesh.parameters
    assert graded == {"lengths": (1.0, 1.0, 1e-3), "h": 0.025, "grading": 2.5}
    assert "grading" not in parse(box).case.mesh.parameters
    for wrong in ("0.5", "7", "true"):
        assert "grading" in mistakes(box.replace(h, f"{h}\ngrading = {wrong}"))
    assert "grading is not supported by shape = 'plate'" in mistakes(DIPOLE.replace(h, f"{h}\ngrading = 2"))


def test_a_case_says_whether_the_volume_is_kept():
    sphere = SPHERE.replace('h = "0.12 m"', 'h = "0.12 m"\nvolume = false')
    assert parse(sphere).case.mesh.parameters == {"radius": 0.3, "h": 0.12, "volume": False}
    assert "volume" not in parse(SPHERE).case.mesh.parameters
    assert "volume is not supported by shape = 'plate'" in mistakes(
        DIPOLE.replace('h = "25 mm"', 'h = "25 mm"\nvolume = true')
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("core = [4.0, 0.5]", "core = 4.0, shell = 3.0", "unknown tags ['shell']"),
        ("core = [4.0, 0.5], ", "", "permittivity is given for the tags ['coat']"),
        (
            "coat = 2.25 }",
            "coat = 2.25 }\npermeability = { coat = 2.0 }",
            "permeability is given for the tags ['coat']",
        ),
    ],
)
def test_permittivities_are_given_for_every_tag(coated, old, new, message):
    with pytest.raises(ValueError) as caught:
        run(parse(COATED.replace(old, new, 1), "case.toml", coated))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("far_field = {", "monostatic = {", "monostatic is not supported by the problem 'antenna'"),
        ("feed = {", "#", "the problem 'antenna' also needs feed"),
        ("line = [[-0.002, 0, 0], [0.002, 0, 0]], ", "", "a feed needs either line"),
        ('"2 V"', '"2 W"', 'a voltage is written like "10 V"'),
    ],
)
def test_a_mistake_in_an_antenna_is_named(old, new, message):
    assert old in DIPOLE
    assert message in mistakes(DIPOLE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no such file in "), ("angle,rcs\n0,1\n", "no column 'angle_deg': the file has 'angle', 'rcs'"),
     ("angle_deg,rcs\n0,nan\n", "not all"), ("# nothing\n", "has none"),
     ("angle_deg,rcs\n0\n", "not every line has 2 values")],
)  # fmt: skip
def test_a_reference_that_cannot_be_used_is_told_before_anything_is_computed(tmp_path, content, message):
    if content is not None:
        (tmp_path / "known.csv").write_text(content)
    with pytest.raises(CaseError, match="output.reference = ") as caught:
        run(parse(SPHERE, "case.toml", tmp_path))
    assert message in str(caught.value)


def test_the_almond_of_the_example_is_the_benchmark():
    case = example("almond").case
    assert case.physics.wavenumbers[0] == pytest.approx(2 * np.pi * 3.5e9 / 299792458)
    assert case.mesh.parameters["length"] == pytest.approx(0.2523744)
    assert {one.label for one in case.output.reference} == {
        f"{a}, {b}" for a in ("computed", "measured") for b in ("VV", "HH")
    }
    mesh = cal.mesh.sphere(0.1, 0.05)
    assert case.physics.build(mesh, 10.0).formulation == "cfie"
    assert case.physics.build(mesh, 10.0).testing == "dual"
    classical = case.model_copy(update={"physics": case.physics.model_copy(update={"testing": "primal"})})
    assert classical.physics.build(mesh, 10.0).testing == "primal"
