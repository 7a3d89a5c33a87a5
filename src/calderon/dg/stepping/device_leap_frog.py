"""Leap-frog on a device (curl.c): the fields stay there while time advances."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calderon.backends import Device
from calderon.dg.domain import Domain
from calderon.dg.stepping.device_system import GROUP, OnDevice
from calderon.dg.stepping.leap_frog import CentredLeapFrog, Coefficients
from calderon.dg.stepping.system import Steps


@dataclass(frozen=True)
class Step:
    """Arguments of a step of one field: medium (blocks, 2, lanes), and for the open faces turn, raised, and groups of
    elements with as many of them (count, elements, numbers, inverse); drives: places and the contribution of a current
    there."""

    medium: Any
    turn: Any = None
    raised: Any = None
    groups: tuple[tuple[int, int, Any, Any], ...] = ()
    drives: tuple[tuple[Any, Any], ...] = ()


class DeviceLeapFrog(OnDevice, CentredLeapFrog):
    """CentredLeapFrog with the steps on a device."""

    source, copies = "dg/operator/curl.c", 2

    def __init__(self, domain: Domain, device: Device) -> None:
        super().__init__(domain, device)
        self._matrices = [device.array(each) for each in (self.volume, self.lift)]

    def _step(self, of: Coefficients) -> Step:
        """Coefficients of a step on the device."""
        array, real = self._device.array, self.element_blocks.real
        drives = tuple(self._driven(load, drive) for load, drive in zip(self.loads, of.drives, strict=False))
        if of.absorbing is None:
            return Step(array(of.medium), drives=drives)
        groups = tuple(
            (faces.shape[1], len(faces), array(faces.astype(np.int32)), array(inverse.astype(real)))
            for faces, inverse in of.absorbing.groups
        )
        turn, raised = of.absorbing.turn.astype(real), of.absorbing.raised.astype(real)
        return Step(array(of.medium), array(turn), array(raised), groups, drives)

    def _advance_on_device(self, steps: Steps) -> None:
        coefficients = tuple(self._step(each) for each in self._all_coefficients(steps.step))
        opened = self._opened() if self.open.number else None
        self._leap(steps, coefficients, lambda field, step, time: self._half_step(field, step, time, opened))

    def _opened(self) -> "Opened":
        array, room = self._device.array, (2 * self.open.number * self.ghosts[0].shape[2],)
        empty = [self._device.empty(room, self.element_blocks.real) for _ in range(3)]
        return Opened(
            array(self.open.starts.astype(np.int32)),
            array(self.open.sides.astype(np.int32)),
            len(self.entering[0]),
            [self._in_parts(each) for each in self.entering],
            *empty,
        )

    def _half_step(self, field: int, step: Step, time: float, opened: "Opened | None") -> None:
        target, source = self._fields[field], self._fields[1 - field]
        faces, nodes, lift = self.open.number, self._nodes, self._matrices[1]
        places = () if opened is None else (opened.starts, opened.sides)
        if opened is not None:
            self._traces(target, opened.starts, opened.sides, faces, opened.before)
        self._by_block(
            "half_step", {1 - field: source}, target, source, self._ghost_rows, self._mirrors[1 - field],
            self._ghosts[1 - field], self._codes, nodes, self._metric, step.medium, *self._matrices,
        )  # fmt: skip
        for load, driven in zip(self.loads, step.drives, strict=False):
            self._add(target, driven, load.at(time / self.medium.speed), load.places.size)
        if opened is None:
            return
        self._launch(
            "open_ghosts", faces, target, opened.before, opened.entering[field], self._phases(time),
            opened.waves, step.turn, *places, nodes, faces, opened.open_ghosts,
        )  # fmt: skip
        for count, elements, numbers, inverse in step.groups:
            self._launch(
                "solve_open", -elements * count, opened.open_ghosts, inverse, numbers, count, elements, opened.solved
            )
            self._device.launch(
                self._program, "add_open", (elements * self.element_blocks.reference.size,), (GROUP,), target,
                opened.solved, step.raised, lift, numbers, *places, count, elements,
            )  # fmt: skip

    def _launch(self, kernel: str, faces: int, *arguments: Any) -> None:
        """A thread for each node of that many faces; for each of its two components if the number is negative."""
        threads = abs(faces) * self.ghosts[0].shape[2] * (2 if faces < 0 else 1)
        self._device.launch(self._program, kernel, (threads,), (GROUP,), *arguments)


@dataclass(frozen=True)
class Opened:
    """The open faces on the device: where their elements begin, which side they are, amplitudes of what enters for E
    and for H, and memory for traces before the step, ghost traces, and solved ones."""

    starts: Any
    sides: Any
    waves: int
    entering: list[Any]
    before: Any
    open_ghosts: Any
    solved: Any
