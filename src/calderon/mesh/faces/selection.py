"""Triangles of a surface that lie on a cylinder, in a plane, in a box, next to a point, or have a name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.errors import MeshError, warn
from calderon.mesh.faces.patches import STRAIGHT, Cylinder
from calderon.mesh.faces.table import SurfaceFace, SurfaceFaces
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.triangulation import Triangulation
from calderon.validation import one_or_more_points, one_point, positive_length, unit_vector
from calderon.view import Described

Array = NDArray[np.float64]
Chosen = NDArray[np.bool_]
TILT = float(np.cos(np.radians(10)))
"""Cosine of the angle between a direction and the normals that it means."""
ON_CYLINDER = 10 * STRAIGHT
"""Distance of vertices from a given cylinder over its radius, at most."""
ACROSS = 0.7
"""Cosine of the angle between the axis of a cylinder and the normal of a plane that ends it, at least."""
APART = 0.1
"""Distance of a given point from the surface over the diameter, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Described):
    """Some triangles of a mesh.

    triangles (m,): their sorted numbers. area: of them. faces: the rows of `mesh.faces()` that they touch; shares: the
    part of the area of each of these, 1 where the face is taken as a whole. tag: the tag of the mesh that they are
    exactly, or None. `mesh.named({"name": selection})` is the mesh on which problems know them by a name.
    """

    triangles: NDArray[np.int64]
    area: float
    faces: tuple[SurfaceFace, ...]
    shares: tuple[float, ...]
    tag: int | None

    @property
    def cut(self) -> tuple[SurfaceFace, ...]:
        """The faces of which a part is taken only."""
        return tuple(one for one, share in zip(self.faces, self.shares, strict=True) if share < 1)

    @property
    def brief(self) -> str:
        count = f"{len(self.faces)} face{'s' * (len(self.faces) != 1)}"
        found = f"{len(self.triangles)} triangles, area {self.area:.6g}, {count}"
        return f"{found}, {len(self.cut)} of them cut" if self.cut else found

    def __str__(self) -> str:
        lines = [
            f"  face {one.number}: {one.brief}{'' if share == 1 else f'; {100 * share:.3g} % of its area'}"
            for one, share in zip(self.faces, self.shares, strict=True)
        ]
        return "\n".join([self.brief, *lines])


def chosen_by(
    mesh: Triangulation, faces: SurfaceFaces, *, cylinder: Any, plane: Any, near: Any, box: Any, normal: Any
) -> Chosen:
    """(nt,) the triangles on which all that is given holds, as in `NamedFaces.select`."""
    chosen = np.ones(len(mesh.triangles), bool)
    try:
        if cylinder is not None:
            chosen &= _on_cylinder(mesh, faces, *_parts(cylinder, "cylinder", ("point", "axis", "radius")))
        if plane is not None:
            chosen &= _on_plane(mesh, *_parts(plane, "plane", ("point", "normal")))
        if near is not None:
            chosen &= _near(mesh, faces, one_or_more_points(near, "near"))
        if box is not None:
            chosen &= _in_box(mesh, *_parts(box, "box", ("low", "high")))
        if normal is not None:
            chosen &= mesh.normals @ unit_vector(normal, "normal") > TILT
    except MeshError:
        raise
    except (TypeError, ValueError) as error:
        raise MeshError(str(error)) from None
    return chosen


def selected(faces: SurfaceFaces, tags: NDArray[np.int64], areas: Array, chosen: Chosen) -> Selection:
    """The selection of some triangles."""
    triangles = np.flatnonzero(chosen)
    total, part = (np.bincount(faces.labels, weights, len(faces)) for weights in (areas, areas * chosen))
    count, taken = np.bincount(faces.labels), np.bincount(faces.labels, chosen, len(faces))
    touched = np.flatnonzero(taken)
    shares = tuple(1.0 if taken[k] == count[k] else float(part[k] / total[k]) for k in touched)
    own = np.unique(tags[triangles])
    tag = int(own[0]) if len(own) == 1 and np.count_nonzero(tags == own[0]) == len(triangles) else None
    rows = tuple(faces[int(k)] for k in touched)
    return Selection(triangles, float(areas[triangles].sum()), rows, shares, tag)


