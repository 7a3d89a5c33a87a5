"""Adaptive cross approximation with partial pivoting: a block of low rank from a few of its rows and columns.

A ~ sum_l u_l v_l^T. Each step computes one row of the residual, takes its largest entry as pivot, and one column
through it (M. Bebendorf, Numer. Math. 86 (2000) 565; M. Bebendorf and S. Rjasanow, Computing 70 (2003) 1). The
next row is the one where u is largest.

When to stop. The usual test, |u| |v| small, looks at the last step only, and is deceived where a block falls into parts
that do not know each other (double layers of two faces of a body), or begins with rows of zeros (both clusters in one
plane). Here rows of the residual are judged: the block has converged when consecutive rows have norms that, if all
rows were like them, make an error below the tolerance: the row where the last u is largest, and a row elsewhere. That
is a row far from all those that were seen, and one that crosses have reached little: the one with the largest
apart_i / sum over l of |u_l|^2, each u scaled to a largest entry of one, where apart_i is the least squared distance
from a row that was seen, in extents of the cluster along each axis. A cross says nothing of the rows in which its u is
zero, however large others have made the approximation there: in the magnetic field of a thin slab currents on one side
see the other side only, those along x see those along y, and few on the boundary see all of them.

And rows on a mirror plane of both clusters say nothing of what is odd under the reflection, however many they are: on a
bar of equal cells, two of whose four edges lie in such a plane, all rows of these two converge while half of the block
is wrong by any amount. The rows that an isometry leaves in their places lie in a plane, a line or a point, so that rows
it moves are far from those seen. Unequal extents are made equal, since thin bodies are the ones with few places.

A column, chosen likewise, is judged last: rows alone may all lie in a part
that has converged (nodes on the face that the other cluster lies in, next to nodes on other faces). A row that fails is
the next pivot row, and so is the row where a column that fails is largest, so that tests cost little. A block that has
failed a test after others had passed has parts, and is judged by another row and column from then on.

Rounding errors have no low rank. Below the magnitude that entries of touching functions leave of them, a block whose
rows have not become smaller by STAGNANT crosses has converged: what is left is noise, and cancels in products. Nothing
larger is left out for it, as the many entries of large blocks would add up in products with smooth vectors.
"""

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import number
from calderon.galerkin.rows.entry_kernels import column, row
from calderon.hmatrix.vector_ops import add_multiple_at, conjugated_dot_at, magnitude2, multiply_by, square, square_at

FULL, NO_ROOM = -1, -2
"""Outcomes of a block other than a rank: no low rank, and no room for the next cross."""
ROWS_JUDGED, COLUMNS_JUDGED = 2, 1
"""Consecutive rows and then columns below the tolerance that end a block."""
EMPTY_ROWS_JUDGED, EMPTY_COLUMNS_JUDGED = 6, 2
"""Consecutive rows and then columns below the tolerance that end a block which has shown only zeros so far."""
DECEPTIONS = 2
"""Rows and columns at most that are judged in addition, one for each test that failed after others had passed."""
FLOOR, TINY = 1e-3, 1e-30
"""Added to squared distances, as functions on one triangle have one place, and to how far rows were reached."""
FARTHEST = 4.0
"""More than the squared distance of any two places."""
STAGNANT, SMALLER = 8, 0.5
"""Crosses that leave the least square of a pivot row so far above this part of what it was: there is noise alone."""


@jitable_part
def residual_row(part, m, n, rank, i):
    """Subtract row i of the crosses from row i of the block, which follows them: the residual. Return its square, and
    the place of its largest entry.

    part: `rank` crosses one after the other, u (m,) then v (n,), and the row where the next v will be.
    """
    size = m + n
    at = rank * size + m
    for l in range(rank):
        add_multiple_at(part, at, -number(part, l * size + i), part, l * size + m, n)
    best, place = magnitude2(number(part, at)), 0
    for j in range(1, n):
        value = magnitude2(number(part, at + j))
        if value > best:
            best, place = value, j
    return square_at(part, at, n), place


@jitable_part
def residual_column(part, m, n, rank, j):
    """Subtract column j of the crosses from column j of the block, which is where the next u will be; part, m, n and
    rank as in `residual_row`."""
    size = m + n
    for l in range(rank):
        add_multiple_at(part, rank * size, -number(part, l * size + m + j), part, l * size, m)


