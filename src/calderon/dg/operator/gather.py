"""Traces of the neighbours on the faces that they share with a block of elements.

The type of the face on the neighbour's side (which of its faces it is) decides what is read; the faces of a block are
sorted by it, so that no branch depends on unpredictable data: up to five times as fast as going
through the elements one by one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vectors import jitable, number, put

BOUNDARY = 4
"""The type of faces with a boundary condition."""


class SortedFaces(NamedTuple):
    """The faces of every block by type.

    first (blocks, 6): where those of each type begin in the block's part of the lists, and their end. places (blocks x
    4 lanes,): where the first trace goes. starts (blocks x 4 lanes,): number in a field of the neighbour's first value,
    or -1 - face of the mesh. own (blocks x 4 lanes,): 4 times the own start, plus the face, for those.
    """

    first: NDArray[np.int32]
    places: NDArray[np.int32]
    starts: NDArray[np.int64]
    own: NDArray[np.int64]


def sorted_faces(codes: NDArray[np.int32], size: int, face_size: int) -> SortedFaces:
    """The faces sorted by kind, from the codes (blocks, 4, lanes) of an ElementBlocks."""
    blocks, _, width = codes.shape
    # where the traces of each face go
    face, lane = np.indices((4, width))
    target = (face * face_size * 2 * width + lane).ravel()
    flat = codes.reshape(blocks, -1).astype(np.int64)
    # the type of each face, and where the neighbour and the own element begin in a field
    kind = np.where(flat < 0, BOUNDARY, flat & 3)
    order = np.argsort(kind, axis=1, kind="stable")
    element = flat >> 2
    start = np.where(flat < 0, flat, (element // width) * (3 * size * width) + element % width)
    base = np.arange(blocks)[:, None] * (3 * size * width) + lane.ravel()
    own = 4 * base + face.ravel()
    # lists sorted by type
    first = np.stack([np.zeros(blocks, int), *((kind <= each).sum(axis=1) for each in range(5))], axis=1)
    starts, owns = (np.take_along_axis(each, order, axis=1).ravel() for each in (start, own))
    return SortedFaces(first.astype(np.int32), target[order].astype(np.int32).ravel(), starts, owns)


@jitable
def start_of(element, size, width):
    """Number in a field of the first value of an element, by its place; size: nodes of an element, width: lanes."""
    return (element // width) * (3 * size * width) + element % width


@jitable
def gather(
    source, conditions, factors, ghosts, first, places, starts, own, block, nodes, size, face_size, width, traces
):
    """Fill traces [face][node][2][lane], flat, with the tangential components that the neighbours of a block have on
    the shared faces.

    source: flat field; nodes (4, face_size): nodes of each face; size: nodes of an element; width: lanes. first,
    places, starts, own: of SortedFaces, one by one, since Numba counts references to items of a tuple. A face with a
    boundary condition gets the own trace times its factor f (of `factors`) where its entry of `conditions` is -1. Else
    it gets f of the own trace and 1 - f of a row of `ghosts` (>= 0), or of the trace at the face with the code c (-2 -
    c). Always inlined: a call for each block, with 75 words of arguments and counts of references to seven arrays,
    takes 8 % of a step of degree 2.
    """
    stride, base = size * width, block * 4 * width
    # neighbours' face 0, opposite to the corner at which the edges begin: differences of two components
    for n in range(base, base + first[block, 1]):
        to, start = np.int64(number(places, n)), number(starts, n)
        for m in range(face_size):
            at = start + number(nodes, m) * width
            lowest = number(source, at)
            put(traces, to, number(source, at + stride) - lowest)
            put(traces, to + width, number(source, at + 2 * stride) - lowest)
            to += 2 * width
    # their other faces, on which two components are tangential
    for kind in range(1, BOUNDARY):
        one, two = (stride if kind == 1 else 0), (stride if kind == 3 else 2 * stride)
        for n in range(base + first[block, kind], base + first[block, kind + 1]):
            to, start = np.int64(number(places, n)), number(starts, n)
            for m in range(face_size):
                at = start + number(nodes, kind * face_size + m) * width
                put(traces, to, number(source, at + one))
                put(traces, to + width, number(source, at + two))
                to += 2 * width
    # faces with a condition: the own trace (a, b), weighed with another one (c, d)
    for n in range(base + first[block, BOUNDARY], base + first[block, BOUNDARY + 1]):
        to, condition = np.int64(number(places, n)), -1 - number(starts, n)
        ghost, factor = np.int64(number(conditions, condition)), number(factors, condition)
        start, face = number(own, n) >> 2, number(own, n) & 3
        one, two = (stride if face < 2 else 0), (stride if face == 3 else 2 * stride)
        # the tangential components of the own face, and of the one across a weighed face
        other = max(-2 - ghost, 0)
        far, side = start_of(other >> 2, size, width), other & 3
        far_one, far_two = (stride if side < 2 else 0), (stride if side == 3 else 2 * stride)
        for m in range(face_size):
            at = start + number(nodes, face * face_size + m) * width
            lowest = number(source, at) if face == 0 else factor * 0
            a, b = number(source, at + one) - lowest, number(source, at + two) - lowest
            if ghost == -1:
                put(traces, to, factor * a)
                put(traces, to + width, factor * b)
            else:
                if ghost >= 0:
                    c, d = ghosts[ghost, 0, m], ghosts[ghost, 1, m]
                else:
                    at = far + number(nodes, side * face_size + m) * width
                    lowest = number(source, at) if side == 0 else factor * 0
                    c, d = number(source, at + far_one) - lowest, number(source, at + far_two) - lowest
                put(traces, to, c + factor * (a - c))
                put(traces, to + width, d + factor * (b - d))
            to += 2 * width
