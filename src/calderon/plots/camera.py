"""An orthographic camera: world coordinates to picture coordinates in metres, the same for every renderer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

VIEWS: dict[str, tuple[float, float]] = {
    # name: azimuth of the eye seen from above, counted from +x, and its elevation, both in degrees
    "iso": (-58.0, 24.0),
    "side": (-90.0, 0.0),
    "top": (-90.0, 90.0),
    "front": (0.0, 0.0),
    "back": (180.0, 0.0),
}


@dataclass(frozen=True)
class Camera:
    """right, up and eye: orthonormal vectors (3,), eye pointing from the body to the viewer."""

    right: NDArray[np.float64]
    up: NDArray[np.float64]
    eye: NDArray[np.float64]

    def project(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 3) points to (n, 3): to the right, upward, and depth growing toward the viewer."""
        return points @ np.stack([self.right, self.up, self.eye], axis=1)


def camera(view: str | ArrayLike) -> Camera:
    """A camera by name ("iso", "side", "top", "front", "back"), by (azimuth, elevation) in radians or by a direction
    (3,) to the eye."""
    if isinstance(view, str):
        if view not in VIEWS:
            raise ValueError(f"unknown view {view!r}: choose one of {', '.join(map(repr, VIEWS))} or give a direction")
        azimuth, elevation = np.radians(VIEWS[view])
    else:
        given = np.asarray(view, dtype=float)
        if given.shape == (3,) and np.linalg.norm(given) > 0:
            azimuth, elevation = np.arctan2(given[1], given[0]), np.arctan2(given[2], np.hypot(given[0], given[1]))
        elif given.shape == (2,):
            azimuth, elevation = given
        else:
            raise ValueError(f"view of shape {given.shape}: give a name, (azimuth, elevation) or a direction (3,)")
    sin_a, cos_a, sin_e, cos_e = np.sin(azimuth), np.cos(azimuth), np.sin(elevation), np.cos(elevation)
    return Camera(
        right=np.array([-sin_a, cos_a, 0.0]),
        up=np.array([-sin_e * cos_a, -sin_e * sin_a, cos_e]),
        eye=np.array([cos_e * cos_a, cos_e * sin_a, sin_e]),
    )


def light(normals: NDArray[np.float64], lens: Camera) -> NDArray[np.float64]:
    """Brightness (n,) between 0 and 1 of faces with the given normals, lit on both sides.

    A key light from the upper left and a fill light at the eye.
    """
    facing = normals * np.where(normals @ lens.eye < 0, -1.0, 1.0)[:, None]
    facing /= np.linalg.norm(facing, axis=1)[:, None]
    key = lens.eye * 0.75 + lens.up * 0.60 - lens.right * 0.40
    key /= np.linalg.norm(key)
    return 0.34 + 0.48 * np.clip(facing @ key, 0, 1) + 0.18 * np.clip(facing @ lens.eye, 0, 1)
