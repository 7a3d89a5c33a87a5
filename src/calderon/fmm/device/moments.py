"""Moments of the functions of Laplace's equation that a device computes where they stay (moments.c)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels, Source, real_name, require_device_memory
from calderon.backends.devices.device_matrix import GROUP, vector_type
from calderon.fmm.layout import Layout
from calderon.fmm.moment_store import Moments
from calderon.fmm.tables import Tables
from calderon.galerkin.rows.cluster_tables import incidence
from calderon.products.device.tables import indices
from calderon.quadrature import triangle_rule
from calderon.spaces.pieces import Pieces

KINDS = ("value", "normal", "curl")
"""Kinds of charges, in the order of KIND in moments.c."""
SUMS_BYTES = 1 << 28
"""Bytes of sums with basis functions that are there at a time: those of a million pieces of a low degree."""


class DeviceMoments:
    """Runs of `rank` moments on a device, in the order of `Moments`; there: the numbers, their `dtype` the real type.
    The processor gets a copy where it reads them."""

    is_packed = False

    def __init__(self, device: Device, pieces: Pieces, degree: int, kind: str, layout: Layout, table: Tables) -> None:
        """Moments of pieces of functions about the centres of their leaves; arguments as of `laplace.moments_of`.
        MemoryError where there is no room."""
        space, real, wide, rule = pieces.space, table.numbers.dtype, vector_type(device), triangle_rule(degree)
        tree, count, components = layout.tree, len(pieces.whole), 3 if kind == "curl" else 1
        self.device, self.rank, self.count = device, table.rank, components * len(pieces.whole)
        self._here: Moments | None = None
        fields, functions = 1 if kind == "value" else 3, (table.order.p + 1) ** 2
        together = max(1, min(count, SUMS_BYTES // (fields * functions * real.itemsize)))
        self.nbytes = self.count * self.rank * real.itemsize
        room = fields * functions * together * real.itemsize
        advice = 'increase rtol, try a coarser mesh, or backend="numba"'
        require_device_memory(device, self.nbytes + room, "moments of functions", advice)
        self.there, sums = device.empty((self.count * self.rank,), real), device.empty((room // real.itemsize,), real)
        # triangles, pieces, leaves, and the tables of all triangles
        corners = tree.inside(space.mesh.flat_triangles(space.triangles, "moments").corners.reshape(-1, 3))
        boxes = np.column_stack([tree.centre, tree.edge])[layout.lists.leaves]
        leaves = np.repeat(np.arange(len(boxes)), np.diff(pieces.starts))
        values = space.element.gradients(rule.points) * rule.weights[:, None] if kind == "curl" else (
            space.element.values(rule.points) * rule.weights)  # fmt: skip
        # values and dipoles have areas, lengths of curls a length, in units of the root
        values = values * tree.cube.edge ** (1 if kind == "curl" else 2)
        lists = [indices(device, each) for each in (*incidence(space.dofs, count), leaves)]
        numbers = (device.array(np.ascontiguousarray(each, wide)) for each in (boxes, rule.points, values))
        given = device.array(np.ascontiguousarray(corners, wide)), *lists, *numbers
        expand = device.array(np.ascontiguousarray(table.expand, real))
        defines = (
            ("WIDE_REAL", real_name(wide)), ("KIND", KINDS.index(kind)), ("DEGREE", table.order.p),
            ("POINTS", rule.number_of_points), ("RANK", self.rank),
        )  # fmt: skip
        kernels = Kernels(device, Source("fmm/device/moments.c", real_name(real), defines), GROUP)
        for first in range(0, count, together):
            some = min(together, count - first)
            kernels.launch("basis_moments", some, *given, first, some, sums)
            threads = some * components * self.rank
            kernels.launch("combine", threads, sums, expand, table.functions, first, some, self.there)

    @property
    def here(self) -> Moments:
        """A copy in the memory of the processor."""
        if self._here is None:
            found = Moments.empty(self.count, self.rank, self.there.dtype, self.there.dtype)
            found.numbers[:] = self.device.to_host(self.there)
            self._here = found
        return self._here

    @property
    def stored(self) -> tuple[NDArray[Any], ...]:
        """Numbers and tables, as compiled loops of the processor read them."""
        return self.here.stored

    def runs(self, low: int, high: int) -> NDArray[Any]:
        """(high - low, rank) runs."""
        return self.here.runs(low, high)
