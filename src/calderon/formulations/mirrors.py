"""Problems on one side of mirrors: what is given and found on a part of a surface, and on the whole with its images."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.checks import space_named
from calderon.mesh import TriangleMesh
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.triangles import MirroredMesh
from calderon.spaces.element import Element
from calderon.spaces.mirror_images import MirroredFunctions, exchanged
from calderon.spaces.space import called
from calderon.validation import describe, one_of, truth

SYMMETRIC = 1e-6
"""Difference of a wave from its images, relative to its size, that is one of coordinates: vertices next to a mirror are
moved by as much."""


@dataclass(frozen=True)
class HalfSpace:
    """Half of space, on one side of a plane that reflects: of sound the floor, or the surface of water; of fields a
    ground of metal.

    plane: "x" for x = 0, "y" or "z". rigid: whether the plane is rigid (even sound), or gives way (odd sound); of
    electromagnetic fields whether it is an electric wall, of metal (odd currents), or a magnetic one (even currents).
    Bodies float on one side of it, or stand on it with an open boundary in the plane. Incident waves are given without
    their reflections, which are added; fields, far fields and powers are those of the half space. Beyond the plane the
    sound is 0; electromagnetic fields, and all far fields in directions that lead there, are those of the images.
    """

    plane: Literal["x", "y", "z"]
    rigid: bool = True

    def __post_init__(self) -> None:
        one_of(self.plane, ("x", "y", "z"), "plane")
        truth(self.rigid, "rigid")


@dataclass(frozen=True)
class Baffle:
    """A rigid plane in which all of a mesh lies, as a piston in a wall does: x = 0, y = 0 or z = 0. The fluid is on the
    side that its normals point to."""


IN_PLANE = 1e-9
"""Distance from a plane, over the largest coordinate of a point, below which rounding may have put it there."""
HALF_SPACES = ("", "+x", "-x", "+y", "-y", "+z", "-z")
"""Names of halves of space: "+z" for z > 0 and so on; "" is all of it."""


def lies_in(half_space: str, points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(n,) whether points (n, 3) lie in a half of space or in its plane, to rounding."""
    if not half_space:
        return np.ones(len(points), bool)
    side = 1 if half_space[0] == "+" else -1
    return np.asarray(side * points[:, "xyz".index(half_space[1])] >= -IN_PLANE * np.abs(points).max(axis=1))


def within(half_space: str, points: NDArray[np.float64], values: NDArray[Any]) -> NDArray[Any]:
    """Values (n, ...) of a field at points (n, 3) of a half of space, 0 beyond its plane, where layers have the field
    of images."""
    if half_space:
        values[~lies_in(half_space, points)] = 0
    return values


Mirrors = Mapping[str, Literal["even", "odd"]] | HalfSpace | Baffle | None


