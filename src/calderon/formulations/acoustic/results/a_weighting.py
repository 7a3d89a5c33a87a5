"""The A-weighting of sound levels."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.validation import positive_numbers


def a_weighting(frequencies: ArrayLike) -> NDArray[np.float64]:
    """A (n,) in dB, 0 at 1 kHz, which is added to levels at frequencies (n,) in Hz.

        A(f) = 20 log10(R(f) / R(1000)),    R(f) = f4^2 f^4 / ((f^2 + f1^2) sqrt(f^2 + f2^2) sqrt(f^2 + f3^2)
                                                               (f^2 + f4^2)),

    f1 = 20.60, f2 = 107.7, f3 = 737.9 and f4 = 12194 Hz as IEC 61672-1:2013, annex E, derives them: f1 and f4 from the
    points 10^1.5 and 10^3.9 Hz at which the C-weighting has half of the power, f2 and f3 from the one, 10^2.45 Hz, at
    which the A-weighting has two poles more.
    """
    f = positive_numbers(frequencies, "frequencies", "an A-weighting needs positive frequencies in Hz")
    return np.asarray(20 * np.log10(_response(f) / _response(np.array([REFERENCE]))))


REFERENCE = 1000.0


def _poles() -> tuple[float, float, float, float]:
    """f1 to f4 in Hz; IEC 61672-1:2013, (E.2) to (E.8)."""
    low, high, half, square = 10**1.5, 10**3.9, np.sqrt(0.5), REFERENCE**2
    c = low**2 * high**2
    b = (square + c / square - half * (low**2 + high**2)) / (1 - half)
    root, middle = np.sqrt(b**2 - 4 * c), 10**2.45
    outer = np.sqrt((-b - root) / 2), np.sqrt((-b + root) / 2)
    inner = [(3 + sign * np.sqrt(5)) / 2 * middle for sign in (-1, 1)]
    return float(outer[0]), float(inner[0]), float(inner[1]), float(outer[1])


def _response(f: NDArray[np.float64]) -> NDArray[np.float64]:
    """R (n,) at frequencies (n,)."""
    f1, f2, f3, f4 = _poles()
    square = f**2
    poles = (square + f1**2) * np.sqrt(square + f2**2) * np.sqrt(square + f3**2) * (square + f4**2)
    return np.asarray(f4**2 * square**2 / poles)
