"""Loads of a face by their resultants: forces, also from a distance, moments, bearings and masses."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.elastic.conditions.face_conditions import Face, Load
from calderon.validation import one_point, positive_length

Array = NDArray[np.float64]
ALONG = 1e-3
"""Part of a bearing load along the axis of its bore, at most."""
TINY = 1e-9
"""Least stiffness of a pressed wall in one direction over that in the other."""
HELD = 1e-2
"""Stiffness along the axis of a bore over that across it, below which it counts as none."""


@dataclass(frozen=True, eq=False)
class Force(Load):
    """A resultant force (3,) in N, spread evenly over the face: its moment is that of the force at the centroid.

    at: a point (3,) at which it acts instead, on the face or away from it, as over a rigid arm. Then its moment about
    the centroid c is borne by the traction a x (x - c) in addition.
    """

    resultant: ArrayLike
    at: ArrayLike | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "resultant", one_point(self.resultant, "a force"))
        if self.at is not None:
            object.__setattr__(self, "at", one_point(self.at, "the point at which a force acts"))

    def traction(self, face: Face) -> Callable[[Array, Array], Array]:
        force, moment = self.wrench(face) or (np.asarray(self.resultant), np.zeros(3))
        even = force / face.area
        if self.at is None:
            return lambda x, n: np.broadcast_to(even, x.shape)
        turning = face.turning(moment)
        return lambda x, n: even + np.cross(turning, x - face.centre)

    def wrench(self, face: Face) -> tuple[Array, Array] | None:
        if self.at is None:
            return None
        force = np.asarray(self.resultant)
        return force, np.cross(np.asarray(self.at) - face.centre, force)


@dataclass(frozen=True, eq=False)
class Moment(Load):
    """A resultant moment (3,) in N m without force: the traction a x (x - c), c the centroid of the face. On a bore, a
    moment along its axis is a torque by even tangential tractions."""

    resultant: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "resultant", one_point(self.resultant, "a moment"))

    def traction(self, face: Face) -> Callable[[Array, Array], Array]:
        turning = face.turning(np.asarray(self.resultant))
        return lambda x, n: np.cross(turning, x - face.centre)

    def wrench(self, face: Face) -> tuple[Array, Array] | None:
        return np.zeros(3), np.asarray(self.resultant)


@dataclass(frozen=True, eq=False)
class BearingLoad(Load):
    """A force (3,) in N of a pin on the wall of its bore, or of a ring on its shaft: the pressure p_0 cos(theta) on the
    half that it is pressed against, theta from the force, and none on the other half.

    On a whole bore of radius r and length L, p_0 = 2 F / (pi r L). The force is across the axis of the bore; a part
    along it is a `Force`. It acts at the centroid of a whole bore. ValueError for faces that bear no such force.
    """

    resultant: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "resultant", one_point(self.resultant, "a bearing load"))

    def traction(self, face: Face) -> Callable[[Array, Array], Array]:
        slope = self._slope(face)
        return lambda x, n: np.minimum(n @ slope, 0.0)[:, None] * n

    def wrench(self, face: Face) -> tuple[Array, Array] | None:
        slope = self._slope(face)
        pressed = (face.areas * np.minimum(face.normals @ slope, 0.0))[:, None] * face.normals
        return np.asarray(self.resultant), np.cross(face.centroids - face.centre, pressed).sum(axis=0)

    def _slope(self, face: Face) -> Array:
        """g (3,) such that the tractions (n . g) n, where n . g is negative, have the force of the load across the
        axis, that of a least stiffness of all its normals."""
        force = np.asarray(self.resultant)
        stiffness, axes = np.linalg.eigh(np.einsum("m,mi,mj->ij", face.areas, face.normals, face.normals))
        axis, size = axes[:, 0], float(np.linalg.norm(force))
        if stiffness[0] > 0.2 * stiffness[1] or stiffness[1] < HELD * stiffness[2]:
            raise ValueError(f"a bearing load needs the wall of a bore or a shaft, and {face.name!r} is none")
        if abs(axis @ force) > ALONG * size:
            raise ValueError(
                f"a bearing load acts across the axis of {face.name!r}, {np.round(axis, 4).tolist()}, got "
                f"{force.tolist()}: give the part along the axis as a Force"
            )
        across = axes[:, 1:]
        slope = force / stiffness[1]
        for _ in range(20):
            here = face.normals @ slope < 0
            normals = face.normals[here] @ across
            held = np.einsum("m,mi,mj->ij", face.areas[here], normals, normals)
            if np.linalg.cond(held) > 1 / TINY:
                raise ValueError(f"the face {face.name!r} has no wall against which the load {force.tolist()} presses")
            last, slope = slope, across @ np.linalg.solve(held, across.T @ force)
            if np.allclose(last, slope, rtol=1e-12, atol=0):
                break
        return np.asarray(slope)


@dataclass(frozen=True, eq=False)
class PointMass(Load):
    """The weight of a rigid mass in kg at a point (3,), borne by the face as a force from there: that of a motor on its
    flange. acceleration: (3,) of gravity, in m/s^2."""

    mass: float
    at: ArrayLike
    acceleration: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", positive_length(self.mass, "a mass"))
        object.__setattr__(self, "at", one_point(self.at, "the point of a mass"))
        object.__setattr__(self, "acceleration", one_point(self.acceleration, "the acceleration of gravity"))

    @property
    def weight(self) -> Force:
        """Its weight at its point."""
        return Force(self.mass * np.asarray(self.acceleration), self.at)

    def traction(self, face: Face) -> Callable[[Array, Array], Array]:
        return self.weight.traction(face)

    def wrench(self, face: Face) -> tuple[Array, Array] | None:
        return self.weight.wrench(face)
