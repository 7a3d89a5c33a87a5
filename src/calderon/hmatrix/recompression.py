"""Fewer crosses: the best approximation U V^T of a given tolerance in the span of those that there are.

With U = Q R and V = P S from the Cholesky factors R, S of U^H U and V^H V (columns scaled to length one, whose Gram
matrices are well conditioned as crosses resemble factors of LU), the block has the singular values of M = R S^T. One-
sided Jacobi rotations Z make the columns of M Z nearly orthogonal; the shortest are left out, as many as keep the error
|M Z_out| below the tolerance, which is exact for any unitary Z, so that a few sweeps are enough. The new crosses are
U (S^T Z) and V S^-1 conj(Z).
"""

import numpy as np

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import number, put
from calderon.hmatrix.vector_ops import add_multiple_at, conjugated_dot_at, magnitude2, square_at

DEPENDENT = 1e-12
"""Squared length of a column of unit length next to those before it, below which it depends on them."""
ORTHOGONAL = 1e-2
"""Cosine of the angle below which two columns are left alone."""
SWEEPS = 6


@jitable_part
def cholesky(part, size, offset, length, rank, factor, scale):
    """Fill factor (k, k) with the upper triangle R, R^H R = D X^H X D, and scale with D that makes columns unit;
    whether all went well.

    Column l of X, of `rank`, is part[l * size + offset :][:length].
    """
    one = scale[0] * 0 + 1
    # the Gram matrix of columns of unit length
    for l in range(rank):
        at = l * size + offset
        total = square_at(part, at, length)
        if not total > 0:
            return False
        scale[l] = 1 / np.sqrt(one * total)
        for k in range(l):
            product = conjugated_dot_at(part, k * size + offset, at, length, factor[0, 0] * 0)
            factor[k, l] = product * (scale[k] * scale[l])
        factor[l, l] = 1
    # its Cholesky factor, column by column
    for l in range(rank):
        for k in range(l):
            total = factor[k, l]
            for p in range(k):
                total -= factor[p, k].conjugate() * factor[p, l]
            factor[k, l] = total / factor[k, k].real
        rest = one
        for p in range(l):
            rest -= magnitude2(factor[p, l])
        if not rest > DEPENDENT:
            return False
        factor[l, l] = np.sqrt(rest)
    return True


@jitable_part
def rotate(columns, turned, pitch, rank):
    """One sweep of Jacobi rotations over the `rank` rows of `columns` and `turned`, columns of M and Z, which begin at
    multiples of `pitch`; whether any was needed."""
    any_turned = False
    for p in range(rank - 1):
        for q in range(p + 1, rank):
            here, there = p * pitch, q * pitch
            a, b = square_at(columns, here, rank), square_at(columns, there, rank)
            g = conjugated_dot_at(columns, here, there, rank, number(columns, 0) * 0)
            g2 = magnitude2(g)
            if not g2 > ORTHOGONAL * ORTHOGONAL * a * b:
                continue
            any_turned = True
            length = np.sqrt(g2)
            zeta = (b - a) / (2 * length)
            t = 1 / (abs(zeta) + np.sqrt(1 + zeta * zeta))
            if zeta < 0:
                t = -t
            cosine = 1 / np.sqrt(1 + t * t)
            phase = g.conjugate() / length
            turn(columns, here, there, rank, cosine, t, phase)
            turn(turned, here, there, rank, cosine, t, phase)
    return any_turned


@jitable_part
def turn(x, p, q, count, cosine, t, phase):
    """Rotate `count` numbers of x from places p and q on, the latter times a phase: by the angle with that cosine
    and the tangent t."""
    for i in range(count):
        first, second = number(x, p + i), phase * number(x, q + i)
        put(x, p + i, cosine * first - cosine * t * second)
        put(x, q + i, cosine * t * first + cosine * second)


@jitable_part
def kept_columns(columns, rank, relative2, absolute2, order, lengths):
    """The number of the longest columns that are needed, and order (k,): all of them, the longest first.

    columns (k, k): of M Z, `rank` of them, one a row; relative2, absolute2: squared errors of which the larger is
    allowed; lengths (k,): filled with their squares.
    """
    total = lengths[0] * 0
    for p in range(rank):
        lengths[p] = square_at(columns[p], 0, rank)
        total += lengths[p]
        at = p
        while at > 0 and lengths[order[at - 1]] < lengths[p]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = p
    kept, rest = rank, total * 0
    allowed = max(relative2 * total, absolute2)
    while kept > 0 and rest + lengths[order[kept - 1]] <= allowed:
        kept -= 1
        rest += lengths[order[kept]]
    return kept


