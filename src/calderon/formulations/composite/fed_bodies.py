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
from calderon.validation import finite_numbers, positive_length, whole_number
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

        sweep(frequencies, wave): a sequence of solutions with data by frequency; the wave gets the wavenumbers. Gains
        that are realised are those of generators of `reference` ohm.
        sweep(start, stop, points=201): S of the ports at so many frequencies, for lines of `reference` ohm, from as few
        solved ones as rational functions need that differ by less than `interpolate` from those of one frequency less.
        With modes of waveguides the sweep is `of_lines`.
        Options as in `solve`. ValueError for frequencies that are not positive or go down, and without ports.
        """
        if callable(self.regions[self._around].permittivity):
            raise ValueError(f"sweeps need a constant permittivity of the region {self._around!r} around all others")
        speed = 2 * np.pi * self.frequency / self.wavenumber
        if not isinstance(wave, Real):
            own: Any = self
            problem = replace(own, frequency=None, impedance=self._ohms_around)
            found = sweep_of(problem, frequencies, wave, speed, **options)  # type: ignore[arg-type]
            return replace(found, reference=reference_resistance(reference))
        low, high = (positive_length(each, "frequency in Hz") for each in (frequencies, wave))  # type: ignore[arg-type]
        count = self._modes + self._ports
        if high < low or not count:
            raise ValueError(f"a sweep of ports goes from a lower to a higher frequency, got {low:g} to {high:g} Hz "
                             f"and {count} ports")  # fmt: skip
        hertz, r = np.linspace(low, high, whole_number(points, "points")), reference_resistance(reference)

        self._require_covered(hertz)

        def problem_at(frequency: float) -> Any:
            return self.at(2 * np.pi * frequency / speed)

        with warned_of_coarse_meshes(problem_at, hertz):
            at = lambda f: problem_at(f).scattering_matrix(r, **options)  # noqa: E731
            accepted = tolerance(interpolate, "interpolate", example="1e-3")
            return adaptive_sweep(at, hertz, r, accepted, of_lines=self._modes > 0)

    @named_options
    def admittance_matrix(self, **options: Unpack[SolveChoices]) -> NDArray[np.complex128]:
        """Y (p, p) in S: I = Y U for the voltages U at the fed modes of waveguides, then at the ports; options as in
        `solve`. Symmetric."""
        u, i = self._terminals(options)
        return np.asarray(i @ np.linalg.inv(u)) if self._modes else i

    def _terminals(self, options: Any) -> tuple[Complex, Complex]:
        """Voltages in V and currents in A (p, p) at modes and ports, for excitations of 1 at one of them each."""
        if not (count := self._modes + self._ports):
            raise ValueError("this problem has no ports: give ports=[DeltaGap(...)]")
        made: Any = self.solve_all(list(np.eye(count)), **options)
        u, i = (np.stack([getattr(each, name) for each in made], axis=1) for name in ("voltages", "feed_currents"))
        return u, i

    @property
    def _modes(self) -> int:
        """The number of modes of waveguides that are fed."""
        return 0 if self._waveguides is None else len(self._waveguides.driven)

    def _excitation(self, data: Any) -> Complex:
        """(p,) waves into guides in W^(1/2), then voltages of ports in V: 1 at the first mode, or at all ports where
        there is no guide, unless given."""
        modes, ports = self._modes, self._ports
        usual = np.eye(1, modes + ports)[0] if modes else np.ones(ports)
        kinds = [(modes, "mode(s) of waveguides", "amplitude"), (ports, "port(s)", "voltage")]
        has = " and ".join(f"{count} {what}" for count, what, _ in kinds if count)
        each = ", then one ".join(f"{given} for each" for count, _, given in kinds if count)
        needed = f"this problem has {has}: give one {each}, finite numbers, or a wave"
        name = "amplitudes and voltages" if modes and ports else "amplitudes" if modes else "voltages"
        return np.asarray(finite_numbers(usual if data is None else data, modes + ports, name, needed), np.complex128)

    @named_options
    def scattering_matrix(self, reference: float = 50.0, **options: Unpack[SolveChoices]) -> NDArray[np.complex128]:
        """S (p, p), for exp(-i omega t): of the waves of fed modes of waveguides, whatever the reference, then of gaps,
        for lines of `reference` ohm at all of them. Options as in `solve`."""
        if self._waveguides is None:
            return super().scattering_matrix(reference, **options)
        (u, i), modes, r = self._terminals(options), self._modes, reference_resistance(reference)
        into, out = self._waveguides.waves(u[:modes], i[:modes], self._ohms_around)
        root = np.sqrt(r)
        a = np.vstack([into, (u[modes:] / root + root * i[modes:]) / 2])
        b = np.vstack([out, (u[modes:] / root - root * i[modes:]) / 2])
        return np.asarray(b @ np.linalg.inv(a))

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
        """These bodies, with their matrix and factors, fed at other gaps, without circuits; waveguides stay."""
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
        sources = [each for each in map(self._source, checked) if each is not None]
        x, info = self._columns(sources, options)
        return self._superposed(x, info, checked)

    def _source(self, data: Any) -> Any:
        """The excitation of bodies whose gaps are short circuits: a wave, waves in guides, or None for voltages."""
        if isinstance(data, ElectromagneticWave) or not self._modes:
            return data if isinstance(data, ElectromagneticWave) else None
        return np.concatenate([data[: self._modes], np.zeros(len(self._joined.gaps))])

    def _columns(self, sources: list[Any], options: SolveOptions) -> tuple[Complex, SolutionInfo]:
        """(N, n) unknowns for 1 V at each gap, then for sources; the record of the one with the largest residual."""
        gaps = self._fed(self._joined.gaps)
        units = np.eye(self._modes + len(gaps.ports))[self._modes :]
        sides = [gaps._right_hand_side(each) for each in (*units, *sources)]
        x, infos = self.system.solve(np.stack(sides, axis=1).astype(complex), options)
        return x, max(infos, key=lambda each: each.residual)

    def _superposed(self, x: Complex, info: SolutionInfo, checked: Sequence[Any]) -> list[Any]:
        """Solutions for voltages at the ports, or waves, by superposition of `_columns`."""
        joined, count = self._joined, len(self._joined.gaps)
        through = joined.weights.T @ x / self._ohms_around
        # columns of sources for those data that have some, and voltages at the ports for those that are no waves
        received, given = np.zeros((count, len(checked)), complex), np.zeros((len(self.ports), len(checked)), complex)
        own, number = np.zeros((len(x), len(checked)), complex), count
        for n, each in enumerate(checked):
            if self._source(each) is not None:
                received[:, n], own[:, n] = through[:, number], x[:, number]
                number += 1
            if not isinstance(each, ElectromagneticWave):
                given[:, n] = each[self._modes :]
        circuits = joined.admittance(self.circuits, self.frequency)
        found = Joined.of(through[:, :count], 0.0, circuits, joined.free(), given, received)
        own += x[:, :count] @ found.voltages
        made = [self._solution(each, np.ascontiguousarray(c), info) for each, c in zip(checked, own.T, strict=True)]
        return [
            replace(
                each, feed_currents=np.append(each.feed_currents[: self._modes], sent), circuit_power=float(power)
            )
            if isinstance(each, CompositeAntennaSolution) else each
            for each, sent, power in zip(made, found.sent.T, found.absorbed, strict=True)
        ]  # fmt: skip

    def _combination(self, options: Any) -> Callable[[Complex], list[Any]]:
        if self._modes:
            raise ValueError("embedded patterns are of gaps alone: superpose solutions where waveguides are fed, too")
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
        ports: Any = self.ports
        u, sent = np.asarray(voltages, np.complex128), self._port_weights.T @ x
        names = tuple(getattr(each, "name", "") or f"port {number}" for number, each in enumerate(ports, start=1))
        loads: Any = self.loads
        through = self._feeding.slots([each.gap for each in loads])[0].T @ x
        resistances = np.array([each.impedance_at(self.frequency).real for each in loads], float)
        if self._waveguides is not None:
            modes, eta = self._modes, self._ohms_around
            v, i = self._waveguides.terminals(u[:modes], np.asarray(eta * x, np.complex128), eta)
            given = {**given, "waves": u[:modes]}
            u, sent, names = np.append(v, u[modes:]), np.append(i, sent), (*self._waveguides.names, *names)
        solution = CompositeAntennaSolution(
            u, sent, names, info, radiating, **given,
            load_currents=through.astype(complex), load_resistances=resistances,
        )  # fmt: skip
        if self.circuits or not any(isinstance(each, FiniteGap) for each in ports) or not solution.input_power > 0:
            return solution
        return replace(solution, power_ratio=checked_ratio(solution))
