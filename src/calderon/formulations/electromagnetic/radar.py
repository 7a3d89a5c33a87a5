"""Monostatic radar cross-sections: many plane waves, each observed where it comes from."""

import os
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.exact.angular import RECEIVERS, line_of_sight
from calderon.formulations.checks import SAME_IMPEDANCE, wavenumber_and_frequency
from calderon.formulations.electromagnetic.radar_sweep import RadarSweep
from calderon.formulations.monostatic import monostatic_sweep
from calderon.formulations.options import SolveChoices, SolveOptions, named_options
from calderon.formulations.problem import Problem
from calderon.formulations.sweep import Sweep, frequencies_of, sweep_of, warned_of_coarse_meshes
from calderon.validation import broadcast, list_of, one_of, positive_length, truth
from calderon.waves import ElectromagneticWave

Solution = TypeVar("Solution")


class RadarProblem(Problem[Solution]):
    """A scattering problem of electromagnetic waves that a radar may look at.

    impedance: eta of the surroundings in ohm, that of vacuum where the frequency is given alone; None: that of the
    wave, or 1, with which H and currents are in units of E over eta, "E0/eta", and powers in "E0^2 m^2/eta".
    """

    wavenumber: float
    frequency: float | None
    impedance: float | None

    def at(self, wavenumber: float) -> Self:
        """This problem at another wavenumber, with permittivities of its frequency where they depend on that."""
        return replace(self, wavenumber=wavenumber, frequency=None)  # type: ignore[type-var]

    @named_options
    def sweep(self, frequencies: Iterable[float], wave: ElectromagneticWave, **options: Unpack[SolveChoices]) -> Sweep:
        """The problem at frequencies in Hz, in vacuum, in SI units: a sequence of solutions with data by
        frequency. wave: it gets the wavenumbers. Options as in `solve`."""
        problem = replace(self, impedance=vacuum_impedance(self.impedance))  # type: ignore[type-var]
        return sweep_of(problem, frequencies, wave, SPEED_OF_LIGHT, **options)

    def _settle_wavenumber(self) -> None:
        """Store the wavenumber of the surroundings as a float, the frequency, in vacuum, and with a frequency alone the
        impedance; ValueError for a wavenumber that is not real, and for the frequency and another impedance."""
        if self.impedance is not None:
            positive_length(self.impedance, "the impedance of the medium, in ohm,")
        if self.frequency is not None and self.wavenumber is None:
            object.__setattr__(self, "impedance", vacuum_impedance(self.impedance))
        k, frequency = wavenumber_and_frequency(self.wavenumber, self.frequency, SPEED_OF_LIGHT, "speed of light")
        if np.imag(k) != 0:
            raise ValueError(
                f"{type(self).__name__} is for surroundings without loss, a real wavenumber, got {self.wavenumber!r}; "
                "loss of a body is a positive imaginary permittivity"
            )
        object.__setattr__(self, "wavenumber", float(np.real(k)))
        object.__setattr__(self, "frequency", frequency)

    @named_options
    def monostatic_rcs(
        self,
        theta: ArrayLike,
        phi: ArrayLike | None = None,
        polarization: str = "VV",
        *,
        info: bool = False,
        sweep_file: str | os.PathLike[str] | None = None,
        **options: Unpack[SolveChoices],
    ) -> Any:
        """Radar cross-section in m^2 seen by a radar that both sends and receives.

        theta, phi: toward the radar, angles in radians, broadcast; or, without phi, vectors (n, 3). See
        `exact.unit_directions`.

        polarization: receiver, then transmitter: "VV", "HH", "VH" or "HV", V along theta-hat and H along phi-hat. The
        wave travels along -r. One factorisation serves all angles (solver="lu", the default of a dense matrix); without
        it, the right-hand sides are compressed to few, which are solved together (`solvers.block_gmres`). Further
        options as in `solve`.

        Raises ConvergenceError where the residual of one angle stays above rtol. info: return also the SolutionInfo of
        the angle with the largest residual, None without angles; then such solutions are accepted, with an
        AccuracyWarning above 10 rtol. sweep_file: an HDF5 file that the solutions are saved to, and from which a sweep
        that ended early goes on with the same numbers; ValueError for one of another problem, or with LU.
        """
        found = self.scattering_amplitude(theta, phi, polarization, info=info, sweep_file=sweep_file, **options)
        amplitude, *record = found if info else (found,)
        level = 4 * np.pi * np.abs(amplitude) ** 2
        return (level, *record) if info else level

    @named_options
    def scattering_amplitude(
        self,
        theta: ArrayLike,
        phi: ArrayLike | None = None,
        polarization: str = "VV",
        *,
        info: bool = False,
        sweep_file: str | os.PathLike[str] | None = None,
        **options: Unpack[SolveChoices],
    ) -> Any:
        """The backscattered F . receiver in m for a unit wave: an entry of the scattering matrix; arguments as for
        `monostatic_rcs`."""
        pairs = [receive + transmit for receive in RECEIVERS for transmit in RECEIVERS]
        one_of(polarization, pairs, "polarization")
        chosen = replace(self._sweep_options(options), accept=truth(info, "info"))
        frame = line_of_sight(theta, phi)
        r, v, h = (part.reshape(-1, 3) for part in frame)
        vectors = {"V": v, "H": h}
        receive, transmit = vectors[polarization[0]], vectors[polarization[1]]

        def waves(part: slice) -> tuple[NDArray[Any], NDArray[Any]]:
            return self._echoes(r[part], receive[part], transmit[part])

        far, worst = monostatic_sweep(self.system, len(r), waves, chosen, (r, receive, transmit), sweep_file)
        if len(r):
            self._verify(r[0], transmit[0], chosen)
        far = far.reshape(frame[0].shape[:-1])
        return (far, worst) if info else far

    @named_options
    def monostatic_sweep(
        self,
        frequencies: Iterable[float],
        theta: ArrayLike,
        phi: ArrayLike = 0.0,
        polarizations: Sequence[str] = ("VV", "HH"),
        **options: Unpack[SolveChoices],
    ) -> RadarSweep:
        """Echoes at frequencies in Hz, in vacuum, from directions and with polarisations as in `monostatic_rcs`: data
        by frequency, direction and polarisation, and profiles over range. One matrix for each frequency.

            sweep = target.monostatic_sweep(np.linspace(1e9, 2e9, 41), np.pi / 2, np.linspace(0, np.pi, 91))
            sweep.to_xarray()["rcs"], sweep.range_profile().to_xarray()["profile"]
        """
        hertz = frequencies_of(frequencies)
        angles = broadcast({"theta": theta, "phi": phi}, "angles in radians")
        seen_from, around = (np.ravel(each).copy() for each in angles)
        names = list_of(polarizations, str, 'polarizations are a list such as ("VV", "HH")')
        if not names:
            raise ValueError('polarizations=[]: name one at least, such as ("VV", "HH")')
        problem = replace(self, impedance=vacuum_impedance(self.impedance))  # type: ignore[type-var]

        def problem_at(frequency: float) -> Any:
            return problem.at(2 * np.pi * frequency / SPEED_OF_LIGHT)

        found = []
        with warned_of_coarse_meshes(problem_at, hertz):
            for each in hertz:
                here = problem_at(each)
                echoes = [here.scattering_amplitude(seen_from, around, name, **options) for name in names]
                found.append(np.stack(echoes, axis=-1))
        return RadarSweep(hertz, seen_from, around, tuple(names), np.array(found))

    def _verify(self, r: NDArray[np.float64], transmit: NDArray[np.float64], options: SolveOptions) -> None:  # noqa: B027
        """Warn of what is inaccurate in the solution for a plane wave from r with that polarisation."""

    @abstractmethod
    def _echoes(
        self, r: NDArray[np.float64], receive: NDArray[np.float64], transmit: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Right-hand sides b and receivers l (n, m): F . receive = l . x in m for unit plane waves from r (m, 3) with
        that polarisation. A far field tests the currents with the plane wave from the observer, which is the incident
        wave here."""


def vacuum_impedance(given: float | None) -> float:
    """The impedance of vacuum in ohm, which a frequency without a wavenumber means; ValueError for another one."""
    if given is not None and not np.isclose(given, VACUUM_IMPEDANCE, rtol=SAME_IMPEDANCE, atol=0):
        raise ValueError(
            f"impedance={given:g} ohm, and frequencies are those of vacuum, with {VACUUM_IMPEDANCE:.6g} ohm: leave it "
            "out, or give wavenumber= in the medium instead of the frequency"
        )
    return VACUUM_IMPEDANCE
