"""The bytes and seconds of the solution of elastic solids, estimated before memory is taken."""

from typing import Any

from calderon.fmm.plan import plan_elastic
from calderon.operators.methods import Plan, method_named
from calderon.products.cost import Cost, lu_flops

STEPS = 120
"""Vectors of GMRES and rows of the blocks of its preconditioner, about."""
WHILE_COMPUTED = 3000
"""Bytes of an unknown, in addition to what stays, while near pairs of triangles are integrated for fast products: of
planned 0.8, 2.1 and (P2) 7.5 GB solutions took 1.0, 2.7 and 7.1 GB."""
ENTRY = 4e3
"""Flops of an entry of a layer: 6 x 6 points of the four pairs of triangles of two linear functions, whose nine entries
share tensors of 100 flops, and products with local functions."""
FAST_UNKNOWN, UNKNOWN, ALONE = 2e6, 7e7, 200
"""Flops of an unknown in the preconditioner and all around it, by measurement, made from leaves of fast products or by
products; and operations outside compiled code in the former: lists of pairs, sparse matrices, stresses."""
COMPRESSED = 2.5
"""Seconds of an H-matrix of elastostatics over those of a scalar one of as many unknowns."""


def plan_solution(equation: Any, method: str, rtol: float | None) -> Plan:
    """The bytes and seconds of a `LazyEquation` with the loads of its volume, its factors or its preconditioner.
    method: of its products. rtol: of those that are compressed."""
    chosen = method_named(method)
    displacements, tractions = equation.unknowns
    count = displacements + tractions
    entries = sum(body.spaces.entries for body in equation.bodies)
    parts = _plans(equation, method, rtol)
    nbytes, seconds, product = STEPS * 8 * count, 0.0, sum(each.product_seconds for each in parts)
    if chosen.stores_entries:
        matrices = 2 if len(equation.bodies) == 1 else 3  # with the factors; several are a sum
        nbytes, product = 8 * (entries + matrices * count**2), Cost(nbytes=8 * count**2).seconds
        seconds = Cost(ENTRY * entries + lu_flops(count, is_complex=False)).seconds
    elif not parts:
        product = Cost(ENTRY * entries).seconds
    else:
        nbytes += sum(each.nbytes for each in parts)
        each = Cost(FAST_UNKNOWN, calls=ALONE) if chosen.joins_blocks else Cost(UNKNOWN)
        seconds = sum(each.seconds for each in parts) * (1 if chosen.joins_blocks else COMPRESSED)
        seconds += (count * each).seconds
    seconds += sum(each for each, _ in equation.sources)
    nbytes = max(nbytes, *(each for _, each in equation.sources), 0)
    unknowns = f"{count}, {displacements} of displacement and {tractions} of traction"
    return Plan(method, int(nbytes), seconds, product, lines=(("unknowns", unknowns),))


def _plans(equation: Any, method: str, rtol: Any) -> list[Plan]:
    """The plans of the layers of all bodies; none where they are stored, or computed anew in each product."""
    chosen, found = method_named(method), []
    if chosen.stores_entries or chosen.plan is None:
        return []
    for body in equation.bodies:
        lazy = body.columns(body.solid.quadrature)
        if chosen.joins_blocks:
            lazy = body.split(lazy)
            found.append(plan_elastic(lazy.operator([*lazy.kept, *lazy.known]), rtol))
        else:
            found.append(lazy.operator(lazy.kept).plan(method, rtol))
    return found
