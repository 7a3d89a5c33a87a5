"""Exact solutions: series and closed forms, for tests, examples and users; NumPy and SciPy only."""

from calderon.exact.angular import unit_directions
from calderon.exact.capacitance import (
    cube_capacitance,
    disc_capacitance,
    ellipsoid_capacitance,
    sphere_capacitance,
)
from calderon.exact.cavity import CavityMode, cubic_cavity
from calderon.exact.elastic_sphere import elastic_shell, elastic_sphere
from calderon.exact.fluid_layers import layered_fluid_sphere
from calderon.exact.hertz_dipole import HertzDipole, hertz_dipole
from calderon.exact.layered_head import head_magnetic_field, layered_head
from calderon.exact.mie import MieScattering, layered_sphere, mie_dielectric_sphere, mie_layered_sphere, mie_pec_sphere
from calderon.exact.point_sources import PointSources, point_sources, spread_point_sources
from calderon.exact.radiating_sphere import RadiatingSphere, radiating_cap, radiating_sphere
from calderon.exact.sphere import (
    SphereScattering,
    fluid_sphere,
    impedance_sphere,
    rigid_sphere,
    soft_sphere,
)
from calderon.exact.thin_dipole import thin_dipole_impedance
from calderon.exact.vacuum import (
    SPEED_OF_LIGHT,
    VACUUM_IMPEDANCE,
    VACUUM_PERMITTIVITY,
    conducting_permittivity,
)

__all__ = [
    "SPEED_OF_LIGHT",
    "VACUUM_IMPEDANCE",
    "VACUUM_PERMITTIVITY",
    "CavityMode",
    "HertzDipole",
    "MieScattering",
    "PointSources",
    "RadiatingSphere",
    "SphereScattering",
    "conducting_permittivity",
    "cubic_cavity",
    "cube_capacitance",
    "disc_capacitance",
    "elastic_shell",
    "elastic_sphere",
    "ellipsoid_capacitance",
    "fluid_sphere",
    "head_magnetic_field",
    "hertz_dipole",
    "impedance_sphere",
    "layered_fluid_sphere",
    "layered_head",
    "layered_sphere",
    "mie_dielectric_sphere",
    "mie_layered_sphere",
    "mie_pec_sphere",
    "point_sources",
    "radiating_cap",
    "radiating_sphere",
    "rigid_sphere",
    "soft_sphere",
    "sphere_capacitance",
    "spread_point_sources",
    "thin_dipole_impedance",
    "unit_directions",
]
