"""Solutions of a matrix in single precision, refined until their residual in double precision is small.

x <- x + A^-1 (b - A x) with factors in single precision; it converges where the condition number is below 1 / eps.
J. H. Wilkinson, Rounding Errors in Algebraic Processes (1963), chapter 3.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.solvers.lu import Factorisation
from calderon.solvers.system import norm


def refined(
    factors: Factorisation, product: Callable[[NDArray], NDArray], rhs: NDArray, rtol: float
) -> tuple[NDArray, NDArray[np.float64]]:
    """x (n, m) in double precision, and its relative residuals (m,), for A x = rhs. product: x (n, m) -> A x, summed in
    double precision. It ends at rtol, or where steps no longer reduce the largest residual by half."""
    rhs = rhs.astype(np.result_type(rhs, factors.dtype, np.float64))
    sizes = np.maximum([norm(column) for column in rhs.T], np.finfo(float).tiny)
    left, solution = rhs / sizes, np.zeros_like(rhs)
    best, last = solution, np.full(len(sizes), np.inf)
    for _ in range(10):
        scale = np.abs(left).max(initial=np.finfo(float).tiny, axis=0)  # within the range of single precision
        solution = solution + scale * factors.solve(left / scale)
        left = rhs / sizes - product(solution)
        residuals = np.linalg.norm(left, axis=0)
        if not residuals.max() < last.max():
            break
        done = residuals.max() <= rtol or residuals.max() > 0.5 * last.max()
        best, last = solution, residuals
        if done:
            break
    return best * sizes, last


def wide_product(array: NDArray, thin: Any, x: NDArray) -> NDArray:
    """(array + thin) x, summed in double precision, a few rows at a time: 32 MB of them in double precision. thin:
    None, or what has a product thin @ x."""
    wide = np.result_type(array.dtype, np.float64)
    rows = max(1, 2**25 // (wide.itemsize * array.shape[1]))
    parts = [array[begin : begin + rows].astype(wide) @ x for begin in range(0, len(array), rows)]
    product = np.concatenate(parts)
    return product if thin is None else product + thin @ x
