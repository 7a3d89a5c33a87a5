"""Pictures of currents and of radiation patterns."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.image import imread
from matplotlib.quiver import Quiver

import calderon.plots as plots
from calderon.mesh import TriangleMesh, plate, sphere


@dataclass(frozen=True)
class Current:
    """Substitute for a field, as pictures read it: vectors (nt, 3) at the centroids."""

    mesh: TriangleMesh
    vectors: np.ndarray
    label: str = "surface current"
    unit: str = "A/m"

    @property
    def space(self) -> SimpleNamespace:
        return SimpleNamespace(mesh=self.mesh)

    def at_centroids(self) -> np.ndarray:
        return self.vectors

    def plot_data(self) -> tuple[str, np.ndarray]:
        return "triangles", np.linalg.norm(self.vectors, axis=1)


def arrows(figure) -> Quiver:
    return next(artist for artist in figure.axes[0].collections if isinstance(artist, Quiver))


def draw(current, **options):
    return plots.currents(current, renderer="matplotlib", **options)


def test_arrows_follow_the_field_at_the_moment_asked_for():
    mesh = plate([1.0, 1.0], 0.1)
    turning = np.exp(0.3j) * np.broadcast_to(np.array([1.0, 1j, 0]), (mesh.number_of_triangles, 3))
    for phase, expected in ((0.3, [1, 0]), (0.3 + np.pi / 2, [0, 1])):  # Re((1, i) exp(-i t)) = (cos t, sin t)
        found = arrows(draw(Current(mesh, turning), phase=phase, view="top"))
        directions = np.stack([found.U, found.V], axis=1) / np.hypot(found.U, found.V)[:, None]
        assert len(directions) > 20 and np.allclose(directions, expected, atol=1e-9)
    gaps = np.linalg.norm(found.XY[:, None] - found.XY[None], axis=2) + np.eye(len(found.XY))
    assert gaps.min() > np.hypot(found.U, found.V).max() / 1.5  # no arrow reaches the next one's middle


def test_the_moment_is_that_of_the_strongest_field(tmp_path):
    mesh = plate([1.0, 1.0], 0.34)
    along = np.exp(1.1j) * np.broadcast_to(np.array([0, 2.0, 0]), (mesh.number_of_triangles, 3))
    strongest = arrows(draw(Current(mesh, along), view="top"))
    given = arrows(draw(Current(mesh, along), view="top", phase=1.1, file=tmp_path / "x.png"))
    assert imread(tmp_path / "x.png").std() > 0.02
    assert np.allclose(np.abs(strongest.V), np.abs(given.V)) and np.allclose(strongest.U, 0, atol=1e-12)


def test_arrows_lie_on_the_side_that_is_seen():
    ball = sphere(1.0, 0.25)
    front = np.where(ball.centroids[:, [1]] < 0, [1.0, 0, 0], [-1.0, 0, 0])  # seen from -y, x is to the right
    found = arrows(draw(Current(ball, front), view="side"))
    assert len(found.U) > 20 and np.all(found.U > 0)
    still = Current(plate([1.0, 1.0], 0.5), np.zeros((8, 3)))
    assert not [a for a in draw(still).axes[0].collections if isinstance(a, Quiver)]  # nothing flows, no error
    figure = draw(Current(ball, front), arrows=False, quantity="abs")
    assert not [a for a in figure.axes[0].collections if isinstance(a, Quiver)]
    texts = [text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text"))]
    assert any("surface current" in text and "(A/m)" in text for text in texts)


def test_bad_currents_are_refused():
    mesh = plate([1.0, 1.0], 0.5)
    with pytest.raises(TypeError, match="VectorFunction"):
        plots.currents(mesh)
    with pytest.raises(ValueError, match="'abs' or 'db'"):
        plots.currents(Current(mesh, np.ones((mesh.number_of_triangles, 3))), quantity="phase")


def test_radiation_pattern_is_drawn_in_dbi_on_each_plane(tmp_path):
    """A short dipole along z: 1.5 sin^2 theta, round in the xy plane, a figure of eight in the xz plane."""

    def gain(theta, phi):
        return 1.5 * np.sin(theta) ** 2

    figure = plots.radiation_pattern(gain, tmp_path / "x.png", planes=("xy", "xz"), title="Short dipole")
    assert imread(tmp_path / "x.png").std() > 0.02
    axes = figure.axes[0]
    curves = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
    assert np.allclose(curves["xy plane"][:, 1], 10 * np.log10(1.5))
    angle, level = curves["xz plane"].T
    expected = 10 * np.log10(1.5 * np.maximum(np.cos(angle) ** 2, 1e-30))  # from x toward z
    above = expected > axes.get_ylim()[0]
    assert np.allclose(level[above], expected[above]) and above.sum() > 300
    assert any("gain (dBi)" in text.get_text() for text in figure.texts)
    both = plots.radiation_pattern({"a": gain, "b": lambda t, p: 1 + 0 * t}, planes=["yz"])
    assert [line.get_label() for line in both.axes[0].get_lines()] == ["a yz plane", "b yz plane"]
    with pytest.raises(ValueError, match="unknown planes"):
        plots.radiation_pattern(gain, planes=["xx"])


def test_radiation_body_reaches_as_far_as_its_gain(tmp_path):
    """cos^2 theta seen from the side: two lobes along z and, below the span, nothing at the equator."""
    figure = plots.radiation_body(
        lambda theta, phi: 2 * np.cos(theta) ** 2, tmp_path / "x.png", span=20.0, view="side", renderer="matplotlib"
    )
    axes = figure.axes[0]
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    drawn = np.asarray(axes.images[0].get_array())[..., :3].min(axis=2) < 250
    rows, columns = drawn.shape
    heights = np.linspace(top, bottom, rows)
    width = (right - left) * drawn.sum(axis=1) / columns
    assert heights[drawn.any(axis=1)].max() == pytest.approx(1.0, abs=0.02)
    assert width[np.argmin(np.abs(heights))] < 0.06 < 0.5 < width.max()
    angle = np.linspace(0, np.pi / 2, 2001)
    radius = np.maximum(1 + 20 * np.log10(np.maximum(np.cos(angle), 1e-9)) / 20, 0.0)
    assert width.max() == pytest.approx(2 * (radius * np.sin(angle)).max(), rel=0.03)
    assert figure.axes[1].get_ylim() == pytest.approx((10 * np.log10(2) - 20, 10 * np.log10(2)))
    assert not any(text.get_text().endswith(" m") for text in figure.findobj(lambda a: hasattr(a, "get_text")))
    with pytest.raises(ValueError, match="not zero"):
        plots.radiation_body(lambda theta, phi: 0 * theta)
