"""All loads of the volume of one body together, at points of space."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.elastic.conditions.rigid_motions import volume_integral
from calderon.formulations.elastic.loads.body_loads import BodyLoad
from calderon.formulations.elastic.loads.steady_temperature import HeatedBody
from calderon.formulations.elastic.material import ElasticMaterial
from calderon.mesh import TriangleMesh
from calderon.spaces import Space

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class VolumeLoads:
    """The sum of the loads of the volume of a body.

    mesh: its surface. material: of what it is. centre (3,): the origin of particular solutions. loads: as they are
    given for points from the origin of coordinates. parts: the same, for points from the centre.
    """

    mesh: TriangleMesh
    material: ElasticMaterial
    centre: Array
    loads: Sequence[BodyLoad]
    parts: Sequence[BodyLoad]

    @staticmethod
    def of(mesh: TriangleMesh, material: ElasticMaterial, loads: Sequence[BodyLoad]) -> "VolumeLoads":
        """The loads of a body with this surface, about the centre of its bounding box."""
        centre = np.asarray(mesh.bounds.mean(axis=0))
        return VolumeLoads(mesh, material, centre, loads, [each.on(mesh, centre) for each in loads])

    def displacement(self, x: Array) -> Array:
        """(n, 3) the particular displacement at points x (n, 3)."""
        return self._sum("displacement", x, (3,))

    def stress(self, x: Array) -> Array:
        """(n, 3, 3) the stress of the particular displacement at points x (n, 3)."""
        return self._sum("stress", x, (3, 3))

    def traction(self, space: Space) -> Array:
        """(m, 3) the traction of the particular displacement at the nodes of a space of functions that jump."""
        normals = np.repeat(self.mesh.normals, space.element.size, axis=0)
        return np.einsum("nij,nj->ni", self.stress(space.nodes), normals)

    def force(self, x: Array) -> Array:
        """(n, 3) force per volume at points x (n, 3)."""
        return self._sum("force", x, (3,))

    def source(self, x: Array) -> Array:
        """(n, 3) the displacement at points x (n, 3) that is no part of the particular one."""
        return self._sum("source", x, (3,))

    def source_stress(self, x: Array) -> Array:
        """(n, 3, 3) the stress of that displacement at points x (n, 3)."""
        return self._sum("source_stress", x, (3, 3))

    def free_expansion(self, x: Array) -> Array:
        """(n, 3) the part of the particular displacement that expands without stress, at points x (n, 3)."""
        return self._sum("free_expansion", x, (3,))

    def temperature(self, x: Array) -> Array:
        """(n,) the change of temperature at points x (n, 3) in K."""
        parts = (each.temperature(x - self.centre) for each in self.parts)
        return np.asarray(sum(parts, np.zeros(len(x))))

    @property
    def moving_source(self) -> Callable[[Array], Array] | None:
        """`source`; None for zero."""
        return self.source if any(each.moves for each in self.parts) else None

    @property
    def steady_temperature(self) -> Array | None:
        """(vertices,) the steady temperature itself, not its change; None without one."""
        found = [each for each in self.parts if isinstance(each, HeatedBody)]
        vertices = self.mesh.vertices - self.centre
        return np.sum([each.temperature(vertices) + each.given.reference for each in found], axis=0) if found else None

    def planned(self, points: int) -> list[tuple[float, int]]:
        """Seconds and bytes that the source of each load takes at so many points of the surface."""
        return [each.planned(points) for each in self.parts]

    def integral(self, function: Callable[[Array], Array], shape: tuple[int, ...]) -> Array:
        """int f(x - centre) dV of a function of the loads with values (n, *shape); zero without loads."""
        return volume_integral(self.mesh, function, self.centre) if self.loads else np.zeros(shape)

    @property
    def resultant(self) -> Array:
        """(7,) force, moment about the origin of coordinates, and magnitude: the root of the mean square."""
        total = self.integral(self._forces_and_moments, (7,))
        moment = total[3:6] + np.cross(self.centre, total[:3])
        return np.concatenate([total[:3], moment, total[6:]])

    def _forces_and_moments(self, d: Array) -> Array:
        """(n, 7) force, moment about the centre, and square of the force over the largest one, at points d (n, 3) from
        the centre."""
        force = self.force(d + self.centre)
        square = (force**2).sum(axis=1, keepdims=True) / max(np.abs(force).max(initial=0.0), 1e-300)
        return np.concatenate([force, np.cross(d, force), square], axis=1)

    def _sum(self, quantity: str, x: Array, shape: tuple[int, ...]) -> Array:
        """(n, *shape) the sum of a quantity of all loads at points x (n, 3)."""
        parts = (getattr(each, quantity)(x - self.centre, self.material) for each in self.parts)
        return np.asarray(sum(parts, np.zeros((len(x), *shape))))
