"""Transient Maxwell problems by a nodal discontinuous Galerkin method."""

import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import Device, Execution, require_memory
from calderon.dg.domain import Domain, domain, listed
from calderon.dg.operator.boundary import completed
from calderon.dg.operator.reference import reference_tetrahedron
from calderon.dg.results.far_field import enclosed
from calderon.dg.results.periodic import PeriodicFields
from calderon.dg.results.probe import Probe
from calderon.dg.results.snapshots import Snapshots
from calderon.dg.results.tissue import require_tissue
from calderon.dg.results.transform import LastPeriods, RunningTransform
from calderon.dg.run.checkpoint import RunKey, problem_of, signals_of, sums
from calderon.dg.run.content import frequency_content
from calderon.dg.run.observer import Observer, Recorder, Span
from calderon.dg.run.ranks import execution_of_rank, ranks_of, warn_once
from calderon.dg.run.run import Listener, Run, progress_of
from calderon.dg.run.sampling import (
    require_period,
    sampling,
    steps_until,
    warn_resolution,
    warn_skin_depth,
)
from calderon.dg.run.saving import Checkpoints
from calderon.dg.sources.port import Port, divisor
from calderon.dg.stepping.leap_frog import CentredLeapFrog
from calderon.dg.stepping.local_leap_frog import LocalLeapFrog
from calderon.dg.stepping.on_device import DeviceLeapFrog, DeviceRungeKutta
from calderon.dg.stepping.runge_kutta import UpwindRungeKutta
from calderon.dg.stepping.system import System
from calderon.mesh import Material, TetrahedralMesh
from calderon.parallel import Communicator, agreed, require_same
from calderon.quadrature import tetrahedron_rule
from calderon.validation import one_of, one_or_more_points, unmasked, whole_number
from calderon.waves import TransientPlaneWave

Field = Callable[[NDArray[np.float64], float], ArrayLike]
"""f(points (n, 3), t) -> (n, 3)."""
AnyObserver = TypeVar("AnyObserver", bound=Observer)


class Scheme(NamedTuple):
    """A flux with its time stepping: the systems on processors and on devices. fields: the peak number of arrays like E
    and H, in the search for the step; measured on boxes, degrees 1 to 4; one more for several lengths of steps."""

    system: type[System]
    on_device: Callable[[Domain, Device], System]
    fields: int


FLUXES = {
    "centred": Scheme(CentredLeapFrog, DeviceLeapFrog, fields=5),
    "upwind": Scheme(UpwindRungeKutta, DeviceRungeKutta, fields=12),
}


