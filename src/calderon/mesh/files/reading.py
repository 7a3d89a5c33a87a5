"""Surface meshes from files, cleaned with a warning, or refused with advice; and those that ship with the package."""

import os
import re
from importlib import resources
from pathlib import Path

import numpy as np

from calderon.mesh.coincident import joining_tolerance
from calderon.mesh.errors import MeshError, warn
from calderon.mesh.files.cad import CAD_FORMATS, read_cad
from calderon.mesh.files.content import FIRST_BYTES, SCRIPTS, commented_names, file_content, mesh_path
from calderon.mesh.files.formats.catalogue import format_of
from calderon.mesh.files.formats.format import COMMENT, COUNT, Format
from calderon.mesh.files.surfaces import surface_of
from calderon.mesh.sizes import scale_factor
from calderon.mesh.triangles import TriangleMesh

SAMPLES = {
    (name, resolution): f"{name.replace('-', '_')}_{resolution}.npz"
    for name in ("submarine", "bracket", "machine-tool")
    for resolution in ("coarse", "fine")
}


def read(
    path: str | Path, scale: float = 1.0, tolerance: float | None = None, *, h: float | None = None
) -> TriangleMesh:
    """Read the triangles of a .msh, .vtu, .stl, .obj, .ply or .inp file, or of a Nastran deck (.bdf, .nas, .fem, .dat:
    properties as tags, grids in any coordinate system), times scale (1e-3: mm to m).

    Files of other programs are read by meshio (.vtk, .off, .med, .xdmf), gmsh (.unv) and PyVista (.vtp, polygons in
    .vtk), with the same checks of what was read. CAD models (.step, .stp, .iges, .igs,
    .brep) are meshed by gmsh with edges of the mean length h, in metres: see `read_cad`.

    Tags: physical groups, element sets, groups, properties or cell data "tags"; names with them. Vertices of open edges
    that coincide within a tolerance (default 1e-7 of the diameter, in the file's unit) are joined, which heals STL and
    torn exports. Each of these gives a MeshWarning: vertices joined (not in STL, where it is the rule), triangles
    without area or repeated dropped, quadrilaterals split, curved triangles flattened, the boundary of tetrahedra
    taken, triangles in several groups or sets, of which the smallest is used. Unused vertices are dropped.

    Raises MeshError for a missing, empty, unreadable or unknown file, an incomplete one, if it holds no surface or
    elements that are not supported, for h of a mesh, and for a CAD model without h.
    """
    path, scale = mesh_path(path), scale_factor(scale)
    joining_tolerance(tolerance, 1.0)
    if path.suffix.lower() in CAD_FORMATS:
        if h is None:
            raise MeshError(f"{path}: a CAD model is meshed when it is read: give the length of edges, h=, in metres")
        return read_cad(path, h) if scale == 1.0 else read_cad(path, h / scale).scaled(scale)
    if h is not None and path.suffix.lower() not in SCRIPTS:
        raise MeshError(f"{path}: h is for CAD models ({', '.join(CAD_FORMATS)}); see mesh.remesh(h) for others")
    content = file_content(path)
    form = format_of(path.suffix.lower())
    assert form is not None
    names = commented_names(path, COMMENT)

    def count(number: int) -> None:
        _refuse_cut_text(path, form, number)

    surface = surface_of(content, path, scale, tolerance, names, count, form.is_soup)
    try:
        return TriangleMesh(*surface)
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None


def _refuse_cut_text(path: Path, form: Format, number: int) -> None:
    """MeshError for fewer triangles than were written, if a comment says how many, and without the last line that one
    promises; a notice where a text that has no end mark ends within a line."""
    with path.open("rb") as file:
        head = file.read(FIRST_BYTES)
        file.seek(-1, os.SEEK_END)
        last = file.read()
    end = form.last_line.encode()
    if end and end in head and b"\n" + end not in path.read_bytes():
        raise MeshError(f"{path}: incomplete, its last line {form.last_line!r} is missing; export it again")
    counted = re.search(re.escape(COUNT.encode()) + rb"(\d+)", head)
    if counted and number < int(counted[1]):
        raise MeshError(f"{path}: incomplete, it holds {number} of {int(counted[1])} triangles; export it again")
    if form.is_text(head) and last not in b"\r\n":
        warn(f"{path}: the last line does not end; if the file is incomplete, its last triangle is wrong")


def sample(name: str, resolution: str = "coarse") -> TriangleMesh:
    """A mesh that ships with the package, in metres.

    "submarine": closed hull of 62 m from the bow at x = -31 m to the stern at x = 31 m, radius 3.5 m, with sail (up to
    z = 7.2 m), sail planes and a cruciform tail; parts are named "hull", "sail", "sail planes", "rudders". Resolution
    "coarse" has edges of about 1 m (for wavelengths above 6 m), "fine" of about 0.5 m (above 3 m). "bracket": two
    plates with a rib and a boss, 120 mm long; faces "base" (underneath), "bolts" (walls of four holes), "bore", "body".
    "machine-tool": bed, column and head, 1.9 m high; faces "floor" (underneath), "table", "spindle" (its nose), "body".

    Raises MeshError for an unknown name or resolution.
    """
    names, resolutions = sorted({key[0] for key in SAMPLES}), sorted({key[1] for key in SAMPLES})
    known = isinstance(name, str) and isinstance(resolution, str)
    if not known or name not in names or resolution not in resolutions:
        raise MeshError(
            f"unknown sample {name!r} with resolution {resolution!r}: "
            f"choose the name from {', '.join(map(repr, names))} and resolution {', '.join(map(repr, resolutions))}"
        )
    file = resources.files("calderon.mesh") / "data" / SAMPLES[name, resolution]
    with file.open("rb") as stream, np.load(stream) as data:
        tags = dict(zip(data["names"].tolist(), data["values"].tolist(), strict=True))
        return TriangleMesh(data["vertices"], data["triangles"].astype(np.int64), data["tags"], tags)
