"""The antenna as a line of 50 ohm sees it: reflection, standing waves, and the power that it takes."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

LINE = 50.0
"""The impedance of the line in ohm."""


def reflection(impedance: ArrayLike) -> NDArray[np.complex128]:
    """S11 = (Z - Z_0) / (Z + Z_0) of impedances in ohm, of the time factor exp(-i omega t) as these."""
    z = np.asarray(impedance, np.complex128)
    return np.asarray((z - LINE) / (z + LINE))


def standing_wave_ratio(s: ArrayLike) -> NDArray[np.float64]:
    """VSWR = (1 + |S11|) / (1 - |S11|), at most 1e6: infinity, where nothing is accepted, is not in JSON."""
    size = np.abs(s)
    return np.asarray(np.minimum((1 + size) / np.maximum(1 - size, 1e-6), 1e6))


def accepted(s: ArrayLike) -> NDArray[np.float64]:
    """1 - |S11|^2 of the power of the line: by this, the realised gain is less than the gain."""
    return np.asarray(1 - np.abs(s) ** 2)