@jitable_part
def largest_unused(u, used):
    """The place of the largest of the numbers u (m,) where `used` (m,) is False, -1 if all are used."""
    best, place = u[0].real * 0 - 1, -1
    for i in range(u.size):
        if not used[i]:
            value = magnitude2(u[i])
            if value > best:
                best, place = value, i
    return place


@jitable_part
def least_known(used, reached, apart):
    """The unused place i with the largest apart_i / reached_i: far from the places that were seen, reached little by
    crosses; -1 if all are used.

    used (m,): places that were seen; reached (m,): sum of |u|^2, see `reach`; apart (m,): see `see`.
    """
    best, place = apart[0] * 0 - 1, -1
    for i in range(used.size):
        if not used[i]:
            value = (apart[i] + FLOOR) / (reached[i] + TINY)
            if value > best:
                best, place = value, i
    return place


@jitable_part
def see(points, scale, start, i, used, apart):
    """Mark place i as used, and update the least squared distances `apart` (m,) of all places from those that were
    seen.

    points (3, n): places of the unknowns, those of the cluster from `start` on; scale (3,): 1 / its extents along each
    axis.
    """
    used[i] = True
    x, y, z = points[0, start + i], points[1, start + i], points[2, start + i]
    for l in range(apart.size):
        a, b, c = points[0, start + l] - x, points[1, start + l] - y, points[2, start + l] - z
        a, b, c = a * scale[0], b * scale[1], c * scale[2]
        apart[l] = min(apart[l], a * a + b * b + c * c)


@jitable_part
def norm_update(part, m, n, rank, u2, v2):
    """The contribution of the cross number `rank` to the squared Frobenius norm of the crosses before it.

    u2, v2: its |u|^2 and |v|^2; part, m, n: as in `residual_row`.
    """
    size = m + n
    total, at, zero = u2 * v2, rank * size, number(part, rank * size) * 0
    for l in range(rank):
        a = conjugated_dot_at(part, l * size, at, m, zero)
        b = conjugated_dot_at(part, l * size + m, at + m, n, zero)
        total += 2 * (a * b).real
    return total


@jitable_part
def reach(u, v, i, following, rows_reached, columns_reached):
    """Add |u|^2 and |v|^2 of a cross through row i to rows_reached (m,) and columns_reached (n,), u scaled to a
    largest entry of one. following: the next pivot row, -1 for none."""
    scale = magnitude2(u[i])  # the residual is largest there or in a row that was not used
    if following >= 0:
        scale = max(scale, magnitude2(u[following]))
    for l in range(u.size):
        rows_reached[l] += magnitude2(u[l]) / scale
    for l in range(v.size):
        columns_reached[l] += magnitude2(v[l])


@jitable_part
def failing_row(
    functions, r, start, n, rank, columns, bound, part, u, used, rows_used, reached, apart, points, scale, scratch
):
    """Judge up to `columns` columns of the residual; the row where the first one that fails is largest, -1 if none
    fails.

    functions: the board of `CompiledRows.functions`; r: the row cluster; start, n: first column of the block and their
    number; bound: squared error below which a column passes (times n); part, u: `rank` crosses, and the place (m,) of
    the column after them; used, reached, apart (n,): of columns, see `least_known`; rows_used (m,); points, scale: of
    columns, see `see`; scratch: working memory of the functions.
    """
    i = -1
    while i < 0 and columns > 0:
        j = least_known(used, reached, apart)
        if j < 0:
            break
        columns -= 1
        see(points, scale, start, j, used, apart)
        column(functions, r, start + j, scratch, u)
        residual_column(part, u.size, n, rank, j)
        if square(u) * n > bound:
            i = largest_unused(u, rows_used)
    return i


