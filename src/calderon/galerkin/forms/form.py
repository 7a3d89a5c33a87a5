"""A form: data that drivers read, and functions without loops over points or pairs.

A driver sums components of a Green's function over the points of two triangles with functions of either side (the
moments) and hands them to the form, which makes entries of them. All that a form needs to know of a triangle is one row
of numbers for each side. Drivers know no physics: which components they sum, with which functions, how singular these
are and how entries scale with the mesh is read here.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from calderon.backends.records import Record
from calderon.greens import Radial
from calderon.integrands import Components
from calderon.integrands.component import power_of

SCALARS = Record("SCALARS", tiny=1, alpha=2, mass=2, parameters=None)
"""Numbers that loops over points read: one that is added to squared distances, Re and Im of the coefficients
(`Block._coefficients`), the parameters of the Green's function."""
ALPHA, MASS, PARAMETERS = SCALARS["alpha"], SCALARS["mass"], SCALARS["parameters"]
LENGTH = 4
"""The dimension of two integrals over triangles: a power of the length."""


class Form(NamedTuple):
    """A local matrix and what it is made of.

    regular, special: the components whose moments are summed for regular pairs, and for touching and near pairs. One
    regular component without a monomial has loops of its own (regular/pair_sums.py). tests, trials: functions of the
    moments of regular pairs: local functions of scalar spaces, barycentric coordinates l_m (3), or the products l_m
    l_m, then l_1 l_2, l_2 l_0, l_0 l_1 (6). width: local trial functions. head, function: numbers of a test triangle
    and of each of its functions. room: vectors of fields.

    fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3): from moments
    s[m + a M + b N] of the first component, those of the next one `imaginary` / (number of components) further, the
    imaginary ones of all of them `imaginary` further, from test data x[i + k x_step], trial data y[j + k y_step], the
    difference (d0, d1, d2) of the centroids and the coefficients c0..c3 (`Block._coefficients`), it stores fields at
    s[w:]. special_fields: the same from the moments of the special components.
    entries(s, w, a, x, i, x_step, y, j, y_step, e): stores real and imaginary entries of test function a, with data
    x[i + k x_step], and all trial functions, one after the other at s[e:].

    scaled: drivers multiply moments by alpha, the first of the coefficients. direct: entries are products of local
    functions (mass) and of their curls, which tiles and rows add without a local matrix. derivatives: of local
    functions in an entry, each of which is one over a length.
    """

    name: str
    regular: Components
    special: Components
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
    derivatives: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether regular pairs have one component without a monomial."""
        return len(self.regular) == 1 and self.regular[0].is_plain

    @property
    def height(self) -> int:
        """Sums at a trial point of regular pairs: test functions of all components."""
        return self.tests * len(self.regular)

    @property
    def reads_normals(self) -> bool:
        """Whether regular components have the normal of a triangle."""
        return any(each.normal != "none" for each in self.regular)

    def power(self, radial: Radial) -> int:
        """p where the components are singular like 1/|x - y|^p."""
        return power_of(self.special, radial.orders)

    def scale_power(self, radial: Radial) -> int:
        """The power of the scale of a mesh that the integrals in an entry are to be multiplied by."""
        return self.power(radial) + self.derivatives - LENGTH

    def tiny(self, radial: Radial, real: DTypeLike) -> float:
        """A number that is added to squared distances, so that coincident points give finite values (which then meet
        the factor zero): third powers of 1/r, or fifth ones."""
        order = max(radial.orders[each.radial] for each in self.regular)
        single = 1e-14 if order > 3 else 1e-20
        return single if np.dtype(real) == np.float32 else 1e-37

    def vectors(self, functions: int) -> int:
        """Working memory for moments, fields, a test triangle with so many functions, and entries of one of them."""
        moments = 2 * max(len(self.regular), len(self.special)) * self.tests * self.trials
        return moments + self.room + self.head + functions * self.function + 2 * self.width
