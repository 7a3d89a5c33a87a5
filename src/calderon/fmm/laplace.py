"""Layers of Laplace's equation in the fast multipole method: moments of their functions, and what one needs in turn."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Execution, require_memory, run_tasks
from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, width
from calderon.fmm.device.moments import DeviceMoments
from calderon.fmm.layout import Layout
from calderon.fmm.moment_store import Moments
from calderon.fmm.near import near_store
from calderon.fmm.orders import LAPLACE, Promise, better_orders
from calderon.fmm.passes import Translations, multiply
from calderon.fmm.point_expansions import basis_moments
from calderon.fmm.product import HarmonicFar, Line, MultipoleProduct
from calderon.fmm.tables import Combined, Order, Part, Tables, tables
from calderon.operators.boundary import IntegralOperator
from calderon.operators.tree import Term
from calderon.pairs.zones import tolerant
from calderon.products.check import Check, checked_rows, random_rows
from calderon.products.direct_sums import padded_zeros
from calderon.products.near_store import NearStore
from calderon.spaces.charges import KINDS, charges
from calderon.spaces.pieces import Pieces
from calderon.spaces.space import Space

SHARE = 4096
"""Triangles of a task, about."""
PARTS = {
    "value": [Part(0, 0, 0)],
    "normal": [Part(0, c, 1 + c, 1.0, 1) for c in range(3)],
    "curl": [Part(c, c, 0) for c in range(3)],
}
"""Parts of the moments of each kind of charges: dipoles along normals take derivatives, those of curls are apart."""


class MomentsKey(NamedTuple):
    """All that moments of functions depend on: layers of an expression with equal keys share them. layout: its
    identity; kind: of charges; degree: of the quadrature rule; real, stored: types of sums and of numbers in memory."""

    layout: int
    space: Space
    kind: str
    degree: int
    order: Order
    real: np.dtype[Any]
    stored: np.dtype[Any]

    @staticmethod
    def both(operator: IntegralOperator, layout: Layout, order: Order, rtol: float) -> "list[MomentsKey]":
        """The keys of the test and of the trial functions of an operator, for products of this tolerance."""
        integrand = operator.integrand
        single = rtol >= LAPLACE.far and integrand.normal == "none"
        real = np.dtype(np.float32 if single else np.float64)
        kinds = ["curl" if integrand.curls else "normal" if integrand.normal == side else "value"
                 for side in ("test", "trial")]  # fmt: skip
        rest = operator.quadrature.regular, order, real, stored_type(real, rtol)
        return [MomentsKey(id(layout), space, kind, *rest)
                for space, kind in zip((operator.test, operator.trial), kinds, strict=True)]  # fmt: skip


def stored_type(real: Any, rtol: float) -> Any:
    """The type of numbers in memory where products of this tolerance are computed in `real`."""
    return np.dtype(np.float32) if rtol >= LAPLACE.stored else real


class LaplaceLayer:
    """One layer of Laplace's equation, as `Layers` of galerkin.py.

    rtol: the tolerance of its products. processor: in whose precision entries are, unless rtol allows single precision.
    layout_of(operator, promise): its tree, which operators on the same spaces share. devices: the one where its near
    blocks are made, if there is one. next_to_single: of a double layer, whether its errors are relative to its jump
    where that is larger. kept: moments of functions that other layers of the same expression have made.
    """

    def __init__(
        self,
        operator: IntegralOperator,
        rtol: float,
        processor: Execution,
        layout_of: Callable[[IntegralOperator, Promise], Layout],
        devices: Sequence[Device] = (),
        next_to_single: bool = False,
        kept: dict[MomentsKey, Moments] | None = None,
    ) -> None:
        self._next_to_single = next_to_single
        self._kept = {} if kept is None else kept
        self._used: dict[MomentsKey, Moments] = {}
        operator = tolerant(operator, rtol, loosened=False)
        self.operator, self.terms, self.rtol, self.name = operator, [Term(1.0, operator)], rtol, operator.integrand.name
        self._devices, self._layout_of, self._has_normal = devices, layout_of, operator.integrand.normal != "none"
        self._execution = Execution.of("numba", "single") if rtol >= LAPLACE.computed else processor

    @cached_property
    def checks(self) -> list[Check]:
        """Random rows, and columns of a double layer."""
        sides = (False, True) if self._has_normal else (False,)
        return [layer_check(self.operator, self._execution, transposed, self._devices) for transposed in sides]

    @cached_property
    def _sizes(self) -> list[NDArray[np.float64]]:
        """The sizes of terms at each of the checks."""
        return [layer_sizes(self.operator, each) for each in self.checks]

    def layout(self, promise: Promise) -> Layout:
        """The tree of both spaces."""
        return self._layout_of(self.operator, promise)

    def near(self, layout: Layout) -> list[NearStore]:
        """Exact entries between neighbouring leaves."""
        operator = tolerant(self.operator, self.rtol)
        real = self._execution.real
        stored = stored_type(real, self.rtol)
        return [near_store(operator, 1.0, layout, self._execution, stored, real, devices=self._devices)]

    def far(self, layout: Layout, promise: Promise) -> HarmonicFar:
        """Moments of both sides; of one where they are equal."""
        operator, lines = self.operator, list[Line]()
        keys = MomentsKey.both(operator, layout, promise.order, self.rtol)
        table = tables(promise.order, keys[0].real == np.float32)
        moments: Moments | DeviceMoments
        self._used = {}
        for side, key in zip((layout.rows, layout.columns), keys, strict=True):
            if lines and keys[0] == keys[1]:
                lines.append(lines[0])
                continue
            pieces = side.pieces(key.space)
            able = [each for each in self._devices if each.has_double or key.real == np.float32]
            if able:
                combined = Combined(key.kind, PARTS[key.kind], 1.0, key.real, key.stored)
                own = pieces.space.scalar, pieces.starts, key.degree
                moments = DeviceMoments(able[0], *own, combined, layout, table)
            else:
                moments = self._kept.get(key) or moments_of(pieces, key.degree, key.kind, layout, table, key.stored)
                self._used[key] = moments
            lines.append(Line(0, pieces, moments, 3 if key.kind == "curl" else 1))
        far, found = layout.lists.far, [layout.boxes_with(line.pieces) for line in (lines[0], lines[-1])]
        if not all(each.all() for each in found):
            far = far.of_pairs(found[0][far.target] & found[1][far.source])
        passes = Translations(layout.tree, far, table, lines[0].sums)
        scale = 1 / (4 * np.pi * layout.tree.cube.edge ** (1 + sum(each.kind == "normal" for each in keys)))
        return HarmonicFar(layout, lines[:1], lines[1:], passes, scale)

    def keep_moments(self) -> int:
        """Keep the moments of the last far field for other layers; the bytes of those that were there already."""
        there = sum(each.nbytes for key, each in self._used.items() if key in self._kept)
        self._kept.update(self._used)
        return there

    def errors(self, product: MultipoleProduct) -> list[float]:
        """The errors of products at each of the checks. Next to single layers they are relative to the jump, if that is
        larger. Where a surface lies in one plane, normal derivatives are zero: errors of products below 1e-8 of the
        size of terms between leaves that do not touch are compared with that."""
        if self._next_to_single:
            return [float(each.errors(each.products(product), partial(jump_of, self.operator, each)).max())
                    for each in self.checks]  # fmt: skip
        scale = product.layout.mean_edge**2
        return [float(each.errors(each.products(product), partial(np.divide, size, scale), 1e-8).max())
                for each, size in zip(self.checks, self._sizes, strict=True)]  # fmt: skip

    def following(self, orders: tuple[Promise, ...], error: float) -> tuple[Promise, ...]:
        """The orders that are left after the first of them had this error."""
        return better_orders(orders, error, self.rtol)


def moments_of(pieces: Pieces, degree: int, kind: str, layout: Layout, table: Tables, stored: np.dtype[Any]) -> Moments:
    """Moments of n pieces of functions about the centres of their leaves: a run of r for each piece and component.

    degree: of the quadrature rule, whose points each thread holds for some leaves at a time; kind: "value", "normal" or
    "curl" of `Charges`, where normals are dipoles; table: of the basis and its r combinations; stored: type of moments.
    """
    tree, starts, rank, lanes = layout.tree, pieces.starts, table.rank, width(table.numbers.dtype)
    real, normal, given = table.numbers.dtype, kind == "normal", "value" if kind == "normal" else kind
    components, box = KINDS[given][1], np.repeat(layout.lists.leaves, np.diff(starts))
    out = Moments.empty(components * len(box), rank, stored, real)
    matrix = np.ascontiguousarray(table.expand[1:] if normal else table.expand[:1]).ravel()
    centre, edge, size, shares = tree.centre, tree.edge, (3 if normal else 1) * table.functions, pieces.runs(SHARE)

    def work(task: int) -> None:
        """Store the moments of the pieces of some leaves."""
        first, last, _ = shares[task]
        low, high = int(starts[first]), int(starts[last])
        # points of some leaves, and of each component the charges (pieces, points) there
        found, numbers = charges(pieces.alone(*shares[task]), degree, given), np.arange(high - low)
        points = tree.inside(found.points)
        for component, rows in enumerate(found.gather(given)):
            places = padded_zeros(3, rows.nnz, real)
            weights = padded_zeros(3 if normal else 1, rows.nnz, real)
            begin = rows.indptr.astype(np.int64)
            put_charges(points, found.normals, begin, rows.indices, rows.data, box[low:high], centre, edge, normal,
                        places, weights)  # fmt: skip
            # moments with all basis functions, then with the r columns of the table
            each = basis_moments(places, weights, begin, table.order.p)
            into = aligned((high - low) * rank, real)
            multiply(matrix, rank // lanes, size, each.ravel(), numbers, size, into, numbers, rank, 0, high - low)
            out.numbers.reshape(-1, components, rank)[low:high, component] = into.reshape(-1, rank)

    run_tasks(work, len(shares))
    return out


@kernel
def put_charges(points, normals, begin, indices, data, box, centre, edge, dipoles, places, weights):
    """Store where charges of pieces are, relative to the centres of their leaves over their edges, and the charges.

    points, normals (m, 3): of all points; piece n has the charges data at the points `indices` from begin[n] up to,
    without, begin[n + 1]; box (n,): its leaf, among centre (boxes, 3) and edge (boxes,); dipoles: whether charges are
    dipoles along normals, over the edges. places (3, charges), weights (1 or 3, charges): are written.
    """
    for n in range(begin.size - 1):
        b = box[n]
        for e in range(begin[n], begin[n + 1]):
            point = indices[e]
            for c in range(3):
                places[c, e] = (points[point, c] - centre[b, c]) / edge[b]
                if dipoles:
                    weights[c, e] = data[e] * normals[point, c] / edge[b]
            if not dipoles:
                weights[0, e] = data[e]


def layer_check(
    operator: IntegralOperator, execution: Execution, transposed: bool, devices: Sequence[Device] = ()
) -> Check:
    """The check of one integral operator, or of its transpose, with a random vector and, but for curls, which take
    constants to zero, a constant one; each has its own error. execution: precision of the entries;
    devices: the first one computes them, if there is one."""
    random = np.random.default_rng(0)
    count, size = operator.shape[:: -1 if transposed else 1]
    rows = random_rows(random, count)
    vectors = random.standard_normal((size, 1 if operator.integrand.curls else 2))
    vectors[:, 1:] = 1.0
    require_memory(8 * len(rows) * size, f"{len(rows)} rows of {operator!r}", "try a coarser mesh")
    matrix = operator.T if transposed else operator
    _, exact = checked_rows(matrix, [operator], rows, execution.real, devices, vectors)
    return Check(rows, vectors, exact, np.arange(vectors.shape[1]), transposed=transposed)


def jump_of(operator: IntegralOperator, check: Check) -> NDArray[np.float64]:
    """(vectors,) norms of half of the mass matrix times the vectors, at the checked rows."""
    one, other = (operator.trial, operator.test)[:: -1 if check.transposed else 1]
    return check.norms(one.mass_matrix(other)[check.rows] @ check.vectors / 2)


def layer_sizes(operator: IntegralOperator, check: Check) -> NDArray[np.float64]:
    """(vectors,) norms of the checked products if terms had the distance 1, of operators with a normal derivative, of
    which a flat surface has none; else 0."""
    if operator.integrand.normal == "none":
        return np.zeros(check.vectors.shape[1])
    spaces = (operator.test, operator.trial)[:: -1 if check.transposed else 1]
    masses = [np.sqrt(np.maximum(space.mass_matrix(space).diagonal(), 0)) for space in spaces]
    rows, columns = (mass * float(space.mesh.areas.mean()) ** 0.5 for mass, space in zip(masses, spaces, strict=True))
    terms = np.linalg.norm(columns[:, None] * check.vectors, axis=0)
    return np.asarray(np.linalg.norm(rows[check.rows]) * terms / (4 * np.pi))
