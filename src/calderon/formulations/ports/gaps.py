"""Generators in narrow slots of metal."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh import TriangleMesh
from calderon.spaces import EdgeSpace
from calderon.validation import one_point, positive_length, real_numbers, unmasked

Tags = int | str | Iterable[int | str]
OFF_LINE = 1e-5
"""Part of the size of the mesh by which vertices may lie off a line."""


@dataclass(frozen=True, eq=False)
class DeltaGap:
    """A generator in an infinitely narrow slot along inner edges of the surface; the voltage drives a current across.

    The edges, by one of three names. between: two tags (numbers, names, or lists of them), the edges at which their
    triangles meet; positive current flows from the first to the second. line: end points (2, 3) in m of a straight line
    of edges. edges: numbers of edges of the mesh. toward: with the last two, a vector (3,) along which positive current
    flows; without it, positive is along the largest component, x, y or z, of the mean direction across the edges.
    name: for reports.

    E = U delta(s) along the current, s the distance from the edge, is tested with the edge functions: U l for that of
    an edge of length l. At an edge of three or more triangles (a monopole on its ground) the two sides must be named by
    tags.

    Raises ValueError unless exactly one of between, line and edges is given, and for malformed ones.
    """

    between: tuple[Tags, Tags] | None = None
    line: ArrayLike | None = None
    edges: ArrayLike | None = None
    toward: ArrayLike | None = None
    name: str = ""

    def __post_init__(self) -> None:
        given = [name for name in ("between", "line", "edges") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"a gap is named by one of between=(tag, tag), line=(point, point) or edges=[numbers], got "
                f"{' and '.join(given) or 'none'}"
            )
        if self.between is not None and not (isinstance(self.between, (tuple, list)) and len(self.between) == 2):
            raise ValueError(f"between is a pair of tags, for example ('arm 1', 'arm 2'), got {self.between!r}")
        if self.between is not None and self.toward is not None:
            raise ValueError("toward is for line or edges: between=(a, b) already states the direction of the current")
        if self.line is not None:
            check_line(self.line, 3, "a pair of different points (2, 3) in m")
        if self.toward is not None:
            if not real_numbers(self.toward, (3,), "toward", "a vector (3,), not zero").any():
                raise ValueError(f"toward is a vector (3,), not zero, got {self.toward!r}")

    def weights(self, space: EdgeSpace) -> NDArray[np.float64]:
        """(dimension,) lengths of the edges, signed, of the functions across the gap, 0 for others: weights @
        coefficients is the current in A, and U weights are the integrals of the gap's field against the functions.

        Raises ValueError where no inner edge, or not the whole line, is found, and where the sides are ambiguous.
        """
        mesh = space.mesh
        chosen, side = self._between(mesh) if self.between is not None else self._along(space)
        across = np.isin(space.edges, chosen) & (space.sides[:, 1] >= 0)
        plus, minus = space.pairs.T
        step = np.where(across, side[plus] - side[minus], 0.0)
        return step * mesh.edge_lengths[space.edges]

    def _between(self, mesh: TriangleMesh) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Edges at which the two sets of tags meet, and +1/2 (first) or -1/2 (second) for each triangle."""
        assert self.between is not None
        first, second = (np.isin(mesh.tags, mesh.tag_numbers(tags)) for tags in self.between)
        if (first & second).any():
            raise ValueError(f"between={self.between!r}: the two sides share tags")
        side = 0.5 * first - 0.5 * second
        counts = [np.bincount(mesh.triangle_edges[part].ravel(), minlength=mesh.number_of_edges)
                  for part in (first, second)]  # fmt: skip
        edges = np.flatnonzero((counts[0] > 0) & (counts[1] > 0))
        if len(edges) == 0:
            raise ValueError(
                f"between={self.between!r}: no triangles of the two share an edge; where parts only touch, join their "
                "vertices with mesh.merged_vertices()"
            )
        others = np.count_nonzero((counts[0] + counts[1] < mesh.edge_triangle_counts)[edges])
        if others:
            raise ValueError(
                f"between={self.between!r}: at {others} of {len(edges)} edges triangles of other tags meet the two; "
                "state to which side they belong, for example between=(['ground', 'patch'], 'wire')"
            )
        return edges, side

    def _along(self, space: EdgeSpace) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Edges on a line or by number, and +1/2 or -1/2 for each triangle next to them."""
        mesh = space.mesh
        edges = self._numbered(mesh) if self.edges is not None else self._on_line(mesh)
        triangles, ends = _neighbours(space, edges), mesh.vertices[mesh.edges[edges]]
        along = (ends[:, 1] - ends[:, 0]) / mesh.edge_lengths[edges, None]
        across = mesh.centroids[triangles] - ends.mean(axis=1)[:, None]
        across -= np.sum(across * along[:, None], axis=2, keepdims=True) * along[:, None]
        across /= np.linalg.norm(across, axis=2, keepdims=True)
        direction = _mean_direction(across[:, 1] - across[:, 0]) if self.toward is None else np.asarray(self.toward)
        height = across @ (direction / np.linalg.norm(direction))
        unclear = np.count_nonzero(height[:, 1] * height[:, 0] >= 0)
        if unclear:
            raise ValueError(
                f"both triangles of {unclear} of {len(edges)} edges of the gap lie on one side of it, seen along "
                f"{np.round(direction, 6).tolist()}: give toward=(x, y, z), across the edges, or between=(tag, tag)"
            )
        side = np.zeros(mesh.number_of_triangles)
        side[triangles] = -0.5 * np.sign(height)
        if np.any(side[triangles] != -0.5 * np.sign(height)):
            raise ValueError("a triangle lies on both sides of the gap: refine the mesh, or give between=(tag, tag)")
        return edges, side

    def _numbered(self, mesh: TriangleMesh) -> NDArray[np.int64]:
        given = np.atleast_1d(unmasked(self.edges, "edges"))
        if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
            raise ValueError(f"edges is a list of whole numbers, got {self.edges!r}")
        bad = given[(given < 0) | (given >= mesh.number_of_edges)]
        if len(bad):
            raise ValueError(f"edges {bad[:5].tolist()}: this mesh has {mesh.number_of_edges} edges, counted from 0")
        return np.unique(given).astype(np.int64)

    def _on_line(self, mesh: TriangleMesh) -> NDArray[np.int64]:
        """Edges on the line that cover it from end to end."""
        start, end = np.asarray(self.line, dtype=float)
        length, close = float(np.linalg.norm(end - start)), OFF_LINE * mesh.diameter
        edges = np.flatnonzero(on_line(mesh.vertices[mesh.edges], start, end, close))
        covered = mesh.edge_lengths[edges].sum() if len(edges) else 0.0
        if abs(covered - length) > 2 * close:
            raise ValueError(
                f"edges of the mesh cover {covered:.6g} m of the line of {length:.6g} m from {start.tolist()} to "
                f"{end.tolist()}: the mesh needs a line of edges there, from end to end (a plate has ceil(length / h) "
                "cells a side: take an even number for a line through the middle)"
            )
        return edges


def gap_edges(gap: DeltaGap, mesh: TriangleMesh) -> NDArray[np.int64]:
    """(n,) the edges of a mesh that a gap lies on; ValueError where there are none."""
    if gap.between is not None:
        return gap._between(mesh)[0]
    return gap._numbered(mesh) if gap.edges is not None else gap._on_line(mesh)


def require_across(gap: DeltaGap, mesh: TriangleMesh, metal: NDArray[np.bool_] | None = None) -> None:
    """ValueError where current flows around an end of a gap, which lies within the metal. metal (nt,): which triangles
    are some, all unless given."""
    edges = gap_edges(gap, mesh)
    count = np.bincount(mesh.edges[edges].ravel(), minlength=mesh.number_of_vertices)
    faces = mesh.triangle_edges if metal is None else mesh.triangle_edges[metal]
    border = np.bincount(faces.ravel(), minlength=mesh.number_of_edges) == 1
    within = np.setdiff1d(np.flatnonzero(count == 1), mesh.edges[border])
    if len(within):
        raise ValueError(
            f"current flows around {gap}: it ends at {mesh.vertices[within[0]].round(6).tolist()}, within the metal; a "
            "gap goes from boundary to boundary of the metal, or around"
        )


@dataclass(frozen=True, eq=False)
class WireGap:
    """A gap in a wire, across which a port or a lumped element lies, infinitely narrow, or the end of a coaxial line.

    at (3,): a point on the wire in m. direction (3,): along which its current counts as positive, by default that of
    the wire from its first to its last point. Where three wires or more meet no gap is possible: put it next to that
    point. On the ground it lies between the ground and the wire. outer_radius: in m, of a coaxial line that ends there,
    whose inner conductor is the wire (`frill.aperture_field`); admittances converge then, where those of a gap without
    width grow slowly as segments become short. It is that of a port, at most some 0.03 wavelengths: the field in the
    aperture is the static one, and wider ones give an AccuracyWarning.
    """

    at: ArrayLike
    direction: ArrayLike | None = None
    outer_radius: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", one_point(self.at, "the place of a gap"))
        if self.direction is not None:
            object.__setattr__(self, "direction", one_point(self.direction, "the direction of a gap"))
        if self.outer_radius is not None:
            positive_length(self.outer_radius, "the outer radius of a coaxial line in m")

    def __str__(self) -> str:
        return f"gap at ({', '.join(f'{each:g}' for each in np.asarray(self.at))}) m"


def check_line(given: ArrayLike, dimensions: int, needed: str) -> None:
    """ValueError for anything but two different points (2, dimensions), as the words `needed` say."""
    if np.array_equal(*real_numbers(given, (2, dimensions), "line", needed)):
        raise ValueError(f"line is {needed}, got {given!r}")


def on_line(
    ends: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64], close: float
) -> NDArray[np.bool_]:
    """(n,) which edges with these ends (n, 2, d) lie on the line from start to end (d,), up to the distance `close`."""
    length = float(np.linalg.norm(end - start))
    unit = (end - start) / length
    along = (ends - start) @ unit
    off = np.linalg.norm(ends - start - along[..., None] * unit, axis=2)
    return np.asarray(((off < close) & (along > -close) & (along < length + close)).all(axis=1))


def _neighbours(space: EdgeSpace, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n, 2) the two triangles of each edge; ValueError for edges with another number of triangles."""
    counts = space.mesh.edge_triangle_counts[edges]
    if np.any(counts == 1):
        raise ValueError(
            f"{np.count_nonzero(counts == 1)} of {len(edges)} edges of the gap lie on the boundary of the surface, "
            "where no current crosses: a gap lies on inner edges"
        )
    if np.any(counts > 2):
        raise ValueError(
            f"{np.count_nonzero(counts > 2)} of {len(edges)} edges of the gap join three or more triangles: name the "
            "sides by tags, between=(tag, tag)"
        )
    return space.pairs[np.searchsorted(space.edges, edges)]


def _mean_direction(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """The direction that vectors (n, 3), each up to sign, share; its largest component is positive."""
    direction = np.linalg.svd(vectors, full_matrices=False)[2][0]
    largest = np.flatnonzero(np.abs(direction) > (1 - 1e-6) * np.abs(direction).max())[0]
    return direction * np.sign(direction[largest])
