"""Static fields in regions of several materials, between electrodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import SolveChoices, SolveOptions, named_options
from calderon.formulations.preconditioners import Preconditioner
from calderon.formulations.problem import Problem
from calderon.formulations.solution_info import SolutionInfo
from calderon.formulations.statics.equation import StaticEquation
from calderon.formulations.statics.files.fastcap import read_fastcap
from calderon.formulations.statics.files.layout import read_layout
from calderon.formulations.statics.files.layout_stack import LayoutStack
from calderon.formulations.statics.files.openmeeg import read_openmeeg
from calderon.formulations.statics.lead_field import lead_field
from calderon.formulations.statics.loads import Source, density_loads, regions_of, source_loads
from calderon.formulations.statics.posed import Excitation, Posed, warn_of_contrast
from calderon.formulations.statics.preconditioner import static_inverse
from calderon.formulations.statics.region import Kind, Region
from calderon.formulations.statics.skeleton import Skeleton
from calderon.formulations.statics.solution import StaticSolution
from calderon.formulations.statics.sweep import SweptSystem, require_swept, steps_of, with_materials
from calderon.formulations.statics.unknowns import Unknowns
from calderon.mesh import TriangleMesh
from calderon.mesh.sizes import scale_factor
from calderon.spaces.space import Tags
from calderon.validation import describe, list_of, one_of, one_or_more_points, real_number
from calderon.waves import PointCharge

SOURCES = "sources are PointCharge, StaticDipole, UniformField or CurrentPath"
ISOLATED = 1e-12
"""Conductance over the largest one below which electrodes are not connected."""
NET = 1e-9
"""Sum of currents, over their largest, up to which it is 0."""


@dataclass(frozen=True, eq=False)
class StaticProblem(Problem[StaticSolution]):
    """The potential u of a static field in several materials, div(a grad u) = 0 in each region: of charges and metal
    between dielectrics, of currents in conductors, of magnetised iron; a is the permittivity, the conductivity or the
    permeability. u and the flux a du/dn are continuous at walls between regions.

    mesh: all surfaces, which share vertices where they meet (`cal.mesh.joined`). regions: {name: Region(tags, ...)},
    each named by the tags of all surfaces that bound it. electrodes: {name: tags} of metal at one potential: solid
    metal behind a wall, metal between two regions, or sheets. outside: what is around all regions, whose potential is 0
    far away, by default vacuum; None where nothing is there, so that no flux leaves: insulated conductors of current.
    Walls of one region that are no electrodes let no flux through. space: of the potential, "P1" (fluxes are constant
    on triangles) or "P2" (they are linear).

    Single traces of the first kind: potentials and fluxes of all surfaces are unknown at once, and errors do not grow
    with the contrast of materials (statics/equation.py). Charges of electrodes are those of the energy, accurate to
    twice the order of the fluxes, and capacitances are symmetric.

        oil = cal.Region(["inner", "outer"], permittivity=2.2)
        problem = cal.StaticProblem(mesh, {"oil": oil}, electrodes={"a": "inner", "b": "outer"}, outside=None)
        problem.solve(voltages={"a": 1.0, "b": 0.0}).totals["a"]

    Raises ValueError for regions that do not close or overlap, tags that nothing has, several kinds of materials,
    electrodes that touch.
    """

    mesh: TriangleMesh
    regions: Mapping[str, Region] = field(default_factory=dict)
    electrodes: Mapping[str, Tags] = field(default_factory=dict)
    outside: Region | None = field(default_factory=Region)
    space: Literal["P1", "P2"] = "P1"

    usual_solver: ClassVar[str] = "lu"

    def __post_init__(self) -> None:
        self.posed.warn()
        _ = self.system

    @classmethod
    def from_fastcap(cls, path: str | Path, space: Literal["P1", "P2"] = "P1") -> "StaticProblem":
        """The problem of a FastCap file, a list of surfaces (.lst) or panels of conductors in vacuum (.qui), in metres:
        electrodes are its conductors by name. Panels have to meet at vertices; ValueError otherwise, and for what is no
        such file, with its line."""
        mesh, regions, electrodes, outside = read_fastcap(path)
        return cls(mesh, regions, {name: tuple(tags) for name, tags in electrodes.items()}, outside, space)

    @classmethod
    def from_openmeeg(
        cls, geometry: str | Path, conductivities: str | Path, scale: float = 1.0, space: Literal["P1", "P2"] = "P1"
    ) -> "StaticProblem":
        """The problem of a head of OpenMEEG, of its domains (.geom, with the surfaces that it names) and conductivities
        (.cond), lengths times scale (1e-3: mm to m). Regions and tags have the names of domains and interfaces; domains
        without conductivity, as of air, are left out. ValueError, naming file and line, for what is no such file."""
        mesh, regions = read_openmeeg(geometry, conductivities, scale_factor(scale))
        return cls(mesh, regions, {}, None, space)

    @classmethod
    def from_layout(
        cls,
        path: str | Path,
        stack: LayoutStack | str | Path,
        h: float,
        cell: str | None = None,
        space: Literal["P1", "P2"] = "P1",
    ) -> "StaticProblem":
        """The problem of a layout (.gds): polygons of each layer are extruded to their heights in a stack, or in
        that of a .toml file (`LayoutStack.read`), and meshed with edges of about h in m, as by `cal.mesh.solids`.

        Electrodes are nets, polygons of metal that touch, with the names of the labels that lie on them; pieces of
        equal names are one electrode. Regions are dielectric layers by name. cell: the only one that is in no other
        unless named. ValueError for layers of the file that the stack does not have, nets without a name or with two,
        labels off the metal, and for what is no such file; MeshError if gdstk or gmsh is not installed.

            problem = cal.StaticProblem.from_layout("chip.gds", "stack.toml", h=0.5e-6)
            problem.capacitance_matrix()
        """
        mesh, regions, electrodes, outside = read_layout(path, stack, h, cell)
        return cls(mesh, regions, electrodes, outside, space)

    @cached_property
    def posed(self) -> Posed:
        """The regions and their materials, checked."""
        return Posed(self.mesh, self.regions, self.electrodes, self.outside, self.space)

    @cached_property
    def equation(self) -> StaticEquation:
        """The equation of single traces."""
        return StaticEquation(self.functions)

    @property
    def skeleton(self) -> Skeleton:
        """The mesh with the regions, the outside last, and the electrodes."""
        return self.posed.skeleton

    @property
    def functions(self) -> Unknowns:
        """The unknowns."""
        return self.posed.functions

    @property
    def kind(self) -> Kind:
        """The kind of the materials."""
        return self.posed.kind

    @property
    def function_space(self) -> Any:
        """The space of the potential on all surfaces."""
        return self.functions.potentials

    @named_options
    def solve(
        self,
        voltages: Mapping[str, float] | None = None,
        charges: Mapping[str, float] | None = None,
        sources: Sequence[Source] = (),
        densities: Mapping[int | str, float] | None = None,
        **options: Unpack[SolveChoices],
    ) -> StaticSolution:
        """Solve for given potentials or charges of all electrodes, and sources in the regions.

        voltages: {electrode: potential} in V (of iron in A). charges: {electrode: charge} in C, of conductors the
        current in A that it feeds in; its potential is then unknown (floating metal). sources: `PointCharge`,
        `StaticDipole`, `UniformField`, or a coil between magnetic materials, `CurrentPath`. densities: {tag:
        density} of charge in C/m^2 on walls that are no electrodes, of conductors of the current in A/m^2 that enters
        there, of magnets mu0 M . n in T. Options as in `Problem.solve`; preconditioner: "factorised"
        (default; sparse factors of the inverse of single layers, of any method), "near" or None.
        Raises ValueError for electrodes without a value or with two, for charges alone where nothing fixes the
        potential, sources on walls, coils through loops of iron, and currents that do not sum to 0 where they cannot
        leave.
        """
        given = {"voltages": voltages, "charges": charges, "sources": sources, "densities": densities}
        return self.solve_all([given], **options)[0]

    @named_options
    def sweep(
        self,
        materials: Mapping[str, float | Sequence[float]] | None = None,
        voltages: Mapping[str, float | Sequence[float]] | None = None,
        charges: Mapping[str, float | Sequence[float]] | None = None,
        sources: Sequence[Source] = (),
        densities: Mapping[int | str, float] | None = None,
        **options: Unpack[SolveChoices],
    ) -> list[StaticSolution]:
        """Solve for several values of materials, potentials or charges, each step with the next entry of every list.

        materials: {region, or "outside": constants} of the kind of the problem, in its units; voltages and charges as
        in `solve`; lists have one length, single numbers are the same in all steps. The operators of regions are
        assembled once for all steps, and each step has its own matrix and factors where materials differ. Options as
        in `solve`, without "near".

            problem.sweep(materials={"oil": [2.0, 2.2, 2.4]}, voltages={"a": 1.0, "b": 0.0})
        """
        steps = steps_of({"materials": materials, "voltages": voltages, "charges": charges})
        data = [{**one, "sources": sources, "densities": densities} for one in steps]
        constants = [one.pop("materials") for one in data]
        if not any(constants):
            return self.solve_all(data, **options)
        chosen = self._options(options)
        found, contrast = [], self.posed.contrast
        for own, together in groupby(zip(constants, data, strict=True), lambda each: each[0]):
            require_swept(own, list(self.skeleton.regions), chosen)
            step = self._with_materials(own)
            found += step._solve([one for _, one in together], step._preconditioned_anew(chosen))
            contrast = max(contrast, step.posed.contrast)
        if contrast > self.posed.contrast:  # else the problem said so
            warn_of_contrast(contrast)
        return found

    def _with_materials(self, constants: Mapping[str, float]) -> "StaticProblem":
        """The problem with other constants, which shares the operators of regions with this one."""
        posed = with_materials(self.posed, constants)
        found = object.__new__(StaticProblem)
        given = {name: getattr(posed, name) for name in ("mesh", "regions", "electrodes", "outside", "space")}
        equation = StaticEquation(posed.functions)
        one = equation.system()
        swept = SweptSystem(one.equation, one.operator, one.spaces, one.thin, one.scales)
        swept.posed, swept.kept = posed, self._kept
        found.__dict__.update(given, posed=posed, equation=equation, system=swept)
        return found

    def _preconditioned_anew(self, options: SolveOptions) -> SolveOptions:
        """The options of another step of a sweep with the preconditioner of this one."""
        if not isinstance(options.preconditioner, Preconditioner):
            return options
        return replace(options, preconditioner=self._factorised)

    @cached_property
    def _kept(self) -> dict[Any, list[Any]]:
        """Operators of regions, of sweeps over materials."""
        return {}

    @named_options
    def capacitance_matrix(self, **options: Unpack[SolveChoices]) -> Any:
        """C as an `xarray.DataArray` in F with the names of the electrodes along row and column: Q_i = sum_j C_ij U_j
        (Maxwell's form), of potentials against 0 far away, or against each other in a closed region. Symmetric,
        negative away from the diagonal; `.mutual()` has the capacitances of single capacitors, and `.spice(path)`
        writes these as a subcircuit. Options as in `solve`."""
        self._require("permittivity", "capacitances are those")
        return self._labelled(self._matrix(options), "F", "capacitance")

    @named_options
    def conductance_matrix(self, **options: Unpack[SolveChoices]) -> Any:
        """G as an `xarray.DataArray` in S with the names of the electrodes: I_i = sum_j G_ij U_j for the currents that
        electrodes feed in; `.mutual()` and `.spice(path)` as of capacitances. Options as in `solve`."""
        self._require("conductivity", "conductances are those")
        return self._labelled(self._matrix(options), "S", "conductance")

    @named_options
    def resistance(self, a: str, b: str, **options: Unpack[SolveChoices]) -> float:
        """The resistance in ohm between two electrodes, while others carry no current. Options as in `solve`.
        ValueError where no conductor connects them."""
        self._require("conductivity", "a resistance is that")
        names = list(self.electrodes)
        one, other = (names.index(one_of(each, names, "electrode")) for each in (a, b))
        if one == other:
            raise ValueError(f"a resistance is that between two electrodes, got {a!r} twice")
        currents = np.zeros(len(names))
        currents[[one, other]] = 1.0, -1.0
        # where nothing is outside only differences are determined: the second electrode has the potential 0
        kept = np.arange(len(names)) if self.equation.is_fixed else np.setdiff1d(np.arange(len(names)), [other])
        matrix, voltages = self._matrix(options), np.zeros(len(names))
        voltages[kept] = np.linalg.lstsq(matrix[np.ix_(kept, kept)], currents[kept], rcond=ISOLATED)[0]
        if np.abs(matrix @ voltages - currents).max() > 0.5:
            raise ValueError(f"no conductor connects the electrodes {a!r} and {b!r}: no current flows between them")
        return float(voltages[one] - voltages[other])

    @named_options
    def lead_field(
        self, electrodes: ArrayLike, places: ArrayLike, **options: Unpack[SolveChoices]
    ) -> NDArray[np.float64]:
        """(m, n, 3) potentials at m points on walls, electrodes without size, of dipoles at n places in regions, per
        component of the moment: in V/(A m) of current dipoles.

        electrodes: points (m, 3), each counts as the nearest one on a wall. places: (n, 3). One solution for each
        electrode, whose field at the places it is, by reciprocity, as near to walls as these may be; the mean of
        potentials over outer walls is 0 where nothing is outside, and electrodes of metal carry no charge. Options as
        in `solve`. ValueError for places on walls.
        """
        points, x = one_or_more_points(electrodes, "electrodes"), one_or_more_points(places, "places")
        return lead_field(self.functions, self.system, points, x, self._options(options)) / self.kind.factor

    def _matrix(self, options: Any) -> NDArray[np.float64]:
        """(electrodes, electrodes) charges of unit potentials."""
        if not self.electrodes:
            raise ValueError("the problem has no electrodes: give electrodes={name: tags}")
        responses, _ = self._responses(self._options(options))
        lifts = self.equation.lifts
        inverse = np.linalg.inv(responses[: len(lifts)])
        return np.asarray(self.kind.factor * (lifts[:, None] * inverse - np.diag(lifts)), np.float64)

    def _labelled(self, values: NDArray[np.float64], unit: str, name: str) -> Any:
        names = list(self.electrodes)
        of = import_module("calderon.data.electrode_matrix").ElectrodeMatrix  # whose base is that of an extra, xarray
        return of(values, {"row": names, "column": names}, ("row", "column"), name, {"units": unit})

    def _require(self, kind: str, what: str) -> None:
        if self.kind.name != kind:
            raise ValueError(f"{what} of regions with {kind}=, these have {self.kind.name}=")

    def _responses(self, options: SolveOptions) -> tuple[NDArray[np.float64], list[SolutionInfo]]:
        """Unknowns (n, electrodes) for a source of potential 1 at each electrode in turn, and their records."""
        count = len(self.electrodes)
        rhs = np.zeros((self.unknowns, count))
        rhs[np.arange(count), np.arange(count)] = self.equation.lifts
        found, infos = self.system.solve(rhs, options)
        return np.real(found), infos  # the preconditioner of near entries is complex

    def _solve(self, data: list[Any], options: SolveOptions) -> list[StaticSolution]:
        given = [self._checked(each) for each in data]
        count = len(self.electrodes)
        responses, infos = self._responses(options) if count else (np.zeros((self.unknowns, 0)), [])
        loads = [self._right_hand_side(each) for each in given]
        driven = [number for number, each in enumerate(given) if each.sources or each.densities.any()]
        found = {}
        if driven:
            columns, records = self.system.solve(np.stack([loads[each] for each in driven], axis=1), options)
            found = {number: (columns[:, n].real, records[n]) for n, number in enumerate(driven)}
        solutions = []
        for number, one in enumerate(given):
            own, record = found.get(number, (np.zeros(self.unknowns), None))
            weights = self._weights(one, responses[:count], own[:count])
            used = [*([] if record is None else [record]), *(i for i, w in zip(infos, weights, strict=True) if w)]
            x = own + responses @ weights
            charges = self.kind.factor * self.equation.lifts * (weights - x[:count])
            info = max(used or infos, key=lambda each: each.residual)
            solutions.append(StaticSolution.of(self.posed, one, x, charges, info))
        return solutions

    def _weights(
        self, given: Excitation, responses: NDArray[np.float64], own: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """(electrodes,) how much of each response gives the wanted potentials and charges. own: the potentials of
        electrodes by sources alone."""
        names, lifts = list(self.electrodes), self.equation.lifts
        matrix, wanted = np.array(responses), -np.array(own)
        for number, name in enumerate(names):
            if name in given.voltages:
                wanted[number] += given.voltages[name]
            else:
                matrix[number] *= -1
                matrix[number, number] += 1
                wanted[number] = given.charges[name] / (self.kind.factor * lifts[number]) + own[number]
        return np.asarray(np.linalg.solve(matrix, wanted), np.float64) if names else wanted

    def _checked(self, data: Any) -> Excitation:
        given = dict(data) if isinstance(data, Mapping) else {"": data}
        if unknown := set(given) - {"voltages", "charges", "sources", "densities"}:
            raise TypeError(
                f"static fields are solved for voltages, charges, sources and densities, got {sorted(unknown)}"
            )
        values = []
        for what in ("voltages", "charges"):
            table = {} if given.get(what) is None else given[what]
            if not isinstance(table, Mapping):
                raise TypeError(f"{what} are given by electrode, such as {{'a': 1.0}}, got {describe(table)}")
            for name in table:
                one_of(name, self.electrodes, "electrode")
            values.append({name: float(real_number(value, f"{what} of {name!r}")) for name, value in table.items()})
        voltages, charges = values
        sources = tuple(list_of(() if given.get("sources") is None else given["sources"], Source, SOURCES))
        if twice := voltages.keys() & charges.keys():
            raise ValueError(f"electrode {min(twice)!r} has a potential and a charge: one follows from the other")
        if missing := self.electrodes.keys() - voltages.keys() - charges.keys():
            raise ValueError(
                f"electrode {min(missing)!r} has neither a potential nor a charge: give one in voltages, or in charges "
                "(0 for floating metal)"
            )
        if not (self.electrodes or sources or given.get("densities")):
            raise ValueError("nothing excites the field: give sources, densities of walls, or an electrode a potential")
        regions_of(sources, self.skeleton)
        densities = self._densities({} if given.get("densities") is None else given["densities"])
        if not self.equation.is_fixed:
            self._require_balance(voltages, sources, densities)
        return Excitation(voltages, charges, sources, densities)

    def _densities(self, given: Any) -> NDArray[np.float64]:
        """(triangles,) given densities."""
        if not isinstance(given, Mapping):
            raise TypeError(f"densities are given by tag, such as {{'wall': 1e-6}}, got {describe(given)}")
        found = np.zeros(self.mesh.number_of_triangles)
        for tag, value in given.items():
            own = np.isin(self.mesh.tags, self.mesh.tag_numbers(tag))
            if (self.skeleton.electrode_of[own] >= 0).any():
                raise ValueError(
                    f"densities of {tag!r}, an electrode, follow from its potential or charge: leave it out"
                )
            found[own] = real_number(value, f"the density of {tag!r}")
        return found

    def _require_balance(
        self, voltages: Mapping[str, float], sources: Sequence[Source], densities: NDArray[np.float64]
    ) -> None:
        if self.electrodes and not voltages:
            raise ValueError(
                "all electrodes have given charges, and nothing is outside: nothing fixes the potential; give one of "
                "them a voltage"
            )
        charges = [each.charge for each in sources if isinstance(each, PointCharge)]
        entering = densities * self.mesh.areas
        charges += [float(entering[entering > 0].sum()), float(entering[entering < 0].sum())]
        if not self.electrodes and abs(sum(charges)) > NET * max(map(abs, charges), default=0.0):
            raise ValueError(
                f"the sources sum to {sum(charges):g} {self.kind.charge} and nothing leaves the regions: they have to "
                "sum to 0, or an electrode takes the rest"
            )

    def _right_hand_side(self, data: Excitation) -> NDArray[Any]:
        loads = source_loads(data.sources, self.functions) if data.sources else np.zeros(self.unknowns)
        if data.densities.any():
            loads = loads + density_loads(
                self.functions.given_fluxes(data.densities) / self.kind.factor, self.functions
            )
        return loads

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> StaticSolution:
        raise NotImplementedError  # `_solve` makes solutions of several columns

    def _build_system(self) -> LinearSystem:
        return self.equation.system()

    @property
    def preconditioners(self) -> tuple[str, ...]:
        return ("factorised", "near")

    def _factorised_inverse(self) -> LinearOperator:
        return static_inverse(self.equation)

    @property
    def title(self) -> str:  # type: ignore[override]
        return self.posed.title
