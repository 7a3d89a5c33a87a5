"""How operators of one medium see its waves: which charges they send out, what they test, and with which factors.

With d the direction of a plane wave, gradients are i k d, and a term of an operator is (test moment) (factor) (field of
charges):

    single layer                 values, of charges
    double layer                 values, of dipoles along normals
    adjoint double layer         normal derivatives, of charges
    hypersingular                -1 times normal derivatives, of dipoles along normals: no surface curls are needed
    electric field               i k E with E = (I - d d) J: no divergences are needed
    magnetic field               -i k times moments of n x f with d x J

X = d x is a quarter turn of transverse vectors, X X = -1, and acts on charges or on tests: all currents of a medium
enter one spectrum, as J (electric) and as d x M (magnetic), and all tests read from it, what it is or d x it. Not so
with equivalent sources: d x twice is curl curl, of which currents in loops, whose grad div is zero, leave a part
k^2 r^2 only, and that would have the errors of the whole.

Where functions are whole (not cut), these are the same as the integrals by parts that near entries are made of.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from calderon.backends.numba import kernel
from calderon.backends.threads import in_parts
from calderon.mlfmm.far import KINDS
from calderon.mlfmm.points import Panels, Points, points_of
from calderon.pairs.grouping import grouped
from calderon.quadrature import triangle_rule
from calderon.spaces.charges import carriers_of_charges, entries_of_charges


class Channel(NamedTuple):
    """One kind of charges of a space, from row (or column) `first` of the matrix on; kind: of `Charges`, wave: of
    `far.KINDS`."""

    first: int
    space: Any
    kind: str
    wave: str


def is_of_currents(term: Any) -> bool:
    """Whether a term has currents, not scalars."""
    return term.atom.integrand.name in ("electric_field", "magnetic_field")


def table_of(terms: Sequence[Any], turned: bool) -> tuple[list[Channel], list[Channel], NDArray[np.complex128]]:
    """The tests and the charges of terms of integral operators, and the factors between them, (2, tests, charges).

    A factor of currents is a + b X, X = d x; the two tables hold its values a + i b, a - i b at the eigenvalues i, -i
    of X, whose vectors are the circular polarisations. turned: True where X may act on charges; otherwise it stays
    with one side, a channel whose wave is "magnetic", and b = 0."""
    entries = list[tuple[Channel, Channel, NDArray[np.complex128]]]()
    for term in terms:
        row, column, factor = _channels_of(term)
        values = np.full(2, complex(factor))
        if term.atom.integrand.name == "magnetic_field":
            if turned:
                values *= [1j, -1j]
            elif term.transposed:
                column = column._replace(wave="magnetic")
            else:
                row = row._replace(wave="magnetic")
        entries.append((row, column, values))
    rows = list(dict.fromkeys(each[0] for each in entries))
    columns = list(dict.fromkeys(each[1] for each in entries))
    table = np.zeros((2, len(rows), len(columns)), complex)
    for row, column, values in entries:
        table[:, rows.index(row), columns.index(column)] += values
    return rows, columns, table


def factorised(table: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """The factors A (2, rows, q) and B (2, columns, q) of two small matrices, table[n] = A[n] B[n]^T.

    q is the number of traversals that the products need: the larger of both ranks, and more where so few products of
    factors would cancel in an entry. Then each row or each column has a product of its own. Entries of any size have a
    relative error of 1e-12, and entries 0 are sums of zeros. Rows and columns that no entries join, be it by way of
    others, are joined by no column of the factors. Each column of B has an entry 1 in one of the matrices."""
    size = abs(table).max(axis=0)
    rows, columns = np.nonzero(size)
    total = sum(size.shape)
    graph = csr_array((np.ones(len(rows)), (rows, len(size) + columns)), (total, total))
    part_of = connected_components(graph, directed=False)[1]
    sides = [[np.zeros((2, each, 0), complex)] for each in size.shape]
    for part in np.unique(part_of[rows]):
        i, j = np.split(part_of == part, [len(size)])
        for side, factors, own in zip(sides, _factors_of_joined(table[:, i][:, :, j]), (i, j), strict=True):
            side.append(np.zeros((2, len(own), factors.shape[2]), complex))
            side[-1][:, own] = factors
    if not len(rows):
        return np.zeros((2, len(size), 1), complex), np.zeros((2, size.shape[1], 1), complex)
    into, out = (np.concatenate(side, axis=2) for side in sides)
    return into, out


def _factors_of_joined(table: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """`factorised` of matrices whose rows and columns are joined by entries."""
    size, most = abs(table).max(axis=0), 10.0  # of all products in an entry, by the entry
    least = min(size.shape)
    found = _crosses(table, size, least - 1)
    if found is not None and (abs(found[0]).max(axis=0) @ abs(found[1]).max(axis=0).T <= most * size).all():
        return found
    own = np.broadcast_to(np.eye(least, dtype=complex), (2, least, least))
    if size.shape[1] == least:
        return table, own
    entries = table.swapaxes(0, 1).reshape(least, -1)
    largest = entries[np.arange(least), abs(entries).argmax(axis=1)]
    return own * largest, (table / largest[:, None]).swapaxes(1, 2)


def _crosses(
    table: NDArray[np.complex128], size: NDArray[np.float64], most: int
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]] | None:
    """`factorised` by products of a column and a row, at most so many of them, None if these are too few.

    Rows and columns are scaled so that the logarithms of their entries have the mean 0. Of almost the largest entries
    that are left, the one whose row and column have the fewest is the next pivot, by which few others are filled."""
    logs, given = np.log(np.where(size > 0, size, 1.0)), size > 0
    columns = np.zeros(size.shape[1])
    for _ in range(10):
        rows = np.mean(logs - columns, axis=1, where=given, keepdims=True)
        columns = np.mean(logs - rows, axis=0, where=given)
    rows, columns = np.exp(rows), np.exp(columns)
    rest, small = table / rows / columns, 1e-12 * size / rows / columns
    into, out = list[NDArray[np.complex128]](), list[NDArray[np.complex128]]()
    while (left := abs(rest)).any():
        if len(into) == most:
            return None
        least, largest, common = 1e-6 * left.max(), left.max(axis=0), left.min(axis=0)
        usable = common if common.max() > least else largest
        others = np.count_nonzero(largest, axis=1)[:, None] * np.count_nonzero(largest, axis=0)
        i, j = np.unravel_index(np.where(usable >= 0.9 * usable.max(), others, np.inf).argmin(), size.shape)
        pivot = np.where(left[:, i, j] > least, rest[:, i, j], np.inf)
        column, row = rest[:, :, j], rest[:, i] / pivot[:, None]
        into.append(column * rows[:, 0] * columns[j])
        out.append(row * columns / columns[j])
        rest = rest - column[:, :, None] * row[:, None, :]
        rest[abs(rest) <= small] = 0.0
    return np.stack(into, axis=2), np.stack(out, axis=2)


def weighted(channels: list[Channel], factors: NDArray[np.complex128]) -> tuple[list[Channel], NDArray[np.complex128]]:
    """Channels of electric and of magnetic waves, and their weights (found channels, q), from factors a + b X.

    factors (2, channels, q): a + i b and a - i b of each channel (`table_of`) for each of q traversals, so that a =
    (factors[0] + factors[1]) / 2 and b = (factors[0] - factors[1]) / (2 i). Each channel is found with its own wave and
    the weights a, and with the wave "magnetic", which applies X = d x, and the weights b; either is zero in a traversal
    where it is rounding of the other, and is left out where all its weights are zero. A channel that is magnetic has b
    = 0 already (`table_of`)."""
    least = 1e-12 * abs(factors).max(axis=0)
    parts = [np.where(abs(part) > least, part, 0.0)
             for part in ((factors[0] + factors[1]) / 2, (factors[0] - factors[1]) / 2j)]  # fmt: skip
    found = [
        (each if part is parts[0] else each._replace(wave="magnetic"), part[n])
        for n, each in enumerate(channels) for part in parts if part[n].any()
    ] or [(each, part) for each, part in zip(channels, parts[0], strict=True)]  # fmt: skip
    return [each for each, _ in found], np.array([weights for _, weights in found])


def _channels_of(term: Any) -> tuple[Channel, Channel, complex]:
    """The tests, the charges and the factor of a term of an integral operator; X = d x of a magnetic field is left to
    the caller."""
    if term.transposed:  # waves travel the other way, and charges and tests change sides
        charges, tests, factor = _channels_of(term._replace(transposed=False, top=term.left, left=term.top))
        return tests, charges, factor
    atom, integrand = term.atom, term.atom.integrand
    if integrand.name == "vector_potential":
        raise ValueError("plane waves carry currents with their charges: without these, choose 'hmatrix' or 'dense'")
    k = complex(atom.green.wavenumber)
    if is_of_currents(term):
        electric = integrand.name == "electric_field"
        tests, sign = _unturned(term.top, atom.test, "current" if electric else "rotated")
        charges, other = _unturned(term.left, atom.trial, "current")
        return tests, charges, (1j if electric else -1j) * k * sign * other * term.factor
    derived = [integrand.curls or integrand.normal == side for side in ("test", "trial")]
    sides = [("normal", "gradient") if each else ("value", "value") for each in derived]
    factor = -term.factor if integrand.curls else term.factor
    return Channel(term.top, atom.test, *sides[0]), Channel(term.left, atom.trial, *sides[1]), complex(factor)


def _unturned(first: int, space: Any, kind: str) -> tuple[Channel, float]:
    """The channel of currents of a space, where functions n x f are replaced by those of f, and its sign, as n x (n x
    f) = -f."""
    if not space.base.rotated:
        return Channel(first, space, kind, "electric"), 1.0
    other, sign = ("current", -1.0) if kind == "rotated" else ("rotated", 1.0)
    return Channel(first, space.perpendicular(), other, "electric"), sign


class ListedMap(NamedTuple):
    """A sparse matrix from coefficients of unknowns to charges on listed triangles, at the q points of their rule:
    triangle t has the entries first[t] up to, without, first[t + 1], of which n belongs to the unknown number[n] and
    has the numbers parts[n] (q, components).

    Triangles are listed for each leaf, with the unknowns of this leaf alone, so that threads can do leaves at the same
    time in both directions. begin: the first unknown in the whole matrix; component: the first component of a charge
    that the map has."""

    begin: int
    component: int
    first: NDArray[np.int32]
    number: NDArray[np.int32]
    parts: NDArray[Any]


class Listed(NamedTuple):
    """The triangles of a side, listed for each leaf whose unknowns have charges there, each with the points of a rule.

    starts (leaves + 1,): the first point of each leaf; points: of a triangle; maps: one of each channel; waves: the
    kinds of waves, one after the other in the components of a charge."""

    starts: NDArray[np.int64]
    points: int
    maps: list[ListedMap]
    waves: tuple[str, ...]

    @property
    def components(self) -> int:
        """Number of components of a charge, over all waves."""
        return sum(KINDS[each] for each in self.waves)

    @property
    def spans(self) -> NDArray[np.int64]:
        """(points, 2): the first component that a map gives a point, and the end, one beyond the last component; empty
        where every point has all of them."""
        first = np.full(int(self.starts[-1]) // self.points, self.components)  # of the points of a triangle
        end = np.zeros_like(first)
        for each in self.maps:
            own = each.first[1:] > each.first[:-1]
            np.minimum(first, each.component, out=first, where=own)
            np.maximum(end, each.component + each.parts.shape[2], out=end, where=own)
        have_all = (first == 0).all() and (end == self.components).all()
        return np.repeat(np.stack([first, end], axis=1), 0 if have_all else self.points, axis=0)

    def spread(self, x: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
        """Charges (points, columns, rank, components) of x (n, columns), complex; weights (maps, rank)."""
        kind = np.result_type(self.maps[0].parts, np.complex64)
        out = np.zeros((int(self.starts[-1]), x.shape[1], weights.shape[1], self.components), kind)
        given = np.ascontiguousarray(x, kind)
        for each, row in zip(self.maps, weights.astype(kind), strict=True):
            arguments = self.starts, each.first, each.number, each.parts, each.begin, each.component, row
            in_parts(partial(spread, *arguments, given, out), len(self.starts) - 1)
        return out

    def gather(self, fields: NDArray[Any], weights: NDArray[Any], out: NDArray[Any]) -> None:
        """out (n, columns) += the transposed of `spread` of fields."""
        for each, row in zip(self.maps, weights.astype(fields.dtype), strict=True):
            arguments = self.starts, each.first, each.number, each.parts, each.begin, each.component, row
            in_parts(partial(gather, *arguments, fields, out), len(self.starts) - 1)


@kernel
def spread(starts, first, number, parts, begin, component, weights, x, out, low, high):
    """Add to out (points, columns, rank, components) the charges at the points of the leaves low up to, without, high.

    starts: where the points of each leaf begin; first (triangles + 1,): where the entries of each triangle begin;
    number (entries,): unknown of each, from `begin` on; parts (entries, points of a triangle, 1 or 3): their numbers;
    component: the first of out; weights (rank,); x (unknowns, columns).
    """
    points = parts.shape[1]
    for t in range(starts[low] // points, starts[high] // points):
        for n in range(first[t], first[t + 1]):
            i = begin + number[n]
            for j in range(points):
                p = t * points + j
                for column in range(x.shape[1]):
                    for q in range(len(weights)):
                        value = x[i, column] * weights[q]
                        for c in range(parts.shape[2]):
                            out[p, column, q, component + c] += parts[n, j, c] * value


@kernel
def gather(starts, first, number, parts, begin, component, weights, fields, out, low, high):
    """Add to out (unknowns, columns) the moments of fields (points, columns, rank, components) for the leaves low up
    to, without, high: the transposed of `spread`. starts, first, number, parts, begin, component, weights: as in
    `spread`."""
    points = parts.shape[1]
    for t in range(starts[low] // points, starts[high] // points):
        for n in range(first[t], first[t + 1]):
            i = begin + number[n]
            for j in range(points):
                p = t * points + j
                for q in range(len(weights)):
                    if parts.shape[2] == 3:
                        a, b, c = parts[n, j, 0], parts[n, j, 1], parts[n, j, 2]
                        for column in range(out.shape[1]):
                            f = fields[p, column, q]
                            total = f[component] * a + f[component + 1] * b + f[component + 2] * c
                            out[i, column] += total * weights[q]
                    else:
                        for column in range(out.shape[1]):
                            out[i, column] += fields[p, column, q, component] * parts[n, j, 0] * weights[q]


def listed(
    channels: list[Channel], leaf_of: Any, centres: NDArray[np.float64], degree: int, real: Any, mix: Any
) -> tuple[Listed, Panels | Points]:
    """The triangles of channels with charges, listed for each leaf, and the points of the rule there.

    leaf_of(channel): the leaf of each function of its space; centres (leaves, 3): of leaves, in m; degree: of the
    quadrature rule; real: type of numbers; mix: of the points, with a row for each channel, None for plain charges.
    """
    groups, offsets, of_group = list[Any](), list[int](), list[int]()
    for number, each in enumerate(channels):  # on the same triangles they share points, unless these are mixed
        own = carriers_of_charges(each.space)
        same = next((n for n, other in enumerate(groups) if _are_same(own, other)), len(groups))
        if same == len(groups) or each.wave == "mixed":
            same = len(groups)
            groups.append(own)
            of_group.append(number)
        offsets.append(sum(len(triangles) for _, triangles in groups[:same]))
    # entries by leaf and triangle, in this order
    leaves, total = len(centres), sum(len(triangles) for _, triangles in groups)
    entries = [_entries(each, degree, offset, leaf_of(each), (leaves, total), real)
               for each, offset in zip(channels, offsets, strict=True)]  # fmt: skip
    begins = [np.flatnonzero(np.diff(keys, prepend=-1)) for keys, _, _ in entries]
    used = _united([keys[begin] for (keys, _, _), begin in zip(entries, begins, strict=True)])
    # components of all waves, and the map of each channel
    waves = tuple(dict.fromkeys(each.wave for each in channels))
    places = dict(zip(waves, np.cumsum([0, *(KINDS[each] for each in waves)])[:-1].tolist(), strict=True))
    maps = []
    for each, (keys, unknown, parts), begin in zip(channels, entries, begins, strict=True):
        first = begin if len(begin) == len(used) else np.searchsorted(keys, used)
        first = np.append(first, len(keys))
        maps.append(ListedMap(each.first, places[each.wave], first.astype(np.int32), unknown, parts))
    # where the points of each leaf begin
    of_leaf, carrier = np.divmod(used, total)
    rule = triangle_rule(degree)
    starts = rule.number_of_points * np.searchsorted(of_leaf, np.arange(leaves + 1))
    points = points_of(groups, of_group, carrier, rule.points, starts, centres, real, mix)
    found = Listed(starts, rule.number_of_points, maps, waves)
    return found, points._replace(spans=found.spans)


def _are_same(one: tuple[Any, NDArray[np.int64]], other: tuple[Any, NDArray[np.int64]]) -> bool:
    """Whether triangles of meshes are the same ones in space, in the same order."""
    if one[0] is other[0]:
        return np.array_equal(one[1], other[1])
    if len(one[1]) != len(other[1]) or not (one[0].is_flat and other[0].is_flat):
        return False
    corners = [mesh.vertices[mesh.triangles[triangles]] for mesh, triangles in (one, other)]
    return np.array_equal(*corners)


def _united(sorted_keys: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The different ones of increasing keys of several lists, increasing."""
    first, *others = sorted_keys
    if all(np.array_equal(each, first) for each in others):
        return first
    merged = np.sort(np.concatenate(sorted_keys), kind="stable")  # runs that are sorted are merged
    return merged[np.flatnonzero(np.diff(merged, prepend=-1))]


