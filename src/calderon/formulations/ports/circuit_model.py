"""Rational models of the scattering of ports, for circuit simulators and for responses in time.

With exp(+j omega t) and s = j omega the matrix is S(s) = D + sum_n R_n / (s - p_n), of conjugate pairs of poles p_n,
found by vector fitting (B. Gustavsen, A. Semlyen, IEEE Trans. Power Delivery 14 (1999) 1052) in scikit-rf, which also
enforces that singular values stay below 1.
"""

import os
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.files.spice import spice_file
from calderon.files.whole_file import whole_file
from calderon.mesh.errors import warn_of_accuracy
from calderon.validation import describe, real_numbers, unmasked
from calderon.view import Described

Complex = NDArray[np.complex128]
OUTSIDE = 1e-2
"""Part of the energy of a signal outside of the band from which a response warns."""


@dataclass(frozen=True, eq=False)
class PortTransient(Described):
    """Voltages (n, p) in V and currents (n, p) in A at ports, which flow in, at times (n,) in s."""

    times: NDArray[np.float64]
    voltages: NDArray[np.float64]
    currents: NDArray[np.float64]

    @property
    def brief(self) -> str:
        """Ports, length and the largest voltage."""
        return f"{self.voltages.shape[1]} port(s), {len(self.times)} times, up to {np.abs(self.voltages).max():.4g} V"


ROUNDING = 1e-7
"""Part of S by which a model may exceed what is passive: reactances reflect all of a wave, and fits of them are rounded
to either side of 1."""


def _is_passive(fit: Any) -> bool:
    """Whether an `skrf.vectorFitting.VectorFitting` is passive, if need be after a reduction of its S by `ROUNDING`."""
    if fit.is_passive():
        return True
    given = fit.residues, fit.constant_coeff
    fit.residues, fit.constant_coeff = ((1 - ROUNDING) * np.asarray(each) for each in given)
    if fit.is_passive():
        return True
    fit.residues, fit.constant_coeff = given
    return False


