"""The part that the electric and the magnetic form share: the numbers of a triangle in each of its roles.

On the test side stands any field that is affine on the triangle, given by its tangential components at the vertices:
functions of Rao, Wilton and Glisson, their rotations and dual tests. On the trial side stand s_b (y - w_b). With the
centroids c_i, c_j, xi = x - c_i = sum l_m a_m and eta = y - c_j = sum l_n b_n all numbers are as small as a triangle,
and nothing cancels.
"""

import numpy as np
from numpy.typing import NDArray

from calderon.backends.records import Record
from calderon.backends.vectors import jitable, lanes, load, store
from calderon.mesh.geometry import FlatTriangles

TEST_TRIANGLE = Record("TEST_TRIANGLE", frame=9, corners=6)
"""Numbers of a test triangle: two tangents and the normal, then both tangential components of its three corners; those
of its functions follow. A trial triangle has the b_n of its corners, then s_b."""


def frames_of(surface: FlatTriangles) -> NDArray[np.float64]:
    """(n, 3, 3) two orthonormal tangents of each triangle and its normal."""
    along = surface.corners[:, 1] - surface.corners[:, 0]
    first = along / np.linalg.norm(along, axis=1, keepdims=True)
    return np.stack([first, np.cross(surface.normals, first), surface.normals], axis=1)


def test_data(
    surface: FlatTriangles, values: NDArray[np.float64], charges: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """(n, 15 + L k) numbers of the test triangles; values (n, L, 3, 3) of local functions at vertices, charges (n, L)
    half their divergence, if the form reads it."""
    count, frames = len(values), frames_of(surface)
    corners = surface.corners - surface.centroids[:, None]
    tangents = frames[:, :2]
    across = tangents.swapaxes(1, 2)
    inside, functions = corners @ across, values.reshape(count, -1, 3) @ across
    functions = functions.reshape(count, values.shape[1], 6)
    if charges is not None:
        functions = np.concatenate([functions, charges[:, :, None]], axis=2)
    parts = frames, inside, functions
    return np.concatenate([each.reshape(count, -1) for each in parts], axis=1)


def trial_data(surface: FlatTriangles, scales: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 12) numbers of the trial triangles with local functions scales (n, 3) times (y - w_b)."""
    corners = surface.corners - surface.centroids[:, None]
    return np.concatenate([corners.reshape(len(corners), -1), scales], axis=1)


@jitable
def turn_corners(s, w, x, i, x_step, y, j, y_step):
    """Store the corners b_n of the trial triangle in the frame of the test triangle at s[w:], nine vectors; test data
    x[i + k x_step], trial data y[j + k y_step]."""
    step = lanes(s)
    for n in range(3):
        at = j + 3 * n * y_step
        b0, b1, b2 = load(y, at), load(y, at + y_step), load(y, at + 2 * y_step)
        for c in range(3):
            store(s, w + (3 * n + c) * step, in_frame(x, i, x_step, c, b0, b1, b2))


@jitable
def in_frame(x, i, x_step, c, d0, d1, d2):
    """Component c of the vector (d0, d1, d2) in the frame of the test triangle with data x[i + k x_step]."""
    at = i + 3 * c * x_step
    return load(x, at) * d0 + load(x, at + x_step) * d1 + load(x, at + 2 * x_step) * d2


@jitable
def strength(y, j, y_step, b):
    """s_b, the factor of trial function b, of the triangle with data y[j + k y_step]."""
    return load(y, j + (9 + b) * y_step)
