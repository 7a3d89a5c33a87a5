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
from collections.abc import Sequence
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
from calderon.fmm.tables import Combined, Part, Tables
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

    @property
    def parts(self) -> list[Part]:
        """The parts of all runs, by their runs: sum s of values, and sum s of component i, number 4 i + s, of fields.

        Fields of a part are sums of 1 and y with basis functions, numbers 0 to 3. Those of dislocations are the sums of
        each component of the normal, then of 1 and y with derivatives of basis functions along the normal.
        """
        if self.kind == "value":
            return [Part(s, s, 0) for s in range(SUMS)]
        found, less = list[Part](), 1 - 2 * self.ratio
        for i in range(3):
            phi, chi = range(SUMS * i, SUMS * i + 3), SUMS * i + 3
            if self.kind == "force":
                found += [Part(phi[s], 1 + s, 1 + i, -1.0, 1) for s in range(3)]
                found += [Part(phi[i], 0, 0, 3 - 4 * self.ratio), Part(chi, 0, 1 + i, 1.0, 1)]
                continue
            for s in range(3):
                found += [Part(phi[s], i, 1 + s, 2 * self.ratio, 1), Part(phi[s], s, 1 + i, less, 1)]
                found += [Part(phi[s], 4 + s, 1 + i, -1.0, 2), Part(phi[i], s, 1 + s, less, 1)]
            found.append(Part(chi, 3, 1 + i, 1.0, 2))
        return sorted(found, key=lambda part: part.run)

    def combined(self, p: int, real: Any) -> Combined:
        """How moments up to degree p come from charges; real: the type of numbers, None for 16 bits."""
        stored = np.dtype(np.float32 if real is None else real)
        sums = np.dtype(np.float32 if p <= SINGLE and stored == np.float32 else np.float64)
        kind = "normal arms" if self.kind == "dislocation" else "arms"
        return Combined(kind, self.parts, self.factor, sums, stored)


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
    combined = fields.combined(p, real)
    each, out = combined.runs, Moments.empty(count * combined.runs, table.rank, real)
    box, real = np.repeat(layout.lists.leaves, np.diff(leaf_starts)), combined.real
    unit = float(np.abs(rows.data).max(initial=1e-300))
    centre, edge = tree.centre, tree.edge
    combine = _Combination.of(table, combined._replace(factor=unit * fields.factor))

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
        made = np.zeros((high - low, each, combine.values.shape[1]), real)
        combine.enter(made, raw, edge[box[low:high], None].astype(real))
        out.enter(made[..., : table.rank].reshape(-1, table.rank), low * each)

    run_tasks(work, -(-count // SHARE))
    return out


class _Combination(NamedTuple):
    """parts: of all runs; factor: of all moments. values, derivatives: matrices from basis functions to combinations;
    moves: from basis functions to derivatives of them, in x, y and z."""

    parts: Sequence[Part]
    factor: float
    values: NDArray[Any]
    derivatives: NDArray[Any]
    moves: list[sp.csr_array]

    @staticmethod
    def of(table: Tables, combined: Combined) -> "_Combination":
        """The tables in the precision of sums, with rows and columns filled up to whole vectors."""
        real, (_, *sizes) = combined.real, table.expand.shape
        lanes = width(real)
        size, rank = (-(-each // lanes) * lanes for each in sizes)
        expand = np.zeros((4, size, rank), real)
        expand[:, : sizes[0], : sizes[1]] = table.expand
        derivatives = np.concatenate(list(expand[1:]), axis=1)
        moves = _moves(table.order.p, size, real)
        return _Combination(combined.parts, combined.factor, expand[0], derivatives, moves)

    def enter(self, into: NDArray[Any], raw: list[Array], edge: Array) -> None:
        """Add to into (n, runs, r), from the moments (n, 4, K') of 1 and y, times the components of the normal if there
        are three of them, and the edges (n, 1) of the boxes."""
        sums = raw[0]
        if len(raw) > 1:  # and with derivatives along normals
            along = sum(each.reshape(-1, each.shape[-1]) @ move for each, move in zip(raw, self.moves, strict=True))
            sums = np.concatenate([*(each[:, :1] for each in raw), np.reshape(along, raw[0].shape)], axis=1)
        # with the matrices that parts take
        fields = sorted({part.field for part in self.parts if not part.matrix})
        products: dict[tuple[int, int], NDArray[Any]] = {
            (field, 0): self._times(sums[:, field], self.values) for field in fields
        }
        if any(part.matrix for part in self.parts):
            found = self._times(sums, self.derivatives).reshape(*sums.shape[:2], 3, -1)
            products |= {(f, 1 + d): found[:, f, d] for f in range(sums.shape[1]) for d in range(3)}
        # and their factors
        room = np.empty_like(into[:, 0])
        for run, field, matrix, factor, power in self.parts:
            into[:, run] += np.multiply(products[field, matrix], self.factor * factor / edge**power, out=room)

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
