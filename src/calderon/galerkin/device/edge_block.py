"""Blocks of a Galerkin matrix of edge functions computed on a device: as block.py, with the sums of
edge.h."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Source
from calderon.galerkin.block import TINY
from calderon.galerkin.device.block import GROUP, NORMALS, DeviceBlock, out_real
from calderon.galerkin.edge_block import EdgeBlock
from calderon.galerkin.regular.element_tables import Surface, points_of
from calderon.galerkin.rows.device_tables import edge_scales
from calderon.greens.green import green_defines
from calderon.integrands import ELECTRIC_FIELD, Integrand
from calderon.pairs.classes import TouchingPairs
from calderon.pairs.rules import Batch
from calderon.quadrature import triangle_rule
from calderon.spaces import EdgeSpace


class DeviceEdgeBlock(DeviceBlock, EdgeBlock):
    """A block of the electric or magnetic field on a device."""

    @property
    def components(self) -> int:  # type: ignore[override]
        """G alone, or (G'/r)(x - y) along three axes."""
        return 1 if self.electric else 3

    def _sources(self, real: str, moment: str, stored: str) -> tuple[Source, Source, Source, Source]:
        green, out = green_defines(self.green), ("OUT_COMPLEX", 1)
        form = form_define(self.integrand, self.test_space)
        sizes, normal = (("TESTS", 3), ("TRIALS", 3)), ("NORMAL", NORMALS["none" if self.electric else "test"])
        points = ("POINTS", triangle_rule(self.quadrature.regular).number_of_points)
        return (
            Source("galerkin/regular/edge_tile.c", real, (*green, form, points, *out_real(real, stored))),
            Source(
                "galerkin/special/touching_pairs.c",
                moment,
                (*sizes, ("CURLS", 0), *green, normal, ("GROUP_SIZE", GROUP)),
            ),
            Source("galerkin/special/edge_scatter.c", stored, (form, ("MOMENT_REAL", moment))),
            Source("galerkin/device/gather.c", stored, (out,)),
        )

    def _sides(self) -> None:
        rule, array = triangle_rule(self.quadrature.regular), self._array
        self.test_points = array(points_of(self.test_surface, rule))
        self.trial_points = array(np.moveaxis(points_of(self.trial_surface, rule), 0, 2))
        test_scales = edge_scales(self.test_space, self.test.triangles, self.scale)
        trial_scales = edge_scales(self.trial_space, self.trial.triangles, self.scale)
        self.weights, self.barycentric = array(rule.weights), array(rule.barycentric)
        self.scalars = array(np.array([*self.parameters, TINY[self.real]]))
        data = edge_data(self.test_surface, test_scales), edge_data(self.trial_surface, trial_scales).T
        self._send(*data, self.coefficients)

    def _acting(self, touching: TouchingPairs) -> TouchingPairs:
        self.itself = touching.pairs[touching.shared == 3]
        self.itself = self.itself[np.argsort(self.itself[:, 0], kind="stable")]
        return super()._acting(touching)

    def _host_moments(self, batch: Batch) -> NDArray[np.float64]:
        return self._all_moments(batch)

    def _regular_part(self, lo: int, hi: int) -> None:
        width = len(self.trial.triangles)
        self.device.launch(
            self.regular, "edge_regular", (width, hi - lo), (GROUP, 1), self.test_points, self.test_data,
            self.trial_points, self.trial_data, self.weights, self.barycentric, self.scalars,
            self.device_coefficients, lo, width, int(self.half), self.local, self.local_i,
        )  # fmt: skip

    def _regular(self, lo: int, hi: int) -> None:
        self._regular_part(lo, hi)
        if not self.electric:  # a triangle with itself: nothing, as f_i, x - y and f_j lie in one plane
            a, b = np.searchsorted(self.itself[:, 0], [lo, hi])
            nothing = self.device.array(np.zeros((3, b - a, 9), self._moment_type))
            order = np.tile(np.arange(3, dtype=np.int32), (b - a, 2))
            self._place(np.concatenate([self.itself[a:b], order], axis=1).astype(np.int32), nothing, nothing, lo)

    def _place(self, orders: NDArray[np.int32], moments: Any, moments_i: Any, lo: int) -> None:
        count = len(orders)
        self.device.launch(
            self.placing, "edge_place", (count,), (GROUP,), self.device.array(orders), moments, moments_i,
            *self.near_data, count, lo, len(self.trial.triangles), int(self.half), self.local, self.local_i,
        )  # fmt: skip


def form_define(integrand: Integrand, test: EdgeSpace) -> tuple[str, int]:
    """Which field a device source serves, as in edge.h."""
    return "MAGNETIC", 0 if integrand is ELECTRIC_FIELD else 2 if test.rotated else 1


def edge_data(surface: Surface, scales: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 16) normal, Jacobian, corners from the centroid, scales of each triangle."""
    corners = surface.corners - surface.corners.mean(axis=1, keepdims=True)
    return np.concatenate([surface.normals, surface.jacobian[:, None], corners.reshape(-1, 9), scales], axis=1)
