"""The displacement, stress and reactions of an elastic solid, and of several that are bonded."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import Quantity
from calderon.data.samples import SampledField
from calderon.formulations.elastic.conditions import rigid_motions
from calderon.formulations.elastic.conditions.bolt_preload import BoltPreload
from calderon.formulations.elastic.conditions.face_conditions import (
    ElasticSupport,
    Fixed,
    Prescribed,
    Pressure,
    RigidMotion,
    Roller,
    SymmetryPlane,
    Traction,
)
from calderon.formulations.elastic.conditions.resultant_loads import BearingLoad, Force, Moment, PointMass
from calderon.formulations.elastic.conditions.rigid_motions import Resultant
from calderon.formulations.elastic.loads.body_loads import Gravity, RemoteStress, Spin, TemperatureChange
from calderon.formulations.elastic.loads.steady_temperature import SteadyTemperature
from calderon.formulations.elastic.material import ElasticMaterial, von_mises
from calderon.formulations.elastic.results.reactions import support_patches
from calderon.formulations.elastic.results.surface_stress import averaged, corner_stresses
from calderon.formulations.elastic.tolerances import TOLERANCES
from calderon.formulations.saving.solution_file import SavedSolution
from calderon.formulations.solution_info import SolutionInfo
from calderon.mesh.containment import winding_numbers
from calderon.mesh.errors import warn_of_accuracy
from calderon.mesh.geometry import FlatTriangles
from calderon.potentials.elastic import elastic_potentials
from calderon.potentials.near_evaluation import off_surface
from calderon.quadrature import Quadrature
from calderon.spaces import Function
from calderon.spaces.field_file import write_fields
from calderon.validation import of_any_shape, one_or_more_points
from calderon.view import Described, Field, Scene, Surface, Viewable

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ElasticInfo(SolutionInfo):
    """The record of the solution of one body: that of every problem, and how accurate it is.

    rotation_error: what the discrete equation makes of rigid rotations, which have no traction: a measure of the error
    of the matrix. free_motions: rigid motions that no support holds; their mean over the surface is zero. free_tags:
    tags without a condition. displacement_error, stress_error: estimates of relative errors on the surface, in the
    mean (see `estimated_errors`); the latter at least of the largest stress by what solver and matrix leave on small
    triangles. amplification: by how much, at most, bending of slender parts makes errors of the matrix larger in
    displacements. corrections (patches, 6): forces and moments about the origin that the reactions of connected patches
    have beyond the integrals of their tractions, for the balance; no rows without supports. by_influence: whether each
    group of connected supports has its own by influence fields, not all of them together.
    """

    rotation_error: float = 0.0
    free_motions: int = 0
    free_tags: tuple[str, ...] = ()
    displacement_error: float = 0.0
    stress_error: float = 0.0
    amplification: float = math.nan
    corrections: Array = field(default_factory=lambda: np.zeros((0, 6)))
    by_influence: bool = False

    @property
    def brief(self) -> str:
        """Size, iterations, residual and error."""
        return f"{super().brief}, error of displacement {100 * self.displacement_error:.2g} %"

    def __str__(self) -> str:
        lines = [super().__str__()]
        lines.append(f"error of rotations {self.rotation_error:.1e}, amplified by bending up to "
                     f"{self.amplification:,.0f} times")  # fmt: skip
        about = f"{100 * self.displacement_error:.2g} %", f"{100 * self.stress_error:.2g} %"
        lines.append(f"estimated errors: displacement {about[0]}, stress on the surface {about[1]}, in the mean")
        if self.free_motions:
            lines.append(f"{self.free_motions} free rigid motions were removed")
        if self.free_tags:
            lines.append(f"tags without a condition are free: {', '.join(self.free_tags)}")
        if len(self.corrections):
            how = "the influence of each support" if self.by_influence else "their tractions"
            shared = f"; {len(self.corrections)} patches share them by {how}" if len(self.corrections) > 1 else ""
            lines.append(f"reactions balance the loads{shared}")
        return "\n  ".join(lines)


@dataclass(frozen=True, eq=False)
class ElasticSolution(SampledField, SavedSolution, Viewable, Described):
    """The solution of an `ElasticSolid`.

    solid: the `ElasticSolid`. displacement, traction: functions on the surface, in m and Pa. info: the record. Stresses
    are tensors (3, 3) with tension positive.
    """

    solid: Any
    displacement: Function
    traction: Function
    info: ElasticInfo

    saved_classes: ClassVar[Sequence[type]] = (
        ElasticInfo, ElasticMaterial, Quadrature, Fixed, Prescribed, RigidMotion, Roller, SymmetryPlane, ElasticSupport,
        Traction, Pressure, Force, Moment, BearingLoad, BoltPreload, PointMass, Gravity, Spin, TemperatureChange,
        SteadyTemperature, RemoteStress,
    )  # fmt: skip

    @property
    def brief(self) -> str:
        """The text of its record."""
        return self.info.brief

    @of_any_shape
    def field(self, points: ArrayLike) -> Array:
        """(n, 3) displacements in m at points (n, 3) inside the solid. ValueError for points outside."""
        x = self._inside(points)
        u, t = self._without_body_loads
        green = self.solid.material.green
        return (
            elastic_potentials(green, u, t, x, False) + self.solid.volume.displacement(x) + self.solid.volume.source(x)
        )

    @of_any_shape
    def stress(self, points: ArrayLike) -> Array:
        """(n, 3, 3) stresses in Pa at points (n, 3) inside the solid; within half an element of the surface they are
        less accurate than `surface_stress`. ValueError for points outside and on the surface."""
        x = self._inside(points)
        u, t = self._without_body_loads
        stress = elastic_potentials(self.solid.material.green, u, t, x, True)
        return stress + self.solid.volume.stress(x) + self.solid.volume.source_stress(x)

    @cached_property
    def surface_stress(self) -> Array:
        """(triangles, 3, 3, 3) stresses in Pa at the vertices of each triangle: means over smooth parts of one tag."""
        solid = self.solid
        return averaged(
            solid.mesh, corner_stresses(solid.material, self.displacement, self.traction, solid.free_strain)
        )

    @cached_property
    def von_mises(self) -> Array:
        """(triangles, 3) von Mises stresses in Pa at the vertices of each triangle."""
        return von_mises(self.surface_stress)

    @cached_property
    def principal_stresses(self) -> Array:
        """(triangles, 3, 3) principal stresses in Pa at the vertices of each triangle, the largest first."""
        return np.asarray(np.linalg.eigvalsh(self.surface_stress)[..., ::-1])

    def scene(self) -> Scene:
        """The deformed body with its stresses and displacements."""
        mesh, moved = self.solid.mesh, self.displacement.on_mesh()[1]
        largest = float(np.linalg.norm(moved, axis=1).max())
        principal = self.principal_stresses.reshape(-1, 3)
        fields = (
            Field("von Mises stress", "σ", "Pa", [self.von_mises.ravel()], "corners", "real"),
            Field("displacement", "u", "m", [moved]),
            Field("largest principal stress", "σ₁", "Pa", [principal[:, 0]], "corners", "real"),
            Field("least principal stress", "σ₃", "Pa", [principal[:, 2]], "corners", "real"),
        )
        body = Surface("body", mesh.vertices, mesh.triangles, fields, displacement=moved)
        factor = 0.05 * mesh.diameter / (largest or 1.0)
        return Scene((body,), factor=factor, title="Elastic solid", subtitle=self.info.matrix)

    @property
    def safety_factor(self) -> float:
        """Yield strength over the largest von Mises stress of the surface. ValueError without a yield_strength."""
        return self.solid.material.required("yield_strength", "a safety factor") / float(self.von_mises.max())

    @property
    def largest_stress(self) -> tuple[float, Array]:
        """The largest von Mises stress of the surface in Pa, and the vertex (3,) where it is."""
        triangle, corner = np.unravel_index(int(np.argmax(self.von_mises)), self.von_mises.shape)
        mesh = self.solid.mesh
        return float(self.von_mises[triangle, corner]), mesh.vertices[mesh.triangles[triangle, corner]]

    @cached_property
    def resultants(self) -> dict[Any, Resultant]:
        """The force in N and its moment about the origin in N m on the triangles of each tag; names where there are."""
        mesh = self.solid.mesh
        names = {number: name for name, number in mesh.names.items()}
        tags = np.unique(mesh.tags).tolist()
        return {names.get(tag, tag): self._resultant(mesh.tags == tag) for tag in tags}

    @cached_property
    def reactions(self) -> dict[Any, Resultant]:
        """The force and moment of each tag with a support, less the loads there, in balance with all loads."""
        found = {}
        for tag, parts in self.patch_reactions.items():
            force, moment = (np.sum([each[k] for _, each in parts], axis=0) for k in (0, 1))
            found[tag] = Resultant(force, moment)
        return found

    @cached_property
    def patch_reactions(self) -> dict[Any, tuple[tuple[Array, Resultant], ...]]:
        """The reactions of each connected patch of a tag with a support, such as of four bolts of one name: its
        centroid (3,), and its force and moment about the origin."""
        space, values = self.traction.space.scalar, self.traction.at_nodes - self.solid.conditions.loads
        patches = support_patches(self.solid)
        more = self.info.corrections if len(self.info.corrections) else np.zeros((len(patches), 6))
        found: dict[Any, tuple[tuple[Array, Resultant], ...]] = {tag: () for tag in self.solid.supports or {}}
        for (tag, face), left in zip(patches, more, strict=True):
            chosen = np.isin(np.arange(self.solid.mesh.number_of_triangles), face.triangles)
            force, moment = rigid_motions.resultant(space, values, chosen)
            found[tag] += ((face.centre, Resultant(force + left[:3], moment + left[3:])),)
        return found

    @property
    def equilibrium(self) -> float:
        """The force that all tractions and loads of the volume leave, over the sum of their magnitudes. ValueError for
        a solid without outer surface, which bears any force at infinity."""
        if self.solid.exterior:
            raise ValueError("a solid without outer surface bears any force at infinity: see resultants")
        size = max(self.solid.applied[1], rigid_motions.magnitude(self.traction.space.scalar, self.traction.at_nodes))
        return float(np.linalg.norm(self.unbalanced_force) / size) if size else 0.0

    @property
    def unbalanced_force(self) -> Array:
        """(3,) the force in N that all tractions, reactions included, and loads of the volume leave."""
        solid = self.solid
        total = rigid_motions.resultant(self.traction.space.scalar, self.traction.at_nodes).force
        return np.asarray(total + solid.volume.integral(lambda d: solid.volume.force(d + solid.volume.centre), (3,)))

    @cached_property
    def strain_energy(self) -> float:
        """The elastic energy in J, by the work of tractions and loads of the volume (Clapeyron, Betti). ValueError for
        a remote stress, whose energy is infinite."""
        if self.solid.exterior and self.solid.body:
            raise ValueError("the energy of a remote stress is infinite: take the difference of tractions yourself")
        centre, nodes = self.solid.volume.centre, self.displacement.space.scalar.nodes
        free = self.solid.volume.free_expansion(nodes)
        strained = self.displacement.coefficients - np.ravel(free)
        particular = self.solid.volume.displacement(nodes) - free
        u, t = self._without_body_loads
        u_space: Any = self.displacement.space
        mass = u_space.mass_matrix(self.traction.space)
        tp = self.traction.coefficients - t.coefficients

        def own(d: Array) -> Array:
            """(n,) the work of the loads of the volume at points d (n, 3) from the centre."""
            x = d + centre
            loose = self.solid.volume.free_expansion(x)
            return np.einsum("ni,ni->n", self.solid.volume.force(x), self.solid.volume.displacement(x) - loose)

        work = self.traction.coefficients @ (mass @ strained)
        work += t.coefficients @ (mass @ particular.ravel()) - tp @ (mass @ u.coefficients)
        return float(work + self.solid.volume.integral(own, ())) / 2

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write displacement, traction, stress and von Mises stress on the surface for ParaView (.vtu)."""
        mesh = self.solid.mesh
        nodal = self.displacement.on_mesh()[1]
        worst = np.zeros(mesh.number_of_vertices)
        np.maximum.at(worst, mesh.triangles, self.von_mises)
        mean = self.surface_stress.mean(axis=1)
        traction = self.traction.values(np.array([[1 / 3, 1 / 3]]))[:, 0]
        length, stress = self.displacement.unit, self.traction.unit
        on_triangles = {
            f"traction [{stress}]": traction,
            f"stress [{stress}]": mean.reshape(-1, 9),
            f"von Mises [{stress}]": von_mises(mean),
        }
        write_fields(
            path, mesh, {f"displacement [{length}]": nodal, f"largest von Mises [{stress}]": worst}, on_triangles
        )

    def _has_field(self, points: Array) -> NDArray[np.bool_]:
        outside, on = self._not_inside(points)
        there = np.ones(len(points), dtype=bool)
        there[np.union1d(outside, on)] = False
        return there

    def _fields_at(self, points: Array) -> list[Quantity]:
        length, pressure = self.displacement.unit, self.traction.unit
        return [
            Quantity("displacement", self.field(points), length, "displacement", vector=True),
            Quantity("von_mises", von_mises(self.stress(points)), pressure, "von Mises stress"),
        ]

    def _record(self) -> dict[str, Any]:
        given = {each.name: getattr(self.solid, each.name) for each in fields(self.solid) if each.name != "mesh"}
        return {"solid": given, "info": self.info, "displacement": self.displacement, "traction": self.traction}

    def _resultant(self, triangles: NDArray[np.bool_]) -> Resultant:
        return rigid_motions.resultant(self.traction.space.scalar, self.traction.at_nodes, triangles)

    @cached_property
    def _without_body_loads(self) -> tuple[Function, Function]:
        """Displacement and traction without the particular solution."""
        u_space, t_space = self.displacement.space, self.traction.space
        tp, up = self.solid.volume.traction(t_space.scalar), self.solid.volume.displacement(u_space.scalar.nodes)
        return (
            Function(u_space, self.displacement.coefficients - up.ravel()),
            Function(t_space, self.traction.coefficients - tp.ravel()),
        )

    def _inside(self, points: ArrayLike) -> Array:
        """Points (n, 3); ValueError for those outside of the material or on its surface."""
        x = one_or_more_points(points)
        if len(wrong := np.union1d(*self._not_inside(x))):
            raise ValueError(
                f"{len(wrong)} of {len(x)} points are not inside the material, the first is number {wrong[0]} at "
                f"{x[wrong[0]].tolist()}: on the surface take displacement and surface_stress; check the unit of length"
            )
        return x

    def _not_inside(self, x: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of the points (n, 3) outside of the material, and of those on its surface."""
        mesh = self.solid.mesh
        turns = winding_numbers(mesh.vertices, mesh.triangles, x)
        surface: FlatTriangles = mesh.flat_triangles(np.arange(mesh.number_of_triangles), "a stress")
        return np.flatnonzero(turns != (0 if self.solid.exterior else 1)), off_surface(surface, x).on


class BondedSolution(dict[Any, ElasticSolution], SampledField, SavedSolution):
    """{name of the part: `ElasticSolution`}.

    `at_points`, `on_line`, `on_plane`, `on_grid` and `on_sphere` give displacement and von Mises stress in all parts,
    NaN elsewhere, also on surfaces and common faces. `save(path)` writes all parts into one file for `cal.load`.
    """

    saved_classes: ClassVar[Sequence[type]] = ElasticSolution.saved_classes

    def _has_field(self, points: Array) -> NDArray[np.bool_]:
        return np.any([each._has_field(points) for each in self.values()], axis=0)

    def _fields_at(self, points: Array) -> list[Quantity]:
        """The fields of the part in which each point is."""
        found: list[Quantity] = []
        for part in self.values():
            here = part._has_field(points)
            own = part._fields_at(points[here])
            if not found:
                found = [replace(each, values=np.zeros((len(points), *each.values.shape[1:]))) for each in own]
            for whole, each in zip(found, own, strict=True):
                whole.values[here] = each.values
        return found

    def _record(self) -> dict[str, Any]:
        return {"parts": [(name, each._record()) for name, each in self.items()]}


def warn_of_tractions(solutions: Mapping[Any, ElasticSolution]) -> None:
    """An AccuracyWarning where the tractions of a solid, or on one of several that are bonded, are not balanced, though
    loads alone act. solutions: by name of the body."""
    solids = [each.solid for each in solutions.values()]
    supports = [one for solid in solids for each in solid.supports.values() for one in each]
    if any(isinstance(each, Prescribed | RigidMotion) for each in supports):
        return
    if any(solid.exterior or solid.temperature(solid.mesh.vertices).any() for solid in solids):
        return
    size = sum(solid.applied[1] for solid in solids)
    left = {name: float(np.linalg.norm(each.unbalanced_force)) for name, each in solutions.items()}
    worst = max(left, key=lambda name: left[name])
    if left[worst] > TOLERANCES.reactions * size:
        warn_of_accuracy(
            f"the tractions {f'of {worst!r} ' if len(left) > 1 else ''}do not balance the loads, "
            f"{100 * left[worst] / size:.2g} % of which are left: the mesh is too coarse. Errors of slender parts are "
            "then much larger than the estimated ones. Try a finer mesh, with three or more triangles across the "
            "thickness"
        )
