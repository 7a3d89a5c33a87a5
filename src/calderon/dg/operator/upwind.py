"""Both curls of a block of elements with the upwind flux, fused with one stage of a low-storage Runge-Kutta method.

At a face with outward normal n and neighbour "+", the numerical traces solve the Riemann problem of the two media,
    E* - E = (Y+ [E] + n x [H]) / (Y+ + Y),    H* - H = (Z+ [H] - n x [E]) / (Z+ + Z),    [q] = q+ - q,
with impedances Z = 1 / Y. Tangential vectors are stored by their products with the two edges of the face, on which n x
is a matrix of three numbers. Source: J. Hesthaven and T. Warburton, J. Comput. Phys. 181 (2002), 186.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.team import team_kernel
from calderon.backends.vectors import jitable, lanes, load, number, prefetch, store
from calderon.dg.operator.curl import ahead, approach, covariant, padded_rows, row_pair
from calderon.dg.operator.gather import gather
from calderon.dg.operator.reference import ReferenceTetrahedron


@jitable
def subtract_own(source, block, nodes, size, face_size, width, traces):
    """Subtract the own traces of a block from those of its neighbours, traces as `gather` fills them.

    source: flat field; nodes, size, face_size, width: as in `gather` of gather.py.
    """
    stride = size * width
    vector = lanes(source)
    for half in range(0, width, vector):
        start = block * 3 * stride + half
        to = half
        # face 0: differences of two components
        for m in range(face_size):
            at = start + number(nodes, m) * width
            first = load(source, at)
            store(traces, to, load(traces, to) - (load(source, at + stride) - first))
            store(traces, to + width, load(traces, to + width) - (load(source, at + 2 * stride) - first))
            to += 2 * width
        # the other faces, on which two components are tangential
        for face in range(1, 4):
            one = start + (stride if face == 1 else 0)
            two = start + (stride if face == 3 else 2 * stride)
            for m in range(face_size):
                at = number(nodes, face * face_size + m) * width
                store(traces, to, load(traces, to) - load(source, one + at))
                store(traces, to + width, load(traces, to + width) - load(source, two + at))
                to += 2 * width


@jitable
def upwinded(electric, magnetic, riemann, block, face_size, width):
    """Replace the jumps of both fields on a block, electric and magnetic [face][node][2][lane], by the numerical
    traces minus the own ones; riemann as in `stage_kernel`, face_size and width as in `subtract_own`."""
    vector = lanes(electric)
    for half in range(0, width, vector):
        for face in range(4):
            # the five numbers of the Riemann problem at this face
            k = ((block * 4 + face) * 5) * width + half
            share = load(riemann, k)  # Y+ / (Y+ + Y) of E; minus one it is that of H
            weight = load(riemann, k + width)  # Y Y+: what 1 / (Z+ + Z) is of 1 / (Y+ + Y), which r has
            r11, r12, r21 = load(riemann, k + 2 * width), load(riemann, k + 3 * width), load(riemann, k + 4 * width)
            # at each node, from both jumps
            at = face * face_size * 2 * width + half
            for _m in range(face_size):
                e1, e2 = load(electric, at), load(electric, at + width)
                h1, h2 = load(magnetic, at), load(magnetic, at + width)
                store(electric, at, share * e1 + (r11 * h1 + r12 * h2))
                store(electric, at + width, share * e2 + (r21 * h1 - r11 * h2))
                store(magnetic, at, h1 - share * h1 - weight * (r11 * e1 + r12 * e2))
                store(magnetic, at + width, h2 - share * h2 - weight * (r21 * e1 - r11 * e2))
                at += 2 * width


@jitable
def staged(target, source, residual, at, stride, a, b, gains, m, metric, g, width, c1, c2, c3):
    """residual = a residual + gain metric . c; target = source + b residual, at one node of one vector, for the
    vector (c1, c2, c3); the gain is at gains[m]; components lie at `at`, `stride` apart; metric, g, width as in
    `covariant` of curl.py."""
    gain = load(gains, m)
    c1, c2, c3 = covariant(metric, g, width, gain * c1, gain * c2, gain * c3)
    r1, r2, r3 = a * load(residual, at), a * load(residual, at + stride), a * load(residual, at + 2 * stride)
    r1, r2, r3 = r1 + c1, r2 + c2, r3 + c3
    store(residual, at, r1)
    store(target, at, load(source, at) + b * r1)
    store(residual, at + stride, r2)
    store(target, at + stride, load(source, at + stride) + b * r2)
    store(residual, at + 2 * stride, r3)
    store(target, at + 2 * stride, load(source, at + 2 * stride) + b * r3)


@jitable
def curl_stage(target, source, residual, a, b, driver, jumps, base, gains, m, metric, g, volume, lift, size, face_size,
               vector, further, nearer):  # fmt: skip
    """One stage of one field in a block, driven by the curl of the other, `driver`: target, source, residual, a and b
    as in `staged`.

    base: where the block begins in flat fields; jumps: numerical traces of the driver minus its own ones; gains, m,
    metric, g: as in `staged`; volume, lift, size, face_size, vector: as in `row_pair` of curl.py; further, nearer:
    numbers from here to prefetched data.
    """
    width = 2 * vector
    stride = size * width
    for i in range(0, size, 2):
        approach(driver, target, base + 6 * i * vector, further, nearer, vector)
        for n in range(12):
            prefetch(residual, base + 6 * i * vector + nearer + n * vector)
        a1, a2, a3, b1, b2, b3, c1, c2, c3, d1, d2, d3 = row_pair(
            i, driver, base, volume, lift, jumps, size, face_size, vector
        )
        at = base + i * width
        # fmt: off
        staged(target, source, residual, at, stride, a, b, gains, m, metric, g, width, a1, a2, a3)
        staged(target, source, residual, at + vector, stride, a, b, gains, m + vector, metric, g + vector, width,
               c1, c2, c3)
        if i + 1 < size:
            at += width
            staged(target, source, residual, at, stride, a, b, gains, m, metric, g, width, b1, b2, b3)
            staged(target, source, residual, at + vector, stride, a, b, gains, m + vector, metric, g + vector, width,
                   d1, d2, d3)
        # fmt: on


@cache
def stage_kernel(order: int) -> Any:
    """Compiled stage of both fields: residual = a residual + gain curl, new field = field + b residual, each in all
    blocks from `begin` up to, without, `end`. A block has `width` elements, two vectors.

    new_e, new_h, e, h, residual_e, residual_h: flat (blocks, 3, nodes, width); the new fields must lie apart from the
    old ones, whose traces the neighbours read. a, b: coefficients A_i, B_i of the stage; gains (blocks, 2, width): dt /
    epsilon and -dt / mu; riemann (blocks, 4 faces, 5, width): Y+ / (Y+ + Y), a weight Y Y+, and three numbers r11, r12,
    r21 of the rotation n x over Y+ + Y (`upwinded`); metric (blocks, 6, width); volume, lift: of `upwind_tables`.
    conditions, factors_e, factors_h, ghosts_e, ghosts_h, first, places, starts, own, nodes: those of both fields as in
    `gather` of gather.py.
    """
    face_size = (order + 1) * (order + 2) // 2
    size = face_size * (order + 3) // 3

    @team_kernel
    def stage(new_e, new_h, e, h, residual_e, residual_h, a, b, conditions, factors_e, factors_h, ghosts_e, ghosts_h,
              first, places, starts, own, nodes, metric, gains, riemann, volume, lift, begin, end):  # fmt: skip
        vector = lanes(e)  # numbers of a vector
        width = 2 * vector
        stride = size * width
        further, nearer = ahead(size, stride)  # how far ahead sources and targets are prefetched
        jumps_e = np.empty(4 * face_size * 2 * width, e.dtype)
        jumps_h = np.empty(4 * face_size * 2 * width, e.dtype)
        for block in range(begin, end):
            # jumps of both fields, then the numerical traces minus the own ones
            gather(e, conditions, factors_e, ghosts_e, first, places, starts, own, block, nodes, size, face_size,
                   width, jumps_e)  # fmt: skip
            gather(h, conditions, factors_h, ghosts_h, first, places, starts, own, block, nodes, size, face_size,
                   width, jumps_h)  # fmt: skip
            subtract_own(e, block, nodes, size, face_size, width, jumps_e)
            subtract_own(h, block, nodes, size, face_size, width, jumps_h)
            upwinded(jumps_e, jumps_h, riemann, block, face_size, width)
            # both curls, each with its stage
            base = block * 3 * stride
            m, g = block * 2 * width, block * 6 * width
            curl_stage(new_h, h, residual_h, a, b, e, jumps_e, base, gains, m + width, metric, g, volume, lift,
                       size, face_size, vector, further, nearer)  # fmt: skip
            curl_stage(new_e, e, residual_e, a, b, h, jumps_h, base, gains, m, metric, g, volume, lift,
                       size, face_size, vector, further, nearer)  # fmt: skip

    return stage


def upwind_tables(reference: ReferenceTetrahedron, real: Any) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """The tables of `row_pair`: derivatives [i][j][axis] and the whole lift [face][i][m]."""
    volume = np.moveaxis(reference.derivatives, 0, -1).reshape(reference.size, -1)
    return padded_rows(volume, real), padded_rows(reference.lift, real)
