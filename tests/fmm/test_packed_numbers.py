"""Tensors and numbers in few bits with an exponent for eight."""

import numpy as np

from calderon.fmm.near import Near
from calderon.fmm.packed import COMPONENTS, Digits


def test_blocks_keep_the_sums_of_their_rows():
    """Rounding of rows as requested, sums of each component to one unit, and products of both sides."""
    random, starts, rounding = np.random.default_rng(0), np.array([0, 6, 51]), 1e-4
    pairs = np.array([[0, 1], [1, 0], [1, 1]])
    near = Near.of_tensors(pairs, (starts, starts), False, rounding)
    blocks = [random.standard_normal((np.diff(starts)[i], np.diff(starts)[j])) for i, j in pairs]
    blocks[0][:, 9:] *= 1e-3
    blocks[1] *= 1e6
    blocks[2][:, 3:] *= 1e-12
    sizes = np.append(0, np.cumsum([each.size for each in blocks]))
    near.enter(np.concatenate([each.ravel() for each in blocks]).astype(np.float32), sizes, np.arange(3))
    whole = np.zeros((51, 51))
    for number, ((i, j), exact) in enumerate(zip(pairs, blocks, strict=True)):
        found = near.block(number)
        whole[starts[i] : starts[i + 1], starts[j] : starts[j + 1]] = found
        change = (found - exact).reshape(len(exact) // COMPONENTS, COMPONENTS, -1, COMPONENTS)
        size = np.linalg.norm(exact.reshape(len(change), -1), axis=1)
        error = np.linalg.norm(change.reshape(len(change), -1), axis=1) / size
        assert (error > rounding / 20).all() and (error < rounding).all()
        assert (np.abs(change.sum(axis=2)).max(axis=(1, 2)) < rounding * size).all()
        assert np.array_equal(near.plain.block(number), found)
    for transposed, matrix in ((False, whole), (True, whole.T)):
        for count in (1, 3):
            x = random.standard_normal((count, 51))
            assert np.allclose(near.product(x, transposed), x @ matrix.T, rtol=1e-12, atol=1e-12 * np.abs(whole).max())


def test_parts_without_entries_take_no_numbers():
    """Antisymmetric tensors of a plane, as those of Kelvin's tractions: two of nine parts."""
    random, starts = np.random.default_rng(0), np.array([0, 96])
    block = np.zeros((32, 3, 32, 3))
    block[:, :2, :, 2] = random.standard_normal((32, 32, 2)).transpose(0, 2, 1)
    block[:, 2, :, :2] = -block[:, :2, :, 2].transpose(0, 2, 1)
    near = Near.of_tensors(np.array([[0, 0]]), (starts, starts), False, 1e-4)
    near.enter(block.astype(np.float32).ravel(), np.array([0, block.size]), np.array([0]))
    assert len(near.tensors.numbers) == 2 * 2 * 32**2
    assert np.abs(near.block(0) - block.reshape(96, 96)).max() < 1e-3


def test_first_numbers_have_more_digits():
    values = np.random.default_rng(0).standard_normal((5, 128)) * np.array([[1e-12], [1.0], [1e12], [0.0], [3.0]])
    digits = Digits.empty(7, 128, None)
    digits.enter(values, 2)
    found, (rank, second, third, halved) = digits.runs(2, 7), digits.shape
    size = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300)
    change = np.abs(found - values) / size
    assert (rank, second, third, halved) == (128, 48, 16, 104)
    assert change[:, :third].max() < 2.0**-21 and change[:, :second].max() < 2.0**-14
    assert 2.0**-9 < change[:, second:halved].max() < 2.0**-6 < change[:, halved:].max() < 2.0**-2
    assert not digits.runs(0, 2).any() and digits.nbytes < 2 * 7 * 128
