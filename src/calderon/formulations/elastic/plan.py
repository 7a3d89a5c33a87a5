"""The bytes and seconds of the solution of elastic solids, estimated before memory is taken."""

from typing import Any

from calderon.backends import thread_count
from calderon.fmm.plan import plan_elastic
from calderon.operators.methods import Plan, method_named

STEPS = 120
"""Vectors of GMRES and rows of the blocks of its preconditioner, about."""
WHILE_COMPUTED = 3000
"""Bytes of an unknown, in addition to what stays, while near pairs of triangles are integrated for fast products: of
planned 0.8, 2.1 and (P2) 7.5 GB solutions took 1.0, 2.7 and 7.1 GB."""
ENTRY, OPERATION = 8e-8, 5e-11
"""Processor seconds, in estimates, of an entry of a layer and of an operation of a factorisation."""
FAST_UNKNOWN, UNKNOWN, ALONE = 4e-5, 1.4e-3, 5e-5
"""Processor seconds, in estimates, of an unknown in the preconditioner and all around it, made from leaves of fast
products or by products; and of what one thread does at a time in the former, however many there are: lists of pairs,
sparse matrices, stresses."""
COMPRESSED = 2.5
"""Seconds of an H-matrix of elastostatics over those of a scalar one of as many unknowns."""


def plan_solution(equation: Any, method: str, rtol: float | None) -> Plan:
    """The bytes and seconds of a `LazyEquation` with the loads of its volume, its factors or its preconditioner.
    method: of its products. rtol: of those that are compressed."""
    chosen, threads = method_named(method), thread_count()
    displacements, tractions = equation.unknowns
    count = displacements + tractions
    entries = sum(body.spaces.entries for body in equation.bodies)
    parts = _plans(equation, method, rtol)
    nbytes, seconds, product = STEPS * 8 * count, 0.0, sum(each.product_seconds for each in parts)
    if chosen.stores_entries:
        matrices = 2 if len(equation.bodies) == 1 else 3  # with the factors; several are a sum
        nbytes, product = 8 * (entries + matrices * count**2), OPERATION * count**2 / threads
        seconds = (ENTRY * entries + OPERATION * 2 / 3 * count**3) / threads
    elif not parts:
        product = ENTRY * entries / threads
    else:
        nbytes += sum(each.nbytes for each in parts)
        each = FAST_UNKNOWN / threads + ALONE if chosen.joins_blocks else UNKNOWN / threads
        seconds = sum(each.seconds for each in parts) * (1 if chosen.joins_blocks else COMPRESSED) + each * count
    seconds += sum(each for each, _ in equation.sources) / threads
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
