"""Coefficients of smooth functions on a surface: what an operator is expected to be applied to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.spaces import Space

DIRECTIONS = np.array([[0.8, 0.48, 0.36], [-0.36, 0.8, 0.48], [0.48, -0.36, 0.8]])
PHASES = 0.4, 1.7, 2.9


def smooth_vectors(space: Any, wavenumber: float) -> NDArray[np.float64]:
    """(dimension, s) coefficients of cosines with a wavelength of the size of the surface, or that of the wavenumber
    (rad/m) if it is shorter; for tangential fields of their surface gradients and, without divergence, of these turned
    by a right angle."""
    points = space.mesh.vertices[np.unique(space.mesh.triangles[space.triangles])]
    k = max(2 * np.pi / np.linalg.norm(np.ptp(points, axis=0)), wavenumber)
    waves = [_Wave(k * direction, phase) for direction, phase in zip(DIRECTIONS, PHASES, strict=True)]
    if isinstance(space, Space):
        return np.stack([space.interpolation(wave.value).coefficients for wave in waves], axis=1)
    fields = [field for wave in waves for field in (wave.gradient, wave.turned)]
    return np.stack([space.interpolation(field).coefficients for field in fields], axis=1)


class _Wave:
    """cos(k . x + phase) with its surface gradient."""

    def __init__(self, wavevector: NDArray[np.float64], phase: float) -> None:
        self.wavevector, self.phase = wavevector, phase

    def value(self, x: Any) -> NDArray[np.float64]:
        return np.asarray(np.cos(x @ self.wavevector + self.phase))

    def gradient(self, x: Any, n: Any) -> NDArray[np.float64]:
        along = self.wavevector - (n @ self.wavevector)[:, None] * n
        return np.asarray(-np.sin(x @ self.wavevector + self.phase)[:, None] * along)

    def turned(self, x: Any, n: Any) -> NDArray[np.float64]:
        return np.cross(n, self.gradient(x, n))
