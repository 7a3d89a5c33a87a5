"""Which order of the harmonics a tolerance needs, by measurement."""

import math
from typing import NamedTuple

from calderon.fmm.tables import Order
from calderon.products.check import ACCEPT_FUNCTIONS


class Formats(NamedTuple):
    """Tolerances of products from which less exact numbers are enough: near entries are computed in single precision
    (computed), near entries and moments are stored in it (stored), or in 16 bits (packed), and far fields are computed
    in it (far)."""

    computed: float
    stored: float
    packed: float
    far: float


LAPLACE = Formats(computed=1e-4, stored=3e-7, packed=math.inf, far=1e-4)
"""Tolerances for layers of Laplace's equation; far fields of normal derivatives cancel, and are computed in double
precision always. Rounding of stored numbers leaves 3e-8 in products."""
ELASTOSTATICS = Formats(computed=3e-5, stored=9e-6, packed=1e-4, far=math.inf)
"""Tolerances for layers of elastostatics: products with a smooth displacement are a hundredth of their terms."""


class Promise(NamedTuple):
    """An order, the relative errors of potentials and of gradients that it holds, and the most points, or triangles, of
    a leaf."""

    order: Order
    potential: float
    gradient: float
    leaf: int

    def bytes_of_sums(self, points: int) -> int:
        """Estimated bytes of sums over points: 500 of a point (places, charges, fields, keys), 9,000 of the lists of a
        box, both upper bounds. Boxes are half full on average, and those above leaves a third."""
        boxes = 3 * points // self.leaf + 100
        return points * 500 + boxes * (9000 + 16 * self.order.r) + 8 * 250 * self.order.r**2


POINTS = (
    Promise(Order(6, 24, 5e-4), 1.5e-3, 3e-3, 80),
    Promise(Order(8, 32, 3e-4), 6.5e-4, 1.5e-3, 90),
    Promise(Order(10, 40, 1e-4), 2.7e-4, 7e-4, 90),
    Promise(Order(10, 48, 3e-5), 1.2e-4, 4e-4, 90),
    Promise(Order(12, 64, 1e-5), 3.9e-5, 1.2e-4, 110),
    Promise(Order(14, 80, 5e-6), 1.7e-5, 5.5e-5, 120),
    Promise(Order(16, 96, 2e-6), 7.3e-6, 2.5e-5, 130),
    Promise(Order(18, 128, 5e-7), 1.7e-6, 5e-6, 150),
    Promise(Order(20, 160, 1e-7), 4.5e-7, 1.3e-6, 180),
    Promise(Order(22, 224, 2e-8), 6.5e-8, 2e-7, 220),
    Promise(Order(26, 320, 2e-9), 5.6e-9, 2e-8, 300),
    Promise(Order(28, 400, 5e-10), 1.2e-9, 8e-9, 300),
    Promise(Order(32, 520, 5e-11), 2e-10, 6e-10, 400),
)
"""Orders of sums over points, with the largest errors of several sets of 50,000 to 200,000 points on a sphere and in a
cube, with charges of random signs; charges of one sign have a hundredth of the errors of potentials."""

FUNCTIONS = (
    Promise(Order(8, 40, 2e-4, 0.2), 2.2e-4, 1.2e-3, 40),
    Promise(Order(10, 56, 3e-5, 0.2), 7e-5, 4e-4, 40),
    Promise(Order(14, 96, 3e-6, 0.2), 8e-6, 5e-5, 50),
    Promise(Order(18, 160, 2e-7, 0.2), 6e-7, 5e-6, 60),
    Promise(Order(22, 224, 2e-8, 0.2), 1.2e-7, 1.5e-6, 60),
    Promise(Order(20, 192, 1e-7, 0.1), 1.3e-7, 1e-6, 80),
    Promise(Order(22, 224, 2e-8, 0.1), 3e-8, 3e-7, 100),
    Promise(Order(26, 320, 1.5e-9, 0.1), 2e-9, 2.2e-8, 120),
    Promise(Order(16, 168, 1.5e-9, 0.2, 2), 4e-10, 8e-9, 40),
    Promise(Order(20, 224, 1e-10, 0.2, 2), 4e-11, 6e-10, 40),
    Promise(Order(22, 256, 2.5e-11, 0.2, 2), 1e-11, 1.5e-10, 40),
)
"""Orders of boundary operators, whose functions may lie outside of their boxes by a fifth (a tenth) of an edge: P1 and
random coefficients on a cube. The second number is that of double layers, which have no lower orders on a cube; on
smooth surfaces the normal derivatives of neighbours are small, so that they need higher ones the finer the mesh is.
Where neighbours are two boxes away at most, products take longer at the same error, but tables a fraction of the
time. (22, 224) with leaves as small as those of (18, 160) has half of the near entries of (20, 192)."""

ELASTIC = (
    Promise(Order(8, 40, 2e-4, 0.2), 3e-4, 2e-3, 40),
    Promise(Order(10, 56, 3e-5, 0.2), 2.5e-4, 1e-3, 40),
    Promise(Order(14, 96, 3e-6, 0.2), 4e-5, 2.5e-4, 50),
    Promise(Order(16, 128, 7e-7, 0.2), 1e-5, 2.3e-4, 60),
    Promise(Order(18, 144, 4e-7, 0.2), 6e-6, 6e-5, 60),
    Promise(Order(18, 160, 2e-7, 0.2), 4e-6, 4.5e-5, 70),
    Promise(Order(22, 224, 3e-8, 0.2), 5e-7, 5e-6, 90),
    Promise(Order(14, 136, 1e-8, 0.2, 2), 2.5e-8, 6e-7, 40),
    Promise(Order(16, 168, 1.5e-9, 0.2, 2), 4e-9, 1.1e-7, 40),
    Promise(Order(20, 224, 1e-10, 0.2, 2), 4e-10, 9e-9, 40),
    Promise(Order(22, 256, 2.5e-11, 0.2, 2), 1e-10, 2e-9, 40),
    Promise(Order(26, 320, 3e-12, 0.2, 2), 5e-12, 8e-11, 40),
)
"""Orders of elastic operators, measured in the same way: `potential` of single layers, `gradient` of double layers;
that of (16, 128), 8e-5 on a cube, on a bracket. Neighbours two boxes away at most: fewer combinations, of which each
function has sixteen numbers, are worth the larger near field from the first order on that is here."""


def first_order(
    promises: tuple[Promise, ...], rtol: float, derivatives: bool, times: float = 1.0
) -> tuple[Promise, ...]:
    """The orders that hold a tolerance for errors that are so many times larger, the lowest first; ValueError where
    there are none."""
    errors = [times * (max(each.potential, each.gradient) if derivatives else each.potential) for each in promises]
    found = tuple(each for each, error in zip(promises, errors, strict=True) if error <= rtol)
    if not found:
        what = " for derivatives" if derivatives or times > 1 else ""
        raise ValueError(
            f"rtol={rtol:g}: the fast multipole method holds {min(errors):.0e} and above{what}: increase rtol, or use "
            "method='dense'"
        )
    return found


def better_orders(promises: tuple[Promise, ...], error: float, rtol: float) -> tuple[Promise, ...]:
    """The orders from which a tolerance may be expected to hold where the first one has this error, else the last."""
    expected = [error * each.potential / promises[0].potential for each in promises]
    found = tuple(
        each for each, value in zip(promises[1:], expected[1:], strict=True) if value <= ACCEPT_FUNCTIONS.wished * rtol
    )
    return found or promises[1:][-1:]
