"""Forms of elastostatics between vectors with three components at each node: displacements, tractions.

With d = x - y and the radial functions f_0, f_1, f_2 of greens/elastostatic.py, from the moments of S = f_1 d d^T, or
with a normal of S = f_2 s d d^T and e = f_1 d, where s = d . n_x or -d . n_y,

    displacement of forces      M = S + c2 tr S I,
    traction, dislocations      M = -S - (c2 / 3) tr S I + c2 (e n^T - n e^T),

n of the test or of the trial triangle. The six components of S come first (xx, yy, zz, yz, zx, xy), then those of e.
"""

import functools
from collections.abc import Callable
from typing import Any

from calderon.backends.vectors import jitable, lanes, load, store
from calderon.galerkin.forms.form import Form
from calderon.integrands.component import Side, monomials

NORMAL = 3
"""Numbers of a triangle of either side of a form with a normal."""
MATRIX = 9
"""Vectors of M for a pair of local functions of the scalar spaces, row by row."""
SYMMETRIC = 6
"""Components of S, before those of e."""


@functools.lru_cache(maxsize=64)
def elastic_form(normal: Side, tests: int, trials: int, parts: int = 1) -> Form:
    """The form of so many local functions of the scalar spaces; normal: of which triangle, "none" for displacements of
    forces. parts: 2 where entries are complex, by their factor."""
    has_normal, of_trial = normal != "none", normal == "trial"
    components = monomials(2, 2, normal) + monomials(1, 1) if has_normal else monomials(1, 2)
    own, of_trace = (-1.0, -1.0 / 3.0) if has_normal else (1.0, 1.0)

    @jitable
    def fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
        """Store M of all pairs of local functions at s[w:]; arguments as in `Form`, c2 as in the formula."""
        step, pitch, apart = lanes(s), tests * trials * lanes(s), parts * lanes(s)
        for k in range(tests):
            for n in range(trials):
                for part in range(parts):
                    here = m + k * a + n * b + part * imaginary
                    at = w + (k * trials + n) * MATRIX * apart + part * step
                    put_symmetric(s, here, pitch, at, apart, own, of_trace * c2)
                    if has_normal:
                        if of_trial:
                            n0, n1, n2 = load(y, j), load(y, j + y_step), load(y, j + 2 * y_step)
                        else:
                            n0, n1, n2 = load(x, i), load(x, i + x_step), load(x, i + 2 * x_step)
                        add_turned(s, here + SYMMETRIC * pitch, pitch, at, apart, n0, n1, n2, c2)

    sizes = tests, trials, 3 * trials, NORMAL if has_normal else 0, 0, parts * MATRIX * tests * trials
    made = fields, fields, matrix_entries(trials, parts)
    return Form(f"elastic {normal}", components, components, *sizes, *made)


def matrix_entries(trials: int, parts: int) -> Callable[..., Any]:
    """The `entries` of a form with fields M of 3 by 3 numbers for each pair of local functions of scalar spaces, so
    many of them on the trial side: real ones (parts = 1), or real and imaginary ones side by side (parts = 2)."""

    @jitable
    def entries(s, w, a, x, i, x_step, y, j, y_step, e):
        """Store row a % 3 of M of test function a // 3 and all trial functions at s[e:]; arguments as in `Form`."""
        step = lanes(s)
        for b in range(trials):
            at = w + parts * (((a // 3) * trials + b) * MATRIX + 3 * (a % 3)) * step
            for c in range(3):
                for part in range(parts):
                    store(s, e + (2 * (3 * b + c) + part) * step, load(s, at + (parts * c + part) * step))

    return entries


@jitable
def put_symmetric(s, m, pitch, at, apart, own, of_trace):
    """Store own S + of_trace tr S I, nine vectors row by row, at s[at:], `apart` numbers apart, from the six components
    of S at s[m:], `pitch` numbers apart."""
    total = of_trace * (load(s, m) + load(s, m + pitch) + load(s, m + 2 * pitch))
    for k in range(3):
        store(s, at + 4 * k * apart, own * load(s, m + k * pitch) + total)
        p, q = (k + 1) % 3, (k + 2) % 3
        other = own * load(s, m + (3 + k) * pitch)
        store(s, at + (3 * p + q) * apart, other)
        store(s, at + (3 * q + p) * apart, other)


@jitable
def add_turned(s, m, pitch, at, apart, n0, n1, n2, factor):
    """Add factor (e n^T - n e^T) to nine vectors at s[at:], `apart` numbers apart, from the components of e at s[m:],
    `pitch` numbers apart, and the normal n = (n0, n1, n2)."""
    e0, e1, e2 = load(s, m), load(s, m + pitch), load(s, m + 2 * pitch)
    for k in range(3):
        p, q = (k + 1) % 3, (k + 2) % 3
        along = e1 * n2 - e2 * n1 if k == 0 else e2 * n0 - e0 * n2 if k == 1 else e0 * n1 - e1 * n0
        here, there = at + (3 * p + q) * apart, at + (3 * q + p) * apart
        store(s, here, load(s, here) + factor * along)
        store(s, there, load(s, there) - factor * along)
