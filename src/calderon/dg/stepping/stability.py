"""The largest stable time step, from the spectral radius of the discrete operator."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

LANCZOS_STEPS = 40
"""Number of steps, enough for a relative error of the largest eigenvalue well below MARGIN on all meshes tried."""
POWER_STEPS = 60
BISECTIONS = 8
"""Largest number of bisections, from a stable step to within PRECISION of an unstable one."""
PRECISION = 0.02
"""Relative precision of steps that are found by bisection."""
FIRST_TRY = 0.75
"""First trial, over the step that would be stable if the sizes of elements alone decided."""
MARGIN = 1.01
"""The estimates approach the spectral radius from below."""
CERTAIN = 0.1
"""Inscribed radii over the square of the order that are a stable step: the limit is 0.67 for degree 1, 0.25 for 3."""
SLOWEST = 4.0
"""Permittivities of conductors over those of their medium at most: then others limit the step."""
RUNGE_KUTTA_RADIUS = 3.16
"""Every z in the left half-plane with |z| below it lies in the stability region of runge_kutta."""


def spectrum_ends(
    apply: Callable[[NDArray[Any]], NDArray[Any]],
    products: Callable[[NDArray[Any], NDArray[Any]], tuple[float, float]],
    start: NDArray[Any],
    steps: int = LANCZOS_STEPS,
) -> tuple[float, float]:
    """Least and largest eigenvalue of an operator that is symmetric in an inner product, by Lanczos.

    products(a, b): the inner products a . a and a . b. start: is overwritten. Each vector is normalised by its norm:
    the norm of the recurrence is rounding where few eigenvalues are left.

    Source: G. Golub and C. Van Loan, Matrix Computations, section 10.1.
    """
    smallest, previous, vector = 10 * np.finfo(start.dtype).eps, np.zeros_like(start), start
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    for number in range(steps):
        image = apply(vector)
        square, along = products(vector, image)
        size = math.sqrt(square)
        if number:
            if size <= smallest * np.abs(diagonal).max():  # what is left is rounding
                break
            off_diagonal.append(size)
        diagonal.append(along / square)
        vector /= size
        image /= size
        previous *= -size if number else 0.0
        previous += image
        del image
        previous -= diagonal[-1] * vector
        previous, vector = vector, previous
    values = eigh_tridiagonal(diagonal, off_diagonal, eigvals_only=True)
    return float(values[0]), float(values[-1])


def largest_stable(stable: Callable[[float], bool], low: float, high: float) -> float:
    """The largest step below `high` that is stable, within PRECISION, if all shorter ones are, as `low` is."""
    step = FIRST_TRY * high
    while high - low > PRECISION * high:
        if stable(step):
            low = step
        else:
            high = step
        step = (low + high) / 2 if low > high / 2 else FIRST_TRY * high
    return low


def growth(apply: Callable[[], float], steps: int = POWER_STEPS) -> float:
    """Spectral radius by the power method: mean growth over the last third of the steps, each of which `apply` does and
    returns the factor by which the norm grew."""
    factors = [apply() for _ in range(steps)]
    return float(np.exp(np.mean(np.log(factors[-steps // 3 :]))))
