"""The bytes and seconds of the solution of elastic solids, estimated before memory is taken."""

from typing import Any, NamedTuple

from calderon.operators.methods import Plan, method_named
from calderon.products.cost import Cost, lu_flops


class Counts(NamedTuple):
    """Operations and bytes of solutions of solids, by which their plans are made.

    entry: flops of an entry of a layer: 6 x 6 points of the four pairs of triangles of two linear functions, whose nine
    entries share tensors of 100 flops, and products with local functions. vectors: of GMRES, and rows of the blocks of
    its preconditioner, about. fast_unknown, unknown: flops of an unknown in the preconditioner and all around it, by
    measurement, made from leaves of fast products or by products. calls: operations of an unknown outside compiled code
    in the former: lists of pairs, sparse matrices, stresses. compressed: seconds of an H-matrix of elastostatics over
    those of a scalar one of as many unknowns. near_bytes: of an unknown, in addition to what stays, while near pairs of
    triangles are integrated for fast products: of planned 0.8, 2.1 and (P2) 7.5 GB solutions took 1.0, 2.7 and 7.1 GB.
    heat_pair, heat_point: flops of displacements of heat, by measurement, of a pair of point and triangle, whose
    integrals are in closed form, and of a point of fast sums.
    """

    entry: float = 4e3
    vectors: int = 120
    fast_unknown: float = 2e6
    unknown: float = 7e7
    calls: int = 200
    compressed: float = 2.5
    near_bytes: int = 3000
    heat_pair: float = 8e3
    heat_point: float = 5.5e6


COUNTS = Counts()


def plan_solution(equation: Any, method: str, rtol: float | None) -> Plan:
    """The bytes and seconds of a `LazyEquation` with the loads of its volume, its factors or its preconditioner.
    method: of its products. rtol: of those that are compressed."""
    chosen = method_named(method)
    displacements, tractions = equation.unknowns
    count = displacements + tractions
    entries = sum(body.spaces.entries for body in equation.bodies)
    parts = _plans(equation, method, rtol)
    nbytes, seconds, product = COUNTS.vectors * 8 * count, 0.0, sum(each.product_seconds for each in parts)
    if chosen.stores_entries:
        matrices = 2 if len(equation.bodies) == 1 else 3  # with the factors; several are a sum
        nbytes, product = 8 * (entries + matrices * count**2), Cost(nbytes=8 * count**2).seconds
        seconds = Cost(COUNTS.entry * entries + lu_flops(count, is_complex=False)).seconds
    elif not parts:
        product = Cost(COUNTS.entry * entries).seconds
    else:
        nbytes += sum(each.nbytes for each in parts)
        each = Cost(COUNTS.fast_unknown, calls=COUNTS.calls) if chosen.joins_blocks else Cost(COUNTS.unknown)
        seconds = sum(each.seconds for each in parts) * (1 if chosen.joins_blocks else COUNTS.compressed)
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
            found.append(lazy.operator([*lazy.kept, *lazy.known]).plan(method, rtol))
        else:
            found.append(lazy.operator(lazy.kept).plan(method, rtol))
    return found
