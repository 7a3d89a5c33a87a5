"""The largest stable time step, from the spectral radius of the discrete operator."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal


class Search(NamedTuple):
    """How the largest step is searched.

    lanczos: steps, enough for a relative error of the largest eigenvalue well below the margin on all meshes tried.
    power: steps of the power method. margin: the estimates approach the spectral radius from below. precision:
    relative, of steps that are found by bisection; bisections: their largest number until then.
    """

    lanczos: int = 40
    power: int = 60
    margin: float = 1.01
    precision: float = 0.02
    bisections: int = 8


SEARCH = Search()


def spectrum_ends(
    apply: Callable[[NDArray[Any]], NDArray[Any]],
    products: Callable[[NDArray[Any], NDArray[Any]], tuple[float, float]],
    start: NDArray[Any],
    steps: int = SEARCH.lanczos,
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
        # norm of the vector, not yet normalised, and the entries of the tridiagonal matrix
        image = apply(vector)
        square, along = products(vector, image)
        size = math.sqrt(square)
        if number:
            if size <= smallest * np.abs(diagonal).max():  # what is left is rounding
                break
            off_diagonal.append(size)
        diagonal.append(along / square)
        # the next vector: image - diagonal vector - size previous
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
    """The largest step below `high` that is stable, within SEARCH.precision, if all shorter ones are, as `low` is.

    high: the step that would be stable if the sizes of elements alone decided, of which 3/4 are tried first.
    """
    step = 0.75 * high
    while high - low > SEARCH.precision * high:
        if stable(step):
            low = step
        else:
            high = step
        step = (low + high) / 2 if low > high / 2 else 0.75 * high
    return low


def growth(apply: Callable[[], float], steps: int = SEARCH.power) -> float:
    """Spectral radius by the power method: mean growth over the last third of the steps, each of which `apply` does and
    returns the factor by which the norm grew."""
    factors = [apply() for _ in range(steps)]
    return float(np.exp(np.mean(np.log(factors[-steps // 3 :]))))