@jitable_part
def combine(part, size, offset, length, rank, weights, kept, out):
    """Fill column l of the result, out[l * size + offset :][:length], for l < kept, with the sum of the `rank`
    columns k of part times weights[l, k]; columns as in `cholesky`."""
    for l in range(kept):
        at = l * size + offset
        out[at : at + length] = 0
        for k in range(rank):
            add_multiple_at(out, at, weights[l, k], part, k * size + offset, length)


@jitable_part
def best_skeleton(part, m, n, rank, relative2, absolute2, table, scale, order, out):
    """Write fewer crosses than the `rank` in `part`, u (m,) then v (n,), to `out` and return how many; with as many
    they are copied.

    relative2, absolute2: squared errors in the Frobenius norm, of which the larger is allowed. table (4, k, k), scale
    (2, k), order (k,).
    """
    size = m + n
    left, right, columns, turned = table[0], table[1], table[2], table[3]
    kept = rank
    # factors R and S of both Gram matrices, and M = R S^T
    ready = rank > 1 and cholesky(part, size, 0, m, rank, left, scale[0])
    if ready and cholesky(part, size, m, n, rank, right, scale[1]):
        for p in range(rank):
            for k in range(rank):
                turned[p, k] = 0
                columns[p, k] = 0
            turned[p, p] = 1
        for p in range(rank):  # column p of M = R D^-1 E^-1 S^T with the scales D and E taken back
            for k in range(p, rank):
                value = right[p, k] / (scale[0, k] * scale[1, k])
                for i in range(k + 1):
                    columns[p, i] += left[i, k] * value
        # Jacobi rotations Z; columns of M Z that are long enough are kept
        for _sweep in range(SWEEPS):
            if not rotate(columns.reshape(-1), turned.reshape(-1), columns.shape[1], rank):
                break
        kept = kept_columns(columns, rank, relative2, absolute2, order, scale[0, :])
    if kept == rank:
        for i in range(rank * size):
            out[i] = part[i]
        return rank
    for l in range(kept):
        z = turned[order[l]]
        for k in range(rank):  # U S^T Z, where S = factor / scale
            total = z[0] * 0
            for p in range(k + 1):
                total += right[p, k] * z[p]
            left[l, k] = total / scale[1, k]
    for l in range(kept):
        z = turned[order[l]]
        for k in range(rank - 1, -1, -1):  # S^-1 conj(Z)
            total = z[k].conjugate()
            for p in range(k + 1, rank):
                total -= right[k, p] * columns[l, p]
            columns[l, k] = total / right[k, k].real
        for k in range(rank):
            columns[l, k] *= scale[1, k]
    # new u = U S^T Z, new v = V S^-1 conj(Z)
    combine(part, size, 0, m, rank, left, kept, out)
    combine(part, size, m, n, rank, columns, kept, out)
    return kept


@kernel
def recompress(work, heights, widths, ranks, tolerance, errors, table, scale, order, out):
    """Make the crosses of the blocks of a piece of work (see `aca.approximate`) fewer; heights, widths (b,): their
    sizes.

    ranks (b,) are replaced, crosses are written to out one block after the other; returns how many numbers. Each block
    may have the error `tolerance` relative to it in the Frobenius norm, or that in errors (b,) if it is larger. table
    (4, k, k) in double precision, complex for complex work, scale (2, k), order (k,): room for the largest rank. Blocks
    of negative rank have nothing in work and out.
    """
    read = written = 0
    for b in range(len(ranks)):
        rank, m, n = ranks[b], heights[b], widths[b]
        if rank <= 0:
            continue
        part, place = work[read : read + rank * (m + n)], out[written:]
        read += rank * (m + n)
        relative2, absolute2 = tolerance * tolerance, errors[b] * errors[b]
        ranks[b] = best_skeleton(part, m, n, rank, relative2, absolute2, table, scale, order, place)
        written += ranks[b] * (m + n)
    return written
