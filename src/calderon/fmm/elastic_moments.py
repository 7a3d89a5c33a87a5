"""Moments of displacements, forces and dislocations: elastic sums are four harmonic ones.

With kappa = 8 pi (1 - nu) and d = x - y, Kelvin's displacement of a force t at y is (P. F. Papkovich; H. Neuber 1934)

    u_i = (phi_i + x_i chi) / (2 mu kappa),
    phi_i = (3 - 4 nu) t_i / r - y_i t.grad_y (1/r),    chi = t.grad_y (1/r),

and that of a dislocation b with the normal n the same without 2 mu, with S_jk = nu b.n delta_jk + (1/2 - nu) (b_j n_k +
n_j b_k) and

    phi_i = 2 S_ij d_j (1/r) - y_i chi,    chi = n_j b_k d_j d_k (1/r).

Points are measured from the centre of the tree: what is added to x and y at once cancels.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, lanes, load, number, store, width, zero
from calderon.fmm.harmonics import Basis, gradients
from calderon.fmm.lists import Lists
from calderon.fmm.near import load_as, total
from calderon.fmm.octree import Octree
from calderon.fmm.point_expansions import inverse_products, moment_kernel, padded
from calderon.fmm.tables import Tables
from calderon.fmm.translations import multiply
from calderon.spaces.charges import charges

Array = NDArray[np.float64]
SHARE = 256
"""Functions of a task."""
SUMS = 4
"""Harmonic sums: phi_1, phi_2, phi_3 and chi."""


class Fields(NamedTuple):
    """kind: "value" of displacements that test, "force" or "dislocation" of fields on a scalar space; ratio: Poisson's;
    factor: of all moments; degree: of the quadrature."""

    space: Any
    kind: str
    ratio: float
    factor: float
    degree: int


def elastic_moments(
    fields: Fields, tree: Octree, lists: Lists, leaf_starts: NDArray[np.int64], table: Tables, real: Any
) -> NDArray[Any]:
    """(n 3 4 r,) moments of the four sums for three components of each of n pieces, those of each leaf
    from leaf_starts on; of values
    those of 1 and y, (n 4 r,)."""
    found, p = charges(fields.space, fields.degree, "value"), table.order.p
    places, rows = tree.inside(found.points), sp.csr_array(found.gather("value")[0])
    starts, count = rows.indptr.astype(np.int64), int(leaf_starts[-1])
    size = (1 if fields.kind == "value" else 3) * SUMS * table.rank
    out = aligned(count * size, real)
    box = np.repeat(lists.leaves, np.diff(leaf_starts))
    centre, edge, inverse = tree.centre, tree.edge, inverse_products(p, np.float64)
    pitch, run, vector = table.functions, moment_kernel(4), width(np.float64)
    combine = _Combination.of(table, fields)

    def work(task: int) -> None:
        low, high = task * SHARE, min((task + 1) * SHARE, count)
        points, weights = (each[starts[low] : starts[high]] for each in (rows.indices, rows.data))
        around = np.repeat(box[low:high], np.diff(starts[low : high + 1]))
        y = places[points]
        x = padded(((y - centre[around]) / edge[around, None]).T, np.float64)
        room = aligned((4 * pitch + 4) * vector, np.float64)
        raw = []
        for n in found.normals[points].T if fields.kind == "dislocation" else [1.0]:
            given = padded(np.concatenate([[weights * n], weights * n * (y.T - 0.5)]), np.float64)
            part = aligned((high - low) * 4 * pitch, np.float64)
            run(*x, given.ravel(), given.shape[1], starts[low : high + 1] - starts[low], p, inverse, pitch, room, part,
                0, high - low)  # fmt: skip
            raw.append(part.reshape(high - low, 4, pitch))
        into = out[low * size : high * size].reshape(high - low, -1, SUMS, table.rank)
        combine.enter(into, raw, edge[box[low:high], None])

    run_tasks(work, -(-count // SHARE))
    return out


class _Combination(NamedTuple):
    """values, derivatives: matrices from basis functions to combinations; moves: from basis functions to derivatives of
    them, in x, y and z."""

    fields: Fields
    values: NDArray[Any]
    derivatives: NDArray[Any]
    moves: list[sp.csr_array]

    @staticmethod
    def of(table: Tables, fields: Fields) -> "_Combination":
        factor, size = Basis.of(table.order.p).factor, table.functions
        spread = sp.eye_array(len(factor), size, format="csr")
        moves = [spread.T @ (sp.diags_array(factor) @ each.T @ sp.diags_array(1 / factor)) @ spread
                 for each in gradients(table.order.p)]  # fmt: skip
        derivatives = np.concatenate(list(table.expand[1:]), axis=1)
        return _Combination(fields, np.ascontiguousarray(table.expand[0]), derivatives, moves)

    def enter(self, into: NDArray[Any], raw: list[Array], edge: Array) -> None:
        """into (n, 3, 4, r), of values (n, 1, 4, r), from the moments (n, 4, K') of 1 and y, times the components of
        the normal, and the edges (n, 1) of the boxes."""
        count, rank, (_, kind, ratio, factor, _) = len(into), into.shape[-1], self.fields
        if kind == "value":
            into[:, 0] = self._times(raw[0], self.values)
        elif kind == "force":
            along = self._times(raw[0], self.derivatives).reshape(count, 4, 3, rank) / edge[..., None, None]
            own = (3 - 4 * ratio) * self._times(raw[0][:, 0], self.values)
            into[:, :, :3] = -along[:, 1:].transpose(0, 2, 1, 3)
            into[:, :, 3] = along[:, 0]
            for i in range(3):
                into[:, i, i] += own
        else:
            first = np.stack([self._times(each[:, 0], self.derivatives).reshape(count, 3, rank) for each in raw], 1)
            first /= edge[..., None, None]
            divergence = sum(
                each.reshape(-1, each.shape[-1]) @ move for each, move in zip(raw, self.moves, strict=True)
            )
            second = self._times(np.asarray(divergence).reshape(count, 4, -1), self.derivatives)
            second = second.reshape(count, 4, 3, rank) / edge[..., None, None] ** 2
            trace = (1 - 2 * ratio) * (first[:, 0, 0] + first[:, 1, 1] + first[:, 2, 2])
            into[:, :, :3] = 2 * ratio * first + (1 - 2 * ratio) * first.transpose(0, 2, 1, 3)
            into[:, :, :3] -= second[:, 1:].transpose(0, 2, 1, 3)
            into[:, :, 3] = second[:, 0]
            for i in range(3):
                into[:, i, i] += trace
        into *= factor

    def _times(self, raw: Array, matrix: NDArray[Any]) -> NDArray[Any]:
        """raw (..., K') times matrix (K', n), in this thread alone."""
        given, (size, width_) = np.ascontiguousarray(raw, matrix.dtype), matrix.shape
        count, out = given.size // size, aligned(given.size // size * width_, matrix.dtype)
        numbers, vectors = np.arange(count), width_ // width(matrix.dtype)
        multiply(matrix.ravel(), vectors, size, given.ravel(), numbers, size, out, numbers, width_, 0, count)
        return out.reshape(*raw.shape[:-1], width_)


@kernel
def from_values(functions, starts, x, count, boxes, rank, moments, low, high):  # type: ignore[no-untyped-def]
    """Moments of the leaves low .. high from `count` vectors with three coefficients of each function, whose values
    test."""
    width, size, length = lanes(moments), 4 * rank, 3 * starts[len(starts) - 1]
    for i in range(low, high):
        for j in range(starts[i], starts[i + 1]):
            at = j * size
            for q in range(count):
                first, mine = (boxes[i] * count + q) * size, q * length + 3 * j
                for k in range(0, rank, width):
                    one, chi = load_as(functions, at + k, moments), load(moments, first + 3 * rank + k)
                    for c in range(3):
                        f, place = number(x, mine + c), first + c * rank + k
                        store(moments, place, load(moments, place) + one * f)
                        chi = chi + load_as(functions, at + (c + 1) * rank + k, moments) * f
                    store(moments, first + 3 * rank + k, chi)


@kernel
def to_values(functions, starts, local, boxes, rank, y, count, low, high):  # type: ignore[no-untyped-def]
    """Add to `count` vectors y the displacements of the leaves low .. high tested with values of functions in three
    directions."""
    width, size, length = lanes(local), 4 * rank, 3 * starts[len(starts) - 1]
    for i in range(low, high):
        for j in range(starts[i], starts[i + 1]):
            at = j * size
            for q in range(count):
                first, mine = (boxes[i] * count + q) * size, q * length + 3 * j
                for c in range(3):
                    t = zero(local)
                    for k in range(0, rank, width):
                        phi, chi = load(local, first + c * rank + k), load(local, first + 3 * rank + k)
                        t = t + load_as(functions, at + k, local) * phi
                        t = t + load_as(functions, at + (c + 1) * rank + k, local) * chi
                    y[mine + c] += total(t)
