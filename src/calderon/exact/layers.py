"""Partial waves in the layers of a sphere: what sound and electromagnetic multipoles have in common.

In a layer of wavenumber k between two spheres r1 < r2 the radial function of an order is

    u = alpha f(kr) s(k r2) + beta g(kr) / s(k r1),      f g' - f' g = W,

with f regular, g outgoing and s the growth of g (`calderon.exact.bessel`), so that no basis function exceeds its value
on one of the two faces, however thin, thick or lossy the layer. u and v = q u', with a ratio q of the media, are
continuous. From (u, v) on the inner face, up to a factor,

    alpha : beta = q g' u - g v : f v - q f' u,

and so (u, v) on the outer face. Around the sphere u is the incident f - c g, which fixes the factor; inward, alpha and
beta are multiplied by factors that follow from W, without cancellation. The idea of ratios within each layer is that of
Z. S. Wu and Y. P. Wang, Radio Sci. 26 (1991) 1393, and W. Yang, Appl. Opt. 42 (2003) 1710.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from calderon.exact.bessel import ScaledFunctions, spherical_bessel, spherical_hankel

Pair = tuple[np.ndarray, np.ndarray]


class Sound:
    """Radial functions of sound: j_n and h_n from the order `first` on; terms grow as 2n + 1 to the power `weight`."""

    first, weight = 0, 1

    @staticmethod
    def pair(functions: ScaledFunctions, z: np.ndarray | complex) -> Pair:
        """Values and slopes by z, each (orders, p), of functions at z (p,), scaled as these."""
        return functions.values, functions.slopes

    @staticmethod
    def wronskian(z: complex) -> complex:
        """W = j h' - j' h."""
        return 1j / z**2


class Multipoles:
    """Radial functions of electromagnetic multipoles: z j_n and z h_n (Riccati and Bessel) from the order 1 on."""

    first, weight = 1, 3

    @staticmethod
    def pair(functions: ScaledFunctions, z: np.ndarray | complex) -> Pair:
        """Values and slopes as of `Sound`."""
        values, slopes = functions.values[1:], functions.slopes[1:]
        return z * values, values + z * slopes

    @staticmethod
    def wronskian(z: complex) -> complex:
        """W of z j and z h."""
        return 1j


Waves = type[Sound] | type[Multipoles]


class Shell(NamedTuple):
    """A layer as the transfer sees it: arguments kr on its inner face (0 for a ball) and its outer one, and q."""

    inner: complex
    outer: complex
    ratio: complex


class Solved(NamedTuple):
    """Waves of a sphere, each array of shape (orders,), times the factors that `solve_layers` is given.

    scattered: c s^2 on the sphere. outgoing: g / s there. value, slope: u and v there. pairs: (alpha, beta), (2,
    orders), of each layer from the inside out.
    """

    scattered: np.ndarray
    outgoing: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    pairs: list[np.ndarray]


def solve_layers(
    waves: Waves, last: int, shells: Sequence[Shell], core: Pair, size: complex, factor: np.ndarray
) -> Solved:
    """The waves of the orders up to `last` for an incident f(kr) times factor (orders,), divided by s on the sphere.

    shells: layers from the inside out. core: u and v (orders,) on the innermost face, up to a factor; of no effect
    inside a ball. size: the argument outside of the sphere on its face.
    """
    # from the inside out: u and v on the outer face of each layer, up to a factor for each order
    value, slope = (np.asarray(each, np.complex128) for each in core)
    pairs, links = [], []
    for shell in shells:
        pair, link, value, slope = _through(waves, last, shell, value, slope)
        pairs.append(pair)
        links.append(link)
    # the outgoing wave from both on the sphere, and the whole field there by the Wronskian
    regular, regular_slope = (part[:, 0] for part in waves.pair(spherical_bessel(last, size), size))
    outgoing, outgoing_slope = (part[:, 0] for part in waves.pair(spherical_hankel(last, size), size))
    denominator = outgoing_slope * value - outgoing * slope
    scattered = (regular_slope * value - regular * slope) / denominator * factor
    amplitude = waves.wronskian(size) / denominator * factor
    value, slope = amplitude * value, amplitude * slope
    # from the outside in: the factors
    for n in range(len(pairs) - 1, -1, -1):
        pairs[n] = pairs[n] * amplitude
        amplitude = amplitude * links[n]
    return Solved(scattered, outgoing, value, slope, pairs)


def _through(
    waves: Waves, last: int, shell: Shell, value: np.ndarray, slope: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """From (u, v) on the inner face, up to a factor, to (alpha, beta) and (u, v) on the outer face, up to another.

    Also the link: (u, v) on the inner face of (alpha, beta) are those given times link.
    """
    inner, outer, q = shell
    far = spherical_bessel(last, outer)
    f2, f2_slope = (part[:, 0] for part in waves.pair(far, outer))
    if inner == 0:
        blank = np.zeros(len(f2), np.complex128)
        alpha, beta, link = blank + 1, blank, blank
        value, slope = f2, q * f2_slope
    else:
        near = spherical_bessel(last, inner)
        f1, f1_slope = (part[:, 0] for part in waves.pair(near, inner))
        g1, g1_slope = (part[:, 0] for part in waves.pair(spherical_hankel(last, inner), inner))
        g2, g2_slope = (part[:, 0] for part in waves.pair(spherical_hankel(last, outer), outer))
        fall = far.scale_over(near)[
            waves.first :, 0
        ]  # of s at the outer over the inner face: f rises and g falls by it
        alpha = q * g1_slope * value - g1 * slope
        beta = fall * (f1 * slope - q * f1_slope * value)
        link = fall * q * waves.wronskian(inner)
        value = alpha * f2 + beta * fall * g2
        slope = q * (alpha * f2_slope + beta * fall * g2_slope)
    size = np.maximum(np.abs(value), np.abs(slope))
    return np.stack([alpha, beta]) / size, link / size, value / size, slope / size


def functions_within(waves: Waves, last: int, k: complex, faces: tuple[float, float], r: np.ndarray) -> list[Pair]:
    """Values and slopes (orders, p) of f(kr) s(k r2) and of g(kr) / s(k r1) at r (p,) between the faces r1, r2 of a
    layer; of a ball (r1 = 0) the first alone."""
    here = spherical_bessel(last, k * r)
    rise = spherical_bessel(last, k * faces[1]).scale_over(here)[waves.first :]
    value, slope = waves.pair(here, k * r)
    found = [(value * rise, slope * rise)]
    return found if faces[0] == 0 else [*found, outgoing_from(waves, last, k, faces[0], r)]


def outgoing_from(waves: Waves, last: int, k: complex, face: float, r: np.ndarray) -> Pair:
    """Value and slope (orders, p) of g(kr) / s(k face) at r (p,) beyond a face."""
    here = spherical_hankel(last, k * r)
    fall = here.scale_over(spherical_hankel(last, k * face))[waves.first :]
    value, slope = waves.pair(here, k * r)
    return value * fall, slope * fall


def last_order(waves: Waves, rise: Callable[[np.ndarray], np.ndarray], what: str) -> int:
    """The order after which the terms of a sphere are negligible, below exp(-42) = 6e-19 of the largest.

    rise(n): the factor by which g / s of the order n exceeds that of n - 1 on the sphere. what: the terms, of which too
    many would be needed, in an error.
    """
    most = 20_000
    orders = np.arange(waves.first, most + 1)
    decay = np.cumsum(np.log(rise(orders)))
    enough = np.flatnonzero(decay > 42.0 + waves.weight * np.log(2 * orders + 1))
    if len(enough) == 0:
        raise ValueError(f"more than {most} {what}")
    return int(orders[enough[0]])


def portions(count: int, numbers: int) -> Iterator[slice]:
    """Slices of `count` points, for each of which so many numbers are computed, that stay in the cache together."""
    step = max(1, 200_000 // numbers)
    return (slice(first, first + step) for first in range(0, count, step))
