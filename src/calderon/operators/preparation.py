"""How much memory an assembly or product takes beside what it results in, known before it is taken."""

from typing import Any

import numpy as np

from calderon.mesh import TriangleMesh
from calderon.operators.blocks import BlockOperator
from calderon.operators.boundary import BoundaryOperator
from calderon.spaces import VectorSpace

FIXED, PER_STRETCH, PER_TRIANGLE = 150_000_000, 10_000_000, 2_000
"""Upper bound in bytes, by measurement: in all, for each unit of the largest stretch (tables of the rules of touching
and near pairs: 406 MB with triangles stretched 41 times), and for each triangle of both sides (the lists of those
pairs)."""


def preparation_bytes(operator: BoundaryOperator | BlockOperator) -> int:
    """What the largest block takes; blocks are computed one after the other."""
    table = operator.table if isinstance(operator, BlockOperator) else ((operator,),)
    blocks = [each for row in table for each in row if each is not None]
    stretch = max(_stretch(side.mesh) for each in blocks for side in (each.test, each.trial))
    triangles = max(_supporting(each.test) + _supporting(each.trial) for each in blocks)
    return int(FIXED + PER_STRETCH * stretch) + PER_TRIANGLE * triangles


def _stretch(mesh: TriangleMesh) -> float:
    """The largest ratio of a triangle's longest edge to the root of its area: 1.5 for equal edges."""
    return float((mesh.diameters / np.sqrt(mesh.areas)).max())


def _supporting(space: Any) -> int:
    return len(space.support if isinstance(space, VectorSpace) else space.triangles)
