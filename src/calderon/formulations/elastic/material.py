"""Isotropic, linearly elastic materials."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.greens import Elastostatic
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn
from calderon.validation import positive_length, real_array, real_number

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ElasticMaterial:
    """An isotropic, linearly elastic material.

    youngs_modulus: E in Pa. poissons_ratio: nu, above -1 and below 0.5. density: in kg/m^3, for gravity and rotation.
    expansion: the coefficient of thermal expansion in 1/K, for changes of temperature. yield_strength: in Pa, for
    safety factors. Any consistent units will do, such as mm, N, MPa and t/mm^3. ValueError for meaningless constants.
    """

    youngs_modulus: float
    poissons_ratio: float
    density: float | None = None
    expansion: float | None = None
    yield_strength: float | None = None

    def __post_init__(self) -> None:
        green = Elastostatic(self.youngs_modulus, self.poissons_ratio)
        object.__setattr__(self, "youngs_modulus", green.youngs_modulus)
        object.__setattr__(self, "poissons_ratio", green.poissons_ratio)
        for name in ("density", "yield_strength"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, positive_length(getattr(self, name), name))
        if self.expansion is not None:
            object.__setattr__(self, "expansion", real_number(self.expansion, "expansion"))

    @property
    def green(self) -> Elastostatic:
        """The fundamental solution."""
        return Elastostatic(self.youngs_modulus, self.poissons_ratio)

    @property
    def shear_modulus(self) -> float:
        """mu = E / (2 (1 + nu)) in Pa."""
        return self.green.shear_modulus

    @property
    def lame(self) -> float:
        """lambda = 2 mu nu / (1 - 2 nu) in Pa."""
        return self.green.lame

    @property
    def longitudinal_modulus(self) -> float:
        """lambda + 2 mu in Pa."""
        return self.lame + 2 * self.shear_modulus

    def stress_of(self, gradient: Array) -> Array:
        """Stresses (..., 3, 3) of gradients (..., 3, 3) of the displacement, Hooke's law."""
        gradient = real_array(gradient, "gradient", "gradients of a displacement")
        if gradient.shape[-2:] != (3, 3):
            raise ValueError(f"gradients have the shape (..., 3, 3), got {gradient.shape}")
        strain = (gradient + np.swapaxes(gradient, -1, -2)) / 2
        trace = np.trace(strain, axis1=-2, axis2=-1)[..., None, None]
        return np.asarray(self.lame * trace * np.eye(3) + 2 * self.shear_modulus * strain)

    def required(self, name: str, what: str) -> float:
        """A constant that `what` needs; ValueError if it is not given."""
        value = getattr(self, name)
        if value is None:
            raise ValueError(f"{what} needs the {name} of the material: try ElasticMaterial(..., {name}=...)")
        return float(value)


def von_mises(stress: Array) -> Array:
    """(...) von Mises stresses sqrt(3/2 s : s), s the deviator of stresses (..., 3, 3)."""
    mean = np.trace(stress, axis1=-2, axis2=-1)[..., None, None] / 3
    deviator = stress - mean * np.eye(3)
    return np.asarray(np.sqrt(1.5 * (deviator**2).sum(axis=(-2, -1))))


def warn_units(mesh: TriangleMesh, material: ElasticMaterial) -> None:
    """MeshWarning for a body of 10 m or more that is softer than 1 MPa: its numbers are rather those of mm and MPa."""
    if mesh.diameter >= 10.0 and material.youngs_modulus < 1e6:
        warn(
            f"a body of {mesh.diameter:.3g} m with a Young's modulus of {material.youngs_modulus:.3g} Pa: the numbers "
            'look like mm, N and MPa; say units="mm-N-MPa" (densities in t/mm^3), or give SI units'
        )
