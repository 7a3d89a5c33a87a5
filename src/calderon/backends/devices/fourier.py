"""Discrete Fourier transforms of arrays on a device, along one axis (fourier.c)."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from calderon.backends.devices.device import Device, Source, real_name
from calderon.backends.devices.device_matrix import GROUP

RADICES = (5, 4, 3, 2)
"""Lengths of the transforms that passes are made of, the largest first."""


class DeviceFourier:
    """Transforms of `length` complex numbers, X_m = sum_n exp(-2 pi i m n / length) x_n, and inverse ones.

    device: where. real: the type of real and imaginary parts. ValueError for a length with a prime factor above 5.
    """

    def __init__(self, device: Device, real: DTypeLike, length: int) -> None:
        self.device, self.real, self.length = device, np.dtype(real), length
        self.radices = _factors(length)
        programs = {
            radix: device.build(Source("backends/devices/fourier.c", real_name(real), (("RADIX", radix),)))
            for radix in set(self.radices)
        }
        self._programs = [programs[radix] for radix in self.radices]
        angles = -2 * np.pi * np.arange(length) / length
        self._roots = device.array(np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(self.real))

    def transform(
        self, array: Any, work: tuple[Any, Any], batch: int, inner: int, given: int, kept: int, inverse: bool = False
    ) -> Any:
        """The transforms (batch, kept, inner) of an array (batch, given, inner) of pairs, in one of the work arrays.

        given, kept: how many numbers along the axis the array has, with zeros after them, and how many of the
        transformed ones are computed, at most `length`. work: two other arrays, or `array` and one more, of batch *
        length * inner pairs at least. inverse: exp(+2 pi i m n / length), not divided by the length.
        """
        span, sign = 1, np.array(-1.0 if inverse else 1.0, self.real)[()]
        for number, (radix, program) in enumerate(zip(self.radices, self._programs, strict=True)):
            out = work[1] if array is work[0] else work[0]
            count = batch * (self.length // radix) * inner
            sizes = given if number == 0 else self.length, kept if number == len(self.radices) - 1 else self.length
            rest = self._roots, self.length, span, inner, *sizes, sign, count
            self.device.launch(program, "fourier_pass", (count,), (GROUP,), array, out, *rest)
            array, span = out, span * radix
        return array


def _factors(length: int) -> list[int]:
    """The radices whose product is a length; ValueError where there are none."""
    found, rest = list[int](), length
    for radix in RADICES:
        while rest % radix == 0 and rest > 1:
            found.append(radix)
            rest //= radix
    if rest > 1 or length < 2:
        raise ValueError(f"transforms on devices have lengths 2^a 3^b 5^c of at least 2, got {length}")
    return found
