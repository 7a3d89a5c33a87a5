"""Capacitances of isolated conductors, C / (4 pi eps0), in metres.

The potential 1 on the conductor and 0 at infinity needs the charge C; multiply by 4 pi eps0 = 1.112650055e-10 F/m for
farads. With the Laplace single layer (G = 1 / (4 pi r), V sigma = 1) it is the integral of sigma, divided by 4 pi.
"""

import numpy as np
import scipy

from calderon.validation import positive_length, real_numbers


def sphere_capacitance(radius: float) -> float:
    """The radius itself."""
    return positive_length(radius, "radius")


def cube_capacitance(side: float) -> float:
    """0.66067815409957 times the side: J. Helsing and K.-M. Perfekt, Appl. Comput. Harmon. Anal. 34 (2013) 445, all
    digits correct."""
    return 0.66067815409957 * positive_length(side, "side")


def disc_capacitance(radius: float) -> float:
    """A thin circular disc, both sides: 2 a / pi, that is 8 eps0 a."""
    return 2 / np.pi * positive_length(radius, "radius")


def ellipsoid_capacitance(semi_axes: tuple[float, float, float]) -> float:
    """1 / R_F(a^2, b^2, c^2) with Carlson's elliptic integral R_F; one semi-axis may be zero (an elliptic disc).

    O. D. Kellogg, Foundations of Potential Theory (1929), chapter VII; B. C. Carlson, Numer. Algorithms 10 (1995) 13.
    """
    axes = real_numbers(semi_axes, (3,), "semi_axes", "three lengths, at most one of them zero")
    if np.any(axes < 0) or np.count_nonzero(axes) < 2:
        raise ValueError(f"semi_axes must be three lengths, at most one of them zero, got {semi_axes!r}")
    largest = axes.max()
    return float(largest / scipy.special.elliprf(*(axes / largest) ** 2))
