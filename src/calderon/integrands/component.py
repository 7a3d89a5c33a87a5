"""Components: the numbers made of a Green's function that stand under a double integral, as values.

With d = x - y, x on the test and y on the trial side, a component is

    f_n(r) d_x^a d_y^b d_z^c s,   s = 1, d . n_x or -d . n_y,

where f_0, f_1, ... are the radial functions of a Green's function (greens/green.py): G and G'/r of a scalar one, so
that dG/dx_i = f_1 d_i, dG/dn_x = f_1 (d . n_x) and dG/dn_y = f_1 (-d . n_y). Loops over pairs of triangles are
generated from components; how singular these are, and how they scale with the mesh, follows from them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from calderon.validation import list_of, whole_number

Side = Literal["none", "test", "trial"]
LOOPS = 3
"""The highest degree of a monomial for which loops are generated."""
EXCHANGED: dict[Side, Side] = {"none": "none", "test": "trial", "trial": "test"}


@dataclass(frozen=True, order=True)
class Component:
    """One component.

    radial: the number n of the radial function. monomial: its exponents (a, b, c) of d. normal: of which triangle the
    normal in s is, "none" for s = 1. ValueError for monomials of a degree above `LOOPS` (3) and for an unknown normal.
    """

    radial: int
    monomial: tuple[int, int, int] = (0, 0, 0)
    normal: Side = "none"

    def __post_init__(self) -> None:
        """Refuse meaningless radial functions, monomials and normals."""
        whole_number(self.radial, "the number of a radial function", least=0)
        given = list_of(self.monomial, int | np.integer, f"a monomial has three exponents >= 0 of sum <= {LOOPS}")
        object.__setattr__(self, "monomial", tuple(map(int, given)))
        if len(self.monomial) != 3 or self.degree > LOOPS or min(self.monomial) < 0:
            raise ValueError(f"a monomial has three exponents >= 0 of sum <= {LOOPS}, got {self.monomial}")
        if not isinstance(self.normal, str) or self.normal not in EXCHANGED:
            raise ValueError(f"a component has the normal 'none', 'test' or 'trial', got {self.normal!r}")

    @property
    def degree(self) -> int:
        """The degree of the monomial."""
        return sum(self.monomial)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """The factors of the monomial: 0, 1 and 2 for d_x, d_y and d_z, as often as they occur."""
        return tuple(axis for axis, exponent in enumerate(self.monomial) for _ in range(exponent))

    @property
    def is_plain(self) -> bool:
        """Whether the component is a radial function, or its normal derivative: without a monomial."""
        return self.degree == 0

    @property
    def vanishes_in_a_plane(self) -> bool:
        """Whether the component is zero where both points lie in the plane to which its normal belongs."""
        return self.normal != "none"

    @property
    def is_odd(self) -> bool:
        """Whether the component changes its sign where x and y change places."""
        return self.normal == "none" and self.degree % 2 == 1

    def power(self, orders: tuple[int, ...]) -> int:
        """p of a component that is singular like 1/r^p, its dimension, for radial functions like 1/r^orders[n]."""
        return orders[self.radial] - self.degree - (self.normal != "none")

    def exchanged(self) -> "Component":
        """The component of exchanged sides: equal for x, y and y, x but for the sign (-1)^degree."""
        return replace(self, normal=EXCHANGED[self.normal])


Components = tuple[Component, ...]


def monomials(radial: int, degree: int, normal: Side = "none") -> Components:
    """The components of a radial function with all monomials of degree 0, 1 (d) or 2 (d d^T: xx, yy, zz, yz, zx,
    xy)."""
    units = [tuple(int(axis == other) for other in range(3)) for axis in range(3)]
    pairs: dict[int, list[tuple[int, ...]]] = {
        0: [()],
        1: [(0,), (1,), (2,)],
        2: [(0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1)],
    }
    sums = [[sum(units[axis][place] for axis in chosen) for place in range(3)] for chosen in pairs[degree]]
    return tuple(Component(radial, (a, b, c), normal) for a, b, c in sums)


def power_of(components: Iterable[Component], orders: tuple[int, ...]) -> int:
    """p of components that are all singular like 1/r^p and have that dimension; ValueError where they differ."""
    powers = {each.power(orders) for each in components}
    if len(powers) != 1:
        raise ValueError(f"the components of a form have one power of the distance, got {sorted(powers)}")
    return powers.pop()


def functions_read(components: Iterable[Component]) -> tuple[int, ...]:
    """The numbers of the radial functions that components read, increasing."""
    return tuple(sorted({each.radial for each in components}))
