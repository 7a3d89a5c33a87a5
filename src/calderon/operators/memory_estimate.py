"""How much memory an assembly or product needs in addition to its result, known before it is allocated."""

import math
from typing import Any

import numpy as np

from calderon.galerkin.limits import LARGEST_PHASE
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.tree import integrals_of, terms_of
from calderon.pairs.rules import fibre_points
from calderon.spaces import VectorSpace

SHAPES = 40
"""Shapes of triangles from which on pairs have all rules there are: 50 triangles of 50 shapes have half of the tables,
162 have all, and a grid of one shape has a thirtieth."""


def preparation_bytes(operator: BoundaryOperator) -> int:
    """Bytes of tables and lists of pairs of the largest integral operator; they are computed one after the other."""
    return max((_bytes_of(each) for each in integrals_of(operator)), default=0)


def held_bytes(operator: BoundaryOperator) -> int:
    """Bytes of entries that a dense assembly holds next to its result: the rows between sparse factors."""
    return max((term.atom.held_bytes for term in terms_of(operator)), default=0)


def given_bytes(operator: BoundaryOperator) -> int:
    """Bytes of the sparse matrices and arrays in an expression, each once, which products by every method keep."""
    atoms = {term.atom.key: term.atom for term in terms_of(operator)}
    return sum(atom.given_bytes for atom in atoms.values())


def _bytes_of(leaf: Any) -> int:
    """Bytes of tables and lists of pairs of one integral operator, an upper bound by measurement.

    Tables of the rules of touching pairs take 3 MB for each point on a fibre and each product of local functions, with
    its points. The stretch of a triangle is the ratio of its longest edge to the root of its area, 1.5 for equal edges:
    from 4 on, touching pairs have all rules there are; pieces of near pairs take 6 MB for each unit, up to 32, as only
    so many pairs are cut at a time and pieces become no smaller. Pairs on regular grids share their tables: a mesh has
    all of them from SHAPES shapes of triangles on, known by their stretch. Lists of pairs take 2 kB for each triangle.
    """
    sides = leaf.test, leaf.trial
    edge = max(float(side.mesh.diameters.max()) for side in sides)
    degrees = [side.element.degree for side in sides]
    phase = min(abs(complex(leaf.green.wavenumber)) * edge, LARGEST_PHASE)  # beyond, it is refused
    nodes = int(fibre_points(np.array([phase]), sum(degrees))[0])
    products = 4 + math.prod(side.element.size for side in sides)
    stretches = [side.mesh.diameters / np.sqrt(side.mesh.areas) for side in sides]
    stretch = max(float(each.max()) for each in stretches)
    shapes = max(len(np.unique(each[:: max(1, len(each) // 2000)].round(3))) for each in stretches)
    triangles = sum(len(side.support if isinstance(side, VectorSpace) else side.triangles) for side in sides)
    tables = nodes * products * 3_000_000 * min(1.0, stretch / 4.0) * min(1.0, shapes / SHAPES)
    return int(tables + 6_000_000 * min(stretch, 32.0)) + 2_000 * triangles