@dataclass(frozen=True, eq=False)
class MirroredSurface:
    """A part of a surface, and the whole with its images; one mesh without mirrors.

    part, whole: the meshes; triangle t of the part has the images k nt + t. mirrored: says how they belong together,
    None without mirrors. parities (m,): of each image, 1 for the part itself. half_space: which half of space there
    is, "+z" for z > 0, "-x" for x < 0 and so on, beyond which all is an image; "" where the whole is. is_baffle:
    whether the part lies in the plane of the half space.
    """

    part: TriangleMesh
    whole: TriangleMesh
    mirrored: MirroredMesh | None
    parities: NDArray[np.int64]
    half_space: str = ""
    is_baffle: bool = False

    @staticmethod
    def of(mesh: TriangleMesh, mirrors: Mirrors, of_currents: bool = False) -> "MirroredSurface":
        """The images of a mesh in mirrors, {plane: "even" or "odd"} or a half space. of_currents: whether fields are
        currents, which are odd in a rigid plane, of metal. TypeError or ValueError for other mirrors, MeshError for a
        mesh that is not on one side of them."""
        half_space = ""
        if isinstance(mirrors, Baffle):
            return MirroredSurface(mesh, mesh, None, np.ones(1, np.int64), _side_of_plane(mesh), True)
        if isinstance(mirrors, HalfSpace):
            side = mesh.vertices[mesh.used_vertices, "xyz".index(mirrors.plane)].sum()
            half_space = f"{'+' if side > 0 else '-'}{mirrors.plane}"
            mirrors = {mirrors.plane: "odd" if mirrors.rigid == of_currents else "even"}
        if mirrors is None or (isinstance(mirrors, Mapping) and not mirrors):
            return MirroredSurface(mesh, mesh, None, np.ones(1, np.int64))
        if not isinstance(mirrors, Mapping):
            raise TypeError(
                f'mirrors are given by plane, {{"z": "even"}} or {{"x": "odd"}}, or as HalfSpace("z"), got '
                f"{describe(mirrors)}"
            )
        if wrong := [each for each in mirrors.values() if each not in ("even", "odd")]:
            raise ValueError(f'fields are "even" or "odd" in a mirror, got {wrong[0]!r}')
        found = mesh.mirror_images(mirrors)
        odd = [plane in mirrors and mirrors[plane] == "odd" for plane in "xyz"]
        parities = np.prod(np.where(odd, found.signs, 1), axis=1)
        return MirroredSurface(found.part, found.whole, found, parities, half_space)

    def with_images(self, wave: Any) -> Any:
        """A wave in a half space with its reflection, and in all of space itself. ValueError for sources beyond the
        plane, and for plane waves that do not come to it."""
        if not self.half_space:
            return wave
        side, plane = (1 if self.half_space[0] == "+" else -1), self.half_space[1]
        for _, term in getattr(wave, "terms", ((1.0, wave),)):
            position, direction = getattr(term, "position", None), getattr(term, "direction", None)
            if direction is not None and side * direction["xyz".index(plane)] > -SYMMETRIC:
                raise ValueError(
                    f"the plane wave along {direction.round(6).tolist()} does not come to the plane {plane} = 0 from "
                    "the side of the mesh, which its reflection needs: turn it; a wave along a rigid plane is its own "
                    f'reflection and needs mirrors={{"{plane}": "even"}}'
                )
            if position is not None and side * position["xyz".index(plane)] <= 0:
                raise ValueError(
                    f"the source at {np.asarray(position).tolist()} lies in or beyond the plane {plane} = 0 of the "
                    "half space: place it on the side of the mesh"
                )
        return wave + (1.0 if self.is_baffle else complex(self.parities[1])) * wave.mirrored(plane)

    @property
    def share(self) -> float:
        """The part of all directions that is no image."""
        return 0.5 if self.half_space else 1.0

    @property
    def opposite(self) -> NDArray[np.int64]:
        """Parities (m,) of fields that are even where these are odd, plane by plane."""
        return self.parities if self.mirrored is None else np.where(self.mirrored.odd, -self.parities, self.parities)

    @property
    def is_even(self) -> bool:
        """Whether constants are among the fields."""
        return bool((self.parities > 0).all())

    def images_of(self, triangles: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of all images of triangles of the part, (m n,)."""
        return (np.arange(len(self.parities))[:, None] * self.part.number_of_triangles + triangles).ravel()

    def extended(self, values: NDArray[Any], element: Element, scalar: bool = False) -> NDArray[Any]:
        """(m nt, size) values at the nodes of an element, of all images, from those (nt, size) on the part. scalar:
        whether they are of a coefficient, such as an impedance, which is even in all mirrors."""
        if self.mirrored is None:
            return values
        order = exchanged(element)
        parities = np.ones_like(self.parities) if scalar else self.parities
        images = zip(parities, self.mirrored.odd, strict=True)
        return np.concatenate([parity * (values[:, order] if odd else values) for parity, odd in images])

    def even(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function f(x) or f(x, n) on the part as one of points and normals (n, 3) of the whole, even in all
        mirrors."""
        if self.mirrored is None:
            return function
        low, high = self.part.bounds
        side = np.array([(low + high)[i] if each in self.mirrored.planes else 0.0 for i, each in enumerate("xyz")])

        def of_whole(x: NDArray[np.float64], n: NDArray[np.float64]) -> Any:
            image = x * side < 0
            return called(function, np.where(image, -x, x), np.where(image, -n, n))

        return of_whole

    def require_planes(self, problem: str) -> None:
        """ValueError for a half space or a baffle, in problems that have planes of symmetry alone."""
        if self.half_space:
            raise ValueError(
                f"{problem} has no HalfSpace: give the plane as a mirror, {{{self.half_space[1]!r}: 'even'}} or 'odd'"
            )

    def require_symmetry(self, functions: MirroredFunctions, tested: NDArray[Any], mirrors: Mirrors) -> None:
        """ValueError for sources, by their integrals (dimension, ...) with functions of the whole, that are not as even
        or odd as the mirrors say."""
        if (asymmetry := functions.asymmetry(tested)) > SYMMETRIC:
            raise ValueError(
                f"the sources are not as even or odd as mirrors={mirrors} say: their field differs from its images by "
                f"{asymmetry:.2g} of its size; split them (decompose=True of AcousticProblem, decompose = true of a "
                "case), add their images, or solve on the whole, mesh.mirrored(plane)"
            )

    def on_part(self, rows: MirroredFunctions, columns: MirroredFunctions, whole: Any) -> sp.csr_array:
        """Integrals over the part of products of fields with unknowns, from those (rows of the space, columns of the
        space) of functions on the whole."""
        if rows.images is None or columns.images is None:
            return sp.csr_array(whole)
        return sp.csr_array(rows.images.T @ whole @ columns.images / len(self.parities))

    def functions(self, space: Any) -> MirroredFunctions:
        """The functions of a space on the whole that have unknowns, with their images."""
        return MirroredFunctions.of(space, self.mirrored, self.parities)


class Mirrored:
    """A problem on a part of a surface. mesh: the part. mirrors: as of `MirroredSurface.of`. space: the name of the
    space of the unknown, one of `spaces`."""

    mesh: Any
    mirrors: Mirrors
    space: Any
    spaces: ClassVar[tuple[str, ...]] = ("P1", "P2")

    @cached_property
    def surface(self) -> MirroredSurface:
        """The mesh, and the whole with its images in mirrors."""
        return MirroredSurface.of(self.mesh, self.mirrors)

    @cached_property
    def function_space(self) -> Any:
        """The space of the unknown on the whole surface."""
        return space_named(self.space, self.spaces, self.surface.whole)

    @cached_property
    def functions(self) -> MirroredFunctions:
        """The functions of the part, with their images."""
        return self.surface.functions(self.function_space)


def _side_of_plane(mesh: TriangleMesh) -> str:
    """The half space of a baffle, as "+z"; ValueError for a mesh that does not lie in a plane of coordinates."""
    x = np.abs(mesh.vertices[mesh.used_vertices]).max(axis=0)
    flat = np.flatnonzero(x <= TOLERANCES.near * mesh.diameter)
    if len(flat) != 1:
        raise ValueError(
            "a Baffle needs a mesh in the plane x = 0, y = 0 or z = 0, as mesh.disc(radius, h), got one with "
            f"coordinates up to {x.round(6).tolist()}: move it there, or give the whole body"
        )
    heights = mesh.normals[:, flat[0]]
    if not (heights > 0).all() and not (heights < 0).all():
        raise ValueError("normals of a Baffle point to one side, that of the fluid: see mesh.check()")
    return f"{'+' if heights[0] > 0 else '-'}{'xyz'[flat[0]]}"
