"""The inner sum of regular pairs for forms of several components: all of them over all pairs of points.

The components are computed as for touching and near pairs. One triangle is fixed, others are the lanes of vectors; for
each point of the others the components at all points of the fixed triangle are kept, and its functions are applied to
them.
"""

from collections.abc import Callable
from typing import Any

from calderon.backends.vectors import jitable, lanes, number, store, zero
from calderon.galerkin.forms.component_values import component_values
from calderon.galerkin.regular.element_tables import groups_of
from calderon.galerkin.regular.pair_sums import value_place
from calderon.galerkin.regular.point_sums import combined, three
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root
from calderon.integrands import Components


def component_sums(
    radial: Radial, components: Components, functions: int, columns: bool, oscillates: bool, points: int
) -> Callable[..., Any]:
    """The compiled sums of components with so many functions of the fixed triangle.

    columns: the trial triangle is the fixed one. sums(x, o, m, c, shapes, record, weights, y, here, pitch, e, n,
    around, there, steps, pairs, ones, measure, parameters, tiny, missing, kept, s, w): arguments and results are those
    of the sums of `pair_sums`. It stores at s[w:], for each point y, the real sums of each component with each
    function, then the imaginary ones.
    """
    radial_phase, shifts, count = radial.phase, radial.shifts, len(components)
    height = count * functions
    values = value_place(points, groups_of(height), count)
    put_values = component_values(radial, components, oscillates, points)

    @jitable
    def sums(
        x, o, m, c, shapes, record, weights, y, here, pitch, e, n, around, there, steps, pairs, ones, measure,
        parameters, tiny, missing, kept, s, w,
    ):  # fmt: skip
        """Sum all components over the points of a fixed triangle with a vector of others."""
        step, nothing = lanes(s), zero(s)
        # the phase is extracted at the distance of the centroids
        reference = zero(s)
        if shifts:
            d0, d1, d2 = c[0] - e[0], c[1] - e[1], c[2] - e[2]
            square = d0 * d0 + tiny + d1 * d1 + d2 * d2
            reference = square * inverse_square_root(square)
        for q in range(points):
            y0, y1, y2 = three(y, here + 3 * q * pitch, pitch)
            # components at all points of the fixed triangle, d from the trial to the test point
            for p in range(points):
                d0, d1, d2 = number(x, o + 3 * p) - y0, number(x, o + 3 * p + 1) - y1, number(x, o + 3 * p + 2) - y2
                square, place = d0 * d0 + tiny + d1 * d1 + d2 * d2, w + (values + p) * step
                if columns:
                    put_values(s, place, -d0, -d1, -d2, square, n, m, parameters, reference)
                else:
                    put_values(s, place, d0, d1, d2, square, m, n, parameters, reference)
            # their sums with its functions
            at = w + (points + 2 * height * q) * step
            for k in range(count):
                own = w + (values + 2 * k * points) * step
                for f in range(functions):
                    to = at + (k * functions + f) * step
                    store(s, to, combined(s, own, step, points, weights, f * points))
                    if oscillates:
                        part = combined(s, own + points * step, step, points, weights, f * points)
                        store(s, to + height * step, part)
        f_re, f_im = radial_phase(reference, parameters)
        return f_re, f_im, (nothing, nothing), (nothing, nothing)

    return sums
