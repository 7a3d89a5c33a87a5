"""Measured limits of a device: operations from registers, copies there, transfers; each is measured when first used."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.common.machine import Floor, best_of
from benchmarks.common.results import Record
from calderon.backends import Device, Source, real_type


@dataclass(frozen=True)
class Limits:
    """Limits of a device, which are written into the record; floor: those of the processor."""

    device: Device
    floor: Floor
    record: Record

    def flops(self, precision: str) -> float:
        """Operations per second in a precision; of a processor the ones that were measured without the driver."""
        known = self.record.content.setdefault("flops", {})
        if precision not in known:
            known[precision] = peak(self.device, precision) if self.device.is_gpu else getattr(self.floor, precision)
        return float(known[precision])

    @cached_property
    def copy(self) -> float:
        """Bytes read and written per second by a copy on the device; transfers are measured with it."""
        found = copy_rate(self.device)
        self.record.write(device_bytes_per_second=found, bytes_per_second=transfers(self.device))
        return found


@dataclass(frozen=True)
class Text(Source):
    """A source that is not a file of the package: `path` names it, `code` follows the prelude."""

    code: str = ""

    @property
    def text(self) -> str:
        return Source("backends/prelude.h", self.real).text + self.code


PEAK = """
KERNEL multiply_add(GLOBAL real_type *x, int repeats)
{
    real_type a = x[THREAD(0)], b = a * R(0.5), c = a * R(0.25), s0 = a, s1 = a + b, s2 = a + c, s3 = b + c;
    real_type s4 = a - b, s5 = a - c, s6 = b - c, s7 = b + b;
    for (int n = 0; n < repeats; n++) {
        s0 = s0 * b + c, s1 = s1 * b + c, s2 = s2 * b + c, s3 = s3 * b + c;
        s4 = s4 * b + c, s5 = s5 * b + c, s6 = s6 * b + c, s7 = s7 * b + c;
    }
    x[THREAD(0)] = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
}
"""
"""Eight independent chains of multiply-adds in registers."""


def peak(device: Device, precision: str) -> float:
    """Operations per second of multiply-adds from registers, a multiply-add as two."""
    kind = np.dtype(real_type(precision))
    program = device.build(Text("multiply_add", "double" if precision == "double" else "float", code=PEAK))
    threads, repeats = (1 << 20, 4096) if device.is_gpu else (1 << 12, 1 << 16)
    x = device.array(np.full(threads, 0.5, kind))

    def run() -> None:
        device.launch(program, "multiply_add", (threads,), (256,), x, repeats)
        device.synchronize()

    run()
    return 2 * 8 * threads * repeats / best_of(3, run)


def transfers(device: Device, megabytes: int = 256) -> dict[str, float]:
    """Bytes per second to the device and back, from and to ordinary memory; "fetched" as rows of matrices are."""
    host = np.ones(megabytes * 125_000)
    array = device.array(host)
    device.synchronize()

    def sent() -> None:
        device.array(host)
        device.synchronize()

    ways = {"to device": sent, "to host": lambda: device.to_host(array), "fetched": lambda: device.fetch(array)()}
    return {name: host.nbytes / best_of(3, run) for name, run in ways.items()}


COPY = """
KERNEL copied(GLOBAL const real_type *x, GLOBAL real_type *y, int n)
{
    int k = THREAD(0);
    if (k < n)
        y[k] = x[k];
}
"""


def copy_rate(device: Device, megabytes: int = 512) -> float:
    """Bytes read and written per second by a kernel that copies an array."""
    count = (megabytes if device.is_gpu else megabytes // 8) * 250_000
    program = device.build(Text("copied", "float", code=COPY))
    x, y = device.array(np.ones(count, np.float32)), device.empty((count,), np.float32)

    def run() -> None:
        device.launch(program, "copied", (count,), (256,), x, y, count)
        device.synchronize()

    run()
    return 8 * count / best_of(5, run)
