"""Matrices without a mesh: a kernel of points, given by compiled rows."""

import cmath
import math

import numpy as np
import scipy.sparse as sp

from calderon.backends.numba import jitable_part
from calderon.galerkin.rows.entry_kernels import CompiledRows


@jitable_part
def entry(data, i, j):
    """1 / |x - y| or exp(ikr) / r of points, with a row of normals: their product with the direction."""
    x, y, normals, k, ones = data[0], data[1], data[2], data[3], data[4]
    d0, d1, d2 = x[i, 0] - y[j, 0], x[i, 1] - y[j, 1], x[i, 2] - y[j, 2]
    r = math.sqrt(d0 * d0 + d1 * d1 + d2 * d2) + k[1]
    flat = 1.0
    if normals.shape[0] > 0:
        flat = (d0 * normals[j, 0] + d1 * normals[j, 1] + d2 * normals[j, 2]) / (r * r)
    if r == 0.0:
        return ones[0] * 0
    if k[0] == 0.0:
        return ones[0] * (flat / r)
    phase = cmath.exp(1j * k[0] * r) * (flat / r)
    return ones[0] * phase.real + ones[1] * phase.imag


@jitable_part
def row(data, i, cluster, scratch, out):
    start, stop = data[7], data[8]
    for j in range(start[cluster], stop[cluster]):
        out[j - start[cluster]] = entry(data, i, j)


@jitable_part
def column(data, cluster, j, scratch, out):
    start, stop = data[5], data[6]
    for i in range(start[cluster], stop[cluster]):
        out[i - start[cluster]] = entry(data, i, j)


@jitable_part
def block(data, row_cluster, column_cluster, scratch, out):
    for i in range(data[5][row_cluster], data[6][row_cluster]):
        for j in range(data[7][column_cluster], data[8][column_cluster]):
            out[i - data[5][row_cluster], j - data[7][column_cluster]] = entry(data, i, j)


def point_matrix(rows, columns, x, y, k=0.0, shift=0.0, normals=None, dtype=np.float64, symmetric=False):
    """CompiledRows of the kernel between points x (m, 3) and y (n, 3), numbered by two cluster trees."""
    dtype = np.dtype(dtype)
    ones = np.array([1, 1j] if dtype.kind == "c" else [1, 0], dtype)
    normals = np.zeros((0, 3)) if normals is None else np.ascontiguousarray(normals[columns.order])
    data = (
        np.ascontiguousarray(x[rows.order]),
        np.ascontiguousarray(y[columns.order]),
        normals,
        np.array([k, shift]),
        ones,
        rows.start,
        rows.stop,
        columns.start,
        columns.stop,
    )
    empty = sp.csr_array((len(x), len(y)), dtype=dtype)
    real = np.zeros(0, dtype).real.dtype
    return CompiledRows((len(x), len(y)), dtype, real, row, column, block, data, 1, empty, lambda: empty, symmetric)


def dense(x, y, k=0.0, shift=0.0, normals=None):
    """The matrix of the points by NumPy, in their order."""
    d = x[:, None] - y[None]
    r = np.linalg.norm(d, axis=2) + shift
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.exp(1j * k * r) / r if k else 1 / r
        if normals is not None:
            value = value * (d * normals[None]).sum(axis=2) / r**2
    value[r == 0] = 0
    return value


def sphere_points(n, seed=0):
    """Random points on the unit sphere."""
    x = np.random.default_rng(seed).standard_normal((n, 3))
    return x / np.linalg.norm(x, axis=1)[:, None]
