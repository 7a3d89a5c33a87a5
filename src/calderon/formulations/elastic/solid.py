"""A linearly elastic solid under static loads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.checks import closed_surface, separate_parts
from calderon.formulations.elastic.conditions import rigid_motions
from calderon.formulations.elastic.conditions.face_conditions import Load, Support
from calderon.formulations.elastic.conditions.joined_bodies import JoinedBodies
from calderon.formulations.elastic.conditions.surface_conditions import (
    SurfaceConditions,
    by_tag,
    faces_of,
    surface_conditions,
)
from calderon.formulations.elastic.loads.body_loads import BodyLoad, LoadCase, RemoteStress
from calderon.formulations.elastic.loads.volume_loads import VolumeLoads
from calderon.formulations.elastic.material import ElasticMaterial, warn_units
from calderon.formulations.elastic.problem import ElasticProblem
from calderon.formulations.elastic.results.solution import ElasticSolution
from calderon.formulations.elastic.system.columns import Spaces
from calderon.mesh import TriangleMesh
from calderon.mesh.containment import nested_components
from calderon.quadrature import Quadrature
from calderon.spaces import DP1, P0, P1, P2, Function
from calderon.validation import instance, list_of, one_of

Array = NDArray[np.float64]
SPACES = {"P1": (P1, P0), "P2": (P2, DP1)}
"""Displacements and tractions by the name of the former."""
UNITS = {"SI": ("m", "Pa"), "mm-N-MPa": ("mm", "MPa")}
"""Units of lengths and stresses by the name of the system."""


@dataclass(frozen=True, eq=False, repr=False)
class ElasticSolid(ElasticProblem[ElasticSolution]):
    """An isotropic solid, bounded by a closed surface, with

        (1/2 + K) u = V t

    between the displacements u and tractions t of its surface (Somigliana, tested by Galerkin's method). Surfaces of
    cavities lie within the outer one; normals point out of the material by themselves.

    supports, loads: by tag (number or name), one condition or several: `Fixed`, `Prescribed`, `RigidMotion`, `Roller`,
    `SymmetryPlane`, `ElasticSupport`; `Traction`, `Pressure`, `Force`, `Moment`. Triangles without a condition are
    free. body: `Gravity`, `Spin`, `TemperatureChange`, `SteadyTemperature`. space: "P1", with constant tractions on
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

    case_form = "LoadCase(loads, body) or loads by tag"

    def __post_init__(self) -> None:
        instance(self.material, ElasticMaterial, "an elastic solid needs an ElasticMaterial")
        one_of(self.space, SPACES, "space")
        one_of(self.units, UNITS, "units")
        object.__setattr__(self, "mesh", _out_of_the_material(self.mesh, self.exterior))
        object.__setattr__(self, "supports", by_tag(self.mesh, self.supports, Support, "supports", "Fixed()"))
        object.__setattr__(self, "loads", by_tag(self.mesh, self.loads, Load, "loads", "Pressure(1e6)"))
        needed = "body holds loads of the volume, such as Gravity([0, 0, -9.81]), Spin(w) or TemperatureChange(dT)"
        body = list_of(self.body, BodyLoad, needed)
        for each in body:
            if self.exterior != isinstance(each, RemoteStress):
                raise ValueError(
                    f"{type(each).__name__} is no load of a solid {'without' if self.exterior else 'with'} an outer "
                    "surface: RemoteStress goes with exterior=True, the others with a bounded solid"
                )
            each.check(self.material)
        object.__setattr__(self, "body", body)
        _ = self.volume
        if self.units == "SI":
            warn_units(self.mesh, self.material)

    def __repr__(self) -> str:
        return f"ElasticSolid({self.mesh!r}, {self.material!r})"

    @cached_property
    def volume(self) -> VolumeLoads:
        """The loads of the volume together."""
        return VolumeLoads.of(self.mesh, self.material, self.body)

    def temperature(self, x: Array) -> Array:
        """(n,) the change of temperature at points (n, 3) in K."""
        return self.volume.temperature(x)

    @cached_property
    def spaces(self) -> Spaces:
        """The spaces of displacements and tractions."""
        displacements, tractions = self._whole_spaces
        return Spaces.of(displacements, tractions, self.conditions.loaded, self.conditions.supported)

    @property
    def _whole_spaces(self) -> tuple[Any, Any]:
        """The spaces of displacements and tractions on the whole surface."""
        one, other = (build(self.mesh, components=3) for build in SPACES[self.space])
        return one, other

    @cached_property
    def conditions(self) -> SurfaceConditions:
        """Known and unknown parts of displacement and traction, without the particular solution of body."""
        displacements, tractions = self._whole_spaces
        particular = self.volume.displacement(displacements.scalar.nodes), self.volume.traction(tractions.scalar)
        supports, loads = self.supports or {}, self.loads or {}
        return surface_conditions(displacements, tractions, supports, loads, particular)

    @cached_property
    def applied(self) -> tuple[rigid_motions.Resultant, float]:
        """The resultant of all loads about the origin, and the sum of their magnitudes."""
        total, loads = self.volume.resultant, self.loads or {}
        for tag, (triangles, face) in faces_of(self.mesh, loads).items():
            for load in loads[tag]:
                own = rigid_motions.total_of(self.mesh, triangles, load.traction(face))
                if (wrench := load.wrench(face)) is not None:
                    own[:6] = np.concatenate([wrench[0], wrench[1] + np.cross(face.centre, wrench[0])])
                total += own
        return rigid_motions.Resultant(total[:3], total[3:6]), float(total[6])

    @cached_property
    def joined(self) -> JoinedBodies:
        return JoinedBodies.of_one(self)

    def with_loads(self, data: Any) -> "ElasticSolid":
        case = LoadCase.of(data)
        return replace(self, loads=case.loads, body=case.body)

    def _collected(self, found: dict[Any, ElasticSolution]) -> ElasticSolution:
        return found[""]

    def surface_fields(self, u: Array, t: Array) -> tuple[Function, Function]:
        """Displacement and traction of displacements (n, 3) at the nodes and the unknown part (3 m,) of tractions."""
        spaces, conditions = self.spaces, self.conditions
        rest = u - self.volume.displacement(spaces.displacements.scalar.nodes)
        known = conditions.t0 + self.volume.traction(spaces.tractions.scalar)
        traction = known.ravel() + t - conditions.springs @ rest.ravel()
        length, stress = UNITS[self.units]
        return (
            Function(spaces.displacements, u.ravel(), label="displacement", unit=length),
            Function(spaces.tractions, traction, label="traction", unit=stress),
        )

    @cached_property
    def free_strain(self) -> Array:
        """(triangles, 3) free expansion at the vertices of triangles."""
        return self.temperature(self.mesh.vertices)[self.mesh.triangles] * (self.material.expansion or 0.0)


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
                "itself (mesh.restricted(tags)), or unite bodies that touch or overlap, cal.mesh.union([first, second])"
            )
    arms = mesh.centroids - mesh.bounds.mean(axis=0)
    volumes = np.bincount(mesh.components, np.einsum("ni,ni->n", arms, mesh.area_vectors))
    wrong = (volumes > 0)[mesh.components] == np.isin(mesh.components, cavities)
    return mesh.turned(wrong) if wrong.any() else mesh
