"""Pairs of triangles that a compiled tile leaves out: touching and near ones, and those that symmetry gives.

skip_position[skip_start[i] : skip_start[i + 1]] are the trial triangles, in increasing order, that test triangle i
leaves out. A tile goes through blocks of LANES trial triangles, keeps a cursor into this list for each of its test
triangles lo up to, without, hi, and marks what it leaves out of a block by one bit for each pair.

Inside the loops arrays are only read and written by `number` and `put`: Numba counts references to arrays that are
indexed or passed on, which would take longer than all the rest.
"""

import numpy as np

from calderon.backends.vectors import jitable, lanes, number, put
from calderon.galerkin.regular.element_tables import LANES

BITS = 64
"""Bits of a word; LANES is a multiple."""
WORDS = LANES // BITS
"""Words of a block for each test triangle."""


@jitable
def first_left_out(skip_start, skip_position, lo, hi, block):
    """(hi - lo,) for each test triangle lo up to, without, hi the place in skip_position of the first trial triangle to
    leave out that is in `block` or beyond; skip_start, skip_position: see the head of this file."""
    cursors = skip_start[lo:hi].copy()
    for i in range(lo, hi):
        while cursors[i - lo] < skip_start[i + 1] and skip_position[cursors[i - lo]] < block * LANES:
            cursors[i - lo] += 1
    return cursors


@jitable
def words_for(lo, hi):
    """Memory of `mark` for test triangles lo up to, without, hi."""
    return np.zeros((hi - lo) * WORDS, np.int64)


@jitable
def mark(words, cursors, skip_start, skip_position, lo, hi, block, upper):
    """Set bits in `words` for the trial triangles of a block that test triangles lo up to, without, hi leave out.
    upper: only trial triangles of larger number remain. cursors (hi - lo,) move to the next block; skip_start,
    skip_position: see the head of this file."""
    begin = block * LANES
    for i in range(lo, hi):
        here = (i - lo) * WORDS
        for word in range(WORDS):
            first, bits = begin + word * BITS, 0
            if upper and i >= first:
                bits = -1 if i - first >= BITS - 1 else (1 << (i - first + 1)) - 1
            put(words, here + word, bits)
        cursor, last = number(cursors, i - lo), number(skip_start, i + 1)
        while cursor < last and number(skip_position, cursor) < begin + LANES:
            lane = number(skip_position, cursor) - begin
            word = here + lane // BITS
            put(words, word, number(words, word) | (1 << (lane % BITS)))
            cursor += 1
        put(cursors, i - lo, cursor)


@jitable
def left_out(words, triangle, v, mask):
    """Whether the test triangle with that number in its tile leaves out any of the vector of trial triangles from lane
    v on, by the words of `mark`; then mask[:width] is 1 for those that remain, else 0."""
    step = lanes(mask)
    bits = (number(words, triangle * WORDS + v // BITS) >> (v % BITS)) & ((1 << step) - 1)
    if bits != 0:
        for k in range(step):
            put(mask, k, 0.0 if (bits >> k) & 1 else 1.0)
    return bits != 0
