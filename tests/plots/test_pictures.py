"""Pictures reach the disk whole, say their units, and refuse what cannot be drawn."""

import importlib.util
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.image import imread

import calderon.plots as plots
from calderon.mesh import TriangleMesh, cube, plate, sphere


@dataclass(frozen=True)
class Field:
    """Substitute for a function, with the attributes that pictures read."""

    mesh: TriangleMesh
    values: np.ndarray
    place: str = "vertices"
    label: str = "pressure"
    unit: str = "Pa"

    @property
    def space(self) -> SimpleNamespace:
        return SimpleNamespace(mesh=self.mesh)

    def plot_data(self) -> tuple[str, np.ndarray]:
        return self.place, self.values


@pytest.fixture(scope="module")
def ball() -> TriangleMesh:
    return sphere(1.0, 0.4)


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


@pytest.mark.parametrize(
    ("quantity", "place"),
    [("abs", "triangles"), ("real", "vertices"), ("imag", "triangles"), ("phase", "vertices"), ("db", "triangles")],
)
def test_surface_shows_every_quantity_with_its_unit(ball, quantity, place, tmp_path):
    points = ball.vertices if place == "vertices" else ball.centroids
    figure = plots.surface(
        Field(ball, np.exp(3j * points[:, 2]), place), quantity, tmp_path / "x.png", renderer="matplotlib"
    )
    assert imread(tmp_path / "x.png").std() > 0.02
    expected = {"phase": "rad", "db": "dB re 1 Pa"}.get(quantity, "(Pa)")
    assert any("pressure" in text and expected in text for text in texts(figure))
    assert any(text.endswith(" m") for text in texts(figure))  # the scale bar


def test_surface_colours_follow_the_values(ball):
    """The half of the sphere with the larger values is drawn in the upper colours of the map: yellow is brighter."""
    seen = {}
    for sign in (1, -1):
        values = np.where(sign * ball.vertices[:, 2] > 0, 1.0, 0.0)
        picture = plots.surface(Field(ball, values), "real", view="side", renderer="matplotlib", limits=(0, 1))
        image = np.asarray(picture.axes[0].images[0].get_array(), dtype=float)
        rows = image.shape[0]
        red_less_blue = image[..., 0] - image[..., 2]
        seen[sign] = red_less_blue[: rows // 2].mean() - red_less_blue[rows // 2 :].mean()
    assert seen[1] > 10 and seen[-1] < -10


@pytest.mark.parametrize(
    ("values", "limits"),
    [
        ([1.0, 3.0], (0.0, 3.0)),
        ([-2.0, -1.0], (-2.0, 0.0)),
        ([-0.05, 3.0], (-0.05, 3.0)),
        ([-1.0, 3.0], (-3.0, 3.0)),
        ([1 + 0j, 3], (-3.0, 3.0)),
    ],
)
def test_real_fields_of_one_sign_begin_at_zero(ball, values, limits):
    """So do those of one sign but for a fiftieth; others, and real parts, are symmetric, so that white means zero."""
    pattern = np.resize(np.array(values), len(ball.vertices))
    figure = plots.surface(Field(ball, pattern), "real", renderer="matplotlib")
    assert figure.axes[1].get_ylim() == pytest.approx(limits)


def test_hidden_halves_of_closed_bodies_are_left_out_unseen(ball):
    """A closed body without its far half looks the same: the half is open, so nothing of it is left out."""
    near = ball.triangles[ball.centroids[:, 1] < 0.3]
    whole, half = (
        np.asarray(plots.surface(mesh, view="side", edges=False, renderer="matplotlib").axes[0].images[0].get_array())
        for mesh in (ball, TriangleMesh(ball.vertices, near))
    )
    assert whole.shape == half.shape
    assert (np.abs(whole.astype(int) - half).max(axis=2) > 8).mean() < 0.01


def test_bare_mesh_and_open_surface_are_drawn():
    plots.surface(plate((2.0, 1.0), 0.5), view="top", renderer="matplotlib")
    plots.surface(cube(1.0, 0.5), view=[1, 1, 1], renderer="matplotlib")


@pytest.mark.skipif(importlib.util.find_spec("pyvista") is None, reason="needs PyVista")
def test_a_renderer_that_crashes_is_replaced_only_when_left_open(ball, tmp_path, monkeypatch):
    crash = tmp_path / "crash.py"
    crash.write_text("import os; os.abort()")
    monkeypatch.setattr("calderon.plots.surfaces.scene", SimpleNamespace(__file__=str(crash)))
    plots.surface(ball, file=tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000
    with pytest.raises(RuntimeError, match="cannot render here"):
        plots.surface(ball, renderer="pyvista")


def test_without_pyvista_asking_for_it_says_what_to_install(ball, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="pip install"):
        plots.surface(ball, renderer="pyvista")


@pytest.mark.skipif(importlib.util.find_spec("pyvista") is None, reason="needs PyVista")
def test_both_renderers_show_the_same_body(ball):
    field = Field(ball, ball.vertices[:, 2])
    try:
        by_pyvista = plots.surface(field, "real", renderer="pyvista")
    except RuntimeError as error:
        pytest.skip(str(error))
    by_matplotlib = plots.surface(field, "real", renderer="matplotlib")
    images = [np.asarray(figure.axes[0].images[0].get_array(), dtype=float) for figure in (by_pyvista, by_matplotlib)]
    images = [image if image.max() > 1.5 else 255 * image for image in images]
    covered = [image[..., :3].min(axis=2) < 250 for image in images]
    assert covered[0].shape == covered[1].shape
    assert (covered[0] != covered[1]).mean() < 0.01


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quantity": "absolute"}, "unknown quantity 'absolute': choose one of 'abs'"),
        ({"view": "left"}, "unknown view 'left'"),
        ({"renderer": "vtk"}, "unknown renderer 'vtk'"),
        ({"file": "hull.bmp"}, "ends in .png, .pdf, .svg"),
        ({"file": "no/such/folder/hull.png"}, "no folder"),
        ({"limits": (1.0, 0.0)}, "lower, upper"),
    ],
)
def test_surface_says_what_is_allowed(ball, arguments, message):
    with pytest.raises(ValueError, match=message):
        plots.surface(Field(ball, ball.vertices[:, 2]), **arguments)


