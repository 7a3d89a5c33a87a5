"""The field in a plane, as a case requests it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import sobel

from calderon.case import Case
from calderon.mesh import TriangleMesh
from calderon.plots import inside
from calderon.report.surface.results import Slice

Field = Callable[[NDArray[np.float64]], NDArray[Any]]


def field_in_plane(case: Case, mesh: TriangleMesh, field: Field) -> Slice:
    """The field on the requested plane, where the problem defines it: outside the body, inside it, or both."""
    points = _slice_points(case, mesh)
    enclosed, hidden = _sides(case, mesh, points)
    values = field(_moved_off(points, enclosed, mesh)[~hidden])
    filled = np.full(hidden.shape, np.nan, dtype=values.dtype)
    filled[~hidden] = values
    return Slice(points, filled)


def shows_nothing(case: Case, mesh: TriangleMesh) -> bool:
    """Whether the problem defines a field at no point of the requested plane."""
    return bool(_sides(case, mesh, _slice_points(case, mesh))[1].all())


def _sides(case: Case, mesh: TriangleMesh, points: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which points (rows, columns) lie inside the body, and which ones have no field."""
    enclosed = inside(mesh, points) if mesh.is_closed else np.zeros(points.shape[:2], dtype=bool)
    if case.physics.side == "interior":
        return enclosed, ~enclosed
    if case.physics.definition.penetrable:
        return enclosed, np.zeros_like(enclosed)
    return enclosed, enclosed


def _moved_off(points: NDArray[np.float64], enclosed: NDArray[np.bool_], mesh: TriangleMesh) -> NDArray[np.float64]:
    """Points on either side of the surface, next to ones on the other, moved off it by a five-hundredth of an element.

    Of some thousand points one usually lies on the surface by chance, where the field is the mean of both sides.
    """
    along_rows, along_columns = (sobel((~enclosed).astype(float), axis, mode="nearest") for axis in (0, 1))
    right, up = points[0, 1] - points[0, 0], points[1, 0] - points[0, 0]
    away = along_columns[..., None] * right + along_rows[..., None] * up
    length = np.linalg.norm(away, axis=2, keepdims=True)
    outward = np.divide(away, length, out=np.zeros_like(away), where=length > 0)
    return points + mesh.mean_edge_length / 500 * np.where(enclosed[..., None], -outward, outward)


def _slice_points(case: Case, mesh: TriangleMesh) -> NDArray[np.float64]:
    """Points of the requested rectangle; by default 1.6 times the body's extent in each direction, about its centre."""
    requested = case.output.slice
    assert requested is not None
    low, high = mesh.bounds
    extent = (high - low)[requested.axes]
    return requested.grid(extent + 0.6 * extent.max(), (low + high) / 2)
