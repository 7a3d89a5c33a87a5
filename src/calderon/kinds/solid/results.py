"""Results of an elastic solid, in the units of its case, ready to be written."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.data import Samples
from calderon.formulations import BondedSolution, ElasticSolution
from calderon.formulations.elastic.conditions.rigid_motions import Resultant
from calderon.formulations.elastic.material import von_mises
from calderon.kinds.solid.model import Load, SolidCase
from calderon.kinds.solid.units import Units, signed
from calderon.mesh import TriangleMesh
from calderon.plots.surfaces import one_two_five
from calderon.report import Result

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Inside:
    """Displacements (n, 3) and stresses (n, 3, 3) at points (n, 3) inside the solid."""

    points: Array
    displacement: Array
    stress: Array

    @property
    def von_mises(self) -> Array:
        return von_mises(self.stress)

    @property
    def principal(self) -> Array:
        """(n, 3), the largest first."""
        return np.asarray(np.linalg.eigvalsh(self.stress)[:, ::-1])


@dataclass(frozen=True)
class Largest:
    """The largest von Mises stress on the surface and its vertex (3,); edge: that it lies on where the exact stress has
    no limit, else empty. away: the largest at vertices that are not next to such edges, and its place."""

    value: float
    place: Array
    edge: str
    away: tuple[float, Array]


@dataclass(frozen=True)
class SolidResults(Result[SolidCase]):
    """All requested results of a case. parts: solutions by the names of regions, that of the whole body as "". cut: von
    Mises stresses or magnitudes of displacement (rows, columns) at points (rows, columns, 3), NaN outside of the
    material. load_case: the name of that with the largest stress, of which are all results but `load_cases`. Surface
    quantities are those of the surfaces of all parts, one after the other.
    """

    parts: dict[str, ElasticSolution]
    unknowns: int
    largest: Largest
    points: Inside | None = None
    lines: tuple[Inside, ...] = ()
    cut: tuple[Array, Array] | None = None
    load_case: str = ""
    load_cases: dict[str, BondedSolution] = field(default_factory=dict)
    near_fields: dict[str, Samples] = field(default_factory=dict)

    equation = "(1/2 + K) u = V t  (Somigliana's identity on the surface, Galerkin's method)"

    @property
    def solver_record(self) -> str:
        """The record of the solver for each part."""
        return "\n".join(f"{name + ': ' if name else ''}{each.info}" for name, each in self.parts.items())

    @property
    def loads(self) -> tuple[Load, ...]:
        """The loads of the load case."""
        return self.file.case.loads_of(self.load_case)

    @property
    def units(self) -> Units:
        return Units(self.file.case.solid.units)

    @property
    def length(self) -> tuple[float, str]:
        """The unit of coordinates in pictures and texts: how many base units it is, and its name."""
        return self.units.multiple("length", float(np.linalg.norm(np.ptp(self.mesh.vertices, axis=0))))

    def place(self, point: Array) -> str:
        """Coordinates as text: "(0.1, 0, −2) mm"."""
        factor, unit = self.length
        scale = float(np.abs(point).max()) + 1e-300
        shown = (signed(0.0 if abs(x) < 1e-6 * scale else float(x) / factor) for x in point)
        return f"({', '.join(shown)}) {unit}"

    @cached_property
    def mesh(self) -> TriangleMesh:
        """The surfaces of all parts; names of tags begin with those of the parts where there are several."""
        meshes = [each.solid.mesh for each in self.parts.values()]
        return meshes[0] if len(meshes) == 1 else merge_parts(dict(zip(self.parts, meshes, strict=True)))

    def label(self, part: str, tag: Any) -> str:
        """The name of a tag of a part."""
        return f"{part}: {tag}" if part else str(tag)

    def _joined(self, value: Callable[[ElasticSolution], Array]) -> Array:
        return np.concatenate([value(each) for each in self.parts.values()])

    @cached_property
    def von_mises(self) -> Array:
        """(triangles, 3)."""
        return self._joined(lambda each: each.von_mises)

    @cached_property
    def principal(self) -> Array:
        """(triangles, 3, 3), the largest first."""
        return self._joined(lambda each: each.principal_stresses)

    @cached_property
    def mean_stress(self) -> Array:
        """(triangles, 3, 3), of the three corners."""
        return self._joined(lambda each: each.surface_stress.mean(axis=1))

    @cached_property
    def traction(self) -> Array:
        """(triangles, 3), at centroids."""
        return self._joined(lambda each: each.traction.values(np.array([[1 / 3, 1 / 3]]))[:, 0])

    @cached_property
    def displacement(self) -> Array:
        """(vertices, 3)."""
        return self._joined(lambda each: each.displacement.on_mesh()[1])

    @property
    def resultants(self) -> dict[str, Resultant]:
        return {self.label(n, tag): found for n, each in self.parts.items() for tag, found in each.resultants.items()}

    @property
    def reactions(self) -> dict[str, Resultant]:
        return {self.label(n, tag): found for n, each in self.parts.items() for tag, found in each.reactions.items()}

    @property
    def applied(self) -> tuple[Resultant, float]:
        """The resultant of all loads about the origin, and the sum of their magnitudes."""
        every = [each.solid.applied for each in self.parts.values()]
        force, moment = (np.sum([total[k] for total, _ in every], axis=0) for k in (0, 1))
        return Resultant(force, moment), sum(size for _, size in every)

    @property
    def strain_energy(self) -> float | None:
        """None where it is not available: of an exterior solid, and under a temperature that varies."""
        case = self.file.case
        if case.solid.exterior or any(one.kind == "steady-temperature" for one in self.loads):
            return None
        return sum(each.strain_energy for each in self.parts.values())

    @cached_property
    def temperature(self) -> Array | None:
        """(vertices,) change of a temperature that varies; None without one."""
        if not any(one.kind == "steady-temperature" for one in self.loads):
            return None
        return self._joined(lambda each: each.solid.temperature(each.solid.mesh.vertices))

    @property
    def safety_factor(self) -> float | None:
        """The least of the parts with a yield strength."""
        known = [each.safety_factor for each in self.parts.values() if each.solid.material.yield_strength is not None]
        return min(known, default=None)

    @property
    def estimates(self) -> tuple[float, float]:
        """Estimated relative errors of displacement and surface stress, in the mean; the largest of the parts."""
        infos = [each.info for each in self.parts.values()]
        return max(each.displacement_error for each in infos), max(each.stress_error for each in infos)

    @property
    def sizes(self) -> Array:
        """(vertices,) magnitudes of the displacement."""
        return np.asarray(np.linalg.norm(self.displacement, axis=1))

    @property
    def imbalance(self) -> float:
        """The force that loads and reactions leave, over the sum of the magnitudes of the loads; of a solid that is
        only moved, and of one without supports, over that of all tractions."""
        applied, size = self.applied
        if not size or not self.reactions:
            return max(each.equilibrium for each in self.parts.values())
        left = applied.force + sum(each.force for each in self.reactions.values())
        return float(np.linalg.norm(left)) / size

    @property
    def traction_error(self) -> float:
        """The force by which integrals of tractions of supports miss the reactions, over the sum of the magnitudes of
        the loads, or of all tractions where there are no loads: an estimate of the error of tractions."""
        size = self.applied[1]
        if not size:
            return max(each.equilibrium for each in self.parts.values())
        missed = sum((each.info.corrections[:, :3].sum(axis=0) for each in self.parts.values()), np.zeros(3))
        return float(np.linalg.norm(missed)) / size

    @property
    def furthest(self) -> tuple[float, Array]:
        """The largest displacement of a vertex, and the vertex (3,)."""
        number = int(np.argmax(self.sizes))
        return float(self.sizes[number]), self.mesh.vertices[number]

    @property
    def factor(self) -> float:
        """By which displacements are enlarged in pictures: as the case says, else a round number that makes the largest
        about a fifteenth of the diameter."""
        chosen = self.file.case.output.deformation
        if chosen is not None:
            return chosen
        return one_two_five(self.mesh.diameter / 15 / max(self.furthest[0], 1e-300))


def merge_parts(meshes: dict[str, TriangleMesh]) -> TriangleMesh:
    """The surfaces of several parts as one mesh, vertices not joined, with a tag for each tag of each part."""
    names: dict[str, int] = {}
    tags, offsets, count = [], [0], 0
    for part, mesh in meshes.items():
        own = {number: name for name, number in mesh.names.items()}
        present, index = np.unique(mesh.tags, return_inverse=True)
        names |= {f"{part}: {own.get(tag, tag)}": count + k for k, tag in enumerate(present.tolist())}
        tags.append(count + index)
        count += len(present)
        offsets.append(offsets[-1] + mesh.number_of_vertices)
    vertices = np.concatenate([mesh.vertices for mesh in meshes.values()])
    triangles = [mesh.triangles + offset for mesh, offset in zip(meshes.values(), offsets, strict=False)]
    merged = TriangleMesh(vertices, np.concatenate(triangles), np.concatenate(tags), names)
    return merged.turned((merged.triangles != np.concatenate(triangles)).any(axis=1))  # cavities of parts
