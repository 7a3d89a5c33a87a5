"""Inverse square root, sine and cosine, exponential on vectors (backends/vectors.py): arithmetic only, no branches.

Numba has no vector versions of them. Errors below 5e-13 in double and 1e-6 in single precision, absolute for sine and
cosine, relative for the others but for what the rounding of their arguments does. The short forms are for |x| <= 1.6
and cost half.
"""

import math
from collections.abc import Callable
from typing import Any

from numba.extending import overload

from calderon.backends.vectors import (
    floor,
    has_estimates,
    inverse_square_root_estimate,
    is_vector,
    power_of_two,
    smaller,
)

SHORT = 1.6
"""Largest |x| of the short forms."""


def on_vectors(function: Callable[..., Any], double: Callable[..., Any], single: Callable[..., Any]) -> None:
    """Let a function of one number, on vectors in kernels, be one of two: for double and for single precision."""

    @overload(function, jit_options={"forceinline": True})
    def chosen(x):
        if not is_vector(x):
            return None
        return double if x.scalar.bitwidth == 64 else single


def inverse_square_root(x: float) -> float:
    """1/sqrt(x) for x within the range of single precision: a step of third order on the processor's 14-bit estimate
    (relative error 5e-13), or Newton's on the value in single precision (1e-14)."""
    return 1.0 / math.sqrt(x)


def inverse_square_root_multiple(x: float) -> float:
    """1/sqrt(x) divided by `root_factor`, one operation less: of the estimate y and u = x y^2, y ((u - 5/3)^2 + 20/9),
    or y (3 - u)."""
    return 1.0 / math.sqrt(x)


def inverse_cube(x: float) -> float:
    """-x^(-3/2): the estimate y of 1/sqrt(x) cubed, times the first three terms in 1 - x y^2 of what it lacks, or two
    in single precision; relative error 4e-12, in single 2e-7."""
    return -1.0 / (x * math.sqrt(x))


def inverse_cube_multiple(x: float) -> float:
    """-x^(-3/2) divided by `cube_factor`, one operation less: y^3 ((u - 7/5)^2 + 28/75), or y^3 (u - 5/3)."""
    return -1.0 / (x * math.sqrt(x))


def root_factor(bits: int) -> float:
    """The factor by which `inverse_square_root_multiple` is to be multiplied, for numbers of so many bits."""
    if bits == 64:
        return 3 / 8 if has_estimates() else 1 / 2
    return 1 / 2 if has_estimates() else 1.0


def root_scaled(number: float, x: float) -> float:
    """A number times `root_factor` for the type of x: factors of the root are applied to it, once for a kernel."""
    return number


def cube_factor(bits: int) -> float:
    """The factor by which `inverse_cube_multiple` is to be multiplied, for numbers of so many bits."""
    return -15 / 8 if bits == 64 else 3 / 2


def _root_third_order(x):
    y = inverse_square_root_estimate(x)
    v = x * (y * y) - 5 / 3
    return y * (v * v + 20 / 9)


def _root_newton(x):
    y = inverse_square_root_estimate(x)
    return y * (3.0 - x * (y * y))


def _root_as_it_is(x):
    return inverse_square_root_estimate(x)


@overload(inverse_square_root_multiple, jit_options={"forceinline": True})
def _inverse_square_root_multiple(x):
    if not is_vector(x):
        return None
    if x.scalar.bitwidth == 64:
        return _root_third_order if has_estimates() else _root_newton
    return _root_newton if has_estimates() else _root_as_it_is


@overload(inverse_square_root, jit_options={"forceinline": True})
def _inverse_square_root(x):
    if not is_vector(x):
        return None
    factor = root_factor(x.scalar.bitwidth)

    def whole(x):
        return factor * inverse_square_root_multiple(x)

    return whole


@overload(root_scaled, jit_options={"forceinline": True})
def _root_scaled(number, x):
    if not is_vector(x):
        return None
    factor = root_factor(x.scalar.bitwidth)

    def product(number, x):
        return number * factor

    return product


