"""Metal between the layers of a stack, with ports: what it does to voltages and to plane waves."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from calderon.backends import require_memory
from calderon.exact.angular import RECEIVERS
from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.formulations.options import DEFAULTS, named_options
from calderon.formulations.planar.board import Board
from calderon.formulations.planar.echo import POLARIZATIONS, PlanarEcho, monostatic, received_from
from calderon.formulations.planar.equation import RESIDUAL, BoardEquation, PlanarChoices, PlanarPlanChoices
from calderon.formulations.planar.layered_currents import LayeredCurrents
from calderon.formulations.planar.radiator import Complex, Radiator
from calderon.formulations.planar.solution import PlanarSolution
from calderon.formulations.ports.feeds import reference_resistance
from calderon.formulations.ports.line_port import LinePort, LineWave, LineWaves, line_parameters
from calderon.formulations.ports.port_sweep import PortSweep, adaptive_sweep
from calderon.formulations.ports.power_balance import balanced_admittances
from calderon.formulations.ports.power_waves import scattering
from calderon.formulations.solution_info import SolutionInfo
from calderon.mesh.errors import AccuracyWarning
from calderon.operators.methods import Plan
from calderon.solvers.iteration import tolerance
from calderon.spaces import VectorFunction
from calderon.validation import describe, finite_numbers, one_of, positive_length, real_number, whole_number


class PortCurrents(NamedTuple):
    """Coefficients (dimension, ports) for 1 V at one port after the other, the record of the least accurate ones, their
    relative error beyond rounding, and the equation that they solve."""

    coefficients: Complex
    info: SolutionInfo
    error: float
    equation: BoardEquation


@dataclass(frozen=True, eq=False)
class PlanarProblem(Board):
    """Thin metal in a stack of layers, horizontal on interfaces or vertical, fed at ports, exp(-i omega t).

    stack: a `Stack`. mesh: metal in metres, as of `planar`; vertical metal that reaches a wall is joined to it. ports:
    one or several `ProbePort` (a coaxial probe from the ground), whose round contacts are cut into the mesh, `EdgePort`
    (between the ground and vertical metal), `DeltaGap` (a slot along inner edges), or `LinePort` (waves on a microstrip
    line); none for metal that scatters plane waves only.

        antenna = PlanarProblem(board, patch, ports=[ProbePort((-8e-3, 0.0), radius=0.5e-3)])
        sweep = antenna.sweep(2.2e9, 2.5e9)       # sweep.s, sweep.z, sweep.resonances()
        solution = antenna.solve(2.36e9)          # solution.gain(theta, phi), solution.power
        echo = antenna.scatter(2.36e9, 0.3, 0.0)  # echo.rcs(theta, phi)

    sheet: surface impedance Z_s of the metal in ohm, or a `Conductor`; the current is that of both faces together.
    loads: `Lumped` elements in slots; what they take is lost.

    The electric equation <f, E> = Z_s <f, J> for RWG functions f and the currents of probes, with the Green's functions
    of the stack. Options are those of every problem (see `Problem.solve`): method "dense", with LU factors that
    overwrite the matrix (10,000 unknowns take 1.6 GB), "hmatrix", to the accuracy rtol by default, or "fft",
    pre-corrected FFT, both with GMRES to a residual of rtol / 10, and with vertical metal and probes as dense columns;
    "auto" is dense up to 5792 unknowns. grid=: options of "fft", a mapping of spacing, order and near, as of
    `BoundaryOperator.assemble`; it takes precision="mixed", too. Raises MeshError for metal off every interface,
    ValueError for ports that the metal or the stack does not have.
    """

    def at(self, frequency: float, grid: Any = None) -> BoardEquation:
        """The equation at `frequency` in Hz, with a warning of edges that are too long. grid: options of "fft"."""
        self.warn_of_coarse_meshes(frequency)
        return BoardEquation(self, frequency, {} if grid is None else grid)

    def _posed(self, frequency: float, options: Any) -> tuple[BoardEquation, dict[str, Any]]:
        """The equation with the options of its grid, and all other options."""
        others = {name: value for name, value in options.items() if name != "grid"}
        return self.at(frequency, options.get("grid")), others

    @named_options
    def plan(self, frequency: float, **options: Unpack[PlanarPlanChoices]) -> Plan:
        """The plan of a solution at `frequency` in Hz, before memory is taken: the method of "auto", bytes, seconds,
        unknowns; options as in `solve`."""
        equation, given = self._posed(frequency, options)
        return equation.plan(**given)

    def matrix(self, frequency: float, charges: bool = True) -> Complex:
        """<f_i, E(f_j)> for eta0 = 1 at `frequency` in Hz, of all functions and currents of probes; symmetric. charges:
        whether with the field of charges."""
        operator = self.at(frequency).system.operator
        return np.asarray(replace(operator, charges=charges).assemble("dense").to_array())

    @named_options
    def solve(self, frequency: float, voltages: ArrayLike = 1.0, **options: Unpack[PlanarChoices]) -> PlanarSolution:
        """Currents and fields at `frequency` in Hz for voltages in V, one number for each port, with the options of
        every problem (`Problem.solve`), and grid=."""
        return self.solve_all(frequency, [voltages], **options)[0]

    @named_options
    def solve_all(
        self, frequency: float, voltages: Sequence[ArrayLike], **options: Unpack[PlanarChoices]
    ) -> list[PlanarSolution]:
        """Solutions as by `solve` for several sets of voltages, with one matrix: np.eye(p) are the ports one by one,
        with 1 V."""
        if isinstance(voltages, str | bytes) or not isinstance(voltages, Iterable):
            raise TypeError(f"voltages are a list with those of each solution, got {describe(voltages)}")
        checked = [self._voltages(each) for each in voltages]
        return self._solutions(self._port_currents(frequency, options), checked)

    def _solutions(self, found: PortCurrents, voltages: Sequence[Complex]) -> list[PlanarSolution]:
        """Solutions for several sets of voltages by these currents."""
        admittances, solutions = self._admittances(found), []
        for u in voltages:
            fields = self._fields(found.equation.frequency, found.coefficients @ u, found.info)
            solutions.append(PlanarSolution(**fields, voltages=u, feed_currents=admittances @ u))
        return solutions

    def _voltages(self, given: ArrayLike) -> Complex:
        ports = len(self.ports)
        rule = "voltages are finite numbers in V, one of them not zero"
        u = finite_numbers(
            given, ports, "voltages", f"this problem has {ports} port(s): give one voltage for each; {rule}"
        )
        if ports and not u.any():
            raise ValueError(f"{rule}, got {given!r}")
        return u

    @named_options
    def scatter(
        self, frequency: float, theta: float, phi: float, polarization: str = "V", **options: Unpack[PlanarChoices]
    ) -> PlanarEcho:
        """Currents at `frequency` in Hz of a plane wave of 1 V/m from the direction (theta, phi) in radians, from above
        or below, polarised along theta-hat ("V") or phi-hat ("H"). Ports are short-circuited. Options as in `solve`.

        Raises ValueError for waves along the layers, and from a side that is a wall or absorbs.
        """
        angles = real_number(theta, "theta in radians"), real_number(phi, "phi in radians")
        along = "VH".index(one_of(polarization, RECEIVERS, "polarization"))
        loads = received_from(self._radiator(frequency), *angles)[0, along]
        equation, given = self._posed(frequency, options)
        coefficients, info = equation.solve(-loads / VACUUM_IMPEDANCE, **given)
        return PlanarEcho(
            **self._fields(frequency, coefficients, info), theta=angles[0], phi=angles[1],
            polarization=polarization, feed_currents=self.weights.T @ coefficients, loads=loads,
        )  # fmt: skip

    @named_options
    def monostatic_rcs(
        self, frequency: float, theta: ArrayLike, phi: ArrayLike | None = None, polarization: str = "VV",
        **options: Unpack[PlanarChoices],
    ) -> NDArray[np.float64]:  # fmt: skip
        """RCS in m^2 that a radar sees in directions as for `exact.unit_directions`, all with one matrix;
        polarization: of the receiver, then of the transmitter, along theta-hat ("V") or phi-hat ("H"). Options as in
        `solve`."""
        one_of(polarization, POLARIZATIONS, "polarization")
        equation, given = self._posed(frequency, options)

        def solved(sides: Complex) -> Complex:
            return np.stack([x for x, _ in equation.solve_all(list(sides.T), **given)], axis=1)

        return monostatic(self._radiator(frequency), solved, theta, phi, polarization)

    @named_options
    def currents(self, frequency: float, **options: Unpack[PlanarChoices]) -> Complex:
        """Coefficients (dimension, ports) for 1 V at one port after the other, 0 V at the others. Options as in
        `solve`."""
        return self._port_currents(frequency, options).coefficients

    def _port_currents(self, frequency: float, options: PlanarChoices) -> PortCurrents:
        if not self.ports:
            raise ValueError("this problem has no ports: give some in ports=, or use scatter(frequency, theta, phi)")
        equation, given = self._posed(frequency, options)
        found = equation.solve_all(list(-self.weights.T / VACUUM_IMPEDANCE), **given)
        worst = max((info for _, info in found), key=lambda info: info.residual)
        error = RESIDUAL * given.get("rtol", DEFAULTS["rtol"]) if len(worst.residuals) else 0.0
        return PortCurrents(np.stack([x for x, _ in found], axis=1), worst, error, equation)

    @named_options
    def admittance_matrix(self, frequency: float, **options: Unpack[PlanarChoices]) -> Complex:
        """Y (p, p) in S at `frequency` in Hz: I = Y U for voltages U at the ports. Symmetric. Conductances below the
        error of the solution are those of the radiated power and of losses in metal. Options as in `solve`."""
        return self._admittances(self._port_currents(frequency, options))

    def _admittances(self, currents: PortCurrents) -> Complex:
        """The admittance matrix of these currents."""
        x, info, error, equation = currents
        found, frequency = np.asarray(self.weights.T @ x), equation.frequency
        if not equation.keeps_loops_apart:
            return found
        local = sp.csr_array(-VACUUM_IMPEDANCE * self.local_part(frequency).real)
        given = [lambda u: LayeredCurrents(**self._fields(frequency, x @ u, info)), local]
        # where Green's functions at rest stand for those of a low frequency, conductances are wrong by some 1e-8
        hastened = self.stack.at(frequency).hastened(self.mesh.diameter)[1] > 1
        return balanced_admittances(found, max(error, 1e-8 if hastened else 0.0), *given)

    @named_options
    def impedance_matrix(self, frequency: float, **options: Unpack[PlanarChoices]) -> Complex:
        """Z = Y^-1 (p, p) in ohm. Options as in `solve`."""
        return np.asarray(np.linalg.inv(self.admittance_matrix(frequency, **options)))

    @named_options
    def scattering_matrix(self, frequency: float, reference: float = 50.0, **options: Unpack[PlanarChoices]) -> Complex:
        """S (p, p) for lines of the impedance `reference` in ohm, of line ports relative to their own impedance;
        textbooks with exp(j omega t) have the conjugate. Options as in `solve`."""
        return self._scattering(self._port_currents(frequency, options), reference_resistance(reference))

    def _scattering(self, found: PortCurrents, resistance: float) -> Complex:
        """S by these currents."""
        if not self._has_lines:
            return scattering(self._admittances(found), resistance)
        frequency, currents = found.equation.frequency, found.coefficients
        toward, back = np.eye(len(self.ports)) + resistance * np.array([1, -1])[:, None, None] * (
            self.weights.T @ currents
        )  # 2 sqrt(R) times the waves at ports of 1 V
        toward, back = toward / (2 * resistance**0.5), back / (2 * resistance**0.5)
        waves = iter(self._line_waves(frequency, currents))
        different = len({port.width if isinstance(port, LinePort) else 0.0 for port in self.ports}) > 1
        impedances = iter(self.line_parameters(frequency) if different else [])
        for number, port in enumerate(self.ports):
            if isinstance(port, LinePort):
                wave, root = next(waves), np.sqrt(next(impedances).impedance.real) if different else 1.0
                toward[number], back[number] = root * wave.toward, root * wave.back
        return np.asarray(back @ np.linalg.inv(toward))

    @named_options
    def line_waves(self, frequency: float, **options: Unpack[PlanarChoices]) -> list[LineWaves]:
        """The waves at each line port for 1 V at one gap after the other; (beta / k0)^2 is the effective permittivity
        of a line. Options as in `solve`."""
        return self._line_waves(frequency, self.currents(frequency, **options))

    def _line_waves(self, frequency: float, currents: Complex) -> list[LineWaves]:
        sections = self.stack.at(frequency)
        limits = 0.9 * sections.k0, 1.1 * sections.densest
        own = currents[: self.metal.dimension]
        return [port.waves(self.metal, own, limits) for port in self.ports if isinstance(port, LinePort)]

    def line_parameters(self, frequency: float) -> list[LineWave]:
        """beta, characteristic impedance and effective permittivity of the infinite line at each line port."""
        faces, found = self.stack.interfaces, dict[tuple[float, float], LineWave]()
        lines = [port for port in self.ports if isinstance(port, LinePort)]
        places = [(port.width, float(faces[np.abs(faces - port.height(self.metal)).argmin()])) for port in lines]
        for width, z in places:
            if (width, z) not in found:
                found[width, z] = line_parameters(self.stack, width, frequency, z)
        return [found[each] for each in places]

    @named_options
    def sweep(
        self, start: float, stop: float, points: int = 201, *, reference: float = 50.0, interpolate: float = 1e-3,
        voltages: ArrayLike | None = None, solved: Callable[[PlanarSolution], object] | None = None,
        **options: Unpack[PlanarChoices],
    ) -> PortSweep:  # fmt: skip
        """S at `points` frequencies from start to stop in Hz, from as few solved ones as rational functions need that
        differ by less than `interpolate` from those of one frequency less; their error is about a tenth of that.
        solved: called with the solution for `voltages`, 1 V by default, at each frequency that is solved, for gains
        over the band. Options as in `solve`. ValueError for voltages without it: S has none.

            gains = {}
            problem.sweep(2.2e9, 2.5e9, solved=lambda each: gains.update({each.frequency: each.gain(0.0, 0.0)}))
        """
        if solved is not None and not callable(solved):
            raise TypeError(f"solved= is a function that is called with each solution, got {describe(solved)}")
        if solved is None and voltages is not None:
            raise ValueError("voltages= are those of the solutions for solved=, which is missing: S needs no voltages")
        low, high = (positive_length(each, "frequency in Hz") for each in (start, stop))
        if high < low:
            raise ValueError(f"a sweep goes from a lower to a higher frequency, got {start!r} to {stop!r} Hz")
        points = whole_number(points, "points")
        require_memory(16 * points * len(self.ports) ** 2, "a sweep", "choose fewer points")
        tolerance(interpolate, "interpolate", example="1e-3")
        u = None if solved is None else self._voltages(1.0 if voltages is None else voltages)
        frequencies = np.linspace(low, high, points)
        resistance = reference_resistance(reference)
        self.warn_of_coarse_meshes(high)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "edges of up to", AccuracyWarning)  # once for all frequencies

            def at(f: float) -> Complex:
                currents = self._port_currents(f, options)
                if solved is not None and u is not None:
                    solved(self._solutions(currents, [u])[0])
                return self._scattering(currents, resistance)

            return adaptive_sweep(at, frequencies, resistance, interpolate, of_lines=self._has_lines)

    @property
    def _has_lines(self) -> bool:
        return any(isinstance(port, LinePort) for port in self.ports)

    def _radiator(self, frequency: float) -> Radiator:
        places = [each.place for each in self.probes]
        return Radiator(self.stack.at(frequency), self.function_space, self.height, places)

    def _fields(self, frequency: float, coefficients: Complex, info: SolutionInfo) -> dict[str, Any]:
        """The arguments of `LayeredCurrents`."""
        surface = VectorFunction(self.function_space, coefficients, "surface current", "A/m")
        probes = [(each.place, coefficients[n - len(self.probes)]) for n, each in enumerate(self.probes)]
        return {
            "sections": self.stack.at(frequency), "frequency": float(frequency), "surface": surface,
            "height": self.height, "probes": probes, "info": info,
        }  # fmt: skip
