"""Metal between the layers of a stack, with ports."""

import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from calderon.backends import require_memory
from calderon.exact.angular import RECEIVERS
from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.fft import assemble_fft
from calderon.formulations.electromagnetic.antenna_feed import DeltaGap
from calderon.formulations.electromagnetic.feeds import reference_resistance
from calderon.formulations.electromagnetic.low_frequency import SMALL, CurrentSplitting, splitting_of
from calderon.formulations.planar.echo import POLARIZATIONS, PlanarEcho, monostatic, received_from
from calderon.formulations.planar.edge_port import EdgePort
from calderon.formulations.planar.ends import require_ends
from calderon.formulations.planar.layered_currents import LayeredCurrents
from calderon.formulations.planar.line_modes import LineWave, line_parameters
from calderon.formulations.planar.line_port import LinePort, LineWaves
from calderon.formulations.planar.low_frequency import DenseSplit, IterativeSplit, balanced
from calderon.formulations.planar.lumped import Lumped
from calderon.formulations.planar.plan import PlanarPlan, plan_of
from calderon.formulations.planar.planar_system import (
    METHODS,
    Bordered,
    DenseSystem,
    IterativeSystem,
    chosen_method,
    compressed,
)
from calderon.formulations.planar.port_sweep import PortSweep, adaptive_sweep, scattering
from calderon.formulations.planar.probe import ProbePort, probe_matrix, warn_of_planes
from calderon.formulations.planar.radiator import Complex, Radiator
from calderon.formulations.planar.solution import PlanarSolution
from calderon.layers import Conductor, Stack, SurfaceImpedance
from calderon.layers.parts import FLAT, UPRIGHT, feet_of
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import AccuracyWarning, MeshError
from calderon.operators.layered import LayeredElectricField, layered_electric_field
from calderon.quadrature import Quadrature
from calderon.solvers.iteration import tolerance
from calderon.spaces import RWG, EdgeSpace, VectorFunction, half_functions
from calderon.validation import (
    callers_level,
    describe,
    finite_numbers,
    instance,
    list_of,
    one_of,
    positive_length,
    real_number,
    whole_number,
)
from calderon.view import Described

EDGES_PER_WAVELENGTH = 8
GRID = ("spacing", "order", "near", "precision")
ANY = 1e9
"""A frequency for what does not depend on it."""
STEADY = 1e-8
"""Error of conductances where Green's functions at rest stand for those of a low frequency, over `HELD`."""
COARSE = "edges of up to"
"""Beginning of the warning of coarse meshes."""
Port = ProbePort | EdgePort | DeltaGap | LinePort
System = DenseSystem | IterativeSystem | DenseSplit | IterativeSplit


PORTS = "ports are a list of ProbePort, EdgePort, DeltaGap and LinePort"


