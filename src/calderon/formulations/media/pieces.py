"""Functions on parts of a surface as sums of functions of single triangles."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.spaces import Space


def _numbers(part: Space, pieces: Space) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Which local functions of the part are used, their numbers in the part, and those among the pieces."""
    used = part.dofs >= 0
    return used, part.dofs[used], pieces.dofs[part.triangles][used]


def summed(loads: NDArray[Any], part: Space, pieces: Space) -> NDArray[Any]:
    """Integrals (dimension,) against the functions of a part, from those against all pieces."""
    _, numbers, places = _numbers(part, pieces)
    real, imaginary = (np.bincount(numbers, each[places], part.dimension) for each in (loads.real, loads.imag))
    return real + 1j * imaginary


def spread(coefficients: NDArray[Any], part: Space, pieces: Space) -> NDArray[Any]:
    """Coefficients of the pieces, from those of the functions of a part; 0 elsewhere."""
    _, numbers, places = _numbers(part, pieces)
    found = np.zeros(pieces.dimension, coefficients.dtype)
    found[places] = coefficients[numbers]
    return found
