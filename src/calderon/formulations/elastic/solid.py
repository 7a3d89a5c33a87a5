"""A linearly elastic solid under static loads."""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import Execution, return_memory
from calderon.fmm.plan import plan_elastic
from calderon.formulations.checks import closed_surface, separate_parts
from calderon.formulations.elastic import balance
from calderon.formulations.elastic.body_loads import BodyLoad, RemoteStress
from calderon.formulations.elastic.cavities import cavity_forms
from calderon.formulations.elastic.conditions import Load, Support
from calderon.formulations.elastic.equations import DEFECT, Equation, equation_of
from calderon.formulations.elastic.load_cases import named_cases
from calderon.formulations.elastic.material import ElasticMaterial, warn_units
from calderon.formulations.elastic.plan import FAST, Plan
from calderon.formulations.elastic.solution import ElasticInfo, ElasticSolution, warn_of_reactions
from calderon.formulations.elastic.solver import FINE, Posed, Solved
from calderon.formulations.elastic.steady_temperature import HeatedBody
from calderon.formulations.elastic.surface_conditions import SurfaceConditions, by_tag, faces_of, surface_conditions
from calderon.formulations.elastic.surface_stress import corner_stresses, estimated_errors
from calderon.formulations.elastic.tested_rows import Layers, Spaces, TestedRows, restricted, source_points
from calderon.greens import Elastostatic
from calderon.mesh import TriangleMesh
from calderon.mesh.containment import nested_components
from calderon.mesh.errors import warn
from calderon.operators import methods
from calderon.operators.methods import AUTO, candidates
from calderon.quadrature import Quadrature
from calderon.solvers.iteration import tolerance
from calderon.spaces import DP1, P0, P1, P2, Function
from calderon.validation import instance, list_of, one_of

Array = NDArray[np.float64]
SPACES = {"P1": (P1, P0), "P2": (P2, DP1)}
"""Displacements and tractions by the name of the former."""
UNITS = {"SI": ("m", "Pa"), "mm-N-MPa": ("mm", "MPa")}
"""Of lengths and stresses, by the name of the system."""
LOOSER = 20
"""The error of fast products over that of the solver: the errors of smooth functions are far below those of random
ones, which set the order."""
LARGEST_DENSE = 3000
"""Unknowns up to which method "auto" stores and factorises the matrix."""


