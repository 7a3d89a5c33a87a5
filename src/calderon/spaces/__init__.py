"""Function spaces on surfaces: nodal P0, DP1, DP2, P1, P2, tangential RWG, SNC, BC, RBC, and functions in them."""

from calderon.spaces.edge.buffa_christiansen import BC, RBC
from calderon.spaces.edge.dual_tests import DualTests, dual_tests, numbering
from calderon.spaces.edge.edge_space import RWG, SNC, EdgeSpace, half_functions
from calderon.spaces.element import Element
from calderon.spaces.function import Function
from calderon.spaces.lagrange import DP1, DP2, P0, P1, P2
from calderon.spaces.nodal_vector_space import NodalVectorSpace
from calderon.spaces.projection import Loads
from calderon.spaces.space import Space
from calderon.spaces.vector_function import VectorFunction
from calderon.spaces.vector_space import CombinedSpace, VectorSpace

__all__ = [
    "BC",
    "DP1",
    "DP2",
    "P0",
    "P1",
    "P2",
    "RBC",
    "RWG",
    "SNC",
    "CombinedSpace",
    "DualTests",
    "EdgeSpace",
    "Element",
    "Function",
    "Loads",
    "NodalVectorSpace",
    "Space",
    "VectorFunction",
    "VectorSpace",
    "dual_tests",
    "half_functions",
    "numbering",
]
