"""Moments of displacements, forces and dislocations: elastic sums are four harmonic ones.

With kappa = 8 pi (1 - nu) and d = x - y, Kelvin's displacement of a force t at y is (P. F. Papkovich; H. Neuber 1934)

    u_i = (phi_i + x_i chi) / (2 mu kappa),
    phi_i = (3 - 4 nu) t_i / r - y_i t.grad_y (1/r),    chi = t.grad_y (1/r),

and that of a dislocation b with the normal n the same without 2 mu, with S_jk = nu b.n delta_jk + (1/2 - nu) (b_j n_k +
n_j b_k) and

    phi_i = 2 S_ij d_j (1/r) - y_i chi,    chi = n_j b_k d_j d_k (1/r).

What is added to x and y at once cancels. Points are measured from the centre of the tree where boxes meet, and from
that of their leaf in moments, which need fewer digits then: `move_origin` adds what is between these centres.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.vectors import aligned, width
from calderon.fmm.harmonics import Basis, gradients
from calderon.fmm.layout import Layout
from calderon.fmm.moment_store import Moments
from calderon.fmm.p2m_l2p import SUMS
from calderon.fmm.passes import multiply
from calderon.fmm.point_expansions import basis_moments
from calderon.fmm.tables import Tables
from calderon.products.direct_sums import padded
from calderon.spaces.charges import charges

Array = NDArray[np.float64]
SHARE = 256
"""Functions of a task."""
SINGLE = 18
"""Highest degree of moments in single precision, unless they are stored in double: numbers of higher harmonics are too
small for it."""


class Fields(NamedTuple):
    """kind: "value" of displacements that test, "force" or "dislocation" of fields on a scalar space; ratio: Poisson's;
    factor: of all moments; degree: of the quadrature."""

    space: Any
    kind: str
    ratio: float
    factor: float
    degree: int


def elastic_moments(
    fields: Fields, layout: Layout, leaf_starts: NDArray[np.int64], table: Tables, real: Any
) -> Moments:
    """Moments of n pieces of functions, those of each leaf from leaf_starts on: for each piece, three components and
    the four harmonic sums a run of r moments, or, where fields are values, for each piece and sum one, with the charges
    1 and y. real: the type of numbers, None for 16 bits."""
    tree = layout.tree
    found, p = charges(fields.space, fields.degree, "value"), table.order.p
    places, rows = tree.inside(found.points), sp.csr_array(found.gather("value")[0])
    starts, count = rows.indptr.astype(np.int64), int(leaf_starts[-1])
    each = (1 if fields.kind == "value" else 3) * SUMS
    out = Moments.empty(count * each, table.rank, real)
    box, single = np.repeat(layout.lists.leaves, np.diff(leaf_starts)), p <= SINGLE and real != np.float64
    real, unit = np.dtype(np.float32 if single else np.float64), float(np.abs(rows.data).max(initial=1e-300))
    centre, edge = tree.centre, tree.edge
    combine = _Combination.of(table, fields._replace(factor=unit * fields.factor), real)

    def work(task: int) -> None:
        """Store the moments of SHARE pieces."""
        low, high = task * SHARE, min((task + 1) * SHARE, count)
        # points of some functions, in units of their boxes
        points, weights = rows.indices[starts[low] : starts[high]], rows.data[starts[low] : starts[high]] / unit
        around = np.repeat(box[low:high], np.diff(starts[low : high + 1]))
        y = places[points]
        x = padded(((y - centre[around]) / edge[around, None]).T, real)
        # moments of 1 and y, for dislocations times each component of the normal
        raw = []
        for n in found.normals[points].T if fields.kind == "dislocation" else [1.0]:
            given = padded(np.concatenate([[weights * n], weights * n * (y - centre[around]).T]), real)
            raw.append(basis_moments(x, given, starts[low : high + 1] - starts[low], p))
        # combined to those of the components, and stored
        made = np.empty((high - low, each // SUMS, SUMS, combine.values.shape[1]), real)
        combine.enter(made, raw, edge[box[low:high], None].astype(real))
        out.enter(made[..., : table.rank].reshape(-1, table.rank), low * each)

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
    def of(table: Tables, fields: Fields, real: Any) -> "_Combination":
        """The tables in a precision, with rows and columns filled up to whole vectors."""
        lanes, (_, *sizes) = width(real), table.expand.shape
        size, rank = (-(-each // lanes) * lanes for each in sizes)
        expand = np.zeros((4, size, rank), real)
        expand[:, : sizes[0], : sizes[1]] = table.expand
        derivatives = np.concatenate(list(expand[1:]), axis=1)
        return _Combination(fields, expand[0], derivatives, _moves(table.order.p, size, real))

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
            # dislocations: first and second derivatives
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


@functools.lru_cache(maxsize=4)
def _moves(p: int, size: int, real: Any) -> list[sp.csr_array]:
    """The `moves` of `_Combination` for a degree and so many basis functions, with zeros behind them."""
    factor = Basis.of(p).factor
    spread = sp.eye_array(len(factor), size, format="csr")
    scaled = (sp.diags_array(factor) @ each.T @ sp.diags_array(1 / factor) for each in gradients(p))
    return [(spread.T @ each @ spread).astype(real) for each in scaled]
