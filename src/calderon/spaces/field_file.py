"""Fields on a surface as a file for ParaView."""

import os
from xml.sax.saxutils import escape

from calderon.data.paraview import Fields
from calderon.files import file_path, whole_file
from calderon.files.formats import meshio
from calderon.mesh import TriangleMesh


def _escaped(name: str) -> str:
    """A name as an attribute in XML, into which meshio writes it as it is."""
    return escape(name, {'"': "&quot;"})


def write_fields(path: str | os.PathLike[str], mesh: TriangleMesh, at_vertices: Fields, on_triangles: Fields) -> None:
    """Write mesh, tags and fields to a .vtu file. Atomic: it appears whole or not at all. ValueError for another
    ending."""
    if file_path(path, "a field", "u.vtu").suffix.lower() != ".vtu":
        raise ValueError(
            f"fields on surfaces are written to .vtu files, got {str(path)!r}: give a name such as 'u.vtu'"
        )
    cell_data = {"tag": [mesh.tags]} | {_escaped(name): [values] for name, values in on_triangles.items()}
    point_data = {_escaped(name): values for name, values in at_vertices.items()}
    output = meshio.Mesh(mesh.vertices, [("triangle", mesh.triangles)], point_data=point_data, cell_data=cell_data)
    with whole_file(path) as scratch:
        meshio.write(scratch, output, file_format="vtu")
