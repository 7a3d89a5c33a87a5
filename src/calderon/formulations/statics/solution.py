"""A static field in regions of several materials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import Quantity
from calderon.data.samples import SampledField
from calderon.formulations.saving.solution_file import SavedSolution
from calderon.formulations.solution_info import SolutionInfo
from calderon.formulations.statics.equation import green_of
from calderon.formulations.statics.forces import by_tag, force_densities
from calderon.formulations.statics.loads import Source, regions_of
from calderon.formulations.statics.magnetic import magnetic_field
from calderon.formulations.statics.posed import Excitation, Posed
from calderon.formulations.statics.region import Kind, Region
from calderon.formulations.statics.surface_values import strengths
from calderon.mesh.errors import warn, warn_of_accuracy
from calderon.potentials import Potential, double_layer_potential, single_layer_potential
from calderon.potentials.near_evaluation import digits_of, off_surface
from calderon.potentials.surface_field import warn_on_surface
from calderon.quadrature import triangle_rule
from calderon.spaces import P0, Function
from calderon.validation import of_any_shape, one_or_more_points, one_point
from calderon.view import Described, Scene, Viewable
from calderon.waves import CurrentPath, PointCharge, StaticDipole, UniformField

MOLECULAR = 1e-6 / 1.6e-17
"""Diameter in m of a body over the largest charge in it in C, 1 um and 100 elementary charges, above which a solvation
energy is probably of a mesh in Angstrom."""


@dataclass(frozen=True, eq=False)
class StaticSolution(SampledField, SavedSolution, Viewable, Described):
    """The potential u of a static field, by what it is on all surfaces.

    posed: the regions, materials and electrodes. info: the record of the solver. surface: u on the skeleton. fluxes:
    a du/dn on both sides of it, of the region with the lower number and of the other one, n out of the region.
    potentials, totals: by electrode the potential in V (of iron in A) and the charge in C, or of conductors the current
    in A that it feeds in.
    sources: what was given in regions.
    """

    posed: Posed
    info: SolutionInfo
    surface: Function
    fluxes: tuple[Function, Function]
    potentials: Mapping[str, float]
    totals: Mapping[str, float]
    sources: tuple[Source, ...]

    saved_classes: ClassVar[Sequence[type]] = (Region, PointCharge, StaticDipole, UniformField, CurrentPath)

    @classmethod
    def of(
        cls,
        posed: Posed,
        given: Excitation,
        x: NDArray[np.float64],
        charges: NDArray[np.float64],
        info: SolutionInfo,
    ) -> Self:
        """The solution of unknowns x (n,), with the charges of electrodes."""
        unknowns, kind = posed.functions, posed.kind
        values, sides = unknowns.on_skeleton(x)
        sides = sides + unknowns.given_fluxes(given.densities) / kind.factor
        surface = Function(unknowns.potentials, values, "potential", kind.potential)
        parts = [
            Function(
                unknowns.fluxes, kind.factor * each, f"{kind.flux_name} into region, side {side + 1}", kind.density
            )
            for side, each in enumerate(sides)
        ]
        names = list(posed.electrodes)
        potentials = dict(zip(names, x[: len(names)].tolist(), strict=True)) | dict(given.voltages)
        totals = dict(zip(names, charges.tolist(), strict=True))
        return cls(posed, info, surface, (parts[0], parts[1]), potentials, totals, given.sources)

    @property
    def kind(self) -> Kind:
        """The kind of the materials, with units."""
        return self.posed.kind

    @cached_property
    def layers(self) -> tuple[tuple[Potential, ...], ...]:
        """Potentials by region, whose sum is u without the sources of the region."""
        found = []
        sides = np.concatenate([each.coefficients for each in self.fluxes]) / self.kind.factor
        for traces in self.posed.functions.traces:
            region = traces.surface.region
            green = green_of(region)
            parts = [single_layer_potential(green, Function(traces.fluxes, sides[traces.places] / region.constant))]
            if traces.potentials is not None:
                parts.append(
                    double_layer_potential(green, Function(traces.potentials, -self.surface.coefficients[traces.nodes]))
                )
            found.append(tuple(parts))
        return tuple(found)

    @cached_property
    def _source_regions(self) -> list[int]:
        return regions_of(self.sources, self.posed.skeleton)

    @of_any_shape
    def field(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.float64]:
        """The potential (n,) in V (of iron in A) at points (n, 3), on surfaces the mean of the regions at both sides;
        NaN in metal and where no region is; in the region of a coil without its part, H = H_coil - grad u. Backend and
        precision as for `Potential.evaluate`."""
        return self._at(points, False, backend, precision)

    @of_any_shape
    def gradient(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.float64]:
        """-E, or -H with that of coils, (n, 3); as `field`. On surfaces, where it may jump, a warning says so."""
        return self._at(points, True, backend, precision)

    def field_strength(self, points: ArrayLike) -> NDArray[np.float64]:
        """E (n, 3) in V/m, of iron H in A/m, at points (n, 3): minus the gradient."""
        return np.asarray(-self.gradient(points))

    @of_any_shape
    def flux_density(self, points: ArrayLike) -> NDArray[np.float64]:
        """-a grad u (n, 3) at points (n, 3): D in C/m^2, J in A/m^2 or B in T."""
        constants = np.array([each.constant for each in self.posed.skeleton.regions.values()])
        return self._at(points, True, "numba", "double", -self.kind.factor * constants)

    def _at(
        self,
        points: ArrayLike,
        gradient: bool,
        backend: str,
        precision: str,
        factors: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """u or grad u, times a factor of each region; at points on surfaces the mean of their sides that have a
        field."""
        given, mesh = one_or_more_points(points), self.posed.mesh
        surface = mesh.flat_triangles(np.arange(mesh.number_of_triangles), "a static field")
        sides = off_surface(surface, given, digits_of(points))
        if gradient:
            warn_on_surface(given, sides.on)
        x = sides.points
        found = np.full((len(x), 3) if gradient else len(x), np.nan)
        where = self.posed.skeleton.located(x)
        for number in range(len(self.layers)):
            own = np.flatnonzero(where == number)
            if len(own):
                values = self._reaction(number, x[own], gradient, backend, precision)
                values = values + self._of_sources(number, x[own], gradient)
                found[own] = values * (1.0 if factors is None else factors[number])
        if not len(sides.on):
            return found
        known = ~np.isnan(found)
        with np.errstate(invalid="ignore"):  # 0 / 0 where neither side has a field
            return np.asarray(sides.means(np.where(known, found, 0.0)) / sides.means(known.astype(float)))

    def _reaction(
        self, number: int, x: NDArray[np.float64], gradient: bool, backend: str = "numba", precision: str = "double"
    ) -> NDArray[np.float64]:
        """u or grad u of the layers of a region at points in it."""
        name = "gradient" if gradient else "evaluate"
        return np.sum([getattr(each, name)(x, backend, precision) for each in self.layers[number]], axis=0)

    def _of_sources(
        self, number: int, x: NDArray[np.float64], gradient: bool, but: Source | None = None
    ) -> NDArray[np.float64]:
        """u or grad u of the sources of a region there, all but one."""
        region = list(self.posed.skeleton.regions.values())[number]
        total = np.zeros((len(x), 3) if gradient else len(x))
        for each, where in zip(self.sources, self._source_regions, strict=True):
            if where == number and each is not but:
                if isinstance(each, CurrentPath):
                    total -= each.magnetic_field(x) if gradient else 0.0
                elif isinstance(each, UniformField):
                    total += each.gradient(x) if gradient else each.potential(x)
                else:
                    function = each.gradient if gradient else each.potential
                    total += function(x, region.decay) / (self.kind.factor * region.constant)
        return total

    @of_any_shape
    def magnetic_field(self, points: ArrayLike) -> NDArray[np.float64]:
        """B (n, 3) in T at points (n, 3) off the surfaces, of current dipoles in conductors and of the currents that
        they drive, as outside of a head (statics/magnetic.py). ValueError for other materials and sources, and for
        currents that enter, whose wires are not known."""
        if self.kind.name != "conductivity":
            raise ValueError("a magnetic field is that of currents, in regions with conductivity=")
        entering = any(self.totals.values()) or self.density.coefficients.any()
        dipoles = [each for each in self.sources if isinstance(each, StaticDipole)]
        if entering or self.posed.electrodes or len(dipoles) < len(self.sources):
            raise ValueError(
                "a magnetic field is that of current dipoles: electrodes, points and walls where currents enter have "
                "wires, whose field is not known"
            )
        return magnetic_field(self.posed, self.surface, dipoles, one_or_more_points(points))

    @property
    def energy(self) -> float:
        """1/2 sum U Q of electrodes, 1/2 sum q u of point charges, without the energy of each by itself, and 1/2 of the
        integral of the density of charge of walls times u, in J.
        ValueError for conductors of current, and in uniform fields, whose energy has no bound."""
        if self.kind.name == "conductivity":
            raise ValueError("currents dissipate power: take dissipated_power")
        return 0.5 * self._work()

    @property
    def dissipated_power(self) -> float:
        """sum U I of electrodes, and sum I u of currents that enter at points and walls, in W; ValueError for other
        materials."""
        if self.kind.name != "conductivity":
            raise ValueError("power is dissipated by currents, in regions with conductivity=: take energy")
        return self._work()

    def _work(self) -> float:
        others = [each for each in self.sources if not isinstance(each, PointCharge)]
        if others:
            kind = type(others[0]).__name__
            raise ValueError(f"energy and power are those of electrodes, point charges and densities, not of a {kind}")
        total = sum(self.potentials[name] * self.totals[name] for name in self.totals)
        for each, number in zip(self.sources, self._source_regions, strict=True):
            x = each.position[None]  # type: ignore[union-attr]
            own = self._reaction(number, x, False) + self._of_sources(number, x, False, each)
            total += each.charge * float(own[0])  # type: ignore[union-attr]
        rule = triangle_rule(2 * self.surface.space.scalar.element.degree)
        free = np.flatnonzero(self.posed.skeleton.electrode_of < 0)
        density = self.density.values(rule.points)[free] * self.posed.mesh.geometry(free).weights(rule)
        return float(total + (density * self.surface.values(rule.points)[free]).sum())

    @property
    def solvation_energy(self) -> float:
        """1/2 sum q u_r of point charges in J, u_r the potential of what surrounds their region: the energy less that
        of the same charges in the material of their region everywhere. 1 kcal/mol is 6.9477e-21 J."""
        charges = [each for each in self.sources if isinstance(each, PointCharge)]
        if not charges or len(charges) < len(self.sources) or self.totals or self.density.coefficients.any():
            raise ValueError(
                "a solvation energy is that of point charges alone, without electrodes and densities: "
                "solve(sources=[cal.PointCharge(...)])"
            )
        largest = max(abs(each.charge) for each in charges)
        if self.posed.mesh.diameter > MOLECULAR * largest:
            warn(
                f"charges up to {largest:.3g} C in a body of {self.posed.mesh.diameter:.3g} m: check the units, "
                "mesh.scaled(1e-10) of Angstrom is in m"
            )
        numbers = self._source_regions
        parts = (
            c.charge * self._reaction(n, c.position[None], False)[0] for c, n in zip(charges, numbers, strict=True)
        )
        return 0.5 * float(sum(parts))

    def force_on_sources(self) -> NDArray[np.float64]:
        """(sources, 3) forces in N on point charges: q E of everything but the charge itself. ValueError for other
        sources."""
        forces = []
        for each, number in zip(self.sources, self._source_regions, strict=True):
            if not isinstance(each, PointCharge) or self.kind.name != "permittivity":
                raise ValueError(f"forces are those on point charges between dielectrics, got a {type(each).__name__}")
            x = each.position[None]
            slope = self._reaction(number, x, True) + self._of_sources(number, x, True, each)
            forces.append(-each.charge * slope[0])
        return np.array(forces).reshape(-1, 3)

    def forces(self) -> dict[str, NDArray[np.float64]]:
        """Forces (3,) in N by the name of the tag of walls (its number as text where it has none), on bodies behind
        them: on materials by the jump of their constants, on metal by its charge. With those on point charges they sum
        to 0, up to the error of the mesh; a warning says where metal meets walls of materials at edges. Those on sheets
        within a region, of which the sum of both sides is known, are left out. ValueError for conductors of current."""
        densities, _, weights = self._force_densities()
        return by_tag(self.posed, np.einsum("tqk,tq->tk", densities, weights))

    def torques(self, centre: ArrayLike = (0.0, 0.0, 0.0)) -> dict[str, NDArray[np.float64]]:
        """Torques (3,) in N m about a centre (3,), of the forces of `forces`."""
        densities, points, weights = self._force_densities()
        arms = points - one_point(centre, "the centre of torques")
        return by_tag(self.posed, np.einsum("tqk,tq->tk", np.cross(arms, densities), weights))

    def _force_densities(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        if self.kind.name == "conductivity":
            raise ValueError("forces are those on charges, dielectrics and iron, not on conductors of current")
        free = (self.posed.skeleton.electrode_of < 0) & (self.posed.skeleton.sides >= 0).all(axis=1)
        if self.density.coefficients.reshape(len(free), -1)[free].any():
            raise ValueError("forces are not those on walls between materials with a given density of charge")
        edges = self.posed.mesh.triangle_edges
        if meet := len(np.intersect1d(edges[free], edges[self.posed.skeleton.electrode_of >= 0])):
            warn_of_accuracy(
                f"metal meets walls between materials at {meet} edges, where fields grow without bound as meshes get "
                "finer: forces converge slowly there, or not; compare two meshes, or take the change of energy when a "
                "body is moved"
            )
        return force_densities(self.posed, self.surface, self.fluxes)

    @cached_property
    def density(self) -> Function:
        """The free charge of surfaces in C/m^2, the sum of both sides, which is 0 but on metal; of conductors the
        current in A/m^2 that electrodes feed in."""
        name = "current density" if self.kind.name == "conductivity" else "charge density"
        one, other = self.fluxes
        return Function(one.space, one.coefficients + other.coefficients, name, self.kind.density)

    @cached_property
    def surface_strength(self) -> Function:
        """|E| on surfaces in V/m, of iron |H| in A/m, on each triangle that of the side where it is larger."""
        values = strengths(self.posed, self.surface, self.fluxes)
        return Function(P0(self.posed.mesh), values, f"|{self.kind.field_name}|", self.kind.field)

    @property
    def largest_strengths(self) -> dict[str, float]:
        """The largest `surface_strength` by electrode. At edges of metal it grows without bound as meshes get finer."""
        values, electrode_of = self.surface_strength.coefficients, self.posed.skeleton.electrode_of
        return {name: float(values[electrode_of == n].max()) for n, name in enumerate(self.posed.electrodes)}

    @property
    def charge_errors(self) -> dict[str, float]:
        """Estimated errors, by electrode, of integrals of the flux: half their difference from `totals`, which are
        accurate to twice the order. In C or A."""
        posed, found = self.posed, {}
        electrode_of = posed.skeleton.electrode_of[self.fluxes[0].space.triangles]
        for number, name in enumerate(posed.electrodes):
            total = 0.0
            for each in self.fluxes:
                own = np.repeat(electrode_of == number, each.space.scalar.element.size)
                loads = np.repeat(posed.mesh.areas, each.space.scalar.element.size) / each.space.scalar.element.size
                total += float(each.coefficients[own] @ loads[own])
            found[name] = abs(total - self.totals[name]) / 2
        return found

    def scene(self) -> Scene:
        """The potential on all surfaces."""
        return replace(self.surface.scene(), subtitle=self.posed.title)

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(self.posed.skeleton.located(points) >= 0)

    def _fields_at(self, points: NDArray[np.float64]) -> list[Quantity]:
        kind = self.kind
        return [
            Quantity("potential", self.field(points), kind.potential, "potential"),
            Quantity(kind.field_name, self.field_strength(points), kind.field, f"{kind.field_name}", vector=True),
        ]

    def _record(self) -> dict[str, Any]:
        given = {name: getattr(self.posed, name) for name in ("regions", "electrodes", "outside", "space")}
        return super()._record() | {"posed": given}

    @classmethod
    def _restored(cls, values: dict[str, Any]) -> Self:
        """The solution of the problem that the values describe, posed again on the surfaces of its potential."""
        posed = Posed(values["surface"].space.mesh, **values["posed"])
        spaces = posed.functions.potentials, posed.functions.fluxes, posed.functions.fluxes
        functions = []
        for space, one in zip(spaces, (values["surface"], *values["fluxes"]), strict=True):
            if one.space.name != space.name or one.coefficients.dtype != np.float64:
                raise ValueError(f"a {one.label} in {one.space!r}")
            functions.append(Function(space, one.coefficients, one.label, one.unit))
        given = {**values, "posed": posed, "surface": functions[0], "fluxes": (functions[1], functions[2])}
        return super()._restored(given)

    def _require_consistent(self) -> None:
        for each in (self.potentials, self.totals):
            if list(each) != list(self.posed.electrodes) or not all(isinstance(v, float) for v in each.values()):
                raise ValueError("values of other electrodes than those of the problem")
        regions_of(self.sources, self.posed.skeleton)

    @property
    def brief(self) -> str:
        """The solution as a record: what was solved, and how well."""
        return f"{self.posed.title}, {self.info.brief}"

    def __str__(self) -> str:
        kind = self.kind
        lines = [f"  {name}: {self.potentials[name]:.6g} {kind.potential}, {self.totals[name]:.6g} {kind.charge}"
                 for name in self.totals]  # fmt: skip
        return "\n".join([self.posed.title, *lines, str(self.info)])
