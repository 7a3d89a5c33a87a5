"""The cost of products and of their preparation: counts of operations and bytes, times the rates of this machine.

An integral over a pair of triangles takes p x q evaluations of a kernel, for p and q points of the rules of its sides;
an entry, those of all pairs of triangles of its functions. Counts follow from meshes, rules and trees; only the flops
of an evaluation and the share of the machine's rate that kernels reach are constants.
"""

from dataclasses import dataclass
from typing import Any

from calderon.backends import thread_count
from calderon.backends.rates import machine_rates
from calderon.integrands import ELECTRIC_FIELD, MAGNETIC_FIELD, VECTOR_POTENTIAL
from calderon.pairs.zones import DEGREE
from calderon.quadrature import NearQuadrature, triangle_rule

EFFICIENCY = 0.6
"""Rate of kernels by that of matrix products: reciprocal roots and reductions have no fused additions."""
SINGLE = 0.5
"""Seconds in single precision by those in double precision: twice as many numbers fit into a vector."""
HALO = 2
"""Triangles of the functions of a cluster by those that would be its own, if clusters did not overlap."""
BLOCKS = 2
"""Seconds to read matrices in small blocks by those to read one piece of memory."""


@dataclass(frozen=True)
class Cost:
    """Counted work. flops: of all threads together. nbytes: read from or written to memory. calls: operations outside
    compiled code, which one thread does."""

    flops: float = 0.0
    nbytes: float = 0.0
    calls: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.flops + other.flops, self.nbytes + other.nbytes, self.calls + other.calls)

    def __rmul__(self, factor: float) -> "Cost":
        return Cost(factor * self.flops, factor * self.nbytes, factor * self.calls)

    @property
    def seconds(self) -> float:
        """Expected wall-clock seconds on this machine."""
        rates = machine_rates()
        working = self.flops / (EFFICIENCY * rates.flops * thread_count())
        return working + self.nbytes / rates.nbytes + self.calls / rates.calls


def pair_flops(form: Any) -> float:
    """Flops of a distant pair of triangles of an integral operator, in double precision."""
    quadrature = form.quadrature
    few = isinstance(quadrature, NearQuadrature) and quadrature.accuracy > 0  # most pairs of near blocks are distant
    points = triangle_rule(DEGREE if few else quadrature.regular).number_of_points
    return points**2 * _evaluation_flops(form)


def row_flops(form: Any) -> float:
    """Flops of an entry of a row of a cluster that is computed by itself: all triangles of the test function, and those
    of the trial side that come with each unknown."""
    test, trial = (getattr(side, "scalar", side) for side in (form.test, form.trial))
    return HALO * test.dofs.size / test.dimension * len(trial.triangles) / trial.dimension * pair_flops(form)


def entry_flops(form: Any) -> float:
    """Flops of an entry of a block between two clusters, whose triangles meet once."""
    test, trial = (getattr(side, "scalar", side) for side in (form.test, form.trial))
    triangles = len(test.triangles) / test.dimension * len(trial.triangles) / trial.dimension
    return HALO * triangles * pair_flops(form)


def touching_flops(form: Any) -> float:
    """Flops of all touching and near pairs of triangles of an integral operator, in double precision; twice as many for
    tensors.

    A triangle has 35,000 points with 45 flops each, both orders together. With n = 5 points in each of the four
    directions, the pair of a triangle with itself takes 3 n^4 of them, three pairs with a common edge 5 n^4 each, and
    nine with a common vertex 2 n^4; 40 near pairs take 12 x 25. Each point has coordinates of its own, which take more
    than most kernels.
    """
    sides = (getattr(side, "scalar", side) for side in (form.test, form.trial))
    return (2 if form.is_elastic else 1) * 35_000 * 45 * max(len(each.triangles) for each in sides)


def lu_flops(unknowns: int, is_complex: bool) -> float:
    """Flops of LU factors of a matrix: 2 n^3 / 3, of complex numbers four times as many."""
    return (8 if is_complex else 2) / 3 * float(unknowns) ** 3


def _evaluation_flops(form: Any) -> float:
    """Flops of one evaluation of the kernel of an integral operator.

    1 / r takes 3 differences, 5 for the square of r, 6 for its reciprocal root, 2 to add it with its weight; exp(i k r)
    / r 44 more for sine and cosine by polynomials, 10 for derivatives; the three components of fields half as many
    more.
    """
    if form.is_elastic:
        return 100  # the 9 components of both tensors
    fields = form.integrand in (ELECTRIC_FIELD, MAGNETIC_FIELD, VECTOR_POTENTIAL)
    return (70 if form.is_complex else 16) * (1.5 if fields else 1)
