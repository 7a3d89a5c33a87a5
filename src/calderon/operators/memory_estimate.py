"""How much memory an assembly or product needs in addition to its result, known before it is allocated."""

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from calderon.galerkin.limits import LARGEST_PHASE
from calderon.galerkin.selection import select, vertex_numbers
from calderon.integrands.component import power_of
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.tree import integrals_of, terms_of
from calderon.pairs.classes import near_pairs, touching_pairs
from calderon.pairs.close import CLOSE
from calderon.pairs.near import degree_for
from calderon.pairs.rules import TABLE_BYTES, Wanted, fibre_points, touching_points
from calderon.spaces import VectorSpace
from calderon.spaces.interning import support_key

COUNTED = 10_000
"""Triangles of both sides up to which the rules of touching pairs are counted; beyond, the matrix is what takes
memory."""
FEWEST = 1_000_000
"""Bytes of the lists and scratch arrays of any assembly."""
CUT = 4_000
"""Bytes of the pieces of a near pair, up to 6 that take .5 kB each, where none is close."""


def preparation_bytes(operator: BoundaryOperator) -> int:
    """Bytes of tables and lists of pairs. Integral operators are computed one after the other, so that those of the
    largest count; the rules of touching pairs stay, up to a limit, and those of all integral operators add up."""
    alike = dict[Hashable, tuple[Any, set[int]]]()  # the rules of electric and magnetic fields differ by the power
    for each in integrals_of(operator):
        alike.setdefault(_what_counts(each), (each, set()))[1].add(_power_of(each))
    kept, own, largest = dict[Hashable, int](), 0, 0
    for each, powers in alike.values():
        rules, passing = _bytes_of(each)
        kept |= {(power, rule): nbytes for power in powers for rule, nbytes in rules.items()}
        own, largest = max(own, sum(rules.values())), max(largest, passing)
    return min(sum(kept.values()), TABLE_BYTES + own) + largest  # one operator holds all of its rules at a time


def held_bytes(operator: BoundaryOperator) -> int:
    """Bytes of entries that a dense assembly holds next to its result: the rows between sparse factors."""
    return max((term.atom.held_bytes for term in terms_of(operator)), default=0)


def given_bytes(operator: BoundaryOperator) -> int:
    """Bytes of the sparse matrices and arrays in an expression, each once, which products by every method keep."""
    atoms = {term.atom.key: term.atom for term in terms_of(operator)}
    return sum(atom.given_bytes for atom in atoms.values())


def _what_counts(leaf: Any) -> Hashable:
    """All that `_bytes_of` reads of an integral operator."""
    sides = ((id(side.mesh), support_key(side.mesh, side.triangles), side.element) for side in (leaf.test, leaf.trial))
    return *sides, leaf.green, leaf.quadrature, leaf.is_symmetric


def _power_of(leaf: Any) -> int:
    """p of the kernel of an integral operator, singular like 1/|x - y|^p."""
    integrand = leaf.integrand
    return power_of(getattr(integrand, "components", (integrand.component,)), leaf.green.radial(0.0).orders)


def _bytes_of(leaf: Any) -> tuple[dict[Hashable, int], int]:
    """Bytes of the rules of one integral operator that are kept, by what tells them from others for one power of the
    kernel, and of its other tables and lists of pairs, an upper bound by measurement.

    The stretch of a triangle is the ratio of its longest edge to the root of its area, 1.5 for equal edges. Pieces of
    near pairs take 6 MB for each unit, up to 32, as only so many pairs are cut at a time and pieces become no smaller.
    Lists of pairs take 2 kB for each triangle. Rules of touching pairs of few triangles are counted: those of either
    order are kept, those of the other order made anew, and both united. Those of many take 3 MB for each point on a
    fibre and each product of local functions, with its points, from a stretch of 4 on, where touching pairs have all
    rules there are; half of them are kept.
    """
    sides = leaf.test, leaf.trial
    edge, thinnest = (max(each) for each in zip(*(side.mesh.largest_extents for side in sides), strict=True))
    degree = sum(side.element.degree for side in sides)
    wavenumber = min(abs(complex(leaf.green.wavenumber)), LARGEST_PHASE / edge)  # beyond, it is refused
    products = 4 + math.prod(side.element.size for side in sides)
    stretch = math.sqrt(2 * thinnest)
    triangles = sum(len(side.support if isinstance(side, VectorSpace) else side.triangles) for side in sides)
    pieces, lists = int(6_000_000 * min(stretch, 32.0)), 2_000 * triangles
    elements = leaf.test.element, leaf.trial.element
    if triangles > COUNTED:
        nodes = int(fibre_points(np.array([wavenumber * edge]), degree)[0])
        half = int(nodes * products * 1_500_000 * min(1.0, stretch / 4.0))
        return {(nodes, stretch, *elements): half}, half + pieces + lists
    wanted = Wanted(leaf.quadrature.singular, wavenumber, 1, degree, 6)
    forward, back, cut = _counted(leaf, wanted)
    kept: dict[Hashable, int] = {(code, *elements): 8 * products * points for code, points in forward.items()}
    kept |= {(code, *elements[::-1]): 8 * products * points for code, points in back.items()}
    united = 8 * products * (sum(forward.values()) + 2 * sum(back.values()))
    return kept, united + FEWEST + int(min(pieces, CUT * cut)) + lists


def _counted(leaf: Any, wanted: Wanted) -> tuple[dict[int, int], dict[int, int], float]:
    """The points of the rules of touching pairs in both orders, and how many near pairs are cut, inf where some are
    close ones."""
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
    forward, back, many = touching_points(touching, test, trial, wanted, backward)
    ratio = near_pairs(test, trial, ids, leaf.quadrature.near, half)[1]
    close = many or bool((ratio < CLOSE).any())
    cut = np.count_nonzero(degree_for(ratio, wanted.digits) == 0) * (2 if half else 1)
    return forward, back, math.inf if close else int(cut)
