"""Case files: a computation described in TOML, checked before anything is computed, and built into a problem."""

from calderon.case.building import initial_mode, require_posed, simulation, surface_mesh, volume_mesh
from calderon.case.models import Case, TransientCase
from calderon.case.output import Angles, Cut, FarField, Rectangle, Reference
from calderon.case.periodic import PeriodicCase
from calderon.case.physics import Physics
from calderon.case.planar import PlanarCase
from calderon.case.reading import AnyCaseFile, CaseError, CaseFile, parse, read
from calderon.case.reflectarray import ReflectarrayCase
from calderon.case.schema import schema
from calderon.case.solid import SolidCase
from calderon.case.solid_building import elastic_solid, elastic_solids, solid_mesh
from calderon.case.table import choices

__all__ = [
    "Angles",
    "AnyCaseFile",
    "Case",
    "CaseError",
    "CaseFile",
    "Cut",
    "FarField",
    "PeriodicCase",
    "Physics",
    "PlanarCase",
    "Rectangle",
    "Reference",
    "ReflectarrayCase",
    "SolidCase",
    "TransientCase",
    "choices",
    "elastic_solid",
    "elastic_solids",
    "initial_mode",
    "parse",
    "read",
    "require_posed",
    "schema",
    "simulation",
    "solid_mesh",
    "surface_mesh",
    "volume_mesh",
]
