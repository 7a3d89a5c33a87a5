"""Frequencies from which on surface waves travel along layers between a half-space and a wall, or equal half-spaces.

At the cutoff nothing decays in the half-space: k_rho is its wavenumber. There the lines of TM waves are short-circuited
by it and those of TE waves open. With the voltage and the current of a line from the one end to the other,
  V' = V cos t + i Z I sin t,  I' = I cos t + i V sin t / Z,  t = k0 q d,  q^2 = eps mu - eps_out mu_out,
and Z = q / eps (TM), mu / q (TE), waves begin where V = 0 (TM) or I = 0 (TE) at the half-space.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from calderon.exact.vacuum import SPEED_OF_LIGHT

STEPS = 24
"""Between two zeros of a line of the same length without reflections."""


class Section(NamedTuple):
    """A lossless layer: eps and mu relative, thickness in m."""

    eps: float
    mu: float
    thickness: float


def cutoffs(layers: Sequence[Section], outside: Section, start: str, count: int) -> list[tuple[str, float]]:
    """The first waves with their cutoff frequencies in Hz, by name and frequency: TM0, TE1, ...

    layers: from the other end to the half-space `outside`. start: the other end, "pec", "pmc" or "open" for an equal
    half-space. A wave that travels at all frequencies has the cutoff 0.
    """
    q = [np.sqrt(complex(each.eps * each.mu - outside.eps * outside.mu)) for each in layers]
    length = sum(each.real * layer.thickness for each, layer in zip(q, layers, strict=True))
    if length == 0:
        return []
    waves = []
    for kind in ("TM", "TE"):
        shorted = start == "pec" or (start == "open" and kind == "TM")

        def end(k0: float, kind: str = kind, shorted: bool = shorted) -> float:
            return _end_of_line(layers, q, k0, kind, shorted)

        first = 0 if shorted == (kind == "TM") else 1  # V = 0, or I = 0, from one end to the other
        found = ([0.0] if first == 0 else []) + _zeros(end, np.pi / length / STEPS, count)
        waves += [(f"{kind}{n}", k0 * SPEED_OF_LIGHT / (2 * np.pi)) for n, k0 in enumerate(found[:count], start=first)]
    return sorted(waves, key=lambda each: each[1])[:count]


def _end_of_line(layers: Sequence[Section], q: list[Any], k0: float, kind: str, shorted: bool) -> float:
    """V of TM, I of TE waves at the half-space, real up to a constant factor i."""
    v, i = (0j, 1 + 0j) if shorted else (1 + 0j, 0j)
    for layer, each in zip(layers, q, strict=True):
        each = each or 1e-12
        z = each / layer.eps if kind == "TM" else layer.mu / each
        c, s = np.cos(k0 * each * layer.thickness), np.sin(k0 * each * layer.thickness)
        v, i = v * c + 1j * z * i * s, i * c + 1j * v * s / z
    value = v if kind == "TM" else i
    return float(value.imag if shorted == (kind == "TM") else value.real)


def _zeros(f: Callable[[float], float], step: float, count: int) -> list[float]:
    """The first positive zeros of a real function."""
    found = list[float]()
    for n in range(1, STEPS * (count + 2)):
        low, high = n * step, (n + 1) * step
        if f(low) * f(high) < 0:
            found.append(float(scipy.optimize.brentq(f, low, high)))
        if len(found) == count:
            break
    return found
