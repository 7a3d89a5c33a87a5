"""Antennas and scatterers of thin wires, by piecewise linear currents and Galerkin's method."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self, Unpack

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse

from calderon.backends.memory import require_memory
from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.formulations.checks import electromagnetic_wave, warn_long_segments, wavenumber_and_frequency
from calderon.formulations.options import SolveChoices, SolveOptions, named_options, require_supported
from calderon.formulations.ports.board_slots import Lumped
from calderon.formulations.ports.circuits import Circuit, Joined
from calderon.formulations.ports.connections import Connectable, Connections, checked_circuits
from calderon.formulations.ports.embedded import EmbeddedPatterns
from calderon.formulations.ports.feeds import reference_resistance
from calderon.formulations.ports.gaps import WireGap
from calderon.formulations.ports.port_sweep import PortSweep, adaptive_sweep
from calderon.formulations.ports.power_waves import scattering
from calderon.formulations.problem import require_several
from calderon.formulations.solution_info import SolutionInfo
from calderon.formulations.wires.earth import Earth, earth_below
from calderon.formulations.wires.network import WireNetwork
from calderon.formulations.wires.reactions import bytes_of_assembly, reaction_matrix
from calderon.formulations.wires.solution import WireSolution, illumination
from calderon.formulations.wires.wire import Wire
from calderon.layers import Stack
from calderon.mesh import Material
from calderon.operators.methods import Plan
from calderon.products.cost import Cost
from calderon.solvers.iteration import tolerance
from calderon.solvers.live_bar import assembly_progress
from calderon.validation import finite_complex, list_of, positive_length, several, whole_number
from calderon.view import Described
from calderon.waves import ElectromagneticPlaneWave

Complex = NDArray[np.complex128]
WORST = 1e-6
"""Relative residual of LU factors from which a matrix is singular to rounding."""
REACTION = 6e4
"""Flops of a pair of segments, by measurement from 100 to 1,000 of them."""
SUPPORTED: dict[str, tuple[str, ...]] = {"method": ("auto", "dense"), "solver": ("lu",), "rtol": (), "progress": ()}
WHY = "wires store their matrix in double precision on the processor and factorise it"
RULE = np.polynomial.legendre.leggauss(4)
"""Gauss points of incident waves on a segment."""


@dataclass(frozen=True, eq=False)
class WireAntenna(Connectable, Described):
    """Thin wires in vacuum, or above a ground, fed at gaps or hit by a wave, exp(-i omega t).

    wires: a `Wire`, or several, which are joined where they have common points. ports: a `WireGap`, or several, or
    none. loads: `Lumped` elements in gaps; one in the gap of a port is in series with it. circuits: `Circuit`s between
    gaps, as `connected` adds them. frequency in Hz, or wavenumber= in 1/m. ground: None, "pec" for metal in z = 0, on
    which wires may stand, a `Material` below z = 0, such as `cal.material("wet ground")`, or a `Stack` of layers below
    vacuum; wires do not touch these two.

        wire = cal.Wire([[0, 0, -0.25], [0, 0, 0.25]], radius=1e-3, segments=42)
        solution = cal.WireAntenna(wire, cal.WireGap([0, 0, 0]), frequency=300e6).solve()
        solution.input_impedance, solution.gain(np.pi / 2, 0.0, decibels=True)

    With the functions f of the current along the wires, on whose surfaces the field is averaged over the circumference,

        Z_mn = -i k eta (int int f_m . f_n G - k^-2 int int f_m' f_n' G) + int Z' f_m f_n + sum Z_load w_m w_n,

    Z' the impedance per length of metal and coating (`Wire`), w the current through a gap; the voltage U of a port is
    the load U w. A ground that is not metal adds what it reflects to G, by Sommerfeld's integrals for currents of all
    directions. The reactance of a gap of no width depends on the length of segments, slowly: segments shorter than
    eight radii are rough. Raises ValueError for wires that cross, and for gaps off the wires.

    R. F. Harrington, Field Computation by Moment Methods, chapter 4.
    """

    wires: Sequence[Wire]
    ports: Sequence[WireGap] = ()
    frequency: float = None  # type: ignore[assignment]
    loads: Sequence[Lumped] = field(default=(), kw_only=True)
    wavenumber: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    ground: Literal["pec"] | Material | Stack | None = field(default=None, kw_only=True)
    circuits: tuple[Circuit, ...] = field(default=(), kw_only=True)
    network: WireNetwork = field(init=False, repr=False)

    def __post_init__(self) -> None:
        kinds = (("wires", Wire), ("ports", WireGap), ("loads", Lumped))
        for name, kind in kinds:
            given = getattr(self, name)
            one = (given,) if isinstance(given, kind) else given
            object.__setattr__(self, name, list_of(one, kind, f"{name} are {kind.__name__} objects"))
        if not self.wires:
            raise ValueError("an antenna of wires needs a Wire, or a list of them")
        k, f = wavenumber_and_frequency(self.wavenumber, self.frequency, SPEED_OF_LIGHT, "speed of light")
        if np.imag(k) != 0:
            raise ValueError(f"wires are in vacuum, whose wavenumber is real, got {self.wavenumber!r}")
        object.__setattr__(self, "wavenumber", k)
        object.__setattr__(self, "frequency", f)
        for each in self.loads:
            if not isinstance(each.gap, WireGap):
                raise TypeError(f"a load of wires lies in a WireGap, got {each.gap!r}")
        object.__setattr__(self, "circuits", checked_circuits(self.circuits, WireGap))
        object.__setattr__(self, "network", WireNetwork(self.wires, self._on_metal))
        warn_long_segments(self.network.segments[:, 6], k)
        if self._earth is not None:
            self._require_above(self._earth.face)
        self._weights, self._joined  # noqa: B018

    def _require_above(self, face: float) -> None:
        """ValueError for wires that touch a ground with the face z = `face`, or are below it."""
        above = self.network.ends[..., 2].min(axis=1) - face - self.network.segments[:, 7]
        if not above.min() > 0:
            owner = self.network.owners[above.argmin()]
            raise ValueError(
                f"wire {owner} reaches z = {self.network.ends[above.argmin(), :, 2].min():g} m, into the ground, whose "
                f"face is z = {face:g} m: wires are above a ground that is not metal; for a rod in the earth take "
                "wires on or next to it as a counterpoise, or ground='pec'"
            )

    @property
    def unknowns(self) -> int:
        """Number of functions of the current."""
        return int(self.network.functions.shape[1])

    @cached_property
    def _weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(N, p) and (N, q): the current of each function through ports and loads."""
        return self._currents(self.ports), self._currents([each.gap for each in self.loads])

    def _currents(self, gaps: Sequence[Any]) -> NDArray[np.float64]:
        """(N, n) the current of each function through gaps."""
        columns = [self.network.weights(each, self.wavenumber) for each in gaps]
        return np.stack(columns, axis=1) if columns else np.zeros((self.unknowns, 0))

    @cached_property
    def _joined(self) -> Connections:
        """Gaps of ports and of circuits."""
        return Connections.of(self.ports, [gap for each in self.circuits for gap in each.ports], self._currents)

    def _with_circuits(self, given: Complex, waves: Complex) -> Joined:
        """All gaps for voltages (p, m) of the ports and right-hand sides (N, m) of waves."""
        joined = self._joined
        x = scipy.linalg.lu_solve(self._factors[1], np.hstack([joined.weights, waves]), check_finite=False)
        found, count = joined.weights.T @ x, len(joined.gaps)
        circuits = joined.admittance(self.circuits, self.frequency)
        return Joined.of(found[:, :count], 0.0, circuits, joined.free(), given, found[:, count:])

    def at(self, frequency: float) -> Self:
        """These wires at another frequency in Hz."""
        return replace(self, frequency=positive_length(frequency, "frequency in Hz"), wavenumber=None)  # type: ignore[arg-type]

    def plan(self) -> Plan:
        """The plan of the matrix and its factors, before memory is taken: bytes, seconds."""
        count, segments = self.unknowns, len(self.network.segments)
        work = Cost(REACTION * segments**2 + 8 / 3 * count**3)
        # an assembly, or the matrix and its factors; 1.1 kB of tables a segment
        nbytes = max(bytes_of_assembly(self.network.functions), 32 * count**2) + 1100 * segments
        if self._earth is not None:
            nbytes = max(nbytes, 16 * count**2 + self._earth.bytes_of_assembly(self.network.segments, count))
        return Plan("dense", nbytes, work.seconds, lines=(("unknowns", str(count)),))

    def matrix(self) -> Complex:
        """Z (N, N) in ohm, symmetric."""
        return self._assembled(None)

    def _assembled(self, progress: bool | None) -> Complex:
        """Z, with a bar as `assembly_progress` shows it."""
        require_memory(self.plan().nbytes, f"the matrix of {self.unknowns} functions", "take fewer segments")
        network, k = self.network, float(self.wavenumber)
        with assembly_progress("assembling", "runs of segments", progress) as advance:
            found = reaction_matrix(network.segments, k, network.ground, network.functions, advance)
        if self._earth is not None:
            found += network.functions.T @ (self._earth.half_matrix(network.segments, k) @ network.functions)
        found *= VACUUM_IMPEDANCE
        found += (network.functions.T @ self._losses @ network.functions).toarray()
        for load, w in zip(self.loads, self._weights[1].T, strict=True):
            rows = np.flatnonzero(w)
            found[np.ix_(rows, rows)] += load.impedance_at(self.frequency) * np.outer(w[rows], w[rows])
        return np.asarray(found)

    @property
    def _on_metal(self) -> bool:
        return isinstance(self.ground, str) and self.ground == "pec"

    @cached_property
    def _earth(self) -> Earth | None:
        ground: Any = self.ground
        return None if ground is None or self._on_metal else earth_below(ground, self.frequency)

    @cached_property
    def _losses(self) -> sparse.csr_array:
        return self.network.losses(self.frequency)

    @cached_property
    def _factors(self) -> tuple[Complex, Any, float, float]:
        """The matrix, its LU factors, and the seconds of assembly and of factorisation."""
        return self._factorised(None)

    def _factorised(self, progress: bool | None) -> tuple[Complex, Any, float, float]:
        """The `_factors`. progress: as in `_assembled`."""
        start = time.perf_counter()
        matrix = self._assembled(progress)
        middle = time.perf_counter()
        factors = scipy.linalg.lu_factor(matrix, check_finite=False)
        return matrix, factors, middle - start, time.perf_counter() - middle

    @named_options
    def solve(self, data: Any = 1.0, **options: Unpack[SolveChoices]) -> WireSolution:
        """Currents and fields for voltages in V, one for all ports or one for each, or for a plane wave that hits the
        wires, whose ports are short-circuited. options: of `Problem.solve` those that a dense matrix in double
        precision with LU factors has; ValueError for others."""
        return self.solve_all([data], **options)[0]

    @named_options
    def solve_all(self, data: Sequence[Any], **options: Unpack[SolveChoices]) -> list[WireSolution]:
        """Solutions for several sets of voltages or waves, with one matrix; options as in `solve`."""
        require_several(data)
        require_supported(options, SUPPORTED, WHY)
        given: Any = {**options, "solver": "lu", "method": "dense"}
        accepted = min(WORST, SolveOptions(**given).rtol)
        sides = [self._side(each) for each in data]
        if new := "_factors" not in self.__dict__:
            self.__dict__["_factors"] = self._factorised(options.get("progress"))
        matrix, factors, assembly, factorisation = self._factors
        start = time.perf_counter()
        rhs, through = np.stack([side for *_, side in sides], axis=1), None
        voltages = np.stack([volts for _, volts, _ in sides], axis=1)
        if self.circuits:
            through = self._with_circuits(voltages, rhs)
            rhs = rhs + self._joined.weights @ through.voltages
        else:
            rhs = rhs + self._weights[0] @ voltages
        x = scipy.linalg.lu_solve(factors, rhs, check_finite=False)
        seconds = time.perf_counter() - start
        sizes = np.maximum(np.linalg.norm(rhs, axis=0), np.finfo(float).tiny)
        residuals = np.linalg.norm(rhs - matrix @ x, axis=0) / sizes
        if not residuals.max() < accepted:
            raise ValueError(
                f"the equation of these wires has no reliable solution, its residual is {residuals.max():.1e}: are "
                "segments far below 1e-4 wavelengths, or wires almost on each other?"
            )
        spent = (assembly, factorisation) if new else (0.0, 0.0)
        info = SolutionInfo(
            "-<f, E> + int Z' f I + loads = U w, piecewise linear currents on wires", "LU",
            f"dense matrix, {self.unknowns} x {self.unknowns}", self.unknowns, 0, np.empty(0), 0.0, True, len(sides),
            *spent, seconds,
        )  # fmt: skip
        sent = self._weights[0].T @ x if through is None else through.sent
        absorbed = np.zeros(len(sides)) if through is None else through.absorbed
        return [
            self._solution(wave, volts, currents, float(power), one, replace(info, residual=float(r)))
            for (wave, volts, _), currents, power, one, r in zip(sides, sent.T, absorbed, x.T, residuals, strict=True)
        ]

    def _side(self, data: Any) -> tuple[ElectromagneticPlaneWave | None, Complex, Complex]:
        """The wave, voltages of the ports, and <f, E> of the wave."""
        if isinstance(data, ElectromagneticPlaneWave):
            wave = electromagnetic_wave(data, self.wavenumber, "WireAntenna", VACUUM_IMPEDANCE)
            return wave, np.zeros(len(self.ports), np.complex128), self._incident(wave)
        if not self.ports:
            raise ValueError("these wires have no ports: give ports=, or solve for an ElectromagneticPlaneWave")
        given = np.array(several(data, len(self.ports), "voltages", finite_complex), np.complex128)
        return None, given, np.zeros(self.unknowns, np.complex128)

    def _incident(self, wave: ElectromagneticPlaneWave) -> Complex:
        """<f, E> of a plane wave, and of its reflection by the ground."""
        segments, part = self.network.segments, (RULE[0] + 1) / 2
        x = segments[:, None, :3] + part[:, None] * (segments[:, None, 6:7] * segments[:, None, 3:6])
        field = illumination(wave, x.reshape(-1, 3), self._earth or self.network.ground)[0].reshape(x.shape)
        along = np.einsum("nqi,ni->nq", field, segments[:, 3:6]) * (segments[:, 6:7] * RULE[1] / 2)
        halves = np.stack([(along * (1 - part)).sum(axis=1), (along * part).sum(axis=1)], axis=1)
        return np.asarray(self.network.functions.T @ halves.ravel(), np.complex128)

    def _solution(
        self, wave: Any, voltages: Complex, sent: Complex, absorbed: float, x: Complex, info: SolutionInfo
    ) -> WireSolution:
        through, halves = self._weights[1].T @ x, self.network.functions @ x
        resistances = np.array([load.impedance_at(self.frequency).real for load in self.loads])
        taken = float(np.sum(resistances * np.abs(through) ** 2))
        lost = 0.5 * (float(np.real(np.vdot(halves, self._losses.real @ halves))) + taken)
        names = tuple(str(each) for each in self.ports)
        return WireSolution(
            self.network,
            float(self.wavenumber),
            halves.reshape(-1, 2),
            voltages,
            sent,
            names,
            lost,
            info,
            wave,
            absorbed,
            self._earth,
        )

    def embedded(self, reference: float = 50.0) -> EmbeddedPatterns:  # type: ignore[override]
        """The patterns of all ports, from one factorisation: beams, active reflection, correlation, reception, see
        `EmbeddedPatterns`. reference: resistance of generators and lines in ohm."""
        return super().embedded(reference)

    def _combination(self, options: Any) -> Callable[[Complex], list[WireSolution]]:
        return lambda given: self.solve_all(list(given.T))  # factors are kept

    @property
    def _places(self) -> NDArray[np.float64]:
        ends = self.network.ends.reshape(-1, 3)
        return np.concatenate([ends, ends * [1.0, 1.0, -1.0]]) if self.ground else ends

    @property
    def _ports(self) -> int:
        return len(self.ports)

    def admittance_matrix(self) -> Complex:
        """Y (p, p) in S: I = Y U for voltages U at the ports."""
        unit = self.solve_all(list(np.eye(len(self.ports))))
        return np.stack([each.feed_currents for each in unit], axis=1)

    def impedance_matrix(self) -> Complex:
        """Z (p, p) in ohm: U = Z I, the inverse of `admittance_matrix`."""
        return np.asarray(np.linalg.inv(self.admittance_matrix()))

    def scattering_matrix(self, reference: float = 50.0) -> Complex:
        """S (p, p) for lines of the impedance `reference` in ohm at all ports, for exp(-i omega t)."""
        return scattering(self.admittance_matrix(), reference_resistance(reference))

    def sweep(
        self, start: float, stop: float, points: int = 101, *, reference: float = 50.0, rtol: float = 1e-4
    ) -> PortSweep:
        """S of all ports over a band from `start` to `stop` in Hz at so many points, from few solved frequencies, by
        rational functions (`adaptive_sweep`). reference: of the lines at the ports, in ohm."""
        low, high = (positive_length(each, "a frequency in Hz") for each in (start, stop))
        if not low < high:
            raise ValueError(f"a band goes from a lower to a higher frequency, got {low:g} to {high:g} Hz")
        band, r = np.linspace(low, high, whole_number(points, "points", 2)), reference_resistance(reference)
        self._require_covered(band)
        return adaptive_sweep(lambda f: scattering(self.at(f).admittance_matrix(), r), band, r, tolerance(rtol))

    @property
    def brief(self) -> str:
        """Wires, segments and frequency."""
        return f"{len(self.wires)} wire(s), {len(self.network.segments)} segments, {self.frequency:.4g} Hz"

    def __str__(self) -> str:
        where = " above a ground of metal in z = 0" if self._on_metal else " above earth" if self.ground else ""
        ports = ", ".join(map(str, self.ports)) or "none"
        return f"{self.brief}{where}\n  {self.unknowns} unknowns, ports: {ports}"
