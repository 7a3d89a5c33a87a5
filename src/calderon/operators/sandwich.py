"""Dense matrices of expressions between sparse factors: out += sum_d f_d L_d^T A R_d."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution, run_tasks
from calderon.backends.numba import kernel
from calderon.mesh.locality import locality_order
from calderon.operators.tree import Term, entries_of, full_rows, terms_of

SLICE = 64_000_000
"""Bytes of the rows of A that are held at a time, or a twentieth of the result if that is more."""
ROWS_AT_ONCE = 64
"""Rows of the result that a task computes."""
LONG = 4
"""Entries of a run that are added together."""
Matrices = Sequence[sp.csr_array]
Advance = Callable[[int, int], None] | None


def held_entries(inner: Any, by_rows: bool, size: int) -> int:
    """Bytes of the entries of A that are held at a time, next to a result of `size` entries."""
    each, places = 16 if inner.is_complex else 8, None if by_rows else _places_of(inner)
    shapes = [inner.shape] if places is None else [terms[0].atom.shape for terms in places]
    whole = each * max(map(math.prod, shapes))
    return min(whole, max(SLICE, 16 * size // 20)) if by_rows else whole


def add_whole(
    out: NDArray[Any], factors: Sequence[complex], left: Matrices, right: Matrices, inner: Any, execution: Execution,
    advance: Advance,
) -> None:  # fmt: skip
    """out += sum_d factors[d] L_d^T A R_d, A computed before it is multiplied.

    out (m, n); left, right: the matrices L_d (height, m) and R_d (width, n) around the expression A, `inner`. Atoms
    that stand in several places of A are computed once, one after the other, and multiplied by the rows of the L_d and
    R_d at each of their places.
    """
    places = _places_of(inner)
    if places is None:
        _add_sandwich(out, factors, left, right, entries_of(inner, execution, None, None, advance))
        return
    for terms in places:
        entries = entries_of(terms[0].atom, execution, None, None, advance)
        height, width = entries.shape
        _add_sandwich(
            out,
            [each * term.factor for term in terms for each in factors],
            [each[term.top : term.top + height] for term in terms for each in left],
            [each[term.left : term.left + width] for term in terms for each in right],
            entries,
        )


def _places_of(inner: Any) -> list[list[Term]] | None:
    """The terms of A, those of each atom together, if one stands in several places and none is sparse, transposed or
    conjugated; else None."""
    found: dict[Any, list[Term]] = {}
    terms = terms_of(inner)
    for term in terms:
        found.setdefault(term.atom.key, []).append(term)
    if len(found) == len(terms) or any(term.atom.is_local or not term.is_plain for term in terms):
        return None
    return list(found.values())


def add_transformed(
    out: NDArray[Any],
    factors: Sequence[complex],
    left: Matrices,
    right: Matrices,
    rows_of: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[Any]],
    middles: NDArray[np.float64],
    kind: np.dtype[Any],
    advance: Advance,
) -> None:
    """out += sum_d factors[d] L_d^T A R_d, with some rows of A at a time.

    out: (m, n); factors: one for each L_d and R_d; left, right: the matrices L_d (height, m) and R_d (width, n);
    rows_of: gives the entries of A, of type `kind`, in ascending rows and columns; middles: (height, 3) places of the
    rows of A, of which neighbours come together; advance: called with the pieces that are done and their number.
    """
    height, kept = (np.flatnonzero(sum(np.diff(each.indptr) for each in side)) for side in (left, right))
    order = height[locality_order(middles[height])]
    right = [each[kept] for each in right]
    most = max(1, int(max(SLICE, out.nbytes // 20) / (max(1, len(kept)) * kind.itemsize)))
    pieces = np.array_split(order, max(1, -(-len(order) // most)))
    for number, piece in enumerate(pieces):
        needed = np.sort(piece)
        _add_sandwich(out, factors, [each[needed] for each in left], right, rows_of(needed, kept))
        if advance is not None:
            advance(number + 1, len(pieces))


def _add_sandwich(
    out: NDArray[Any], factors: Sequence[complex], left: Matrices, right: Matrices, array: NDArray[Any]
) -> None:
    """out += sum_d factors[d] L_d^T A R_d of an array A (height, width), in double precision, on all threads."""
    kind = np.result_type(out, np.float64)
    weights = [(scale * each).T.tocsr() for scale, each in zip(factors, left, strict=True)]
    # what these rows of A add to: the columns of L_d that are not empty there, those of the same row of A together
    touched = np.flatnonzero(sum(np.diff(each.indptr) for each in weights))
    places = np.min([np.append(each.indices, 0)[each.indptr[touched]] for each in weights], axis=0)
    touched = touched[np.argsort(places, kind="stable")]
    of_rows = _stacked([each[touched] for each in weights], kind)
    sides = [each.T.tocsr() for each in right]
    of_columns = _stacked(sides, np.result_type(np.float64, *right))
    given = (
        full_rows(out),
        touched,
        *of_rows,
        array.astype(kind, copy=False),
        *of_columns,
        *_runs(*of_columns[:2], sides),
    )
    run_tasks(lambda part: _add_rows(*given, part), -(-len(touched) // ROWS_AT_ONCE))


def _stacked(matrices: Matrices, kind: np.dtype[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Where rows begin, columns and entries of matrices that lie one below the other."""
    found = sp.vstack(matrices, format="csr")
    return found.indptr.astype(np.int64), found.indices.astype(np.int64), found.data.astype(kind)


