"""All mesh formats: a new one is a file here and a word below, or an entry point of another package."""

from calderon.mesh.files.formats.abaqus import INP
from calderon.mesh.files.formats.format import Format
from calderon.mesh.files.formats.gmsh.format import MSH
from calderon.mesh.files.formats.nastran.reading import NASTRAN
from calderon.mesh.files.formats.obj import OBJ
from calderon.mesh.files.formats.others import MED, OFF, UNV, VTK, VTP, XDMF
from calderon.mesh.files.formats.ply import PLY
from calderon.mesh.files.formats.stl import STL
from calderon.mesh.files.formats.vtu import VTU
from calderon.processes.extensions import extensions

FORMATS = (MSH, VTU, STL, OBJ, PLY, INP, VTK, VTP, OFF, MED, XDMF, NASTRAN, UNV)
"""The formats of the package."""


def format_of(suffix: str) -> Format | None:
    """The format of files with an ending in lower case, of the package or of another one; None for an unknown one."""
    known = next((each for each in FORMATS if suffix in each.suffixes), None)
    return known or next((each for each in _added() if suffix in each.suffixes), None)


def suffixes(read: bool = False, write: bool = False, volumes: bool = False) -> list[str]:
    """Endings of all formats, or of those that are read, are written or hold volumes where that is requested."""
    return [
        suffix
        for each in (*FORMATS, *_added())
        if (each.read or not read) and (each.write or not write) and (each.write_volume or not volumes)
        for suffix in each.suffixes
    ]


def _added() -> list[Format]:
    return [*extensions("calderon.readers", Format).values()]
