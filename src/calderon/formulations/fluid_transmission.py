"""Bodies of other fluids, through whose surface sound passes, and rigid ones next to them."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.checks import separate_parts, warn_thin
from calderon.formulations.combined import ROOT_ERROR, hard_on_a_plane, usual_coupling
from calderon.formulations.linear_system import LinearSystem, SolutionInfo, SolveOptions, mass_preconditioner
from calderon.formulations.media.fluids import Fluid, Part, mueller, parts_of
from calderon.formulations.media.wavenumbers import wavenumber_and_frequency
from calderon.formulations.preconditioners import Preconditioner
from calderon.formulations.scattering import ScatteringProblem
from calderon.formulations.scattering_solution import ScatteringSolution
from calderon.greens import Helmholtz
from calderon.mesh import AccuracyWarning
from calderon.onsurface import osrc_dtn
from calderon.potentials import Potential, double_layer_potential, single_layer_potential
from calderon.spaces import Function
from calderon.validation import callers_level, finite_complex

LARGEST_ECHO_ERROR = 0.02  # fraction of an echo that may be lost without a warning


@dataclass(frozen=True, eq=False)
class FluidTransmission(ScatteringProblem):
    """Total field u and slope t = du/dn (outside) on a fluid body; u and (1/rho) du/dn are continuous.

    With q = t / |k| and r = density_ratio (indices e outside, i inside), by equations of Mueller's kind, in which the
    hypersingular parts cancel, so that the system is of the second kind:

        (I - K_e + K_i) u + |k| (V_e - r V_i) q                  = u_inc
        s (D_e - D_i) u / |k| + (I + s (K'_e - r K'_i)) q        = s du_inc/dn / |k|,   s = 2 / (1 + r).

    The first row is the sum of the representations outside and inside, the second the difference of their normal
    derivatives. It has one solution for real wavenumbers and for loss inside: a null vector would be a field with the
    media exchanged and the density ratio 1.

    interior_wavenumber: omega over the speed of sound inside, Im > 0 for loss; or interior_speed_of_sound= in m/s, with
    frequency=. density_ratio: inside over outside,
    positive (complex for a lossy equivalent fluid). space: "P1" or "P2". Several bodies of different fluids, which must
    not touch: tables {tag or its name: number} of these, with every tag of the mesh; numbers are for all bodies.

    rigid: tags (numbers or names) of sound-hard bodies next to those of fluid, without entries in the tables. There
    t = 0, and with the sums over all surfaces the equation is that of Burton and Miller, eta = i / Re k,

        (I/2 - K_e + eta D_e) u + |k| (V_e + eta K'_e) q          = u_inc + eta du_inc/dn.

    The whole has one solution for real wavenumbers: of a null vector the field in rigid bodies has u + eta du/dn = 0,
    and is 0; in those of fluid the argument above holds for each alone.

    C. Mueller, Grundprobleme der mathematischen Theorie elektromagnetischer Schwingungen (1957); R. Kress and
    G. F. Roach, J. Math. Phys. 19 (1978) 1433.
    """

    interior_wavenumber: complex | Mapping[int | str, complex] = None  # type: ignore[assignment]
    density_ratio: complex | Mapping[int | str, complex] = None  # type: ignore[assignment]
    interior_speed_of_sound: float | Mapping[int | str, float] | None = field(default=None, kw_only=True)
    rigid: int | str | Sequence[int | str] = field(default=(), kw_only=True)

    title: ClassVar[str] = "scattering by a body of another fluid"
    unknown: ClassVar[str | None] = None

    @property
    def _medium(self) -> dict[str, Any]:
        outside, names = super()._medium, ("interior_speed_of_sound", "interior_wavenumber")

        def inside(k: Any, speed: Any) -> complex | float:
            frequency = None if speed is None else outside["frequency"]
            return wavenumber_and_frequency(k, frequency, speed, *names)[0]

        k, speed = self.interior_wavenumber, self.interior_speed_of_sound
        tags = [*k] if isinstance(k, Mapping) else [*speed] if isinstance(speed, Mapping) else None
        if tags is None:
            return {**outside, "interior_wavenumber": inside(k, speed)}
        return {**outside, "interior_wavenumber": {tag: inside(_of(k, tag), _of(speed, tag)) for tag in tags}}

    def _check_fields(self) -> None:
        super()._check_fields()
        separate_parts(self.mesh, "FluidTransmission")
        if self.rigid_tags and len(self.rigid_tags) < len(np.unique(self.mesh.tags)):
            warn_thin(self.mesh.restricted(self.rigid_tags))
        if self.density_ratio is None:
            raise TypeError("FluidTransmission needs density_ratio=, the density inside over that outside")
        for fluid in self.fluids:
            if finite_complex(fluid.density_ratio, "density_ratio").real <= 0:
                raise ValueError(f"density_ratio (inside over outside) must be positive, got {fluid.density_ratio!r}")

    @cached_property
    def rigid_tags(self) -> tuple[int, ...]:
        """The tags of rigid bodies, as numbers."""
        none = not isinstance(self.rigid, str) and np.size(self.rigid) == 0
        return () if none else tuple(self.mesh.tag_numbers(self.rigid).tolist())

    @cached_property
    def _parts(self) -> tuple[tuple[Fluid, ...], Part | None]:
        return parts_of(self.function_space, self.interior_wavenumber, self.density_ratio, self.rigid_tags)

    @property
    def fluids(self) -> tuple[Fluid, ...]:
        """The fluid of each body: one, or one for each tag of the tables."""
        return self._parts[0]

    @property
    def _coupling(self) -> complex:
        return usual_coupling(self.wavenumber)

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """With rigid bodies "osrc", of these, and "mass" of those of fluid; "mass"."""
        return ("osrc", "mass") if self.rigid_tags else ("mass",)

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        if not options.preconditioned_by("osrc"):
            return options
        return replace(options, preconditioner=self._osrc("single" if options.precision == "single" else "double"))

    def _osrc(self, precision: str) -> Preconditioner:
        """OSRC of the rigid bodies, the inverse mass matrix of those of fluid."""
        rigid, fluids = self._parts[1], tuple(fluid.space for fluid in self.fluids)
        assert rigid is not None
        masses = mass_preconditioner(fluids + fluids)
        cut, size = masses.shape[0], self.unknowns

        def inverse() -> LinearOperator:
            dtn = osrc_dtn(rigid.space, self.wavenumber, error=ROOT_ERROR, precision=precision)
            hard = hard_on_a_plane(dtn, self._coupling).inverse().tested

            def both(x: NDArray[Any]) -> NDArray[Any]:
                return np.concatenate([masses @ x[:cut], hard @ x[cut:]])

            return LinearOperator((size, size), matvec=both, matmat=both, dtype=np.dtype(np.complex128))

        return Preconditioner("OSRC of rigid bodies, mass of fluid ones", size, inverse)

    @property
    def _largest_wavenumber(self) -> complex:
        k = self.interior_wavenumber
        return max(self.wavenumber, *(k.values() if isinstance(k, Mapping) else [k]), key=abs)

    def at(self, wavenumber: complex) -> Self:
        """The same problem at another wavenumber, all in the same ratio (fluids without dispersion)."""
        k, factor = self.interior_wavenumber, wavenumber / self.wavenumber
        inside: Any = {tag: value * factor for tag, value in k.items()} if isinstance(k, Mapping) else k * factor
        return replace(self, wavenumber=wavenumber, interior_wavenumber=inside, frequency=None)

    def _build_system(self) -> LinearSystem:
        fluids, rigid = self._parts
        spaces = tuple(fluid.space for fluid in fluids)
        inside = ", ".join(f"k inside {f.wavenumber:.6g} 1/m, density ratio {f.density_ratio:.4g}" for f in fluids)
        if rigid is not None:
            inside += f"; that of Burton and Miller on rigid bodies, eta = {self._coupling:.4g} m"
        operator = mueller(self.green, fluids, rigid, self._coupling)
        walls = () if rigid is None else (rigid.space,)
        return LinearSystem(f"Mueller's equations for u and du/dn / |k|, {inside}", operator, spaces + spaces + walls)

    def _rhs(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        fluids, rigid = self._parts
        slopes = [fluid.scale / abs(self.wavenumber) * derivative[fluid.places] for fluid in fluids]
        walls = [] if rigid is None else [(value + self._coupling * derivative)[rigid.places]]
        return np.concatenate([*(value[fluid.places] for fluid in fluids), *slopes, *walls])

    def _far_load(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        fluids, rigid = self._parts
        jumps = [-abs(self.wavenumber) * value[fluid.places] for fluid in fluids]
        walls = [] if rigid is None else [derivative[rigid.places]]
        return np.concatenate([*(derivative[fluid.places] for fluid in fluids), *jumps, *walls])

    def _potentials(self, coefficients: NDArray[Any]) -> tuple[Any, tuple[Potential, ...]]:
        total, slope = self._unknowns(coefficients)
        return total, (double_layer_potential(self.green, total), single_layer_potential(self.green, -1 * slope))

    def _unknowns(self, coefficients: NDArray[Any]) -> tuple[Function, Function]:
        space, (fluids, rigid) = self.function_space, self._parts
        order = np.concatenate([fluid.places for fluid in fluids])
        value, scaled = np.zeros(space.dimension, coefficients.dtype), np.zeros(space.dimension, coefficients.dtype)
        value[order], scaled[order], walls = np.split(coefficients, [len(order), 2 * len(order)])
        if rigid is not None:
            value[rigid.places] = walls
        total = Function(space, value, "total pressure", "Pa")
        slope = abs(self.wavenumber) * scaled
        return total, Function(space, slope, "normal derivative of the total pressure", "Pa/m")

    def _warn_of_faint_echo(self, residual: float) -> None:
        """AccuracyWarning where the residual, or rounding, is not small compared with the echo of a body much smaller
        than the wavelength, which is (k a)^2 of the wave and comes from slopes of its order."""
        low, high = self.mesh.bounds
        size = abs(self.wavenumber) * float((high - low).max()) / 2
        lost = residual / size + float(np.finfo(float).eps) / size**2
        if lost > LARGEST_ECHO_ERROR:
            warnings.warn(
                f"the echo of a body of k a = {size:.2g} is about {size**2:.1g} of the wave, and a residual of "
                f"{residual:.1g} leaves it uncertain by {min(lost, 1.0):.1g}: take a smaller rtol, or solver='lu' "
                "(down to k a = 1e-6)",
                AccuracyWarning,
                stacklevel=callers_level(),
            )

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> ScatteringSolution:
        self._warn_of_faint_echo(info.residual)
        total, slope = self._unknowns(coefficients)
        interior = []
        for fluid in self.fluids:
            inside, own = Helmholtz(fluid.wavenumber), np.zeros(self.function_space.dimension)
            own[fluid.places] = 1
            values, slopes = (replace(each, coefficients=own * each.coefficients) for each in (total, slope))
            interior += [
                double_layer_potential(inside, -1 * values),
                single_layer_potential(inside, fluid.density_ratio * slopes),
            ]
        layers = self._potentials(coefficients)[1]
        return ScatteringSolution(
            data,
            self.mesh,
            self.wavenumber,
            info,
            total,
            layers,
            tuple(interior),
            slope,
            self.frequency,
            self.rigid_tags,
        )


def _of(given: Any, tag: int | str) -> Any:
    """The entry of a table, or a number for all."""
    return given.get(tag) if isinstance(given, Mapping) else given
