"""Any block of rows and columns of a Galerkin matrix of edge functions."""

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.galerkin.block import Block, Rows
from calderon.galerkin.forms.edge import ELECTRIC, MAGNETIC, MAGNETIC_ROTATED, Form
from calderon.galerkin.regular.edge_tables import edge_scales, edge_test, edge_trial
from calderon.galerkin.regular.edge_tile import edge_scratch, edge_tile_kernel
from calderon.greens import Radial
from calderon.integrands import ELECTRIC_FIELD
from calderon.pairs.classes import TouchingPairs
from calderon.pairs.rules import Batch


class EdgeBlock(Block):
    """A block of the electric or magnetic field between edge functions; those of the trial side are not rotated, nor
    of the test side of the electric field."""

    @property
    def electric(self) -> bool:
        """Which of the two fields."""
        return self.integrand is ELECTRIC_FIELD

    @property
    def form(self) -> Form:
        """The local matrix."""
        if self.electric:
            return ELECTRIC
        return MAGNETIC_ROTATED if self.test_space.rotated else MAGNETIC

    def _coefficients(self, factor: complex) -> NDArray[np.float64]:
        """(4,) Re and Im of what multiplies the integrals, and of 4 / k^2."""
        k = complex(self.green.wavenumber) / self.scale
        # f_i . f_j has no dimension, div f_i div f_j / k^2 neither
        alpha = factor * (1j * k * self.scale if self.electric else 1.0) * self.scale ** (-3 + (not self.electric))
        alpha /= 4 * math.pi
        charge = 4 / k**2
        return np.array([alpha.real, alpha.imag, charge.real, charge.imag])

    def _compile(self, radial: Radial, factor: complex) -> None:
        self.coefficients = self._coefficients(factor)
        self.scalars = self._scalars()
        if not self.electric:
            self.moments = self._moment_kernels("gradient")
        self.square = self.form is MAGNETIC
        self.tile = edge_tile_kernel(radial, self.form)
        self.scatter = electric_scatter_kernel() if self.electric else magnetic_scatter_kernel()

    def _sides(self) -> None:
        degree, real = self.quadrature.regular, self.real
        test, trial = self.test_space, self.trial_space
        self.test_scales = edge_scales(test, self.test.triangles, self.scale)
        self.trial_scales = edge_scales(trial, self.trial.triangles, self.scale)
        self.test_side = edge_test(test, self.test_surface, self.test_scales, degree, self.square, real)
        surface, places = self.trial_surface, self.trial.places
        self.trial_side = edge_trial(trial, surface, self.trial_scales, places, degree, real)
        self.test_corners = self.corners_of_moments()

    def corners_of_moments(self) -> NDArray[np.float64]:
        """Corners (n, 3, 3) of the test triangles, turned by the cross product with the normal where functions are."""
        if not self.square:
            return self.test_surface.corners
        return np.cross(self.test_surface.corners, self.test_surface.normals[:, None])

    def _coarse(self) -> bool:
        return False  # entries of loops and of the magnetic field are small beside the largest

    def _acting(self, touching: TouchingPairs) -> TouchingPairs:
        # f_i, x - y and f_j in one plane: nothing
        return touching if self.electric else touching.part(touching.shared < 3)

    def add_regular(self, number: int, rows: Rows | None = None) -> None:
        for lo, hi, (out, tile_rows, row_ids, _) in self.strips(number, rows):
            scratch = edge_scratch(self.form, len(row_ids), self.trial_side.points.shape[1], self.real)
            self.tile(
                self.test_side, self.trial_side, self.skip_start, self.skip_position, self.scalars, lo, hi,
                self.half, tile_rows, row_ids, scratch, out,
            )  # fmt: skip

    def integrals(self, batch: Batch) -> NDArray[np.float64]:
        """Moments (2, n, 3, 3) of the n pairs of a batch, of the magnetic field (3, 2, n, 3, 3)."""
        test = self.test_surface
        if self.electric:
            return self._moments(batch, test)
        if batch.close is None:
            return self._all_moments(batch, test, 3)
        directions = [test._replace(normals=np.broadcast_to(e, test.normals.shape).copy()) for e in np.eye(3)]
        return np.stack([self._moments(batch, each) for each in directions])

    def _add_pairs(self, batch: Batch, rows: Rows) -> None:
        self.scatter(
            self.integrals(batch), batch.pairs, self.test_corners, self.trial_surface.corners,
            self.test_scales, self.trial_scales, rows.places, self.trial.places, self.coefficients, self.half, rows.out,
        )  # fmt: skip