def mixed(channels: list[Channel], weights: NDArray[np.complex128]) -> tuple[list[Channel], NDArray[np.complex128]]:
    """One channel for each space from channels of scalars, with wave "mixed", and the factors (channels, 2) of its
    charges and of its dipoles along normals."""
    found = dict.fromkeys(Channel(each.first, each.space, "value", "mixed") for each in channels)
    table = np.zeros((len(found), 2), complex)
    for each, weight in zip(channels, weights, strict=True):
        row = list(found).index(Channel(each.first, each.space, "value", "mixed"))
        table[row, int(each.wave == "gradient")] += weight
    return list(found), table


def _entries(
    channel: Channel, degree: int, offset: int, leaf: NDArray[np.int64], counts: tuple[int, int], real: Any
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """The entries of a channel, sorted by leaf and triangle: increasing keys leaf * triangles + triangle, unknowns, and
    numbers of all points and components.

    offset: the first triangle of the channel among all of them; leaf: that of each unknown; counts: of leaves and of
    all triangles; other arguments as in `listed`."""
    given = entries_of_charges(channel.space, degree, channel.kind)
    # by triangles, which they mostly are already, then by leaves
    is_sorted = (given.carriers[1:] >= given.carriers[:-1]).all()
    order = np.arange(len(given.carriers)) if is_sorted else grouped(given.carriers, given.total)[1]
    of_leaf = leaf[given.unknowns[order]]
    order = order[grouped(of_leaf, counts[0])[1]]
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    unknowns = given.unknowns[order]
    keys = leaf[unknowns] * counts[1] + offset + given.carriers[order]
    return keys, unknowns.astype(np.int32), given.numbers(places, real)
