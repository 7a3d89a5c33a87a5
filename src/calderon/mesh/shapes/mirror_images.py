"""Triangles on one side of mirrors, planes of coordinates through the origin, with their images.

The image of a triangle t is R t with its last two vertices exchanged where R reflects an odd number of times, so that
its normal is R n.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError, warn
from calderon.mesh.tolerances import TOLERANCES
from calderon.validation import describe

AXES = "xyz"


class MirrorImages(NamedTuple):
    """A part and its images, the part itself first; with one mirror two, with p mirrors m = 2^p.

    vertices (nv', 3), triangles (m nt, 3): of the whole, image k of triangle t being number k nt + t. signs (m, 3): the
    diagonal of the reflection of each image. numbers (m, nv): those of the images of each vertex of the part, which are
    the vertex itself where it lies in a mirror or in no triangle.
    """

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    signs: NDArray[np.int64]
    numbers: NDArray[np.int64]


def checked_planes(planes: Iterable[str]) -> tuple[str, ...]:
    """Planes as different names of coordinates in the order x, y, z; MeshError for others."""
    names = list(planes) if isinstance(planes, Iterable) else []
    if not names or not all(isinstance(each, str) and each in ("x", "y", "z") for each in names):
        raise MeshError(
            f"mirrors are planes through the origin, 'x' for x = 0, 'y' or 'z', several as 'xz', got {describe(planes)}"
        )
    if len(set(names)) < len(names):
        raise MeshError(f"mirrors {planes!r}: each plane is given once")
    return tuple(sorted(names))


def snapped(vertices: NDArray[np.float64], triangles: NDArray[np.int64], planes: tuple[str, ...]) -> NDArray:
    """Vertices (nv, 3), those next to a mirror moved into it with a notice. MeshError for triangles on both sides of a
    mirror, or in it."""
    used = np.unique(triangles)
    reach = TOLERANCES.near * np.linalg.norm(np.ptp(vertices[used], axis=0))
    vertices = np.array(vertices)
    for plane in planes:
        x = vertices[:, AXES.index(plane)]
        near = np.abs(x[used]) <= reach
        if moved := np.count_nonzero(x[used[near]]):
            warn(f"{moved} vertices within {reach:.2g} of the mirror {plane} = 0 were moved into it")
        x[used[near]] = 0.0
        above, below = np.count_nonzero(x[used] > 0), np.count_nonzero(x[used] < 0)
        if above and below:
            raise MeshError(
                f"the mesh lies on both sides of the mirror {plane} = 0, {above} vertices above and {below} below it: "
                "give the part on one side, or move it by translated(vector)"
            )
        if inside := np.count_nonzero((x[triangles] == 0).all(axis=1)):
            raise MeshError(
                f"{inside} triangles lie in the mirror {plane} = 0, where their images are they themselves: leave them "
                "out, as by mesh.restricted(tags) of the others; a plate in a rigid wall is mirrors=Baffle()"
            )
    return vertices


def mirror_images(vertices: NDArray[np.float64], triangles: NDArray[np.int64], planes: tuple[str, ...]) -> MirrorImages:
    """The images of snapped vertices (nv, 3) and triangles (nt, 3), or tetrahedra (nt, 4); vertices in a mirror are
    shared."""
    signs, numbers = np.ones((1, 3), np.int64), np.arange(len(vertices))[None]
    used = np.isin(numbers[0], triangles)
    for plane in planes:
        axis = AXES.index(plane)
        reflection = np.where(np.arange(3) == axis, -1, 1)
        apart = used & (vertices[:, axis] != 0)
        image = np.where(apart, len(vertices) + np.cumsum(apart) - 1, np.arange(len(vertices)))
        vertices = np.concatenate([vertices, vertices[apart] * reflection])
        used = np.concatenate([used, np.ones(np.count_nonzero(apart), bool)])
        triangles = np.concatenate([triangles, image[triangles][:, [0, 2, 1, 3][: triangles.shape[1]]]])
        signs, numbers = np.concatenate([signs, signs * reflection]), np.concatenate([numbers, image[numbers]])
    return MirrorImages(vertices, triangles, signs, numbers)
