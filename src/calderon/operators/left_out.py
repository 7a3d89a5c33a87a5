"""Pairs of triangles that a compiled tile leaves out: touching and near ones, and those that symmetry gives.

skip_position[skip_start[i] : skip_start[i + 1]] are the trial triangles, in increasing order, that test triangle i
leaves out. A tile goes through blocks of LANES trial triangles and keeps a cursor into this list for each of its test
triangles lo..hi.
"""

from calderon.backends.vectors import jitable
from calderon.operators.sides import LANES


@jitable
def first_left_out(skip_start, skip_position, lo, hi, block):  # type: ignore[no-untyped-def]
    """For each test triangle the first trial triangle to leave out that is in `block` or beyond."""
    cursors = skip_start[lo:hi].copy()
    for i in range(lo, hi):
        while cursors[i - lo] < skip_start[i + 1] and skip_position[cursors[i - lo]] < block * LANES:
            cursors[i - lo] += 1
    return cursors


@jitable
def masks(mask, cursors, skip_start, skip_position, lo, i, block, upper):  # type: ignore[no-untyped-def]
    """Whether test triangle i leaves out something of a block; then mask (LANES,) is 1 for what remains, else 0. upper:
    only trial triangles of larger number remain. Cursors move to the next block."""
    cursor, last = cursors[i - lo], skip_start[i + 1]
    masked = (upper and i >= block * LANES) or (cursor < last and skip_position[cursor] < (block + 1) * LANES)
    if masked:
        for j in range(LANES):
            mask[j] = 0.0 if upper and block * LANES + j <= i else 1.0
        while cursor < last and skip_position[cursor] < (block + 1) * LANES:
            mask[skip_position[cursor] - block * LANES] = 0.0
            cursor += 1
        cursors[i - lo] = cursor
    return masked