@dataclass(frozen=True, eq=False)
class CircuitModel(Described):
    """A passive rational model of S between ports with one reference resistance in ohm.

    poles (n,) in rad/s, those with a positive imaginary part for their conjugates, too; residues (p, p, n) and constant
    (p, p); band: lowest and highest frequency in Hz that were fitted. error: the largest difference of S there.
    enforced: whether poles and residues had to be changed to be passive.
    """

    poles: Complex
    residues: Complex
    constant: NDArray[np.float64]
    reference: float
    band: tuple[float, float]
    error: float
    enforced: bool
    fit: Any = field(repr=False)

    @staticmethod
    def of(network: Any, reference: float) -> "CircuitModel":
        """The model of an `skrf.Network`, whose S are of a passive structure. ValueError where no fit is passive."""
        from skrf.vectorFitting import VectorFitting

        fit = VectorFitting(network)
        with warnings.catch_warnings():  # what they say is measured below
            warnings.simplefilter("ignore")
            fit.auto_fit()
            was_passive = _is_passive(fit)
            if not was_passive:
                fit.passivity_enforce()
            if not fit.is_passive():
                raise ValueError("no rational model of S is passive: compute more frequencies, or a wider band")
        ports, hertz = network.s.shape[-1], np.asarray(network.f)
        shape = ports, ports
        model = CircuitModel(
            np.asarray(fit.poles), np.asarray(fit.residues).reshape(*shape, -1),
            np.asarray(fit.constant_coeff, float).reshape(shape), reference, (float(hertz[0]), float(hertz[-1])), 0.0,
            not was_passive, fit,
        )  # fmt: skip
        error = float(np.abs(model._scattering(hertz) - network.s).max())
        return CircuitModel(
            model.poles, model.residues, model.constant, reference, model.band, error, not was_passive, fit
        )

    def scattering(self, frequencies: ArrayLike) -> Complex:
        """S (n, p, p) at frequencies (n,) in Hz, for exp(-i omega t) as elsewhere. ValueError for negative ones;
        AccuracyWarning for those outside of the band, where nothing was fitted."""
        given, needed = np.atleast_1d(unmasked(frequencies, "frequencies")), "numbers in Hz, 0 or above, one or a list"
        hertz = real_numbers(given, (None,), "frequencies", needed)
        if hertz.min() < 0:
            raise ValueError(f"frequencies is {needed}, got {describe(frequencies)}")
        low, high = self.band[0] * (1 - 1e-9), self.band[1] * (1 + 1e-9)
        if outside := np.count_nonzero((hertz < low) | (hertz > high)):
            warn_of_accuracy(
                f"{outside} of {len(hertz)} frequencies lie outside of {self.band[0]:g} to {self.band[1]:g} Hz, to "
                "which the model was fitted: sweep a wider band"
            )
        return self._scattering(hertz).conj()

    def _scattering(self, hertz: NDArray[np.float64]) -> Complex:
        s = 2j * np.pi * hertz[:, None]
        pairs = np.where(self.poles.imag > 0, 1.0, 0.0)
        one, other = 1 / (s - self.poles), pairs / (s - self.poles.conj())
        found = np.einsum("fn,ijn->fij", one, self.residues) + np.einsum("fn,ijn->fij", other, self.residues.conj())
        return np.asarray(found + self.constant)

    def write_spice(self, path: str | os.PathLike[str], name: str = "calderon") -> None:
        """Write a subcircuit of that name with a pin for each port against ground, .sp or .cir, as SPICE simulators
        read it. ValueError for another ending, and for a name of other characters than letters, digits and
        underscores."""
        with whole_file(spice_file(path, name, "antenna.sp")) as scratch:
            self.fit.write_spice_subcircuit_s(str(scratch), fitted_model_name=name)

    def transient(self, times: ArrayLike, generators: ArrayLike) -> PortTransient:
        """Voltages and currents at the ports for generators of the reference resistance with these open-circuit
        voltages in V, (n,) of the first port or (n, p), at equal steps of time (n,) in s, linear between them and zero
        before.

        ValueError for other times and shapes; AccuracyWarning for signals with much energy outside of the band.
        """
        ports, t = self.constant.shape[0], real_numbers(times, (None,), "times", "increasing times in s")
        steps = np.diff(t)
        if len(t) < 2 or not steps.min() > 0 or not np.allclose(steps, steps[0], rtol=1e-6):
            raise ValueError(f"times increase by equal steps, two of them at least, got {describe(times)}")
        shape = (len(t), ports)[: max(unmasked(generators, "generators").ndim, 1)]
        given = real_numbers(generators, shape, "generators", f"voltages in V, ({len(t)},) or ({len(t)}, {ports})")
        if given.ndim == 1:
            given = np.pad(given[:, None], ((0, 0), (0, ports - 1)))
        self._warn_outside(given, float(steps[0]))
        incoming = given / 2
        outgoing = incoming @ self.constant.T + self._convolved(incoming, float(steps[0]))
        return PortTransient(t, incoming + outgoing, (incoming - outgoing) / self.reference)

    def _convolved(self, signals: NDArray[np.float64], step: float) -> NDArray[np.float64]:
        """(n, p) what poles and residues make of signals (n, p) that are linear between samples: of each pole the
        state y' = p y + a, solved exactly from step to step."""
        growth = np.exp(self.poles * step)
        held = np.expm1(self.poles * step) / self.poles
        sloped = (held - step) / (self.poles * step)
        twice = np.where(self.poles.imag > 0, 2.0, 1.0) * self.residues
        state = np.zeros((len(self.poles), signals.shape[1]), np.complex128)
        out = np.zeros_like(signals)
        before = signals[0]
        for n in range(1, len(signals)):
            change = signals[n] - before
            state = growth[:, None] * state + held[:, None] * before + sloped[:, None] * change
            out[n] = np.einsum("ijn,nj->i", twice, state).real
            before = signals[n]
        return out

    def _warn_outside(self, signals: NDArray[np.float64], step: float) -> None:
        energy = (np.abs(np.fft.rfft(signals, axis=0)) ** 2).sum(axis=1)
        hertz = np.fft.rfftfreq(len(signals), step)
        outside = (hertz < self.band[0]) | (hertz > self.band[1])
        share = float(energy[outside].sum() / max(energy.sum(), np.finfo(float).tiny))
        if share > OUTSIDE:
            warn_of_accuracy(
                f"{100 * share:.2g} % of the energy of the generators lies outside of {self.band[0]:g} to "
                f"{self.band[1]:g} Hz, where S was not computed: sweep a wider band, or take another pulse"
            )

    @property
    def brief(self) -> str:
        """Poles and error."""
        made = ", changed to be passive" if self.enforced else ""
        return f"{len(self.poles)} poles, S to {self.error:.1e}{made}"
