"""Counters of a device: launches, evaluations, bytes and seconds by kernel, and their seconds on a card by a model;
bytes of its arrays, and those that were requested before.

The model takes for each kernel the longest of three times: its evaluations of Green's functions, its other operations,
and the bytes of its arrays, each at a measured rate of the card. Launches are calls of the host, and count there.
"""

import math
import time
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.devices.device import Device

SENT, FETCHED = "to device", "to host"
"""Names of the transfers among the kernels."""
SHADOWED = "launch", "array", "empty", "put", "to_host", "fetch"
"""Methods of a device that counters take the place of."""


class CardRates(NamedTuple):
    """Measured rates of a card per second. evaluations: values of Green's functions with the sums over test points;
    flops: operations, each in double, then single precision. nbytes: read or written by kernels; sent, fetched: bytes
    of transfers."""

    evaluations: tuple[float, float]
    flops: tuple[float, float]
    nbytes: float
    sent: float
    fetched: float


H100 = CardRates((65e9, 130e9), (2.9e13, 5.6e13), 2.2e12, 1.1e10, 5.4e10)
"""An NVIDIA H100 (80 GB): benchmarks/history.md, 2026-11-26."""


@dataclass
class Work:
    """Work of one kernel in all its launches. evaluations: values of Green's functions; flops: other operations, where
    they are counted; nbytes: of its arrays, each once a launch. seconds: wall-clock, the wait for its end included."""

    launches: int = 0
    evaluations: float = 0.0
    flops: float = 0.0
    nbytes: float = 0.0
    seconds: float = 0.0

    def on_card(self, name: str, rates: CardRates, single: bool) -> float:
        """Seconds that it would take on a card with these rates; name: of the kernel or transfer."""
        speed = {SENT: rates.sent, FETCHED: rates.fetched}.get(name, rates.nbytes)
        evaluated = self.evaluations / rates.evaluations[single]
        return max(evaluated, self.flops / rates.flops[single], self.nbytes / speed)


class Counters:
    """The work of a device by kernel, `works`, while it is counted: `with Counters(device) as counters`.

    Each launch and each transfer is waited for, so that seconds are those of one kernel.

    device: any of a driver. Its methods in SHADOWED are those of this object meanwhile, whoever holds the device.
    held, most: bytes of arrays that were made meanwhile and still live, and the most there have been. requested: the
    most bytes of those that lived and those of which `require_device_memory` made sure.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.works: dict[str, Work] = defaultdict(Work)
        self.held = self.most = self.requested = 0

    def __enter__(self) -> "Counters":
        own = vars(self.device)
        if "counters" in own:
            raise RuntimeError(f"{self.device.name} is counted already: leave the other Counters first")
        self._methods = {name: getattr(self.device, name) for name in SHADOWED}
        own["counters"] = self
        self._shadow()
        return self

    def _shadow(self) -> None:
        """Count what the methods of the device do."""
        vars(self.device).update({name: getattr(self, f"_{name}") for name in SHADOWED})

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Count nothing meanwhile."""
        vars(self.device).update(self._methods)
        try:
            yield
        finally:
            self._shadow()

    def __exit__(self, *_: object) -> None:
        for name in (*SHADOWED, "counters"):
            del vars(self.device)[name]

    def on_card(self, rates: CardRates, single: bool) -> float:
        """Seconds of all kernels and transfers on a card with these rates, one after the other."""
        return sum(each.on_card(name, rates, single) for name, each in self.works.items())

    @property
    def evaluations(self) -> float:
        """Values of Green's functions of all kernels."""
        return sum(each.evaluations for each in self.works.values())

    def _timed(self, name: str, nbytes: int, run: Callable[[], Any]) -> Any:
        """The result of a launch or transfer of so many bytes, which is waited for."""
        self.device.synchronize()
        began, work = time.perf_counter(), self.works[name]
        result = run()
        self.device.synchronize()
        work.seconds += time.perf_counter() - began
        work.launches += 1
        work.nbytes += nbytes
        return result

    def _launch(
        self, program: Any, kernel: str, threads: tuple[int, ...], group: tuple[int, ...], *arguments: Any
    ) -> None:
        """See `Device.launch`."""
        if math.prod(threads):
            arrays = {id(each): each.nbytes for each in arguments if not isinstance(each, int | np.generic)}
            launch = self._methods["launch"]
            self._timed(kernel, sum(arrays.values()), lambda: launch(program, kernel, threads, group, *arguments))

    def _array(self, host: NDArray[Any]) -> Any:
        """See `Device.array`."""
        return self._kept(self._timed(SENT, host.nbytes, lambda: self._methods["array"](host)))

    def _empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """See `Device.empty`."""
        return self._kept(self._methods["empty"](shape, dtype))

    def _kept(self, array: Any) -> Any:
        """Count the bytes of an array as long as it lives."""
        self._hold(array.nbytes)
        weakref.finalize(array, self._hold, -array.nbytes)
        return array

    def _hold(self, nbytes: int) -> None:
        self.held += nbytes
        self.most = max(self.most, self.held)

    def _put(self, host: NDArray[Any], array: Any, first: int = 0) -> None:
        """See `Device.put`."""
        self._timed(SENT, host.nbytes, lambda: self._methods["put"](host, array, first))

    def _to_host(self, array: Any) -> NDArray[Any]:
        """See `Device.to_host`."""
        found: NDArray[Any] = self._timed(FETCHED, array.nbytes, lambda: self._methods["to_host"](array))
        return found

    def _fetch(self, array: Any) -> Callable[[], NDArray[Any]]:
        """See `Device.fetch`."""
        found: NDArray[Any] = self._timed(FETCHED, array.nbytes, lambda: self._methods["fetch"](array)())
        return lambda: found


def count_requested(device: Device, nbytes: int) -> None:
    """Count bytes that are about to be taken, where the device is counted."""
    counters: Counters | None = getattr(device, "counters", None)
    if counters is not None:
        counters.requested = max(counters.requested, counters.held + nbytes)


def count_work(
    device: Device, kernel: str, evaluations: Callable[[], float], flops: Callable[[], float] = lambda: 0.0
) -> None:
    """Add what a launch of a kernel evaluates and computes, where the device is counted.

    evaluations, flops: called there alone, since counting takes time; what they fetch is not counted."""
    counters: Counters | None = getattr(device, "counters", None)
    if counters is not None:
        with counters.paused():
            counters.works[kernel].evaluations += evaluations()
            counters.works[kernel].flops += flops()
