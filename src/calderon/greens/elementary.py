"""Inverse square root, sine and cosine, exponential: branch-free, so that loops over them become vector instructions.

The mathematical library is called element by element in a Numba loop; these are plain arithmetic on the type of their
argument (float64 or float32), about 1 unit in the last place.
"""

import math

import numpy as np
from numba.core import types
from numba.extending import overload

_SINGLE = types.float32
f32 = np.float32


def inverse_square_root(x: float) -> float:
    """1/sqrt(x). In double: one Newton step on the single-precision value (error 1e-14); x within single's range."""
    return 1.0 / math.sqrt(x)


def _inverse_square_root_double(x):  # type: ignore[no-untyped-def]
    y = np.float64(f32(1.0) / np.sqrt(f32(x)))
    return y * (1.5 - 0.5 * x * y * y)


def _inverse_square_root_single(x):  # type: ignore[no-untyped-def]
    return f32(1.0) / np.sqrt(x)


@overload(inverse_square_root, inline="never")
def _inverse_square_root(x):  # type: ignore[no-untyped-def]
    return _inverse_square_root_single if x == _SINGLE else _inverse_square_root_double


def sine_cosine(x: float) -> tuple[float, float]:
    """(sin x, cos x). Reduction by multiples of 2 pi in two parts (Cody and Waite), Taylor-like polynomials of x/4 on
    [-pi/4, pi/4], then the angle doubled twice: no quadrants, no selections. |x| up to 1e6 in double, 1e4 in single.
    """
    return math.sin(x), math.cos(x)


_TURN = 0.15915494309189535  # 1 / (2 pi)
_QUARTER_HIGH = 1.5707963267341256  # pi/2 in three parts; the first has 33 bits, so n * it is exact
_QUARTER_MIDDLE = 6.077100506303966e-11
_QUARTER_LOW = 2.0222662487959506e-21


def _sine_cosine_double(x):  # type: ignore[no-untyped-def]
    n = np.floor(x * _TURN + 0.5)
    r = ((0.25 * x - n * _QUARTER_HIGH) - n * _QUARTER_MIDDLE) - n * _QUARTER_LOW
    z = r * r
    s = 1.58962301576546568060e-10
    s = s * z - 2.50507477628578072866e-8
    s = s * z + 2.75573136213857245213e-6
    s = s * z - 1.98412698295895385996e-4
    s = s * z + 8.33333333332211858878e-3
    s = s * z - 1.66666666666666307295e-1
    s = r + r * z * s
    h = -1.13585365213876817300e-11
    h = h * z + 2.08757008419747316778e-9
    h = h * z - 2.75573141792967388112e-7
    h = h * z + 2.48015872888517045348e-5
    h = h * z - 1.38888888888730564116e-3
    h = h * z + 4.16666666666665929218e-2
    v = 0.5 * z - z * z * h  # 1 - cos r: keeps the doubling accurate
    s2 = 2.0 * s * (1.0 - v)
    v2 = 2.0 * s * s
    return 2.0 * s2 * (1.0 - v2), 1.0 - 2.0 * s2 * s2


_TURN_F = f32(0.15915494309189535)
_QUARTER_HIGH_F = f32(1.5703125)
_QUARTER_MIDDLE_F = f32(4.837512969970703125e-4)
_QUARTER_LOW_F = f32(7.549789948768648e-8)
_S = (f32(-1.9515295891e-4), f32(8.3321608736e-3), f32(-1.6666654611e-1))
_C = (f32(2.443315711809948e-5), f32(-1.388731625493765e-3), f32(4.166664568298827e-2))
_HALF, _ONE, _TWO, _QUARTER = f32(0.5), f32(1.0), f32(2.0), f32(0.25)
_S0, _S1, _S2 = _S
_C0, _C1, _C2 = _C


def _sine_cosine_single(x):  # type: ignore[no-untyped-def]
    n = np.floor(x * _TURN_F + _HALF)
    r = ((_QUARTER * x - n * _QUARTER_HIGH_F) - n * _QUARTER_MIDDLE_F) - n * _QUARTER_LOW_F
    z = r * r
    s = r + r * z * ((_S0 * z + _S1) * z + _S2)
    v = _HALF * z - z * z * ((_C0 * z + _C1) * z + _C2)
    s2 = _TWO * s * (_ONE - v)
    v2 = _TWO * s * s
    return _TWO * s2 * (_ONE - v2), _ONE - _TWO * s2 * s2


@overload(sine_cosine, inline="never")
def _sine_cosine(x):  # type: ignore[no-untyped-def]
    return _sine_cosine_single if x == _SINGLE else _sine_cosine_double


def decaying_exponential(x: float) -> float:
    """exp(-x) for x >= 0 (0 beyond 700). With z(y) = exp(y) - 1: Taylor at x/1024, then z(2y) = z(y) (2 + z(y)) ten
    times; the absolute error of z stays at rounding, where squaring exp itself would lose ten bits.
    """
    return math.exp(-x)


def _decaying_exponential_double(x):  # type: ignore[no-untyped-def]
    y = min(x, 700.0) * -0.0009765625
    z = 1.0 / 479001600.0
    z = z * y + 1.0 / 39916800.0
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
    z = z * (2.0 + z)
    z = z * (2.0 + z)
    z = z * (2.0 + z)
    z = z * (2.0 + z)
    z = z * (2.0 + z)
    z = z * (2.0 + z)
    z = z * (2.0 + z)
    z = z * (2.0 + z)
    return 1.0 + z


_LIMIT_F, _SCALE_F = f32(80.0), f32(-0.015625)
_E5, _E4, _E3, _E6 = f32(1.0 / 120.0), f32(1.0 / 24.0), f32(1.0 / 6.0), f32(1.0 / 720.0)


def _decaying_exponential_single(x):  # type: ignore[no-untyped-def]
    y = min(x, _LIMIT_F) * _SCALE_F
    z = ((((_E6 * y + _E5) * y + _E4) * y + _E3) * y + _HALF) * y + _ONE
    z = z * y
    z = z * (_TWO + z)
    z = z * (_TWO + z)
    z = z * (_TWO + z)
    z = z * (_TWO + z)
    z = z * (_TWO + z)
    z = z * (_TWO + z)
    return _ONE + z


@overload(decaying_exponential, inline="never")
def _decaying_exponential(x):  # type: ignore[no-untyped-def]
    return _decaying_exponential_single if x == _SINGLE else _decaying_exponential_double
