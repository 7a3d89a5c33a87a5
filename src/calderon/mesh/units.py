"""Lengths in SI: units of case files by name, and a warning when mesh and wavenumber do not fit together."""

from calderon.mesh.errors import MeshError, warn
from calderon.mesh.triangles import TriangleMesh
from calderon.validation import finite_complex, instance

METRES = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "km": 1e3, "in": 0.0254, "ft": 0.3048}


def metres_per(unit: str) -> float:
    """Length of a unit in metres: metres_per("mm") = 0.001; MeshError for an unknown unit."""
    if not isinstance(unit, str) or unit not in METRES:
        raise MeshError(f"unknown unit {unit!r}: choose {', '.join(map(repr, METRES))}")
    return METRES[unit]


def warn_wavenumber(mesh: TriangleMesh, wavenumber: complex) -> None:
    """MeshWarning if |k| times the mesh's diameter is above 3000 or below 1e-3: are mesh and k in the same unit?"""
    instance(mesh, TriangleMesh, "a mesh of triangles is needed")
    smallest, largest = 1e-3, 3000.0  # outside of these it is nearly always a mistake of units
    size = abs(finite_complex(wavenumber, "wavenumber")) * mesh.diameter
    if 0 < size < smallest or size > largest:
        hint = (
            "mesh in millimetres? read(path, scale=1e-3)"
            if size > largest
            else "mesh in kilometres, k per millimetre, or a frequency in GHz?"
        )
        warn(
            f"wavenumber times diameter is {size:.3g} (k = {wavenumber:.6g}, diameter = {mesh.diameter:.6g}): "
            f"between {smallest:g} and {largest:g} is usual; check the units ({hint})"
        )
