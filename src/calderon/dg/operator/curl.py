"""The discrete curl of a block of elements, fused with the update of the field that it drives.

Per node of a block: 6 products with the rows of the derivatives and 2 for each face with those of the lift; every
number is a vector of elements. Floor: 12 n^2 + 16 n m flops per element and half step, n nodes and m on a face, and
three numbers of memory traffic for each one of a field (read the source, read and write the target) and the metric.
Data of later blocks are prefetched while the processor computes the products of this one: the traces are gathered
from all over a neighbour, which no hardware prefetcher predicts.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.team import team_kernel
from calderon.backends.vectors import jitable, lanes, load, number, prefetch, prefetch_to_read, store, zero
from calderon.dg.operator.gather import gather
from calderon.dg.operator.reference import ReferenceTetrahedron


@jitable
def approach(source, target, at, further, nearer, vector):
    """Prefetch the part of later blocks (both vectors, three components, two nodes) that begins at `at` in this one.

    source, target: flat fields, `further` and `nearer` numbers ahead; vector: numbers of a vector.
    """
    for n in range(12):
        prefetch_to_read(source, at + further + n * vector)
        prefetch(target, at + nearer + n * vector)


@jitable
def ahead(size, stride):
    """How many numbers ahead of a block the source and the target are prefetched.

    96 KB of the source, 384 bytes a node: blocks nearby, whose traces are also read before them; two blocks of the
    target. size: nodes of an element; stride: numbers of a component in a block.
    """
    return 3 * stride * (256 // size), 3 * stride * 2


@jitable
def crossed(c1, c2, c3, d1, d2, d3, e1, e2, e3):
    """The vectors c + d x e, by components c1, c2, c3, d1, d2, d3, e1, e2, e3."""
    return (c1 + d2 * e3) - d3 * e2, (c2 + d3 * e1) - d1 * e3, (c3 + d1 * e2) - d2 * e1


@jitable
def across_0(c1, c2, c3, p, t1, t2):
    """The vector (c1, c2, c3) plus p times the contribution of the traces (t1, t2) across face 0 according to
    EDGES_TO_CURL; p: number of the lift. The four faces are written out: with loops that a factory makes from that
    table, degree 4 takes 1.3 times as long."""
    return c1 + p * (t2 - t1), c2 - p * t2, c3 + p * t1


@jitable
def across_1(c1, c2, c3, p, t1, t2):
    """The vector with the contribution of face 1; arguments as in `across_0`."""
    return c1, c2 + p * t2, c3 - p * t1


@jitable
def across_2(c1, c2, c3, p, t1, t2):
    """The vector with the contribution of face 2; arguments as in `across_0`."""
    return c1 - p * t2, c2, c3 + p * t1


@jitable
def across_3(c1, c2, c3, p, t1, t2):
    """The vector with the contribution of face 3; arguments as in `across_0`."""
    return c1 + p * t2, c2 - p * t1, c3


def _face(across: Any) -> Any:
    """The compiled contribution of one face to the sums of `row_pair`; across: that to one vector, as `across_0`."""

    @jitable
    def face(sums, lift, row, traces, at, face_size, vector):
        """The twelve sums of `row_pair` plus products of the traces with the lift. row: where the row of node i begins
        in the lift, that of i + 1 follows; at: where the face begins in the traces; other arguments as in `row_pair`.
        """
        a1, a2, a3, b1, b2, b3, c1, c2, c3, d1, d2, d3 = sums
        next_row = row + face_size
        for _m in range(face_size):
            p, q = number(lift, row), number(lift, next_row)
            t1, t2 = load(traces, at), load(traces, at + 2 * vector)
            a1, a2, a3 = across(a1, a2, a3, p, t1, t2)
            b1, b2, b3 = across(b1, b2, b3, q, t1, t2)
            t1, t2 = load(traces, at + vector), load(traces, at + 3 * vector)
            c1, c2, c3 = across(c1, c2, c3, p, t1, t2)
            d1, d2, d3 = across(d1, d2, d3, q, t1, t2)
            at += 4 * vector
            row += 1
            next_row += 1
        return a1, a2, a3, b1, b2, b3, c1, c2, c3, d1, d2, d3

    return face


face_0, face_1, face_2, face_3 = (_face(each) for each in (across_0, across_1, across_2, across_3))


@jitable
def row_pair(i, source, base, volume, lift, traces, size, face_size, vector):
    """Contravariant components J curl^k at the nodes i (a, c) and i + 1 (b, d), for both vectors of a block: (a, b) and
    (c, d). Twelve sums at a time use all multiply-add units, and the matrices are read once for both vectors.

    source: flat field, whose block begins at `base`; volume, lift: of `centred_tables` or `upwind_tables`, flat; traces
    (4, face_size, 2, 2 vector), flat: from `gather`; size, face_size: nodes of an element and of a face; vector:
    numbers of a vector.
    """
    width = 2 * vector
    stride = size * width
    # twelve sums: three components of two nodes for two vectors
    a1 = zero(source)
    a2, a3, b1, b2, b3 = a1, a1, a1, a1, a1
    c1, c2, c3, d1, d2, d3 = a1, a1, a1, a1, a1, a1
    # volume: products with the rows i (p) and i + 1 (q) of the derivatives, for both vectors e and f of the source
    at = base
    row, next_row = i * size * 3, (i + 1) * size * 3
    for _j in range(size):
        p1, p2, p3 = number(volume, row), number(volume, row + 1), number(volume, row + 2)
        q1, q2, q3 = number(volume, next_row), number(volume, next_row + 1), number(volume, next_row + 2)
        e1, e2, e3 = load(source, at), load(source, at + stride), load(source, at + 2 * stride)
        f1, f2 = load(source, at + vector), load(source, at + stride + vector)
        f3 = load(source, at + 2 * stride + vector)
        a1, a2, a3 = crossed(a1, a2, a3, p1, p2, p3, e1, e2, e3)
        b1, b2, b3 = crossed(b1, b2, b3, q1, q2, q3, e1, e2, e3)
        c1, c2, c3 = crossed(c1, c2, c3, p1, p2, p3, f1, f2, f3)
        d1, d2, d3 = crossed(d1, d2, d3, q1, q2, q3, f1, f2, f3)
        at += width
        row += 3
        next_row += 3
    # faces: products of the traces with the lift, in which the rows of the next face begin `step` numbers later
    sums = (a1, a2, a3, b1, b2, b3, c1, c2, c3, d1, d2, d3)
    row, step, apart = i * face_size, face_size * (size + size % 2), 2 * face_size * width
    sums = face_0(sums, lift, row, traces, 0, face_size, vector)
    sums = face_1(sums, lift, row + step, traces, apart, face_size, vector)
    sums = face_2(sums, lift, row + 2 * step, traces, 2 * apart, face_size, vector)
    return face_3(sums, lift, row + 3 * step, traces, 3 * apart, face_size, vector)


@jitable
def covariant(metric, g, width, c1, c2, c3):
    """Covariant components (curl E) . (v_i - v_0) = g_ik c^k / J of one vector of elements, for the vector (c1, c2,
    c3): the six numbers of the metric begin at metric[g], `width` apart."""
    g11, g12, g13 = load(metric, g), load(metric, g + width), load(metric, g + 2 * width)
    g22, g23, g33 = load(metric, g + 3 * width), load(metric, g + 4 * width), load(metric, g + 5 * width)
    return g11 * c1 + (g12 * c2 + g13 * c3), g12 * c1 + (g22 * c2 + g23 * c3), g13 * c1 + (g23 * c2 + g33 * c3)


@jitable
def raised(target, at, stride, medium, m, metric, g, width, c1, c2, c3):
    """target = keep * target + gain * (metric . c) at one node of one vector of elements, for the vector (c1, c2, c3).

    target: flat field, whose components at the node lie at `at`, `stride` apart; keep and gain begin at medium[m],
    `width` apart; metric, g, width as in `covariant`.
    """
    keep, gain = load(medium, m), load(medium, m + width)
    c1, c2, c3 = covariant(metric, g, width, gain * c1, gain * c2, gain * c3)
    store(target, at, keep * load(target, at) + c1)
    at += stride
    store(target, at, keep * load(target, at) + c2)
    at += stride
    store(target, at, keep * load(target, at) + c3)


@cache
def half_step_kernel(order: int) -> Any:
    """Compiled half step of leap-frog, target = keep target + gain curl source, in the blocks from `begin` up to,
    without, `end`. A block has `width` elements, two vectors; fields are flat (blocks, 3, nodes, width).

    medium (blocks, 2, width): keep and gain; metric (blocks, 6, width); volume, lift: of `centred_tables`; conditions,
    factors, ghosts, first, places, starts, own, nodes: as in `gather` of gather.py.
    """
    face_size = (order + 1) * (order + 2) // 2
    size = face_size * (order + 3) // 3

    @team_kernel
    def half_step(target, source, conditions, factors, ghosts, first, places, starts, own, nodes, metric, medium,
                  volume, lift, begin, end):  # fmt: skip
        vector = lanes(source)
        width = 2 * vector
        stride = size * width
        further, nearer = ahead(size, stride)
        traces = np.empty(4 * face_size * 2 * width, source.dtype)
        for block in range(begin, end):
            # traces of the neighbours
            gather(source, conditions, factors, ghosts, first, places, starts, own, block, nodes, size, face_size,
                   width, traces)  # fmt: skip
            base = block * 3 * stride
            g, m = block * 6 * width, block * 2 * width
            # the curl at two nodes at a time for both vectors of the block, and with it the new field
            for i in range(0, size, 2):
                approach(source, target, base + 6 * i * vector, further, nearer, vector)
                a1, a2, a3, b1, b2, b3, c1, c2, c3, d1, d2, d3 = row_pair(
                    i, source, base, volume, lift, traces, size, face_size, vector
                )
                at = base + i * width
                raised(target, at, stride, medium, m, metric, g, width, a1, a2, a3)
                raised(target, at + vector, stride, medium, m + vector, metric, g + vector, width, c1, c2, c3)
                if i + 1 < size:
                    at += width
                    raised(target, at, stride, medium, m, metric, g, width, b1, b2, b3)
                    raised(target, at + vector, stride, medium, m + vector, metric, g + vector, width, d1, d2, d3)

    return half_step


def padded_rows(matrix: NDArray[np.float64], real: Any) -> NDArray[np.floating]:
    """Flat copy of matrices (..., n, columns) with n made even by a row of zeros."""
    extra = matrix.shape[-2] % 2
    widths = [(0, 0)] * (matrix.ndim - 2) + [(0, extra), (0, 0)]
    return np.ascontiguousarray(np.pad(matrix, widths), real).ravel()


def centred_tables(reference: ReferenceTetrahedron, real: Any) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Derivatives with the own half of the flux, [i][j][axis], and half the lift, [face][i][m]."""
    volume = np.moveaxis(reference.centred_derivatives, 0, -1).reshape(reference.size, -1)
    return padded_rows(volume, real), padded_rows(reference.lift / 2, real)
