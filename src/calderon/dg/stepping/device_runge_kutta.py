"""The upwind flux and Runge-Kutta on a device (upwind.c): the fields stay there while time advances."""

from typing import Any

import numpy as np

from calderon.backends import Device
from calderon.dg.domain import Domain
from calderon.dg.stepping.device_system import GROUP, GROUP_MEMORY, OnDevice
from calderon.dg.stepping.runge_kutta import STAGES, UpwindRungeKutta
from calderon.dg.stepping.system import Steps


class DeviceRungeKutta(OnDevice, UpwindRungeKutta):
    """UpwindRungeKutta with the stages on a device."""

    source, copies = "dg/operator/upwind.c", 6

    def __init__(self, domain: Domain, device: Device) -> None:
        super().__init__(domain, device)
        array = device.array
        self._tables = [array(each) for each in (self._riemann, self.volume, self.lift)]
        self._waves = [] if self.incident is None else self.incident.waves
        amplitudes = zip(*((wave.electric, wave.magnetic) for wave in self._waves), strict=True)
        self._amplitudes = [self._in_parts(np.array(each)) for each in amplitudes]

    @property
    def _defines(self) -> tuple[tuple[str, int], ...]:
        reference, lanes = self.element_blocks.reference, self.element_blocks.lanes
        shared = (3 * reference.size + 16 * reference.face_size) * lanes * self.element_blocks.real.itemsize
        return (*super()._defines, ("OWN_IS_SHARED", int(shared <= GROUP_MEMORY)))

    def _advance_on_device(self, steps: Steps) -> None:
        step = steps.step
        array, empty = self._device.array, np.zeros_like(self.electric)
        spare, residuals = [array(empty), array(empty)], [array(empty), array(empty)]
        gains, left = array(self._gains(step)), self._decay(step)
        decay = None if left is None else array(left)
        driven = [self._driven(load, drive) for load, drive in zip(self.loads, self._drives(step), strict=True)]
        steps.begun()
        for n in steps.numbers:
            self._decayed(decay)
            for a, b, c in STAGES:
                now = steps.time + (n - 1 + c) * step
                self._enter(now)
                self._by_block(
                    "stage", dict(enumerate(self._fields)), *spare, *self._fields, *residuals, self.real(a),
                    self.real(b), self._ghost_rows, *self._mirrors, *self._ghosts, self._codes, self._nodes,
                    self._metric, gains, *self._tables,
                )  # fmt: skip
                self._fields, spare = spare, self._fields
                for load, each in zip(self.loads, driven, strict=True):
                    value = load.at(now / self.medium.speed)
                    self._add(residuals[0], each, value, load.places.size)
                    self._add(self._fields[0], each, b * value, load.places.size)
            self._decayed(decay)
            steps.after(n)

    def _enter(self, time: float) -> None:
        """What is incident at the open faces."""
        count = 2 * self.open.number * self.element_blocks.reference.face_size
        for ghosts, amplitudes in zip(self._ghosts, self._amplitudes, strict=False):
            arguments = amplitudes, self._phases(time), len(self._waves), count, ghosts
            self._device.launch(self._program, "enter", (count,), (GROUP,), *arguments)

    def _decayed(self, factors: Any) -> None:
        """E after half a step of the conductive term alone."""
        if factors is not None:
            count = self.electric.size
            self._device.launch(self._program, "decay", (count,), (GROUP,), self._fields[0], factors, count)
