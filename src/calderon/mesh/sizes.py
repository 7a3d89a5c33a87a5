"""Lengths that shapes are asked for, and whether there is room for what they ask."""

import numbers

import numpy as np

from calderon.backends import require_memory
from calderon.mesh.errors import MeshError

TRIANGLE, REMESHED = 1000, 12000
"""Bytes at the highest while a triangle is made, on shapes with a formula and where edges are split and moved."""
TETRAHEDRON = 1500
"""The same of a tetrahedron."""


def positive(name: str, value: float) -> float:
    """The value as a positive finite float, or MeshError."""
    array = np.asarray(value)
    if array.ndim != 0 or array.dtype.kind not in "fiu" or not 0 < float(array) < np.inf:
        raise MeshError(f"{name} = {value!r}: a positive, finite length is needed")
    return float(array)


def exceeds(h: float, limit: float) -> bool:
    """Whether h is above the limit by more than the rounding of both."""
    return h > limit * (1 + 1e-12)


def scale_factor(value: float) -> float:
    """The value as a positive finite factor of lengths, or MeshError."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < np.inf:
        raise MeshError(f"scale {value!r}: it must be positive and finite, for example 1e-3 from mm to m")
    return float(value)


def room_for_surface(area: float, h: float, each: int = TRIANGLE) -> None:
    """MemoryError if triangles of edge length h on that area would not fit."""
    _room(each, area / (3**0.5 / 4 * h * h), "triangles", h)


def room_for_volume(volumes: list[float], h: list[float]) -> None:
    """MemoryError if tetrahedra of edge lengths h in volumes of such content would not fit."""
    _room(TETRAHEDRON, sum(v * 72**0.5 / size**3 for v, size in zip(volumes, h, strict=True)), "tetrahedra", min(h))


def _room(each: int, count: float, what: str, h: float) -> None:
    require_memory(
        int(min(each * count, 1e30)), f"a mesh of about {count:.2g} {what}", f"take edges longer than h = {h:g}"
    )
