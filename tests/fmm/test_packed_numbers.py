"""Numbers in few bits with an exponent for eight."""

import numpy as np

from calderon.fmm.near import COMPONENTS, Near
from calderon.fmm.packed import GROUP, Digits


def test_blocks_keep_the_sums_of_their_rows():
    """Rounding of 16 bits, and sums of each component as exact as the last number of it."""
    random, starts = np.random.default_rng(0), np.array([0, 6, 51])
    pairs = np.array([[0, 1], [1, 0], [1, 1]])
    near = Near.empty(pairs, (starts, starts), False, np.dtype(np.float32), (True, True))
    blocks = [random.standard_normal((np.diff(starts)[i], np.diff(starts)[j])) for i, j in pairs]
    blocks[0][:, 9:] *= 1e-3
    sizes = np.append(0, np.cumsum([each.size for each in blocks]))
    near.enter(np.concatenate([each.ravel() for each in blocks]).astype(np.float32), sizes, np.arange(3))
    for number, exact in enumerate(blocks):
        found = near.block(number)
        assert 0 < np.abs(found - exact).max() < 2.0**-14 * np.abs(exact).max()
        change = (found - exact).reshape(len(exact), -1, COMPONENTS)
        assert np.abs(change.sum(axis=1)).max() < 2.0**-14 * np.abs(exact[:, -GROUP:]).max()
        assert np.array_equal(near.plain.block(number), found)


def test_first_numbers_have_more_digits():
    values = np.random.default_rng(0).standard_normal((5, 128)) * np.array([[1e-12], [1.0], [1e12], [0.0], [3.0]])
    digits = Digits.empty(7, 128, None)
    digits.enter(values, 2)
    found, (rank, second, third) = digits.runs(2, 7), digits.shape
    size = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300)
    change = np.abs(found - values) / size
    assert (rank, second, third) == (128, 64, 16)
    assert change[:, :third].max() < 2.0**-21 and change[:, :second].max() < 2.0**-14
    assert 2.0**-9 < change[:, second:].max() < 2.0**-6
    assert not digits.runs(0, 2).any() and digits.nbytes < 2 * 7 * 128
