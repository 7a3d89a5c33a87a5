"""The largest stable time step, from the spectral radius of the discrete operator."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

LANCZOS_STEPS = 40
"""Enough for a relative error of the largest eigenvalue well below MARGIN on all meshes tried."""
POWER_STEPS = 60
MARGIN = 1.01
"""The estimates approach the spectral radius from below."""
RUNGE_KUTTA_RADIUS = 3.16
"""Every z in the left half-plane with |z| below it lies in the stability region of runge_kutta."""


def largest_eigenvalue(
    apply: Callable[[NDArray[Any]], NDArray[Any]],
    inner: Callable[[NDArray[Any], NDArray[Any]], float],
    start: NDArray[Any],
    steps: int = LANCZOS_STEPS,
) -> float:
    """Largest eigenvalue of an operator that is symmetric and not negative in the inner product, by Lanczos.

    Source: G. Golub and C. Van Loan, Matrix Computations, section 10.1.
    """
    previous, vector = np.zeros_like(start), start / math.sqrt(inner(start, start))
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(steps):
        image = apply(vector)
        diagonal.append(inner(image, vector))
        image -= diagonal[-1] * vector
        if beside:
            image -= beside[-1] * previous
        size = math.sqrt(max(inner(image, image), 0.0))
        if size <= 1e-10 * abs(diagonal[0]):
            break
        beside.append(size)
        previous, vector = vector, image / size
    return float(eigh_tridiagonal(diagonal, beside[: len(diagonal) - 1], eigvals_only=True)[-1])


def growth(apply: Callable[[], float], steps: int = POWER_STEPS) -> float:
    """Spectral radius by the power method: mean growth over the last third of the steps, each of which `apply` does and
    returns the factor by which the norm grew."""
    factors = [apply() for _ in range(steps)]
    return float(np.exp(np.mean(np.log(factors[-steps // 3 :]))))
