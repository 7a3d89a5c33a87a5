"""Blocks of the magnetic field tested with fields that are affine on triangles, on a device: as edge_block.py, with
the sums of dual_test.h."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Source
from calderon.galerkin.block import TINY
from calderon.galerkin.device.block import GROUP, NORMALS, out_real
from calderon.galerkin.device.edge_block import DeviceEdgeBlock, edge_data
from calderon.galerkin.dual_test_block import DualBlock
from calderon.galerkin.regular.element_tables import points_of
from calderon.galerkin.rows.device_tables import edge_scales
from calderon.greens.green import green_defines
from calderon.quadrature import triangle_rule


class DeviceDualBlock(DeviceEdgeBlock, DualBlock):
    """A block of the magnetic field of edge functions, tested with `spaces.dual_tests`, on a device."""

    @property
    def local_shape(self) -> tuple[int, int]:
        return self.test_space.dofs.shape[1], 3

    def _sources(self, real: str, moment: str, stored: str) -> tuple[Source, Source, Source, Source]:
        green, out, form = green_defines(self.green), ("OUT_COMPLEX", 1), ("MAGNETIC", 2)
        sizes = ("TESTS", 3), ("TRIALS", 3), ("CURLS", 0)
        points = ("POINTS", triangle_rule(self.quadrature.regular).number_of_points)
        return (
            Source("galerkin/regular/dual_test_tile.c", real, (*green, form, points, *out_real(real, stored))),
            Source(
                "galerkin/special/touching_pairs.c",
                moment,
                (*sizes, *green, ("NORMAL", NORMALS["test"]), ("GROUP_SIZE", GROUP)),
            ),
            Source("galerkin/special/dual_test_scatter.c", stored, (form, ("MOMENT_REAL", moment))),
            Source("galerkin/device/gather.c", stored, (out,)),
        )

    def _sides(self) -> None:
        rule, array = triangle_rule(self.quadrature.regular), self._array
        self.test_points = array(points_of(self.test_surface, rule))
        self.trial_points = array(np.moveaxis(points_of(self.trial_surface, rule), 0, 2))
        self.weights, self.barycentric = array(rule.weights), array(rule.barycentric)
        self.scalars = array(np.array([*self.parameters, TINY[self.real]]))
        self.jacobians = array(edge_data(self.test_surface, np.zeros((len(self.test.triangles), 3))))
        scales = edge_scales(self.trial_space, self.trial.triangles, self.scale)
        self._send(self.crossed_values(), edge_data(self.trial_surface, scales).T, self.coefficients)

    def _regular_part(self, lo: int, hi: int) -> None:
        width = len(self.trial.triangles)
        self.device.launch(
            self.regular, "affine_regular", (width, hi - lo), (GROUP, 1), self.test_points, self.jacobians,
            self.test_data, self.trial_points, self.trial_data, self.weights, self.barycentric, self.scalars,
            self.device_coefficients, lo, width, self.local_shape[0], self.local, self.local_i,
        )  # fmt: skip

    def _place(self, orders: NDArray[np.int32], moments: Any, moments_i: Any, lo: int) -> None:
        count = len(orders)
        self.device.launch(
            self.placing, "affine_place", (count,), (GROUP,), self.device.array(orders), moments, moments_i,
            *self.near_data, count, lo, len(self.trial.triangles), self.local_shape[0], self.local, self.local_i,
        )  # fmt: skip
