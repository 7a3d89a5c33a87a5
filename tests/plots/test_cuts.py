"""Cuts through bodies of several parts, still and moving."""

import numpy as np
import pytest
from matplotlib.image import imread
from PIL import Image

from calderon import plots
from calderon.plots.cuts import chained
from calderon.plots.slices import slice_points

POINTS = slice_points([0, 0, 0], [2, 0, 0], [0, 1.5, 0], (30, 40))
ANGLES = np.linspace(0, 2 * np.pi, 41)


def ring(radius, centre=(1.0, 0.75)):
    """Segments of a circle in the coordinates of the slice, in random order and direction."""
    corners = np.array(centre) + radius * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
    corners[-1] = corners[0]
    segments = np.stack([corners[:-1], corners[1:]], axis=1)
    rng = np.random.default_rng(0)
    segments = segments[rng.permutation(len(segments))]
    turned = rng.random(len(segments)) < 0.5
    segments[turned] = segments[turned, ::-1]
    return segments + 1e-13 * rng.standard_normal(segments.shape)


def test_segments_are_linked_into_rings_and_lines():
    lines = chained(np.concatenate([ring(0.5), ring(0.2), [[[0, 0], [0.1, 0]], [[0.2, 0.1], [0.1, 0]]]]))
    closed = [line for line in lines if np.allclose(line[0], line[-1])]
    assert sorted(len(line) for line in lines) == [3, 41, 41] and len(closed) == 2
    for line, radius in zip(sorted(closed, key=lambda each: np.ptp(each)), (0.2, 0.5), strict=True):
        area = np.abs(np.sum(line[:-1, 0] * line[1:, 1] - line[1:, 0] * line[:-1, 1])) / 2
        assert area == pytest.approx(np.pi * radius**2, rel=0.01)


def test_a_cut_is_clipped_and_metal_is_grey(tmp_path):
    values = np.where(np.linalg.norm(POINTS[..., :2], axis=2) < 0.48, 1.0 + POINTS[..., 0], np.nan)
    figure = plots.cut(
        POINTS, values, "abs", tmp_path / "cut.png",
        outlines={"within": ring(0.5), "skin": ring(0.5), "metal": ring(0.1)}, marks={"largest": (1.3, 0.75)},
    )  # fmt: skip
    axes = figure.axes[0]
    figure.canvas.draw()
    picture = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)

    def colour(x, y):
        column, row = axes.transData.transform((x, y))
        return picture[picture.shape[0] - 1 - int(row), int(column)]

    assert np.ptp(colour(0.0, 0.0)) < 20 and 180 < colour(0.0, 0.0).mean() < 215  # metal
    assert np.ptp(colour(0.45, -0.1)) > 60  # the field, up to the line
    assert colour(0.6, 0.0).min() > 230  # beyond it nothing
    assert imread(tmp_path / "cut.png").std() > 0.02
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["largest"] and figure.axes[1].get_ylabel() == "|E| (V/m)"


def test_an_animation_keeps_its_colours(tmp_path):
    frames = np.stack([np.full((30, 40), value) for value in (0.0, 1.0, 4.0)])
    frames[:, 0, 0] = 0.0
    plots.animate(POINTS, frames, tmp_path / "run.gif", captions=["a", "b", "c"], seconds=0.3)
    assert [path.name for path in tmp_path.iterdir()] == ["run.gif"]
    with Image.open(tmp_path / "run.gif") as moving:
        assert moving.n_frames == 3 and moving.info["duration"] == 100
        seen = []
        for number in range(3):
            moving.seek(number)
            shown = np.asarray(moving.convert("RGB")).astype(int)
            assert (shown[1, 1] == 255).all()  # the paper stays white
            seen.append(shown[moving.height // 2, moving.width // 2])
    assert seen[0][2] > seen[0][1] and seen[2][1] > 200 > 60 > seen[2][2]  # from violet to yellow
    assert np.abs(seen[1] - seen[0]).sum() > 60


@pytest.mark.parametrize(
    ("frames", "file", "message"),
    [(np.zeros((30, 40)), "a.gif", "frames of shape"), (np.zeros((1, 30, 40)), "a.png", "ends in .gif")],
)
def test_what_cannot_move_is_refused(frames, file, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        plots.animate(POINTS, frames, tmp_path / file)
