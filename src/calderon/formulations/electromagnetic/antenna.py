"""Antennas of perfect conductors, fed by voltages across gaps."""

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.formulations.electromagnetic.antenna_solution import AntennaSolution, reference_resistance
from calderon.formulations.electromagnetic.pec import PECScattering
from calderon.formulations.electromagnetic.radar import vacuum_impedance
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents, magnetic_unit
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.mirrors import HalfSpace, Mirrors
from calderon.formulations.options import SolveChoices, SolveOptions, named_options
from calderon.formulations.ports.board_slots import Lumped, checked_slots
from calderon.formulations.ports.circuits import Circuit, Joined
from calderon.formulations.ports.connections import Connectable, Connections, checked_circuits
from calderon.formulations.ports.gaps import DeltaGap, require_across
from calderon.formulations.ports.port_matrices import PortMatrices
from calderon.formulations.ports.port_sweep import PortSweep, adaptive_sweep
from calderon.formulations.ports.power_balance import admittances, balanced
from calderon.formulations.ports.power_waves import scattering
from calderon.formulations.problem import Problem
from calderon.formulations.solution_info import SolutionInfo
from calderon.formulations.sweep import Sweep, frequencies_of, warned_of_coarse_meshes
from calderon.mesh import TriangleMesh
from calderon.solvers.iteration import tolerance
from calderon.spaces import EdgeSpace, VectorFunction
from calderon.validation import finite_complex, finite_numbers, positive_length, several


