"""Blocks of a near store against dense matrices, and what 16 bits keep of rows."""

import numpy as np
import pytest

from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.products.near_store import NearStore, products

STARTS = np.array([0, 6, 51, 54, 90])
PAIRS = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 3], [2, 2], [3, 1], [3, 3]])


def filled(kind, packs, half=False, pieces=False, step=None):
    """A store, the dense matrix of what it was filled with, and that of what it has."""
    random, count = np.random.default_rng(0), int(STARTS[-1])
    order = np.append(np.arange(60), random.integers(0, 60, 30)) if pieces else random.permutation(count)
    clusters, pairs = Clusters(order, STARTS[:-1], STARTS[1:]), PAIRS[PAIRS[:, 0] <= PAIRS[:, 1]] if half else PAIRS
    size, work = int(order.max()) + 1, np.float64 if np.dtype(kind).kind == "f" else None
    store = NearStore.empty((clusters, clusters), pairs, kind, packs, (size, size), half, step, work)
    blocks = []
    for i, j in pairs:
        block = random.standard_normal((2, STARTS[i + 1] - STARTS[i], STARTS[j + 1] - STARTS[j]))
        block = block[0] + 1j * block[1] if np.dtype(kind).kind == "c" else block[0]
        blocks.append(block + block.T if half and i == j else block)
    sizes = np.append(0, np.cumsum([each.size for each in blocks]))
    store.enter(np.arange(len(pairs)), np.concatenate([each.ravel() for each in blocks]), sizes[:-1])
    spread = np.zeros((count, size))
    spread[np.arange(count), order] = 1.0

    def dense(parts):
        whole = np.zeros((count, count), np.result_type(kind))
        for (i, j), block in zip(pairs, parts, strict=True):
            own, other = slice(*STARTS[i : i + 2]), slice(*STARTS[j : j + 2])
            whole[own, other] = block
            if half and i != j:
                whole[other, own] = block.T
        return spread.T @ whole @ spread

    return store, dense(blocks), dense([store.block(n) for n in range(len(pairs))])


@pytest.mark.parametrize(
    "kind, packs, half, pieces, step",
    [
        (np.float64, False, False, True, None),
        (np.float32, False, True, True, None),
        (np.float32, True, False, True, 3),
        (np.complex128, False, False, False, None),
        (np.complex64, True, False, False, None),
    ],
)
def test_products_are_those_of_the_matrix(kind, packs, half, pieces, step):
    """Products of few and of many columns, on both sides, alone and of several stores at once."""
    store, exact, matrix = filled(kind, packs, half, pieces, step)
    rounding = 2.0**-13 if packs else np.finfo(kind).eps
    assert np.abs(matrix - exact).max() <= 2 * rounding * np.abs(exact).max()
    tolerance = 10 * np.finfo(store.work).eps
    random = np.random.default_rng(1)
    for transposed, wanted in ((False, matrix), (True, matrix.T)):
        for count in (1, 2, 3, 9, 20):
            x = random.standard_normal((len(matrix), count))
            x = x + 1j * random.standard_normal(x.shape) if store.parts == 2 else x
            found = store.product(x, transposed)
            assert np.abs(found - wanted @ x).max() <= tolerance * np.abs(wanted).sum(axis=1).max()
        twice = products([(store, x), (store, 2 * x)], transposed)
        assert np.allclose(twice[1], 2 * twice[0], rtol=1e-5)


def test_half_a_matrix_in_16_bits_has_blocks_of_both_sides():
    store, exact, matrix = filled(np.float32, True, half=True)
    whole = filled(np.float32, True)[0]
    assert store.nbytes < 0.75 * whole.nbytes
    x = np.random.default_rng(1).standard_normal((len(exact), 2))
    assert np.abs(store.product(x) - exact @ x).max() <= 2.0**-11 * np.abs(exact @ x).max()
    assert np.array_equal(store.product(x), store.product(x, True))


def test_a_part_has_the_blocks_of_its_row_clusters():
    store, _, matrix = filled(np.complex64, True)
    x = np.random.default_rng(1).standard_normal((len(matrix), 1)) * (1 + 1j)
    parts = [store.part(low, high).product(x) for low, high in ((0, 1), (1, 4))]
    assert np.allclose(sum(parts), store.product(x), rtol=1e-5, atol=1e-5)
    order = store.layout.rows.order
    assert not parts[0][order[STARTS[1] :]].any() and not parts[1][order[: STARTS[1]]].any()


def test_entries_of_unknowns_without_a_block_are_zero():
    store, _, matrix = filled(np.complex64, True)
    i, j = (each.ravel() for each in np.indices(matrix.shape))
    assert np.array_equal(store.entries(i, j).reshape(matrix.shape).astype(np.complex64), matrix)


def test_blocks_that_have_entries_are_not_added_to():
    store, *_ = filled(np.float64, False)
    with pytest.raises(ValueError, match="blocks that have entries"):
        store.in_place(np.array([2, 3]), store.layout.rows, store.layout.columns)


def test_rows_in_16_bits_keep_the_sums_of_each_component():
    """Sums of the entries of one component, to about the last bit of the largest entries, whatever their sizes."""
    random, starts = np.random.default_rng(0), np.array([0, 6, 51])
    clusters = Clusters(np.arange(51), starts[:-1], starts[1:])
    pairs = np.array([[0, 1], [1, 0], [1, 1]])
    store = NearStore.empty((clusters, clusters), pairs, np.float32, True, step=3, work=np.float64)
    blocks = [random.standard_normal((np.diff(starts)[i], np.diff(starts)[j])) for i, j in pairs]
    blocks[0][:, 9:] *= 1e-3
    blocks[1] *= 1e6
    blocks[2][:, 3:] *= 1e-12
    sizes = np.append(0, np.cumsum([each.size for each in blocks]))
    store.enter(np.arange(3), np.concatenate([each.ravel() for each in blocks]), sizes[:-1])
    for number, exact in enumerate(blocks):
        change = store.block(number) - exact
        largest = np.abs(exact).max(axis=1)
        assert np.abs(change).max(axis=1).max() > 0
        assert (np.abs(change).max(axis=1) <= 2.0**-14 * largest).all()
        sums = change.reshape(len(exact), -1, 3).sum(axis=1)
        assert (np.abs(sums).max(axis=1) <= 2.0**-14 * largest).all()
    again = store.entries_of(np.arange(3))
    store.enter(np.arange(3), again, sizes[:-1])
    assert np.array_equal(store.entries_of(np.arange(3)), again)  # so files keep what was computed
