"""Expressions of operators, read in one place.

Sums, multiples, transposes and tables of operators are linear: every expression of them is a list of terms,

    matrix = sum of factor * A, or A^T, conjugated if so, from row `top` and column `left` on,

with atoms A, the operators that are computed: integral, sparse and composed ones. `terms()` of an operator gives this
list. An atom that stands in several terms is computed once; atoms are the same where their `key` is equal. `fill` puts
the entries in a `Place`, an array or a part of a matrix on a device; `Products` (products.py) multiplies vectors, by
the products of integral operators that a method gives.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution, require_memory
from calderon.backends.vectors import aligned
from calderon.galerkin.symmetry import symmetrise

Index = NDArray[np.int64]
Region = tuple[int, int, tuple[int, int]]
"""A part of a matrix: its first row and column, and its shape."""


class Term(NamedTuple):
    """factor * A, transposed and conjugated if so, from row `top` and column `left` on."""

    factor: complex
    atom: Any
    transposed: bool = False
    conjugated: bool = False
    top: int = 0
    left: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.atom.shape
        return (columns, rows) if self.transposed else (rows, columns)

    @property
    def region(self) -> Region:
        """Where the term stands."""
        return self.top, self.left, self.shape

    @property
    def is_plain(self) -> bool:
        """Whether the term adds the matrix of the atom as it is, times the factor."""
        return not (self.transposed or self.conjugated)

    def times(self, factor: complex) -> "Term":
        """The term multiplied by a further factor."""
        product = factor * self.factor
        return self._replace(factor=product if complex(product).imag else complex(product).real)

    def moved(self, top: int, left: int) -> "Term":
        """The term moved down by `top` rows and to the right by `left` columns."""
        return self._replace(top=self.top + top, left=self.left + left)

    def exchanged(self, conjugate: bool) -> "Term":
        """The transposed or adjoint of the term. A symmetric atom is its own transposed, a real one its conjugate."""
        conjugated = self.conjugated != (conjugate and self.atom.is_complex)
        transposed = not self.transposed and (conjugated or not self.atom.is_symmetric)
        factor = complex(self.factor).conjugate() if conjugate else self.factor
        return Term(1.0, self.atom, transposed, conjugated, self.left, self.top).times(factor)


def terms_of(operator: Any) -> list[Term]:
    """The terms of an expression, those of one atom in one place and orientation together; likewise sparse factors
    around several atoms, and several pairs of them around one."""
    merged: dict[tuple[Any, ...], Term] = {}
    for term in operator.terms():
        place = term.atom.key, *term[2:]
        found = merged.get(place)
        merged[place] = term.times(1.0) if found is None else found._replace(factor=found.factor + term.factor)
    terms = list[Term]()
    for term in merged.values():
        for number, other in enumerate(terms):
            if term[2:] == other[2:] and not term.conjugated:
                joint = other.atom.joined(other.factor, term.atom, term.factor)
                if joint is not None:
                    terms[number] = other._replace(factor=1.0, atom=joint)
                    break
        else:
            terms.append(term)
    return terms


def expression_key(operator: Any) -> tuple[Any, ...]:
    """A value that expressions with the same matrix share, as far as that is known."""
    return terms_key(terms_of(operator))


def terms_key(terms: Iterable[Term]) -> tuple[Any, ...]:
    """A value that terms with the same sum share, as far as that is known."""
    return tuple((term.atom.key, *term[2:], complex(term.factor)) for term in terms)


def expression_signature(operator: Any) -> list[str]:
    """The terms of an expression, as texts by which files tell them from others."""
    return [
        f"{complex(t.factor)!r} {t.atom.signature} {t.transposed} {t.conjugated} {t.top} {t.left}"
        for t in terms_of(operator)
    ]


def integrals_of(operator: Any) -> list[Any]:
    """The integral operators in an expression, which have a Green's function, each once."""
    found = (each for term in terms_of(operator) for each in term.atom.integrals())
    return list({each.key: each for each in found}.values())


