"""Sums over patches of triangles, evaluated in lanes of target points: the inner loops of potentials.

A vector of targets decides once for a cluster of patches: one that is far away sends its expansion (multipoles.py), one
nearby its sources.
"""

import functools
from collections.abc import Callable
from typing import Any

from calderon.backends.numba import kernel
from calderon.backends.vectors import jitable, lanes, load, number, smaller, zero
from calderon.greens import Radial, parameter_reader
from calderon.greens.elementary import inverse_square_root
from calderon.potentials.sources.current_sources import CURRENT_FIELDS, current_charge
from calderon.potentials.sources.multipoles import expansion_sums
from calderon.potentials.sources.point_sources import (
    CUT,
    PARAMETERS,
    add_values,
    at_least,
    charged,
    products,
    second_slope,
)

CLUSTER, PATCH, GROUP, LAYER_SOURCE = 5, 4, 7, 6
"""Numbers of a cluster, of one of its patches, of a triangle, and of one source of a layer."""
CLUSTERS_AT_ONCE = 8
"""Clusters that stay in the cache for all targets of a call."""


def _sums_over_patches(radial: Radial, near: Callable[..., Any], far: Callable[..., Any], vector: bool) -> Any:
    """Compiled field(targets, spheres, clusters, members, patches, starts, groups, sources, expansions, factors,
    scalars, w, out).

    targets (3, TARGETS); spheres (TARGETS / lanes, 4): centre and radius of each vector of them; clusters to factors:
    see `Clusters.arrays`; scalars: SCALARS; w: working memory, aligned. Adds to out (1 or 3, 2, TARGETS) Re and Im of
    each value.

    near, far: what a triangle, and the expansion of a cluster, send to targets, six real numbers; vector: whether three
    complex ones.
    """
    radial_phase, shifts, parameters_of = radial.phase, radial.shifts, parameter_reader(radial.parameters)

    @kernel
    def field(
        targets, spheres, clusters, members, patches, starts, groups, sources, expansions, factors, scalars, w, out
    ):
        k_re, k_im, cut, parameters = scalars[0], scalars[1], scalars[CUT], parameters_of(scalars, PARAMETERS)
        x, e, f, g = targets.reshape(-1), clusters.reshape(-1), patches.reshape(-1), groups.reshape(-1)
        s, m = sources.reshape(-1), expansions.reshape(-1)
        t, size, count, degree = out.reshape(-1), targets.shape[1], clusters.shape[0], 0
        while (degree + 1) * (degree + 2) // 2 < factors.size:
            degree += 1
        each, columns, record = sources.shape[1], sources.shape[2], expansions.shape[1]
        for first in range(0, count, CLUSTERS_AT_ONCE):
            for v in range(0, size, lanes(t)):
                x0, x1, x2 = load(x, v), load(x, size + v), load(x, 2 * size + v)
                t0, t1, t2, t3, t4, t5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                at = v // lanes(t)
                for cluster in range(first, min(first + CLUSTERS_AT_ONCE, count)):
                    # by its expansion if all these targets are far enough, else by its patches
                    i = CLUSTER * cluster
                    c0, c1, c2 = spheres[at, 0] - e[i], spheres[at, 1] - e[i + 1], spheres[at, 2] - e[i + 2]
                    reach, low, high = e[i + 3] + spheres[at, 3], members[cluster], members[cluster + 1]
                    is_far = c0 * c0 + c1 * c1 + c2 * c2 > reach * reach
                    for patch in range(low, low + 1 if is_far else high):
                        # distances from the centre, whose phase is taken out
                        i = CLUSTER * cluster if is_far else PATCH * patch
                        c, floor = (e, e[i + 4]) if is_far else (f, f[i + 3])
                        d0, d1, d2 = x0 - number(c, i), x1 - number(c, i + 1), x2 - number(c, i + 2)
                        square = at_least(d0 * d0 + d1 * d1 + d2 * d2, floor)
                        reference = square * inverse_square_root(square)
                        if is_far:
                            given = w, m, record * cluster, factors, degree, k_re, k_im, parameters
                            s0, s1, s2, s3, s4, s5 = far(t, d0, d1, d2, square, reference, given)
                        else:
                            s0, s1, s2, s3, s4, s5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                            for group in range(starts[patch], starts[patch + 1]):
                                these = g, s, group, each, columns, k_re, k_im, cut, parameters, reference
                                a0, a1, a2, a3, a4, a5 = near(t, x0, x1, x2, these)
                                s0, s1, s2, s3, s4, s5 = s0 + a0, s1 + a1, s2 + a2, s3 + a3, s4 + a4, s5 + a5
                        # the phase is multiplied back
                        if shifts:
                            f_re, f_im = radial_phase(reference, parameters)
                            s0, s1, s2, s3, s4, s5 = products(s0, s1, s2, s3, s4, s5, f_re, f_im)
                        t0, t1, t2, t3, t4, t5 = t0 + s0, t1 + s1, t2 + s2, t3 + s3, t4 + s4, t5 + s5
                add_values(t, v, size, vector, t0, t1, t2, t3, t4, t5)

    return field


@functools.lru_cache(maxsize=64)
def layer_field_kernel(
    radial: Radial, double: bool, gradient: bool, oscillates: bool, complex_charges: bool
) -> Callable[..., None]:
    """The compiled sums of monopoles, dipoles, or their gradients; see `_sums_over_patches`.

    oscillates: whether the Green's function is complex; complex_charges: whether the charges are, which in sources are
    multiplied by `lacking`.
    """
    near = _layer_triangle(radial, double, gradient, oscillates, complex_charges)
    far = expansion_sums(radial, gradient, oscillates, complex_charges)
    return _sums_over_patches(radial, near, far, gradient)


