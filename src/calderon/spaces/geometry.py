"""Points and surface derivatives on flat triangles."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh import TriangleMesh
from calderon.spaces.element import barycentric
from calderon.validation import unmasked


def reference_points(points: ArrayLike) -> NDArray[np.float64]:
    """Points (n, 2) of the reference triangle; ValueError for another shape, TypeError for what is not real."""
    array = unmasked(points, "reference points")
    if array.dtype.kind not in "fiu":
        raise TypeError(f"reference points must be real numbers, got an array of {array.dtype}")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"reference points need shape (n, 2), coordinates within the triangle, got {array.shape}")
    return array.astype(np.float64)


def reference_to_surface(
    mesh: TriangleMesh, triangles: NDArray[np.int64], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(m, n, 3) images of reference points (n, 2) on each of the triangles (m,)."""
    corners = mesh.vertices[mesh.triangles[triangles]]
    return np.einsum("bn,mbc->mnc", barycentric(points), corners)


def surface_gradients(
    mesh: TriangleMesh, triangles: NDArray[np.int64], gradients: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(m, size, n, 3) surface gradients of functions with reference gradients (size, n, 2): J (J^T J)^-1 grad."""
    corners = mesh.vertices[mesh.triangles[triangles]]
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(e, f)
    dual = np.stack([np.cross(f, normal), np.cross(normal, e)], axis=1)  # times (e, f): |e x f|^2 times the unit matrix
    dual /= np.einsum("mc,mc->m", normal, normal)[:, None, None]
    return np.einsum("snd,mdc->msnc", gradients, dual)