def _runs(begins: NDArray[np.int64], columns: NDArray[np.int64], sides: Matrices) -> tuple[NDArray[np.int64], ...]:
    """Runs of LONG and more rows with one entry each, along a diagonal, of matrices that lie one below the other, by
    `begins` and `columns`: the first row of each and its end, and all other rows with entries; both with the first one
    of each matrix, and the end."""
    rows, counts = np.arange(len(begins) - 1), np.diff(begins)
    width = sides[0].shape[0]
    entry = np.where(counts == 1, np.append(columns, 0)[begins[:-1]], -1)
    goes_on = (entry[1:] == entry[:-1] + 1) & (entry[:-1] >= 0) & (rows[1:] % width != 0)
    first = np.flatnonzero(np.append(True, ~goes_on))
    ends = np.append(first[1:], len(rows))
    kept = (ends - first >= LONG) & (entry[first] >= 0)
    runs = np.column_stack([first, ends])[kept]
    inside = np.bincount(runs[:, 0], minlength=len(begins)) - np.bincount(runs[:, 1], minlength=len(begins))
    others = np.flatnonzero((np.cumsum(inside[:-1]) == 0) & (counts > 0))
    bounds = width * np.arange(len(sides) + 1)
    return runs, np.searchsorted(runs[:, 0], bounds), others, np.searchsorted(others, bounds)


@kernel
def _add_rows(
    out, touched, starts, places, weights, array, begins, columns, values, runs, run_ends, others, other_ends, part
):
    """Add sum_d W_d A R_d to the rows `touched` of out, those of one part.

    The W_d (touched, height) lie one below the other: row i begins at starts[i], with its columns in `places` and
    entries in `weights`. So do the R_d^T (width, columns of A), by `begins`, `columns` and `values`; runs, run_ends,
    others, other_ends: of their rows, by `_runs`. array: A. part: the number of the task.
    """
    count, sets = touched.size, run_ends.size - 1
    width = (begins.size - 1) // sets
    sums = np.empty(array.shape[1], array.dtype)
    for i in range(part * ROWS_AT_ONCE, min((part + 1) * ROWS_AT_ONCE, count)):
        target = out[touched[i]]
        for d in range(sets):
            first, last = starts[d * count + i], starts[d * count + i + 1]
            if first == last:
                continue
            # a row of W_d A, where it stands if it is a multiple of one of A
            row, scale = array[places[first]], weights[first]
            if last > first + 1:
                row, scale = sums, weights.dtype.type(1)
                for j in range(row.size):
                    row[j] = weights[first] * array[places[first], j]
                for p in range(first + 1, last):
                    for j in range(row.size):
                        row[j] += weights[p] * array[places[p], j]
            # its product with R_d: pieces, which the compiler knows to lie apart, then single columns
            for r in range(run_ends[d], run_ends[d + 1]):
                low, high = begins[runs[r, 0]], begins[runs[r, 1]]
                n, j, size = runs[r, 0] - d * width, columns[low], high - low
                y, x, v = target[n : n + size], row[j : j + size], values[low:high]
                for m in range(size):
                    y[m] += scale * (v[m] * x[m])
            for m in range(other_ends[d], other_ends[d + 1]):
                low, high = begins[others[m]], begins[others[m] + 1]
                total = values[low] * row[columns[low]]
                for q in range(low + 1, high):
                    total += values[q] * row[columns[q]]
                target[others[m] - d * width] += scale * total
