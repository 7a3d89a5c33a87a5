"""Checks of the lengths given for shapes, and of the memory that a mesh needs."""

import numbers
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import require_memory
from calderon.mesh.errors import MeshError
from calderon.mesh.tolerances import TOLERANCES
from calderon.validation import real_numbers

LARGEST_LENGTH = 1e70
"""Length whose fourth power is a number in double precision."""


class PeakBytes(NamedTuple):
    """Peak memory in bytes, measured: of a triangle of a shape with a formula, of one that is remeshed, and of a
    tetrahedron."""

    triangle: int = 1000
    remeshed: int = 12_000
    tetrahedron: int = 1500


PEAK_BYTES = PeakBytes()


def positive(name: str, value: float) -> float:
    """The value as a positive finite float, or MeshError."""
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        array = np.zeros(1)
    if array.ndim != 0 or array.dtype.kind not in "fiu" or not 0 < float(array) < np.inf:
        raise MeshError(f"{name} = {value!r}: a positive, finite number without a unit is needed")
    if not 1 / LARGEST_LENGTH < float(array) < LARGEST_LENGTH:
        raise MeshError(
            f"{name} = {value!r}: lengths from {1 / LARGEST_LENGTH:g} to {LARGEST_LENGTH:g} can be computed with"
        )
    return float(array)


def positive_lengths(name: str, values: Sequence[float], count: int) -> list[float]:
    """So many positive finite floats, or MeshError."""
    given = list(values) if isinstance(values, Iterable) else []
    if len(given) != count:
        raise MeshError(f"{name} = {values!r}: {count} positive lengths are needed")
    return [positive(name, value) for value in given]


def exceeds(h: float, limit: float) -> bool:
    """Whether h is above the limit by more than the rounding of both."""
    return h > limit * (1 + TOLERANCES.rounding)


def refuse_long(h: float, limit: float, shape: str, advice: str = "") -> None:
    """MeshError for edges of the length h above the limit of a shape."""
    if exceeds(h, limit):
        raise MeshError(f"h = {h:g} is too large for {shape}: at most {limit:.4g}{advice}")


def cells_of(size: float, h: float) -> int:
    """ceil(size / h), robust against the rounding of h = size / n, at least 1."""
    return max(1, int(np.ceil(size / h * (1 - TOLERANCES.rounding))))


def scale_factor(value: float) -> float:
    """The value as a positive finite factor of lengths, or MeshError."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value <= LARGEST_LENGTH:
        raise MeshError(f"scale {value!r}: it must be positive and finite, for example 1e-3 from mm to m")
    return float(value)


def scale_factors(values: ArrayLike) -> NDArray[np.float64]:
    """Three positive finite factors of x, y and z (3,) from one or three of them, or MeshError."""
    if isinstance(values, numbers.Real) or np.ndim(values) == 0:
        return np.full(3, scale_factor(cast(float, values)))
    wanted = "one positive finite number, or three of them, for x, y and z"
    factors = real_numbers(values, (3,), "what a mesh is scaled by", wanted, MeshError)
    return np.array([scale_factor(float(each)) for each in factors])


def room_for_surface(area: float, h: float, each: int = PEAK_BYTES.triangle) -> None:
    """MemoryError if triangles of edge length h on that area would not fit."""
    _room(each, area / (3**0.5 / 4 * h * h), "triangles", h)


def room_for_volume(volumes: list[float], h: list[float]) -> None:
    """MemoryError if tetrahedra of edge lengths h in volumes of that content would not fit."""
    _room(
        PEAK_BYTES.tetrahedron,
        sum(v * 72**0.5 / size**3 for v, size in zip(volumes, h, strict=True)),
        "tetrahedra",
        min(h),
    )


def _room(each: int, count: float, what: str, h: float) -> None:
    require_memory(
        int(min(each * count, 1e30)), f"a mesh of about {count:.2g} {what}", f"choose edges longer than h = {h:g}"
    )
