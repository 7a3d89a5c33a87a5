"""Volumes by name, filled with tetrahedra."""

import math
from collections.abc import Sequence
from itertools import pairwise, permutations

import numpy as np
from numpy.typing import ArrayLike

from calderon.backends import require_memory
from calderon.mesh.coincident import compacted
from calderon.mesh.shapes.gmsh_volumes import concentric_spheres, keep_volume
from calderon.mesh.sizes import PEAK_BYTES, positive, refuse_long, room_for_volume
from calderon.mesh.tetrahedra import TetrahedralMesh
from calderon.validation import list_of, positive_numbers, real_numbers, several, unmasked


def box(low: ArrayLike, high: ArrayLike, cells: int | ArrayLike) -> TetrahedralMesh:
    """The box between two corners: `cells` (one number, or three) hexahedra along each side, each cut into the six
    tetrahedra that share its diagonal. All outer faces carry the name "wall"."""
    start, stop = (
        real_numbers(each, (3,), name, "a corner (x, y, z) in m") for name, each in (("low", low), ("high", high))
    )
    if not (stop > start).all():
        raise ValueError(f"low={low!r}, high={high!r}: two corners (x, y, z) with high above low are needed")
    counts = unmasked(cells, "cells")
    if counts.dtype.kind not in "iu" or counts.shape not in ((), (3,)) or (counts < 1).any():
        raise ValueError(f"cells={cells!r}: a positive number of cells, or three of them, is needed")
    n = np.broadcast_to(counts, 3).astype(int)
    require_memory(
        PEAK_BYTES.tetrahedron * 6 * math.prod(map(int, n)), f"a box of {' x '.join(map(str, n))} cells", "take fewer"
    )
    axes = [np.linspace(*ends) for ends in zip(start, stop, n + 1, strict=True)]
    vertices = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    corner = np.stack(np.meshgrid(*(np.arange(each) for each in n), indexing="ij"), axis=-1).reshape(-1, 3)
    strides = np.array([(n[1] + 1) * (n[2] + 1), n[2] + 1, 1])
    # each path from one end of the diagonal to the other along three edges is a tetrahedron
    paths = np.array(
        [np.cumsum([np.zeros(3, int), *np.eye(3, dtype=int)[list(way)]], axis=0) for way in permutations(range(3))]
    )
    tetrahedra = (corner[:, None, None] + paths) @ strides
    return TetrahedralMesh(vertices, tetrahedra.reshape(-1, 4), names={"vacuum": 0})


def ball(radius: float, h: float) -> TetrahedralMesh:
    """A ball about the origin of tetrahedra with edges of about h, made by gmsh. The vertices of its surface lie a
    little outside of the sphere, so that the polyhedron has the volume of the ball."""
    size, edges = positive("radius", radius), positive("h", h)
    refuse_long(edges, 2 * size, f"a ball of radius {size:g}")
    room_for_volume([4 / 3 * np.pi * size**3], [edges])
    vertices, tetrahedra, _, _ = concentric_spheres([size], [edges])
    keep_volume(vertices, tetrahedra, np.full(3, size))
    return TetrahedralMesh(*compacted(vertices, tetrahedra))


def layered_ball(
    radii: Sequence[float], names: Sequence[str], air_radius: float, h: float | Sequence[float]
) -> TetrahedralMesh:
    """Concentric spheres of the given radii (from the inside out) in a ball of air.

    names: of the layers; the outermost part is called "air", its outer faces "outer". h: edge length, one for all or
    one for each layer and the air, in the unit of the radii. Interfaces are moved so that the polyhedra have the
    volumes of the spheres. Needs gmsh. Raises ValueError for radii that do not increase or lists of other lengths.
    """
    inner = positive_numbers(radii, "radii", "one or more lengths are needed").tolist()
    bounds = [*inner, positive("air_radius", air_radius)]
    if any(b <= a for a, b in pairwise(bounds)):
        raise ValueError(f"radii={inner!r}, air_radius={air_radius!r}: positive lengths that increase are needed")
    names = list_of(names, str, "names are a list of texts")
    if len(names) != len(inner) or len(set(names) | {"air"}) != len(names) + 1:
        raise ValueError(f"names={list(names)!r}: {len(inner)} different names, none of them 'air', are needed")
    sizes = several(h, len(bounds), "h", lambda value, name: positive(name, value))
    balls = np.array([0.0, *bounds]) ** 3 * 4 / 3 * np.pi
    room_for_volume(list(np.diff(balls)), sizes)
    vertices, tetrahedra, tags, faces = concentric_spheres(bounds, sizes)
    for layer, radius in enumerate(bounds):
        keep_volume(vertices, tetrahedra[tags <= layer], np.full(3, radius))
    known = {name: number for number, name in enumerate([*names, "air"])}
    marks = np.full(len(faces), len(known))
    return TetrahedralMesh(vertices, tetrahedra, tags, known, faces, marks, {"outer": len(known)})
