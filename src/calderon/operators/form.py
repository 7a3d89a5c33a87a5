"""Forms of a user as operators: components of a Green's function, and moments with numbers of the triangles."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calderon.galerkin.block import Block
from calderon.galerkin.weighted_block import Weight, WeightedBlock, WeightedIntegrand
from calderon.greens import RadialGreen
from calderon.greens.green import checked_quadrature
from calderon.integrands import Component
from calderon.integrands.component import power_of
from calderon.operators.boundary import IntegralOperator, checked_spaces
from calderon.quadrature.options import Quadrature
from calderon.spaces import Space
from calderon.validation import describe, list_of, real_number, text

NUMBER = int | float | np.number
"""A weight that is no function."""
STRONGEST = 2
"""The highest power of 1 / r of a kernel: a principal value."""


@dataclass(frozen=True, eq=False, repr=False)
class WeightedOperator(IntegralOperator):
    """The operator of a user's form."""

    block: ClassVar[type[Block]] = WeightedBlock
    is_own: ClassVar[bool] = True


@dataclass(frozen=True)
class Form:
    """A bilinear form of a user, for scalar functions and any Green's function of the distance:

        <phi, A psi> = int int sum_c u_c(x) k_c(x - y) v_c(y) phi(x) psi(y).

    components: of the kernel, k_c = f_n(r) d_x^a d_y^b d_z^c s, each a `cal.Component(n, (a, b, c), side)`: d = x - y,
    f_0 = G and f_1 = G'/r, so that f_1 d is the gradient of G in x; s = 1, d . n_x for the side "test" or -d . n_y for
    "trial". All of one form are of one power of 1 / r: 0 or 1, or 2 for principal values, whose kernel is odd
    in d or has a normal. test, trial: u_c and v_c, one weight for each component, 1 if none are given: a real number,
    or a function of the centroids (n, 3) and normals (n, 3) of n triangles that gives (n,) real numbers. name: what
    outputs call it.

    form(green, trial, test=None) is the operator: dense, matrix-free and as an H-matrix on the processor. Devices and
    multipoles refuse it. Raises ValueError for components of several powers or too singular ones.
    """

    components: Sequence[Component]
    test: Sequence[Weight] | None = None
    trial: Sequence[Weight] | None = None
    name: str = "form"

    def __post_init__(self) -> None:
        """Check the components and the weights."""
        components = list_of(self.components, Component, "the components of a form")
        if not components:
            raise ValueError("a form has at least one component: try Form([Component(0)]), a single layer")
        object.__setattr__(self, "components", components)
        for side in ("test", "trial"):
            given = getattr(self, side)
            weights = (
                (1.0,) * len(components)
                if given is None
                else list_of(given, NUMBER | Callable, f"the weights of {side}= are numbers and functions")
            )
            if len(weights) != len(components):
                raise ValueError(
                    f"{side}= has a weight for each of the {len(components)} components, got {len(weights)}"
                )
            checked = tuple(each if callable(each) else real_number(each, f"a weight of {side}=") for each in weights)
            object.__setattr__(self, side, checked)
        text(self.name, "the name of a form")

    def __call__(
        self, green: RadialGreen, trial: Space, test: Space | None = None, *, quadrature: Quadrature | None = None
    ) -> WeightedOperator:
        """The operator of the form for a Green's function between two spaces of scalar functions."""
        test = trial if test is None else test
        checked_spaces(self.name, trial, test)
        rule = checked_quadrature(self.name, green, quadrature)
        orders = green.radial(0.0).orders
        components = tuple(self.components)
        if unknown := [each for each in components if each.radial >= len(orders)]:
            raise ValueError(f"{describe(green)} has {len(orders)} radial functions, got {unknown[0]}")
        power = power_of(components, orders)
        even = [each for each in components if each.normal == "none" and not each.is_odd]
        if power > STRONGEST or (power == STRONGEST and even):
            raise ValueError(
                f"{self.name} is singular like 1 / r^{power}, of which integrals over two surfaces do not exist"
                f"{' unless it is odd in d or has a normal' if power == STRONGEST else ''}: integrate by parts first"
            )
        sides = tuple(self.test or ()), tuple(self.trial or ())
        integrand = WeightedIntegrand(self.name, "none", False, False, components, *sides)
        return WeightedOperator(green, integrand, trial, test, rule)