@functools.lru_cache(maxsize=1)
def electric_scatter_kernel() -> Callable[..., None]:
    """Compiled scatter(moments, pairs, test, trial, test_scales, trial_scales, rows, columns, coefficients, half, out):
    adds s_a s_b alpha (sum_mn (v_m - v_a) . (w_n - w_b) M_mn - 4/k^2 sum_mn M_mn) of pairs of triangles.

    moments (2, n, 3, 3) in the order of the rule; test and trial corners (triangles, 3, 3), scales (triangles, 3);
    rows, columns (triangles, 3) places in out or -1; coefficients Re and Im of alpha and of 4/k^2; half: pairs of a
    triangle with itself count half.
    """

    @kernel
    def scatter(moments, pairs, test, trial, test_scales, trial_scales, rows, columns, coefficients, half, out):  # type: ignore[no-untyped-def]
        alpha, charge = complex(coefficients[0], coefficients[1]), complex(coefficients[2], coefficients[3])
        products = np.empty((3, 3))
        for pair in range(pairs.triangles.shape[0]):
            i, j = pairs.triangles[pair, 0], pairs.triangles[pair, 1]
            order, trial_order = pairs.test_order[pair], pairs.trial_order[pair]
            x, y = test[i], trial[j]
            for m in range(3):
                for n in range(3):  # from corner 0 of each
                    products[m, n] = 0.0
                    for c in range(3):
                        products[m, n] += (x[order[m], c] - x[0, c]) * (y[trial_order[n], c] - y[0, c])
            total, product = 0.0j, 0.0j
            by_test, by_trial = np.zeros(3, np.complex128), np.zeros(3, np.complex128)
            for m in range(3):
                for n in range(3):
                    value = complex(moments[0, pair, m, n], moments[1, pair, m, n])
                    total += value
                    product += products[m, n] * value
                    by_test[m] += value
                    by_trial[n] += value
            factor = alpha * (0.5 if half and i == j else 1.0)
            for m in range(3):
                a = order[m]
                row = rows[i, a]
                if row < 0:
                    continue
                left = 0.0j
                for n in range(3):
                    left += products[m, n] * by_trial[n]
                for n in range(3):
                    b = trial_order[n]
                    column = columns[j, b]
                    if column < 0:
                        continue
                    right = 0.0j
                    for k in range(3):
                        right += products[k, n] * by_test[k]
                    entry = product - left - right + (products[m, n] - charge) * total
                    out[row, column] += factor * (test_scales[i, a] * trial_scales[j, b]) * entry

    return scatter


@functools.lru_cache(maxsize=1)
def magnetic_scatter_kernel() -> Callable[..., None]:
    """Compiled scatter(moments, pairs, test, trial, test_scales, trial_scales, rows, columns, coefficients, half, out):
    adds s_a s_b alpha sum_mn (p_m - p_a) . (M_mn x (w_n - w_b)) of pairs of triangles.

    moments (3, 2, n, 3, 3) of (G'/r) (x - y); test (triangles, 3, 3): p = v x n (or v for rotated functions); the rest
    as in `electric_scatter_kernel`.
    """

    @kernel
    def scatter(moments, pairs, test, trial, test_scales, trial_scales, rows, columns, coefficients, half, out):  # type: ignore[no-untyped-def]
        alpha = complex(coefficients[0], coefficients[1])
        p, q = np.empty((3, 3)), np.empty((3, 3))
        for pair in range(pairs.triangles.shape[0]):
            i, j = pairs.triangles[pair, 0], pairs.triangles[pair, 1]
            order, trial_order = pairs.test_order[pair], pairs.trial_order[pair]
            for m in range(3):
                for c in range(3):  # from corner 0 of each
                    p[m, c] = test[i, order[m], c] - test[i, 0, c]
                    q[m, c] = trial[j, trial_order[m], c] - trial[j, 0, c]
            k0, k1, k2, u0, u1, u2, v0, v1, v2, product = 0j, 0j, 0j, 0j, 0j, 0j, 0j, 0j, 0j, 0j
            for m in range(3):
                for n in range(3):
                    v = moments[:, :, pair, m, n]
                    h0, h1, h2 = complex(v[0, 0], v[0, 1]), complex(v[1, 0], v[1, 1]), complex(v[2, 0], v[2, 1])
                    k0, k1, k2 = k0 + h0, k1 + h1, k2 + h2
                    c0, c1 = h1 * q[n, 2] - h2 * q[n, 1], h2 * q[n, 0] - h0 * q[n, 2]
                    c2 = h0 * q[n, 1] - h1 * q[n, 0]
                    u0, u1, u2 = u0 + c0, u1 + c1, u2 + c2
                    product += p[m, 0] * c0 + p[m, 1] * c1 + p[m, 2] * c2
                    v0 += p[m, 1] * h2 - p[m, 2] * h1
                    v1 += p[m, 2] * h0 - p[m, 0] * h2
                    v2 += p[m, 0] * h1 - p[m, 1] * h0
            for m in range(3):
                a = order[m]
                row = rows[i, a]
                if row < 0:
                    continue
                left = p[m, 0] * u0 + p[m, 1] * u1 + p[m, 2] * u2
                c0, c1 = p[m, 1] * k2 - p[m, 2] * k1, p[m, 2] * k0 - p[m, 0] * k2
                c2 = p[m, 0] * k1 - p[m, 1] * k0
                for n in range(3):
                    b = trial_order[n]
                    column = columns[j, b]
                    if column < 0:
                        continue
                    rest = q[n, 0] * (c0 - v0) + q[n, 1] * (c1 - v1) + q[n, 2] * (c2 - v2)
                    out[row, column] += alpha * (test_scales[i, a] * trial_scales[j, b]) * (product - left + rest)

    return scatter
