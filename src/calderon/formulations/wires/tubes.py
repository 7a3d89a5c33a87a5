"""Wires as they are drawn: tubes."""

import numpy as np
from numpy.typing import NDArray

from calderon.view.scene import Field, Surface

SIDES = 8
"""Corners of a tube around."""


def tubes(segments: NDArray[np.float64], currents: NDArray[np.complex128]) -> Surface:
    """Tubes along segments (n, 8), wide enough to be seen, with the currents (n, 2) in A at their ends."""
    begin, along, radius = segments[:, :3], segments[:, 3:6], segments[:, 7]
    ends = np.stack([begin, begin + along * segments[:, 6:7]], axis=1)
    size = float(np.linalg.norm(np.ptp(ends.reshape(-1, 3), axis=0)))
    helper = np.eye(3)[np.abs(along).argmin(axis=1)]
    first = np.cross(along, helper)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = np.cos(angles)[:, None] * first[:, None] + np.sin(angles)[:, None] * np.cross(along, first)[:, None]
    ring *= np.maximum(radius, 2e-3 * size)[:, None, None]
    vertices = (ends[:, :, None] + ring[:, None]).reshape(-1, 3)
    corner = np.arange(SIDES)
    quads = np.stack([corner, (corner + 1) % SIDES, (corner + 1) % SIDES + SIDES, corner + SIDES], axis=1)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    faces = (triangles + 2 * SIDES * np.arange(len(ends))[:, None, None]).reshape(-1, 3)
    shown = Field("Current", "I", "A", [np.repeat(currents.ravel(), SIDES)])
    return Surface("wires", vertices, faces, (shown,))