def _cube_double(x):
    y = inverse_square_root_estimate(x)
    z = y * y
    v = x * z - 7 / 5
    return (z * y) * (v * v + 28 / 75)


def _cube_single(x):
    y = inverse_square_root_estimate(x)
    z = y * y
    return (z * y) * (x * z - 5 / 3)


on_vectors(inverse_cube_multiple, _cube_double, _cube_single)


@overload(inverse_cube, jit_options={"forceinline": True})
def _inverse_cube(x):
    if not is_vector(x):
        return None
    factor = cube_factor(x.scalar.bitwidth)

    def whole(x):
        return factor * inverse_cube_multiple(x)

    return whole


def sine_cosine(x: float) -> tuple[float, float]:
    """(sin x, cos x). Reduction by multiples of 2 pi in three parts (Cody and Waite), polynomials of x/4 on
    [-pi/4, pi/4], then the angle doubled twice: no quadrants, no selections. |x| up to 1e6 in double, 1e4 in single.
    """
    return math.sin(x), math.cos(x)


_TURN = 0.15915494309189535  # 1 / (2 pi)
_QUARTER_HIGH = 1.5707963267341256  # pi/2 in three parts; the first has 33 bits, so n * it is exact
_QUARTER_MIDDLE = 6.077100506303966e-11
_QUARTER_LOW = 2.0222662487959506e-21


def _sine_cosine_double(x):
    n = floor(x * _TURN + 0.5)
    r = ((0.25 * x - n * _QUARTER_HIGH) - n * _QUARTER_MIDDLE) - n * _QUARTER_LOW
    z = r * r
    s = z * 1.58962301576546568060e-10 - 2.50507477628578072866e-8
    s = s * z + 2.75573136213857245213e-6
    s = s * z - 1.98412698295895385996e-4
    s = s * z + 8.33333333332211858878e-3
    s = s * z - 1.66666666666666307295e-1
    s = r + r * z * s
    h = z * -1.13585365213876817300e-11 + 2.08757008419747316778e-9
    h = h * z - 2.75573141792967388112e-7
    h = h * z + 2.48015872888517045348e-5
    h = h * z - 1.38888888888730564116e-3
    h = h * z + 4.16666666666665929218e-2
    v = 0.5 * z - z * z * h  # 1 - cos r: keeps the doubling accurate
    s2 = 2.0 * s * (1.0 - v)
    v2 = 2.0 * s * s
    return 2.0 * s2 * (1.0 - v2), 1.0 - 2.0 * s2 * s2


def _sine_cosine_single(x):
    n = floor(x * _TURN + 0.5)
    r = ((0.25 * x - n * 1.5703125) - n * 4.837512969970703125e-4) - n * 7.549789948768648e-8
    z = r * r
    s = r + r * z * ((z * -1.9515295891e-4 + 8.3321608736e-3) * z - 1.6666654611e-1)
    v = 0.5 * z - z * z * ((z * 2.443315711809948e-5 - 1.388731625493765e-3) * z + 4.166664568298827e-2)
    s2 = 2.0 * s * (1.0 - v)
    v2 = 2.0 * s * s
    return 2.0 * s2 * (1.0 - v2), 1.0 - 2.0 * s2 * s2


on_vectors(sine_cosine, _sine_cosine_double, _sine_cosine_single)


def short_sine_cosine(x: float) -> tuple[float, float]:
    """(sin x, cos x) for |x| <= 1.6: best polynomials (Remez), errors 6e-14 and 3e-15, in single 5e-9 and 6e-8."""
    return math.sin(x), math.cos(x)


def _short_sine_cosine_double(x):
    z = x * x
    s = z * 1.5387613937196685e-10 - 2.5028637765089142e-08
    s = s * z + 2.7556911035016245e-06
    s = s * z - 0.000198412661923751
    s = s * z + 0.008333333317791437
    s = s * z - 0.16666666666418353
    s = s * z + 0.9999999999999353
    c = z * -1.099105565553607e-11 + 2.0856938062070256e-09
    c = c * z - 2.755689142791716e-07
    c = c * z + 2.4801582179421488e-05
    c = c * z - 0.001388888885556408
    c = c * z + 0.04166666666560162
    c = c * z - 0.4999999999998703
    c = c * z + 0.9999999999999974
    return x * s, c


