"""Scattering matrices over a band of frequencies, their resonances, and their files."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.files.whole_file import file_path, whole_file
from calderon.formulations.ports.circuit_model import CircuitModel, PortTransient
from calderon.formulations.ports.power_waves import (
    Complex,
    Reference,
    impedance,
    network,
    reference_impedances,
    renormalised,
)
from calderon.formulations.rational_sweep import Agreement, rational_sweep
from calderon.validation import describe
from calderon.view import Described

OWN = "relative to the impedances of lines, or of modes of waveguides, at the ports, which R does not state"
"""The comment in files of S whose ports have impedances of their own."""


class Resonance(NamedTuple):
    """A pole f - i f / (2 Q) of the impedance: frequency f in Hz and quality Q."""

    frequency: float
    quality: float

    def __str__(self) -> str:
        return f"{self.frequency / 1e9:.6g} GHz, Q {self.quality:.4g}"


@dataclass(frozen=True, eq=False)
class PortSweep(Described):
    """S (n, p, p) at frequencies (n,) in Hz for lines of the impedance `reference` in ohm, time factor exp(-i omega t);
    or for reference impedances (p,), complex ones by power waves (K. Kurokawa 1965): see `renormalised`.

    solved: the frequencies in Hz at which the equations were solved, with `solved_s`. error: the largest difference of
    S between the last two rational functions. of_lines: S is of the waves of lines, or of modes of waveguides, at
    ports, relative to their own impedances, and there is no Z.
    """

    frequencies: NDArray[np.float64]
    s: Complex
    reference: Reference
    solved: NDArray[np.float64]
    solved_s: Complex
    error: float
    of_lines: bool = False

    @property
    def solves(self) -> int:
        """How many frequencies were solved."""
        return len(self.solved)

    @property
    def z(self) -> Complex:
        """Impedance matrices (n, p, p) in ohm: R (1 + S) (1 - S)^-1. ValueError for S `of_lines`."""
        self._require_reference()
        return impedance(self.s, self.reference)

    def renormalised(self, z0: ArrayLike) -> "PortSweep":
        """S for reference impedances z0 in ohm, of all ports or (p,), which may be complex: power waves, for
        exp(-i omega t), so that a coil has a negative imaginary part. ValueError unless their real parts are positive,
        and for S `of_lines`."""
        self._require_reference()
        other = reference_impedances(z0, self.s.shape[-1])
        s, solved = (renormalised(each, self.reference, other) for each in (self.s, self.solved_s))
        return replace(self, s=s, solved_s=solved, reference=other)

    def _require_reference(self) -> None:
        """ValueError where S does not refer to `reference`."""
        if self.of_lines:
            raise ValueError(
                "S is relative to the impedances of lines, or of modes of waveguides, at the ports, which differ from "
                "the reference: take s, write_touchstone or to_skrf, or feed gaps or probes for Z"
            )

    def to_skrf(self, name: str = "calderon") -> Any:
        """S as an `skrf.Network`, for exp(+j omega t), with the reference impedances of this sweep; where S is
        `of_lines` its comments say so, as z0 cannot."""
        found = network(self.frequencies, self.s, self.reference, name)
        if self.of_lines:
            found.comments = OWN
        return found

    def circuit_model(self) -> CircuitModel:
        """A passive rational model of S by vector fitting, whose `error` and `enforced` say how well it fits.
        ValueError for several or complex reference impedances, see `renormalised`, and for few frequencies."""
        self._require_reference()
        if np.ndim(self.reference) or len(self.frequencies) < 8:
            raise ValueError("a model needs S for one resistance as the reference, renormalised(50), at 8 frequencies")
        return CircuitModel.of(self.to_skrf(), float(np.asarray(self.reference).real))

    def spice(self, path: str | os.PathLike[str]) -> None:
        """Write a SPICE subcircuit of the ports, by `circuit_model`."""
        self.circuit_model().write_spice(path)

    def transient(self, times: ArrayLike, generators: ArrayLike) -> PortTransient:
        """Voltages and currents at the ports in time, by `circuit_model`: see `CircuitModel.transient`.

        t = np.linspace(0, 50e-9, 2001)
        sweep.transient(t, np.exp(-((t - 10e-9) / 2e-9) ** 2) * np.cos(2 * np.pi * 300e6 * t)).voltages
        """
        return self.circuit_model().transient(times, generators)

    def resonances(self) -> list[Resonance]:
        """Poles of the impedance matrix within the band, from low to high frequencies. ValueError for S `of_lines`."""
        self._require_reference()
        # in halves of the width of a resonance: a pole stays within `steady` where one frequency less is fitted, else
        # it belongs to the fit; poles of two ports that are closer than `same` are one
        same, steady, found = 0.1, 0.5, list[complex]()
        for n in range(self.s.shape[1]):
            poles, before = (self._poles(n, count) for count in (self.solves, self.solves - 1))
            kept = [p for p in poles if any(abs(p - each) < steady * -p.imag for each in before)]
            found += [p for p in kept if not any(abs(p - each) < same * -p.imag for each in found)]
        return [Resonance(p.real, p.real / (-2 * p.imag)) for p in sorted(found, key=lambda each: each.real)]

    def _poles(self, port: int, count: int) -> list[complex]:
        """Poles of the impedance of a port by the first solved frequencies, within the band and not tiny."""
        low, high = self.frequencies.min(), self.frequencies.max()
        values = impedance(self.solved_s[:count], self.reference)[:, port, port]
        if count < 3:
            return []
        fit = scipy.interpolate.AAA(self.solved[:count] / high, values, rtol=1e-10)
        poles, residues = fit.poles() * high, fit.residues() * high
        peak = np.abs(residues) / np.maximum(np.abs(poles.imag), 1e-300)
        kept = (poles.real >= low) & (poles.real <= high) & (poles.imag < 0) & (-poles.imag < poles.real / 2)
        return list(poles[kept & (peak > 1e-3 * np.abs(values).max())])  # lower peaks are rounding errors

    def write_touchstone(self, path: str | os.PathLike[str]) -> None:
        """Write S to a file NAME.sPp with as many ports P, for exp(+j omega t) as that format requires."""
        write_touchstone(path, self.frequencies, self.s, self.reference, self.of_lines)

    @property
    def brief(self) -> str:
        """Band, solves and error."""
        band = f"{self.frequencies[0] / 1e9:g} to {self.frequencies[-1] / 1e9:g} GHz"
        solved = f"{self.solves} solved, S to {self.error:.1e}" if self.error else "all of them solved"
        return f"{len(self.frequencies)} frequencies from {band}, {solved}"

    def __str__(self) -> str:
        found = [] if self.of_lines else self.resonances()
        return "\n".join([self.brief, *(f"resonance {each}" for each in found)])


def adaptive_sweep(
    scattering_at: Callable[[float], Complex],
    frequencies: NDArray[np.float64],
    reference: float,
    rtol: float,
    of_lines: bool = False,
) -> PortSweep:
    """S over the band from few solved frequencies: `scattering_at` gives it at one of them; rtol: the accepted
    difference of the last two rational functions, which need not follow errors that are small against it;
    of_lines: as of `PortSweep`."""
    found = rational_sweep(scattering_at, frequencies, Agreement(rtol, "S", 0.03 * rtol))
    return PortSweep(frequencies, found.values, reference, found.solved, found.solved_values, found.error, of_lines)


def write_touchstone(
    path: str | os.PathLike[str],
    frequencies: NDArray[np.float64],
    s: NDArray[np.complex128],
    reference: Reference,
    of_lines: bool = False,
) -> None:
    """Write S (n, p, p), of the time factor exp(-i omega t), at frequencies (n,) in Hz to a file NAME.sPp.

    Numbers are real and imaginary parts for exp(+j omega t), as the format requires: conjugates. reference: impedance
    of all ports in ohm, real. of_lines: S is relative to impedances of lines or modes instead, as a comment then says.
    Raises ValueError for another ending, and for a complex reference or several.
    """
    place, ports = file_path(path, "a scattering matrix", "patch.s1p"), s.shape[1]
    if place.suffix.lower() != f".s{ports}p":
        raise ValueError(f"a Touchstone file of {ports} port(s) ends with .s{ports}p, got {str(path)!r}")
    values = np.asarray(reference)
    if values.ndim or values.imag != 0 or not values.real > 0:
        raise ValueError(
            f"Touchstone files have one positive resistance as the reference, got {describe(reference)} ohm: write "
            "renormalised(50)"
        )
    lines = ["! S-parameters by calderon, exp(+j omega t)"]
    if of_lines:
        lines.append(f"! {OWN}")
    lines.append(f"# Hz S RI R {float(values.real):.10g}")
    for f, matrix in zip(frequencies, s.conj(), strict=True):
        rows = matrix.T.reshape(1, -1) if ports <= 2 else matrix  # S11 S21 S12 S22, else row by row
        text = [f"{float(f):.12g}"]
        for number, row in enumerate(rows):
            for start in range(0, len(row), 4):
                pairs = " ".join(f"{value.real:.12g} {value.imag:.12g}" for value in row[start : start + 4])
                text.append(pairs if number == 0 and start == 0 else "\n  " + pairs)
        lines.append(" ".join(text))
    with whole_file(place) as scratch:
        scratch.write_text("\n".join(lines) + "\n", encoding="ascii")