@dataclass(frozen=True, eq=False, repr=False)
class ElasticSolid:
    """An isotropic solid, bounded by a closed surface, with

        (1/2 + K) u = V t

    between the displacements u and tractions t of its surface (Somigliana, tested by Galerkin's method). Surfaces of
    cavities lie within the outer one; normals point out of the material by themselves.

    supports, loads: by tag (number or name), one condition or several: `Fixed`, `Prescribed`, `RigidMotion`, `Roller`,
    `SymmetryPlane`, `ElasticSupport`; `Traction`, `Pressure`, `Force`, `Moment`. Triangles without a condition are
    free. body: `Gravity`, `Rotation`, `TemperatureChange`, `SteadyTemperature`. space: "P1", with constant tractions on
    triangles, or "P2", with linear ones. exterior: the solid around the closed surfaces, without end, where
    `RemoteStress` in body is the stress far away. quadrature: of the operators. units: "SI" or "mm-N-MPa" (with
    t/mm^3), as labels of results.

    Raises MeshError for unknown tags, ValueError for open surfaces, separate bodies, bodies that touch themselves,
    conditions that contradict each other, and loads that nothing balances; a solid under balanced loads needs no
    support. MeshWarning for constants that look like another system of units, and where nothing acts.
    """

    mesh: TriangleMesh
    material: ElasticMaterial
    supports: Mapping[Any, Any] | None = None
    loads: Mapping[Any, Any] | None = None
    body: Sequence[BodyLoad] = ()
    space: str = "P1"
    exterior: bool = False
    quadrature: Quadrature = field(default_factory=Quadrature)
    units: str = "SI"

    def __post_init__(self) -> None:
        instance(self.material, ElasticMaterial, "an elastic solid needs an ElasticMaterial")
        one_of(self.space, SPACES, "space")
        one_of(self.units, UNITS, "units")
        object.__setattr__(self, "mesh", _out_of_the_material(self.mesh, self.exterior))
        object.__setattr__(self, "supports", by_tag(self.mesh, self.supports, Support, "supports", "Fixed()"))
        object.__setattr__(self, "loads", by_tag(self.mesh, self.loads, Load, "loads", "Pressure(1e6)"))
        needed = "body holds loads of the volume, such as Gravity([0, 0, -9.81]), Rotation(w) or TemperatureChange(dT)"
        body = list_of(self.body, BodyLoad, needed)
        for each in body:
            if self.exterior != isinstance(each, RemoteStress):
                raise ValueError(
                    f"{type(each).__name__} is no load of a solid {'without' if self.exterior else 'with'} an outer "
                    "surface: RemoteStress goes with exterior=True, the others with a bounded solid"
                )
            each.check(self.material)
        object.__setattr__(self, "body", body)
        _ = self._body_loads
        if self.units == "SI":
            warn_units(self.mesh, self.material)

    def __repr__(self) -> str:
        return f"ElasticSolid({self.mesh!r}, {self.material!r})"

    @cached_property
    def centre(self) -> Array:
        """The centre of the bounding box, the origin of particular solutions."""
        return np.asarray(self.mesh.bounds.mean(axis=0))

    @property
    def _pair(self) -> tuple[Any, Any]:
        """The spaces of displacements and tractions on the whole surface."""
        one, other = (build(self.mesh, components=3) for build in SPACES[self.space])
        return one, other

    @cached_property
    def spaces(self) -> Spaces:
        """The spaces of displacements and tractions."""
        displacement, traction = self._pair
        unknown = restricted(traction, self.conditions.supported)
        same = np.array_equal(self.conditions.supported, self.conditions.loaded)
        loaded = unknown if same else restricted(traction, self.conditions.loaded)
        return Spaces(displacement, traction, loaded, unknown)

    @cached_property
    def conditions(self) -> SurfaceConditions:
        """Known and unknown parts of displacement and traction."""
        displacement, traction = self._pair
        u = self.particular_displacement(displacement.scalar.nodes)
        normals = np.repeat(self.mesh.normals, traction.scalar.element.size, axis=0)
        t = np.einsum("nij,nj->ni", self.particular_stress(traction.scalar.nodes), normals)
        return surface_conditions(displacement, traction, self.supports, self.loads, (u, t))  # type: ignore[arg-type]

    def particular_displacement(self, x: Array) -> Array:
        """(n, 3) of the loads of the volume at points (n, 3)."""
        return self._of_body("displacement", x, (3,))

    def particular_stress(self, x: Array) -> Array:
        """(n, 3, 3) its stress."""
        return self._of_body("stress", x, (3, 3))

    def body_force(self, x: Array) -> Array:
        """(n, 3) force per volume at points (n, 3)."""
        return self._of_body("force", x, (3,))

    def temperature(self, x: Array) -> Array:
        """(n,) the change of temperature at points (n, 3) in K."""
        parts = (each.temperature(x - self.centre) for each in self._body_loads)
        return np.asarray(sum(parts, np.zeros(len(x))))

    @property
    def steady_temperature(self) -> Array | None:
        """(vertices,) the steady temperature, not its change; None without one."""
        found = [each for each in self._body_loads if isinstance(each, HeatedBody)]
        vertices = self.mesh.vertices - self.centre
        return np.sum([each.temperature(vertices) + each.given.reference for each in found], axis=0) if found else None

    def source(self, x: Array) -> Array:
        """(n, 3) displacement at points (n, 3) of loads of the volume that have no particular displacement."""
        return self._of_body("source", x, (3,))

    @property
    def moving_source(self) -> Callable[[Array], Array] | None:
        """`source`; None for zero."""
        return self.source if any(each.moves for each in self._body_loads) else None

    def source_stress(self, x: Array) -> Array:
        """(n, 3, 3) its stress."""
        return self._of_body("source_stress", x, (3, 3))

    def free_expansion(self, x: Array) -> Array:
        """(n, 3) the part of the particular displacement that belongs to it."""
        return self._of_body("free_expansion", x, (3,))

    @cached_property
    def _body_loads(self) -> list[BodyLoad]:
        return [each.on(self.mesh, self.centre) for each in self.body]

    def _of_body(self, quantity: str, x: Array, shape: tuple[int, ...]) -> Array:
        parts = (getattr(each, quantity)(x - self.centre, self.material) for each in self._body_loads)
        return np.asarray(sum(parts, np.zeros((len(x), *shape))))

    def volume_integral(self, function: Callable[[Array], Array], shape: tuple[int, ...]) -> Array:
        """int f(x - centre) dV, of a function of body loads with values (n, *shape); zero without body loads."""
        if not self.body:
            return np.zeros(shape)
        return balance.volume_integral(self.mesh, function, self.centre)

    @cached_property
    def applied(self) -> tuple[balance.Resultant, float]:
        """The resultant of all loads about the origin, and the sum of their magnitudes."""
        surface = np.zeros(7)
        for tag, (triangles, face) in faces_of(self.mesh, self.loads or {}).items():
            for load in (self.loads or {})[tag]:
                surface += balance.total_of(self.mesh, triangles, load.traction(face))
        volume = self.volume_integral(self._forces_and_moments, (7,))
        moment = volume[3:6] + np.cross(self.centre, volume[:3])
        size = float(surface[6] + volume[6])
        return balance.Resultant(surface[:3] + volume[:3], surface[3:6] + moment), size

    def _forces_and_moments(self, d: Array) -> Array:
        force = self.body_force(d + self.centre)
        square = (force**2).sum(axis=1, keepdims=True) / max(np.abs(force).max(initial=0.0), 1e-300)
        return np.concatenate([force, np.cross(d, force), square], axis=1)

    @cached_property
    def free_motions(self) -> Array:
        """(6, f) translations and rotations about the centre, in units of the size, that no support holds."""
        if self.exterior:
            return np.zeros((6, 0))
        nodes, length = self.spaces.displacements.scalar.nodes, self.mesh.diameter
        motions = balance.rigid_motions(nodes, self.centre).reshape(-1, 6) / np.array([1.0] * 3 + [length] * 3)
        free = self.conditions.free
        held = motions - free @ (free.T @ motions)
        springs = self.conditions.springs @ motions
        largest = max(float(abs(self.conditions.springs).max()) if self.conditions.springs.nnz else 0.0, 1e-300)
        return balance.null_motions(np.concatenate([held, springs / largest]))

    def plan(self, method: str = AUTO, rtol: float = 1e-5) -> Plan:
        """What `solve` with these options will take, before it is computed."""
        tolerance(rtol)
        candidates(method)
        unknowns = self.conditions.free.shape[1], self.conditions.bound.shape[1]
        if method == AUTO:
            method = "dense" if sum(unknowns) <= LARGEST_DENSE else FAST
        return Plan.of(method, unknowns, *self.planned_layers(method, rtol)).after(self.planned_sources)

    @property
    def planned_sources(self) -> list[tuple[float, int]]:
        """Processor seconds and bytes of the sources of loads of the volume, before the equation is assembled."""
        tests = [each for each in (self.spaces.displacements, self.spaces.unknown) if each is not None]
        points = sum(source_points(each.scalar) for each in tests)
        return [each.planned(points) for each in self._body_loads]

    def planned_layers(self, method: str, rtol: float) -> tuple[int, methods.Plan | None]:
        """Entries of all layers, and what these take as products: None where they are dense, or computed anew in
        each."""
        spaces, nodes = self.spaces, self.spaces.displacements.dimension
        loaded, unknown = (0 if each is None else each.dimension for each in (spaces.loaded, spaces.unknown))
        entries = (nodes + unknown) * (nodes + loaded)
        if method == FAST:
            columns = self.conditions.free, self.conditions.bound
            joint = self._joint_layers(spaces, self.conditions, columns, lambda each: each).unknown
            return entries, plan_elastic(joint.table([*joint.kept, *joint.others]), looser(rtol))
        if method == "dense" or candidates(method)[0].plan is None:
            return entries, None
        table = Layers.table(*Layers.lazy(self._unit, spaces, self.quadrature))
        return entries, table.plan(method, rtol / 10)

    def solve(self, method: str = AUTO, rtol: float = 1e-5, backend: str = "numba") -> ElasticSolution:
        """The solution. method: "dense" (a direct solution), "fmm", "hmatrix" or "matrix-free" (GMRES), or "auto": the
        first for few unknowns, else the second. rtol: of GMRES, which goes on until displacements of slender bodies are
        about as accurate; an H-matrix is ten times as accurate, products of "fmm" have errors up to twenty times as
        large for random vectors, and much smaller ones for displacements. backend: what assembles, or multiplies by
        "fmm". ValueError for loads that nothing balances; AccuracyWarning for slender bodies whose bending makes errors
        of the matrix large."""
        return self._solutions([self], method, rtol, backend)[0]

    def solve_cases(
        self, cases: Mapping[Any, Any], method: str = AUTO, rtol: float = 1e-5, backend: str = "numba"
    ) -> dict[Any, ElasticSolution]:
        """Solutions by name for several sets of loads, with one matrix and one factorisation or preconditioner.

        cases: {name: LoadCase(loads, body)}, or {name: loads by tag}; they replace the loads of the solid, its supports
        stay. The same options and errors as `solve`."""
        named = named_cases(cases)
        solids = [replace(self, loads=case.loads, body=case.body) for case in named.values()]
        return dict(zip(named, self._solutions(solids, method, rtol, backend), strict=True))

    def _solutions(self, solids: "list[ElasticSolid]", method: str, rtol: float, backend: str) -> list[ElasticSolution]:
        """Of solids that differ in their loads only."""
        common = self
        if len(solids) > 1 or solids[0] is not self:
            loaded = np.any([each.conditions.loaded for each in solids], axis=0)
            common = with_conditions(solids[0], replace(solids[0].conditions, loaded=loaded))
        plan = common.plan(method, rtol)
        for each in solids:
            each._refuse_unbalanced()
        cases = [(each.conditions, each.moving_source) for each in solids]

        def pose(tolerance: float, fine: bool) -> tuple[Equation, Array]:
            own = with_rules(common, FINE) if fine else common
            own.plan(plan.method, tolerance).require_memory()
            equation = own._equation(plan.method, tolerance, backend)
            if not equation.defect <= DEFECT:
                raise ValueError(
                    f"the surface does not bound a body properly: rotations, which need no traction, have an error of "
                    f"{equation.defect:.2g}; mesh.check() finds triangles that repeat, cross or lie on each other"
                )
            return_memory()
            return equation, equation.rhs_of(cases)

        began, solved = time.perf_counter(), []
        posed = Posed.of(pose, plan.method, rtol, self.quadrature == Quadrature())
        assembly, began = time.perf_counter() - began, time.perf_counter()
        for b in posed.right.T:
            found = posed.solver.solved(b)
            seconds, began = time.perf_counter() - began, time.perf_counter()
            solved.append((posed.equation.split(found.x), found, (assembly, seconds)))
        known = posed.text(plan, rtol), posed.equation.defect, posed.solver.amplification
        del posed  # stresses need memory of their own
        return_memory()
        return [each._solution(known, *one) for each, one in zip(solids, solved, strict=True)]

    def _solution(
        self, known: tuple[str, float, float], x: tuple[Array, Array], by: Solved, seconds: tuple[float, float]
    ) -> ElasticSolution:
        """From unknowns q and s; known: plan, error of rotations and amplification."""
        u, t = self._fields(*x)
        if not u.coefficients.any():
            warn("nothing acts on this solid, so that its displacement is zero: check loads, body and supports")
        free, errors = self.free_motions.shape[1], self.estimated_errors(u, t, by.noise)
        info = ElasticInfo(known[0], by.text, known[1], free, self.free_tags, *errors, *seconds, known[2])
        solution = ElasticSolution(self, u, t, info)
        warn_of_reactions({"": solution})
        return solution

    def corner_stresses(self, u: Function, t: Function) -> Array:
        """(triangles, 3, 3, 3) stresses at the vertices of each triangle, not averaged."""
        return corner_stresses(self.material, u, t, self._free_strain)

    def estimated_errors(self, u: Function, t: Function, noise: float) -> tuple[float, float]:
        """Of displacement and surface stress, relative, about; noise: see `Solved`."""
        free = self.material.youngs_modulus * self._free_strain
        return estimated_errors(self.mesh, self.corner_stresses(u, t), free, noise)

    @cached_property
    def _free_strain(self) -> Array:
        """(triangles, 3) free expansion at the vertices of triangles."""
        return self.temperature(self.mesh.vertices)[self.mesh.triangles] * (self.material.expansion or 0.0)

    @property
    def free_tags(self) -> tuple[str, ...]:
        """Tags without a condition, by name where they have one."""
        named = [*self.supports, *self.loads]  # type: ignore[misc]
        conditioned = {int(number) for tag in named for number in self.mesh.tag_numbers(tag)}
        names = {number: name for name, number in self.mesh.names.items()}
        return tuple(str(names.get(tag, tag)) for tag in np.unique(self.mesh.tags) if tag not in conditioned)

    def _refuse_unbalanced(self) -> None:
        if self.free_motions.shape[1]:
            total, size = self.applied
            tags = [*self.mesh.names] or np.unique(self.mesh.tags).tolist()
            balance.refuse_unbalanced(total, size, self.mesh.diameter, self.free_motions, self.centre, tags)

    def _orthonormal_motions(self) -> Array:
        """(3 n, f) the free motions at the nodes, orthonormal over the surface."""
        space = self.spaces.displacements
        if not self.free_motions.shape[1]:
            return np.zeros((space.dimension, 0))
        motions = balance.rigid_motions(space.scalar.nodes, self.centre).reshape(-1, 6)
        motions = motions / np.array([1.0] * 3 + [self.mesh.diameter] * 3) @ self.free_motions
        return balance.orthonormal(motions, space.mass_matrix())

    def tested_rows(
        self,
        spaces: Spaces,
        conditions: SurfaceConditions,
        columns: tuple[sp.csr_array, sp.csr_array],
        method: str,
        rtol: float,
        backend: str,
    ) -> tuple[Layers, list[TestedRows]]:
        """K and V, and the assembled rows of the equation, tested with displacements and, where some are unknown, with
        tractions. columns: of unknown displacements and tractions."""
        options: dict[str, Any] = {"rtol": rtol / 10} if candidates(method)[0].compresses else {}
        if method == FAST:
            options = {"rtol": looser(rtol)}

        def assemble(operator: Any, backend: str = backend) -> Any:
            matrix = operator.assemble(method, backend=backend, **options)
            return matrix.to_array() if method == "dense" else matrix

        if method == FAST:
            devices = Execution.of(backend, "double").devices

            def send(found: Any, table: Any) -> Any:
                return (found.sent(devices[0]) or assemble(table)) if devices else found

            layers = self._joint_layers(spaces, conditions, columns, partial(assemble, backend="numba"), send)
        else:
            layers = Layers.of(self._unit, spaces, self.quadrature, assemble)
        return layers, TestedRows.of(layers, spaces, conditions, self.exterior)

    @property
    def _unit(self) -> Elastostatic:
        """The function of Green for E = 1."""
        return Elastostatic(1.0, self.material.poissons_ratio)

    def _joint_layers(
        self,
        spaces: Spaces,
        conditions: SurfaceConditions,
        columns: tuple[sp.csr_array, sp.csr_array],
        assemble: Callable[[Any], Any],
        send: Callable[[Any, Any], Any] = lambda found, _: found,
    ) -> Layers:
        moving, acting = ((np.diff(each.indptr) > 0).reshape(-1, 3).any(axis=1) for each in columns)
        acting |= (abs(conditions.springs).sum(axis=1) > 0).reshape(-1, 3).any(axis=1)
        acting = acting[spaces.tractions.scalar.dofs[conditions.loaded].ravel()]
        moving = moving if moving.any() else ~moving  # an operator has rows
        return Layers.together(self._unit, spaces, (moving, acting), self.quadrature, assemble, send)

    def _equation(self, method: str, rtol: float, backend: str) -> Equation:
        columns = self.conditions.free, self.conditions.bound
        layers, rows = self.tested_rows(self.spaces, self.conditions, columns, method, rtol, backend)
        modulus, motions = self.material.youngs_modulus, self._orthonormal_motions()
        forms = cavity_forms(self, self.spaces, method)
        return equation_of(layers, tuple(rows), self.spaces, self.conditions, motions, modulus, self.exterior, forms)

    def _fields(self, q: Array, s: Array) -> tuple[Function, Function]:
        """Displacement and traction on the surface of unknowns."""
        spaces, conditions = self.spaces, self.conditions
        u = (conditions.u0 + self.particular_displacement(spaces.displacements.scalar.nodes)).ravel()
        u, motions = u + conditions.free @ q, self._orthonormal_motions()
        if motions.shape[1]:
            u = u - motions @ (motions.T @ (spaces.displacements.mass_matrix() @ u))
        return self.surface_fields(u.reshape(-1, 3), conditions.bound @ s)

    def surface_fields(self, u: Array, t: Array) -> tuple[Function, Function]:
        """Displacement and traction of displacements (n, 3) at the nodes and the unknown part (3 m,) of tractions."""
        spaces, conditions = self.spaces, self.conditions
        rest = u - self.particular_displacement(spaces.displacements.scalar.nodes)
        normals = np.repeat(self.mesh.normals, spaces.tractions.scalar.element.size, axis=0)
        stress = self.particular_stress(spaces.tractions.scalar.nodes)
        known = conditions.t0 + np.einsum("nij,nj->ni", stress, normals)
        t = known.ravel() + t - conditions.springs @ rest.ravel()
        return (
            Function(spaces.displacements, u.ravel(), label="displacement", unit=UNITS[self.units][0]),
            Function(spaces.tractions, t, label="traction", unit=UNITS[self.units][1]),
        )