def with_integrals(expression: Any, change: Callable[[Any], Any]) -> Any:
    """The expression with change(A) for each integral operator A, itself where all of them stay; anything but an
    expression, or a tuple of some, as it is."""
    if isinstance(expression, tuple):
        parts = tuple(with_integrals(each, change) for each in expression)
        return parts if any(one is not other for one, other in zip(parts, expression, strict=True)) else expression
    if not hasattr(expression, "terms"):
        return expression
    if hasattr(expression, "green"):
        return change(expression)
    given = {each.name: getattr(expression, each.name) for each in fields(expression) if each.init}
    found = {name: with_integrals(each, change) for name, each in given.items()}
    return replace(expression, **found) if any(found[name] is not given[name] for name in given) else expression


def local_matrix(operator: Any) -> sp.csr_array:
    """The sum of the terms of an expression that are sparse, as a sparse matrix (rows, columns)."""
    total = sp.csr_array(operator.shape)
    for term in terms_of(operator):
        if term.atom.is_local:
            matrix = term.atom.matrix.T if term.transposed else term.atom.matrix
            matrix = (matrix.conj() if term.conjugated else matrix).tocoo()
            places = matrix.coords[0] + term.top, matrix.coords[1] + term.left
            total = total + sp.coo_array((term.factor * matrix.data, places), operator.shape).tocsr()
    return total


def full_rows(array: NDArray[Any]) -> NDArray[Any]:
    """The array with rows that lie one after the other.

    For a part of an array they are full rows that begin at the first entry of the part, so that its columns have the
    right numbers. (They end beyond those of the array, the last one beyond the array itself: nothing is written there,
    as the part is no wider than its columns.)
    """
    if array.flags.c_contiguous:
        return array
    pitch = array.strides[0] // array.itemsize
    return np.lib.stride_tricks.as_strided(array, (len(array), pitch), array.strides)


