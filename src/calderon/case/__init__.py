"""Case files: a computation described in TOML, checked before anything is computed."""

from calderon.case.mesh import surface_mesh
from calderon.case.output import Angles, Rectangle
from calderon.case.reading import CaseError, CaseFile, parse, read
from calderon.case.registry import ModelledKind, schema
from calderon.case.table import CaseModel, Table, choices, key

__all__ = [
    "Angles",
    "CaseError",
    "CaseFile",
    "CaseModel",
    "ModelledKind",
    "Rectangle",
    "Table",
    "choices",
    "key",
    "parse",
    "read",
    "schema",
    "surface_mesh",
]
