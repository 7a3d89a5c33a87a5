"""Fields at named places, and far fields, as labelled data and files."""

import csv

import numpy as np
import pytest

import calderon as cal
from calderon.data import LabelledArrays, Quantity, plane_places
from calderon.data.labelled import Axis, column_name, stacked

BALL = cal.mesh.sphere(radius=0.5, h=0.35)


@pytest.fixture(scope="module")
def solution():
    return cal.SoundHardScattering(BALL, frequency=400.0, speed_of_sound=1500.0).solve(cal.PlaneWave([1, 0, 0]))


@pytest.mark.parametrize(
    "normal, names, point",
    [
        ([0, 0, 1], ("y", "x"), (0.0, 1.0, 0.0)),
        ([0, -2, 0], ("z", "x"), (0.0, 0.0, 1.0)),
        ([1, 0, 0], ("z", "y"), (0.0, 0.0, 1.0)),
        ([1, 1, 0], ("t", "s"), (0.0, 0.0, 1.0)),
    ],
)
def test_planes_lie_across_their_normal(normal, names, point):
    places = plane_places([1, 2, 3], normal, (4, 2), (5, 3))
    assert places.points.shape == (3, 5, 3) and tuple(each.name for each in places.axes) == names
    assert np.abs((places.points - [1, 2, 3]) @ np.array(normal)).max() < 1e-12
    assert places.points.mean(axis=(0, 1)) == pytest.approx([1, 2, 3])
    assert places.points[2, 2] - places.points[0, 2] == pytest.approx(2 * np.array(point))
    assert np.linalg.norm(places.points[0, 4] - places.points[0, 0]) == pytest.approx(4)


def test_a_plane_is_labelled_and_blank_inside_the_body(solution, tmp_path):
    xarray, pandas = pytest.importorskip("xarray", reason="extra data"), pytest.importorskip("pandas")
    plane = solution.on_plane(normal=[0, 0, 1], size=[4, 2], points=[9, 5])
    pressure = plane.data["pressure"]
    assert isinstance(plane.data, xarray.Dataset) and pressure.dims == ("y", "x") and pressure.attrs["units"] == "Pa"
    assert repr(plane) == "Samples(pressure [Pa] by 5 y, 9 x)" and plane._repr_html_()
    assert float(plane.data["z"]) == 0.0 and plane.data.attrs["frequency_Hz"] == 400.0
    assert pressure.sel(x=2.0, y=1.0).item() == solution.field([[2.0, 1.0, 0.0]])[0]
    assert np.isnan(pressure.sel(x=0.0, y=0.0).item()) and not np.isnan(pressure.values[0]).any()
    there = ~np.isnan(pressure.values)
    assert np.array_equal(solution.field(plane.points)[there], pressure.values[there])  # points (5, 9, 3)
    assert solution.gradient(plane.points).shape == (5, 9, 3)
    table = plane.to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == 45
    assert list(table) == ["y_m", "x_m", "z_m", "pressure_real_Pa", "pressure_imag_Pa"]
    plane.write(tmp_path / "p.csv")
    with (tmp_path / "p.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 45 and float(rows[-1]["x_m"]) == 2.0
    assert float(rows[-1]["pressure_imag_Pa"]) == pytest.approx(pressure.values[-1, -1].imag)
    plane.write(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as kept:
        assert (
            np.array_equal(kept["pressure"], pressure.values, equal_nan=True) and str(kept["units of pressure"]) == "Pa"
        )
    with pytest.raises(ValueError, match="choose an ending"):
        plane.write(tmp_path / "p.png")


def test_images_are_where_their_points_are(solution, tmp_path):
    pyvista = pytest.importorskip("pyvista", reason="reads .vti")
    for number, samples in enumerate(
        [
            solution.on_plane([0.1, 2, 0.3], [1, 2, 0.5], (1, 2), (3, 4)),
            solution.on_grid([1, 1, 1], [2, 3, 4], (2, 3, 4)),
        ]
    ):
        path = tmp_path / f"{number}.vti"
        samples.write(path)
        image = pyvista.read(path)
        assert image.points == pytest.approx(samples.points.reshape(-1, 3))
        values = image.point_data["pressure [Pa] real"] + 1j * image.point_data["pressure [Pa] imaginary"]
        assert values == pytest.approx(samples.arrays["pressure"].ravel(), nan_ok=True)


def test_lines_spheres_and_points(solution, tmp_path):
    line = solution.on_line([1, 0, 0], [3, 0, 0], 3)
    assert line.arrays.axes[0].values == pytest.approx([0, 1, 2])
    assert line.arrays["pressure"] == pytest.approx(solution.field([[1.0, 0, 0], [2, 0, 0], [3, 0, 0]]))
    ball = solution.on_sphere(1.0, [0.0, np.pi / 2], [0.0, np.pi / 2, np.pi])
    assert ball.points[1, 1] == pytest.approx([0, 1, 0]) and ball.arrays["pressure"].shape == (2, 3)
    assert solution.at_points([0.0, 0, 1]).arrays["pressure"] == pytest.approx(ball.arrays["pressure"][0, :1])
    with pytest.raises(ValueError, match="images"):
        line.write(tmp_path / "line.vti")


def test_fields_of_currents_are_vectors():
    waves = cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0])
    solution = cal.PECScattering(BALL, 1.5).solve(waves)
    samples = solution.at_points([[0, 0, 0], [0, 0, 2.0]])
    assert np.isnan(samples.arrays["electric"][0]).all()
    assert samples.arrays["electric"][1] == pytest.approx(solution.electric([[[0, 0, 2.0]]])[0, 0])
    # without an impedance, H has the unit of E over it
    assert "magnetic_y_imag_E0_per_eta" in samples.arrays.columns() and solution.surface.unit == "E0/eta"
    vacuum = cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0], impedance=cal.exact.VACUUM_IMPEDANCE)
    assert cal.PECScattering(BALL, 1.5).solve(vacuum).surface.unit == "A/m"


