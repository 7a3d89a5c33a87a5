"""Spherical Bessel and Hankel functions of all orders 0 .. N at once, without overflow.

For n > |z| the functions j_n and h_n^(1) fall and rise like 1/s_n and s_n, and with Im z like exp(Im z) and exp(-Im z);
both in one (Debye): s_n = exp(-Im z) prod_{1 <= m <= n} t_m,  t_m = |x + sqrt(x^2 - 1)| >= 1,  x = (m + 1/2) / z.
Here j_n s_n and h_n / s_n are computed, which stay of the size of 1/z, together with t_n. The recurrence
f_(n+1) = (2n+1)/z f_n - f_(n-1) is run downward for j (Miller) and upward for h, the directions in which each
dominates, also for complex z with Im z >= 0 (NIST Digital Library of Mathematical Functions, 10.51, 10.74).
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ScaledFunctions:
    """One kind of function at arguments z (p,), orders 0 .. N: arrays (N + 1, p).

    values: j_n s_n or h_n / s_n. slopes: the derivatives by z, scaled alike. steps: t_n, with t_0 = 1. loss: Im z (p,).
    """

    values: np.ndarray
    slopes: np.ndarray
    steps: np.ndarray
    loss: np.ndarray

    @property
    def scale(self) -> np.ndarray:
        """s_n itself, infinity where it overflows."""
        with np.errstate(over="ignore"):
            return np.exp(-self.loss) * np.cumprod(self.steps, axis=0)

    def scale_over(self, other: "ScaledFunctions") -> np.ndarray:
        """s_n of this over s_n of `other`; for a greater z of the same phase it is below 1 and falls with n."""
        return np.exp(other.loss - self.loss) * np.cumprod(self.steps / other.steps, axis=0)


def growth(order: np.ndarray | int, z: np.ndarray | complex) -> np.ndarray:
    """t_n: the factor by which h_n grows from order n - 1 to n at z."""
    x = (np.asarray(order) + 0.5) / z
    if np.iscomplexobj(x):
        return np.maximum(np.abs(x + np.sqrt(x * x - 1)), 1.0)
    x = np.maximum(x, 1.0)
    return x + np.sqrt(x * x - 1)


def spherical_bessel(last: int, z: np.ndarray | complex) -> ScaledFunctions:
    """j_0 .. j_last at z (p,), real or complex with Im z >= 0, |z| <= 2e5; z = 0 is taken as 1e-100."""
    z, steps = _arguments(last, z)
    size = float(np.abs(z).max(initial=1.0))
    if size > (largest := 2e5):  # the recurrences start above |z|
        raise ValueError(f"spherical Bessel functions are computed to |k r| = {largest:g}, got {size:.3g}")
    start = _miller_start(last + 1, size)
    values = np.empty((last + 2, len(z)), z.dtype)
    above, here = np.zeros_like(z), np.ones_like(z)  # scaled j, up to a factor, at orders start + 1 and start
    t_above = growth(start + 1, z)
    for n in range(start, -1, -1):
        if n <= last + 1:
            values[n] = here
        t = steps[n] if n < len(steps) else growth(n, z)
        # j_(n-1) = (2n+1)/z j_n - j_(n+1), with each j_m = J_m / s_m
        above, here = here, (2 * n + 1) / (z * t) * here - above / (t * t_above)
        t_above = t
    values *= _normalisation(z, values, steps)
    orders = np.arange(last + 1)[:, None]
    slopes = orders / z * values[:-1] - values[1:] / steps[1:]
    return ScaledFunctions(values[:-1], slopes, steps[:-1], np.imag(z))


def spherical_hankel(last: int, z: np.ndarray | complex) -> ScaledFunctions:
    """h_0 .. h_last, of the first kind (outgoing), at z (p,) with Im z >= 0; z = 0 is taken as 1e-100."""
    z, steps = _arguments(last, z)
    values = np.empty((last + 2, len(z)), np.complex128)
    values[0] = -1j * np.exp(1j * np.real(z)) / z
    values[1] = values[0] * (1 / z - 1j) / steps[1]
    for n in range(1, last + 1):
        values[n + 1] = (2 * n + 1) / (z * steps[n + 1]) * values[n] - values[n - 1] / (steps[n] * steps[n + 1])
    orders = np.arange(1, last + 1)[:, None]
    slopes = np.empty((last + 1, len(z)), np.complex128)
    slopes[0] = -values[1] * steps[1]
    slopes[1:] = values[:last] / steps[1:-1] - (orders + 1) / z * values[1:-1]  # no cancellation at large n
    return ScaledFunctions(values[:-1], slopes, steps[:-1], np.imag(z))


def _arguments(last: int, z: np.ndarray | complex) -> tuple[np.ndarray, np.ndarray]:
    """z as an array without zeros, and t_0 .. t_(last+1) (last + 2, p)."""
    z = np.atleast_1d(np.asarray(z, dtype=np.complex128 if np.iscomplexobj(z) else np.float64))
    z = np.where(np.abs(z) < 1e-100, 1e-100, z)
    steps = growth(np.arange(last + 2)[:, None], z)
    steps[0] = 1.0
    return z, steps


def _normalisation(z: np.ndarray, values: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """The factor that makes the sequence j exp(-Im z): from j_0 = sin z / z or j_1, whichever is not near a zero."""
    sine, cosine = _damped_sine_cosine(z)
    zero = sine / z
    one = (zero - cosine) / z
    by_zero = (np.abs(zero) >= np.abs(one)) | (np.abs(z) < 0.5)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(by_zero, zero, one * steps[1]) / np.where(by_zero, values[0], values[1])


def _damped_sine_cosine(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """exp(-Im z) sin z and exp(-Im z) cos z."""
    x, y = np.real(z), np.imag(z)
    if not np.iscomplexobj(z):
        return np.sin(x), np.cos(x)
    even, odd = (1 + np.exp(-2 * y)) / 2, -np.expm1(-2 * y) / 2  # exp(-y) cosh y, exp(-y) sinh y
    return np.sin(x) * even + 1j * np.cos(x) * odd, np.cos(x) * even - 1j * np.sin(x) * odd


def _miller_start(last: int, size: float) -> int:
    """The order from which the downward recurrence forgets its arbitrary start: (s_start / s_last)^2 > 1e20."""
    order, gained = max(last, int(size)) + 1, 0.0
    while gained < 24.0:
        order += 1
        gained += float(np.log(growth(order, size)))
    return order + 2
