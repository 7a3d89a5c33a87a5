"""The picture of the blocks: what is dense is dark, what has a rank has its colour, both halves are drawn."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from point_kernels import point_matrix, sphere_points

import calderon as cal
from calderon.hmatrix import Admissibility, block_tree, cluster_tree, hmatrix
from calderon.plots.hmatrix import DENSE


@pytest.fixture(scope="module")
def matrix():
    x = sphere_points(400)
    clusters = cluster_tree(x)
    tree = block_tree(clusters, clusters, Admissibility(), symmetric=True)
    return hmatrix(point_matrix(clusters, clusters, x, x, 0.0, 0.05, symmetric=True), tree, 1e-4)


def test_blocks_cover_the_picture_and_dense_ones_their_share(matrix):
    figure = cal.plots.hmatrix(matrix)
    axes = figure.axes[0]
    low, dense = (
        sum(np.prod(np.ptp(path.vertices, axis=0)) for path in collection.get_paths())
        for collection in axes.collections
    )
    assert low + dense == pytest.approx(400**2)
    counted = sum(
        (row[1] * row[3]) * (2 if row[0] != row[2] else 1) for s in matrix.slabs for row in s.table if row[4] < 0
    )
    assert dense == pytest.approx(counted)
    assert axes.texts and all(0 < int(text.get_text()) < 20 for text in axes.texts)
    assert "% of dense" in axes.get_title(loc="left")


def test_the_file_shows_the_diagonal_dark(matrix, tmp_path):
    cal.plots.hmatrix(matrix, tmp_path / "blocks.png")
    picture = imread(tmp_path / "blocks.png")[..., :3]
    dark = (np.abs(picture - to_rgb(DENSE)).max(axis=2) < 0.02).mean()
    assert 0.03 < dark < 0.6


def test_what_has_no_blocks_is_refused(matrix, tmp_path):
    with pytest.raises(TypeError, match="needs an HMatrix, got ndarray"):
        cal.plots.hmatrix(np.eye(3))
    with pytest.raises(ValueError, match="ends in"):
        cal.plots.hmatrix(matrix, tmp_path / "blocks.doc")