def test_far_fields_have_components_phases_and_levels(solution):
    pytest.importorskip("xarray", reason="extra data")
    theta, phi = np.linspace(0, np.pi, 3), np.array([0.0, 1.0])
    far = solution.far_field_data(theta, phi)
    assert far["target_strength"].dims == ("theta", "phi") and far["target_strength"].attrs["units"] == "dB re 1 m"
    t, p = np.meshgrid(theta, phi, indexing="ij")
    assert far["target_strength"].values == pytest.approx(solution.target_strength(t, p))
    assert np.angle(far["amplitude"].values) == pytest.approx(far["phase"].values)
    assert solution.far_field_data([[1.0, 0, 0]])["amplitude"].dims == ("direction",)
    wave = cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0])
    radar = cal.PECScattering(BALL, 1.5).solve(wave)
    data = radar.far_field_data(theta, phi)
    assert data["rcs_theta"].values == pytest.approx(radar.rcs(t, p, "V"))
    assert data["rcs"].values == pytest.approx(radar.rcs(t, p)) and data["rcs"].attrs["units"] == "m^2"
    assert data["rcs_level"].values == pytest.approx(10 * np.log10(radar.rcs(t, p)))


def test_names_carry_units_and_parts_are_stacked():
    assert column_name("stress", "N/m^2") == "stress_N_per_m2" and column_name("ts", "dB re 1 m") == "ts_dB_re_1_m"
    one = LabelledArrays((Axis("x", np.arange(2.0), "m"),), (Quantity("u", np.array([1.0, 2.0]), "V"),), (), {"a": 1})
    two = LabelledArrays(one.axes, (Quantity("u", np.array([3.0, 4.0]), "V"),), (), {"a": 1})
    both = stacked(Axis("frequency", np.array([5.0, 6.0]), "Hz"), [one, two])
    assert both["u"].tolist() == [[1, 2], [3, 4]] and both.attributes == {"a": 1}
    assert both.columns()["frequency_Hz"].tolist() == [5, 5, 6, 6]
    with pytest.raises(KeyError, match="no quantity 'v'"):
        both["v"]


def test_surface_results_are_tables(solution, tmp_path):
    pytest.importorskip("pandas", reason="extra data")
    table = solution.surface.to_pandas()
    assert list(table) == ["node", "x_m", "y_m", "z_m", "total_pressure_real_Pa", "total_pressure_imag_Pa"]
    assert len(table) == BALL.number_of_vertices and table["x_m"].max() == BALL.vertices[:, 0].max()
    current = cal.VectorFunction.interpolate(cal.RWG(BALL), lambda x: x, "J", "A/m")
    current.arrays().write_csv(tmp_path / "j.csv")
    with (tmp_path / "j.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == BALL.number_of_triangles and "J_y_A_per_m" in rows[0]
