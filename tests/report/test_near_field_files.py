"""Fields that a case requests at points, lines, grids and spheres, and the plane field as data."""

import csv

import numpy as np
import pytest

from calderon.case import CaseError, parse, read
from calderon.report import run, write

CASE = """\
[mesh]
shape = "sphere"
radius = "0.5 m"
h = "0.35 m"
[physics]
problem = "sound-hard"
frequency = [200, 300]
speed_of_sound = 1500
[incident]
direction = [1, 0, 0]
[output]
slice = { plane = "xy", size = ["2 m", "2 m"], points = 9 }
[[output.near_field]]
name = "ear"
points = [[0, 0, 0], [1, 0, 0]]
[[output.near_field]]
file = "places.txt"
[[output.near_field]]
name = "box"
grid = { low = [1, 0, 0], high = [2, 1, 1], count = [2, 3, 1] }
[[output.near_field]]
name = "ball"
sphere = { radius = "1 m", theta = 2, phi = 2 }
[[output.near_field]]
name = "ray"
line = { start = [1, 0, 0], end = [3, 0, 0], count = 3 }
"""


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_requested_fields_are_files_that_others_read(tmp_path):
    pyvista = pytest.importorskip("pyvista", reason="reads .vti")
    (tmp_path / "case.toml").write_text(CASE)
    (tmp_path / "places.txt").write_text("x, y, z\n# in m\n1, 0, 0\n3 0 0\n")
    results = run(read(tmp_path / "case.toml"))
    out = tmp_path / "out"
    write(results, out, False)
    ear, ray = rows(out / "near_field_ear.csv"), rows(out / "near_field_ray.csv")
    assert len(ear) == 4 and [float(row["frequency_Hz"]) for row in ear] == [200, 200, 300, 300]
    assert ear[0]["pressure_real_Pa"] == "nan" and len(ray) == 6
    for column in ("pressure_real_Pa", "pressure_imag_Pa"):
        assert float(ear[1][column]) == float(ray[0][column]) == float(rows(out / "near_field_02.csv")[0][column])
    assert float(ray[2]["distance_m"]) == 2.0 and len(rows(out / "near_field_ball.csv")) == 8
    box = pyvista.read(out / "near_field_box.vti")
    assert box.point_data["pressure [Pa] real"][0] == pytest.approx(float(ear[3]["pressure_real_Pa"]))
    plane, cut = pyvista.read(out / "slice.vti"), results.steps[-1].slice
    assert plane.points == pytest.approx(cut.points.reshape(-1, 3))
    assert plane.point_data["total pressure [Pa] real"] == pytest.approx(cut.values.real.ravel(), nan_ok=True)
    with np.load(out / "slice.npz") as kept:
        assert np.array_equal(kept["total_pressure"], cut.values, equal_nan=True)
    assert 'timestep="300" part="0" file="surface_02.vtu"' in (out / "surface.pvd").read_text()


@pytest.mark.parametrize(
    "line, text",
    [
        ("points = [[0, 0, 0]]\nline = { start = [0, 0, 0], end = [1, 0, 0] }", "give one of points, file, line"),
        ("", "give one of points, file, line, grid, sphere, got none"),
        ('name = "a/b"\npoints = [[0, 0, 0]]', "letters, digits"),
        ("grid = { low = [0, 0, 0], high = [0, 1, 1] }", "low must be below high"),
        ('file = "../x.txt"', "it leads out of"),
        ('file = "absent.txt"', "absent.txt"),
    ],
)
def test_mistakes_are_reported_with_their_place(line, text):
    start = CASE.index("[[output.near_field]]")
    with pytest.raises(CaseError, match=text):
        run(parse(CASE[:start] + "[[output.near_field]]\n" + line))


def test_files_of_points_are_checked(tmp_path):
    from calderon.case.near_field import points_of

    for text, message in (("1 2\n", "has 2 numbers"), ("1 2 3\na b c\n", "is no point"), ("# none\n", "has 0 points")):
        (tmp_path / "p.txt").write_text(text)
        with pytest.raises(ValueError, match=message):
            points_of(tmp_path / "p.txt")
