"""Triangulated surfaces: the one mesh on which all boundary element spaces stand."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.barycentric import BarycentricRefinement, barycentric_refinement
from calderon.mesh.coincident import coincident_points, compacted, joining_tolerance, sound_triangles
from calderon.mesh.containment import winding_numbers
from calderon.mesh.errors import MeshError, MeshWarning, callers_level
from calderon.mesh.inspection import MeshReport, check
from calderon.mesh.orientation import consistent_orientation
from calderon.mesh.sizes import scale_factor
from calderon.mesh.topology import components_by_edges, edge_signs, edge_table
from calderon.mesh.validation import area_vectors_of, checked_names, refuse_repeated, validated_arrays
from calderon.mesh.writing import write


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TriangleMesh:
    """Flat triangles in space, validated and consistently oriented from the moment they exist.

    vertices (nv, 3) float64, triangles (nt, 3) int64 (counter-clockwise seen from the side of the normal), tags (nt,)
    int64 (default zeros), names {name: tag}. All arrays are read-only. Unused vertices are kept, so the numbering
    stays the caller's; bounds and diameter look at used vertices only.

    Raises MeshError for an empty mesh, NaN or infinity, vertex numbers out of range, degenerate or repeated triangles
    and surfaces that cannot be oriented. Triangles of mixed orientation, and closed components whose normals point
    inward, are flipped with a MeshWarning that says how many (attribute flipped).

    Made at construction: edges (ne, 2) sorted vertex pairs in lexicographic order, triangle_edges (nt, 3) the edge
    opposite local vertex i, edge_triangle_counts (ne,) (2 inside, 1 on the boundary, more where sheets meet),
    area_vectors (nt, 3) normal times area.
    """

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    tags: NDArray[np.int64]
    names: Mapping[str, int]
    edges: NDArray[np.int64] = field(init=False)
    triangle_edges: NDArray[np.int64] = field(init=False)
    edge_triangle_counts: NDArray[np.int64] = field(init=False)
    area_vectors: NDArray[np.float64] = field(init=False)
    flipped: int = field(init=False)

    def __init__(
        self,
        vertices: ArrayLike,
        triangles: ArrayLike,
        tags: ArrayLike | None = None,
        names: Mapping[str, int] | None = None,
    ) -> None:
        vertices, triangles, tags = validated_arrays(vertices, triangles, tags)
        area_vectors = area_vectors_of(vertices, triangles)
        edges, triangle_edges, incidence = edge_table(triangles, len(vertices))
        refuse_repeated(triangle_edges, len(edges))
        counts = np.bincount(triangle_edges.ravel(), minlength=len(edges))
        flipped = consistent_orientation(vertices, triangles, triangle_edges, incidence, counts, area_vectors)
        if flipped.any():
            triangles[flipped] = triangles[flipped][:, [0, 2, 1]]
            triangle_edges[flipped] = triangle_edges[flipped][:, [0, 2, 1]]
            area_vectors[flipped] *= -1
            warnings.warn(
                f"orientation: {np.count_nonzero(flipped)} of {len(triangles)} triangles flipped, so that normals "
                "agree within each component and point outward on closed ones",
                MeshWarning,
                stacklevel=callers_level(),
            )
        for name, value in [
            ("vertices", vertices),
            ("triangles", triangles),
            ("tags", tags),
            ("edges", edges),
            ("triangle_edges", triangle_edges),
            ("edge_triangle_counts", counts),
            ("area_vectors", area_vectors),
        ]:
            value.setflags(write=False)
            self.__dict__[name] = value
        self.__dict__["names"] = checked_names(names)
        self.__dict__["flipped"] = int(np.count_nonzero(flipped))

    @property
    def number_of_vertices(self) -> int:
        return len(self.vertices)

    @property
    def number_of_triangles(self) -> int:
        return len(self.triangles)

    @property
    def number_of_edges(self) -> int:
        return len(self.edges)

    @cached_property
    def areas(self) -> NDArray[np.float64]:
        """Area of each triangle, (nt,)."""
        return _frozen(np.linalg.norm(self.area_vectors, axis=1))

    @cached_property
    def normals(self) -> NDArray[np.float64]:
        """Unit normal of each triangle, (nt, 3); outward on closed components."""
        return _frozen(self.area_vectors / self.areas[:, None])

    @cached_property
    def centroids(self) -> NDArray[np.float64]:
        """Centroid of each triangle, (nt, 3)."""
        return _frozen(self.vertices[self.triangles].mean(axis=1))

    @cached_property
    def edge_lengths(self) -> NDArray[np.float64]:
        """Length of each edge, (ne,)."""
        return _frozen(np.linalg.norm(self.vertices[self.edges[:, 1]] - self.vertices[self.edges[:, 0]], axis=1))

    @cached_property
    def diameters(self) -> NDArray[np.float64]:
        """Longest edge of each triangle, (nt,)."""
        return _frozen(self.edge_lengths[self.triangle_edges].max(axis=1))

    @cached_property
    def angles(self) -> NDArray[np.float64]:
        """Interior angles in radians, (nt, 3), at each local vertex."""
        a, b, c = (self.edge_lengths[self.triangle_edges[:, i]] for i in range(3))
        s, t, u = a * a, b * b, c * c
        return _frozen(np.arctan2(4 * self.areas[:, None], np.stack([t + u - s, u + s - t, s + t - u], axis=1)))

    @property
    def mean_edge_length(self) -> float:
        return float(self.edge_lengths.mean())

    @cached_property
    def boundary_edges(self) -> NDArray[np.int64]:
        """Numbers of the edges with one triangle, sorted."""
        return _frozen(np.flatnonzero(self.edge_triangle_counts == 1))

    @cached_property
    def boundary_vertices(self) -> NDArray[np.int64]:
        """Numbers of the vertices on edges with one triangle, sorted."""
        return _frozen(np.unique(self.edges[self.boundary_edges]))

    @cached_property
    def used_vertices(self) -> NDArray[np.int64]:
        """Numbers of the vertices that belong to a triangle, sorted."""
        used = np.zeros(len(self.vertices), dtype=bool)
        used[self.triangles] = True
        return _frozen(np.flatnonzero(used))

    @cached_property
    def vertex_places(self) -> NDArray[np.int64]:
        """For each vertex the lowest number of a vertex at exactly its place, (nv,)."""
        return _frozen(coincident_points(self.vertices))

    @property
    def is_closed(self) -> bool:
        """No edge has a single triangle."""
        return len(self.boundary_edges) == 0

    @cached_property
    def unbalanced_edges(self) -> NDArray[np.int64]:
        """Numbers of the edges that triangles do not run along as often one way as the other, sorted.

        There are none exactly where the surface is the boundary of a volume: open edges are unbalanced, and so are
        those at which a wall inside of a closed surface ends.
        """
        signs = edge_signs(self.triangles).ravel()
        return _frozen(np.flatnonzero(np.bincount(self.triangle_edges.ravel(), signs, self.number_of_edges)))

    @property
    def is_manifold(self) -> bool:
        """No edge has more than two triangles."""
        return bool(self.edge_triangle_counts.max() <= 2)

    @cached_property
    def components(self) -> NDArray[np.int64]:
        """Component label of each triangle, (nt,); triangles that share an edge belong together."""
        return _frozen(components_by_edges(self.triangle_edges, len(self.edges)))

    @property
    def number_of_components(self) -> int:
        return int(self.components.max()) + 1

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """Lowest and highest corner of the bounding box, (2, 3)."""
        used = self.vertices[self.used_vertices]
        return _frozen(np.stack([used.min(axis=0), used.max(axis=0)]))

    @cached_property
    def diameter(self) -> float:
        """Diagonal of the bounding box."""
        return float(np.linalg.norm(self.bounds[1] - self.bounds[0]))

    @property
    def area(self) -> float:
        return float(self.areas.sum())

    @cached_property
    def volume(self) -> float:
        """Volume enclosed by a closed surface, 1/3 int x . n; meaningless (but defined) on an open one."""
        return float(np.einsum("ij,ij->", self.centroids - self.bounds.mean(axis=0), self.area_vectors) / 3)

    @cached_property
    def barycentric_refinement(self) -> BarycentricRefinement:
        """Every triangle cut into six by its medians; made once, so that all dual spaces share its mesh."""
        return barycentric_refinement(self)

    def scaled(self, factor: float) -> "TriangleMesh":
        """The mesh with all coordinates times factor > 0 (0.001: from millimetres to metres)."""
        return TriangleMesh(self.vertices * scale_factor(factor), self.triangles, self.tags, self.names)

    def translated(self, vector: ArrayLike) -> "TriangleMesh":
        """The mesh moved by a vector (3,)."""
        step = np.asarray(vector)
        if step.shape != (3,) or step.dtype.kind not in "fiu" or not np.isfinite(step).all():
            raise MeshError(f"a mesh is moved by a vector of three finite real numbers, got {vector!r}")
        return TriangleMesh(self.vertices + step, self.triangles, self.tags, self.names)

    def rotated(self, matrix: ArrayLike) -> "TriangleMesh":
        """The mesh turned by a rotation matrix (3, 3), x -> matrix @ x (see scipy.spatial.transform.Rotation)."""
        matrix = np.asarray(matrix)
        if (
            matrix.shape != (3, 3)
            or matrix.dtype.kind not in "fiu"
            or not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-9)
            or np.linalg.det(matrix) < 0
        ):
            raise MeshError("rotated needs a rotation matrix: shape (3, 3), orthogonal, determinant +1")
        return TriangleMesh(self.vertices @ matrix.T, self.triangles, self.tags, self.names)

    def tag_numbers(self, tags: int | str | Iterable[int | str]) -> NDArray[np.int64]:
        """Tags given as numbers or names as sorted numbers; MeshError for those that the mesh does not have."""
        wanted = list(tags) if isinstance(tags, Iterable) and not isinstance(tags, str) else [tags]
        for tag in wanted:
            if isinstance(tag, bool) or not isinstance(tag, str | int | np.integer):
                raise MeshError(f"tags are numbers or names, got {tag!r}: this mesh has those in .tags and .names")
        present = np.unique(self.tags)
        numbers = {tag: self.names.get(tag) if isinstance(tag, str) else int(tag) for tag in wanted}
        unknown = [tag for tag, number in numbers.items() if number not in present]
        if unknown or not wanted:
            raise MeshError(f"unknown tags {unknown}: this mesh has {present.tolist()} and the names {self.names}")
        return np.unique(np.array(list(numbers.values()), dtype=np.int64))

    def restricted(self, tags: int | str | Iterable[int | str]) -> "TriangleMesh":
        """The part with these tags (numbers or names), without unused vertices."""
        keep = np.isin(self.tags, self.tag_numbers(tags))
        vertices, triangles = compacted(self.vertices, self.triangles[keep])
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
                f"tolerance {reach:g} joins vertices of each of the {len(keep)} triangles: take one below the shortest "
                f"edge, {self.edge_lengths.min():.3g}"
            )
        if not keep.all():
            lost = np.count_nonzero(~keep)
            text = f"{lost} triangles lost their area or repeat others after joining vertices: dropped"
            warnings.warn(text, MeshWarning, stacklevel=2)
        vertices, triangles = compacted(self.vertices, triangles[keep])
        return TriangleMesh(vertices, triangles, self.tags[keep], self.names)

    def orient(self) -> "TriangleMesh":
        """This mesh: orientation is repaired when a mesh is made, and flipped says how many triangles were turned."""
        return self

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """(n,) whether each point (n, 3) lies inside this closed surface; on the surface itself either answer.

        Raises MeshError for a surface that bounds no volume and for points that are not real, NaN or infinite.
        """
        x = np.atleast_2d(np.asarray(points))
        if x.ndim != 2 or x.shape[1] != 3 or x.dtype.kind not in "fiu":
            raise MeshError(f"points must be real and have shape (n, 3), got {np.shape(points)} of {x.dtype}")
        x = x.astype(np.float64)
        if bad := len(x) - np.count_nonzero(np.isfinite(x).all(axis=1)):
            raise MeshError(f"{bad} of {len(x)} points are NaN or infinite")
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
        """Write to .msh (version "4.1" or "2.2"), .vtu, .stl, .obj, .ply or .inp; see calderon.mesh.writing."""
        write(self, path, version)

    def __repr__(self) -> str:
        return f"TriangleMesh({self.number_of_vertices} vertices, {self.number_of_triangles} triangles)"

    def __str__(self) -> str:
        shape = "closed" if self.is_closed else "open"
        return (
            f"{shape} surface of {self.number_of_triangles} triangles and {self.number_of_vertices} vertices, "
            f"{self.number_of_components} component(s), area {self.area:.6g}, diameter {self.diameter:.6g}, "
            f"edges {self.edge_lengths.min():.3g} to {self.edge_lengths.max():.3g} (mean {self.mean_edge_length:.3g})"
        )


def _frozen(array: NDArray) -> NDArray:
    array.setflags(write=False)
    return array
