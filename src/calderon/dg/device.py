"""Leap-frog on a device (curl.c): the fields stay there while time advances."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calderon.backends import Device, Source
from calderon.dg.currents import Load
from calderon.dg.domain import Domain
from calderon.dg.leap_frog import CentredLeapFrog, Coefficients

GROUP = 128
"""Threads of a group for the open faces."""
HIGHEST_ORDER = 5
"""Of which a block of elements fits into 48 KiB of shared memory."""
LARGEST_GROUP = 640
"""Threads of a group for a block of elements, at most."""


@dataclass(frozen=True)
class Step:
    """What a step of one field takes: medium (blocks, 2, lanes), and for the open faces turn, raised, and groups of
    elements with as many of them (count, elements, numbers, inverse); drives: places and what a current adds there."""

    medium: Any
    turn: Any = None
    raised: Any = None
    groups: tuple[tuple[int, int, Any, Any], ...] = ()
    drives: tuple[tuple[Any, Any], ...] = ()


class DeviceLeapFrog(CentredLeapFrog):
    """CentredLeapFrog with the steps on a device. Its stability limit is computed on the processor."""

    def __init__(self, domain: Domain, device: Device) -> None:
        super().__init__(domain)
        order = self.arrangement.reference.order
        if order > HIGHEST_ORDER:
            raise ValueError(f"order={order!r} on {device.name}: choose 1 to {HIGHEST_ORDER}, or backend='numba'")
        if self.electric.size > np.iinfo(np.int32).max:
            most = np.iinfo(np.int32).max
            raise ValueError(f"{self.electric.size} values of a field on {device.name}: at most {most} are possible")
        self._device = device
        lanes, size, real = self.arrangement.lanes, self.arrangement.reference.size, self.arrangement.real
        self._rows = max(1, min(size, LARGEST_GROUP // lanes))
        defines = (
            ("SIZE", size),
            ("FACE_SIZE", self.arrangement.reference.face_size),
            ("LANES", lanes),
            ("ROWS", self._rows),
            ("LIFT_ROWS", size + size % 2),
        )
        self._program = device.build(Source("dg/curl.c", "double" if real == np.float64 else "float", defines))
        self._codes, self._nodes = device.array(self.arrangement.codes), device.array(self.nodes.astype(np.int32))
        self._tables = [device.array(each) for each in (self.metric, self.volume, self.lift)]
        self._mirrors = [device.array(each) for each in self.factors]
        self._fields: list[Any] = []
        self._ports: dict[Load, tuple[Any, Any]] = {}

    def _step(self, of: Coefficients) -> Step:
        """Coefficients of a step on the device."""
        array, real = self._device.array, self.arrangement.real
        drives = tuple(
            (array(load.places.ravel().astype(np.int32)), array(drive.ravel()))
            for load, drive in zip(self.loads, of.drives, strict=False)
        )
        if of.absorbing is None:
            return Step(array(of.medium), drives=drives)
        groups = tuple(
            (faces.shape[1], len(faces), array(faces.astype(np.int32)), array(inverse.astype(real)))
            for faces, inverse in of.absorbing.groups
        )
        turn, raised = of.absorbing.turn.astype(real), of.absorbing.raised.astype(real)
        return Step(array(of.medium), array(turn), array(raised), groups, drives)

    def advance(self, time: float, step: float, count: int, after: Callable[[int], None], first: int = 0) -> None:
        electric, magnetic = (self._step(self._coefficients(step, field)) for field in range(2))
        half = self._step(self._coefficients(step / 2, 1))
        self._fields = [self._device.array(field) for field in (self.electric, self.magnetic)]
        opened = self._opened() if self.open.number else None
        if first == 0:
            self._half_step(1, half, time + step / 4, opened)
        for n in range(first + 1, count + 1):
            self._half_step(0, electric, time + (n - 0.5) * step, opened)
            last = n == count
            self._half_step(1, half if last else magnetic, time + (n - 0.25 if last else n) * step, opened)
            after(n)
        self.fetch()
        self._fields = []

    def fetch(self) -> None:
        if self._fields:
            self.electric[:], self.magnetic[:] = (self._device.to_host(field).ravel() for field in self._fields)

    def voltage(self, load: Load) -> float:
        if not self._fields:
            return super().voltage(load)
        if load not in self._ports:
            places = load.places.ravel().astype(np.int32)
            self._ports[load] = self._device.array(places), self._device.empty(places.shape, self.arrangement.real)
        places, values = self._ports[load]
        count = load.places.size
        self._device.launch(self._program, "values_at", (count,), (GROUP,), self._fields[0], places, values, count)
        return load.voltage(self._device.to_host(values))

    def _opened(self) -> "Opened":
        array, real = self._device.array, self.arrangement.real
        parts = [np.stack([each.real, each.imag], axis=1).astype(real) for each in self.entering]
        empty = [self._device.empty((2 * self.open.number * self.ghosts[0].shape[2],), real) for _ in range(3)]
        waves = len(parts[0])
        entering = [array(part if waves else np.zeros(1, real)) for part in parts]
        return Opened(
            array(self.open.starts.astype(np.int32)), array(self.open.sides.astype(np.int32)), waves, entering, *empty
        )

    def _half_step(self, field: int, step: Step, time: float, opened: "Opened | None") -> None:
        target, source = self._fields[field], self._fields[1 - field]
        lanes, faces = self.arrangement.lanes, self.open.number
        nodes, lift = self._nodes, self._tables[2]
        places = () if opened is None else (opened.starts, opened.sides)
        if opened is not None:
            self._launch("open_traces", faces, target, *places, nodes, faces, opened.before)
        group = lanes * self._rows
        self._device.launch(
            self._program, "half_step", (self.arrangement.blocks * group,), (group,), target, source,
            self._mirrors[1 - field], self._codes, nodes, self._tables[0], step.medium, *self._tables[1:],
        )  # fmt: skip
        for load, (at, values) in zip(self.loads, step.drives, strict=False):
            factor, count = self.real(load.at(time / self.medium.speed)), load.places.size
            self._device.launch(self._program, "add_load", (count,), (GROUP,), target, at, values, factor, count)
        if opened is None:
            return
        phases = np.zeros((max(1, opened.waves), 2), self.arrangement.real)
        if self.incident is not None:
            values = self.incident.phases(time)
            phases[:] = np.stack([values.real, values.imag], axis=1)
        self._launch(
            "beyond_open", faces, target, opened.before, opened.entering[field], self._device.array(phases),
            opened.waves, step.turn, *places, nodes, faces, opened.beyond,
        )  # fmt: skip
        for count, elements, numbers, inverse in step.groups:
            self._launch(
                "solve_open", -elements * count, opened.beyond, inverse, numbers, count, elements, opened.solved
            )
            self._device.launch(
                self._program, "add_open", (elements * self.arrangement.reference.size,), (GROUP,), target,
                opened.solved, step.raised, lift, numbers, *places, count, elements,
            )  # fmt: skip

    def _launch(self, kernel: str, faces: int, *arguments: Any) -> None:
        """A thread for each node of so many faces; for each of its two components if the number is negative."""
        threads = abs(faces) * self.ghosts[0].shape[2] * (2 if faces < 0 else 1)
        self._device.launch(self._program, kernel, (threads,), (GROUP,), *arguments)


@dataclass(frozen=True)
class Opened:
    """The open faces on the device: where their elements begin, which side they are, amplitudes of what enters for E
    and for H, and room for traces before the step, beyond the faces, and solved."""

    starts: Any
    sides: Any
    waves: int
    entering: list[Any]
    before: Any
    beyond: Any
    solved: Any