def _short_sine_cosine_single(x):
    z = x * x
    s = z * 2.5997306746877666e-06 - 0.00019806659804058038
    s = s * z + 0.008333018557565422
    s = s * z - 0.1666665663125562
    s = s * z + 0.999999994878837
    c = z * 2.309409012140156e-05 - 0.001385107372134912
    c = c * z + 0.04166323073888019
    c = c * z - 0.4999989053396015
    c = c * z + 0.9999999441726214
    return x * s, c


on_vectors(short_sine_cosine, _short_sine_cosine_double, _short_sine_cosine_single)


def short_exponential(x: float) -> float:
    """exp(-x) for |x| <= 1.6: Taylor's polynomial at x/4, squared twice, relative error 1e-13, in single 5e-7."""
    return math.exp(-x)


def _short_exponential_double(x):
    y = x * -0.25
    z = y * (1.0 / 479001600.0) + 1.0 / 39916800.0
    z = z * y + 1.0 / 3628800.0
    z = z * y + 1.0 / 362880.0
    z = z * y + 1.0 / 40320.0
    z = z * y + 1.0 / 5040.0
    z = z * y + 1.0 / 720.0
    z = z * y + 1.0 / 120.0
    z = z * y + 1.0 / 24.0
    z = z * y + 1.0 / 6.0
    z = z * y + 0.5
    z = z * y + 1.0
    z = z * y
    z = z * (2.0 + z)
    z = z * (2.0 + z)
    return 1.0 + z


def _short_exponential_single(x):
    y = x * -0.25
    z = y * (1.0 / 5040.0) + 1.0 / 720.0
    z = z * y + 1.0 / 120.0
    z = z * y + 1.0 / 24.0
    z = z * y + 1.0 / 6.0
    z = z * y + 0.5
    z = z * y + 1.0
    z = z * y
    z = z * (2.0 + z)
    z = z * (2.0 + z)
    return 1.0 + z


on_vectors(short_exponential, _short_exponential_double, _short_exponential_single)


def decaying_exponential(x: float) -> float:
    """exp(-x) for x >= 0, in double precision up to 600, in single up to 60, and beyond as there (1e-261 and 1e-26:
    products with weights stay normal numbers). With -x = n log 2 + r and |r| <= log(2)/2: 2^n times the best
    polynomial of r (Remez) of degree 10, in single 5; relative errors 2e-16 and 1e-7, and what the rounding of x does.
    """
    return math.exp(-x)


_LOG_HIGH = 0.693147180369123816490  # log 2 in two parts; the first has 32 bits, so n * it is exact
_LOG_LOW = 1.90821492927058770002e-10


def _decaying_exponential_double(x):
    y = smaller(x, 600.0)
    n = floor(y * -1.4426950408889634 + 0.5)  # 1 / log 2
    r = (n * -_LOG_HIGH - y) - n * _LOG_LOW
    z = r * 2.748844352290197e-07 + 2.7639768251354328e-06
    z = z * r + 2.480191768787707e-05
    z = z * r + 0.00019841171384225596
    z = z * r + 0.001388888849913829
    z = z * r + 0.008333333384665794
    z = z * r + 0.041666666668426014
    z = z * r + 0.16666666666557742
    z = z * r + 0.49999999999997286
    z = z * r + 1.0000000000000064
    z = z * r + 1.0
    return z * power_of_two(n)


def _decaying_exponential_single(x):
    y = smaller(x, 60.0)
    n = floor(y * -1.4426950408889634 + 0.5)
    r = (n * -0.693359375 - y) + n * 2.12194440e-4
    z = r * 0.00829765519827142 + 0.041915381977922724
    z = z * r + 0.16667574726749987
    z = z * r + 0.4999889485147244
    z = z * r + 0.9999996919922833
    z = z * r + 1.0000000716546416
    return z * power_of_two(n)


on_vectors(decaying_exponential, _decaying_exponential_double, _decaying_exponential_single)