@jitable_part
def skeleton(functions, r, c, row_start, column_start, m, n, limits, zero2, noise2, part, rows_used, columns_used,
             known, points, scratch):  # fmt: skip
    """Fill `part` with the crosses (u, v) of the m x n block of clusters r and c from row_start and column_start on;
    return their number, FULL if low rank saves no memory, or NO_ROOM if `part` is too short.
    limits[0]: relative tolerance; zero2, noise2: squared errors, in the Frobenius norm, that the block may have if that
    is larger, and of rounding. rows_used (m,), columns_used (n,): False at first; known: reached (m + n), 0 at first,
    and apart (m + n), FARTHEST at first, of rows, then columns; points: `Places` of rows, then of columns; functions,
    scratch: as in `failing_row`."""
    size, most, tolerance2 = m + n, m * n // (m + n), limits[0] * limits[0]
    rows_reached, columns_reached = known[:m], known[m:size]
    rows_apart, columns_apart = known[size : size + m], known[size + m :]
    row_points, row_scales, column_points, column_scales = points
    row_scale, column_scale = row_scales[r], column_scales[c]
    rank, judged, needed, deceived = 0, 0, EMPTY_ROWS_JUDGED, 0
    norm2 = least2 = limits[0] * 0
    waiting, i = -1, m // 2
    while i >= 0:
        if (rank + 1) * size > part.size:
            return NO_ROOM
        u, v = part[rank * size : rank * size + m], part[rank * size + m : (rank + 1) * size]
        row(functions, row_start + i, c, scratch, v)
        v2, j = residual_row(part, m, n, rank, i)
        see(row_points, row_scale, row_start, i, rows_used, rows_apart)
        bound = max(tolerance2 * norm2, zero2)  # of m times the square of a row: the block if all rows were like it
        # a small row: judge another one, then columns; a row or column that fails is the next pivot row
        if v2 * m <= bound:
            judged += 1  # consecutive small rows; `deceived` counts tests that failed after others had passed
            if judged < needed:
                i = least_known(rows_used, rows_reached, rows_apart)
                if i >= 0:
                    continue
            i = failing_row(
                functions, r, column_start, n, rank, COLUMNS_JUDGED + deceived if rank > 0 else EMPTY_COLUMNS_JUDGED,
                bound, part, u, columns_used, rows_used, columns_reached, columns_apart, column_points, column_scale,
                scratch,
            )  # fmt: skip
            judged, deceived = 0, min(deceived + 1, DECEPTIONS) if rank > 0 else 0
            continue
        # no more crosses than memory permits, and none that are noise
        if rank == most:
            return FULL
        waiting += 1
        if waiting == 0 or v2 * m < SMALLER * least2:
            least2, waiting = v2 * m, 0
        if waiting == STAGNANT and least2 <= noise2:
            return rank
        # the next cross, v scaled to 1 at the pivot and u through it, the norm of all, and the next pivot row
        deceived = min(deceived + 1, DECEPTIONS) if judged > 0 and rank > 0 else deceived
        judged, needed = 0, ROWS_JUDGED + deceived
        v2 /= magnitude2(v[j])
        multiply_by(v, 1 / v[j])
        column(functions, r, column_start + j, scratch, u)
        residual_column(part, m, n, rank, j)
        see(column_points, column_scale, column_start, j, columns_used, columns_apart)
        norm2 += norm_update(part, m, n, rank, square(u), v2)
        following = largest_unused(u, rows_used)
        reach(u, v, i, following, rows_reached, columns_reached)
        rank += 1
        i = following
    return rank


@kernel
def approximate(functions, places, points, blocks, first, limits, errors, work, ranks, flags, known, scratch):
    """Approximate blocks (b, 2) of row and column clusters, from number `first` on, until `work` is full; return the
    number of the next block.

    functions: the board of `CompiledRows.functions`. places: start and stop of the row clusters, then of the column
    clusters. points: see `Places`, of the rows, then of the columns. limits: relative tolerance in the Frobenius norm,
    and the magnitude below which an entry may be noise. errors (b,): the error that each block may have if it is
    larger, 0 for noise. work: numbers of the matrix; crosses (u, v) of the blocks one after the other, u first. ranks
    (b,): number of crosses of each block, or FULL (nothing in work). flags (m + n,) bool and known (2 (m + n),) real
    for the largest block. scratch: working memory of the functions.
    """
    row_start, row_stop, column_start, column_stop = places
    done = 0
    for b in range(first, len(blocks)):
        r, c = blocks[b, 0], blocks[b, 1]
        m, n = row_stop[r] - row_start[r], column_stop[c] - column_start[c]
        size, noise2, zero2 = m + n, limits[1] * limits[1] * m * n, errors[b] * errors[b]
        # nothing is used or reached, and all places are far from those that were seen
        flags[:size] = False
        known[:size] = 0
        known[size : 2 * size] = FARTHEST
        rank = skeleton(
            functions, r, c, row_start[r], column_start[c], m, n, limits,
            zero2 if zero2 > 0 else noise2, noise2, work[done:], flags[:m], flags[m:size], known[: 2 * size], points,
            scratch,
        )  # fmt: skip
        # the crosses stay in work, unless the next call begins with this block
        if rank == NO_ROOM:
            return b
        ranks[b] = rank
        if rank > 0:
            done += rank * size
    return len(blocks)
