"""Flat metal of any outline, with holes, meshed by gmsh."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.coincident import compacted
from calderon.mesh.errors import MeshError
from calderon.mesh.planar.grid import height
from calderon.mesh.shapes.gmsh_session import gmsh_model
from calderon.mesh.shapes.gmsh_volumes import MeshedModel, only_own_sizes
from calderon.mesh.sizes import exceeds, positive, room_for_surface
from calderon.mesh.triangles import TriangleMesh
from calderon.validation import instance, real_numbers


def outline(
    points: ArrayLike, holes: Sequence[ArrayLike] = (), h: float = 1e-3, edge: float | None = None, z: float = 0.0
) -> TriangleMesh:
    """The inside of a polygon with corners (n, 2) without the insides of the holes, each (m, 2), in metres.

    h: edge length. edge: that along the outline and the holes, from which it grows to h (default h). Needs gmsh. Raises
    MeshError for polygons that cross themselves or others, and for holes outside.
    """
    instance(holes, Sequence | np.ndarray, "holes are a list of polygons")
    rings = [_polygon(points, "points"), *(_polygon(each, f"hole {k + 1}") for k, each in enumerate(holes))]
    h = positive("h", h)
    edge = h if edge is None else positive("edge", edge)
    if exceeds(edge, h):
        raise MeshError(f"edge = {edge:g}: edges along the outline are at most as long as those inside, h = {h:g}")
    level = height(z)
    _refuse_crossings(rings)
    x, y = rings[0].T
    room_for_surface(0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))), h)
    # both ends of all sides, to the nearest of which the edge length is adapted
    low, high = np.concatenate([np.stack([each, np.roll(each, -1, axis=0)], axis=1) for each in rings]).swapaxes(0, 1)

    def size(x: float, y: float) -> float:
        along = high - low
        place = np.clip(np.sum(([x, y] - low) * along, axis=1) / np.sum(along**2, axis=1), 0, 1)
        return float(min(h, edge + 0.5 * np.linalg.norm(low + place[:, None] * along - [x, y], axis=1).min()))

    with gmsh_model("outline") as gmsh:
        loops = []
        for ring in rings:
            corners = [gmsh.model.geo.addPoint(float(x), float(y), 0.0) for x, y in ring]
            lines = [gmsh.model.geo.addLine(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
            loops.append(gmsh.model.geo.addCurveLoop(lines))
        gmsh.model.geo.addPlaneSurface(loops)
        gmsh.model.geo.synchronize()
        only_own_sizes(gmsh)
        gmsh.model.mesh.setSizeCallback(lambda dim, tag, x, y, z, given: size(x, y))
        gmsh.model.mesh.generate(2)
        meshed = MeshedModel(gmsh)
        places, triangles = compacted(meshed.vertices, meshed.elements(3, -1))
    # at the level, with normals upward
    places[:, 2] = level
    mesh = TriangleMesh(places, triangles)
    return mesh if mesh.normals[0, 2] > 0 else TriangleMesh(places, mesh.triangles[:, [0, 2, 1]])


def _polygon(points: ArrayLike, name: str) -> NDArray[np.float64]:
    what = "three or more corners (n, 2) of a polygon in metres, none of them NaN or infinite"
    corners = real_numbers(points, (None, 2), name, what, MeshError)
    if len(corners) < 3:
        raise MeshError(f"{name} is {what}, got {len(corners)}")
    return corners


def _refuse_crossings(rings: list[NDArray[np.float64]]) -> None:
    """MeshError where two sides meet that do not follow one another, and for holes outside of the outline."""
    start = np.concatenate(rings)
    end = np.concatenate([np.roll(each, -1, axis=0) for each in rings])
    number = np.arange(len(start))
    parts = np.split(number, np.cumsum([len(each) for each in rings])[:-1])
    following = np.concatenate([np.roll(part, -1) for part in parts])

    def side(a: NDArray, b: NDArray, c: NDArray) -> NDArray:
        return np.sign((b - a)[..., 0] * (c - a)[..., 1] - (b - a)[..., 1] * (c - a)[..., 0])

    # sides meet if each has the ends of the other on both of its sides, or within its box if they are in line
    a, b, c, d = start[:, None], end[:, None], start[None], end[None]
    meet = (side(a, b, c) * side(a, b, d) <= 0) & (side(c, d, a) * side(c, d, b) <= 0)
    meet &= (np.minimum(a, b) <= np.maximum(c, d)).all(axis=2) & (np.minimum(c, d) <= np.maximum(a, b)).all(axis=2)
    meet[number, number] = meet[number, following] = meet[following, number] = False
    if meet.any():
        i, j = np.argwhere(meet)[0]
        raise MeshError(f"sides {i} and {j} of the outline and its holes, counted from 0, meet: separate them")
    # a ray from a corner of a hole crosses the outline an odd number of times
    for k, ring in enumerate(rings[1:], start=1):
        x, y = ring[0]
        (x0, y0), (x1, y1) = rings[0].T, np.roll(rings[0], -1, axis=0).T
        with np.errstate(divide="ignore", invalid="ignore"):
            crossed = ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
        if np.count_nonzero(crossed) % 2 == 0:
            raise MeshError(f"hole {k} lies outside of the outline")