@dataclass(frozen=True, eq=False)
class PECAntenna(Connectable, PortMatrices, Problem[AntennaSolution]):
    """A perfect conductor in a homogeneous lossless medium with voltages at its feeds, exp(-i omega t).

    mesh: in metres, open sheets or closed bodies. wavenumber: k = 2 pi / wavelength in 1/m; or frequency= in Hz, in
    vacuum. feed: a `DeltaGap`, or several. impedance: eta of the medium in ohm, that of vacuum unless given; with 1,
    impedances are multiples of it.

        antenna = PECAntenna(strip, k, DeltaGap(line=[[-w / 2, 0, 0], [w / 2, 0, 0]]))
        solution = antenna.solve()              # 1 V; solve([1, 1j]) for two feeds
        solution.input_impedance, solution.gain(theta, phi, decibels=True)

    The equation is the electric one, eta T J = -<f, E_gap>: its gap field is a finite load of the edge functions. The
    magnetic field of a gap is infinite on the surface next to it, so there is no magnetic or combined equation; near a
    resonance of the inside of a closed body the impedance is not to be trusted. The susceptance of an infinitely narrow
    gap grows with the logarithm of the mesh size, slowly: compare two meshes. Below k times diameter = 0.5 loops and
    charges are kept apart (methods "dense", "hmatrix" and "matrix-free"), so that coils are solved down to any
    frequency; a resistance below the error of the solution is that of the radiated power, as `info` says. Raises
    ValueError and TypeError for invalid arguments.

    loads: `Lumped` elements in slots that are a `DeltaGap`, in vacuum; one in the gap of a feed is in series with it.
    circuits: `Circuit`s between gaps, as `connected` adds them. Both join the voltages and currents of all gaps after
    the solution, which is exact, and takes one right-hand side for each gap.

    mirrors: `HalfSpace("z")`, a ground of metal in the plane z = 0, which the mesh stands on or is above; feeds lie on
    the mesh, those between it and the ground in the plane, and powers are those above the ground. Or planes of
    symmetry, as for `PECScattering`: feeds are then named on the whole, `mesh.mirrored("z")`, and are their own images.

    R. F. Harrington, Field Computation by Moment Methods, chapter 6; S. N. Makarov, Antenna and EM Modeling with Matlab
    (2002), chapter 4.
    """

    mesh: TriangleMesh
    wavenumber: float = None  # type: ignore[assignment]
    feed: DeltaGap | Sequence[DeltaGap] = ()
    impedance: float = field(default=VACUUM_IMPEDANCE, kw_only=True)
    frequency: float | None = field(default=None, kw_only=True)
    mirrors: Mirrors = field(default=None, kw_only=True)
    loads: Lumped | Sequence[Lumped] = field(default=(), kw_only=True)
    circuits: tuple[Circuit, ...] = field(default=(), kw_only=True)

    usual_solver: ClassVar[str] = "lu"

    def __post_init__(self) -> None:
        iterable = isinstance(self.feed, DeltaGap | Iterable)
        if not iterable or not self.feeds or not all(isinstance(one, DeltaGap) for one in self.feeds):
            raise TypeError(f"an antenna needs a DeltaGap or a list of them as its feed, got {self.feed!r}")
        positive_length(self.impedance, "the impedance of the medium, in ohm,")
        if self.frequency is not None and self.wavenumber is None:
            vacuum_impedance(self.impedance)
        for name in ("wavenumber", "frequency"):
            object.__setattr__(self, name, getattr(self.conductor, name))
        self._require_apart()
        object.__setattr__(self, "loads", checked_slots((), self.loads)[1])
        object.__setattr__(self, "circuits", checked_circuits(self.circuits, DeltaGap))
        if self.loads or self.circuits:
            vacuum_impedance(self.impedance)
            _ = self._joined  # slots that do not fit are refused here

    @property
    def feeds(self) -> tuple[DeltaGap, ...]:
        """All feeds, in the order of voltages and ports."""
        return (self.feed,) if isinstance(self.feed, DeltaGap) else tuple(self.feed)

    @cached_property
    def conductor(self) -> PECScattering:
        """This conductor, gaps short-circuited, as a scatterer; matrix and factors are shared."""
        given: Any = {"formulation": "efie", "frequency": self.frequency, "impedance": self.impedance}
        given["mirrors"] = self.mirrors
        return PECScattering(self.mesh, self.wavenumber, **given)

    @property
    def function_space(self) -> EdgeSpace:
        """The Rao-Wilton-Glisson functions of the surface current."""
        return self.conductor.function_space

    @property
    def _is_grounded(self) -> bool:
        """Whether a plane reflects, beyond which all is an image."""
        return isinstance(self.mirrors, HalfSpace)

    def at(self, wavenumber: float) -> Self:
        """This antenna at another wavenumber."""
        return replace(self, wavenumber=wavenumber, frequency=None)

    @named_options
    def solve(self, voltages: ArrayLike = 1.0, **options: Unpack[SolveChoices]) -> AntennaSolution:
        """Solve for voltages in V, one number for each feed; options as for every problem, but solver="lu" by default
        for a dense matrix: the electric equation iterates slowly, and factors serve all feeds.
        """
        return super().solve(voltages, **options)

    @named_options
    def sweep(
        self,
        frequencies: Iterable[float],
        voltages: ArrayLike = 1.0,
        reference: float = 50.0,
        *,
        interpolate: float | None = None,
        **options: Unpack[SolveChoices],
    ) -> Sweep | PortSweep:
        """The antenna at frequencies in Hz, in vacuum: solutions for the voltages, one for all feeds or one for each,
        and S for lines of `reference` ohm. Options as in `solve`.

            sweep = antenna.sweep(np.linspace(250e6, 350e6, 21))
            sweep.to_xarray()["s"], sweep.write_touchstone("dipole.s1p")

        interpolate: None to solve at each frequency. Or a tolerance, such as 1e-3: S alone, a `PortSweep`, from as few
        solved frequencies as rational functions need that differ by less than it from those of one frequency less.
        """
        vacuum_impedance(self.impedance)
        hertz, ports = frequencies_of(frequencies), len(self.feeds)
        self._require_covered(hertz)
        if interpolate is not None:
            wanted, r = tolerance(interpolate, "interpolate", example="1e-3"), reference_resistance(reference)
            if len(hertz) < 3 or (np.diff(hertz) <= 0).any():
                raise ValueError("interpolate= needs three frequencies or more that increase")
            with warned_of_coarse_meshes(self._at_frequency, hertz):
                at = lambda f: self._at_frequency(f).scattering_matrix(r, **options)  # noqa: E731
                return adaptive_sweep(at, hertz, r, wanted)
        given = self._checked(several(voltages, ports, "voltages", finite_complex))
        r, solutions, matrices = reference_resistance(reference), [], []
        with warned_of_coarse_meshes(self._at_frequency, hertz):
            for each in hertz:
                fed, *unit = self._at_frequency(each).solve_all([given, *np.eye(ports)], **options)
                solutions.append(fed)
                matrices.append(scattering(admittances(unit), r))
        return Sweep(hertz, tuple(solutions), np.array(matrices), r)

    def _at_frequency(self, frequency: float) -> Self:
        """This antenna at a frequency in Hz, in vacuum."""
        return self.at(2 * np.pi * frequency / SPEED_OF_LIGHT)

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """Names of preconditioners, as of `PECScattering` with formulation="efie"."""
        return self.conductor.preconditioners

    def _usual_preconditioner(self, options: SolveOptions) -> str:
        return self.conductor._usual_preconditioner(options)

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        return self.conductor._preconditioned(options)

    @named_options
    def admittance_matrix(self, **options: Unpack[SolveChoices]) -> NDArray[np.complex128]:
        """Y (p, p) in S: I = Y U for the voltages U at the feeds; options as in `solve`. Symmetric."""
        return admittances(self.solve_all(list(np.eye(len(self.feeds))), **options))

    def _build_system(self) -> LinearSystem:
        return self.conductor.system

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """(dimension, p) signed lengths of the edges of each feed, of functions of the whole surface."""
        found = np.stack([one.weights(self.function_space) for one in self.feeds], axis=1)
        functions = self.conductor.functions
        if self._is_grounded:
            own = np.zeros_like(found)
            own[functions.functions] = found[functions.functions]  # tags are those of images, too
            found = own
        elif functions.asymmetry(found) > 0:
            raise ValueError(
                f"feeds are not their own images in mirrors={self.mirrors}: place them in the mirrors, so that current "
                'crosses an "odd" one, or add their images and solve on the whole, mesh.mirrored(plane)'
            )
        if len(lost := np.flatnonzero(~found.any(axis=0))):
            raise ValueError(f"no current crosses feed {lost[0] + 1}: it lies on images alone, or in an even mirror")
        return found

    def _checked(self, data: Any) -> NDArray[np.complex128]:
        feeds = len(self.feeds)
        needed = f"this antenna has {feeds} feed(s): give one voltage for each, finite numbers in V"
        return finite_numbers(data, feeds, "voltages", needed)

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        functions = self.conductor.functions
        tested = -(self._weights[functions.functions] @ data) / self.impedance
        # a gap in the plane of a ground is one half of that between the mesh and its image
        return tested * functions.copies if self._is_grounded else tested

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> AntennaSolution:
        whole, share = self.conductor.functions.extended(coefficients), self.conductor.surface.share
        current = VectorFunction(self.function_space, whole, "surface current", magnetic_unit(self.impedance))
        currents = RadiatingCurrents(self.wavenumber, self.impedance, (current,), share=share)
        solution = AntennaSolution(data, self._weights.T @ whole, self._names, info, currents)
        return balanced(solution)

    @cached_property
    def _joined(self) -> Connections:
        """Gaps of feeds, of loads and of circuits."""
        further = [*(load.gap for load in self._listed_loads), *(each for one in self.circuits for each in one.ports)]
        found = Connections.of(self.feeds, further, lambda gaps: self._fed(gaps)._weights)
        self._fed(found.gaps)._require_apart()
        return found

    @property
    def _listed_loads(self) -> tuple[Any, ...]:
        return self.loads  # type: ignore[return-value]

    def _fed(self, gaps: tuple[DeltaGap, ...]) -> "PECAntenna":
        """This conductor, with its matrix and factors, fed at other gaps, without loads and circuits."""
        found = copy.copy(self)
        found.__dict__.pop("_weights", None)
        found.__dict__.update(feed=gaps, loads=(), circuits=())
        return found

    def _require_apart(self) -> None:
        if overlap := np.count_nonzero(np.count_nonzero(self._weights, axis=1) > 1):
            raise ValueError(f"gaps share {overlap} edges: each edge belongs to one gap at most")
        for each in self.feeds:
            require_across(each, self.function_space.mesh)

    def _solve(self, data: list[Any], options: SolveOptions) -> list[AntennaSolution]:
        if not self.loads and not self.circuits:
            return super()._solve(data, options)
        # loads and circuits join the admittances of all gaps
        units = self._fed(self._joined.gaps)._solve(list(np.eye(len(self._joined.gaps))), options)
        return self._combined(units, np.stack([self._checked(each) for each in data], axis=1))

    def _combined(self, units: list[AntennaSolution], given: NDArray[Any]) -> list[AntennaSolution]:
        """Solutions for voltages (p, m) of the feeds from those for 1 V at each gap."""
        joined, loads = self._joined, self._listed_loads
        hertz, count, z = float(self.frequency or 0.0), len(loads), np.zeros(len(units), np.complex128)
        elements = np.array([load.impedance_at(hertz) for load in loads], np.complex128)
        np.add.at(z, joined.places[:count], elements)
        circuits = joined.admittance(self.circuits, hertz, count)
        found = Joined.of(admittances(units), z, circuits, joined.free(count), given)
        # fields are those of the voltages of all gaps
        worst, first = max((each.info for each in units), key=lambda info: info.residual), units[0]
        x = np.stack([each.surface.coefficients for each in units], axis=1) @ found.voltages
        currents = [
            replace(first.currents, electric_currents=(replace(first.surface, coefficients=each),)) for each in x.T
        ]
        return [
            AntennaSolution(
                volts, sent, self._names, worst, own, load_currents=through[joined.places[:count]],
                load_resistances=elements.real.copy(), circuit_power=float(power),
            )
            for volts, sent, own, through, power in zip(
                given.T, found.sent.T, currents, found.through.T, found.absorbed, strict=True
            )
        ]  # fmt: skip

    def _combination(self, options: Any) -> Callable[[NDArray[Any]], list[AntennaSolution]]:
        gaps = self._joined.gaps
        units = self._fed(gaps).solve_all(list(np.eye(len(gaps))), **options)
        return lambda given: self._combined(units, given)

    @property
    def _places(self) -> NDArray[np.float64]:
        return self.mesh.vertices[self.mesh.used_vertices]

    @property
    def _ports(self) -> int:
        return len(self.feeds)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(one.name or f"feed {number}" for number, one in enumerate(self.feeds, start=1))

    @property
    def brief(self) -> str:
        """Feeds and size."""
        return f"{len(self.feeds)} feed(s), {self.unknowns} unknowns {self._discretisation}"

    def __str__(self) -> str:
        counts = ", ".join(map(str, np.count_nonzero(self._weights, axis=0)))
        return f"antenna fed across {counts} edge(s)\n{self.conductor}"
