"""References of sound: spheres against series of spherical waves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.exact as exact
from calderon.coupling import ElasticScattering
from calderon.formulations import (
    AcousticProblem,
    ElasticMaterial,
    Fluid,
    SoundHardScattering,
    SoundSoftScattering,
    Velocity,
)
from calderon.mesh import ball, sphere
from calderon.references.reference import Reference
from calderon.waves import PlaneWave

DIRECTIONS = exact.unit_directions(np.linspace(0, np.pi, 37), np.zeros(37))
"""Directions in which far fields are compared."""


def deviation(found: NDArray[Any], known: NDArray[Any]) -> float:
    """The relative deviation in the Euclidean norm."""
    return float(np.linalg.norm(found - known) / np.linalg.norm(known))


def _scattered(problem: Any, series: exact.SphereScattering) -> float:
    found = problem.solve(PlaneWave(np.array([0.0, 0.0, 1.0]))).far_field(DIRECTIONS)
    return deviation(found, series.far_field(DIRECTIONS))


def _hard() -> float:
    return _scattered(SoundHardScattering(sphere(1.0, 0.25), 3.0), exact.rigid_sphere(3.0, 1.0))


def _soft() -> float:
    return _scattered(SoundSoftScattering(sphere(1.0, 0.25), 3.0), exact.soft_sphere(3.0, 1.0))


def _radiating() -> float:
    """The power of a sphere that pulses with 1 mm/s in air, at k a = 2."""
    air = Fluid(1.2, 343.0)
    found = AcousticProblem(sphere(1.0, 0.25), 2.0, fluid=air, conditions=Velocity(1e-3)).solve().sound_power
    known = exact.radiating_sphere(2.0, 1.0, slopes=[2j * air.impedance * 1e-3]).radiated_power(1.2, 343.0)
    return float(abs(found / known - 1))


def _steel() -> float:
    steel = ElasticMaterial.from_wave_speeds(7700.0, longitudinal=5950.0, shear=3240.0)
    water = Fluid(1000.0, 1500.0)
    return _scattered(
        ElasticScattering(ball(1.0, 0.4), 2.0, material=steel, fluid=water),
        exact.elastic_sphere(2.0, 1.0, steel, water),
    )


FAR = "far field at k a ="
HARD = Reference("rigid-sphere", f"{FAR} 3", "series of spherical waves", 0.01, _hard)
SOFT = Reference("soft-sphere", f"{FAR} 3", "series of spherical waves", 0.01, _soft)
RADIATING = Reference("pulsing-sphere", "sound power at k a = 2", "closed form", 0.01, _radiating)
STEEL = Reference(
    "steel-sphere", f"{FAR} 2 in water", "J. J. Faran, J. Acoust. Soc. Am. 23 (1951), 405", 0.03, _steel,
    (("skfem", "fem"),),
)  # fmt: skip
