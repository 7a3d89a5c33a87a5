"""Supports that hold an elastic solid and loads of its surface, on the triangles of a tag."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.elastic.tolerances import TOLERANCES
from calderon.spaces.space import evaluate_data
from calderon.validation import one_point, positive_length, real_number, unit_vector

Array = NDArray[np.float64]


class Face(NamedTuple):
    """The triangles of a tag: its name, unit normals (m, 3), centroids (m, 3), areas (m,), and corners (m, 3, 3)."""

    name: str
    normals: Array
    centroids: Array
    areas: Array
    corners: Array

    @property
    def inertia(self) -> Array:
        """(3, 3) the integral of |d|^2 1 - d d^T over the face, d from its centroid."""
        d = self.corners - self.centre
        middle = d.mean(axis=1)
        second = np.einsum("m,mki,mkj->ij", self.areas / 12, d, d) + np.einsum(
            "m,mi,mj->ij", 0.75 * self.areas, middle, middle
        )
        return np.asarray(np.trace(second) * np.eye(3) - second)

    def turning(self, moment: Array) -> Array:
        """a (3,) such that the traction a x (x - c), c the centroid of the face, has this moment about it."""
        inertia = self.inertia
        if np.linalg.cond(inertia) > 1e12:
            raise ValueError(f"the face {self.name!r} has too few triangles to bear a moment: refine it")
        return np.asarray(np.linalg.solve(inertia, moment))

    @property
    def area(self) -> float:
        """The area of the face."""
        return float(self.areas.sum())

    @property
    def centre(self) -> Array:
        """The centroid of the face."""
        return np.asarray(self.areas @ self.centroids / self.area)


class Support:
    """Displacements that are prescribed on a face: along `directions`, with `values`, or an elastic support."""

    def directions(self, face: Face) -> Array:
        """(k, 3) orthonormal directions along which the displacement is prescribed."""
        return np.zeros((0, 3))

    def values(self, x: Array) -> Array:
        """(n, 3) displacements at points, of which the parts along the directions hold."""
        return np.zeros_like(x)

    @property
    def stiffness(self) -> Array:
        """(3, 3) traction for each unit of displacement, against it, in N/m^3."""
        return np.zeros((3, 3))


@dataclass(frozen=True)
class Fixed(Support):
    """No displacement at all."""

    def directions(self, face: Face) -> Array:
        return np.eye(3)


@dataclass(frozen=True, eq=False)
class Prescribed(Support):
    """A given displacement in m: a vector (3,), with None for components that are free, or f(x), vectorised, with
    points and values (n, 3)."""

    displacement: Any

    def __post_init__(self) -> None:
        if callable(self.displacement):
            return
        given = list(np.atleast_1d(np.asarray(self.displacement, dtype=object)))
        if len(given) != 3 or all(each is None for each in given):
            raise ValueError(
                f"a prescribed displacement is three numbers, None for free ones, or f(x), got {self.displacement!r}"
            )
        one_point([0.0 if each is None else each for each in given], "the prescribed displacement")

    def directions(self, face: Face) -> Array:
        if callable(self.displacement):
            return np.eye(3)
        return np.eye(3)[[each is not None for each in self.displacement]]

    def values(self, x: Array) -> Array:
        if callable(self.displacement):
            return np.asarray(evaluate_data(self.displacement, x, np.zeros_like(x), (3,)), float)
        return np.broadcast_to([0.0 if each is None else float(each) for each in self.displacement], x.shape)


@dataclass(frozen=True, eq=False)
class RigidMotion(Support):
    """The face moves as a rigid body: u = translation + rotation x (x - centre), rotation in rad (small)."""

    translation: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike = (0.0, 0.0, 0.0)
    centre: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for name in ("translation", "rotation", "centre"):
            object.__setattr__(self, name, one_point(getattr(self, name), name))

    def directions(self, face: Face) -> Array:
        return np.eye(3)

    def values(self, x: Array) -> Array:
        return np.asarray(self.translation) + np.cross(np.asarray(self.rotation), x - np.asarray(self.centre))


@dataclass(frozen=True, eq=False)
class Roller(Support):
    """No displacement along one direction, free across it. direction: (3,); None for the normal of a plane face."""

    direction: ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.direction is not None:
            object.__setattr__(self, "direction", unit_vector(self.direction, "direction"))

    def directions(self, face: Face) -> Array:
        if self.direction is not None:
            return np.asarray(self.direction)[None]
        normal = face.areas @ face.normals
        normal = normal / max(float(np.linalg.norm(normal)), 1e-300)
        if (away := float(np.linalg.norm(face.normals - normal, axis=1).max())) > TOLERANCES.flat:
            raise ValueError(
                f"{type(self).__name__} needs a plane face, and normals of {face.name!r} differ by {away:.2g}: give "
                "each plane a tag of its own, or take Roller(direction)"
            )
        return np.asarray(normal[None])


@dataclass(frozen=True, eq=False)
class SymmetryPlane(Roller):
    """A plane of symmetry at any inclination: no displacement along its normal, no shear."""


@dataclass(frozen=True)
class ElasticSupport(Support):
    """Springs under a face: the traction -stiffness * u, in N/m^3 (Pa for each m), the same in all directions or, with
    a direction (3,), -stiffness (u . d) d along it alone."""

    modulus: float
    direction: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "modulus", positive_length(self.modulus, "the stiffness of an elastic support"))
        if self.direction is not None:
            object.__setattr__(self, "direction", unit_vector(self.direction, "direction"))

    @property
    def stiffness(self) -> Array:
        along = np.eye(3) if self.direction is None else np.outer(self.direction, self.direction)
        return self.modulus * along


class Load:
    """A load of a face as traction at its points."""

    def traction(self, face: Face) -> Callable[[Array, Array], Array]:
        """f(x, n) (m, 3) at points with outward normals (m, 3), in Pa."""
        raise NotImplementedError

    def wrench(self, face: Face) -> tuple[Array, Array] | None:
        """The force (3,) in N and its moment (3,) in N m about the centroid of the face that the tractions have exactly
        on any mesh, or None where the function of `traction` defines them."""
        return None


@dataclass(frozen=True, eq=False)
class Traction(Load):
    """Force per area in Pa: a vector (3,), or f(x) or f(x, n), vectorised, with values (m, 3)."""

    value: Any

    def __post_init__(self) -> None:
        if not callable(self.value):
            object.__setattr__(self, "value", one_point(self.value, "a traction"))

    def traction(self, face: Face) -> Callable[[Array, Array], Array]:
        return lambda x, n: np.asarray(evaluate_data(self.value, x, n, (3,)), float)


@dataclass(frozen=True, eq=False)
class Pressure(Load):
    """Pressure in Pa, against the outward normal: a number or f(x), f(x, n) with values (m,)."""

    value: Any

    def __post_init__(self) -> None:
        if not callable(self.value):
            real_number(self.value, "a pressure that is no function")

    def traction(self, face: Face) -> Callable[[Array, Array], Array]:
        return lambda x, n: -np.asarray(evaluate_data(self.value, x, n), float)[:, None] * n
