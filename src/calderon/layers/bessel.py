"""Bessel functions J0 and J1 of complex numbers with a positive real part, in compiled loops."""

import math

import numpy as np

from calderon.backends.numba import jitable_part

FAR = 12.0
"""Modulus from which on Hankel's expansion is taken: both are accurate to about 1e-11 there."""


@jitable_part
def bessel(z):
    """J0 and J1 at a complex z: power series below FAR, Hankel's expansion above (DLMF 10.2.2, 10.17.3)."""
    if abs(z) < FAR:
        return _series(z)
    zero, one = _hankel_sums(z, 0.0), _hankel_sums(z, 4.0)
    size, c, s = np.sqrt(2.0 / (math.pi * z)), np.cos(z - 0.25 * math.pi), np.sin(z - 0.25 * math.pi)
    return size * (c * zero[0] - s * zero[1]), size * (s * one[0] + c * one[1])


@jitable_part
def _series(z):
    """J0 and J1 at z by their power series."""
    q = -0.25 * z * z
    term, zero, one = 1.0 + 0j, 1.0 + 0j, 1.0 + 0j
    for n in range(1, 60):
        term = term * q / (n * n)
        zero += term
        one += term / (n + 1)
        if abs(term) < 1e-17 * abs(zero):
            break
    return zero, 0.5 * z * one


@jitable_part
def _hankel_sums(z, m):
    """Sums of the even and the odd terms of Hankel's expansion at z for m = 4 n^2, up to the smallest term."""
    even, odd, term, last = 1.0 + 0j, 0j, 1.0 + 0j, 1e300
    for k in range(1, 40):
        term = term * (m - (2.0 * k - 1.0) ** 2) / (8.0 * k * z)
        size = abs(term)
        if size > last or size < 1e-17:
            break
        last, place = size, k % 4
        if place == 1:
            odd += term
        elif place == 2:
            even -= term
        elif place == 3:
            odd -= term
        else:
            even += term
    return even, odd
