"""How much memory an assembly or product needs in addition to its result, known before it is allocated."""

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from calderon.galerkin.limits import LARGEST_PHASE
from calderon.galerkin.selection import select, vertex_numbers
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.tree import integrals_of, terms_of
from calderon.pairs.classes import near_pairs, touching_pairs
from calderon.pairs.close import CLOSE
from calderon.pairs.near import degree_for
from calderon.pairs.rules import Wanted, fibre_points, touching_points
from calderon.spaces import VectorSpace

COUNTED = 10_000
"""Triangles of both sides up to which the rules of touching pairs are counted; beyond, the matrix is what takes
memory."""
FEWEST = 1_000_000
"""Bytes of the lists and scratch arrays of any assembly."""
CUT = 4_000
"""Bytes of the pieces of a near pair, up to 6 that take .5 kB each, where none is close."""


def preparation_bytes(operator: BoundaryOperator) -> int:
    """Bytes of tables and lists of pairs of the largest integral operator; they are computed one after the other."""
    alike = {_what_counts(each): each for each in integrals_of(operator)}  # electric and magnetic fields have one
    return max(map(_bytes_of, alike.values()), default=0)


def held_bytes(operator: BoundaryOperator) -> int:
    """Bytes of entries that a dense assembly holds next to its result: the rows between sparse factors."""
    return max((term.atom.held_bytes for term in terms_of(operator)), default=0)


def given_bytes(operator: BoundaryOperator) -> int:
    """Bytes of the sparse matrices and arrays in an expression, each once, which products by every method keep."""
    atoms = {term.atom.key: term.atom for term in terms_of(operator)}
    return sum(atom.given_bytes for atom in atoms.values())


def _what_counts(leaf: Any) -> Hashable:
    """All that `_bytes_of` reads of an integral operator."""
    sides = ((id(side.mesh), side.triangles.tobytes(), side.element) for side in (leaf.test, leaf.trial))
    return *sides, leaf.green, leaf.quadrature, leaf.is_symmetric


def _bytes_of(leaf: Any) -> int:
    """Bytes of tables and lists of pairs of one integral operator, an upper bound by measurement.

    The stretch of a triangle is the ratio of its longest edge to the root of its area, 1.5 for equal edges. Pieces of
    near pairs take 6 MB for each unit, up to 32, as only so many pairs are cut at a time and pieces become no smaller.
    Lists of pairs take 2 kB for each triangle. Rules of touching pairs of few triangles are counted. Those of many take
    3 MB for each point on a fibre and each product of local functions, with its points, from a stretch of 4 on, where
    touching pairs have all rules there are.
    """
    sides = leaf.test, leaf.trial
    edge = max(float(side.mesh.diameters.max()) for side in sides)
    degree = sum(side.element.degree for side in sides)
    wavenumber = min(abs(complex(leaf.green.wavenumber)), LARGEST_PHASE / edge)  # beyond, it is refused
    products = 4 + math.prod(side.element.size for side in sides)
    stretch = max(float((side.mesh.diameters / np.sqrt(side.mesh.areas)).max()) for side in sides)
    triangles = sum(len(side.support if isinstance(side, VectorSpace) else side.triangles) for side in sides)
    pieces, lists = int(6_000_000 * min(stretch, 32.0)), 2_000 * triangles
    if triangles > COUNTED:
        nodes = int(fibre_points(np.array([wavenumber * edge]), degree)[0])
        return int(nodes * products * 3_000_000 * min(1.0, stretch / 4.0)) + pieces + lists
    points, cut = _counted(leaf, Wanted(leaf.quadrature.singular, wavenumber, 1, degree, 6))
    return 8 * products * points + FEWEST + int(min(pieces, CUT * cut)) + lists


def _counted(leaf: Any, wanted: Wanted) -> tuple[int, float]:
    """The points of all tables of touching pairs, and how many near pairs are cut, inf where some are close ones."""
    sides = leaf.test, leaf.trial
    chosen = [select(side, None).triangles for side in sides]
    numbers = [side.triangles[which] for side, which in zip(sides, chosen, strict=True)]
    own = [side.mesh.triangles[which] for side, which in zip(sides, numbers, strict=True)]
    test, trial = (side.mesh.vertices[each] for side, each in zip(sides, own, strict=True))
    ids = vertex_numbers(sides[0], chosen[0], sides[1], chosen[1])
    half = leaf.is_symmetric or sides[0] is sides[1]
    touching = touching_pairs(*ids, half)
    first, second = (which[touching.pairs[:, side]] for side, which in enumerate(numbers))
    backward = (first > second) & (sides[0].mesh is sides[1].mesh)
    points, many = touching_points(touching, test, trial, wanted, backward)
    ratio = near_pairs(test, trial, ids, leaf.quadrature.near, half)[1]
    close = many or bool((ratio < CLOSE).any())
    cut = np.count_nonzero(degree_for(ratio, wanted.digits) == 0) * (2 if half else 1)
    return points, math.inf if close else int(cut)