def test_values_of_the_wrong_length_or_kind_are_refused(ball):
    with pytest.raises(ValueError, match="one value for each"):
        plots.surface(Field(ball, np.zeros(7)))
    with pytest.raises(ValueError, match="no value is finite"):
        plots.surface(Field(ball, np.full(len(ball.vertices), np.nan)))
    with pytest.raises(TypeError, match="Function or a TriangleMesh"):
        plots.surface(3.0)


def test_a_failed_picture_leaves_the_old_one(tmp_path, monkeypatch):
    file = tmp_path / "polar.png"
    angles = np.linspace(0, 2 * np.pi, 37)
    plots.polar(angles, {"a": np.cos(angles)}, file=file)
    before = file.read_bytes()

    def fail(picture, path, *rest, **options):
        path.write_bytes(b"half a picture")
        raise KeyboardInterrupt

    monkeypatch.setattr("calderon.plots.style.Image.Image.save", fail)
    with pytest.raises(KeyboardInterrupt):
        plots.polar(angles, {"a": np.sin(angles)}, file=file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["polar.png"]


def test_no_figure_is_left_in_matplotlibs_global_state():
    plots.cartesian([0, 1], {"a": [1, 2]}, "x (m)", "y (m)")
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


@pytest.mark.parametrize("ending", ["pdf", "svg", "png"])
def test_the_same_numbers_give_the_same_bytes(ending, tmp_path):
    names = [tmp_path / f"{number}.{ending}" for number in (1, 2)]
    for name in names:
        plots.cartesian([0, 1, 2], {"a": [1, 2, 0]}, "angle (degrees)", "level (dB)", name)
    assert names[0].stat().st_size > 1000
    if ending != "svg":  # its element names are random
        assert names[0].read_bytes() == names[1].read_bytes()


def test_a_solid_shows_its_edges_and_marks_what_is_seen(tmp_path, all_pixels):
    """The vertex nearest to the eye is seen and the one opposite is not; sharp edges are dark lines of the body."""
    box = cube(1.0, 0.5)
    eye = np.array([np.cos(0.4) * np.cos(-1.0), np.cos(0.4) * np.sin(-1.0), np.sin(0.4)])
    near, far = (box.vertices[pick(box.vertices @ eye)] for pick in (np.argmax, np.argmin))
    assert plots.is_seen(box, near, (-1.0, 0.4)) and not plots.is_seen(box, far, (-1.0, 0.4))
    values = np.ones(box.triangles.shape)
    figure = plots.solid(
        box, values, tmp_path / "x.png", name="stress", unit="MPa", length="mm", mark=far, note="here",
        displacement=0.1 * box.vertices, factor=2.0, view=(-1.0, 0.4),
    )  # fmt: skip
    shown = texts(figure)
    assert "here (behind)" in shown and any(text.endswith(" mm") for text in shown)
    assert any("stress (MPa)" in text for text in shown)
    picture = imread(tmp_path / "x.png")[..., :3]
    assert (picture.max(axis=2) < 0.25).sum() > 500  # ink
    with pytest.raises(ValueError, match="one at each corner of 48 triangles"):
        plots.solid(box, values[:, 0])
    force = np.where(box.normals[:, 2:] > 0.5, [[0.0, 0.0, -1.0]], 0.0)
    drawn = plots.conditions(
        box, {"below: fixed": box.normals[:, 2] < -0.5}, {"top: traction": (box.normals[:, 2] > 0.5, force)}
    )
    assert {"below: fixed", "top: traction"} <= {text.get_text() for text in drawn.axes[0].get_legend().get_texts()}
