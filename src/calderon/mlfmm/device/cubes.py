"""Levels of boxes with equivalent sources on a device (cubes.c, cube_points.c)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels
from calderon.backends.devices.device_matrix import GROUP
from calderon.mlfmm.device.p2m_l2p import DevicePoints
from calderon.mlfmm.equivalent.cube_kernels import TURNED
from calderon.mlfmm.equivalent.cubes import PARTS, SUMS, table_of
from calderon.mlfmm.equivalent.lowfrequency import CubeLevel, LowFrequency
from calderon.mlfmm.far import KINDS, parts_of
from calderon.products.device.near import COLUMNS_PER_READ
from calderon.products.device.tables import LOCAL, indices, sent
from calderon.products.lists import Lists, Runs


class Steps(NamedTuple):
    """The products of a matrix that add to each of so many targets: first (targets + 1,), steps (n, 3), both read in
    cubes.c."""

    targets: int
    first: Any
    steps: Any


class DeviceCubes:
    """Sources of boxes (box, point, column, part), with `sums` sums of each column."""

    def __init__(self, device: Device, low: LowFrequency, sums: int) -> None:
        self.device, self.low, self.real, self.size, self.sums = device, low, low.real, low.cubes.size, sums
        self.turned = indices(device, low.cubes.turned)
        room = 4 * self.size * self.real.itemsize
        self.together = max(1, min(COLUMNS_PER_READ if sums > 1 else 1, LOCAL // room))
        self.levels = [self._level(n, each) for n, each in enumerate(low.levels)]
        own: dict[str, Any] = {"SIZE": self.size, "TOGETHER": self.together}
        self._kernels = Kernels.of(device, "mlfmm/device/cubes.c", self.real, GROUP, **own)

    def _level(self, number: int, level: CubeLevel) -> Any:
        """The level, number so much among those with cubes, with its arrays on the device and steps instead of
        runs of pairs; own: those of both systems, of all boxes and of those with fields."""
        into, steps = level.receiving, {"pairs": _steps(level.pairs, level.receiving)}
        if level.up is not None and level.down is not None:
            above = self.low.levels[number - 1]
            steps["up"] = _steps(level.up, (0, above.count))
            steps["down"] = _steps(level.down, into, above.receiving[0])
        own: Any = _steps(level.own, (0, level.count)), _steps(level.own, into, into[0])
        return sent(self.device, replace(level, own=own, **steps))  # type: ignore[arg-type]

    def empty(self, boxes: Steps, columns: int) -> Any:
        """Room for sources or potentials of the targets of these steps."""
        return self.device.empty((boxes.targets * self.size * columns * 2,), self.real)

    def _multiplied(self, matrices: Any, steps: Steps, x: Any, columns: int, y: Any, adds: int = 0) -> Any:
        """y, the sums over the steps of each target of a matrix times the sources x, added to it if `adds`."""
        given = matrices, self.low.pitch, self.turned, steps.first, steps.steps, columns, adds, x, y
        groups = steps.targets * GROUP, -(-columns // self.together)
        self._kernels.launch("multiply_cubes", groups, *given)
        return y

    def _solved(self, own: Steps, factors: tuple[Any, Any], x: Any, columns: int) -> Any:
        for each in factors:
            x = self._multiplied(each, own, x, columns, self.empty(own, columns))
        return x

    def outgoing(self, side: "PointsOfCubes", numbers: Any, columns: int) -> list[Any]:
        """P2M and M2M: sources on the smaller cubes of the boxes of each level, from charges and dipoles at points."""
        found = [self.empty(level.own[0], columns) for level in self.levels]
        for n in range(len(self.levels) - 1, -1, -1):
            level = self.levels[n]
            side.send(n, numbers, columns, found[n])
            found[n] = self._solved(level.own[0], level.out, found[n], columns)
            if level.up is not None:
                self._multiplied(level.raised, level.up, found[n], columns, found[n - 1])
        return found

    def across(self, sources: list[Any], columns: int) -> list[Any]:
        """M2L: potentials on the smaller cubes of each level from the sources of separated boxes."""
        return [self._multiplied(level.across, level.pairs, x, columns, self.empty(level.pairs, columns))
                for level, x in zip(self.levels, sources, strict=True)]  # fmt: skip

    def incoming(self, side: "PointsOfCubes", given: list[Any], numbers: Any, columns: int) -> None:
        """L2L and L2P: store in `numbers` values and gradients, over 4 pi, at the points of leaves with cubes, from
        potentials `given` on the smaller cubes of each level, to which those of parents are added."""
        above: Any = None
        for n, (level, y) in enumerate(zip(self.levels, given, strict=True)):
            if level.down is not None:
                self._multiplied(level.lowered, level.down, above, columns, y, 1)
            above = self._solved(level.own[1], level.into, y, columns)
            side.receive(n, above, numbers, columns)


def _steps(runs: Runs, targets: tuple[int, int], begin: int = 0) -> Steps:
    """The steps of pairs of boxes, sorted by targets, for the targets[0] up to, without, targets[1]; sources are
    counted from `begin` on."""
    matrix = np.repeat(runs.runs[:, 0], runs.runs[:, 2] - runs.runs[:, 1])
    order = np.argsort(runs.target, kind="stable")
    first = np.searchsorted(runs.target[order], np.arange(targets[0], targets[1] + 1))
    source, turn = np.divmod(runs.source, TURNED)
    steps = np.stack([source - begin, turn, matrix], axis=1)[order[first[0] : first[-1]]]
    return Steps(len(first) - 1, first - first[0], steps)


class PointsOfCubes:
    """Points with charges and fields of some kinds in the leaves of levels with cubes."""

    def __init__(
        self, device: Device, cubes: DeviceCubes, points: DevicePoints, kinds: Sequence[str], lists: Lists,
        receiving: tuple[int, int],
    ) -> None:  # fmt: skip
        """receiving: the leaves low up to, without, high that have fields."""
        self.device, self.cubes, self.points = device, cubes, points
        parts = PARTS if cubes.sums > 1 else parts_of(kinds)
        self.components = len(parts)
        places = tuple(next(iter(np.flatnonzero(parts == each).tolist()), -1) for each in (0, 1))
        self._kernels = Kernels.of(
            device, "mlfmm/device/cube_points.c", cubes.real, GROUP, SIZE=cubes.size, VALUE=places[0],
            SLOPE=places[1], MIXED=points.host.is_mixed, LOSSY=cubes.low.k.imag > 0,
        )  # fmt: skip
        self._leaves, inside, starts = [], list[NDArray[np.int64]](), points.host.starts
        for level in cubes.low.levels:
            own = np.flatnonzero((lists.leaves >= level.low) & (lists.leaves < level.high))
            self._leaves.append(points.of_leaves(own, lists.leaves[own] - level.low, receiving, level.receiving[0]))
            inside += [np.arange(a, b) for a, b in zip(starts[own], starts[own + 1], strict=True)]
        self._kinds = sum(KINDS[each] for each in kinds)
        if cubes.sums > 1:
            k, kind = cubes.low.k, np.result_type(cubes.real, np.complex64)
            both = table_of(kinds, k, True), table_of(kinds, k, False).T
            self._sent, self._received = (
                device.array(np.ascontiguousarray(each, kind).view(cubes.real)) for each in both
            )
            every, (low, high) = np.concatenate(inside), starts[list(receiving)]
            self._given, self._wanted = (
                indices(device, each) for each in (every, every[(every >= low) & (every < high)])
            )

    def send(self, number: int, charges: Any, columns: int, x: Any) -> None:
        """Potentials on the larger cubes of leaves of a level."""
        (leaves, boxes, *_), cubes, points = self._leaves[number], self.cubes, self.points
        given = points.places, points.normals, points.mix, points.starts, charges, self.components, *self._cube(number)
        threads = leaves.shape[0] * -(-cubes.size // GROUP) * GROUP
        self._kernels.launch("send", (threads, columns), *given, leaves, boxes, columns, x)

    def receive(self, number: int, x: Any, fields: Any, columns: int) -> None:
        """Fields in leaves of a level from sources on their larger cubes."""
        (*_, runs, boxes), points = self._leaves[number], self.points
        scale = self.cubes.real.type(1 / (4 * np.pi))
        given = points.places, points.normals, points.mix, runs, x, *self._cube(number), boxes, columns, scale, fields
        self._kernels.launch("receive", (runs.shape[0] * GROUP, columns), *given, self.components)

    def _cube(self, number: int) -> tuple[Any, ...]:
        low, real = self.cubes.low, self.cubes.real.type
        return self.cubes.levels[number].large, low.pitch, real(low.k.real), real(low.k.imag / low.k.real)

    def to_sums(self, charges: Any, columns: int) -> Any:
        """Charges and dipoles (point, column, SUMS, PARTS) of currents, of the points in these leaves; those of scalars
        as they are."""
        if self.cubes.sums == 1:
            return charges
        rows = SUMS * len(PARTS)
        return self._combined(self._given, self._sent, rows, self._kinds, charges, columns, self.empty(columns))

    def from_sums(self, sums: Any, columns: int, fields: Any) -> None:
        """Store the fields of the points in these leaves that have some, from values and gradients of their sums."""
        self._combined(self._wanted, self._received, self._kinds, SUMS * len(PARTS), sums, columns, fields)

    def empty(self, columns: int) -> Any:
        """Room for charges and dipoles, or values and gradients, of all sums of `columns` vectors."""
        return self.device.empty((int(self.points.host.starts[-1]) * columns * SUMS * len(PARTS) * 2,), self.cubes.real)

    def _combined(self, points: Any, table: Any, rows: int, inner: int, x: Any, columns: int, y: Any) -> Any:
        count = points.shape[0]
        self._kernels.launch("combine", (count * rows, columns), points, count, table, rows, inner, columns, x, y)
        return y
