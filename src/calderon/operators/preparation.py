"""How much memory an assembly or product takes beside what it results in, known before it is taken."""

from typing import Any

from calderon.operators.blocks import BlockOperator
from calderon.operators.boundary import BoundaryOperator
from calderon.spaces import VectorSpace

FIXED, PER_TRIANGLE = 450_000_000, 2_000
"""Upper bound in bytes: in all (tables of the rules of touching and near pairs, most of it for stretched triangles),
and for each triangle of both sides (the lists of those pairs; half of it on even meshes)."""


def preparation_bytes(operator: BoundaryOperator | BlockOperator) -> int:
    """What the largest block takes; blocks are computed one after the other."""
    table = operator.table if isinstance(operator, BlockOperator) else ((operator,),)
    blocks = [each for row in table for each in row if each is not None]
    return FIXED + PER_TRIANGLE * max(_supporting(each.test) + _supporting(each.trial) for each in blocks)


def _supporting(space: Any) -> int:
    return len(space.support if isinstance(space, VectorSpace) else space.triangles)