@functools.lru_cache(maxsize=16)
def current_field_kernel(radial: Radial, magnetic: bool) -> Callable[..., None]:
    """The compiled sums of currents with charges, electric or magnetic; see `_sums_over_patches`."""
    return _sums_over_patches(
        radial, _current_triangle(radial, magnetic), expansion_sums(radial, True, True, True), True
    )


def lacking(radial: Radial, double: bool, gradient: bool) -> float:
    """The factor that charges of a layer take in advance, since nearby triangles are summed without it."""
    return 1.0 if double and gradient else radial.lacking(double or gradient, 64)


def _layer_triangle(
    radial: Radial, double: bool, gradient: bool, oscillates: bool, complex_charges: bool
) -> Callable[..., Any]:
    """The compiled function to what the sources of one triangle send. With D from its centroid to the target and o from
    there to a source, d = D - o and r^2 = D^2 + |o|^2 - 2 D.o; what sources share, like d.n = D.n, comes at the end."""
    radial_value = radial.value if double and gradient else radial.multiple or radial.value
    slopes = double or gradient

    @jitable
    def sent(t, x0, x1, x2, given):
        """Six real numbers at targets x0, x1, x2; t: an array of the type of the sums; given: see `_sums_over_patches`,
        as there: groups, sources, number of the triangle, sources of a triangle, their numbers, k^2, cut, parameters,
        reference."""
        g, s, group, each, columns, k_re, k_im, _, parameters, reference = given
        i = GROUP * group
        d0, d1, d2 = x0 - number(g, i), x1 - number(g, i + 1), x2 - number(g, i + 2)
        square = at_least(d0 * d0 + d1 * d1 + d2 * d2, number(g, i + 3))
        a0, b0, a1, b1, a2, b2 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
        a3, b3, a4, b4 = zero(t), zero(t), zero(t), zero(t)
        for j in range(LAYER_SOURCE * each * group, LAYER_SOURCE * each * (group + 1), LAYER_SOURCE):
            o0, o1, o2 = number(s, j), number(s, j + 1), number(s, j + 2)
            c, ci = number(s, j + 4), number(s, j + 5)
            # the value, or the slope where a gradient or a double layer is summed
            r2 = d0 * o0 + d1 * o1 + d2 * o2 + (square + number(s, j + 3))
            u, ui, h, hi = radial_value(r2, parameters, reference)
            if double and gradient:
                a4, b4 = charged(a4, b4, h, hi, c, ci, oscillates, complex_charges)
                h, hi = second_slope(r2, u, ui, h, hi, k_re, k_im, oscillates)
            if slopes:
                u, ui = h, hi
            if gradient:
                # the sum, and for gradients those times the coordinates of the source
                e, ei = charged(zero(t), zero(t), u, ui, c, ci, oscillates, complex_charges)
                a0, a1, a2, a3 = a0 + e, a1 + o0 * e, a2 + o1 * e, a3 + o2 * e
                b0, b1, b2, b3 = b0 + ei, b1 + o0 * ei, b2 + o1 * ei, b3 + o2 * ei
            else:
                a0, b0 = charged(a0, b0, u, ui, c, ci, oscillates, complex_charges)
        plane = d0 * number(g, i + 4) + d1 * number(g, i + 5) + d2 * number(g, i + 6)
        if not gradient:
            if double:
                a0, b0 = -(plane * a0), -(plane * b0)
            return a0, b0, a0, a0, a0, a0
        # the stored o are times -2
        a1, a2, a3 = d0 * a0 + 0.5 * a1, d1 * a0 + 0.5 * a2, d2 * a0 + 0.5 * a3
        b1, b2, b3 = d0 * b0 + 0.5 * b1, d1 * b0 + 0.5 * b2, d2 * b0 + 0.5 * b3
        if double:
            n0, n1, n2 = number(g, i + 4), number(g, i + 5), number(g, i + 6)
            a1, a2, a3 = plane * a1 - n0 * a4, plane * a2 - n1 * a4, plane * a3 - n2 * a4
            b1, b2, b3 = plane * b1 - n0 * b4, plane * b2 - n1 * b4, plane * b3 - n2 * b4
        return a1, b1, a2, b2, a3, b3

    return sent


def _current_triangle(radial: Radial, magnetic: bool) -> Callable[..., Any]:
    """The compiled function to what the sources of one triangle, currents and charges, send."""
    radial_value, emit = radial.value, CURRENT_FIELDS[magnetic].emit

    @jitable
    def sent(t, x0, x1, x2, given):
        """Six real numbers at targets x0, x1, x2; distances below the root of the cut count as that. t, given: as in
        `_layer_triangle`."""
        _, s, group, each, columns, _, _, cut, parameters, reference = given
        s0, s1, s2, s3, s4, s5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
        for j in range(columns * each * group, columns * each * (group + 1), columns):
            d0, d1, d2 = x0 - number(s, j), x1 - number(s, j + 1), x2 - number(s, j + 2)
            r2 = -smaller(-(d0 * d0) - d1 * d1 - d2 * d2, -cut)
            g, gi, h, hi = radial_value(r2, parameters, reference)
            a0, b0, a1, b1, a2, b2 = emit(g, gi, h, hi, r2, d0, d1, d2, current_charge(s, j), 0.0, 0.0)
            s0, s1, s2, s3, s4, s5 = s0 + a0, s1 + b0, s2 + a1, s3 + b1, s4 + a2, s5 + b2
        return s0, s1, s2, s3, s4, s5

    return sent
