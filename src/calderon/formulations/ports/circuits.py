"""Circuits between ports of antennas: transmission lines, networks of measured or computed S, admittance matrices.

A circuit at some ports has the currents Y U into it. At a port with a generator the antenna and all circuits there have
the voltage of the generator, whose current is the sum of theirs; at a port without one the sum of the currents is zero,
which gives its voltage.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact import SPEED_OF_LIGHT
from calderon.formulations.ports.finite_gap import FiniteGap
from calderon.formulations.ports.gaps import DeltaGap, WireGap
from calderon.formulations.ports.power_waves import Complex
from calderon.validation import describe, positive_length, truth

LARGEST_FILE = 10_000_000
"""Bytes that a file of a load has at most."""
GAIN = 1e-6
"""Least eigenvalue of the dissipated power of a passive circuit, relative to the largest admittance, with rounding."""
ROUNDING = 1e-9
"""Part of a frequency by which it may lie beyond those of a network."""


@dataclass(frozen=True, eq=False)
class Line:
    """A transmission line without loss between two ports: characteristic impedance in ohm, length in m, velocity in
    units of that of light. crossed: True for a line whose conductors change sides.

    With beta = omega / v and exp(-i omega t) Y_11 = i cot(beta l) / Z_0, Y_12 = -+ i / (Z_0 sin(beta l)).

    D. M. Pozar, Microwave Engineering, chapter 4.
    """

    impedance: float
    length: float
    velocity: float = 1.0
    crossed: bool = False

    def __post_init__(self) -> None:
        for name, unit in (("impedance", "ohm"), ("length", "m"), ("velocity", "velocities of light")):
            positive_length(getattr(self, name), f"the {name} of a line in {unit}")
        truth(self.crossed, "crossed")

    def admittance_at(self, frequency: float) -> Complex:
        """Y (2, 2) in S at a frequency in Hz; ValueError for a line of whole half wavelengths, which has none."""
        phase = 2 * np.pi * positive_length(frequency, "frequency") * self.length / (self.velocity * SPEED_OF_LIGHT)
        if abs(np.sin(phase)) < 1e-9:
            raise ValueError(
                f"a line of {self.length:g} m is {phase / np.pi:.3g} half wavelengths long at {frequency:g} Hz, where "
                "it has no admittances: change its length or the frequency by a millionth"
            )
        own, mutual = 1j / np.tan(phase), (1j if self.crossed else -1j) / np.sin(phase)
        return np.array([[own, mutual], [mutual, own]], np.complex128) / self.impedance


@dataclass(frozen=True, eq=False)
class Circuit:
    """A passive circuit between ports of an antenna.

    network: a `Line`; a network of scikit-rf (`skrf.Network`, for exp(+j omega t)), the path of its Touchstone file, or
    a sweep of another antenna or board, all interpolated over their frequencies; or Y (p, p) in S for exp(-i omega t),
    a matrix or a function of the frequency in Hz. ports: a `DeltaGap` or `WireGap` for each of its p ports, with an
    outer_radius only where it is the gap of a port of the antenna. ValueError for a circuit that delivers power, and
    for frequencies that a network does not have.
    """

    network: Any
    ports: tuple[DeltaGap | WireGap | FiniteGap, ...]

    def __post_init__(self) -> None:
        ports = tuple(self.ports) if isinstance(self.ports, list | tuple) else (self.ports,)
        if not ports or not all(isinstance(each, DeltaGap | WireGap | FiniteGap) for each in ports):
            raise TypeError(
                f"the ports of a circuit are a list of DeltaGap, FiniteGap or WireGap, got {describe(self.ports)}"
            )
        object.__setattr__(self, "ports", ports)
        if isinstance(self.network, str | os.PathLike):
            object.__setattr__(self, "network", read_network(self.network, len(ports)))

    def admittance_at(self, frequency: float) -> Complex:
        """Y (p, p) in S at a frequency in Hz, exp(-i omega t)."""
        found, count = np.asarray(_admittance(self.network, frequency), np.complex128), len(self.ports)
        if found.shape != (count, count):
            raise ValueError(f"a circuit at {count} ports has admittances ({count}, {count}), got {found.shape}")
        if not np.isfinite(found).all():
            raise ValueError(f"a circuit has admittances that are not finite at {frequency:g} Hz")
        gain = -float(np.linalg.eigvalsh((found + found.conj().T) / 2).min())
        if gain > GAIN * abs(found).max():
            raise ValueError(
                f"a circuit delivers power at {frequency:g} Hz: its conductances have the eigenvalue {-gain:.3g} S, "
                "and circuits here are passive; check signs, and that S are those of a passive network"
            )
        return found


def _admittance(network: Any, frequency: float) -> ArrayLike:
    if isinstance(network, Line):
        return network.admittance_at(frequency)
    if hasattr(network, "s") and hasattr(network, "z0"):
        return _of_skrf(network, frequency)
    if hasattr(network, "s") and hasattr(network, "reference"):
        return _of_sweep(network, frequency)
    if isinstance(network, Callable):  # type: ignore[arg-type]
        return network(frequency)
    return network


def _of_skrf(network: Any, frequency: float) -> Complex:
    """Y of a network of scikit-rf."""
    z0 = np.asarray(network.z0)
    if np.abs(z0.imag).max() > 0 or (z0 != z0[0]).any():
        raise ValueError("a network has complex reference impedances, or others by frequency: renormalize it to 50 ohm")
    return _between(network.f, np.conj(network.s), z0[0].real, frequency)


def _of_sweep(sweep: Any, frequency: float) -> Complex:
    """Y of a `PortSweep`, or of another sweep that has S."""
    if sweep.s is None or getattr(sweep, "of_lines", False) or np.any(np.imag(sweep.reference)):
        raise ValueError("a sweep joins others by S of its ports for resistances: take renormalised(50)")
    reference = np.broadcast_to(np.real(sweep.reference), np.shape(sweep.s)[-1:])
    return _between(sweep.frequencies, sweep.s, reference, frequency)


def _between(frequencies: ArrayLike, s: ArrayLike, z0: NDArray[np.float64], frequency: float) -> Complex:
    """Y at a frequency in Hz, by straight lines between those (n,) of real and imaginary parts of S (n, p, p), for
    exp(-i omega t) and resistances (p,) in ohm."""
    hertz, values = np.asarray(frequencies, float), np.asarray(s, np.complex128)
    if not hertz.min() * (1 - ROUNDING) <= frequency <= hertz.max() * (1 + ROUNDING):
        raise ValueError(
            f"a network covers {hertz.min():g} to {hertz.max():g} Hz, and its S are needed at {frequency:g} Hz: "
            "measure or compute it there"
        )
    after = int(np.clip(np.searchsorted(hertz, frequency), 1, max(len(hertz) - 1, 1)))
    before = after - 1 if len(hertz) > 1 else 0
    after = min(after, len(hertz) - 1)
    step = hertz[after] - hertz[before]
    share = (frequency - hertz[before]) / step if step else 0.0
    between = (1 - share) * values[before] + share * values[after]
    if (largest := float(np.linalg.norm(between, 2)) ** 2) > 1 + GAIN:
        raise ValueError(
            f"a network delivers power at {frequency:g} Hz: up to {100 * (largest - 1):.2g} % more comes out than goes "
            "in, and circuits here are passive; check signs, its reference, or the calibration of what was measured"
        )
    # Y = R^-1/2 (1 - S) (1 + S)^-1 R^-1/2
    one, root = np.eye(between.shape[-1]), np.sqrt(z0)
    return np.asarray(np.linalg.solve((one + between).T, (one - between).T).T / (root[:, None] * root), np.complex128)


def read_network(path: str | os.PathLike[str], ports: int | None = None) -> Any:
    """The network of scikit-rf of a Touchstone file, .sNp or .ts; ValueError for one that scikit-rf cannot read, and
    for another number of ports than a given one."""
    place = Path(path)
    if not re.fullmatch(r"\.(s[1-9][0-9]*p|ts)", place.suffix.lower()):
        raise ValueError(f"a Touchstone file ends with .s1p, .s2p, ... or .ts, got {str(path)!r}")
    if place.stat().st_size > LARGEST_FILE:
        raise ValueError(f"{place.name} has {place.stat().st_size:,} bytes, more than {LARGEST_FILE:,}")
    try:
        import skrf
    except ImportError:
        raise ImportError("Touchstone files are read by scikit-rf: pip install 'calderon[skrf]'") from None
    try:
        network = skrf.Network(str(place))
    except Exception as error:  # of its reader, for any text
        raise ValueError(f"{place.name} is no Touchstone file: {error}") from error
    if ports is not None and np.shape(network.s)[-1] != ports:
        raise ValueError(f"{place.name} has {np.shape(network.s)[-1]} ports, and {ports} are needed")
    return network


@dataclass(frozen=True, eq=False)
class MeasuredImpedance:
    """The impedance of a network of scikit-rf with one port, a function of the frequency in Hz, for exp(-i omega t)."""

    network: Any

    def __post_init__(self) -> None:
        if np.shape(self.network.s)[-1] != 1:
            raise ValueError(f"a load has one port, got a network of {np.shape(self.network.s)[-1]} ports")

    def __call__(self, frequency: float) -> complex:
        admittance = _of_skrf(self.network, frequency)[0, 0]
        if admittance == 0:
            raise ValueError(f"the network is open at {frequency:g} Hz, where a load has no finite impedance")
        return complex(1 / admittance)


class Joined(NamedTuple):
    """An antenna with loads and circuits, for columns of voltages of its generators: voltages, through (gaps, m): of
    all gaps, without the loads, in V and A; sent (feeds, m): currents of the generators in A; absorbed (m,): power in
    W of all circuits."""

    voltages: Complex
    through: Complex
    sent: Complex
    absorbed: NDArray[np.float64]

    @staticmethod
    def of(
        y: Complex,
        z: Complex | float,
        circuits: Complex,
        free: NDArray[np.int64],
        given: Complex,
        received: Complex | float = 0.0,
    ) -> "Joined":
        """y (gaps, gaps): admittances of the antenna; z (gaps,): impedances of the loads; circuits (gaps, gaps): the
        sum of all admittances; free: gaps with circuits and without a generator; given (feeds, m): voltages of the
        generators, which are at the first gaps; received (gaps, m): currents of a wave, all gaps short-circuited. Other
        gaps are closed by their loads."""
        feeds, gaps = len(given), len(y)
        series = np.eye(gaps) + y * z
        loaded = np.linalg.solve(series, y)  # I = Y (V - Z I) + received
        short = np.linalg.solve(series, np.broadcast_to(received, (gaps, given.shape[1])).astype(complex))
        total = loaded + circuits
        nodes = np.zeros((gaps, given.shape[1]), np.complex128)
        nodes[:feeds] = given
        if len(free):
            nodes[free] = -np.linalg.solve(total[np.ix_(free, free)], total[free, :feeds] @ given + short[free])
        through = loaded @ nodes + short
        absorbed = np.sum(nodes.conj() * (circuits @ nodes), axis=0).real / 2
        sent = (total @ nodes + short)[:feeds]
        return Joined(nodes - np.reshape(z, (-1, 1)) * through, through, sent, absorbed)
