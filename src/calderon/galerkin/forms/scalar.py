"""Forms of scalar functions: products of local functions, and those integrated by parts.

    scalar   entry_ab = alpha M_ab,
    curl     entry_ab = alpha curl_a . curl_b sum_mn M_mn + mass n_x . n_y M_ab

with the moments M_ab of the kernel and the local functions a, b (theory: hypersingular operator).
"""

import functools

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vectors import complex_product, jitable, lanes, load, store, zero
from calderon.galerkin.forms.form import Form
from calderon.integrands import Component
from calderon.mesh.geometry import FlatTriangles

CURL_HEAD = 3
"""Numbers of a triangle of a curl form: its normal; then three of each of its linear functions, the curl."""


def curl_data(surface: FlatTriangles) -> NDArray[np.float64]:
    """(n, 12) numbers of the n triangles of a surface for either side of a curl form: normals, then curls."""
    return np.concatenate([surface.normals, surface.curls.reshape(len(surface.normals), 9)], axis=1)


@functools.lru_cache(maxsize=32)
def scalar_form(component: Component, tests: int, trials: int) -> Form:
    """The form of one component and products of so many test and trial functions: entries are moments."""

    @jitable
    def fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
        """Copy the moments to s[w:], real and imaginary ones side by side; arguments as in `Form`."""
        step = lanes(s)
        for k in range(tests):
            for n in range(trials):
                here, place = m + k * a + n * b, w + 2 * (k * trials + n) * step
                store(s, place, load(s, here))
                store(s, place + step, load(s, here + imaginary))

    @jitable
    def entries(s, w, a, x, i, x_step, y, j, y_step, e):
        """Copy the moments of test function a to s[e:]; arguments as in `Form`."""
        step = lanes(s)
        for k in range(2 * trials):
            store(s, e + k * step, load(s, w + (2 * a * trials + k) * step))

    sizes = tests, trials, trials, 0, 0, 2 * tests * trials
    return Form("scalar", (component,), (component,), *sizes, fields, fields, entries, direct=True)


@functools.lru_cache(maxsize=8)
def curl_form(trials: int, mass: bool = True) -> Form:
    """The form that is integrated by parts, of three test functions and so many trial functions; mass: whether values
    of functions enter."""
    tests = 3
    total_place = 2 * tests * trials  # of the sum of all moments among the fields

    @jitable
    def fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
        """Store moments times mass and n_x . n_y, then the sum of all moments times alpha, at s[w:]; arguments as in
        `Form`. c0, c1: alpha; c2, c3: mass; real and imaginary parts."""
        step, total, total_i = lanes(s), zero(s), zero(s)
        cosine = zero(s)
        for c in range(3):
            cosine = cosine + load(x, i + c * x_step) * load(y, j + c * y_step)
        for k in range(tests):
            for n in range(trials):
                here, place = m + k * a + n * b, w + 2 * (k * trials + n) * step
                re, im = load(s, here), load(s, here + imaginary)
                total, total_i = total + re, total_i + im
                re, im = complex_product(re, im, c2 * cosine, c3 * cosine)
                store(s, place, re)
                store(s, place + step, im)
        total, total_i = complex_product(total, total_i, c0, c1)
        store(s, w + total_place * step, total)
        store(s, w + (total_place + 1) * step, total_i)

    @jitable
    def entries(s, w, a, x, i, x_step, y, j, y_step, e):
        """Store curl_a . curl_b times the sum of moments, plus the moment, for all trial functions b at s[e:];
        arguments as in `Form`."""
        step, sums = lanes(s), w + total_place * lanes(s)
        a0, a1, a2 = load(x, i), load(x, i + x_step), load(x, i + 2 * x_step)
        for n in range(trials):
            at, place = j + (CURL_HEAD + 3 * n) * y_step, w + 2 * (a * trials + n) * step
            product = a0 * load(y, at) + a1 * load(y, at + y_step) + a2 * load(y, at + 2 * y_step)
            store(s, e + 2 * n * step, load(s, place) + product * load(s, sums))
            store(s, e + (2 * n + 1) * step, load(s, place + step) + product * load(s, sums + step))

    value, made = (Component(0),), (fields, fields, entries)
    sizes = tests, trials, trials, CURL_HEAD, 3, 2 * tests * trials + 2
    return Form("curl", value, value, *sizes, *made, scaled=False, direct=True, curls=True, mass=mass, derivatives=2)