def warn_of_cuts(selection: Selection, number: int) -> None:
    """A MeshWarning for faces that a selection of several faces cuts; a part of a single one is meant as such."""
    if len(selection.faces) == 1 or not selection.cut:
        return
    parts = [
        f"{np.isin(one.triangles, selection.triangles).sum()} of {len(one.triangles)} triangles "
        f"({100 * share:.3g} % of the area) of face {one.number}{f' {one.name!r}' if one.name else ''} "
        f"(tag {one.tag}, {one.shape})"
        for one, share in zip(selection.faces, selection.shares, strict=True)
        if share < 1
    ]
    warn(
        f"the selection cuts {len(parts)} of {number} faces: it takes {'; '.join(parts[:4])}"
        f"{'; ...' if len(parts) > 4 else ''}. Faces are taken whole by cylinder=, plane=, near= or name=; see faces()"
    )


def _parts(given: Any, what: str, names: Sequence[str]) -> list[Any]:
    """The parts of a cylinder, a plane or a box."""
    try:
        parts = list(given)
    except TypeError:
        parts = []
    if len(parts) != len(names) or isinstance(given, str):
        raise MeshError(f"{what} = {given!r}: ({', '.join(names)}) is needed")
    return parts


def _corners(mesh: Triangulation) -> Array:
    return np.asarray(mesh.vertices[mesh.triangles])


def _on_cylinder(mesh: Triangulation, faces: SurfaceFaces, point: ArrayLike, axis: ArrayLike, radius: float) -> Chosen:
    """Triangles with all corners on a cylinder, without those of planes that end it."""
    radius = positive_length(radius, "the radius of a cylinder")
    wanted = Cylinder(one_point(point, "a point on the axis"), unit_vector(axis, "the axis"), radius)
    near = ON_CYLINDER * radius + TOLERANCES.near * mesh.diameter
    chosen: Chosen = np.all(np.abs(wanted.distances(_corners(mesh)) - radius) <= near, axis=1)
    if chosen.any():  # a triangle of an end may have its three corners on its boundary
        for number in np.unique(faces.labels[chosen]):
            face = faces[int(number)]
            if face.kind == "plane" and abs(face.normal @ wanted.axis) > ACROSS:
                chosen[face.triangles] = False
    if not chosen.any():
        known = [f"{one.shape} through {np.round(one.point, 9).tolist()}" for one in faces if one.point is not None]
        raise MeshError(
            f"no triangle lies on the cylinder of radius {radius:.6g}; the cylinders of this mesh are: "
            f"{'; '.join(known[:8]) or 'none'}{'; ...' if len(known) > 8 else ''}"
        )
    return chosen


def _on_plane(mesh: Triangulation, point: ArrayLike, normal: ArrayLike) -> Chosen:
    """Triangles with all corners in a plane."""
    heights = (_corners(mesh) - one_point(point, "a point of the plane")) @ unit_vector(normal, "the normal of a plane")
    return np.asarray((np.abs(heights) <= 2 * TOLERANCES.near * mesh.diameter).all(axis=1))


def _in_box(mesh: Triangulation, low: ArrayLike, high: ArrayLike) -> Chosen:
    """Triangles with all corners in a box, of which each side may be None."""
    corners, slack = _corners(mesh), TOLERANCES.near * mesh.diameter
    chosen = np.ones(len(corners), bool)
    if low is not None:
        chosen &= (corners >= one_point(low, "the low corner of a box") - slack).all(axis=(1, 2))
    if high is not None:
        chosen &= (corners <= one_point(high, "the high corner of a box") + slack).all(axis=(1, 2))
    return chosen


def _near(mesh: Triangulation, faces: SurfaceFaces, points: Array) -> Chosen:
    """The faces next to points."""
    corners, chosen = _corners(mesh), np.zeros(len(mesh.triangles), bool)
    for point in points:
        distances = _distances(point, corners, mesh.normals)
        if (least := float(distances.min())) > APART * mesh.diameter:
            raise MeshError(
                f"the point {point.tolist()} is {least:.4g} away from the surface, which has a diameter of "
                f"{mesh.diameter:.4g}"
            )
        chosen |= faces.labels == faces.labels[np.argmin(distances)]
    return chosen


def _distances(point: Array, corners: Array, normals: Array) -> Array:
    """(m,) distances of a point from triangles with corners (m, 3, 3): from the plane where its foot is inside, else
    from the nearest side."""
    arms = point - corners
    sides = np.roll(corners, -1, axis=1) - corners
    along = np.clip(np.einsum("mki,mki->mk", arms, sides) / np.einsum("mki,mki->mk", sides, sides), 0, 1)
    edges = np.linalg.norm(arms - along[..., None] * sides, axis=2).min(axis=1)
    inside = (np.einsum("mki,mi->mk", np.cross(sides, arms), normals) >= 0).all(axis=1)
    return np.where(inside, np.abs(np.einsum("mi,mi->m", arms[:, 0], normals)), edges)
