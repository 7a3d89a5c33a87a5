"""Standing waves in a cube with perfectly conducting walls."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.validation import points_in_space, positive_length, real_number, real_numbers, unmasked


@dataclass(frozen=True)
class CavityMode:
    """One mode of a cube [0, size]^3 with electric walls, in units where permittivity and permeability are 1.

    With k = pi (l, m, n) / size, w = |k| and an amplitude a, a . k = 0,
        E_x = a_x cos(k_x x) sin(k_y y) sin(k_z z) cos(w t), E_y and E_z with the cosine on y and z,
        H = curl E / (-w) sin(w t) ... that is  dH/dt = -curl E, H = 0 at t = 0.
    The largest component of a is 1. Source: Jackson, Classical Electrodynamics, section 8.7.
    """

    mode: tuple[int, int, int]
    size: float
    amplitude: tuple[float, float, float]

    @property
    def wavevector(self) -> NDArray[np.float64]:
        """k, (3,)."""
        return np.pi * np.array(self.mode) / self.size

    @property
    def angular_frequency(self) -> float:
        """w = |k|."""
        return float(np.linalg.norm(self.wavevector))

    def electric(self, points: ArrayLike, time: float) -> NDArray[np.float64]:
        """E (n, 3) at points (n, 3) and a time."""
        sines, cosines = self._functions(points)
        fields = [cosines[:, i] * sines[:, i - 1] * sines[:, i - 2] for i in range(3)]
        turn = self.angular_frequency * real_number(time, "time")
        return np.stack(fields, axis=1) * np.array(self.amplitude) * np.cos(turn)

    def magnetic(self, points: ArrayLike, time: float) -> NDArray[np.float64]:
        """H (n, 3) at points (n, 3) and a time."""
        sines, cosines = self._functions(points)
        rotated = np.cross(self.wavevector, self.amplitude)  # of curl E: sine on its own axis, cosines on the others
        fields = [sines[:, i] * cosines[:, i - 1] * cosines[:, i - 2] for i in range(3)]
        w = self.angular_frequency
        return -np.stack(fields, axis=1) * rotated * np.sin(w * real_number(time, "time")) / w

    def _functions(self, points: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        phase = points_in_space(points) * self.wavevector
        return np.sin(phase), np.cos(phase)


def cubic_cavity(
    mode: Sequence[int] = (1, 1, 0), size: float = 1.0, amplitude: Sequence[float] | None = None
) -> CavityMode:
    """The mode (l, m, n) of a cube with electric walls; at least two of the numbers are positive.

    amplitude: of the electric field, orthogonal to (l, m, n) and not zero; by default along z where n = 0 (or the axis
    whose number is zero), else in the plane of x and y. Raises ValueError for what is no mode.
    """
    numbers = unmasked(mode, "mode")
    if numbers.shape != (3,) or numbers.dtype.kind not in "iu" or (numbers < 0).any() or (numbers > 0).sum() < 2:
        raise ValueError(f"mode={mode!r}: three whole numbers are needed, at least two of them positive")
    size = positive_length(size, "size")
    if amplitude is None:
        vector = (numbers == 0).astype(float) if (numbers == 0).any() else np.array([numbers[1], -numbers[0], 0.0])
    else:
        vector = real_numbers(amplitude, (3,), "amplitude", f"three numbers orthogonal to {tuple(mode)}")
    scale = np.abs(vector).max(initial=0)
    if not scale > 0 or abs(vector @ numbers) > 1e-12 * scale * np.abs(numbers).max():
        raise ValueError(f"amplitude={amplitude!r}: three numbers orthogonal to {tuple(mode)} are needed, not all zero")
    axes = numbers == 0
    if axes.any() and np.abs(vector[~axes]).max() > 0:
        raise ValueError(
            f"amplitude={amplitude!r}: with mode {tuple(mode)} the field points along the axis whose number is zero"
        )
    vector = vector / scale
    l, m, n = (int(each) for each in numbers)
    x, y, z = (float(each) for each in vector)
    return CavityMode((l, m, n), float(size), (x, y, z))
