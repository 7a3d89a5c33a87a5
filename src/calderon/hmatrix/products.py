"""Kernels on stored blocks: products with vectors, dense blocks filled, entries in them found."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends.numba import first_at_least, jitable_part, kernel
from calderon.galerkin.rows.entry_kernels import block
from calderon.hmatrix.vector_ops import add_multiple, dot

ROW, HEIGHT, COLUMN, WIDTH, RANK, OFFSET, BLOCK = range(7)
"""Columns of the table of stored blocks: first row, rows, first column, columns, rank (-1 for a dense block), place of
the numbers, number in the block tree. A dense block is stored row by row, others cross by cross: u, then v."""


@jitable_part
def multiply_dense(block, m, n, x_here, x_there, y_here, y_there, down, across):
    """y_here (m,) += B x_here (n,) (down), y_there (n,) += B^T x_there (m,) (across), for a dense block B (m, n),
    flat."""
    for i in range(m):
        entries = block[i * n : (i + 1) * n]
        if down:
            y_here[i] += dot(entries, x_here, y_here[i] * 0)
        if across:
            add_multiple(y_there, x_there[i], entries)


@jitable_part
def multiply_low_rank(part, m, n, rank, x_here, x_there, y_here, y_there, down, across):
    """The products of `multiply_dense` for B = sum_l u_l v_l^T; part: `rank` crosses, u (m,) then v (n,); other
    arguments as in `multiply_dense`."""
    for l in range(rank):
        u = part[l * (m + n) : l * (m + n) + m]
        v = part[l * (m + n) + m : (l + 1) * (m + n)]
        if down:
            add_multiple(y_here, dot(v, x_here, y_here[0] * 0), u)
        if across:
            add_multiple(y_there, dot(u, x_there, y_there[0] * 0), v)


@kernel
def multiply(numbers, table, x, rows, columns, down, across):
    """Add products of some stored blocks with vectors; table (blocks, 7): where each block and its `numbers` are.

    down: rows (k, M) += A x with x (k, N); across: columns (k, N) += A^T x with x (k, M), for k vectors and a matrix A
    of M x N that has these blocks alone. With both, A is symmetric, one half of it is stored, x, rows and columns have
    one numbering, rows and columns may be one array, and blocks on the diagonal count once.
    """
    for b in range(len(table)):
        r, m, c, n = table[b, ROW], table[b, HEIGHT], table[b, COLUMN], table[b, WIDTH]
        rank, start = table[b, RANK], table[b, OFFSET]
        back = across and not (down and r == c)
        for k in range(len(x)):
            here = x[k, c : c + n] if down else x[k, :0]
            there = x[k, r : r + m] if back else x[k, :0]
            y, z = rows[k, r : r + m], columns[k, c : c + n]
            if rank < 0:
                multiply_dense(numbers[start : start + m * n], m, n, here, there, y, z, down, back)
            else:
                part = numbers[start : start + rank * (m + n)]
                multiply_low_rank(part, m, n, rank, here, there, y, z, down, back)


@kernel
def entries_inside(indptr, indices, table, out):
    """Fill out with the numbers of the entries of a sparse matrix (indptr, indices, sorted) that lie in the blocks of
    table (blocks, 7), in the order of these.

    Returns how many there are, also beyond the room of out.
    """
    count = 0
    for b in range(len(table)):
        low, high = table[b, COLUMN], table[b, COLUMN] + table[b, WIDTH]
        for i in range(table[b, ROW], table[b, ROW] + table[b, HEIGHT]):
            at = first_at_least(indices, indptr[i], indptr[i + 1], low)
            while at < indptr[i + 1] and indices[at] < high:
                if count < out.size:
                    out[count] = at
                count += 1
                at += 1
    return count


@kernel
def fill(functions, pairs, table, indptr, indices, special, scratch, out):
    """Dense blocks of the pairs (b, 2) of clusters, described by table, into out[OFFSET:], with the entries of the
    sparse matrix of special pairs (indptr, indices, special) added; returns how many. functions: the board of
    `CompiledRows.functions`; scratch: its working memory."""
    count = 0
    for b in range(len(table)):
        m, n, start = table[b, HEIGHT], table[b, WIDTH], table[b, OFFSET]
        place = out[start : start + m * n].reshape((m, n))
        block(functions, pairs[b, 0], pairs[b, 1], scratch, place)
        low, high, first = table[b, COLUMN], table[b, COLUMN] + n, table[b, ROW]
        for i in range(m):
            at, last = indptr[first + i], indptr[first + i + 1]
            at = first_at_least(indices, at, last, low)
            while at < last and indices[at] < high:
                place[i, indices[at] - low] += special[at]
                count += 1
                at += 1
    return count


def sorted_parts(matrix: sp.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Starts of rows, columns in order and values of a sparse matrix."""
    matrix = matrix.tocsr()
    matrix.sort_indices()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data
