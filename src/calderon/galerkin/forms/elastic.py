"""Forms of elastostatics between vectors with three components at each node: displacements, tractions.

With d = x - y, h = G'/r and g = 4 pi G: from the moments of S = h d d^T, or with a normal of S = h g^2 (d.n) d d^T and
e = h d,

    displacement of forces      M = S + c2 tr S I,
    traction, dislocations      M = 3 S + c2 (tr S I + c3 (e n^T - n e^T)),

n of the trial or of the test triangle. The six components of S come first (xx, yy, zz, yz, zx, xy), then those of e.
"""

import functools
from collections.abc import Callable

from calderon.backends.vectors import jitable, lanes, load, store
from calderon.galerkin.forms.form import Form

NORMAL = 3
"""Numbers of a triangle of either side of a form with a normal."""
MATRIX = 9
"""Vectors of M for a pair of local functions of the scalar spaces."""


@functools.lru_cache(maxsize=64)
def elastic_form(normal: str, tests: int, trials: int) -> Form:
    """Of so many local functions of the scalar spaces; normal: "none", "trial" or "test"."""
    count = tests * trials
    special = "outer" if normal == "none" else f"{normal}_traction"
    regular, others = fields_of(normal, tests, trials, 1), fields_of(normal, tests, trials, 2)

    @jitable
    def entries(s, w, a, x, i, x_step, y, j, y_step, e):  # type: ignore[no-untyped-def]
        """As `Form` says: component a % 3 of function a // 3."""
        step = lanes(s)
        for b in range(trials):
            at = w + (((a // 3) * trials + b) * MATRIX + 3 * (a % 3)) * step
            for c in range(3):
                store(s, e + 2 * (3 * b + c) * step, load(s, at + c * step))

    components = 6 if normal == "none" else 9
    head = 0 if normal == "none" else NORMAL
    sizes = components * tests, trials, 3 * trials, head, 0, MATRIX * count
    return Form(f"elastic {normal}", "components", special, *sizes, regular, others, entries)


def fields_of(normal: str, tests: int, trials: int, parts: int) -> Callable[..., None]:
    """The compiled matrices M of all pairs of local functions, from moments whose components are so many parts (real,
    imaginary) apart."""
    apart = parts * tests * trials
    has_normal, of_trial = normal != "none", normal == "trial"

    @jitable
    def put_symmetric(s, m, pitch, at, three, trace):  # type: ignore[no-untyped-def]
        """Store `three` S plus a multiple of the trace."""
        step = lanes(s)
        total = trace * (load(s, m) + load(s, m + pitch) + load(s, m + 2 * pitch))
        for k in range(3):
            store(s, at + 4 * k * step, three * load(s, m + k * pitch) + total)
            p, q = (k + 1) % 3, (k + 2) % 3
            other = three * load(s, m + (3 + k) * pitch)
            store(s, at + (3 * p + q) * step, other)
            store(s, at + (3 * q + p) * step, other)

    @jitable
    def add_turned(s, m, pitch, at, n0, n1, n2, factor):  # type: ignore[no-untyped-def]
        """Add factor (e n^T - n e^T)."""
        step = lanes(s)
        e0, e1, e2 = load(s, m + 6 * pitch), load(s, m + 7 * pitch), load(s, m + 8 * pitch)
        for k in range(3):
            p, q = (k + 1) % 3, (k + 2) % 3
            along = e1 * n2 - e2 * n1 if k == 0 else e2 * n0 - e0 * n2 if k == 1 else e0 * n1 - e1 * n0
            here, there = at + (3 * p + q) * step, at + (3 * q + p) * step
            store(s, here, load(s, here) + factor * along)
            store(s, there, load(s, there) - factor * along)

    @jitable
    def fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):  # type: ignore[no-untyped-def]
        """As `Form` says."""
        step, pitch = lanes(s), apart * lanes(s)
        for k in range(tests):
            for n in range(trials):
                here, at = m + k * a + n * b, w + (k * trials + n) * MATRIX * step
                if has_normal:
                    put_symmetric(s, here, pitch, at, 3.0, c2)
                    if of_trial:
                        n0, n1, n2 = load(y, j), load(y, j + y_step), load(y, j + 2 * y_step)
                    else:
                        n0, n1, n2 = load(x, i), load(x, i + x_step), load(x, i + 2 * x_step)
                    add_turned(s, here, pitch, at, n0, n1, n2, c2 * c3)
                else:
                    put_symmetric(s, here, pitch, at, 1.0, c2)

    return fields
