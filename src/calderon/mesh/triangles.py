"""Triangulated surfaces: the mesh of all boundary element spaces."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends.numba import read_only
from calderon.mesh.checks.inspection import MeshReport, check
from calderon.mesh.coincident import coincident_points, compacted, joining_tolerance, sound_triangles
from calderon.mesh.containment import winding_numbers
from calderon.mesh.errors import MeshError, OrientationWarning, warn
from calderon.mesh.faces.named_faces import NamedFaces
from calderon.mesh.files.exchange import Exchange
from calderon.mesh.files.writing import write
from calderon.mesh.geometry import Extents, FlatTriangles, Geometry, extents, put_triangles
from calderon.mesh.shapes.division import quartered
from calderon.mesh.shapes.edge_refinement import refined_toward
from calderon.mesh.shapes.feature_remeshing import remeshed_by_gmsh
from calderon.mesh.shapes.mirror_images import checked_planes, mirror_images, snapped
from calderon.mesh.sizes import positive, scale_factors
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.validation import set_frozen
from calderon.validation import describe, index_array, one_or_more_points, real_numbers, unmasked


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TriangleMesh(NamedFaces, Exchange):
    """Flat triangles in space, validated and consistently oriented at construction.

    vertices (nv, 3) float64, triangles (nt, 3) int64 (counter-clockwise seen from the side of the normal), tags (nt,)
    int64 (default zeros), names {name: tag}, note: a sentence that `print` adds. All arrays are read-only. Unused
    vertices are kept, so the numbering stays the caller's; bounds and diameter look at used vertices only.

    Raises MeshError for an empty mesh, NaN or infinity, vertex numbers out of range, degenerate or repeated triangles
    and surfaces that cannot be oriented. Triangles of mixed orientation, and closed components whose normals point
    inward, are flipped with a MeshWarning that reports how many (attribute flipped).

    Made at construction: edges (ne, 2) sorted vertex pairs in lexicographic order, triangle_edges (nt, 3) the edge
    opposite local vertex i, edge_triangle_counts (ne,) (2 inside, 1 on the boundary, more where sheets meet),
    area_vectors (nt, 3) normal times area.
    """

    is_flat: ClassVar[bool] = True

    def geometry(self, triangles: NDArray[np.integer]) -> Geometry:
        """Points, normals and Jacobians on the triangles of these numbers; see `mesh.curved` for those that bend."""
        return self.flat_triangles(triangles, "")

    def flat_triangles(
        self, triangles: NDArray[np.integer], what: str, scale: float = 1.0, origin: ArrayLike = (0.0, 0.0, 0.0)
    ) -> FlatTriangles:
        """The flat triangles of these numbers, in coordinates (x - origin) * scale, for `what`, which is made for flat
        triangles only; ValueError that names it where they are curved."""
        count = len(triangles)
        found = FlatTriangles(np.empty((count, 3, 3)), np.empty((count, 3)), np.empty(count))
        given = self.vertices, self.triangles, self.area_vectors, read_only(np.ascontiguousarray(triangles, np.int64))
        put_triangles(*given, float(scale), np.asarray(origin, float), found)
        return found

    @cached_property
    def unit_triangles(self) -> FlatTriangles:
        """All triangles in the order of `locality`, in coordinates in which the bounding box has its centre in the
        origin and a diagonal of 1."""
        return self.flat_triangles(self.locality, "an integral operator", *self.unit_frame)

    @cached_property
    def unit_extents(self) -> Extents:
        """Extents of `unit_triangles`."""
        return extents(self.unit_triangles.corners)

    @property
    def unit_frame(self) -> tuple[float, NDArray[np.float64]]:
        """Scale and origin of the coordinates of `unit_triangles`."""
        low, high = self.bounds
        return 1.0 / self.diameter, (low + high) / 2

    @cached_property
    def barycentric_refinement(self) -> "BarycentricRefinement":
        """Every triangle cut into six by its medians; made once, so that all dual spaces share its mesh."""
        return barycentric_refinement(self)

    def turned(self, chosen: NDArray[np.bool_]) -> "TriangleMesh":
        """A copy with the normals of the chosen triangles (nt,) reversed, such as those of a cavity, which then
        point out of the material; the meshes that are made from it reverse them again."""
        chosen = np.isin(np.arange(len(self.triangles)), index_array(chosen, len(self.triangles), "triangle")[0])
        turned = object.__new__(TriangleMesh)
        order = [0, 2, 1]
        triangles, edges, vectors = (
            np.array(each) for each in (self.triangles, self.triangle_edges, self.area_vectors)
        )
        triangles[chosen], edges[chosen] = triangles[chosen][:, order], edges[chosen][:, order]
        vectors[chosen] *= -1
        set_frozen(
            turned, vertices=self.vertices, triangles=triangles, tags=self.tags, edges=self.edges,
            triangle_edges=edges, edge_triangle_counts=self.edge_triangle_counts, area_vectors=vectors,
        )  # fmt: skip
        turned.__dict__.update(names=self.names, note=self.note, flipped=self.flipped)
        return turned

    def scaled(self, factor: ArrayLike) -> "TriangleMesh":
        """The mesh with all coordinates times factor > 0 (0.001: from millimetres to metres), or with x, y and z times
        one of three factors each, which make an ellipsoid of a sphere."""
        return TriangleMesh(self.vertices * scale_factors(factor), self.triangles, self.tags, self.names, self.note)

    def translated(self, vector: ArrayLike) -> "TriangleMesh":
        """The mesh moved by a vector (3,)."""
        step = real_numbers(vector, (3,), "what a mesh is moved by", "a vector of three finite real numbers", MeshError)
        return TriangleMesh(self.vertices + step, self.triangles, self.tags, self.names, self.note)

    def rotated(self, matrix: ArrayLike) -> "TriangleMesh":
        """The mesh turned by a rotation matrix (3, 3), x -> matrix @ x (see scipy.spatial.transform.Rotation)."""
        matrix = unmasked(matrix, "the matrix")
        if (
            matrix.shape != (3, 3)
            or matrix.dtype.kind not in "fiu"
            or not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-9)
            or np.linalg.det(matrix) < 0
        ):
            raise MeshError("rotated needs a rotation matrix: shape (3, 3), orthogonal, determinant +1")
        return TriangleMesh(self.vertices @ matrix.T, self.triangles, self.tags, self.names, self.note)

    def mirrored(self, planes: Iterable[str]) -> "TriangleMesh":
        """This mesh on one side of mirrors, "x" for the plane x = 0, "xz" for x = 0 and z = 0 and so on, with its
        images in them.

        Vertices in a mirror are shared, those within 1e-6 of the size are moved into it with a MeshWarning; images have
        the tags of their triangles, and reflected normals. MeshError for triangles on both sides of a mirror or in it.
        """
        return self.mirror_images(planes).whole

    def mirror_images(self, planes: Iterable[str]) -> "MirroredMesh":
        """The mesh of `mirrored` and which triangle is the image of which; made once, so that all problems share its
        spaces."""
        names = checked_planes(planes)
        if names not in self._mirrored:
            self._mirrored[names] = _mirrored(self, names)
        return self._mirrored[names]

    @cached_property
    def _mirrored(self) -> dict[tuple[str, ...], "MirroredMesh"]:
        """Meshes with their images by mirrors."""
        return {}

    def restricted(self, tags: int | str | Iterable[int | str]) -> "TriangleMesh":
        """The part with these tags (numbers or names), without unused vertices; triangles are turned where without
        the rest normals would not agree, or a closed part has them inward."""
        keep = np.isin(self.tags, self.tag_numbers(tags))
        vertices, triangles = compacted(self.vertices, self.triangles[keep])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrientationWarning)
            return TriangleMesh(vertices, triangles, self.tags[keep], self.names)

    def merged_vertices(self, tolerance: float | None = None) -> "TriangleMesh":
        """Vertices closer than the tolerance (default 1e-7 of the diameter) joined, unused ones dropped.

        Triangles that lose their area or repeat others are dropped with a MeshWarning; MeshError if all do.
        """
        reach = joining_tolerance(tolerance, self.diameter)
        joined = coincident_points(self.vertices, reach)
        triangles = joined[self.triangles]
        with_area, once = sound_triangles(self.vertices, triangles)
        keep = with_area & once
        if not keep.any():
            raise MeshError(
                f"tolerance {reach:g} joins vertices of each of the {len(keep)} triangles: choose one below the "
                f"shortest edge, {self.edge_lengths.min():.3g}"
            )
        if not keep.all():
            lost = np.count_nonzero(~keep)
            warn(f"{lost} triangles lost their area or repeat others after joining vertices: dropped")
        vertices, triangles = compacted(self.vertices, triangles[keep])
        return TriangleMesh(vertices, triangles, self.tags[keep], self.names)

    def sharp_edges(self, angle: float = TOLERANCES.sharp) -> NDArray[np.int64]:
        """Numbers of the edges, sorted, at which the normals of two triangles differ by more than the angle in radians
        (default 30 degrees), or that have not two triangles.
        """
        if isinstance(angle, bool) or not isinstance(angle, Real) or not 0 <= angle <= np.pi:
            raise MeshError(f"angle = {angle!r}: an angle between two normals in radians, from 0 to pi, is needed")
        sharp = self.edge_triangle_counts != 2
        one, two = self.paired_sides
        cosine = np.einsum("ni,ni->n", self.normals[one // 3], self.normals[two // 3])
        sharp[~sharp] = np.arccos(np.clip(cosine, -1, 1)) > float(angle)
        return np.flatnonzero(sharp)

    def refine_edges(self, ratio: float, angle: float = TOLERANCES.sharp) -> "TriangleMesh":
        """Triangles cut toward the sharp edges and the open boundary, to `ratio` times their height at the edges.

        ratio: from 1e-5 to 1. Away from an edge the heights grow with the distance from it. Elements are up to 32 times
        longer along an edge than high across it. angle: in radians, between the normals of two triangles, above which
        their edge is sharp. The surface does not change, tags and names stay. Returns this mesh where nothing is cut.
        See `calderon.mesh.shapes.edge_refinement`.
        """
        if isinstance(ratio, bool) or not isinstance(ratio, Real) or not 1e-5 <= ratio <= 1:
            raise MeshError(f"ratio = {ratio!r}: the height of elements at edges over the present one, 1e-5 to 1")
        self.flat_triangles(self.triangles[:0, 0], "refine_edges")
        sharp = self.sharp_edges(angle)
        heights = np.zeros(self.number_of_edges)
        lengths = self.edge_lengths[self.triangle_edges]
        np.maximum.at(heights, self.triangle_edges, 2 * float(ratio) * self.areas[:, None] / lengths)
        sharp = sharp[self.edge_lengths[sharp] > heights[sharp]]  # not those across the side of a thin plate
        if not len(sharp):
            return self
        wanted = self.edges[sharp], heights[sharp]
        vertices, triangles, tags = refined_toward(self.vertices, self.triangles, self.tags, *wanted)
        return TriangleMesh(vertices, triangles, tags, self.names, self.note)

    def divided(self, times: int = 1) -> "TriangleMesh":
        """Each triangle cut `times` times (0 to 6) into four of half the size and the same shape. The surface does not
        change, tags and names stay."""
        if isinstance(times, bool) or not isinstance(times, Integral) or not 0 <= times <= 6:
            raise MeshError(f"times = {times!r}: how often triangles are divided, 0 to 6")
        self.flat_triangles(self.triangles[:0, 0], "divided")
        vertices, triangles = quartered(self.vertices, self.triangles, int(times))
        return TriangleMesh(vertices, triangles, np.repeat(self.tags, 4 ** int(times)), self.names, self.note)

    def remesh(self, h: float, angle: float = TOLERANCES.sharp) -> "TriangleMesh":
        """The surface meshed anew by gmsh with edges of about h: finer or coarser.

        Edges at which normals differ by more than the angle in radians (default 30 degrees, at least 1) stay, and so
        does the boundary; elsewhere new vertices lie on the triangles of this mesh, so that a finer mesh is not
        rounder. Tags are those of the nearest triangles. MeshWarning where the area changes by more than 1 %. MeshError
        if gmsh is not installed or cannot do it.
        """
        self.flat_triangles(self.triangles[:0, 0], "remesh")
        if isinstance(angle, bool) or not isinstance(angle, Real) or not np.radians(1) <= angle <= np.pi:
            raise MeshError(
                f"angle = {angle!r}: an angle between two normals in radians, from 0.0175 (1 degree) to pi, is needed: "
                "gmsh would take round surfaces for thousands of faces"
            )
        made = remeshed_by_gmsh(self.vertices, self.triangles, self.tags, positive("h", h), float(angle))
        found = TriangleMesh(*made, self.names)
        if abs(change := found.area / self.area - 1) > 0.01:
            warn(
                f"remeshing with h = {h:g} changed the area of the surface by {100 * change:.2g} %: a smaller h, or a "
                "smaller angle, keeps its edges"
            )
        return found

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """(n,) whether each point (n, 3) lies inside this closed surface; either value on the surface itself.

        Raises MeshError for a surface that bounds no volume and for points that are not real, NaN or infinite.
        """
        try:
            x = one_or_more_points(points)
        except (TypeError, ValueError) as error:
            raise MeshError(str(error)) from None
        if len(self.unbalanced_edges):
            raise MeshError(
                f"only a closed surface contains points, and {len(self.unbalanced_edges)} of {self.number_of_edges} "
                "edges of this mesh are open or end a wall inside: check() lists them"
            )
        return winding_numbers(self.vertices, self.triangles, x) > 0

    def check(self) -> MeshReport:
        """Open and non-manifold edges, coincident vertices, slivers, ...: a printable report with .ok and .problems."""
        return check(self)

    def write(self, path: str | Path, version: str | None = None) -> None:
        """Write to .msh (version "4.1" or "2.2"), .vtu, .stl, .obj, .ply or .inp; see calderon.mesh.files.writing."""
        write(self, path, version)

    def __repr__(self) -> str:
        return f"TriangleMesh({self.number_of_vertices} vertices, {self.number_of_triangles} triangles)"

    def __str__(self) -> str:
        shape = "closed" if self.is_closed else "open"
        parts = f"{self.number_of_components} component{'s' * (self.number_of_components != 1)}"
        return (
            f"{shape} surface of {self.number_of_triangles} triangles and {self.number_of_vertices} vertices, "
            f"{parts}, area {self.area:.6g}, diameter {self.diameter:.6g}, "
            f"edges {self.edge_lengths.min():.3g} to {self.edge_lengths.max():.3g} (mean {self.mean_edge_length:.3g})"
            f"{'; ' if self.note else ''}{self.note}"
        )


@dataclass(frozen=True, eq=False)
class MirroredMesh:
    """A mesh on one side of mirrors, and the whole with its images.

    part: nt triangles. whole: m nt triangles, image k of triangle t being number k nt + t, with its last two vertices
    exchanged where odd[k]; the part is image 0. planes: names of the mirrors. signs (m, 3): the diagonals of the
    reflections. vertices (m, nv): the numbers in the whole of the images of each vertex.
    """

    part: TriangleMesh
    whole: TriangleMesh
    planes: tuple[str, ...]
    signs: NDArray[np.int64]
    vertices: NDArray[np.int64]

    @property
    def odd(self) -> NDArray[np.bool_]:
        """(m,) whether an image is reflected an odd number of times."""
        return np.prod(self.signs, axis=1) < 0


def _mirrored(mesh: TriangleMesh, planes: tuple[str, ...]) -> MirroredMesh:
    """The mesh and its images in checked planes. Where orientation turns triangles of the whole, the part has them so,
    too."""
    mesh.flat_triangles(mesh.triangles[:0, 0], "mirrored")
    images = mirror_images(snapped(mesh.vertices, mesh.triangles, planes), mesh.triangles, planes)
    tags = np.tile(mesh.tags, len(images.signs))
    whole = TriangleMesh(images.vertices, images.triangles, tags, mesh.names, mesh.note)
    nv, nt = mesh.number_of_vertices, mesh.number_of_triangles
    part = TriangleMesh(whole.vertices[:nv], whole.triangles[:nt], mesh.tags, mesh.names, mesh.note)
    return MirroredMesh(part, whole, planes, images.signs, images.numbers)


@dataclass(frozen=True, eq=False)
class BarycentricRefinement:
    """The refined mesh and where its parts come from.

    mesh: 6 nt triangles on nv + ne + nt vertices: those of the coarse mesh, the middle nv + e of each edge e, the
    centroid nv + ne + t of each triangle t. children (nt, 3, 2): the two children at each local vertex. With v_i the
    local vertices, m_i the middles of the edges opposite to them and c the centroid, children[t, i] are

        (v_i, m_(i+2), c)  and  (v_i, c, m_(i+1)),

    counter-clockwise like their parent and around v_i. parents (6 nt,): the triangle that each child is a part of.
    """

    mesh: TriangleMesh
    children: NDArray[np.int64]
    parents: NDArray[np.int64]


def barycentric_refinement(mesh: TriangleMesh) -> BarycentricRefinement:
    """Cut every triangle into the six between its vertices, the middles of its edges and its centroid.

    Tags and names are those of the parents. `mesh.barycentric_refinement` keeps the result with the mesh.
    """
    number = mesh.number_of_triangles
    corner = mesh.triangles
    middle = mesh.number_of_vertices + mesh.triangle_edges
    centre = mesh.number_of_vertices + mesh.number_of_edges + np.repeat(np.arange(number)[:, None], 3, axis=1)
    first = np.stack([corner, middle[:, [2, 0, 1]], centre], axis=2)
    second = np.stack([corner, centre, middle[:, [1, 2, 0]]], axis=2)
    triangles = np.stack([first, second], axis=2).reshape(-1, 3)
    vertices = np.concatenate([mesh.vertices, mesh.vertices[mesh.edges].mean(axis=1), mesh.centroids])
    refined = TriangleMesh(vertices, triangles, np.repeat(mesh.tags, 6), mesh.names)
    children = np.arange(6 * number).reshape(-1, 3, 2)
    return BarycentricRefinement(refined, children, np.repeat(np.arange(number), 6))


def merge(meshes: Sequence[TriangleMesh]) -> TriangleMesh:
    """One mesh of all triangles, vertices not joined (see TriangleMesh.merged_vertices).

    Tags stay as they are where they differ from those of all earlier meshes; otherwise a mesh's tags are raised above
    them, so that the parts can be distinguished. A name used before gets its mesh's number: "hull", "hull (2)".
    """
    if not isinstance(meshes, TriangleMesh | Iterable):
        raise MeshError(f"merge accepts triangle meshes, got {type(meshes).__name__}: give merge([first, second])")
    meshes = [meshes] if isinstance(meshes, TriangleMesh) else list(meshes)
    if not meshes:
        raise MeshError("merge needs at least one mesh: give a list, merge([first, second])")
    for mesh in meshes:
        if not isinstance(mesh, TriangleMesh):
            raise MeshError(
                f"merge accepts triangle meshes, got {type(mesh).__name__}: give a list, merge([first, second])"
            )
        mesh.flat_triangles(mesh.triangles[:0, 0], "merge")
    names: dict[str, int] = {}
    tags, taken, offset = [], np.array([], dtype=np.int64), [0]
    # tags of a mesh that are taken are raised above all others; names that are taken get a number
    for number, mesh in enumerate(meshes, start=1):
        own = np.union1d(mesh.tags, list(mesh.names.values())).astype(np.int64)
        shift = 0
        if np.intersect1d(own, taken).size:
            shift = int(taken.max()) + 1 - min(0, int(own.min()))
        tags.append(mesh.tags + shift)
        for name, tag in mesh.names.items():
            names[name if name not in names else f"{name} ({number})"] = tag + shift
        taken = np.union1d(taken, own + shift).astype(np.int64)
        offset.append(offset[-1] + mesh.number_of_vertices)
    triangles = [mesh.triangles + start for mesh, start in zip(meshes, offset[:-1], strict=True)]
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    return TriangleMesh(vertices, np.concatenate(triangles), np.concatenate(tags), names)


def joined(meshes: Mapping[str, TriangleMesh], tolerance: float | None = None) -> TriangleMesh:
    """One mesh of surfaces by name, with a tag of that name for each: the skeleton of bodies that touch.

    Vertices closer than the tolerance, by default 1e-7 of the diameter of all, are one; of triangles that coincide
    then, as in a wall that two bodies have in common, the first stays. Surfaces that touch have to have the same
    vertices there. Tags that the meshes had are left out.

    Raises MeshError for anything but meshes by name, and for a tolerance that joins the vertices of a triangle.

        skeleton = cal.mesh.joined({"core": cal.mesh.sphere(1.0, 0.2), "coat": cal.mesh.sphere(1.5, 0.3)})
    """
    if not isinstance(meshes, Mapping) or not meshes:
        raise MeshError(f'joined accepts meshes by name, {{"core": mesh, "coat": mesh}}, got {describe(meshes)}')
    for name, mesh in meshes.items():
        if not isinstance(name, str) or not isinstance(mesh, TriangleMesh):
            raise MeshError(f"joined accepts triangle meshes by name, got {name!r}: {describe(mesh)}")
        mesh.flat_triangles(mesh.triangles[:0, 0], "joined")
    parts = list(meshes.values())
    offsets = np.cumsum([0, *(each.number_of_vertices for each in parts)])
    vertices = np.concatenate([each.vertices for each in parts])
    triangles = np.concatenate([each.triangles + start for each, start in zip(parts, offsets, strict=False)])
    tags = np.repeat(np.arange(len(parts)), [each.number_of_triangles for each in parts])
    bounds = np.array([each.bounds for each in parts])
    size = float(np.linalg.norm(bounds[:, 1].max(axis=0) - bounds[:, 0].min(axis=0)))
    triangles = coincident_points(vertices, joining_tolerance(tolerance, size))[triangles]
    with_area, once = sound_triangles(vertices, triangles)
    if not with_area.all():
        raise MeshError(
            f"joining vertices leaves {np.count_nonzero(~with_area)} triangles without area, the first is number "
            f"{np.argmin(with_area)}: choose a tolerance below the shortest edge"
        )
    vertices, triangles = compacted(vertices, triangles[once])
    return TriangleMesh(vertices, triangles, tags[once], {name: number for number, name in enumerate(meshes)})
