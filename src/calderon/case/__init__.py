"""Case files: a computation described in TOML, checked before anything is computed, and built into a problem."""

from calderon.case.building import (
    acoustic_problem,
    antenna,
    electromagnetic_problem,
    electromagnetic_wave,
    incident_wave,
    interior_fluid,
    require_posed,
    static_problem,
    surface_mesh,
    wavenumbers,
)
from calderon.case.models import Case
from calderon.case.output import Angles, Reference
from calderon.case.physics import Physics
from calderon.case.reading import AnyCaseFile, CaseError, CaseFile, parse, read
from calderon.case.transient import TransientCase

__all__ = [
    "Angles",
    "AnyCaseFile",
    "Case",
    "CaseError",
    "CaseFile",
    "Physics",
    "Reference",
    "TransientCase",
    "acoustic_problem",
    "antenna",
    "electromagnetic_problem",
    "electromagnetic_wave",
    "incident_wave",
    "interior_fluid",
    "parse",
    "read",
    "require_posed",
    "static_problem",
    "surface_mesh",
    "wavenumbers",
]
