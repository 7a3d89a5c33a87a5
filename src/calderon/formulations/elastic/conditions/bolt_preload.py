"""The pull of a tightened bolt on the faces that it clamps."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.elastic.conditions.face_conditions import Face, Load
from calderon.formulations.elastic.conditions.surface_conditions import faces_of
from calderon.mesh import TriangleMesh
from calderon.validation import instance, positive_length, unit_vector

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoltPreload(Load):
    """The force of a tightened bolt on one of two faces, in N, along an axis (3,): even tractions F axis / area, whose
    moment about the centroid is zero.

    The other face bears the opposite force. `BoltPreload.between` gives both.
    """

    force: float
    axis: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "force", positive_length(self.force, "the force of a bolt"))
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis"))

    @classmethod
    def between(cls, mesh: TriangleMesh, first: Any, second: Any, force: float) -> dict[Any, "BoltPreload"]:
        """Loads by tag of two faces that are pulled toward each other along the line of their centroids: the face under
        the head and the wall of the thread, or both faces of a shank that is cut. Their force and moment are zero.

        mesh: of the solid, or of the parts together. force: in N. ValueError for faces with one centroid, MeshError
        for unknown tags.
        """
        instance(mesh, TriangleMesh, "mesh, of the solid, must be a TriangleMesh")
        for name, tag in (("first", first), ("second", second)):
            instance(tag, Hashable, f"{name} is the tag of a face or its name")
        found = faces_of(mesh, {first: (), second: ()})
        if first == second:
            raise ValueError(f"a bolt pulls two faces toward each other, and {first!r} is given twice")
        arm = found[second][1].centre - found[first][1].centre
        if np.linalg.norm(arm) <= 1e-9 * mesh.diameter:
            raise ValueError(
                f"the faces {first!r} and {second!r} have one centroid, so a bolt between them has no axis: choose the "
                "face under the head and the wall of the thread"
            )
        return {first: cls(force, arm), second: cls(force, -arm)}

    def traction(self, face: Face) -> Callable[[Array, Array], Array]:
        even = self.wrench(face)[0] / face.area
        return lambda x, n: np.broadcast_to(even, x.shape)

    def wrench(self, face: Face) -> tuple[Array, Array]:
        return self.force * np.asarray(self.axis), np.zeros(3)
