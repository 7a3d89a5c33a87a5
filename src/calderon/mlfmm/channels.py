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

    q is the larger of both ranks, and the number of traversals that the products need. Each column of B has one entry
    1, and rows and columns that no entry joins in the matrices are joined by no column of the factors. Rows and columns
    whose factors are far apart are brought to one size first: their blocks have no less relative accuracy than
    others."""
    size = abs(table).max(axis=0)
    rows, columns = np.ones(len(size)), np.ones(size.shape[1])
    if size[size > 0].min(initial=np.inf) < 1e-6 * size.max():
        rows = np.where(size.any(axis=1), size.max(axis=1), 1.0)
        columns = np.where(size.any(axis=0), (size / rows[:, None]).max(axis=0), 1.0)
    rest = table / rows[:, None] / columns
    scale = 1e-12 * abs(rest).max()
    into, out = list[NDArray[np.complex128]](), list[NDArray[np.complex128]]()
    while (size := abs(rest)).max() > scale or not into:
        least = 1e-6 * size.max()
        common = size.min(axis=0)
        i, j = np.unravel_index((common if common.max() > least else size.max(axis=0)).argmax(), common.shape)
        pivot = np.where(size[:, i, j] > least, rest[:, i, j], np.inf)
        column, row = rest[:, :, j], rest[:, i] / pivot[:, None]
        into.append(column * rows * columns[j])
        out.append(row * columns / columns[j])
        rest = rest - column[:, :, None] * row[:, None, :]
    return np.stack(into, axis=2), np.stack(out, axis=2)


def weighted(channels: list[Channel], factors: NDArray[np.complex128]) -> tuple[list[Channel], NDArray[np.complex128]]:
    """Channels of electric and of magnetic waves, and their weights (found channels, q), from factors a + b X.

    factors (2, channels, q): a + i b and a - i b of each channel (`table_of`) for each of q traversals, so that a =
    (factors[0] + factors[1]) / 2 and b = (factors[0] - factors[1]) / (2 i). Each channel is found with its own wave and
    the weights a, and with the wave "magnetic", which applies X = d x, and the weights b; either is left out where its
    weights are zero but for rounding. A channel that is magnetic already has b = 0 (`table_of`)."""
    parts = (factors[0] + factors[1]) / 2, (factors[0] - factors[1]) / 2j
    least = 1e-12 * abs(factors).max(axis=(0, 2))
    found = [
        (each if part is parts[0] else each._replace(wave="magnetic"), part[n])
        for n, each in enumerate(channels) for part in parts if abs(part[n]).max() > least[n]
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
