"""Trees: every unknown once, every entry once, blocks far apart for their size."""

import numpy as np
import pytest
from point_kernels import sphere_points

from calderon.hmatrix import Admissibility, block_tree, cluster_tree
from calderon.hmatrix.tree.block_tree import DENSE, LOW_RANK, SPLIT


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1000, 1024])
def test_clusters_are_runs_cut_at_multiples_of_the_leaf(n):
    tree = cluster_tree(sphere_points(n), leaf=32)
    assert np.array_equal(np.sort(tree.order), np.arange(n))
    assert (tree.start % 32 == 0).all()
    leaves = tree.is_leaf
    assert (tree.size[leaves] <= 32).all()
    assert (tree.size[leaves] == 32).sum() >= leaves.sum() - 1
    for cluster in np.flatnonzero(~leaves):
        left, right = tree.children[cluster]
        assert (tree.start[left], tree.stop[left]) == (tree.start[cluster], tree.start[right])
        assert tree.stop[right] == tree.stop[cluster]


def test_boxes_hold_the_supports_and_touch_them():
    rng = np.random.default_rng(1)
    low = rng.random((500, 3))
    boxes = np.stack([low, low + 0.1 * rng.random((500, 3))], axis=1)
    tree = cluster_tree(boxes, leaf=7)
    for start, stop, box in zip(tree.start, tree.stop, tree.boxes, strict=True):
        part = boxes[tree.order[start:stop]]
        assert np.array_equal(box, [part[:, 0].min(axis=0), part[:, 1].max(axis=0)])


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("size", ["min", "max"])
def test_leaves_cover_every_entry_once(size, symmetric):
    rows = cluster_tree(sphere_points(700), leaf=16)
    columns = rows if symmetric else cluster_tree(sphere_points(190, seed=1) * [3, 1, 0.1], leaf=16)
    tree = block_tree(rows, columns, Admissibility(1.5, size), symmetric)
    cover = np.zeros(tree.shape, int)
    for block in tree.leaves:
        r, c = tree.row[block], tree.column[block]
        part = slice(rows.start[r], rows.stop[r]), slice(columns.start[c], columns.stop[c])
        cover[part] += 1
        if symmetric and r != c:
            cover[part[::-1]] += 1
    assert (cover == 1).all()
    assert (tree.kind[tree.leaves] == DENSE).any() and (tree.kind == LOW_RANK).any()


def test_children_make_up_their_parent():
    clusters = cluster_tree(sphere_points(600), leaf=16)
    tree = block_tree(clusters, clusters, Admissibility())
    area = np.multiply(*tree.sizes(np.arange(len(tree.row))))
    assert (tree.child_count[tree.kind != SPLIT] == 0).all()
    for block in np.flatnonzero(tree.kind == SPLIT):
        first = tree.first_child[block]
        assert area[first : first + tree.child_count[block]].sum() == area[block]


def test_admissible_points_are_as_far_apart_as_eta_says():
    x = sphere_points(800)
    clusters = cluster_tree(x, leaf=16)
    tree = block_tree(clusters, clusters, Admissibility(eta=1.2, size="max"))
    for block in np.flatnonzero(tree.kind == LOW_RANK):
        a, b = (
            x[clusters.order[clusters.start[each] : clusters.stop[each]]]
            for each in (tree.row[block], tree.column[block])
        )
        distance = np.linalg.norm(a[:, None] - b, axis=2).min()
        assert max(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max()) <= 1.2 * distance


def test_short_waves_need_smaller_blocks():
    clusters = cluster_tree(sphere_points(3000), leaf=16)
    largest = []
    for k in (0.0, 40.0):
        tree = block_tree(clusters, clusters, Admissibility(wavenumber=k))
        low = np.flatnonzero(tree.kind == LOW_RANK)
        largest.append(np.multiply(*tree.sizes(low)).max())
    assert largest[1] < largest[0]


def test_wrong_trees_are_refused():
    with pytest.raises(ValueError, match="boxes"):
        cluster_tree(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="leaf=0"):
        cluster_tree(np.zeros((4, 3)), leaf=0)
    with pytest.raises(ValueError, match="eta=0"):
        Admissibility(eta=0)
    with pytest.raises(ValueError, match="'min' or 'max'"):
        Admissibility(size="mean")
    one, other = cluster_tree(np.eye(3)), cluster_tree(np.eye(3))
    with pytest.raises(ValueError, match="one cluster tree"):
        block_tree(one, other, Admissibility(), symmetric=True)


def test_points_at_one_place_make_a_tree():
    tree = cluster_tree(np.zeros((100, 3)), leaf=8)
    assert np.array_equal(np.sort(tree.order), np.arange(100))
