"""Tables on a device: runs of a group of threads, indices of 32 bits, records."""

from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device

LOCAL = 40_000
"""Bytes of local memory that a group of threads takes for vectors, at most."""
WORD = 1 << 16
"""Places beyond 32 bits are sent as quotient and remainder of this."""


def runs_of(starts: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """(n, 3) runs of at most so many things of a group, from starts[group] on: first, how many, which group."""
    sizes = np.diff(starts)
    pieces = -(-sizes // most)
    group = np.repeat(np.arange(len(sizes)), pieces)
    first = starts[:-1][group] + most * counted(pieces)
    return np.stack([first, np.minimum(most, starts[1:][group] - first), group], axis=1)


def runs_that_fit(sizes: NDArray[np.int64], most: int) -> list[slice]:
    """Runs of neighbouring things of these sizes that take at most so much together; what takes more alone is one."""
    before = np.cumsum(sizes) - sizes
    first = np.flatnonzero(np.diff(before // max(1, most - int(sizes.max(initial=0))), prepend=-1))
    return [slice(*each) for each in pairwise([*first.tolist(), len(sizes)])]


def counted(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, ... for each of these numbers, so many."""
    return np.asarray(np.arange(numbers.sum()) - np.repeat(np.cumsum(numbers) - numbers, numbers))


def indices(device: Device, numbers: NDArray[Any]) -> Any:
    """Integers on the device; MemoryError for those beyond 32 bits."""
    if numbers.dtype != np.int32 and int(numbers.max(initial=0)) > np.iinfo(np.int32).max:
        raise MemoryError(
            f"a table of the operator counts to {int(numbers.max())}, and {device.name} counts to "
            '2147483647: try a coarser mesh, or backend="numba"'
        )
    return device.array(np.ascontiguousarray(numbers, np.int32))


def sent(device: Device, record: Any) -> Any:
    """A record, or an array, with all arrays on the device, those of integers in 32 bits, and other values as they are;
    records in a record likewise."""
    if isinstance(record, np.ndarray):
        return indices(device, record) if record.dtype.kind == "i" else device.array(record)
    if isinstance(record, tuple):
        parts = [sent(device, each) for each in record]
        return type(record)(*parts) if hasattr(record, "_fields") else tuple(parts)
    if is_dataclass(record) and not isinstance(record, type):
        return replace(record, **{each.name: sent(device, getattr(record, each.name)) for each in fields(record)})
    return record
