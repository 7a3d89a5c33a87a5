"""The steady temperature of one body: (1/2 + K) T = V q of Laplace's equation between T and its normal derivative q.

It is tested with linear functions where T is unknown, and with constants on triangles where q is.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.elastic.plan import COUNTS
from calderon.formulations.elastic.system.columns import single_layer_sizes
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh
from calderon.mesh.locality import block_order
from calderon.operators import double_layer, single_layer
from calderon.operators.methods import AUTO, PRODUCTS, Plan, candidates, first_that, least_of, method_named
from calderon.products.cost import Cost, lu_flops
from calderon.solvers import gmres, lu
from calderon.spaces import P0, P1, Function

Array = NDArray[np.float64]
PRODUCTS_RTOL, GMRES_RTOL = 1e-5, 1e-6
"""Tolerances of fast products and of GMRES: displacements are not more accurate."""


@dataclass(frozen=True, eq=False)
class HeatEquation:
    """(1/2 + K) T = V q on a closed surface.

    known (triangles,): those where T is given at all nodes. t (nodes,), q (triangles,): as far as they are given, else
    0. method: "dense", solved by factors, or "fmm", by GMRES; "auto" stands for what is expected to take less time.
    """

    mesh: TriangleMesh
    known: NDArray[np.bool_]
    t: Array
    q: Array
    method: str = AUTO

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """(nodes,) where T is unknown."""
        found = np.ones(len(self.t), bool)
        found[P1(self.mesh).dofs[self.known]] = False
        return found

    @property
    def unknowns(self) -> int:
        """The number of unknown values of T and q."""
        return int(np.count_nonzero(self.free) + np.count_nonzero(self.known))

    @cached_property
    def acting(self) -> NDArray[np.bool_]:
        """(triangles,) where q is not zero."""
        return np.asarray(self.known | (self.q != 0))

    @cached_property
    def rows(self) -> list[tuple[Any, Any]]:
        """K of all T and V of the q that are not zero, tested with linear functions where T is unknown, and with
        constants where q is."""
        nodes, faces = P1(self.mesh), P0(self.mesh)
        own, constants = nodes.selected(self.free), faces.selected(self.known)
        loaded = constants if np.array_equal(self.acting, self.known) else faces.selected(self.acting)
        tests = [own, constants] if own.dimension else [constants]
        return [(double_layer(Laplace(), nodes, test), single_layer(Laplace(), loaded, test)) for test in tests]

    @cached_property
    def plan(self) -> Plan:
        """The bytes and seconds of the solution by the chosen method."""
        count, layers = self.unknowns, [each for row in self.rows for each in row]
        entries = sum(each.shape[0] * each.shape[1] for each in layers)
        seconds = Cost(COUNTS.entry * entries + lu_flops(count, is_complex=False)).seconds
        found = [Plan(first_that("stores_entries").name, 8 * (entries + 2 * count**2), seconds, 0.0)]
        fast = first_that("joins_blocks").name
        parts = [each.plan(fast, PRODUCTS_RTOL, precision="single") for each in layers]
        nbytes = sum(each.nbytes for each in parts) + 8 * PRODUCTS * count
        found.append(Plan(fast, nbytes, *(sum(each[k] for each in parts) for k in (2, 3))))
        names = [each.name for each in candidates(self.method)]
        allowed = sorted((each for each in found if each.method in names), key=lambda each: each.expected_seconds)
        chosen = least_of(allowed)[0]
        return next(each for each in allowed if each.method == chosen)

    def solve(self) -> tuple[Function, Function]:
        """T and q."""
        nodes, faces, method = P1(self.mesh), P0(self.mesh), method_named(self.plan.method)
        options: dict[str, Any] = {"method": method.name}
        if method.compresses:
            options |= {"rtol": PRODUCTS_RTOL, "precision": "single"}
        rows = [
            (double.assemble(**options), (0.5 * nodes.mass_matrix(double.test)).tocsr(), single.assemble(**options))
            for double, single in self.rows
        ]
        sizes = 0.5 * nodes.load_vector(1.0)[self.free], single_layer_sizes(self.mesh.areas[self.known])
        scale = 1 / np.concatenate(sizes)

        def tested(t: Array, q: Array) -> Array:
            """(1/2 + K) t - V q of t (nodes, k) and q (triangles, k), in all rows."""
            parts = [double @ t + half @ t - single @ q[self.acting] for double, half, single in rows]
            return np.asarray(np.concatenate(parts))

        def product(x: Array) -> Array:
            """The matrix times unknowns (n,) or (n, k)."""
            columns = x.reshape(len(x), -1)
            t, q = np.zeros((len(self.t), columns.shape[1])), np.zeros((len(self.q), columns.shape[1]))
            t[self.free], q[self.known] = np.split(columns, [np.count_nonzero(self.free)])
            return np.asarray(scale[:, None] * tested(t, q)).reshape(x.shape)

        side = -scale * tested(self.t, self.q)
        if method.compresses:
            operator = LinearOperator((len(side),) * 2, matvec=product, matmat=product, dtype=np.float64)
            x = gmres(operator, side, rtol=GMRES_RTOL, preconditioner=self._inverse_layers(scale))[0]
        else:
            x = lu(product(np.eye(len(side)))).solve(side)
        t, q = self.t.copy(), self.q.copy()
        t[self.free], q[self.known] = np.split(x, [np.count_nonzero(self.free)])
        return Function(nodes, t), Function(faces, q)

    def _inverse_layers(self, scale: Array) -> LinearOperator:
        """A preconditioner: the identity where T is unknown, and the inverse blocks of V between neighbours where q is,
        with charges at the centroids of triangles, a softened distance apart. scale (unknowns,): of the rows."""
        first, areas, centres = len(scale) - np.count_nonzero(self.known), self.mesh.areas, self.mesh.centroids
        size = 128  # triangles of a block, whose inverse is as fast as a few products
        order = np.flatnonzero(self.known)[block_order(centres[self.known], size)]
        places = first + np.searchsorted(np.flatnonzero(self.known), order)
        blocks = []
        for low in range(0, len(order), size):
            own = order[low : low + size]
            apart = ((centres[own][:, None] - centres[own]) ** 2).sum(axis=2)
            sizes = 0.35 * np.sqrt(areas[own])  # the distance of a triangle from itself, about
            charges = np.outer(areas[own], areas[own]) / np.sqrt(apart + np.outer(sizes, sizes)) / (4 * np.pi)
            blocks.append(np.linalg.inv(charges) / -scale[places[low : low + size]])
        cuts = np.arange(size, len(order), size)

        def product(x: Array) -> Array:
            found = x.ravel().copy()
            parts = zip(blocks, np.split(found[places], cuts), strict=True)
            found[places] = np.concatenate([block @ part for block, part in parts])
            return found

        return LinearOperator((len(scale),) * 2, matvec=product, dtype=np.float64)
