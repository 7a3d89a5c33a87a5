"""Series of Legendre polynomials."""

import numpy as np


def legendre_sum(terms: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """sum_n terms_n P_n(cosine), shape (p,); terms (N + 1,) or (N + 1, p), cosine (p,) in [-1, 1].

    The polynomials come from (n + 1) P_(n+1) = (2n + 1) x P_n - n P_(n-1), which is stable on [-1, 1].
    """
    total = np.zeros(len(cosine), np.complex128)
    below, here = np.zeros_like(cosine), np.ones_like(cosine)
    for n, term in enumerate(terms):
        total += term * here
        below, here = here, ((2 * n + 1) * cosine * here - n * below) / (n + 1)
    return total
