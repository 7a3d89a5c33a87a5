"""Vectors on a device, and their numbers at the places of clusters (sums.c)."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels
from calderon.backends.devices.device_matrix import GROUP, vector_type
from calderon.pairs.grouping import grouped
from calderon.products.device.tables import indices


class Vectors(NamedTuple):
    """`columns` vectors of pairs (n, 2) in an array of the device: the first from element `first` on, others `pitch`
    elements apart; is_real: whether imaginary parts are zero."""

    array: Any
    first: int = 0
    pitch: int = 0
    columns: int = 1
    is_real: bool = False

    @property
    def planes(self) -> int:
        """Real vectors: those of real parts, and of imaginary parts unless these are zero."""
        return self.columns if self.is_real else 2 * self.columns

    def after(self, count: int) -> "Vectors":
        """The vectors without their first numbers, so many."""
        return self._replace(first=self.first + count)


class DevicePlaces:
    """Places on a device with an unknown each, unknowns (places,) of `dimension`, which may stand at several; their
    numbers are planes (planes, places) of this real type."""

    def __init__(self, device: Device, unknowns: NDArray[np.int64], dimension: int, real: np.dtype[Any]) -> None:
        self.device, self.count, self.dimension, self.real = device, len(unknowns), dimension, real
        starts, order = grouped(unknowns, dimension)
        self._unknowns, *self._of_unknown = (indices(device, each) for each in (unknowns, starts, order))
        self._kernels = vector_kernels(device, real)

    def empty(self, planes: int) -> Any:
        """Room for numbers."""
        return self.device.empty((planes, self.count), self.real)

    def take(self, x: Vectors, conjugated: bool = False) -> Any:
        """The numbers of vectors, or of their conjugates."""
        out, sign = self.empty(x.planes), vector_type(self.device).type(-1.0 if conjugated else 1.0)
        given = x.array, x.first, x.pitch, sign, self._unknowns, self.count, out
        self._kernels.launch("take_places", (self.count, x.planes), *given)
        return out

    def add(self, sums: Any, planes: int, factor: complex, y: Vectors, conjugated: bool = False) -> None:
        """y += factor times sums over the places of each unknown, or times the conjugate of these."""
        parts = 2 if planes > 1 else 1
        strides = 1, parts * self.count, (parts - 1) * self.count
        entries, signed = (*self._of_unknown, 1, 1), -1.0 if conjugated else 1.0
        add_sums(self._kernels, entries, self.dimension, (sums, 0, *strides), factor, y, signed)


def add_sums(
    kernels: Kernels, entries: tuple[Any, ...], unknowns: int, numbers: tuple[Any, ...], factor: complex, y: Vectors,
    sign: float = 1.0, values: tuple[Any, int] | None = None, weights: tuple[Any, int, int] | None = None,
) -> None:  # fmt: skip
    """y += factor times sums of numbers for so many unknowns; all other arguments as sums.c describes them, values and
    weights with their sizes, None for those that are 1."""
    real, kind = numbers[0].dtype.type, vector_type(kernels.device).type
    of_values, of_weights = values or (numbers[0], 0), weights or (numbers[0], 0, 0)
    factors = kind(np.real(factor)), kind(np.imag(factor)), real(sign)
    given = *entries, *of_values, *of_weights, unknowns, *numbers, *factors, y.array, y.first, y.pitch
    kernels.launch("add_sums", (unknowns, y.columns), *given)


def zero_vector(device: Device, length: int) -> Any:
    """A vector of zeros on the device."""
    return zeros(device, (length, 2), vector_type(device))


def zeros(device: Device, shape: tuple[int, ...], real: Any) -> Any:
    """Real numbers on the device, all zero."""
    y = device.empty(shape, real)
    vector_kernels(device, real).launch("clear", shape[0], y, shape[0], math.prod(shape[1:]))
    return y


def vector_kernels(device: Device, real: Any = None) -> Kernels:
    """The kernels of vectors, for entries and numbers at places of a real type, that of vectors unless given."""
    kind = vector_type(device)
    own = kind if real is None else real
    return Kernels.of(device, "products/device/sums.c", own, GROUP, VECTOR_REAL=kind)
