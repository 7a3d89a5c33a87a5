"""Sweeps of frequencies as data and files: labelled arrays, Touchstone, far fields, collections."""

import re
import xml.etree.ElementTree as ElementTree

import meshio
import numpy as np
import pytest

import calderon as cal
from calderon.formulations.scenes import stepped_scene
from calderon.view import Steps

BALL = cal.mesh.sphere(radius=0.5, h=0.35)
STRIP = cal.mesh.plate(lengths=[0.02, 0.48], h=0.06)
FEED = cal.DeltaGap(line=[[-0.01, 0, 0], [0.01, 0, 0]], name="middle")


@pytest.fixture(scope="module")
def dipole():
    return cal.PECAntenna(STRIP, frequency=3e8, feed=FEED).sweep([2e8, 3.6e8], 2.0)


def test_gain_efficiency_and_the_view_go_over_frequency(dipole, tmp_path):
    xarray = pytest.importorskip("xarray", reason="extra data")
    assert isinstance(found := dipole.to_xarray(), xarray.Dataset)
    assert found["efficiency"].values == pytest.approx([each.efficiency() for each in dipole])
    gains = dipole.far_field_data([np.pi / 2], [0.0])
    realized = [float(each.realized_gain(np.pi / 2, 0.0, decibels=True)) for each in dipole]
    assert gains["realized_gain"].values.ravel() == pytest.approx(realized)
    # generators of other impedances, of which S is, too
    other = dipole.renormalised([30.0 + 20j])
    accepted = 1 - np.abs(other.s[:, 0, 0]) ** 2
    less = other.far_field_arrays([np.pi / 2], [0.0])
    assert less["realized_gain"].ravel() == pytest.approx(less["gain"].ravel() + 10 * np.log10(accepted), abs=1e-6)
    scene, solved = dipole.scene(), [each.surface.at_centroids() for each in dipole]
    assert scene.steps.labels == ["200 MHz", "360 MHz"] and len(scene.parts) == 1
    assert all(map(np.array_equal, scene.layers[0].fields[0].values, solved))
    assert len(scene.parts[0].layers[0].fields[0].values) == 2
    assert "360 MHz" in dipole.to_html(tmp_path / "sweep.html").read_text(encoding="utf-8")


def test_patterns_have_as_many_directions_at_all_frequencies():
    """Far from the origin more directions are needed at the higher frequency."""
    off = cal.DeltaGap(line=np.array([[-0.01, 0, 0], [0.01, 0, 0]]) + [2.0, 0, 0])
    sweep = cal.PECAntenna(STRIP.translated([2.0, 0, 0]), frequency=3e8, feed=off).sweep([2e8, 3.6e8])
    low, high = (each.scene().parts[0].layers[0].shape for each in sweep)
    assert low < high
    (part,) = sweep.scene().parts
    assert part.layers[0].shape == high and {len(each) for each in part.layers[0].fields[0].values} == {np.prod(high)}
    alone = sweep[1].scene().parts[0].layers[0].fields[0].values[0]
    assert np.array_equal(part.layers[0].fields[0].values[1], alone)
    with pytest.raises(ValueError, match="'Gain' has values of shapes"):
        stepped_scene([each.scene() for each in sweep], Steps("frequency", ["200 MHz", "360 MHz"]))


def test_solutions_are_those_of_each_frequency():
    xarray = pytest.importorskip("xarray", reason="extra data")
    problem = cal.SoundHardScattering(BALL, frequency=300.0, speed_of_sound=1500.0)
    sweep = problem.sweep([200.0, 300.0], cal.PlaneWave([1, 0, 0]))
    alone = problem.solve(cal.PlaneWave([1, 0, 0]))
    assert len(sweep) == 2 and sweep[1].frequency == pytest.approx(300.0)
    far = sweep.far_field_data([0.5, 1.0], [0.0])
    assert isinstance(far, xarray.Dataset) and far["amplitude"].dims == ("frequency", "theta", "phi")
    assert far["amplitude"].sel(frequency=300.0).values[:, 0] == pytest.approx(alone.far_field([0.5, 1.0], 0.0))
    line = sweep.on_line([1, 0, 0], [2, 0, 0], 3)
    assert line.data["pressure"].dims == ("frequency", "distance")
    assert line.arrays["pressure"][1] == pytest.approx(alone.on_line([1, 0, 0], [2, 0, 0], 3).arrays["pressure"])
    assert sweep.to_xarray()["relative_residual"].dims == ("frequency",)
    with pytest.raises(ValueError, match="one by one"):
        sweep.on_plane().write("x.vti")
    with pytest.raises(ValueError, match="S-parameters"):
        sweep.write_touchstone("x.s1p")
    with pytest.raises(ValueError, match="speed_of_sound"):
        cal.SoundHardScattering(BALL, 1.0).sweep([200.0], cal.PlaneWave([1, 0, 0]))
    with pytest.raises(ValueError, match="positive frequencies in Hz"):
        problem.sweep([-1.0], cal.PlaneWave([1, 0, 0]))


