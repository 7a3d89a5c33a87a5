"""Coefficients of a material: a number, a table by material, or a function of the place."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.mesh import TetrahedralMesh
from calderon.spaces.space import called
from calderon.validation import unmasked

SIZES = 1e30
"""Coefficients of media are far below."""
Coefficient = complex | Mapping[int | str, complex] | Callable[[NDArray[np.float64]], Any]
"""A number, {tag or name of a material: number}, or f(x) with x (n, 3) and values (n,), or (n, 3, 3) of tensors."""


def at_points(
    given: Any, volume: TetrahedralMesh, points: NDArray[np.float64], name: str, tensors: bool = False
) -> NDArray[Any]:
    """Values (nt, q) of a coefficient at points (nt, q, 3) in the tetrahedra, or tensors (nt, q, 3, 3).

    ValueError for materials that are missing or unknown and values that are not finite, with the first place; TypeError
    for what is no coefficient.
    """
    shape = points.shape[:2]
    if isinstance(given, Mapping):
        values = _by_material(given, volume, name)
        values = np.broadcast_to(values.reshape(len(values), 1, *values.shape[1:]), (*shape, *values.shape[1:]))
    elif callable(given):
        flat = points.reshape(-1, 3)
        values = np.asarray(called(given, flat, flat))
        values = values.reshape(*shape, *values.shape[1:]) if len(np.atleast_1d(values)) == len(flat) else values
    else:
        single = unmasked(given, name)
        values = np.broadcast_to(single, (*shape, *single.shape))
    if values.dtype.kind not in "iufc":
        raise TypeError(f"{name}={given!r}: a number, a table by material or a function of points is needed")
    allowed = [shape, (*shape, 3, 3)] if tensors else [shape]
    if values.shape not in allowed:
        raise ValueError(
            f"{name} has values of shape {values.shape} for {shape[0]} tetrahedra with {shape[1]} points: it must give "
            f"one number{' or one tensor (3, 3)' if tensors else ''} for each point (n, 3)"
        )
    bad = ~(np.abs(values) < SIZES).reshape(*shape, -1).all(axis=2)
    if bad.any():
        raise ValueError(
            f"{name} is not finite, or beyond {SIZES:g}, at {bad.sum()} points, the first is {points[bad][0]}"
        )
    return values.astype(complex if values.dtype.kind == "c" and np.imag(values).any() else float)


def require_positive(values: NDArray[Any], points: NDArray[np.float64], name: str) -> None:
    """ValueError where the real part of numbers (nt, q), or of tensors (nt, q, 3, 3), is not positive (definite)."""
    if values.ndim == 2:
        wrong = np.real(values) <= 0
    else:
        if not np.allclose(values, np.swapaxes(values, 2, 3), rtol=1e-10):
            raise ValueError(f"{name} has tensors that are not symmetric: check the order of their axes")
        wrong = np.linalg.eigvalsh(np.real(values)).min(axis=-1) <= 0
    if wrong.any():
        raise ValueError(
            f"{name} has no positive real part at {wrong.sum()} points of quadrature, the first is {points[wrong][0]}"
        )


def require_loss(values: NDArray[Any], points: NDArray[np.float64], name: str, sign: float) -> None:
    """ValueError where the imaginary part times `sign` is negative: a medium that gains energy."""
    gains = sign * np.imag(values) < -1e-12 * np.abs(values)
    gains = gains.reshape(*points.shape[:2], -1).any(axis=2)
    if gains.any():
        way = "Im >= 0" if sign > 0 else "Im <= 0"
        raise ValueError(
            f"{name} makes a medium with gain at {gains.sum()} points, the first is {points[gains][0]}: with the time "
            f"factor exp(-i omega t) loss has {way} here"
        )


def _by_material(table: Mapping[Any, Any], volume: TetrahedralMesh, name: str) -> NDArray[Any]:
    """Values (nt, ...) of a table by tag or name."""
    numbers = {volume.names.get(key, key) if isinstance(key, str) else key: value for key, value in table.items()}
    present = set(np.unique(volume.tags).tolist())
    unknown, missing = set(numbers) - present, present - set(numbers)
    if unknown or missing:
        raise ValueError(
            f"{name} has the materials {list(table)}, and the volume has the tags {sorted(present)} with the names "
            f"{dict(volume.names)}: give one value for each"
        )
    tags, place = np.unique(volume.tags, return_inverse=True)
    return np.asarray(np.stack([np.asarray(numbers[tag]) for tag in tags.tolist()])[place])