def looser(rtol: float) -> float:
    """The error of fast products for a tolerance of the solver."""
    return min(LOOSER * rtol, 1e-3)


def with_rules(solid: ElasticSolid, rules: Quadrature) -> ElasticSolid:
    """The same solid with other rules, not checked again."""
    found = copy.copy(solid)
    found.__dict__["quadrature"] = rules
    return found


def with_conditions(solid: ElasticSolid, conditions: SurfaceConditions) -> ElasticSolid:
    """The same solid with other conditions."""
    found = replace(solid)
    found.__dict__["conditions"] = conditions
    return found


def _out_of_the_material(mesh: TriangleMesh, exterior: bool) -> TriangleMesh:
    """The mesh with normals out of the material, which point into cavities; ValueError for several bodies, for surfaces
    that touch themselves, and for open ones."""
    closed_surface(mesh, "ElasticSolid")
    if touching := int((mesh.edge_triangle_counts > 2).sum()):
        raise ValueError(
            f"the surface of an elastic solid touches itself along {touching} edges: parts that meet in an edge only "
            "are joined by a hinge without stiffness; let them overlap, or leave a gap, in the CAD model"
        )
    cavities = np.arange(mesh.number_of_components)
    if exterior:
        separate_parts(mesh, "ElasticSolid(exterior=True)")
    else:
        cavities = nested_components(mesh.vertices, mesh.triangles, mesh.components)
        bodies = mesh.number_of_components - len(cavities)
        if bodies > 1:
            raise ValueError(
                f"an elastic solid is one body, and this mesh has {bodies} separate outer surfaces: solve each by "
                "itself (mesh.restricted(tags)), or join surfaces that touch"
            )
    arms = mesh.centroids - mesh.bounds.mean(axis=0)
    volumes = np.bincount(mesh.components, np.einsum("ni,ni->n", arms, mesh.area_vectors))
    wrong = (volumes > 0)[mesh.components] == np.isin(mesh.components, cavities)
    return mesh.turned(wrong) if wrong.any() else mesh
