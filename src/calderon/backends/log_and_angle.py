"""Logarithm and angle on vectors of doubles (vectors.py): arithmetic and selections, no branches.

Errors, relative for the logarithm and absolute for the angle, are below 1e-15.
Source: S. L. Moshier, Cephes mathematical library (1995), for the arctangent.
"""

import math

from numba.extending import overload

from calderon.backends.vectors import exponent_and_mantissa, is_vector, where_less


def logarithm(x: float) -> float:
    """ln x of a positive normal number: x = 2^n m with m between sqrt(1/2) and sqrt(2), and ln m = 2 artanh s with
    s = (m - 1)/(m + 1), by its series."""
    return math.log(x)


def angle(y: float, x: float) -> float:
    """The angle of the point (x, y), between -pi and pi; 0 at the origin."""
    return math.atan2(y, x)


def _logarithm(x):
    n, m = exponent_and_mantissa(x)
    # the series of artanh s in z = s^2, from its last term on
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = z * (1.0 / 21.0) + 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    return n * 0.6931471805599453 + (2.0 * s + 2.0 * s * z * p)


def _angle(y, x):
    # the angle of the smaller against the larger one of |x| and |y|, reduced to below pi/8
    a, b = where_less(y, 0.0, -y, y), where_less(x, 0.0, -x, x)
    low, high = where_less(a, b, a, b), where_less(a, b, b, a)
    high = where_less(high, 1e-300, 1e-300, high)
    beyond = 0.41421356237309503 * high  # tan(pi/8): from there on the angle less pi/4
    s = where_less(beyond, low, low - high, low) / where_less(beyond, low, low + high, high)
    # arctangent of s as a rational function of z = s^2
    z = s * s
    p = z * -8.750608600031904122785e-1 - 1.615753718733365076637e1
    p = p * z - 7.500855792314704667340e1
    p = p * z - 1.228866684490136173410e2
    p = p * z - 6.485021904942025371773e1
    q = z + 2.485846490142306297962e1
    q = q * z + 1.650270098316988542046e2
    q = q * z + 4.328810604912902668951e2
    q = q * z + 4.853903996359136964868e2
    q = q * z + 1.945506571482613964425e2
    # back to the octant, the quadrant and the sign of (x, y)
    t = s + s * z * (p / q) + where_less(beyond, low, 0.7853981633974483, 0.0 * z)
    t = where_less(b, a, 1.5707963267948966 - t, t)
    t = where_less(x, 0.0, 3.141592653589793 - t, t)
    return where_less(y, 0.0, -t, t)


@overload(logarithm, jit_options={"forceinline": True})
def _overload_logarithm(x):
    return _logarithm if is_vector(x) and x.scalar.bitwidth == 64 else None


@overload(angle, jit_options={"forceinline": True})
def _overload_angle(y, x):
    return _angle if is_vector(x) and x.scalar.bitwidth == 64 else None
