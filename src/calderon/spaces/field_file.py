"""Fields on a surface as a file for ParaView."""

import os
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import meshio
import numpy as np
from numpy.typing import NDArray

from calderon.files import whole_file
from calderon.mesh import TriangleMesh

Fields = dict[str, NDArray[Any]]


def named_fields(label: str, unit: str, values: NDArray[Any]) -> Fields:
    """Real arrays by name for values (n,) or vectors (n, 3): themselves, or real part, imaginary part, magnitude and,
    of complex numbers, phase in rad. The magnitude of a vector is the square root of the sum of |components|^2.
    """
    name = f"{label} [{unit}]" if unit else label
    vectors = values.ndim == 2
    size = np.linalg.norm(values, axis=1) if vectors else np.abs(values)
    magnitude = {f"{name} magnitude": size.astype(float)}
    if not np.iscomplexobj(values):
        return {name: values.astype(float)} | (magnitude if vectors else {})
    fields = {f"{name} real": values.real.astype(float), f"{name} imaginary": values.imag.astype(float)} | magnitude
    return fields if vectors else fields | {f"{label} phase [rad]": np.angle(values).astype(float)}


def _escaped(name: str) -> str:
    """A name as an attribute in XML, into which meshio writes it as it is."""
    return escape(name, {'"': "&quot;"})


def write_fields(path: str | os.PathLike[str], mesh: TriangleMesh, at_vertices: Fields, on_triangles: Fields) -> None:
    """Write mesh, tags and fields to a .vtu file. Atomic: it appears whole or not at all. ValueError for another
    ending."""
    if Path(path).suffix.lower() != ".vtu":
        raise ValueError(
            f"fields on surfaces are written to .vtu files, got {str(path)!r}: give a name such as 'u.vtu'"
        )
    cell_data = {"tag": [mesh.tags]} | {_escaped(name): [values] for name, values in on_triangles.items()}
    point_data = {_escaped(name): values for name, values in at_vertices.items()}
    output = meshio.Mesh(mesh.vertices, [("triangle", mesh.triangles)], point_data=point_data, cell_data=cell_data)
    with whole_file(path) as scratch:
        meshio.write(scratch, output, file_format="vtu")
