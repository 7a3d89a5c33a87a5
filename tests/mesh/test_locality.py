"""Orders in which neighbours come together."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.locality import block_order, locality_order, sorted_keys


@pytest.mark.parametrize("count", [0, 1, 16, 17, 100, 333])
def test_block_order_holds_every_point_once(count: int) -> None:
    points = np.random.default_rng(count).random((count, 3))
    assert np.array_equal(np.sort(block_order(points, 16)), np.arange(count))


@pytest.mark.parametrize("bits", [1, 12, 40, 62])
def test_keys_are_sorted_stably_by_the_bits_in_which_they_differ(bits: int) -> None:
    keys = np.random.default_rng(bits).integers(0, 1 << bits, 3000)
    keys = keys if bits == 62 else (keys << 15) | (5 << 58)  # of 62 bits and 12 of the numbers: by comparisons
    order = np.argsort(keys, kind="stable")
    assert all(map(np.array_equal, sorted_keys(keys), (keys[order], order)))


def test_blocks_lie_on_one_side_of_the_first_cut() -> None:
    points = np.random.default_rng(3).random((200, 3)) * [5, 1, 1]
    along = points[block_order(points, 16), 0]
    assert along[:96].max() <= along[96:].min()  # 13 blocks: six and seven


def test_more_faces_lie_inside_a_block_than_in_morton_order() -> None:
    jitter = np.random.default_rng(1).normal(scale=0.03, size=(11**3, 3))
    box = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=10)
    mesh = cal.TetrahedralMesh(box.vertices + 0.1 * jitter, box.tetrahedra)
    across = mesh.neighbours

    def inside(order: np.ndarray) -> float:
        block = np.empty(len(order), np.int64)
        block[order] = np.arange(len(order)) // 16
        return float(np.mean((across >= 0) & (block[across] == block[:, None])))

    assert inside(block_order(mesh.centroids, 16)) > 1.05 * inside(locality_order(mesh.centroids))
