"""Arrays of a triangulated surface, checked and oriented, and quantities computed from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends.numba import read_only
from calderon.mesh.coincident import coincident_points
from calderon.mesh.errors import OrientationWarning, warn
from calderon.mesh.geometry import centroids_of, corner_places, enlarge, largest_extents, put_diameters, put_used
from calderon.mesh.locality import triangle_order
from calderon.mesh.orientation import consistent_orientation
from calderon.mesh.topology import components_by_edges, edge_pairs, edge_signs, edge_table
from calderon.mesh.validation import (
    area_vectors_of,
    checked_elements,
    checked_names,
    checked_tags,
    checked_vertices,
    refuse_repeated,
    set_frozen,
)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Triangulation:
    """Vertices and triangles with derived quantities: edges, areas, normals, components, bounds.

    Described, with the arrays, where it is used: `TriangleMesh`.
    """

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    tags: NDArray[np.int64]
    names: Mapping[str, int]
    note: str
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
        note: str = "",
    ) -> None:
        vertices = checked_vertices(vertices)
        advice = "if it came from a file, was the surface meshed in two dimensions?", "split quadrilaterals first"
        triangles = checked_elements(triangles, "triangles", 3, len(vertices), *advice)
        tags = checked_tags(tags, len(triangles))
        # edges, and the triangles to flip so that normals agree and point outward
        area_vectors = area_vectors_of(vertices, triangles)
        edges, triangle_edges, incidence = edge_table(triangles, len(vertices))
        refuse_repeated(triangle_edges, len(edges))
        counts = np.bincount(triangle_edges.ravel(), minlength=len(edges))
        flipped = consistent_orientation(vertices, triangles, triangle_edges, incidence, counts, area_vectors)
        # flipped triangles exchange their last two corners, and so two of their edges
        if flipped.any():
            triangles[flipped] = triangles[flipped][:, [0, 2, 1]]
            triangle_edges[flipped] = triangle_edges[flipped][:, [0, 2, 1]]
            area_vectors[flipped] *= -1
            warn(
                f"orientation: {np.count_nonzero(flipped)} of {len(triangles)} triangles flipped, so that normals "
                "agree within each component and point outward on closed ones",
                OrientationWarning,
            )
        set_frozen(self, vertices=vertices, triangles=triangles, tags=tags, edges=edges, triangle_edges=triangle_edges,
                   edge_triangle_counts=counts, area_vectors=area_vectors)  # fmt: skip
        self.__dict__["names"] = checked_names(names)
        self.__dict__["note"] = note
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
        return _frozen(np.sqrt(np.einsum("ij,ij->i", self.area_vectors, self.area_vectors)))

    @cached_property
    def normals(self) -> NDArray[np.float64]:
        """Unit normal of each triangle, (nt, 3); outward on closed components."""
        return _frozen(self.area_vectors / self.areas[:, None])

    @cached_property
    def centroids(self) -> NDArray[np.float64]:
        """Centroid of each triangle, (nt, 3)."""
        return _frozen(centroids_of(self.vertices, self.triangles))

    @cached_property
    def locality(self) -> NDArray[np.int64]:
        """Numbers of the triangles, (nt,), in an order in which neighbours come together."""
        return _frozen(triangle_order(self.vertices, self.triangles))

    @cached_property
    def edge_lengths(self) -> NDArray[np.float64]:
        """Length of each edge, (ne,)."""
        return _frozen(np.linalg.norm(self.vertices[self.edges[:, 1]] - self.vertices[self.edges[:, 0]], axis=1))

    @cached_property
    def diameters(self) -> NDArray[np.float64]:
        """Longest edge of each triangle, (nt,)."""
        diameters = np.empty(len(self.triangles))
        put_diameters(self.vertices, self.triangles, diameters)
        return _frozen(diameters)

    @cached_property
    def largest_extents(self) -> tuple[float, float]:
        """The longest edge of all triangles, and the largest ratio of the longest edge of one to the height on it."""
        longest, thinnest = largest_extents(self.diameters, self.areas)
        return float(longest), float(thinnest)

    @cached_property
    def angles(self) -> NDArray[np.float64]:
        """Interior angles in radians, (nt, 3), at each local vertex."""
        a, b, c = (self.edge_lengths[self.triangle_edges[:, i]] for i in range(3))
        s, t, u = a * a, b * b, c * c
        return _frozen(np.arctan2(4 * self.areas[:, None], np.stack([t + u - s, u + s - t, s + t - u], axis=1)))

    @property
    def paired_sides(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The two sides 3 t + i that meet at each edge with exactly two triangles, in the order of the edges."""
        return edge_pairs(np.argsort(self.triangle_edges.ravel(), kind="stable"), self.edge_triangle_counts)

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
        put_used(self.triangles, used)
        return _frozen(np.flatnonzero(used))

    @cached_property
    def vertex_places(self) -> NDArray[np.int64]:
        """For each vertex the lowest number of a vertex at exactly its place, (nv,)."""
        return _frozen(coincident_points(self.vertices))

    @cached_property
    def local_places(self) -> NDArray[np.int32]:
        """(nt, 3) `vertex_places` of all triangles in the order of `locality`."""
        return _frozen(corner_places(self.vertex_places, self.triangles, self.locality))

    @property
    def is_closed(self) -> bool:
        """No edge has a single triangle."""
        return len(self.boundary_edges) == 0

    @cached_property
    def unbalanced_edges(self) -> NDArray[np.int64]:
        """Numbers of the edges that triangles do not run along equally often in both directions, sorted.

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
        bounds, used = np.array([[np.inf] * 3, [-np.inf] * 3]), self.used_vertices
        points = self.vertices if len(used) == len(self.vertices) else self.vertices.take(used, axis=0)
        enlarge(read_only(points), bounds)
        return _frozen(bounds)

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


def _frozen(array: NDArray) -> NDArray:
    array.setflags(write=False)
    return array
