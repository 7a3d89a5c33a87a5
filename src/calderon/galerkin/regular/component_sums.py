"""The inner sum of regular pairs for forms of several components: all of them over all pairs of points.

The kernels are those of touching and near pairs (special/touching_pairs.py). One triangle is fixed, others are the
lanes of vectors; for each point of the others the components at all points of the fixed triangle are kept, and its
functions are applied to them.
"""

from collections.abc import Callable
from typing import Any

from calderon.backends.vectors import jitable, lanes, number, store, zero
from calderon.galerkin.forms.form import Form
from calderon.galerkin.regular.element_tables import groups_of
from calderon.galerkin.regular.pair_sums import value_place
from calderon.galerkin.regular.point_sums import combined, three
from calderon.galerkin.special.touching_pairs import putting_values
from calderon.greens import Radial


def component_sums(radial: Radial, form: Form, functions: int, columns: bool, points: int) -> Callable[..., Any]:
    """The compiled sums of the components of a form, of a real Green's function, with so many functions of the fixed
    triangle. columns: the trial triangle is the fixed one. Arguments and results as of `pair_sums`: at s[w:], for each
    y, the sums of each component with each function."""
    components = form.components
    height = components * functions
    values = value_place(points, groups_of(height), components)
    put_values = putting_values(radial, form.special, False, points, False)

    @jitable
    def sums(  # type: ignore[no-untyped-def]
        x, o, m, c, shapes, record, weights, y, here, pitch, e, n, around, there, steps, pairs, ones, measure,
        parameters, tiny, missing, kept, s, w,
    ):  # fmt: skip
        step, nothing = lanes(s), zero(s)
        for q in range(points):
            y0, y1, y2 = three(y, here + 3 * q * pitch, pitch)
            for p in range(points):
                d0, d1, d2 = number(x, o + 3 * p) - y0, number(x, o + 3 * p + 1) - y1, number(x, o + 3 * p + 2) - y2
                square, place = d0 * d0 + tiny + d1 * d1 + d2 * d2, w + (values + p) * step
                if columns:
                    put_values(s, place, -d0, -d1, -d2, square, n, m, parameters, nothing)
                else:
                    put_values(s, place, d0, d1, d2, square, m, n, parameters, nothing)
            at = w + (points + 2 * height * q) * step
            for k in range(components):
                for f in range(functions):
                    total = combined(s, w + (values + 2 * k * points) * step, step, points, weights, f * points)
                    store(s, at + (k * functions + f) * step, total)
        return nothing + 1.0, nothing, (nothing, nothing), (nothing, nothing)

    return sums
