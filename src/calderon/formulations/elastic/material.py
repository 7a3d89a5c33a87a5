"""Isotropic, linearly elastic materials."""

from dataclasses import dataclass
from typing import Any

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
    safety factors. loss_factor: eta of vibrations, exp(-i omega t), whose moduli are those times 1 - i eta; static
    loads do not depend on it. Any consistent units will do, such as mm, N, MPa and t/mm^3. ValueError for meaningless
    constants.
    """

    youngs_modulus: float
    poissons_ratio: float
    density: float | None = None
    expansion: float | None = None
    yield_strength: float | None = None
    loss_factor: float = 0.0

    def __post_init__(self) -> None:
        green = Elastostatic(self.youngs_modulus, self.poissons_ratio)
        object.__setattr__(self, "youngs_modulus", green.youngs_modulus)
        object.__setattr__(self, "poissons_ratio", green.poissons_ratio)
        for name in ("density", "yield_strength"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, positive_length(getattr(self, name), name))
        if self.expansion is not None:
            object.__setattr__(self, "expansion", real_number(self.expansion, "expansion"))
        loss = real_number(self.loss_factor, "loss_factor")
        if not 0 <= loss < 1:
            raise ValueError(
                f"loss_factor is at least 0 and below 1, moduli are times 1 - i loss_factor: got {self.loss_factor!r}"
            )
        object.__setattr__(self, "loss_factor", loss)

    @classmethod
    def from_wave_speeds(
        cls, density: float, longitudinal: float, shear: float, loss_factor: float = 0.0
    ) -> "ElasticMaterial":
        """The material with this density in kg/m^3 and these speeds of longitudinal and shear waves in m/s, without
        loss: mu = rho c_T^2, lambda = rho (c_L^2 - 2 c_T^2). ValueError unless c_L > 2 c_T / sqrt(3), below which
        pressure would make a body larger.

            steel = cal.ElasticMaterial.from_wave_speeds(7700.0, longitudinal=5950.0, shear=3240.0)
        """
        rho = positive_length(density, "density")
        fast, slow = positive_length(longitudinal, "longitudinal"), positive_length(shear, "shear")
        if not 3 * fast**2 > 4 * slow**2:
            raise ValueError(
                f"longitudinal waves are faster than 2 / sqrt(3) times shear waves, got {fast:g} and {slow:g} m/s: "
                "give the density, then longitudinal and shear"
            )
        ratio = (fast**2 - 2 * slow**2) / (2 * (fast**2 - slow**2))
        return cls(2 * rho * slow**2 * (1 + ratio), ratio, rho, loss_factor=loss_factor)

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
    def complex_shear_modulus(self) -> complex:
        """mu (1 - i eta) in Pa, of vibrations with the loss factor eta."""
        return self.shear_modulus * (1 - 1j * self.loss_factor)

    @property
    def complex_lame(self) -> complex:
        """lambda (1 - i eta) in Pa, of vibrations with the loss factor eta."""
        return self.lame * (1 - 1j * self.loss_factor)

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


def largest_von_mises(stress: NDArray[Any]) -> Array:
    """(...) the largest von Mises stress during a period of complex stresses (..., 3, 3), Re(sigma exp(-i omega t)).

    With the deviator s and the square 3/2 Re(s exp(-i omega t)) : Re(s exp(-i omega t)) of the stress at a time, it is
    the root of 3/4 (s : s* + |s : s|).
    """
    deviator = stress - np.trace(stress, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)
    mean, swing = (np.abs(deviator) ** 2).sum(axis=(-2, -1)), np.abs((deviator**2).sum(axis=(-2, -1)))
    return np.asarray(np.sqrt(0.75 * (mean + swing)))


def warn_units(mesh: TriangleMesh, material: ElasticMaterial) -> None:
    """MeshWarning for a body of 10 m or more that is softer than 1 MPa: its numbers are rather those of mm and MPa."""
    if mesh.diameter >= 10.0 and material.youngs_modulus < 1e6:
        warn(
            f"a body of {mesh.diameter:.3g} m with a Young's modulus of {material.youngs_modulus:.3g} Pa: the numbers "
            'look like mm, N and MPa; say units="mm-N-MPa" (densities in t/mm^3), or give SI units'
        )