class ArrayPlace:
    """An array (rows, columns) with contiguous rows, or a part of one, to which the entries of an operator are added.

    advance(done, total) is called after tiles. A matrix on a device has the same attributes and methods
    (dense/device.py). hosts: whether what is computed in a part can be added to other parts from there.
    """

    hosts = True

    def __init__(self, array: NDArray[Any], execution: Execution, advance: Any = None) -> None:
        self.array, self.execution, self.advance = array, execution, advance
        self.shape, self.dtype = array.shape, array.dtype

    @property
    def target(self) -> NDArray[Any]:
        """The array that `add_block` adds to."""
        return full_rows(self.array)

    def part(self, top: int, left: int, shape: tuple[int, int]) -> "ArrayPlace":
        if shape == self.shape:
            return self
        return ArrayPlace(self.array[top : top + shape[0], left : left + shape[1]], self.execution, self.advance)

    def temporary(self, shapes: list[tuple[tuple[int, int], bool]]) -> Callable[[tuple[int, int], bool], "ArrayPlace"]:
        """Room for further matrices of these shapes, complex if so, one after the other: a function that gives the
        place of each, zero."""
        bytes_of = [rows * columns * self.execution.dtype(kind).itemsize for (rows, columns), kind in shapes]
        size = max(bytes_of, default=0)
        require_memory(size, "one block of the equations in addition to the matrix", "try precision='single'")
        room = aligned(size, np.uint8)

        def place(shape: tuple[int, int], is_complex: bool) -> ArrayPlace:
            kind = self.execution.dtype(is_complex)
            block = room[: shape[0] * shape[1] * kind.itemsize].view(kind).reshape(shape)
            block.fill(0)
            return ArrayPlace(block, self.execution, self.advance)

        return place

    def add_entries(self, values: NDArray[Any], rows: Index, columns: Index) -> None:
        self.array[rows, columns] += values.astype(self.dtype)

    def add(self, other: "ArrayPlace", factor: complex, transposed: bool, conjugated: bool) -> None:
        """Add a multiple of what was computed in a temporary place."""
        block = other.array.T if transposed else other.array
        kind = self.dtype if np.imag(factor) else self.array.real.dtype
        scale = np.asarray(factor if np.imag(factor) else np.real(factor), kind)
        # rows that stay in the cache
        step = max(1, 1_000_000 // max(1, block.shape[1] * block.itemsize))
        for n in range(0, len(block), step):
            piece = block[n : n + step].conj() if conjugated else block[n : n + step]
            self.array[n : n + step] += scale * piece

    def symmetrise(self) -> None:
        """S is replaced by S + S^T."""
        symmetrise(self.target)

    def scale_columns(self, factors: NDArray[Any]) -> None:
        self.array *= factors.astype(self.dtype)

    @contextmanager
    def on_host(self, what: str) -> Iterator[NDArray[Any]]:
        """A context with an array of the host that is added to this place at its end, or is this place."""
        yield self.array


def fill(place: Any, operator: Any, rows: Index | None = None, columns: Index | None = None) -> None:
    """place = matrix[rows][:, columns], where it is zero; rows and columns ascending, all for None.

    Of whole matrices symmetric integral operators come first, integrated by half (symmetry.py). An atom that is used
    more than once is computed once: in one of its places, if nothing else is there yet, else in a temporary matrix.
    """
    if rows is not None or columns is not None:
        _fill_part(place, operator, rows, columns)
        return
    order = _in_order(operator, place.hosts)
    for region, terms in order.whole.items():
        _fill_region(place.part(*region), terms)
    for group, host in order.hosted:
        _fill_shared(place, group, host)
    for term in order.rest:
        _add_term(place.part(*term.region), term, None, None)
    _add_temporary(place, order.temporary)


def temporary_bytes(operator: Any, precision: str) -> int:
    """Bytes of the temporary matrix of `fill` in an array, in that precision."""
    atoms = [group[0].atom for group in _in_order(operator, ArrayPlace.hosts).temporary]
    return max((math.prod(each.shape) * each.dtype(precision).itemsize for each in atoms), default=0)


def entries_of(
    operator: Any, execution: Execution, rows: Index | None, columns: Index | None, advance: Any = None
) -> NDArray[Any]:
    """The entries of an expression in ascending rows and columns, all for None; advance: called as by a place."""
    shape = [size if each is None else len(each) for size, each in zip(operator.shape, (rows, columns), strict=True)]
    block = np.zeros(shape, execution.dtype(operator.is_complex))
    fill(ArrayPlace(block, execution, advance), operator, rows, columns)
    return block


class _Order(NamedTuple):
    """The terms of an expression in the order in which `fill` takes them: those of whole regions, in which symmetric
    operators are integrated by half; atoms with several uses, where one of them stands; what is added where it stands;
    and atoms with several uses that need a temporary matrix."""

    whole: dict[Region, list[Term]]
    hosted: list[tuple[list[Term], Term]]
    rest: list[Term]
    temporary: list[list[Term]]


def _in_order(operator: Any, hosts: bool) -> _Order:
    """The order of the terms of an expression; hosts: of the place."""
    # terms by atoms: those of a sparse one, or of one plain use, are added where they stand
    uses: dict[Any, list[Term]] = {}
    for term in terms_of(operator):
        uses.setdefault(term.atom.key, []).append(term)
    direct, shared = [], []
    for group in uses.values():
        if group[0].atom.is_local or (len(group) == 1 and group[0].is_plain):
            direct += group
        else:
            shared.append(group)
    whole, rest = _separated(direct)
    order, written = _Order(whole, [], rest, []), list(whole)
    for group in shared:
        host = _host(group, written) if hosts else None
        if host is None:
            order.temporary.append(group)
        else:
            order.hosted.append((group, host))
            written += [term.region for term in group]
    return order


def _separated(direct: list[Term]) -> tuple[dict[Region, list[Term]], list[Term]]:
    """Terms that need a place that is zero, by their places, none of which overlaps another one; all others. An atom
    that fills a whole place has no other term of the first kind there."""
    whole: dict[Region, list[Term]] = {}
    rest = []
    for term in direct:
        region = term.region
        there = whole.get(region, [])
        alone = not any(_overlap(region, other) for other in whole if other != region)
        halves = all(each.atom.is_symmetric for each in [*there, term])
        if alone and (halves or (term.atom.fills and not there)):
            whole.setdefault(region, []).append(term)
        else:
            rest.append(term)
    return whole, rest


def _overlap(one: Region, other: Region) -> bool:
    (top, left, (rows, columns)), (below, right, (height, width)) = one, other
    return top < below + height and below < top + rows and left < right + width and right < left + columns


def _host(group: list[Term], written: list[Region]) -> Term | None:
    """A term of an atom in whose place the atom can be computed for all of its terms: nothing is written there, and no
    other term overlaps it."""
    for term in group:
        others = [*written, *(other.region for other in group if other is not term)]
        if term.is_plain and not any(_overlap(term.region, other) for other in others):
            return term
    return None


def _fill_shared(place: Any, group: list[Term], host: Term) -> None:
    """Compute an atom where one of its terms stands, and add it from there where the others stand."""
    source = place.part(*host.region)
    fill(source, host.atom)
    for term in group:
        if term is not host:
            place.part(*term.region).add(source, term.factor, term.transposed, term.conjugated)
    if host.factor != 1:
        source.scale_columns(np.full(source.shape[1], host.factor))


def _fill_region(place: Any, terms: list[Term]) -> None:
    """place = sum of terms, symmetric ones by half, or one that fills a whole place."""
    if terms[0].atom.fills:
        terms[0].atom.fill_to(place, terms[0].factor)
        return
    for term in terms:
        term.atom.add_half_to(place, term.factor)
    place.symmetrise()


def _add_term(place: Any, term: Term, rows: Index | None, columns: Index | None) -> None:
    """place += the rows and columns of a term that needs no temporary matrix."""
    if term.atom.is_local:
        term.atom.add_to(place, term.factor, rows, columns, term.transposed, term.conjugated)
    else:
        term.atom.add_to(place, term.factor, rows, columns)


def _add_temporary(place: Any, groups: list[list[Term]]) -> None:
    """Add atoms, each computed once in a temporary matrix, in all places where they stand."""
    if not groups:
        return
    room = place.temporary([(group[0].atom.shape, group[0].atom.is_complex) for group in groups])
    for group in groups:
        atom = group[0].atom
        other = room(atom.shape, atom.is_complex)
        fill(other, atom)
        for term in group:
            place.part(*term.region).add(other, term.factor, term.transposed, term.conjugated)


def _fill_part(place: Any, operator: Any, rows: Index | None, columns: Index | None) -> None:
    for term in terms_of(operator):
        top, height, own_rows = _within(rows, term.top, term.shape[0], operator.shape[0])
        left, width, own_columns = _within(columns, term.left, term.shape[1], operator.shape[1])
        if not height or not width:
            continue
        target = place.part(top, left, (height, width))
        if term.is_plain or term.atom.is_local:
            _add_term(target, term, own_rows, own_columns)
            continue
        shape, kept = (height, width), (own_rows, own_columns)
        if term.transposed:
            shape, kept = shape[::-1], kept[::-1]
        other = place.temporary([(shape, term.atom.is_complex)])(shape, term.atom.is_complex)
        fill(other, term.atom, *kept)
        target.add(other, term.factor, term.transposed, term.conjugated)


def _within(chosen: Index | None, first: int, count: int, size: int) -> tuple[int, int, Index | None]:
    """The numbers (ascending; None for all `size`) in the run of `count` from `first`: where they begin among the
    chosen, how many, and which."""
    if chosen is None or len(chosen) == size:
        return first, count, None
    if count == size:
        return 0, len(chosen), chosen
    begin, end = np.searchsorted(chosen, [first, first + count])
    return int(begin), int(end - begin), chosen[begin:end] - first