class MaxwellDG:
    """epsilon dE/dt = curl H - sigma E, mu dH/dt = -curl E on a tetrahedral mesh, by polynomials of one degree on each
    element.

    order: 1 to 6. flux: "centred" (with leap-frog: conserves a discrete energy, error of order h^p) or "upwind" (with a
    fourth-order low-storage Runge-Kutta method, h^(p+1)). courant: the step as a fraction of the stability limit, which
    is computed from the spectral radius. materials {name: Material} by the names of the mesh ("air" and "vacuum" need
    none); with them everything is in SI units, without them epsilon = mu = 1. boundaries {name: "pec", "pmc" or
    "absorbing"}; names of the mesh that are not given are "pec". sources: incident plane waves, which enter through the
    absorbing faces, and driven currents (`CurrentSource`, `CurrentDipole`), whose current, voltage and power are
    recorded at every step in ports {name: Port}. precision: "double" or "single". time_step: instead of courant, in the
    unit of time. communicator: ranks that share the mesh, by default all that mpiexec started; each makes the same
    calls and gets the same results. local_time_stepping: small elements take two, four or more steps while the others
    take one (centred flux, on processors); `time_step` and its limit then are the longest steps. progress: show how far
    the search for the limit is, or a function that is called with the parts of it done and all parts.

    Raises ValueError for an unknown choice, a material or boundary that the mesh does not have, or a step
    above the limit.

    Source: J. Hesthaven and T. Warburton, Nodal Discontinuous Galerkin Methods (Springer, 2008).
    """

    def __init__(
        self,
        mesh: TetrahedralMesh,
        order: int,
        flux: str = "centred",
        courant: float = 0.9,
        materials: Mapping[str, Material] | None = None,
        boundaries: Mapping[str, str] | None = None,
        sources: Sequence[Any] = (),
        *,
        time_step: float | None = None,
        local_time_stepping: bool = False,
        precision: str = "double",
        backend: str = "numba",
        communicator: Communicator | None = None,
        progress: bool | Listener = False,
    ) -> None:
        if not isinstance(mesh, TetrahedralMesh):
            raise TypeError(
                f"a mesh of tetrahedra is needed, got {type(mesh).__name__}: see cal.mesh.box, mesh.read_tetrahedra"
            )
        # the same choices on all ranks, checked before anything is computed
        choices = {"order": order, "flux": flux, "courant": courant, "precision": precision, "time_step": time_step}
        choices |= {"boundaries": boundaries, "materials": materials, "local_time_stepping": local_time_stepping}
        ranks = ranks_of(communicator, mesh, **choices)
        execution = execution_of_rank(backend, precision, ranks)
        check_stepping(flux, courant, local_time_stepping, execution, backend)
        reference = reference_tetrahedron(whole_number(order, "order", 1, 6))
        self.mesh, self.order, self.flux, self.precision = mesh, reference.order, flux, precision
        # memory, which all ranks together must have; tables and their input take 1500 bytes per tetrahedron
        fields = FLUXES[flux].fields + int(local_time_stepping)
        self.memory = (fields * 3 * reference.size * execution.real.itemsize + 1500) * mesh.number_of_tetrahedra
        """Approximate bytes of the fields and their tables, on all ranks together."""
        what = f"P{self.order} on {mesh.number_of_tetrahedra} tetrahedra"
        advice = "use a lower order, a coarser mesh or precision='single'"
        agreed(ranks, lambda: require_memory(self.memory, what, advice))
        # nothing has been observed yet
        self.sources, self.backend, self.time = listed(sources), execution.name, 0.0
        self._observers: list[Observer] = []
        self._initial: NDArray[np.float64] | None = None
        self._fresh = False
        # materials, boundaries and loads by element, and the part of this rank
        with warn_once(ranks):
            given = completed(mesh, boundaries)
            parts = mesh, reference, execution.real, materials, given, self.sources, ranks
            self._domain = domain(*parts, local_time_stepping)
        self._problem = problem_of(mesh, materials, given, self.sources)
        self.medium, self._element_blocks = self._domain.medium, self._domain.element_blocks
        # the discrete operator, ports, and the largest stable step
        self._system = agreed(ranks, lambda: system_of(flux, self._domain, execution))
        self._scales = {"electric": 1.0, "magnetic": self.medium.impedance}
        self.ports = {each.name: Port(each, self._system.voltage, ranks) for each in self._domain.loads}
        self._densities = {name: each.density for name, each in (materials or {}).items()}
        with progress_of(progress, "the largest stable step", self._system.trials, ranks.rank) as report:
            done = itertools.count(1)
            self._limit = self._system.limit(lambda: report(next(done))) / self.medium.speed
        self.time_step = chosen_step(courant, time_step, self._limit)

    @property
    def time_step_limit(self) -> float:
        """The largest stable step, from the spectral radius of the discrete operator."""
        return self._limit

    @property
    def elements_by_step(self) -> tuple[int, ...]:
        """Tetrahedra that take `time_step`, half of it, a quarter and so on."""
        return self._domain.classes.counts

    @property
    def updates_per_step(self) -> float:
        """How often an unknown is advanced in `time_step`, on average: 1 if all elements take it."""
        return self._domain.classes.work

    @property
    def saving(self) -> float:
        """Factor of work saved against one step for all elements."""
        return self._system.saving

    @property
    def number_of_unknowns(self) -> int:
        """6 field components at every node of every element."""
        return 6 * self.mesh.number_of_tetrahedra * self._element_blocks.reference.size

    @property
    def memory_of_amplitudes(self) -> int:
        """Additional bytes that `run_until_periodic` needs, on all ranks together."""
        return int(self._domain.communicator.total(np.int64(LastPeriods.memory(self._domain))))

    def set_fields(self, electric: Field, magnetic: Field) -> None:
        """Set E and H at the present time from functions f(points (n, 3), t) -> (n, 3). ValueError for another shape,
        NaN or infinity."""
        points = self._element_blocks.points()
        for name, function in (("electric", electric), ("magnetic", magnetic)):
            values = _values(name, function, points, self.time)
            if not np.isfinite(values).all():
                raise ValueError(f"the {name} field gave NaN or infinity")
            getattr(self._system, name)[:] = self._element_blocks.covariant(self._scales[name] * values).ravel()
        self._initial, self._fresh = None, True

    def add_probe(self, points: ArrayLike, stride: int = 1) -> Probe:
        """Record E and H at points (n, 3) at every `stride`-th step of the runs that follow."""
        return self._observed(Probe(points, self._domain, self.mesh, stride))

    def add_snapshots(self, folder: str | os.PathLike[str], stride: int, first: int = 1) -> Snapshots:
        """Write E and H on the whole mesh into a folder at every `stride`-th step, from step `first` on, of the next
        run, for ParaView."""
        return self._observed(Snapshots(folder, stride, first, self._domain, self.mesh))

    def add_transform(self, frequencies: ArrayLike, stride: int = 1) -> RunningTransform:
        """Fourier transforms of both fields on the whole mesh at frequencies in Hz, from every `stride`-th step of the
        runs that follow: amplitudes at several frequencies from one run with a pulse."""
        transform = RunningTransform(self._domain, frequencies, stride, self._system.h_offset, self._spectrum)
        transform.require_samples(self.time_step)
        warn_resolution(self._domain, float(transform.frequencies.max()))
        warn_skin_depth(self._domain, float(transform.frequencies.max()))
        return self._observed(transform)

    def _observed(self, observer: AnyObserver) -> AnyObserver:
        """The observer, which records in all runs that follow."""
        self._observers.append(observer)
        return observer

    def _spectrum(
        self,
        frequency: float,
        electric: NDArray[np.complexfloating],
        magnetic: NDArray[np.complexfloating],
        per: complex | str | None,
    ) -> PeriodicFields:
        """The transform of a run as amplitudes."""
        ports = {name: port.spectrum(frequency) for name, port in self.ports.items()}
        known = self._densities, self.mesh, self._domain
        whole = PeriodicFields(frequency, math.nan, ports, None, *known, electric, magnetic)
        return whole.scaled(1 / divisor(self.ports, per, frequency))

    def run(
        self,
        until: float,
        progress: bool | Listener = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float = 60.0,
        keep_checkpoint: bool = False,
    ) -> None:
        """Advance both fields to the time `until`, in equal steps of at most `time_step`. A MeshWarning reports
        elements of conductors that are too long for the fields of the sources, or for initial fields that were set.

        progress: show a bar with the time left; or a function that is called with the steps done and all steps.
        checkpoint: an HDF5 file, written about every `checkpoint_seconds`. If it exists already, the run continues
        from it and ends with the same numbers as without the interruption, those of probes included; the file of
        another run is refused. SIGINT (Ctrl-C), SIGTERM and SIGHUP take effect when the present step is done and
        written to the file; a second signal at once. If the file cannot be written, since the disk is full, a warning
        reports it, the run goes on, and a later state is tried. The file is removed when the run is done, unless
        keep_checkpoint: then it holds the last state, and the same call ends there at once. Raises the errors of
        `read_checkpoint`, and RuntimeError after a run that was not finished and left no checkpoint.
        """
        span, count = steps_until(until, self.time, self.time_step)
        if count:
            self._warn_of_conductors(Span(self.time, span / count, count))
            self._advance(span / count, count, progress, (), (checkpoint, checkpoint_seconds, keep_checkpoint))
        self.time = float(until)

    def _warn_of_conductors(self, span: Span) -> None:
        """Warn with a MeshWarning where elements are too long for waves and their skin in conductors, at the
        frequencies of a run: of its sources, and of fields that were set before it."""
        system, fresh, self._fresh = self._system, self._fresh, False
        if self.medium.speed == 1 or not self._domain.communicator.total(np.int64(self.medium.loss.any())):
            return
        fields = (system.electric, system.magnetic) if fresh else ()
        if frequency := frequency_content(self._domain, fields, span):
            warn_resolution(self._domain, frequency)
            warn_skin_depth(self._domain, frequency)

    def _advance(
        self,
        step: float,
        count: int,
        progress: bool | Listener,
        more: Sequence[Observer],
        saved: tuple[str | os.PathLike[str] | None, float, bool],
    ) -> None:
        """Steps with all actions between them. saved: the checkpoint, its interval, and whether it is kept."""
        # what tells this run from others, and the fields at its begin, for the checkpoint
        observers, ports = [*self._observers, *more], list(self.ports.values())
        recorders: list[Recorder] = [*observers, *ports]
        span = Span(self.time, step, count)
        exact = self._problem | {"order": self.order, "flux": self.flux, "precision": self.precision}
        exact |= {"classes": " ".join(map(str, self.elements_by_step))} | vars(span)
        exact |= {"observers": "; ".join(each.label for each in recorders)}
        require_same(self._domain.communicator, exact)
        known = np.zeros((0, 0)), np.zeros((0, 0))
        if saved[0] is not None:
            known = signals_of(self._domain.loads, span), self._initial_fields()
        checkpoints = Checkpoints(*saved, RunKey(exact, *known), self._domain.communicator)
        # the run itself
        run = Run(self._system, self._domain, span, observers, ports, courant=step / self._limit)
        text = f"{count} steps, P{self.order}, {self.number_of_unknowns} unknowns"
        with progress_of(progress, text, count, self._domain.communicator.rank) as report, checkpoints.held():
            run.advance(report, checkpoints)
        self._initial = None

    def _initial_fields(self) -> NDArray[np.float64]:
        """Sums over E and H by which a checkpoint knows the fields at the begin of a run; they are kept if a run was
        interrupted, since it left other fields."""
        if self._initial is None:
            system = self._system
            self._initial = np.stack([sums(each, self._domain) for each in (system.electric, system.magnetic)])
        return self._initial

    def run_until_periodic(
        self,
        frequency: float,
        periods: int = 12,
        progress: bool | Listener = False,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float = 60.0,
        keep_checkpoint: bool = False,
    ) -> PeriodicFields:
        """Advance by `periods` periods and return the complex amplitudes of the last one.

        The step is shortened so that a whole number of them makes a period; at least 24 of these enter the
        discrete Fourier transform. progress, checkpoint, keep_checkpoint: as in `run`.
        """
        # steps that divide the period, and what would make its amplitudes wrong
        plan = sampling(frequency, self.time_step)
        periods = whole_number(periods, "periods", 2)
        require_period(self.sources, frequency)
        total = plan.steps_in(periods)
        warn_resolution(self._domain, frequency)
        warn_skin_depth(self._domain, frequency)
        # the run, which sums the last period; H is ahead of E by half a step in leap-frog
        turn = np.exp(2j * np.pi * frequency * plan.step * self._system.h_offset)
        last = LastPeriods(self._domain, frequency, plan.samples, plan.stride, total, turn)
        self._advance(plan.step, total, progress, (last,), (checkpoint, checkpoint_seconds, keep_checkpoint))
        self.time += total * plan.step
        # amplitudes of ports, and of the wave if it is the only source
        fields = last.electric, last.magnetic
        ports = {name: port.amplitudes(frequency, plan.steps) for name, port in self.ports.items()}
        waves = [each for each in self.sources if isinstance(each, TransientPlaneWave)]
        amplitude = waves[0].amplitude if len(waves) == len(self.sources) == 1 else None
        return PeriodicFields(
            frequency, last.change(), ports, amplitude, self._densities, self.mesh, self._domain, *fields
        )

    def require_surface(self) -> None:
        """Raise ValueError, before a run, where the mesh has no closed surface for far fields."""
        enclosed(self._domain, self.mesh, None, None)

    def require_tissue(self, mass: float, voxel: float) -> None:
        """Raise ValueError or MemoryError, before a run, where `PeriodicFields.averaged_sar` would have too little
        tissue or memory."""
        require_tissue(self.mesh, self._densities, mass, voxel)

    def steps_per_period(self, frequency: float) -> int:
        """Steps that `run_until_periodic` takes in each period."""
        return sampling(frequency, self.time_step).steps

    def electric(self, points: ArrayLike) -> NDArray[np.float64]:
        """(n, 3) E at points (n, 3) of the mesh. ValueError for points outside."""
        return self._at(points, "electric")

    def magnetic(self, points: ArrayLike) -> NDArray[np.float64]:
        """(n, 3) H at points (n, 3) of the mesh. ValueError for points outside."""
        return self._at(points, "magnetic")

    def energy(self) -> float:
        """Integral of (epsilon E^2 + mu H^2) / 2; in J with materials."""
        return sum(self._system.energy()) / (self.medium.impedance * self.medium.speed)

    def l2_error(self, electric: Field, magnetic: Field) -> float:
        """sqrt of the integral of |E - E_exact|^2 + |Z0 (H - H_exact)|^2 (Z0 = 1 without materials) at this time, by a
        quadrature of degree 2 order + 2."""
        rule = tetrahedron_rule(2 * self.order + 2)
        points = self._element_blocks.at(rule.points)
        interpolation = self._element_blocks.reference.interpolation(rule.points)
        total = 0.0
        for name, function in (("electric", electric), ("magnetic", magnetic)):
            exact = self._scales[name] * _values(name, function, points, self.time)
            squares = ((interpolation @ self._vectors(name) - exact) ** 2).sum(axis=2) @ rule.weights
            total += float(squares @ np.abs(self._element_blocks.determinants))
        return math.sqrt(self._domain.communicator.total(np.float64(total)))

    def _at(self, points: ArrayLike, name: str) -> NDArray[np.float64]:
        """(n, 3) values of "electric" or "magnetic" at points, as the user has them."""
        values = self._domain.values_at(self.mesh, self._vectors(name), one_or_more_points(points))
        return np.asarray(values / self._scales[name], np.float64)

    def _vectors(self, name: str) -> NDArray[np.float64]:
        """(elements, n, 3) E or Z0 H at the nodes."""
        return self._element_blocks.vectors(getattr(self._system, name).reshape(self._element_blocks.shape))

    def __repr__(self) -> str:
        halved = self._domain.classes.deepest
        stepping = f", halved up to {halved} times, {self.saving:.1f} times less work" if halved else ""
        return (
            f"MaxwellDG(P{self.order}, {self.flux} flux, {self.mesh.number_of_tetrahedra} tetrahedra, "
            f"{self.number_of_unknowns} unknowns, {self.precision}, {self.backend}, step {self.time_step:.4g}"
            f"{' s' if self.medium.speed != 1 else ''}{stepping})"
        )


