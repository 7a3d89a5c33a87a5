"""Exact solutions: series and closed forms, for tests, examples and users; NumPy and SciPy only."""

from calderon.exact.capacitance import (
    cube_capacitance,
    disc_capacitance,
    ellipsoid_capacitance,
    sphere_capacitance,
)
from calderon.exact.point_sources import PointSources, point_sources, spread_point_sources
from calderon.exact.radiating import RadiatingSphere, radiating_sphere
from calderon.exact.sphere import SphereScattering, fluid_sphere, impedance_sphere, rigid_sphere, soft_sphere

__all__ = [
    "PointSources",
    "RadiatingSphere",
    "SphereScattering",
    "cube_capacitance",
    "disc_capacitance",
    "ellipsoid_capacitance",
    "fluid_sphere",
    "impedance_sphere",
    "point_sources",
    "radiating_sphere",
    "rigid_sphere",
    "soft_sphere",
    "sphere_capacitance",
    "spread_point_sources",
]
