"""What a form is: data that drivers read, and functions without loops over points or pairs.

A driver sums a kernel over the points of two triangles with functions of either side (the moments) and hands them to
the form, which makes entries of them. All that a form needs to know of a triangle is one row of numbers for each side.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from calderon.backends.records import Record

SCALARS = Record("SCALARS", tiny=1, alpha=2, mass=2, parameters=None)
"""What loops over points read: a number added to squared distances, Re and Im of the coefficients
(`Block._coefficients`), the parameters of the Green's function."""
ALPHA, MASS, PARAMETERS = SCALARS["alpha"], SCALARS["mass"], SCALARS["parameters"]


COMPONENTS = {"gradient": 3, "outer": 6, "test_traction": 9, "trial_traction": 9}
"""Kernels of several components: (G'/r) d, d = x - y; (G'/r) d d^T with xx, yy, zz, yz, zx, xy; and tractions, of the
normal of the test or of the trial triangle: (G'/r) (4 pi G)^2 (d.n) d d^T in that order, then (G'/r) d."""


class Form(NamedTuple):
    """A local matrix and what it is made of.

    kernel: of regular pairs, "value" G, "slope" G'/r, "fixed" or "varying" (pair_sums.py, of a fixed test triangle), or
    "components", those of `special`. special: of touching and near pairs, the normal of an integrand, or one of
    `COMPONENTS`. tests, trials: functions of the moments of regular pairs: local functions of scalar spaces, on the
    test side times components; barycentric coordinates l_m (3), or the products l_m l_m, then l_1 l_2, l_2 l_0,
    l_0 l_1 (6). width: local trial functions. head, function: numbers of a test triangle and of each
    of its functions. room: vectors of fields.

    fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3): from moments
    s[m + a M + b N], the imaginary ones so much further, the test data x[i + k x_step] and trial data y[j + k y_step],
    c_i - c_j and the coefficients (`Block._coefficients`), fields at s[w:]. special_fields: the same from the moments
    of touching and near pairs. entries(s, w, a, x, i, x_step, y, j, y_step, e): real and imaginary entries of test
    function a, with data x[i + k x_step], and all trial functions, one after the other at s[e:].

    scaled: drivers multiply moments by alpha, the first of the coefficients. direct: entries are products of local
    functions (mass) and of their curls, which tiles and rows add without a local matrix.
    """

    name: str
    kernel: str
    special: str
    tests: int
    trials: int
    width: int
    head: int
    function: int
    room: int
    fields: Callable[..., None]
    special_fields: Callable[..., None]
    entries: Callable[..., None]
    scaled: bool = True
    direct: bool = False
    curls: bool = False
    mass: bool = True

    @property
    def groups(self) -> int:
        """Of three test functions; 0: one constant function."""
        return self.tests // 3

    @property
    def components(self) -> int:
        """Of the moments of touching and near pairs."""
        return COMPONENTS.get(self.special, 1)

    @property
    def summed(self) -> int:
        """Components of the sums of regular pairs."""
        return self.components if self.kernel == "components" else 1

    @property
    def power(self) -> int:
        """The kernel of touching and near pairs is singular like 1/|x - y|^power."""
        return 1 if self.special in ("none", "outer") else 2

    def tiny(self, real: DTypeLike) -> float:
        """What is added to squared distances, so that coincident points give finite values (which then meet the factor
        zero): third powers of 1/r, and fifth ones in components."""
        single = 1e-15 if self.summed > 1 else 1e-20
        return single if np.dtype(real) == np.float32 else 1e-37

    def vectors(self, functions: int) -> int:
        """Working memory for moments, fields, a test triangle with so many functions, and entries of one of them."""
        moments = 2 * self.components * self.tests * self.trials
        return moments + self.room + self.head + functions * self.function + 2 * self.width
