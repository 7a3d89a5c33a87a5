"""Bodies of other fluids, side by side or one within another, through whose surface or a part of it sound passes, and
rigid ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.acoustic.fluid_bodies import bodies_of, places_of, spread, summed
from calderon.formulations.acoustic.fluid_equations import (
    SURROUNDINGS,
    Body,
    Column,
    FluidBody,
    RigidBody,
    Vessel,
    equations,
    inverses,
    sides_of,
)
from calderon.formulations.acoustic.scattering import ScatteringProblem
from calderon.formulations.acoustic.scattering_solution import ScatteringSolution
from calderon.formulations.checks import warn_thin, wavenumber_and_frequency
from calderon.formulations.linear_system import LinearSystem, block_diagonal
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Helmholtz
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn_of_accuracy
from calderon.potentials import Potential, double_layer_potential, single_layer_potential
from calderon.spaces import Function, Loads, Space
from calderon.spaces.lagrange import discontinuous
from calderon.spaces.mirror_images import MirroredFunctions, stacked
from calderon.validation import finite_complex, wavenumber_of_a_wave


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
    not touch, side by side or one within another (coats, bladders): tables {tag or its name: number} of what is
    directly inside of each closed surface, with every tag of the mesh, density_ratio over the density around all;
    numbers are for all bodies, then side by side. The equations of nested fluids are in the chapter on theory.

    rigid: tags (numbers or names) of sound-hard bodies next to those of fluid or inside, not in the tables. There
    t = 0, and with the sums over all surfaces the equation is that of Burton and Miller, eta = i / Re k,

        (I/2 - K_e + eta D_e) u + |k| (V_e + eta K'_e) q          = u_inc + eta du_inc/dn.

    The whole has one solution for real wavenumbers: of a null vector the field in rigid bodies has u + eta du/dn = 0,
    and is 0; in those of fluid the argument above holds for each alone. Rigid tags of a body that has fluid tags, too,
    are rigid parts of its wall, with sound on both sides: equations of the first kind (`fluid_equations.py`, and the
    chapter on theory), space "P1", on meshes that are fine at the boundary of the rigid part.

    mirrors: as of `ScatteringProblem`, not for bodies with rigid parts of their walls.

    C. Mueller, Grundprobleme der mathematischen Theorie elektromagnetischer Schwingungen (1957); R. Kress and
    G. F. Roach, J. Math. Phys. 19 (1978) 1433.
    """

    interior_wavenumber: complex | Mapping[int | str, complex] = None  # type: ignore[assignment]
    density_ratio: complex | Mapping[int | str, complex] = None  # type: ignore[assignment]
    interior_speed_of_sound: float | Mapping[int | str, float] | None = field(default=None, kw_only=True)
    rigid: int | str | Sequence[int | str] = field(default=(), kw_only=True)

    title: ClassVar[str] = "scattering by a body of another fluid"
    unknown: ClassVar[str | None] = None

    def _wavenumbers_inside(self) -> Any:
        """The wavenumber inside, or a table of them, from what is given."""
        k, speed = self.interior_wavenumber, self.interior_speed_of_sound

        def inside(k: Any, speed: Any) -> complex | float:
            frequency = None if speed is None else self.frequency
            return wavenumber_and_frequency(k, frequency, speed, "interior_speed_of_sound", "interior_wavenumber")[0]

        if any(isinstance(each, Mapping) and not each for each in (k, speed, self.density_ratio)):
            raise ValueError("a table of fluids is empty: give one number, or {tag: number} for each closed surface")
        tags = next((each for each in (k, speed) if isinstance(each, Mapping)), None)
        return inside(k, speed) if tags is None else {tag: inside(_of(k, tag), _of(speed, tag)) for tag in tags}

    def _check_fields(self) -> None:
        object.__setattr__(self, "interior_wavenumber", self._wavenumbers_inside())
        if self.rigid_tags and len(self.rigid_tags) < len(np.unique(self.mesh.tags)):
            warn_thin(self.surface.whole.restricted(self.rigid_tags))
        if self.density_ratio is None:
            raise TypeError("FluidTransmission needs density_ratio=, the density inside over that outside")
        given = self.density_ratio
        table = {tag: _ratio(each) for tag, each in given.items()} if isinstance(given, Mapping) else _ratio(given)
        object.__setattr__(self, "density_ratio", table)
        if self.mirrors and any(isinstance(body, Vessel) for body in self._bodies):
            raise ValueError(
                "bodies of fluid with walls of which a part is rigid have no mirrors: solve on mesh.mirrored(plane)"
            )

    @cached_property
    def rigid_tags(self) -> tuple[int, ...]:
        """The tags of rigid bodies, as numbers."""
        none = not isinstance(self.rigid, str) and np.size(self.rigid) == 0
        return () if none else tuple(self.mesh.tag_numbers(self.rigid).tolist())

    @cached_property
    def _bodies(self) -> list[Body]:
        media = self.wavenumber, self.interior_wavenumber, self.density_ratio
        return bodies_of(self.function_space, *media, self.rigid_tags)

    @property
    def fluids(self) -> tuple[FluidBody | Vessel, ...]:
        """The fluid of each body: one, or one for each tag of the tables."""
        return tuple(each for each in self._bodies if isinstance(each, FluidBody | Vessel))

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """With rigid bodies, or rigid parts of walls, "osrc" of these, and "mass" of bodies of fluid; "mass"."""
        return ("osrc", "mass") if self.rigid_tags else ("mass",)

    def _osrc(self, precision: str) -> LinearOperator:
        """OSRC of rigid bodies and walls, the inverse mass matrix of bodies of fluid."""
        parts = [part for body in self._bodies for part in inverses(body, self.wavenumber, precision)]
        parts = self._on_part(parts) if self.mirrors else parts
        return block_diagonal([(part.shape[0], part.dot) for part in parts], np.dtype(np.complex128))

    def _on_part(self, inverses: list[LinearOperator]) -> list[LinearOperator]:
        """Inverses on the whole, of one column or of those of a body, as those of the part."""
        found, columns = list[LinearOperator](), list(self._functions)
        for each in inverses:
            count = next(n for n in (1, 2) if sum(f.space.dimension for f in columns[:n]) == each.shape[0])
            found.append(stacked(columns[:count]).inverse(each))
            columns = columns[count:]
        return found

    @property
    def _resolved(self) -> list[tuple[TriangleMesh, complex]]:
        found = []
        for body in self._bodies:
            around = self.wavenumber if body.parent == SURROUNDINGS else self._bodies[body.parent].wavenumber  # type: ignore[attr-defined]
            inside = getattr(body, "wavenumber", around)
            own = np.unique(self.surface.whole.tags[body.surface.triangles])
            part = self.mesh if len(self._bodies) == 1 else self.mesh.restricted(own.tolist())
            found.append((part, max(around, inside, key=abs)))
        return found

    def at(self, wavenumber: complex) -> Self:
        """This problem at another wavenumber, all in the same ratio (fluids without dispersion)."""
        k, factor = self.interior_wavenumber, wavenumber_of_a_wave(wavenumber) / self.wavenumber
        inside: Any = {tag: value * factor for tag, value in k.items()} if isinstance(k, Mapping) else k * factor
        return replace(self, wavenumber=wavenumber, interior_wavenumber=inside, frequency=None)

    def _build_system(self) -> LinearSystem:
        fluids = ", ".join(f"k inside {f.wavenumber:.6g} 1/m, density ratio {f.density_ratio:.4g}" for f in self.fluids)
        text = f"Mueller's equations for u and du/dn / |k|, {fluids}"
        for body in self._bodies:
            if isinstance(body, RigidBody):
                text += f"; that of Burton and Miller on rigid bodies, eta = {body.eta:.4g} m"
        if any(isinstance(body, Vessel) for body in self._bodies):
            text += "; symmetric ones of the first kind on walls of which a part is rigid"
        spaces = self._functions if self.mirrors else tuple(column.space for column in self._columns)
        return LinearSystem(text, equations(self.green, self._bodies, self.surface), spaces)

    @cached_property
    def _functions(self) -> tuple[MirroredFunctions, ...]:
        """The functions of each column, with their images."""
        return tuple(self.surface.functions(column.space) for column in self._columns)

    @cached_property
    def functions(self) -> MirroredFunctions:
        """The functions of all columns, one after the other, with their images."""
        return stacked(self._functions)

    @property
    def _columns(self) -> list[Column]:
        return [column for body in self._bodies for column in body.columns]

    @cached_property
    def _pieces(self) -> Space:
        """The functions of all triangles for themselves, of which those on parts of the surface are sums."""
        return discontinuous(self.function_space, self.function_space.element.degree)

    @cached_property
    def _loads(self) -> Loads:
        return self._pieces.loads()

    def _rhs(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        parts = []
        for body in self._bodies:
            for row in body.rows(abs(self.wavenumber)):
                trace, slope = (row.trace, row.slope) if body.parent == SURROUNDINGS else (0.0, 0.0)
                parts.append(summed(trace * value + slope * derivative, row.space, self._pieces))
        return np.concatenate(parts)

    def _far_load(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        factors, parts = {"u": derivative, "q": -abs(self.wavenumber) * value, "jump": 0 * value}, []
        for body in self._bodies:
            seen = body.parent == SURROUNDINGS
            parts += [summed(seen * factors[each.kind], each.space, self._pieces) for each in body.columns]
        return np.concatenate(parts)

    def _potentials(self, coefficients: NDArray[Any]) -> tuple[Any, tuple[Potential, ...]]:
        total, slope = self._unknowns(coefficients)
        outer = [(body, -1.0, 1.0) for body in self._bodies if body.parent == SURROUNDINGS]
        return total, self._layers(self.green, outer, total, slope)

    def _layers(
        self, green: Helmholtz, sides: Sequence[tuple[Body, float, complex]], total: Function, slope: Function
    ) -> tuple[Potential, Potential]:
        """The layers of the field in a fluid, from the bodies next to it with the signs and ratios of `sides_of`."""
        values: Any = sum(-sign * self._on(body, total) for body, sign, _ in sides)
        slopes: Any = sum(sign * ratio * self._on(body, slope) for body, sign, ratio in sides)
        return _both_layers(green, replace(total, coefficients=values), replace(slope, coefficients=slopes))

    def _on(self, body: Body, function: Function) -> NDArray[Any]:
        """The coefficients of u or du/dn on one body, 0 on others."""
        whole, surface = function.space is self.function_space, body.surface
        kept = places_of(surface, self.function_space) if whole else self._pieces.dofs[surface.triangles].ravel()
        found = np.zeros_like(function.coefficients)
        found[kept] = function.coefficients[kept]
        return found

    def _unknowns(self, coefficients: NDArray[Any]) -> tuple[Function, Function]:
        """u and du/dn outside; the latter jumps where a rigid part of a wall begins."""
        walls = any(isinstance(body, Vessel) for body in self._bodies)
        space = self.function_space
        value = np.zeros(space.dimension, coefficients.dtype)
        slope = np.zeros((self._pieces if walls else space).dimension, coefficients.dtype)
        for column, part in zip(self._columns, self._parts(coefficients), strict=True):
            if column.kind == "u":
                value[places_of(column.space, space)] = part
            elif column.kind == "q" and walls:
                slope += abs(self.wavenumber) * spread(part, column.space, self._pieces)
            elif column.kind == "q":
                slope[places_of(column.space, space)] = abs(self.wavenumber) * part
        total = Function(space, value, "total pressure", "Pa")
        over = self._pieces if walls else space
        return total, Function(over, slope, "normal derivative of the total pressure", "Pa/m")

    def _parts(self, coefficients: NDArray[Any]) -> list[NDArray[Any]]:
        """Coefficients of each column."""
        return np.split(coefficients, np.cumsum([each.space.dimension for each in self._columns])[:-1])

    def _warn_of_faint_echo(self, residual: float) -> None:
        """AccuracyWarning where the residual, or rounding, is not small compared with the echo of a body much smaller
        than the wavelength, which is (k a)^2 of the wave and comes from slopes of its order."""
        low, high = self.mesh.bounds
        size = abs(self.wavenumber) * float((high - low).max()) / 2
        lost = residual / size + float(np.finfo(float).eps) / size**2
        if lost > 0.02:  # of the echo
            warn_of_accuracy(
                f"the echo of a body of k a = {size:.2g} is about {size**2:.1g} of the wave, and a residual of "
                f"{residual:.1g} leaves it uncertain by {min(lost, 1.0):.1g}: take a smaller rtol, or solver='lu' "
                "(down to k a = 1e-6)"
            )

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> ScatteringSolution:
        self._warn_of_faint_echo(info.residual)
        coefficients = self.functions.extended(coefficients)
        total, slope = self._unknowns(coefficients)
        interior = list[Potential]()
        parts = iter(self._parts(coefficients))
        for number, body in enumerate(self._bodies):
            own = {column.kind: next(parts) for column in body.columns}
            if isinstance(body, Vessel):
                interior += self._in_vessel(body, own, total, slope)
            elif isinstance(body, FluidBody):
                sides = [(other, sides_of(place, other)) for place, other in enumerate(self._bodies)]
                next_to = [(other, *found[number]) for other, found in sides if number in found]
                interior += self._layers(Helmholtz(body.wavenumber), next_to, total, slope)
        layers = self._potentials(coefficients)[1]
        rigid = [
            self.surface.whole.tags[each.surface.triangles] for each in self._bodies if isinstance(each, RigidBody)
        ]
        tags = np.unique(np.concatenate(rigid)).tolist() if rigid else []
        return ScatteringSolution(
            data,
            self.wavenumber,
            info,
            total,
            layers,
            tuple(interior),
            slope,
            self.frequency,
            tuple(tags),
            self.surface.half_space,
        )

    def _in_vessel(
        self, body: Vessel, own: dict[str, NDArray[Any]], total: Function, slope: Function
    ) -> tuple[Potential, Potential]:
        """The layers of the field behind walls of which a part is rigid; 0 elsewhere."""
        green, value = Helmholtz(body.wavenumber), self._on(body, total)
        value[places_of(body.wall, self.function_space)] -= own["jump"]
        slopes = body.density_ratio * abs(self.wavenumber) * spread(own["q"], body.opening, self._pieces)
        return _both_layers(green, replace(total, coefficients=-value), replace(slope, coefficients=slopes))


def _both_layers(green: Helmholtz, value: Function, slope: Function) -> tuple[Potential, Potential]:
    return double_layer_potential(green, value), single_layer_potential(green, slope)


def _of(given: Any, tag: int | str) -> Any:
    """The entry of a table, or a number for all."""
    return given.get(tag) if isinstance(given, Mapping) else given


def _ratio(given: Any) -> complex | float:
    """A density ratio with a positive real part."""
    ratio = finite_complex(given, "density_ratio")
    if ratio.real <= 0:
        raise ValueError(f"density_ratio (inside over outside) must be positive, got {given!r}")
    return ratio.real if ratio.imag == 0 else ratio