def test_touchstone_files_have_the_sign_of_their_time_factor(dipole, tmp_path):
    skrf = pytest.importorskip("skrf", reason="scikit-rf reads Touchstone files")
    dipole.write_touchstone(tmp_path / "dipole.s1p")
    network = skrf.Network(str(tmp_path / "dipole.s1p"))
    found = network.z[:, 0, 0]
    expected = np.array([each.input_impedance for each in dipole.solutions])
    assert found == pytest.approx(expected.conj(), rel=1e-9)
    assert found[0].imag < 0 < found[1].imag  # a short dipole is a capacitor, a long one a coil, in circuits R + jX
    assert dipole.to_xarray()["input_impedance"].values[:, 0] == pytest.approx(expected)


def test_far_fields_are_written_for_other_programs(dipole, tmp_path):
    solution, theta, phi = dipole[0], np.linspace(0, np.pi, 4), np.array([0.0, 0.5, 1.0])
    solution.write_far_field(tmp_path / "d.ffe", theta, phi)
    text = (tmp_path / "d.ffe").read_text()
    assert "#No. of Theta Samples: 4\n#No. of Phi Samples: 3\n" in text and "#Frequency: 200000000\n" in text
    rows = np.array([line.split() for line in text.splitlines() if line.startswith(" ")], float)
    assert rows.shape == (12, 9) and rows[1, :2] == pytest.approx([60, 0])  # theta runs first
    data = solution.far_field_arrays(theta, phi)
    assert rows[:, 2] - 1j * rows[:, 3] == pytest.approx(data["amplitude_theta"].T.ravel())
    assert rows[:, 4] - 1j * rows[:, 5] == pytest.approx(data["amplitude_phi"].T.ravel())
    assert rows[:, 8] == pytest.approx(data["gain"].T.ravel())
    dipole.write_far_field(tmp_path / "d.ffs")
    text = (tmp_path / "d.ffs").read_text()
    assert text.startswith("// CST Farfield Source File") and "// #Frequencies\n2\n" in text
    assert text.count("// >> Total #phi samples, total #theta samples\n73 37\n") == 2
    rows = np.array([line.split() for line in text.splitlines() if re.match(r" [-\d]", line)], float)
    assert rows.shape == (2 * 73 * 37, 6) and rows[1, :2] == pytest.approx([0, 5])
    powers = text.split("Stimulated Power , Frequency\n")[1].split("\n\n")[0].split()
    assert np.array(powers, float) == pytest.approx(
        [solution.radiated_power(), solution.input_power, solution.available_power(), 2e8], rel=1e-9
    )
    with pytest.raises(ValueError, match=".ffe or .ffs"):
        solution.write_far_field(tmp_path / "d.txt")


def test_a_collection_names_a_file_for_each_frequency(dipole, tmp_path):
    dipole.write_pvd(tmp_path / "current.pvd")
    sets = ElementTree.parse(tmp_path / "current.pvd").getroot().findall("Collection/DataSet")
    assert [float(each.get("timestep")) for each in sets] == [2e8, 3.6e8]
    mesh = meshio.read(tmp_path / sets[1].get("file"))
    assert len(mesh.cells_dict["triangle"]) == STRIP.number_of_triangles
    with pytest.raises(ValueError, match=".pvd"):
        dipole.write_pvd(tmp_path / "current.vtk")
    with pytest.raises(ValueError, match="is no text in UTF-8"):
        dipole.write_pvd(tmp_path / "curr\udce4nt.pvd")
    assert len(list(tmp_path.glob("*curr*"))) == 3
