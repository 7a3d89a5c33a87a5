"""The far field of a product: fields of unknowns in separated boxes, by five operations of the fast multipole method.

    A_far = receive across send:    unknowns -> outgoing patterns -> incoming patterns -> fields

    send      P2M, from charges of leaves to the outgoing patterns of these leaves, and M2M, from children to parents;
    across    M2L, from the outgoing patterns of boxes to the incoming ones of separated boxes;
    receive   L2L, from parents to children, and L2P, from the incoming patterns of leaves to fields;
    part      the fields in some leaves alone, of all charges: for one of several devices;
    cost      of a product for each of these leaves.

Patterns are multipole and local moments of harmonics (`fmm`), functions on the sphere of directions, or numbers of
equivalent sources (`mlfmm`); only the far field itself reads them.
"""

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray


class FarField(Protocol):
    """Fields between separated boxes of one tree, in one direction."""

    def send(self, x: NDArray[Any]) -> Any:
        """Outgoing patterns of all boxes from columns x (n, m) of unknowns, or charges (n, m, components)."""
        ...

    def across(self, outgoing: Any) -> Any:
        """Incoming patterns of all boxes from the outgoing ones of boxes that are separated from them."""
        ...

    def receive(self, incoming: Any) -> NDArray[Any]:
        """Columns of the product from incoming patterns, which are added up on the way and used up by that."""
        ...

    def part(self, low: int, high: int) -> Self:
        """The far field in the leaves low up to, without, high alone, of all charges, in the same memory."""
        ...

    @property
    def cost(self) -> NDArray[np.float64]:
        """(leaves,) numbers that a product with one column reads or computes for each leaf."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of all tables and of the patterns of one column."""
        ...


def far_product(far: FarField, x: NDArray[Any]) -> NDArray[Any]:
    """The product of a far field with columns x."""
    return far.receive(far.across(far.send(x)))
