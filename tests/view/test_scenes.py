"""Scenes hold the arrays of what they show, and their pages nothing that needs a network."""

import base64
import json
import re

import matplotlib
import numpy as np
import pytest

import calderon as cal
from calderon.data.labelled import LabelledArrays, Quantity
from calderon.data.places import line_places, plane_places
from calderon.data.samples import Samples
from calderon.plots.quantity import DIVERGING
from calderon.view import Arrows, Field, Grid, Pattern, Scene, Surface, View, document
from calderon.view.scene import shortened

MESH = cal.mesh.sphere(1.0, 0.4)


def array(packed):
    kinds = {"f32": "<f4", "u32": "<u4", "u16": "<u2"}
    return np.frombuffer(base64.b64decode(packed["data"]), kinds[packed["type"]])


def scene_of(page):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)[1])


def test_a_page_holds_mesh_and_values(tmp_path):
    pressure = cal.P1(MESH).interpolation(lambda x: np.exp(2j * x[:, 0]))
    path = cal.Function(pressure.space, pressure.coefficients, "pressure", "Pa").to_html(tmp_path / "u.html")
    page = path.read_text(encoding="utf-8")
    (layer,) = scene_of(page)["layers"]
    (field,) = layer["fields"]
    assert np.array_equal(array(layer["triangles"]).reshape(-1, 3), MESH.triangles)
    assert np.array_equal(array(layer["vertices"]), MESH.vertices.ravel().astype("f4"))
    values = array(field["values"][0]["re"]) + 1j * array(field["values"][0]["im"])
    assert np.allclose(values, np.exp(2j * MESH.vertices[:, 0]), atol=1e-6)
    assert (field["on"], field["complex"], field["unit"]) == ("vertices", True, "Pa")
    assert "<canvas" in page and "://" not in page.split("<script>")[0]
    assert len(page) < 100_000 + 60 * MESH.number_of_vertices


def test_functions_on_triangles_and_currents():
    density = cal.P0(MESH).interpolation(lambda x: x[:, 2])
    assert density.scene().layers[0].fields[0].on == "triangles"
    current = cal.RWG(MESH).interpolation(lambda x, n: np.cross(n, [1.0, 0, 0]))
    packed = current.scene().layers[0].fields[0].packed()
    assert packed["components"] == 3
    assert np.allclose(array(packed["values"][0]["re"]).reshape(-1, 3), current.at_centroids(), atol=1e-6)


def test_quadratic_functions_have_values_in_the_middle_of_edges():
    (layer,) = cal.P2(MESH).interpolation(lambda x: x[:, 0] ** 2).scene().layers
    corners = layer.vertices[layer.triangles].reshape(-1, 3)
    assert layer.fields[0].values[0] == pytest.approx(corners[:, 0] ** 2)
    assert len(layer.triangles) == 4 * MESH.number_of_triangles and layer.numbers[7] == 1


def test_tags_are_parts_that_keep_the_numbers_of_triangles():
    tags = (MESH.centroids[:, 2] > 0).astype(int)
    mesh = cal.TriangleMesh(MESH.vertices, MESH.triangles, tags, {"lower": 0, "upper": 1})
    lower, upper = mesh.scene().layers
    assert (lower.name, upper.name) == ("lower", "upper")
    assert np.array_equal(mesh.triangles[upper.numbers], upper.triangles)


def test_short_numbers_are_accurate_to_their_range():
    values = np.append(np.random.default_rng(1).normal(size=500), np.nan)
    packed = shortened(values)
    step = (packed["high"] - packed["low"]) / 65534
    found = array(packed)
    assert found[-1] == 65535
    assert np.abs(packed["low"] + step * found[:-1] - values[:-1]).max() <= 0.51 * step


def test_colours_are_those_of_the_pictures():
    text = (document.STATIC / "colours.js").read_text(encoding="utf-8")
    known = {"viridis": matplotlib.colormaps["viridis"], "twilight": matplotlib.colormaps["twilight"]}
    for name, colours in {**known, "diverging": DIVERGING}.items():
        digits = "".join(re.findall(r'"([0-9a-f]+)"', text.split(f"\n  {name}:")[1].split(",\n")[0]))
        table = np.array([int(x, 16) for x in re.findall("..", digits)]).reshape(33, 3)
        assert np.abs(table - 255 * np.array(colours(np.linspace(0, 1, 33)))[:, :3]).max() <= 0.51


