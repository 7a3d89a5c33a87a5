"""The wave on an infinite strip in a stack of layers: propagation constant and characteristic impedance.

The current J(y) exp(i beta s) of a strip -w/2 < y < w/2 along s is a sum of T_2n(2y/w) / sqrt(1 - (2y/w)^2) along and
U_(2n-1)(2y/w) sqrt(1 - (2y/w)^2) across the strip, whose transforms are J_2n(k_y w/2) and J_2n(k_y w/2) / k_y. With the
voltages V of the lines of TM and TE waves of k = (beta, k_y) the matrix of the field is

  Z_ab(beta) = (1 / 2 pi) int F_a* . [V^e u u + V^h v v] . F_b dk_y,  u along k, v = z x u.

A voltage U per length drives the current U / z(beta), 1/z the element of Z^-1 of the functions that carry current. The
wave is the zero of z; one volt at a gap launches it with the current 1 / (2 Z_c) on both sides, the residue of the
inverse transform, so that Z_c = |z'(beta)| / 2: its power is Z_c |I|^2 / 2.

T. Itoh, IEEE Trans. Microw. Theory Tech. 28 (1980) 733.
"""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.floquet import voltages
from calderon.layers import Sections, Stack
from calderon.layers.sections import WALL
from calderon.quadrature import gauss
from calderon.validation import instance, positive_length, real_number

FUNCTIONS = 3
"""Along, and across the strip."""
PANELS, POINTS, FARTHEST = 300, 8, 1000.0
"""Integrals over k_y w / 2: panels, their points, and the end, beyond which means of oscillations are integrated."""
TRIALS = 60
"""Propagation constants between which a zero is sought."""
Complex = NDArray[np.complex128]


class LineWave(NamedTuple):
    """beta in 1/m, with a positive imaginary part for losses, Z_c in ohm, and the effective permittivity."""

    beta: complex
    impedance: complex
    permittivity: complex

    def __str__(self) -> str:
        return f"Z_c = {self.impedance:.5g} ohm, effective permittivity {self.permittivity:.5g}"


def line_parameters(stack: Stack, width: float, frequency: float, z: float | None = None) -> LineWave:
    """The fundamental wave of a strip of a width in m at the height z in m (the top of the stack, unless given).

    frequency: in Hz. Z_c is that of power and current. Raises ValueError without a conductor below or above.
    """
    instance(stack, Stack, "the layers must be a Stack")
    sections, w = stack.at(frequency), positive_length(width, "the width of a line in m")
    height = stack.top if z is None else real_number(z, "z")
    if WALL not in sections.ends:
        raise ValueError("a line needs a conductor below or above, and this stack has none: give Stack(below='pec')")
    low, high = sections.k0, float(np.sqrt((sections.eps * sections.mu).real.max())) * sections.k0
    trials = np.linspace(1.02 * high, max(low * (1 - 1e-6), 0.2 * high), TRIALS)
    values = np.array([_impedance(sections, height, w, complex(each)) for each in trials])
    change = np.flatnonzero((values.imag[:-1] * values.imag[1:] < 0) & (np.abs(np.diff(values)) < np.abs(values).max()))
    if not len(change):
        raise ValueError(
            f"no wave of a strip of {1e3 * w:g} mm at z = {1e3 * height:g} mm was found at {frequency:g} Hz: check the "
            "height, the layers and the frequency"
        )
    a, b = complex(trials[change[0]]), complex(trials[change[0] + 1])
    one, two = complex(values[change[0]]), complex(values[change[0] + 1])
    for _ in range(30):
        if abs(b - a) < 1e-12 * abs(b) or two == one:
            break
        a, b, one = b, b - two * (b - a) / (two - one), two
        two = _impedance(sections, height, w, b)
    step = 1e-4 * abs(b)
    slope = (_impedance(sections, height, w, b + step) - _impedance(sections, height, w, b - step)) / (2 * step)
    impedance = VACUUM_IMPEDANCE * slope / 2j
    return LineWave(b, impedance if impedance.real > 0 else -impedance, (b / sections.k0) ** 2)


def _impedance(sections: Sections, z: float, w: float, beta: complex) -> complex:
    """z(beta) in 1/m for eta0 = 1."""
    rule = gauss(POINTS)
    edges = FARTHEST * np.linspace(0, 1, PANELS + 1) ** 1.5
    x = (edges[:-1, None] + np.diff(edges)[:, None] * rule.points).ravel()
    weights = (np.diff(edges)[:, None] * rule.weights).ravel() * 4 / w / (2 * np.pi)
    ky = 2 * x / w
    k = np.sqrt(beta**2 + ky**2)
    e, h = voltages(sections, k, z, z)
    bessel = np.array([(-1) ** n * scipy.special.jv(2 * n, x) for n in range(FUNCTIONS + 1)])
    along, across = bessel[:FUNCTIONS], 1j * bessel[1:] / x
    ss, st, tt = (e * beta**2 + h * ky**2) / k**2, (e - h) * beta * ky / k**2, (e * ky**2 + h * beta**2) / k**2
    first = (along * weights * ss) @ along.T
    # beyond, products of J_2n with their signs have the mean 1 / (pi x), and the voltages fall as 1 / x
    first += ss[-1] * 4 / w / (2 * np.pi) / np.pi * np.ones_like(first) * x[-1] / FARTHEST
    mixed = (along * weights * st) @ across.T
    last = (across.conj() * weights * tt) @ across.T
    matrix = np.block([[first, mixed], [-mixed.T, last]])
    column = np.eye(len(matrix))[0]
    return complex(1 / np.linalg.solve(matrix, column)[0])
