"""Composite bodies with ports: admittances, sweeps, and what circuits between the ports change."""

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Real
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.composite.fed_solution import CompositeAntennaSolution, checked_ratio
from calderon.formulations.composite.feeding import Feeding
from calderon.formulations.composite.guides.waveguides import Waveguides
from calderon.formulations.composite.solution import CompositeSolution
from calderon.formulations.electromagnetic.radar import RadarProblem
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents
from calderon.formulations.options import SolveChoices, SolveOptions, named_options
from calderon.formulations.ports.circuits import Joined
from calderon.formulations.ports.connections import Connectable, Connections
from calderon.formulations.ports.feeds import reference_resistance
from calderon.formulations.ports.finite_gap import FiniteGap
from calderon.formulations.ports.gaps import DeltaGap
from calderon.formulations.ports.port_matrices import PortMatrices
from calderon.formulations.ports.port_sweep import PortSweep, adaptive_sweep
from calderon.formulations.solution_info import SolutionInfo
from calderon.formulations.sweep import Sweep, sweep_of, warned_of_coarse_meshes
from calderon.solvers.iteration import tolerance
from calderon.validation import positive_length, whole_number
from calderon.waves import ElectromagneticWave

Complex = NDArray[np.complex128]


class FedBodies(Connectable, PortMatrices, RadarProblem[CompositeSolution | CompositeAntennaSolution]):
    """The part of `MaxwellProblem` that concerns its ports."""

    regions: Any
    ports: Any
    loads: Any
    wires: Any
    junctions: Any
    media: Any
    frequency: Any

    @property
    @abstractmethod
    def _around(self) -> str:
        """The name of the region around all others."""

    @property
    @abstractmethod
    def _ohms_around(self) -> float:
        """The wave impedance of the region around, in ohm."""

    @cached_property
    @abstractmethod
    def _waveguides(self) -> Waveguides | None:
        """The waveguide ports."""

    @cached_property
    @abstractmethod
    def _feeding(self) -> Feeding:
        """The slots of ports and loads."""

    @named_options
    def sweep(  # type: ignore[override]
        self,
        frequencies: Iterable[float] | float,
        wave: ElectromagneticWave | float,
        points: int = 201,
        *,
        reference: float = 50.0,
        interpolate: float = 1e-3,
        **options: Unpack[SolveChoices],
    ) -> Sweep | PortSweep:
        """The problem over frequencies in Hz, in SI units; the region around needs a constant permittivity.

        sweep(frequencies, wave): a sequence of solutions with data by frequency; the wave gets the wavenumbers.
        sweep(start, stop, points=201): S of the ports at so many frequencies, for lines of `reference` ohm, from as few
        solved ones as rational functions need that differ by less than `interpolate` from those of one frequency less.
        Options as in `solve`. ValueError for frequencies that are not positive or go down, and without ports.
        """
        if callable(self.regions[self._around].permittivity):
            raise ValueError(f"sweeps need a constant permittivity of the region {self._around!r} around all others")
        speed = 2 * np.pi * self.frequency / self.wavenumber
        if not isinstance(wave, Real):
            own: Any = self
            problem = replace(own, frequency=None, impedance=self._ohms_around)
            return sweep_of(problem, frequencies, wave, speed, **options)  # type: ignore[arg-type]
        low, high = (positive_length(each, "frequency in Hz") for each in (frequencies, wave))  # type: ignore[arg-type]
        if high < low or not self.ports:
            count = len(self.ports)
            raise ValueError(f"a sweep of ports goes from a lower to a higher frequency, got {low:g} to {high:g} Hz "
                             f"and {count} ports")  # fmt: skip
        hertz, r = np.linspace(low, high, whole_number(points, "points")), reference_resistance(reference)

        self._require_covered(hertz)

        def problem_at(frequency: float) -> Any:
            return self.at(2 * np.pi * frequency / speed)

        with warned_of_coarse_meshes(problem_at, hertz):
            at = lambda f: problem_at(f).scattering_matrix(r, **options)  # noqa: E731
            return adaptive_sweep(at, hertz, r, tolerance(interpolate, "interpolate", example="1e-3"))

    @named_options
    def admittance_matrix(self, **options: Unpack[SolveChoices]) -> NDArray[np.complex128]:
        """Y (p, p) in S: I = Y U for the voltages U at the ports; options as in `solve`. Symmetric."""
        if self._waveguides is not None:
            made: Any = self.solve_all(list(np.eye(len(self._waveguides.driven))), **options)
            u, i = (np.stack([getattr(each, name) for each in made], axis=1) for name in ("voltages", "feed_currents"))
            return np.asarray(i @ np.linalg.inv(u))
        if not self.ports:
            raise ValueError("this problem has no ports: give ports=[DeltaGap(...)]")
        solutions: Any = self.solve_all(list(np.eye(len(self.ports))), **options)
        return np.stack([each.feed_currents for each in solutions], axis=1)

    @named_options
    def scattering_matrix(self, reference: float = 50.0, **options: Unpack[SolveChoices]) -> NDArray[np.complex128]:
        """S (p, p), for exp(-i omega t): of gaps for lines of `reference` ohm at all of them, of waveguide ports for
        the waves of fed modes, whatever the reference. Options as in `solve`."""
        if self._waveguides is None:
            return super().scattering_matrix(reference, **options)
        guides, ohms, unit = self._waveguides, self._ohms_around, np.eye(len(self._waveguides.driven), dtype=complex)
        made: Any = self.solve_all(list(unit), **options)
        return np.stack([guides.outgoing(a, b.voltages, ohms) for a, b in zip(unit, made, strict=True)], axis=1)

    @property
    def usual_solver(self) -> str:  # type: ignore[override]
        """The solver of stored matrices: factors serve all ports."""
        return "lu" if self.ports or self.circuits or self._waveguides is not None else "gmres"

    @cached_property
    def _port_weights(self) -> NDArray[np.float64]:
        """(unknowns, ports) signed lengths of the edges of each port."""
        return self._slots[0]

    @cached_property
    def _slots(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._feeding.slots(tuple(self.ports))

    @cached_property
    def _joined(self) -> Connections:
        """Gaps of ports and of circuits."""
        further = [gap for each in self.circuits for gap in each.ports]
        found = Connections.of(self.ports, further, lambda gaps: self._feeding.slots(gaps)[0])
        slots = [number for number, gap in enumerate(found.gaps) if isinstance(gap, DeltaGap)]
        if shared := np.count_nonzero(np.count_nonzero(found.weights[:, slots], axis=1) > 1):
            raise ValueError(f"ports and circuits share {shared} unknowns: each edge belongs to one gap at most")
        return found

    def _fed(self, gaps: tuple[Any, ...]) -> Self:
        """These bodies, with their matrix and factors, fed at other gaps, without circuits."""
        _ = self.system
        found = copy.copy(self)
        for name in ("_slots", "_port_weights", "_joined"):
            found.__dict__.pop(name, None)
        found.__dict__.update(ports=gaps, circuits=())
        return found

    def _solve(self, data: list[Any], options: SolveOptions) -> list[Any]:
        if not self.circuits:
            return super()._solve(data, options)
        checked = [self._checked(each) for each in data]
        x, info = self._columns([each for each in checked if isinstance(each, ElectromagneticWave)], options)
        return self._superposed(x, info, checked)

    def _columns(self, waves: list[ElectromagneticWave], options: SolveOptions) -> tuple[Complex, SolutionInfo]:
        """(N, n) unknowns for 1 V at each gap, then for waves; the record of the one with the largest residual."""
        gaps = self._fed(self._joined.gaps)
        sides = [gaps._right_hand_side(each) for each in (*np.eye(len(gaps.ports)), *waves)]
        x, infos = self.system.solve(np.stack(sides, axis=1).astype(complex), options)
        return x, max(infos, key=lambda each: each.residual)

    def _superposed(self, x: Complex, info: SolutionInfo, checked: Sequence[Any]) -> list[Any]:
        """Solutions for voltages at the ports, or waves, by superposition of `_columns`."""
        joined, count = self._joined, len(self._joined.gaps)
        through = joined.weights.T @ x / self._ohms_around
        # columns of waves for those data that are some, and no voltages at the ports then
        received, given = np.zeros((count, len(checked)), complex), np.zeros((len(self.ports), len(checked)), complex)
        own, number = np.zeros((len(x), len(checked)), complex), count
        for n, each in enumerate(checked):
            if isinstance(each, ElectromagneticWave):
                received[:, n], own[:, n] = through[:, number], x[:, number]
                number += 1
            else:
                given[:, n] = each
        circuits = joined.admittance(self.circuits, self.frequency)
        found = Joined.of(through[:, :count], 0.0, circuits, joined.free(), given, received)
        own += x[:, :count] @ found.voltages
        made = [self._solution(each, np.ascontiguousarray(c), info) for each, c in zip(checked, own.T, strict=True)]
        return [
            replace(each, feed_currents=sent, circuit_power=float(power))
            if isinstance(each, CompositeAntennaSolution) else each
            for each, sent, power in zip(made, found.sent.T, found.absorbed, strict=True)
        ]  # fmt: skip

    def _combination(self, options: Any) -> Callable[[Complex], list[Any]]:
        x, info = self._columns([], self._options(options))
        return lambda given: self._superposed(x, info, list(given.T))

    @property
    def _places(self) -> NDArray[np.float64]:
        wires = [each.ends for each in self.wires]
        return np.concatenate([self.mesh.vertices[self.mesh.used_vertices], *wires])

    @property
    def _ports(self) -> int:
        return len(self.ports)

    def _fed_solution(
        self, voltages: NDArray[Any], x: NDArray[Any], info: SolutionInfo, radiating: RadiatingCurrents, given: Any
    ) -> CompositeAntennaSolution:
        if self._waveguides is not None:
            eta = self._ohms_around
            u, i = self._waveguides.terminals(
                np.asarray(voltages, np.complex128), np.asarray(eta * x, np.complex128), eta
            )
            return CompositeAntennaSolution(u, i, self._waveguides.names, info, radiating, **given)
        ports: Any = self.ports
        names = tuple(getattr(each, "name", "") or f"port {number}" for number, each in enumerate(ports, start=1))
        loads: Any = self.loads
        through = self._feeding.slots([each.gap for each in loads])[0].T @ x
        resistances = np.array([each.impedance_at(self.frequency).real for each in loads], float)
        solution = CompositeAntennaSolution(
            voltages, self._port_weights.T @ x, names, info, radiating, **given,
            load_currents=through.astype(complex), load_resistances=resistances,
        )  # fmt: skip
        if self.circuits or not any(isinstance(each, FiniteGap) for each in ports) or not solution.input_power > 0:
            return solution
        return replace(solution, power_ratio=checked_ratio(solution))
