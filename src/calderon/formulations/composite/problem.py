"""Bodies of several materials and metal that touch each other, in the frequency domain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.exact.vacuum import permittivity_of
from calderon.formulations.checks import (
    charges_resolved,
    electromagnetic_wave,
    elements_per_wavelength,
    sources_on_side,
    warn_coarse,
)
from calderon.formulations.composite.equation import (
    combined_equation,
    local_equation,
    magnetic_factors,
    magnetic_on_metal,
)
from calderon.formulations.composite.fed_bodies import FedBodies
from calderon.formulations.composite.feeding import Feeding
from calderon.formulations.composite.finite_gaps import cells_of
from calderon.formulations.composite.guides.waveguides import Waveguides
from calderon.formulations.composite.junctions import Junctions, RegionTraces
from calderon.formulations.composite.skeleton import Skeleton, located
from calderon.formulations.composite.solution import CompositeSolution
from calderon.formulations.composite.surfaces import Interface, SurfaceKind, WaveguidePort, check_tables
from calderon.formulations.composite.surroundings import settled
from calderon.formulations.composite.wires.wires_in_regions import WiresInRegions
from calderon.formulations.composite.wires.wiring import bordered
from calderon.formulations.electromagnetic.dielectric_regions import Region, region
from calderon.formulations.electromagnetic.extinction import probe_points, warn_of_remainder
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents, magnetic_unit
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import SolveOptions
from calderon.formulations.ports.board_slots import Lumped, checked_slots
from calderon.formulations.ports.circuits import Circuit
from calderon.formulations.ports.connections import checked_circuits
from calderon.formulations.ports.finite_gap import FiniteGap
from calderon.formulations.ports.gaps import DeltaGap, WireGap
from calderon.formulations.preconditioners import Preconditioner, factors_of, weighted_gram
from calderon.formulations.solution_info import SolutionInfo
from calderon.formulations.wires.antenna import WireAntenna
from calderon.formulations.wires.wire import Wire
from calderon.mesh import Material, TriangleMesh
from calderon.operators import blocks
from calderon.operators.sparse_factors import Unknowns
from calderon.spaces import Loads, VectorFunction
from calderon.validation import describe, list_of
from calderon.waves import ElectromagneticWave

Gap = DeltaGap | WireGap | FiniteGap
LEAST_SIZE = 1e-3
"""k times diameter below which loops and charges of composite bodies would need scales of their own."""


@dataclass(frozen=True, eq=False)
class MaxwellProblem(FedBodies):
    """Bodies of several materials, perfect conductors and thin sheets that may touch each other, exp(-i omega t).

    mesh: all surfaces, in metres; where they meet they have common vertices, and any number of triangles at an edge.
    regions: names and media, one of them around all others, without loss. surfaces: what the triangles of each tag of
    the mesh are, an `Interface` of two regions, `Metal` between two regions or around a solid, or a `Sheet` within one.
    wavenumber: k in 1/m of the region around, or frequency= in Hz, with SI units. impedance: of the region around, see
    `RadarProblem`.

        mesh = cal.mesh.layered_cuboid((0.8, 0.5), (0.3, 0.2), 0.125)
        surfaces = {"layer 1": cal.Interface("air", "low"), "layer 2": cal.Interface("air", "high"),
                    "joint 1": cal.Interface("high", "low")}
        media = {"air": cal.Material(), "low": cal.Material(2.25), "high": cal.Material(4.0)}
        solution = cal.MaxwellProblem(mesh, regions=media, surfaces=surfaces, wavenumber=3.0).solve(wave)

    wires: `Wire` or several, each in one region, joined to metal where they end on a vertex of it (perfect conductors
    only). Ports and loads of wires lie in a `WireGap`. Without mesh, regions and surfaces the problem is that of a
    `WireAntenna`, which is returned.

    Unknown are J = n x H and M = -n x E on interfaces, J on metal; the fields of both sides of each interface are equal
    (Poggio, Miller; Chang, Harrington; Wu, Tsai), the electric one is zero along metal. At edges where surfaces meet
    currents flow from one into the others as the sides say. preconditioner="near" (the default, of all methods) is the
    LU factors of the equation with the fields of charges and currents at their own triangles alone. Solid metal with a
    hollow has resonances that do not radiate, as by "efie".

    ports: a `DeltaGap`, a `WireGap` or several, slots in metal with one medium on both of its faces or gaps of wires;
    loads: `Lumped` elements in such slots, in series with a port in the same one. With ports `solve(voltages)` is that
    of an antenna, 1 V unless given, in SI units and by default with solver="lu"; waves see them short-circuited.
    circuits: `Circuit`s between such gaps, as `connected` adds them; they join the solutions for all gaps, one each.
    surfaces may hold `WaveguidePort`s, too: `solve(excitation)` is for waves into the guides then, of |a|^2 / 2 in W,
    followed by the voltages of ports, 1 and 0 unless given; `scattering_matrix()` has their modes first.

    Raises ValueError, with the edges, where a region is not closed or two surfaces contradict each other, for regions
    and tags that are not known, and for bodies below k times diameter = 1e-3; TypeError for other arguments.
    """

    mesh: TriangleMesh = None  # type: ignore[assignment]
    regions: Mapping[str, Material] = field(default_factory=dict, kw_only=True)
    surfaces: Mapping[Any, SurfaceKind] = field(default_factory=dict, kw_only=True)
    ports: Gap | Sequence[Gap] = field(default=(), kw_only=True)
    wires: Wire | Sequence[Wire] = field(default=(), kw_only=True)
    loads: Lumped | Sequence[Lumped] = field(default=(), kw_only=True)
    wavenumber: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    frequency: float | None = field(default=None, kw_only=True)
    impedance: float | None = field(default=None, kw_only=True)
    circuits: tuple[Circuit, ...] = field(default=(), kw_only=True)

    def __new__(
        cls, mesh: TriangleMesh | None = None, *, regions: Any = None, surfaces: Any = None, ports: Any = (),
        loads: Any = (), wires: Any = (), wavenumber: Any = None, frequency: Any = None, impedance: Any = None,
        circuits: Any = (),
    ) -> Any:  # fmt: skip
        """Return the antenna of wires alone, else an object that `__init__` fills."""
        has_surfaces = mesh is not None or regions or surfaces or impedance is not None
        if has_surfaces or (isinstance(wires, Sequence) and not wires):
            return super().__new__(cls)
        given: Any = {"loads": loads, "wavenumber": wavenumber, "frequency": frequency, "circuits": circuits}
        return WireAntenna(wires, ports, **given)

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, TriangleMesh):
            raise TypeError(f"MaxwellProblem needs a TriangleMesh of all surfaces, got {describe(self.mesh)}")
        check_tables(self.regions, self.surfaces)
        wires = (self.wires,) if isinstance(self.wires, Wire) else self.wires
        object.__setattr__(self, "wires", list_of(wires, Wire, "wires are Wire objects"))
        ports, loads = checked_slots(self.ports, self.loads, Gap if self.wires else DeltaGap | FiniteGap)
        object.__setattr__(self, "ports", ports)
        object.__setattr__(self, "loads", loads)
        self._settle_wavenumber()
        size = self.wavenumber * self.mesh.diameter
        if size < LEAST_SIZE:
            raise ValueError(
                f"k times diameter is {size:.2g}: below {LEAST_SIZE:g} loops and charges of bodies that touch have "
                "scales of their own, which are not kept apart; take DielectricScattering or PECScattering for bodies "
                "that do not touch, StaticProblem for static fields"
            )
        self.skeleton.require_nesting()
        for walls, medium in zip(self.skeleton.walls, self.media, strict=True):
            warn_coarse(walls.mesh, medium.wavenumber)
        object.__setattr__(self, "circuits", checked_circuits(self.circuits, Gap))
        shared = np.count_nonzero(np.count_nonzero(self._port_weights, axis=1) > 1)
        if shared:
            raise ValueError(f"ports share {shared} unknowns: each edge belongs to one port at most")
        _ = self._joined  # circuits at gaps that cannot be are refused here
        _ = self.system  # an equation that cannot be built is refused here, not when it is solved

    def _settle_wavenumber(self) -> None:
        """Store the wavenumber of the region around, the frequency, and with a frequency alone the impedance."""
        in_ohms = self.ports or self.loads or self.circuits or self.wires or self._has_guides
        is_fed = (self.frequency is not None and self.wavenumber is None) or bool(in_ohms)
        given = self.wavenumber, self.frequency, self.impedance
        found = settled(self._around, self.regions[self._around], *given, is_fed)
        for name, value in zip(("wavenumber", "frequency", "impedance"), found, strict=True):
            object.__setattr__(self, name, value)

    @property
    def _has_guides(self) -> bool:
        return any(isinstance(each, WaveguidePort) for each in self.surfaces.values())

    @cached_property
    def skeleton(self) -> Skeleton:
        """The regions at the sides of the triangles."""
        return Skeleton(self.mesh, tuple(self.regions), self.surfaces)

    @property
    def _around(self) -> str:
        return self.skeleton.names[self.skeleton.unbounded]

    @cached_property
    def junctions(self) -> Junctions:
        """The unknowns at the edges."""
        return Junctions(self.skeleton, self._finite_gaps)

    @cached_property
    def _finite_gaps(self) -> tuple[FiniteGap, ...]:
        """Gaps of finite width of ports, loads and circuits, each once."""
        loads: Any = self.loads
        listed: Any = (*self.ports, *(each.gap for each in loads), *(gap for one in self.circuits for gap in one.ports))  # type: ignore[misc]
        found: dict[bytes, FiniteGap] = {}
        for gap in listed:
            if isinstance(gap, FiniteGap):
                found.setdefault(cells_of(gap, self.mesh).tobytes(), gap)
        return tuple(found.values())

    @cached_property
    def traces(self) -> tuple[RegionTraces, ...]:
        """The currents of each region, from all unknowns."""
        return tuple(each.widened(self.function_space.dimension) for each in self._on_surfaces)

    @cached_property
    def _on_surfaces(self) -> tuple[RegionTraces, ...]:
        """The currents of each region, from the unknowns of surfaces and waveguide ports."""
        given = self.junctions.traces
        return given if self._waveguides is None else self._waveguides.traces(given)

    @property
    def _before_wires(self) -> int:
        """The number of unknowns of surfaces and waveguide ports, which those of wires follow."""
        return self.junctions.dimension + (0 if self._waveguides is None else self._waveguides.dimension)

    @cached_property
    def _waveguides(self) -> Waveguides | None:
        """The waveguide ports, if there are any."""
        kinds = list(self.surfaces.values())
        numbers = tuple(n for n, each in enumerate(kinds) if isinstance(each, WaveguidePort))
        if not numbers:
            return None
        ports: Any = tuple(kinds[number] for number in numbers)
        return Waveguides(self.junctions, self.media, ports, numbers)

    @cached_property
    def _wiring(self) -> WiresInRegions | None:
        """The wires, if there are any."""
        if not self.wires:
            return None
        assert self.frequency is not None
        wires: Any = self.wires
        given = self.skeleton, self._on_surfaces, self._losses, self.media
        return WiresInRegions.of(wires, *given, self._ohms_around, self.frequency)

    @cached_property
    def media(self) -> tuple[Region, ...]:
        """The constants of the regions, relative to the region around."""
        assert self.frequency is not None
        around = self.regions[self._around]
        reference = permittivity_of(around, self.frequency).real
        return tuple(
            replace(region((), self.wavenumber, epsilon / reference, mu / around.permeability), density=density)
            for epsilon, mu, density in (
                (permittivity_of(each, self.frequency), each.permeability, each.density)
                for each in self.regions.values()
            )
        )

    @property
    def _ohms_around(self) -> float:
        """The wave impedance of the region around, in ohm."""
        assert self.frequency is not None
        speed = 2 * np.pi * self.frequency / self.wavenumber
        return float(self.regions[self._around].permeability * VACUUM_IMPEDANCE * speed / SPEED_OF_LIGHT)

    def at(self, wavenumber: float) -> "MaxwellProblem":
        """This problem at another wavenumber of the region around."""
        return replace(self, wavenumber=wavenumber, frequency=None)

    @cached_property
    def _feeding(self) -> Feeding:
        return Feeding(self.junctions, self.media, self._before_wires, self._wiring)

    @property
    def function_space(self) -> Any:
        """The unknowns: of combinations of functions of all regions, then of modes of waveguides, then of wires."""
        return Unknowns(self._before_wires + (0 if self._wiring is None else self._wiring.dimension))

    @property
    def elements_per_wavelength(self) -> float:
        """The shortest wavelength at a surface over its mean edge length, the least of all regions."""
        pairs = zip(self.skeleton.walls, self.media, strict=True)
        return min(elements_per_wavelength(walls.mesh, medium.wavenumber) for walls, medium in pairs)

    @cached_property
    def _losses(self) -> list[NDArray[np.complex128]]:
        """The impedance of metal on the triangles of each region, relative to the impedance around."""
        assert self.frequency is not None
        ohms = [0.0 if isinstance(each, Interface) else each.loss(self.frequency) for each in self.surfaces.values()]
        relative = (np.array(ohms) / self._ohms_around)[self.skeleton.kinds].astype(complex)
        return [relative[self.skeleton.triangles_of(number)] for number in range(len(self.regions))]

    def _build_system(self) -> LinearSystem:
        operator = combined_equation(
            self.traces, self.media, self._losses, [each.leaving for each in self.skeleton.walls]
        )
        listed: Any = self.loads
        if slots := [each for each in listed if not isinstance(each.gap, WireGap)]:
            assert self.frequency is not None
            matrix = self._feeding.load_matrix(slots, self.frequency, self._ohms_around)
            operator = operator - blocks([[matrix]])
        text = "PMCHWT and electric field equations of all regions for J, M"
        if self._waveguides is not None:
            operator = operator + blocks([[self._waveguides.matrix(self.traces)]])
            text += ", with modes of waveguides"
        if self._wiring is not None:
            assert self.frequency is not None
            loads = [each for each in listed if isinstance(each.gap, WireGap)]
            columns = self._wiring.matrix(loads, self.frequency)
            operator = operator + blocks([[bordered(columns)]])
            text += ", and of wires for I"
        return LinearSystem(text, operator, (self.function_space,))

    @cached_property
    def _loads(self) -> Loads:
        return self.traces[self.skeleton.unbounded].space.loads()

    def _checked(self, data: Any) -> Any:
        if self._ports + self._modes and not isinstance(data, ElectromagneticWave):
            return self._excitation(data)
        wave = electromagnetic_wave(data, self.wavenumber, type(self).__name__, self.impedance)
        sources_on_side(wave, self.mesh, "both")
        for _, term in getattr(wave, "terms", ((1.0, wave),)):
            position = getattr(term, "position", None)
            if (
                position is not None
                and located(self.skeleton.walls, np.array([position]))[0] != self.skeleton.unbounded
            ):
                raise ValueError(f"the source at {np.asarray(position).tolist()} lies in a body: place it in the "
                                 f"region {self._around!r} around all others")  # fmt: skip
        return wave

    def _combined(self, electric: NDArray[Any], magnetic: NDArray[Any]) -> NDArray[Any]:
        """The right-hand side from <f, E_inc> and <f, eta H_inc> of the region around."""
        own = self.traces[self.skeleton.unbounded]
        return np.asarray(own.magnetic.T @ magnetic - own.electric.T @ electric)

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        if isinstance(data, np.ndarray):
            found: NDArray[Any] = -(self._port_weights @ (self._slots[1] * data[self._modes :]))
            if self._waveguides is not None:
                found = found + self._waveguides.right_hand_side(data[: self._modes], self.unknowns, self._ohms_around)
            return found
        loads, eta = self._loads, complex(data.impedance)
        found = self._combined(loads @ data.electric(loads.points), loads @ (eta * data.magnetic(loads.points)))
        if self._wiring is not None:
            found[self._before_wires :] = self._wiring.tested(data.electric)
        return found

    def _echoes(
        self, r: NDArray[np.float64], receive: NDArray[np.float64], transmit: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        phases = self._loads.phases(-self.wavenumber * r)

        def tested(vectors: NDArray[np.float64]) -> NDArray[Any]:
            waves = self._loads.plane_waves
            found = self._combined(waves(phases, vectors), waves(phases, np.cross(-r, vectors)))
            if self._wiring is not None:
                found[self._before_wires :] = self._wiring.echoes(r, vectors)
            return found

        sent = tested(transmit)
        seen = sent if np.array_equal(receive, transmit) else tested(receive)
        return sent, -1j * self.wavenumber / (4 * np.pi) * seen

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """ "near", of all methods."""
        return ("near",)

    def _usual_preconditioner(self, options: SolveOptions) -> str:
        return "near"

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        charges_resolved(self.mesh, self.wavenumber, options.precision, "the equation of composite bodies", "")
        if options.preconditioned_by("near") and options.solver != "lu":
            return replace(options, preconditioner=self._near_inverse)
        return super()._preconditioned(options)

    @cached_property
    def _near_inverse(self) -> Preconditioner:
        return factors_of("near", self.unknowns, lambda: local_equation(self.system.operator, self.traces, self.media))

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> Any:
        is_fed = isinstance(data, np.ndarray)
        impedance = self._ohms_around if is_fed else data.impedance
        eta, unit = complex(impedance), magnetic_unit(impedance)
        electric, magnetic, lost = [], [], 0.0
        leaving = tuple(each.leaving for each in self.skeleton.walls)
        for own, loss, sides in zip(self.traces, self._losses, leaving, strict=True):
            j, m = own.electric @ coefficients / eta, own.magnetic @ coefficients
            if (factors := magnetic_factors(own, loss, sides)).nnz:
                m = m + magnetic_on_metal(own, factors, coefficients)
            lost += 0.5 * eta.real * np.vdot(j, weighted_gram(own.space, own.space, loss.real) @ j).real
            electric.append(VectorFunction(own.space, j, "electric surface current", unit))
            magnetic.append(VectorFunction(own.space, m, "magnetic surface current", "V/m"))
        outer = self.skeleton.unbounded
        sources = (magnetic[outer],) if magnetic[outer].coefficients.any() else ()
        radiating = RadiatingCurrents(self.wavenumber, impedance, (electric[outer],), sources)
        names, wired = ("wired_regions", "region_wires", "wire_powers"), {}
        if self._wiring is not None:
            through = coefficients[self._before_wires :] / eta
            lost += self._wiring.lost(through)
            radiating = self._wiring.radiating(radiating, through)
            on_surfaces = coefficients[: self._before_wires] / eta
            wired = dict(zip(names, self._wiring.inside(through, on_surfaces), strict=True))
        given: Any = {
            "electric_currents": tuple(electric), "magnetic_currents": tuple(magnetic), "regions": self.media,
            "names": tuple(self.regions), "leaving": leaving, "unbounded": outer, "metal_power": float(lost),
            **wired,
        }  # fmt: skip
        if is_fed:
            return self._fed_solution(data, coefficients / eta, info, radiating, given)
        solution = CompositeSolution(data, info, radiating, **given)
        warn_of_remainder(solution, self._probes, "refine the mesh; near a resonance of a body errors are many times "
                          "those of other frequencies")  # fmt: skip
        return solution

    @cached_property
    def _probes(self) -> NDArray[np.float64]:
        """Points in bounded regions, in which the currents of the region around extinguish the incident wave."""
        closed = self.skeleton.walls[self.skeleton.unbounded].closed
        if closed is None:
            return np.zeros((0, 3))
        found = probe_points(closed.turned(np.ones(closed.number_of_triangles, bool)))
        return found[located(self.skeleton.walls, found) >= 0]

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"waves in {', '.join(self.regions)}"

    @property
    def _details(self) -> tuple[str, ...]:
        return (
            f"wavenumber {self.wavenumber:.6g} 1/m in {self._around}",
            f"{self.elements_per_wavelength:.1f} elements per wavelength where it is shortest",
        )

    @property
    def _discretisation(self) -> str:
        return f"(RWG) on {self.mesh.number_of_triangles} triangles of {len(self.surfaces)} surfaces"
