"""Function spaces on surfaces: P0, DP1, P1, P2 and functions in them."""

from calderon.spaces.element import Element
from calderon.spaces.function import Function
from calderon.spaces.lagrange import DP1, P0, P1, P2
from calderon.spaces.space import Space

__all__ = ["DP1", "P0", "P1", "P2", "Element", "Function", "Space"]