@dataclass(frozen=True, eq=False)
class PlanarProblem(Described):
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
    of the stack. method: "dense", with LU factors (10,000 unknowns take 1.6 GB); "fft", pre-corrected FFT, or
    "hmatrix", an H-matrix with blocks to 10 rtol, with GMRES to the residual `rtol`; "auto", what is expected to
    be faster and fits; `info` of solutions says which. grid: options of "fft",
    spacing=, order= and near=. Raises MeshError for metal off every interface, ValueError for ports that the metal or
    the stack does not have.
    """

    stack: Stack
    mesh: TriangleMesh
    ports: Sequence[Port] = ()
    sheet: complex | SurfaceImpedance | Conductor = field(default=0.0, kw_only=True)
    loads: Sequence[Lumped] = field(default=(), kw_only=True)
    quadrature: Quadrature = field(default_factory=Quadrature, kw_only=True)
    method: str = field(default="auto", kw_only=True)
    rtol: float = field(default=1e-6, kw_only=True)
    grid: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        instance(self.stack, Stack, "the layers must be a Stack")
        instance(self.mesh, TriangleMesh, "a planar problem needs a TriangleMesh")
        one_of(self.method, METHODS, "method")
        tolerance(self.rtol)
        if not isinstance(self.grid, Mapping) or set(self.grid) - set(GRID):
            raise TypeError(f"options of the grid are a mapping with the keys {', '.join(GRID)}, got {self.grid!r}")
        object.__setattr__(self, "ports", list_of(self.ports, Port, PORTS))
        for one, other in itertools.combinations(self.probes, 2):
            if np.hypot(*np.subtract(one.place, other.place)) < one.radius + other.radius:
                raise ValueError(f"probes at {one.place!r} and {other.place!r} m touch: move one of them")
        if not isinstance(self.sheet, SurfaceImpedance | Conductor):
            object.__setattr__(self, "sheet", SurfaceImpedance(self.sheet))
        loads = (self.loads,) if isinstance(self.loads, Lumped) else tuple(self.loads)
        if not all(isinstance(each, Lumped) for each in loads):
            raise TypeError(f"loads are a list of Lumped, got {describe(self.loads)}")
        object.__setattr__(self, "loads", loads)
        overlap = np.count_nonzero(np.count_nonzero(np.hstack([self.weights, self.load_weights]), axis=1) > 1)
        if overlap:
            raise ValueError(f"ports and loads share {overlap} edges: each edge belongs to one of them at most")

    @property
    def _has_lines(self) -> bool:
        return any(isinstance(port, LinePort) for port in self.ports)

    @property
    def _is_flat(self) -> bool:
        """Whether no metal is vertical."""
        return bool(np.all(np.abs(self.mesh.normals[:, 2]) >= UPRIGHT))

    @property
    def probes(self) -> list[ProbePort]:
        """The ports that are probes."""
        return [port for port in self.ports if isinstance(port, ProbePort)]

    @cached_property
    def height(self) -> float:
        """z in m of the lowest horizontal metal, where probes end; the top of the stack if there is none."""
        flat = self.mesh.triangles[np.abs(self.mesh.normals[:, 2]) >= UPRIGHT]
        if not len(flat):
            return self.stack.top
        z = float(self.mesh.vertices[flat, 2].min())
        faces = self.stack.interfaces
        nearest = float(faces[np.abs(faces - z).argmin()])
        if abs(nearest - z) > FLAT * np.ptp(self.mesh.vertices, axis=0).max():
            heights = ", ".join(f"{1e3 * face:g}" for face in faces)
            raise MeshError(
                f"the lowest metal is at z = {1e3 * z:g} mm, and interfaces of the stack are at {heights} mm: move the "
                f"mesh, for example by z=stack.top, here {self.stack.top:g} m, or split the layer at its height"
            )
        return nearest

    @cached_property
    def _metal(self) -> EdgeSpace:
        """RWG functions of the metal, with contacts, and those that flow into walls."""
        mesh = self.mesh
        if self.probes and not self._is_flat:
            raise ValueError(
                "ProbePort is a thin current next to horizontal metal alone: with vertical metal, let the probe be a "
                "planar.via with an EdgePort(around=(x, y, radius))"
            )
        require_ends(self.stack, mesh, ANY)
        warn_of_planes(self.probes, mesh, self.stack, self.height)
        for probe in self.probes:
            mesh = probe.inserted(mesh, self.height)
        feet = feet_of(self.stack.at(ANY), mesh)
        return half_functions(mesh, feet) if len(feet) else RWG(mesh)

    @cached_property
    def function_space(self) -> EdgeSpace:
        """RWG functions of the metal, with contacts, those that flow into walls, and the currents of probes."""
        space = self._metal
        for probe in self.probes:
            space = probe.attached(space, self.height)
        return space

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """(dimension, ports): the currents of the ports are weights^T coefficients."""
        whole, dimension = self._metal, self.function_space.dimension
        out = np.zeros((dimension, len(self.ports)))
        probes = iter(range(whole.dimension, dimension))
        for number, port in enumerate(self.ports):
            if isinstance(port, ProbePort):
                out[next(probes), number] = 1
            else:
                out[: whole.dimension, number] = port.weights(whole)
        return out

    @cached_property
    def load_weights(self) -> NDArray[np.float64]:
        """(dimension, loads), as `weights`."""
        whole, out = self._metal, np.zeros((self.function_space.dimension, len(self.loads)))
        for number, load in enumerate(self.loads):
            out[: whole.dimension, number] = load.gap.weights(whole)
        return out

    def matrix(self, frequency: float, charges: bool = True) -> NDArray[np.complex128]:
        """<f_i, E(f_j)> for eta0 = 1 at `frequency` in Hz, of all functions and currents of probes; symmetric. charges:
        whether with the field of charges."""
        self._warn_of_coarse_meshes(frequency)
        out: NDArray[np.complex128] = self._field(frequency, self.function_space, charges).assemble().to_array()
        if count := len(self.probes):
            columns = probe_matrix(self.probes, self.stack.at(frequency), self.function_space, self.height)
            out[:, -count:] += columns
            out[-count:, :-count] += columns[:-count].T
        local = self._local_part(frequency).tocoo()
        out[local.coords] += local.data
        return out

    def _field(self, frequency: float, space: EdgeSpace, charges: bool = True) -> LayeredElectricField:
        return layered_electric_field(self.stack, frequency, space, quadrature=self.quadrature, charges=charges)

    def _local_part(self, frequency: float) -> sp.csr_array:
        """What the sheet impedance and loads add to entries, of functions with common triangles."""
        sheet: Any = self.sheet
        space = self.function_space
        impedance = sheet.impedance(frequency) / VACUUM_IMPEDANCE
        out = -impedance * space.mass_matrix() if impedance else sp.csr_array((space.dimension,) * 2, dtype=complex)
        for load, weights in zip(self.loads, self.load_weights.T, strict=True):
            across = sp.csr_array(weights[:, None])
            out = out - load.impedance(frequency) / VACUUM_IMPEDANCE * (across @ across.T)
        return sp.csr_array(out)

    def _bordered(self, frequency: float, method: str, charges: bool = True) -> Bordered:
        """By pre-corrected FFT or an H-matrix of functions of horizontal metal, with all others as columns."""
        self._warn_of_coarse_meshes(frequency)
        space, flat, others = self.function_space, self._horizontal, self._others
        require_memory(32 * space.dimension * len(others), "columns of vertical metal", "use method='dense'")
        local = self._local_part(frequency)
        columns = np.zeros((space.dimension, len(others)), complex)
        if len(others):
            columns += local[:, others].toarray()
            columns += self._field(frequency, space, charges).columns(others)
        if count := len(self.probes):
            columns[:, -count:] += probe_matrix(self.probes, self.stack.at(frequency), space, self.height)
        own = sp.csr_array(local[flat][:, flat])
        field = self._field(frequency, self._metal.of_functions(flat), charges)
        operator = assemble_fft(field, local=own, **self.grid) if method == "fft" else compressed(field, own, self.rtol)
        return Bordered(operator, columns, np.concatenate([flat, others]), field, own)

    @cached_property
    def _horizontal(self) -> NDArray[np.int64]:
        """Numbers of the functions of horizontal metal alone."""
        space = self._metal
        return np.flatnonzero((space.sides >= 0).all(axis=1) & ~self._is_upright[space.pairs].any(axis=1))

    @cached_property
    def _others(self) -> NDArray[np.int64]:
        """Numbers of all others, those of probes last."""
        return np.setdiff1d(np.arange(self.function_space.dimension), self._horizontal)

    @cached_property
    def _touched(self) -> NDArray[np.int64]:
        """Numbers of the layers next to metal, and those that probes pass."""
        mesh, sections = self._metal.mesh, self.stack.at(ANY)
        z = mesh.vertices[mesh.triangles, 2]
        touched = sections.touching(z.min(axis=1), z.max(axis=1), FLAT * float(np.ptp(mesh.vertices, axis=0).max()))
        passed = np.flatnonzero(sections.high <= self.height) if self.probes else touched
        return np.union1d(touched, passed)

    @cached_property
    def _is_upright(self) -> NDArray[np.bool_]:
        """By triangles, those of contacts included."""
        return np.asarray(np.abs(self._metal.mesh.normals[:, 2]) < UPRIGHT)

    def currents(self, frequency: float) -> NDArray[np.complex128]:
        """Coefficients (dimension, ports) for 1 V at one port after the other, 0 V at the others."""
        return self._port_currents(frequency)[0]

    def _port_currents(self, frequency: float) -> tuple[Complex, System]:
        """The same, and what they were computed by."""
        if not self.ports:
            raise ValueError("this problem has no ports: give some in ports=, or use scatter(frequency, theta, phi)")
        system = self._solved(frequency)
        return system(-self.weights / VACUUM_IMPEDANCE), system

    def plan(self, frequency: float) -> PlanarPlan:
        """What a solution at `frequency` in Hz will take, before memory is taken: the method that "auto" stands for and
        why, unknowns, bytes and seconds."""
        field = self._field(frequency, self._metal.of_functions(self._horizontal))
        return plan_of(self._chosen(frequency), field, self.function_space.dimension, self.rtol, self.grid)

    def _chosen(self, frequency: float) -> tuple[str, str]:
        """The method, and why."""
        extent = float(np.linalg.norm(np.ptp(self.mesh.vertices[:, :2], axis=0)))
        wavelengths = extent * self.stack.at(frequency).densest / (2 * np.pi)
        method, why = chosen_method(self.method, self.function_space.dimension, len(self._others), wavelengths)
        if method != "dense" and not len(self._horizontal):
            raise ValueError(f"method {method!r} is for horizontal metal, and all is vertical: use method='dense'")
        return method, why

    def _solved(self, frequency: float) -> System:
        """What gives the solutions (dimension, n) of right-hand sides; of metal much smaller than the wavelength with
        loops and charges apart."""
        method, why = self._chosen(frequency)
        k0 = self.stack.at(frequency).k0
        apart = k0 * self.mesh.diameter < SMALL
        if method == "dense":
            whole = self.matrix(frequency)
            if not apart:
                return DenseSystem(whole, why)
            return DenseSplit(self._splitting(k0), self.matrix(frequency, False), whole, why)
        bordered = self._bordered(frequency, method, True)
        if not apart:
            return IterativeSystem(bordered, self.rtol, why)
        currents = self._bordered(frequency, method, False)
        return IterativeSplit(self._splitting(k0), currents, bordered, self.rtol, why)

    def _splitting(self, k0: float) -> CurrentSplitting:
        return splitting_of(self.function_space, k0)

    def admittance_matrix(self, frequency: float) -> NDArray[np.complex128]:
        """Y (p, p) in S at `frequency` in Hz: I = Y U for voltages U at the ports. Symmetric. Conductances below the
        error of the solution are those of the radiated power and of losses in metal."""
        return self._admittances(frequency, *self._port_currents(frequency))

    def _admittances(self, frequency: float, currents: Complex, system: System) -> Complex:
        """The same of the currents for 1 V at one port after the other."""
        found = np.asarray(self.weights.T @ currents)
        if isinstance(system, DenseSystem | IterativeSystem):
            return found
        local = sp.csr_array(-VACUUM_IMPEDANCE * self._local_part(frequency).real)
        given = [lambda u: LayeredCurrents(**self._fields(frequency, currents @ u, system.info)), local]
        hastened = self.stack.at(frequency).hastened(self.mesh.diameter)[1] > 1
        return balanced(found, max(system.error, STEADY if hastened else 0.0), *given)

    def impedance_matrix(self, frequency: float) -> NDArray[np.complex128]:
        """Z = Y^-1 (p, p) in ohm."""
        return np.asarray(np.linalg.inv(self.admittance_matrix(frequency)))

    def scattering_matrix(self, frequency: float, reference: float = 50.0) -> NDArray[np.complex128]:
        """S (p, p) for lines of the impedance `reference` in ohm, of line ports relative to their own impedance;
        textbooks with exp(j omega t) have the conjugate."""
        resistance = reference_resistance(reference)
        if not self._has_lines:
            return scattering(self.admittance_matrix(frequency), resistance)
        currents = self.currents(frequency)
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

    def line_waves(self, frequency: float) -> list[LineWaves]:
        """The waves at each line port for 1 V at one gap after the other; (beta / k0)^2 is the effective permittivity
        of a line."""
        return self._line_waves(frequency, self.currents(frequency))

    def _line_waves(self, frequency: float, currents: Complex) -> list[LineWaves]:
        sections = self.stack.at(frequency)
        limits = 0.9 * sections.k0, 1.1 * sections.densest
        own = currents[: self._metal.dimension]
        return [port.waves(self._metal, own, limits) for port in self.ports if isinstance(port, LinePort)]

    def line_parameters(self, frequency: float) -> list[LineWave]:
        """beta, characteristic impedance and effective permittivity of the infinite line at each line port."""
        faces, found = self.stack.interfaces, dict[tuple[float, float], LineWave]()
        lines = [port for port in self.ports if isinstance(port, LinePort)]
        places = [(port.width, float(faces[np.abs(faces - port.height(self._metal)).argmin()])) for port in lines]
        for width, z in places:
            if (width, z) not in found:
                found[width, z] = line_parameters(self.stack, width, frequency, z)
        return [found[each] for each in places]

    def sweep(
        self, start: float, stop: float, points: int = 201, *, reference: float = 50.0, rtol: float = 1e-3
    ) -> PortSweep:
        """S at `points` frequencies from start to stop in Hz, from as few solved ones as rational functions need that
        differ by less than rtol from those of one frequency less; their error is about a tenth of that."""
        low, high = (positive_length(each, "frequency in Hz") for each in (start, stop))
        if high < low:
            raise ValueError(f"a sweep goes from a lower to a higher frequency, got {start!r} to {stop!r} Hz")
        points = whole_number(points, "points")
        require_memory(16 * points * len(self.ports) ** 2, "a sweep", "choose fewer points")
        tolerance(rtol, example="1e-3")
        frequencies = np.linspace(low, high, points)
        resistance = reference_resistance(reference)
        self._warn_of_coarse_meshes(high)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", COARSE, AccuracyWarning)  # once for all frequencies
            solved = adaptive_sweep(lambda f: self.scattering_matrix(f, resistance), frequencies, resistance, rtol)
        return replace(solved, of_lines=self._has_lines)

    def solve(self, frequency: float, voltages: ArrayLike = 1.0) -> PlanarSolution:
        """Currents and fields at `frequency` in Hz for voltages in V, one number for each port."""
        return self.solve_all(frequency, [voltages])[0]

    def solve_all(self, frequency: float, voltages: Sequence[ArrayLike]) -> list[PlanarSolution]:
        """Solutions as by `solve` for several sets of voltages, with one factorisation: np.eye(p) are the ports one by
        one, with 1 V."""
        if isinstance(voltages, str | bytes) or not isinstance(voltages, Iterable):
            raise TypeError(f"voltages are a list with those of each solution, got {describe(voltages)}")
        checked = [self._voltages(each) for each in voltages]
        currents, system = self._port_currents(frequency)
        admittances, found = self._admittances(frequency, currents, system), []
        for u in checked:
            coefficients = currents @ u
            fields = self._fields(frequency, coefficients, system.info)
            found.append(PlanarSolution(**fields, voltages=u, feed_currents=admittances @ u))
        return found

    def _voltages(self, given: ArrayLike) -> Complex:
        ports = len(self.ports)
        rule = "voltages are finite numbers in V, one of them not zero"
        u = finite_numbers(
            given, ports, "voltages", f"this problem has {ports} port(s): give one voltage for each; {rule}"
        )
        if ports and not u.any():
            raise ValueError(f"{rule}, got {given!r}")
        return u

    def scatter(self, frequency: float, theta: float, phi: float, polarization: str = "V") -> PlanarEcho:
        """Currents at `frequency` in Hz of a plane wave of 1 V/m from the direction (theta, phi) in radians, from above
        or below, polarised along theta-hat ("V") or phi-hat ("H"). Ports are short-circuited.

        Raises ValueError for waves along the layers, and from a side that is a wall or absorbs.
        """
        angles = real_number(theta, "theta in radians"), real_number(phi, "phi in radians")
        along = "VH".index(one_of(polarization, RECEIVERS, "polarization"))
        loads = received_from(self._radiator(frequency), *angles)[0, along]
        system = self._solved(frequency)
        coefficients = system(-loads[:, None] / VACUUM_IMPEDANCE)[:, 0]
        return PlanarEcho(
            **self._fields(frequency, coefficients, system.info), theta=angles[0], phi=angles[1],
            polarization=polarization, feed_currents=self.weights.T @ coefficients, loads=loads,
        )  # fmt: skip

    def monostatic_rcs(
        self, frequency: float, theta: ArrayLike, phi: ArrayLike | None = None, polarization: str = "VV"
    ) -> NDArray[np.float64]:
        """RCS in m^2 that a radar sees in directions as for `exact.unit_directions`, all with one factorisation;
        polarization: of the receiver, then of the transmitter, along theta-hat ("V") or phi-hat ("H")."""
        one_of(polarization, POLARIZATIONS, "polarization")
        return monostatic(self._radiator(frequency), self._solved(frequency), theta, phi, polarization)

    def _radiator(self, frequency: float) -> Radiator:
        places = [each.place for each in self.probes]
        return Radiator(self.stack.at(frequency), self.function_space, self.height, places)

    def _fields(self, frequency: float, coefficients: Complex, info: str) -> dict[str, Any]:
        """The arguments of `LayeredCurrents`."""
        surface = VectorFunction(self.function_space, coefficients, "surface current", "A/m")
        probes = [(each.place, coefficients[n - len(self.probes)]) for n, each in enumerate(self.probes)]
        return {
            "sections": self.stack.at(frequency), "frequency": float(frequency), "surface": surface,
            "height": self.height, "probes": probes, "info": info,
        }  # fmt: skip

    def _warn_of_coarse_meshes(self, frequency: float) -> None:
        """AccuracyWarning for edges above an eighth of the wavelength in the densest medium next to metal."""
        wavelength = 2 * np.pi / self.stack.at(frequency).densest_of(self._touched)
        longest = float(self.mesh.edge_lengths.max())
        if longest > wavelength / EDGES_PER_WAVELENGTH:
            warnings.warn(
                f"{COARSE} {1e3 * longest:.3g} mm are longer than an eighth of the wavelength of "
                f"{1e3 * wavelength:.3g} mm next to the metal: refine the mesh to {1e3 * wavelength / 8:.2g} mm",
                AccuracyWarning,
                stacklevel=callers_level(),
            )

    @property
    def brief(self) -> str:
        """Numbers of ports and unknowns."""
        return f"{len(self.ports)} port(s), {self.function_space.dimension} unknowns"

    def __str__(self) -> str:
        return f"{self.brief} on\n{self.mesh}\n{self.stack}"
