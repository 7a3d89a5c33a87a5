"""Loads of the volume, by particular solutions: no mesh of the volume is needed; and sets of loads.

A particular displacement u_p solves div sigma(u_p) + f = 0; the rest u - u_p has no load of the volume. With
M = lambda + 2 mu, s = g.x / |g|, and p the distance vector from the axis of a rotation,

    gravity       f = rho g           u_p = -rho s^2 g / (2 M)
    rotation      f = rho w^2 p       u_p = -rho w^2 |p|^2 p / (8 M)
    temperature   stress-free         u_p = alpha dT x,

and so does a uniform stress far from the cavities of a solid without outer surface, u_p = strain x.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.elastic.material import ElasticMaterial
from calderon.mesh import TriangleMesh
from calderon.validation import describe, list_of, one_point, real_number, real_numbers, unit_vector

Array = NDArray[np.float64]


class BodyLoad:
    """A load of the volume, at points (n, 3) from the centre of the body (see `on`). Nothing, unless overridden.

    moves: whether `source` is not zero."""

    moves: ClassVar[bool] = False

    def check(self, material: ElasticMaterial) -> None:
        """ValueError if the material lacks a constant."""

    def on(self, mesh: TriangleMesh, centre: Array) -> "BodyLoad":
        """The load on the body with this surface, whose normals point out of it, for points from a centre (3,)
        instead of the origin of coordinates."""
        return self

    def force(self, x: Array, material: ElasticMaterial) -> Array:
        """(n, 3) force per volume."""
        return np.zeros_like(x)

    def displacement(self, x: Array, material: ElasticMaterial) -> Array:
        """(n, 3) particular displacement."""
        return np.zeros_like(x)

    def stress(self, x: Array, material: ElasticMaterial) -> Array:
        """(n, 3, 3) its stress."""
        return np.zeros((len(x), 3, 3))

    def source(self, x: Array, material: ElasticMaterial) -> Array:
        """(n, 3) the displacement of the load of the volume in a solid without end, if it is not in `displacement`."""
        return np.zeros_like(x)

    def planned(self, points: int) -> tuple[float, int]:
        """Seconds and bytes that `source` at so many points of the surface will take, about."""
        return 0.0, 0

    def source_stress(self, x: Array, material: ElasticMaterial) -> Array:
        """(n, 3, 3) its stress inside."""
        return np.zeros((len(x), 3, 3))

    def temperature(self, x: Array) -> Array:
        """(n,) the change of temperature from the state without stress, inside and at vertices of the surface."""
        return np.zeros(len(x))

    def free_expansion(self, x: Array, material: ElasticMaterial) -> Array:
        """(n, 3) the part of the displacement that belongs to free expansion; ValueError where there is none."""
        return np.zeros_like(x)


@dataclass(frozen=True, eq=False)
class Gravity(BodyLoad):
    """The weight of the solid. acceleration: (3,) in m/s^2, such as [0, 0, -9.81]."""

    acceleration: ArrayLike

    def __post_init__(self) -> None:
        object.__setattr__(self, "acceleration", one_point(self.acceleration, "the acceleration of gravity"))

    def check(self, material: ElasticMaterial) -> None:
        material.required("density", "gravity")

    def force(self, x: Array, material: ElasticMaterial) -> Array:
        return np.broadcast_to(material.required("density", "gravity") * np.asarray(self.acceleration), x.shape)

    def displacement(self, x: Array, material: ElasticMaterial) -> Array:
        weight, along, down = self._along(x, material)
        return -(weight * along**2 / (2 * material.longitudinal_modulus))[:, None] * down

    def stress(self, x: Array, material: ElasticMaterial) -> Array:
        weight, along, down = self._along(x, material)
        unit = material.lame * np.eye(3) + 2 * material.shear_modulus * np.outer(down, down)
        return -(weight * along / material.longitudinal_modulus)[:, None, None] * unit

    def _along(self, x: Array, material: ElasticMaterial) -> tuple[float, Array, Array]:
        """Weight per volume, coordinate along gravity, its direction."""
        size = float(np.linalg.norm(self.acceleration))
        down = np.asarray(self.acceleration) / (size or 1.0)
        return material.required("density", "gravity") * size, x @ down, down


@dataclass(frozen=True, eq=False)
class Spin(BodyLoad):
    """The centrifugal forces of a steady rotation, as seen by the solid.

    angular_velocity: in rad/s. axis: direction (3,). centre: a point (3,) of the axis.
    """

    angular_velocity: float
    axis: Any = (0.0, 0.0, 1.0)
    centre: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "angular_velocity", real_number(self.angular_velocity, "angular_velocity"))
        object.__setattr__(self, "axis", unit_vector(self.axis, "axis"))
        object.__setattr__(self, "centre", one_point(self.centre, "centre"))

    def check(self, material: ElasticMaterial) -> None:
        material.required("density", "a rotation")

    def on(self, mesh: TriangleMesh, centre: Array) -> BodyLoad:
        return Spin(self.angular_velocity, self.axis, np.asarray(self.centre) - centre)

    def force(self, x: Array, material: ElasticMaterial) -> Array:
        return self._strength(material) * self._away(x)[0]

    def displacement(self, x: Array, material: ElasticMaterial) -> Array:
        away, square = self._away(x)
        return -self._strength(material) / (8 * material.longitudinal_modulus) * square[:, None] * away

    def stress(self, x: Array, material: ElasticMaterial) -> Array:
        away, square = self._away(x)
        axis = np.asarray(self.axis)
        across = np.eye(3) - np.outer(axis, axis)
        gradient = 2 * away[:, :, None] * away[:, None, :] + square[:, None, None] * across
        return material.stress_of(-self._strength(material) / (8 * material.longitudinal_modulus) * gradient)

    def _strength(self, material: ElasticMaterial) -> float:
        return material.required("density", "a rotation") * self.angular_velocity**2

    def _away(self, x: Array) -> tuple[Array, Array]:
        d = x - np.asarray(self.centre)
        away = d - np.outer(d @ np.asarray(self.axis), self.axis)
        return away, (away**2).sum(axis=1)


@dataclass(frozen=True, eq=False)
class TemperatureChange(BodyLoad):
    """A uniform change of temperature in K from the state without stress."""

    change: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "change", real_number(self.change, "the change of temperature"))

    def check(self, material: ElasticMaterial) -> None:
        material.required("expansion", "a change of temperature")

    def displacement(self, x: Array, material: ElasticMaterial) -> Array:
        return material.required("expansion", "a change of temperature") * self.change * x

    def temperature(self, x: Array) -> Array:
        return np.full(len(x), self.change)

    def free_expansion(self, x: Array, material: ElasticMaterial) -> Array:
        return self.displacement(x, material)


@dataclass(frozen=True, eq=False)
class RemoteStress(BodyLoad):
    """A uniform stress (3, 3), symmetric, in Pa, far from the cavities of an `ElasticSolid(..., exterior=True)`."""

    stress_tensor: ArrayLike

    def __post_init__(self) -> None:
        tensor = real_numbers(self.stress_tensor, (3, 3), "a remote stress", "a tensor of 3 x 3 finite real numbers")
        if not np.allclose(tensor, tensor.T):
            raise ValueError(f"a remote stress is symmetric, got {tensor.tolist()}")
        object.__setattr__(self, "stress_tensor", tensor.astype(float))

    def displacement(self, x: Array, material: ElasticMaterial) -> Array:
        tensor, nu = np.asarray(self.stress_tensor), material.poissons_ratio
        strain = ((1 + nu) * tensor - nu * np.trace(tensor) * np.eye(3)) / material.youngs_modulus
        return x @ strain.T

    def stress(self, x: Array, material: ElasticMaterial) -> Array:
        return np.broadcast_to(np.asarray(self.stress_tensor), (len(x), 3, 3))


@dataclass(frozen=True, eq=False)
class LoadCase:
    """One set of loads: loads by tag and body, as `ElasticSolid` takes them, instead of those of the solid."""

    loads: Mapping[Any, Any] | None = None
    body: Sequence[BodyLoad] = ()

    def __post_init__(self) -> None:
        if self.loads is not None and not isinstance(self.loads, Mapping):
            raise TypeError(f"loads are given by tag, {{tag: Force(...)}}, got {describe(self.loads)}")
        body = list_of(self.body, BodyLoad, "body is a list of loads of the volume, such as Gravity")
        object.__setattr__(self, "body", body)

    @staticmethod
    def of(data: Any) -> "LoadCase":
        """A load case, or that of loads by tag; TypeError for others."""
        if isinstance(data, LoadCase):
            return data
        if not isinstance(data, Mapping):
            raise TypeError(f"a load case is a LoadCase or loads by tag, {{tag: Force(...)}}, got {describe(data)}")
        return LoadCase(data)
