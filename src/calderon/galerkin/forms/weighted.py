"""Forms of a user: sums of components with numbers of both triangles, between scalar functions.

    entry_ab = alpha sum_c u_c v_c M^c_ab,   M^c_ab = int int f_c(x - y) a(x) b(y),

with the moments M^c of component c and the numbers u_c of the test and v_c of the trial triangle.
"""

import functools

from calderon.backends.vectors import jitable, lanes, load, store, zero
from calderon.galerkin.forms.form import Form
from calderon.galerkin.forms.scalar import scalar_form
from calderon.integrands import Components


@functools.lru_cache(maxsize=32)
def weighted_form(components: Components, tests: int, trials: int) -> Form:
    """The form of these components and products of so many test and trial functions."""
    number = len(components)

    @jitable
    def fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
        """Store the weighted sums of the moments at s[w:], real and imaginary ones side by side; arguments as in
        `Form`."""
        step = lanes(s)
        for k in range(tests):
            for n in range(trials):
                here, place = m + k * a + n * b, w + 2 * (k * trials + n) * step
                re, im = zero(s), zero(s)
                for c in range(number):
                    weight = load(x, i + c * x_step) * load(y, j + c * y_step)
                    at = here + c * (imaginary // number)
                    re = re + weight * load(s, at)
                    im = im + weight * load(s, at + imaginary)
                store(s, place, re)
                store(s, place + step, im)

    sizes = tests, trials, trials, number, 0, 2 * tests * trials
    entries = scalar_form(components[0], tests, trials).entries
    return Form("weighted", components, components, *sizes, fields, fields, entries)
