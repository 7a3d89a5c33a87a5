"""Blocks of the magnetic field tested with fields that are affine on each triangle."""

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import kernel
from calderon.galerkin.block import Rows
from calderon.galerkin.edge_block import EdgeBlock
from calderon.galerkin.forms.edge import MAGNETIC_AFFINE, Form
from calderon.galerkin.regular.edge_tables import EdgeTest, edge_scales, edge_trial, frames_of
from calderon.galerkin.regular.element_tables import Surface, packed, points_of
from calderon.pairs.rules import Batch
from calderon.quadrature import triangle_rule


class DualBlock(EdgeBlock):
    """A block of the magnetic field of edge functions, tested with `spaces.dual_tests`: t . (n x E) = (t x n) . E."""

    @property
    def form(self) -> Form:
        return MAGNETIC_AFFINE

    def _sides(self) -> None:
        degree, real = self.quadrature.regular, self.real
        self.trial_scales = edge_scales(self.trial_space, self.trial.triangles, self.scale)
        self.test_corners = self.crossed_values()
        self.test_side = affine_test(self.test_surface, self.test_corners, degree, real)
        surface, places = self.trial_surface, self.trial.places
        self.trial_side = edge_trial(self.trial_space, surface, self.trial_scales, places, degree, real)

    def crossed_values(self) -> NDArray[np.float64]:
        """(n, L, 3, 3) values of t x n of the local functions at the vertices."""
        values = self.test_space.corner_values[self.test.triangles]
        return np.cross(values, self.test_surface.normals[:, None, None])

    def _add_pairs(self, batch: Batch, rows: Rows) -> None:
        affine_scatter_kernel()(
            self.integrals(batch), batch.pairs, self.test_corners, self.trial_surface.corners, self.trial_scales,
            rows.places, self.trial.places, self.coefficients, rows.out,
        )  # fmt: skip


def affine_test(surface: Surface, crossed: NDArray[np.float64], degree: int, real: DTypeLike) -> EdgeTest:
    """Tabulate test triangles for a rule of that degree, with all products of two of the xi. arms (n, L, 6): both
    tangential components of u_0, u_1, u_2 of each local function t x n = u_0 + xi_1 u_1 + xi_2 u_2, crossed
    (n, L, 3, 3) at the vertices."""
    rule = triangle_rule(degree)
    points, centres, frames = points_of(surface, rule), surface.corners.mean(axis=1), frames_of(surface)
    xi = np.einsum("npc,ntc->npt", points - centres[:, None], frames[:, :2])
    products = np.stack([np.ones(xi.shape[:2]), *np.moveaxis(xi, 2, 0), *_products(xi)], axis=2)
    weights = surface.jacobian[:, None, None] * rule.weights[:, None]
    corners = np.einsum("nmc,ntc->nmt", surface.corners - centres[:, None], frames[:, :2])
    slopes = np.linalg.inv(np.concatenate([np.ones((len(corners), 3, 1)), corners], axis=2))  # 1, xi_1, xi_2 by vertex
    arms = np.einsum("nkm,namc,ntc->nakt", slopes, crossed, frames[:, :2], optimize=True)
    table = np.concatenate([points, weights * products], axis=2)
    return EdgeTest(*(packed(part, real) for part in (table, centres, frames, arms.reshape(*arms.shape[:2], 6))))


def _products(xi: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    return xi[..., 0] ** 2, xi[..., 0] * xi[..., 1], xi[..., 1] ** 2


@functools.lru_cache(maxsize=1)
def affine_scatter_kernel() -> Callable[..., None]:
    """Compiled scatter(moments, pairs, crossed, trial, trial_scales, rows, columns, coefficients, out): adds
    s_b alpha sum_mn c_am . (M_mn x (w_n - w_b)) of pairs of triangles.

    moments (3, 2, n, 3, 3) of (G'/r) (x - y); crossed (triangles, L, 3, 3): c_am = t_a x n at vertex m; rows
    (triangles, L); the rest as in `electric_scatter_kernel`.
    """

    @kernel
    def scatter(moments, pairs, crossed, trial, trial_scales, rows, columns, coefficients, out):  # type: ignore[no-untyped-def]
        alpha = complex(coefficients[0], coefficients[1])
        field = np.empty((3, 3, 3), np.complex128)  # of trial function b at vertex m
        for pair in range(pairs.triangles.shape[0]):
            i, j = pairs.triangles[pair, 0], pairs.triangles[pair, 1]
            for m in range(3):
                for b in range(3):
                    e0, e1, e2 = 0j, 0j, 0j
                    at, end = pairs.test_order[pair, m], pairs.trial_order[pair, b]
                    for n in range(3):
                        start = pairs.trial_order[pair, n]
                        q0 = trial[j, start, 0] - trial[j, end, 0]
                        q1 = trial[j, start, 1] - trial[j, end, 1]
                        q2 = trial[j, start, 2] - trial[j, end, 2]
                        h0 = complex(moments[0, 0, pair, m, n], moments[0, 1, pair, m, n])
                        h1 = complex(moments[1, 0, pair, m, n], moments[1, 1, pair, m, n])
                        h2 = complex(moments[2, 0, pair, m, n], moments[2, 1, pair, m, n])
                        e0, e1, e2 = e0 + h1 * q2 - h2 * q1, e1 + h2 * q0 - h0 * q2, e2 + h0 * q1 - h1 * q0
                    factor = alpha * trial_scales[j, end]
                    field[at, end, 0], field[at, end, 1], field[at, end, 2] = factor * e0, factor * e1, factor * e2
            for a in range(rows.shape[1]):
                row = rows[i, a]
                if row < 0:
                    continue
                for b in range(3):
                    column = columns[j, b]
                    if column < 0:
                        continue
                    entry = 0j
                    for m in range(3):
                        for c in range(3):
                            entry += crossed[i, a, m, c] * field[m, b, c]
                    out[row, column] += entry

    return scatter