def _values(name: str, function: Field, points: NDArray[np.float64], time: float) -> NDArray[np.float64]:
    """Values (..., 3) of a user's function f(points (n, 3), time) at points (..., 3). ValueError for others than real
    numbers of this shape; name: of the field in messages."""
    if not callable(function):
        raise ValueError(f"{name}={function!r}: a function f(points (n, 3), t) -> (n, 3) is needed")
    values = unmasked(function(points.reshape(-1, 3), time), f"the {name} field")
    if values.dtype.kind not in "fiub":
        raise ValueError(f"the {name} field gave {values.dtype} values: real numbers are needed")
    if values.shape != (points.size // 3, 3):
        raise ValueError(f"the {name} field gave shape {values.shape}: {(points.size // 3, 3)} is needed")
    return values.astype(np.float64).reshape(points.shape)


def check_stepping(flux: str, courant: float, local: bool, execution: Execution, backend: str) -> None:
    """Raise ValueError for an unknown flux, an invalid fraction of the limit, or local steps where there are none."""
    one_of(flux, FLUXES, "flux")
    if isinstance(courant, bool) or not (isinstance(courant, Real) and 0 < courant <= 1):
        raise ValueError(f"courant={courant!r}: a fraction of the stability limit, above 0 and at most 1, is needed")
    if not isinstance(local, bool):
        raise ValueError(f"local_time_stepping={local!r}: True or False is needed")
    if local and flux != "centred":
        raise ValueError(f"local_time_stepping=True with flux={flux!r}: only flux='centred' supports it")
    if local and execution.devices:
        raise ValueError(f"local_time_stepping=True on backend={backend!r}: only backend='numba' supports it")


def system_of(flux: str, domain: Domain, execution: Execution) -> System:
    """The system at rest; one with several lengths of steps if the domain has classes."""
    if execution.devices:
        return FLUXES[flux].on_device(domain, *execution.devices)
    return LocalLeapFrog(domain) if domain.classes.deepest else FLUXES[flux].system(domain)


def chosen_step(courant: float, time_step: float | None, limit: float) -> float:
    """A fraction of the limit, or the requested step. ValueError for a step above the limit."""
    if time_step is None:
        return courant * limit
    if not (isinstance(time_step, Real) and 0 < time_step <= limit):
        raise ValueError(
            f"time_step={time_step!r}: a positive number is needed, up to the stability limit of this mesh and order, "
            f"{limit:.6g}: choose a smaller step, or omit it and choose courant"
        )
    return float(time_step)