def test_directions_of_a_pattern_and_points_of_a_grid():
    theta, phi = Pattern.directions(3, 4)
    assert theta.shape == phi.shape == (12,) and theta[-1] == np.pi and phi[3] == 1.5 * np.pi
    x, y = np.meshgrid([0.0, 1.0, 2.0], [0.0, 5.0])
    grid = Grid("plane", np.stack([x, y, 0 * x], axis=2), (Field("p", "p", "Pa", [np.zeros(6)]),)).packed()
    assert (grid["shape"], grid["along"], grid["across"]) == ([2, 3], [2, 0, 0], [0, 5, 0])


def test_a_field_on_a_plane_is_shown_with_the_surface(tmp_path):
    u = cal.Function(cal.P1(MESH), np.ones(MESH.number_of_vertices), "pressure", "Pa")
    places = plane_places((0, 0, 0), (0, 0, 1), (4.0, 2.0), (9, 5))
    values = Quantity("pressure", np.arange(45.0).reshape(places.points.shape[:2]), "Pa")
    page = u.to_html(tmp_path / "u.html", Samples(places, LabelledArrays(places.axes, (values,)))).read_text("utf-8")
    _, plane = scene_of(page)["layers"]
    assert np.array_equal(array(plane["fields"][0]["values"][0]["re"]), np.arange(45))
    assert sorted(np.abs(plane["along"])) + sorted(np.abs(plane["across"])) in ([0, 0, 4, 0, 0, 2], [0, 0, 2, 0, 0, 4])
    line = line_places((2, 0, 0), (3, 0, 0), 5)
    with pytest.raises(ValueError, match=r"fields of planes at one frequency, got 5 points: take on_plane"):
        u.view(Samples(line, LabelledArrays(line.axes, ())))


def test_a_notebook_gets_a_frame_and_a_script_no_browser(monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    view = MESH.show()
    assert isinstance(view, View) and "view.html" in capsys.readouterr().out
    shown = view._repr_mimebundle_()
    assert shown["text/html"].startswith("<iframe srcdoc=") and "<canvas" not in shown["text/html"]


def test_boxes_enclose_their_volume_and_arrows_keep_their_signs():
    box = Surface.box("board", [0, 0, -1], [3, 2, 1], "#7fae8a", opacity=0.3)
    a, b, c = (box.vertices[box.triangles[:, k]] for k in range(3))
    assert np.einsum("ni,ni->", a, np.cross(b, c)) / 6 == pytest.approx(12) and len(box.triangles) == 12
    ground = Surface.box("ground", [0, 0, 0], [3, 2, 0], "#c8a165")
    a, b, c = (ground.vertices[ground.triangles[:, k]] for k in range(3))
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(6)
    arrows = Arrows("stresses", np.zeros((2, 3)), np.eye(3)[:2], ("#c1121f", "#1d4e89"), sizes=np.array([5.0, -2.0]))
    scene = Scene((box, ground), arrows=(arrows,), flags=True).packed()
    assert array(scene["arrows"][0]["signs"]).tolist() == [1, -1] and scene["flags"] is True
    assert scene["layers"][0]["opacity"] == 0.3 and "opacity" not in scene["layers"][1]


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match=r"a view's file name ends in \.html"):
        MESH.to_html(tmp_path / "x.png")
    with pytest.raises(ValueError, match="give values on one of vertices"):
        Field("u", "u", "", [np.zeros(3)], on="edges").packed()
    with pytest.raises(ValueError, match=r"give values \(n,\) or \(n, 3\)"):
        View(Scene((Grid("g", np.zeros((2, 2, 3)), (Field("u", "u", "", [np.zeros((4, 2))]),)),))).html()


def test_skins_of_tetrahedra_enclose_their_materials():
    box = cal.mesh.box([0, 0, 0], [1, 1, 2], 2)
    upper = box.centroids[:, 2] > 1
    mesh = cal.TetrahedralMesh(box.vertices, box.tetrahedra, upper.astype(int), {"air": 0, "tissue": 1})
    tissue, air = mesh.scene().layers[:2]
    assert (tissue.name, tissue.hidden, air.name, air.hidden) == ("tissue", False, "air", True)
    a, b, c = (tissue.vertices[tissue.triangles[:, k]] for k in range(3))
    assert np.einsum("ni,ni->", a, np.cross(b, c)) / 6 == pytest.approx(mesh.volumes[upper].sum())


def test_no_text_ends_the_script_that_holds_it(tmp_path):
    u = cal.Function(cal.P1(MESH), np.ones(MESH.number_of_vertices), "</script><!--<script>", "<Pa>")
    page = u.to_html(tmp_path / "u.html").read_text(encoding="utf-8")
    assert scene_of(page)["layers"][0]["fields"][0]["symbol"] == "</script><!--<script>"
    assert page.count("<!--") == 0 and "<Pa>" not in page
