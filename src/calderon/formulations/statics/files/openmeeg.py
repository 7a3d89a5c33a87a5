"""Heads of OpenMEEG: domains (.geom), conductivities (.cond) and triangles (.tri), read as a mesh and regions.

A .geom file lists interfaces, or meshes and interfaces of them, and domains with the interfaces that bound them, `-`
where the domain is inside, `+` or no sign where it is outside; of version 1.0 interfaces are numbers. A. Gramfort,
T. Papadopoulo, E. Olivi, M. Clerc, OpenMEEG: opensource software for quasistatic bioelectromagnetics, BioMed. Eng.
OnLine 9 (2010), 45. Files are untrusted: their size, place, counts and numbers are checked.
"""

from pathlib import Path

import numpy as np

from calderon.formulations.statics.files.text_lines import (
    Lines,
    given_path,
    lines_of,
    numbers_of,
    whole_of,
    within,
    wrong,
)
from calderon.formulations.statics.region import Region
from calderon.mesh import MeshError, TriangleMesh, joined, read

WORDS = {"Meshes": "Mesh", "Interfaces": "Interface", "Domains": "Domain"}
"""Words that lines of a block begin with."""
MOST = 1_000
"""Largest number of interfaces, meshes and domains."""
VERTICES = 1_000_000
"""Largest numbers of vertices and of triangles of a mesh."""


def read_openmeeg(
    geometry: str | Path, conductivities: str | Path, scale: float
) -> tuple[TriangleMesh, dict[str, Region]]:
    """The mesh and the regions of a head; domains whose conductivity is 0, as of air, are left out. ValueError, naming
    file and line, for what is no such file, names of missing interfaces and domains, and conductivities that are
    missing."""
    place = given_path(geometry, "a .geom file")
    meshes, interfaces, domains = _geometry(place)
    sigma = _conductivities(given_path(conductivities, "a .cond file"))
    regions: dict[str, Region] = {}
    for name, (line, bounds) in domains.items():
        if name not in sigma:
            raise ValueError(f"{conductivities}: no conductivity of the domain {name!r}, but of {sorted(sigma)}")
        tags = []
        for each in bounds:
            called = each.lstrip("+-")
            if called not in interfaces:
                raise wrong(place, line, f"interfaces out of {sorted(interfaces)}", [each])
            tags += interfaces[called]
        if sigma[name] > 0:
            regions[name] = Region(tuple(dict.fromkeys(tags)), conductivity=sigma[name])
    if not regions:
        raise ValueError(f"{conductivities}: no domain conducts")
    used = {tag for each in regions.values() for tag in each.bounds or ()}
    surfaces = {name: _mesh(place, *found, scale) for name, found in meshes.items() if name in used}
    return joined(surfaces), regions


def _geometry(path: Path) -> tuple[dict[str, tuple[int, str]], dict[str, list[str]], dict[str, tuple[int, list[str]]]]:
    """Meshes (line, file), interfaces (names of meshes) and domains (line, interfaces with signs) by name."""
    if not path.is_file() or not path.open("rb").read(20).startswith(b"# Domain Description"):
        raise ValueError(f"{path}: no such file, or it does not begin with '# Domain Description'")
    rows = lines_of(path, 4 * MOST)
    meshes: dict[str, tuple[int, str]] = {}
    interfaces: dict[str, list[str]] = {}
    domains: dict[str, tuple[int, list[str]]] = {}
    at, listed = 0, False
    while at < len(rows):
        line, entries = rows[at]
        kind = entries[0]
        if kind not in ("Meshes", "Interfaces", "Domains") or len(entries) not in (2, 3):
            raise wrong(path, line, "Meshes n, Interfaces n or Domains n", entries)
        count = whole_of(entries[1], path, line, 1, MOST)
        own, at = rows[at + 1 : at + 1 + count], at + 1 + count
        if len(own) < count:
            raise ValueError(f"{path}: it ends after {len(own)} of {count} lines of {kind}")
        for number, (line, entries) in enumerate(own, 1):
            name, values = _named(path, line, entries, WORDS[kind], number)
            taken = meshes if kind == "Meshes" else interfaces if kind == "Interfaces" else domains
            if name in taken:
                raise wrong(path, line, f"different names, got {name!r} twice")
            if kind == "Domains":
                domains[name] = line, values
            elif kind == "Interfaces" and listed:
                interfaces[name] = _meshes_of(path, line, values, meshes)
            elif len(values) != 1:
                raise wrong(path, line, "one file", values)
            else:
                meshes[name] = line, values[0].strip('"')
                interfaces.update({} if kind == "Meshes" else {name: [name]})
        listed |= kind == "Meshes"
    if not interfaces or not domains:
        raise ValueError(f"{path}: it needs Interfaces and Domains")
    return meshes, interfaces, domains


def _named(path: Path, line: int, entries: list[str], kind: str, number: int) -> tuple[str, list[str]]:
    """The name of a line, or its number where it has none, and what follows."""
    if entries[0].rstrip(":") != kind:
        if kind == "Interface" and len(entries) == 1:  # version 1.0: files alone
            return str(number), entries
        raise wrong(path, line, f"{kind} name: ...", entries)
    if entries[0].endswith(":"):
        return str(number), entries[1:]
    if len(entries) < 2:
        raise wrong(path, line, f"{kind} name: ...", entries)
    rest = entries[2:]
    return entries[1].rstrip(":"), rest[1:] if rest[:1] == [":"] else rest


def _meshes_of(path: Path, line: int, values: list[str], meshes: dict[str, tuple[int, str]]) -> list[str]:
    found = [each.lstrip("+-") for each in values]
    if not found or not set(found) <= set(meshes):
        raise wrong(path, line, f"meshes out of {sorted(meshes)}", values)
    return found


def _conductivities(path: Path) -> dict[str, float]:
    """Conductivities in S/m by domain."""
    found: dict[str, float] = {}
    for line, entries in lines_of(path, MOST):
        if len(entries) != 2:
            raise wrong(path, line, "a domain and its conductivity", entries)
        (value,) = numbers_of(entries[1:], path, line)
        if value < 0 or entries[0] in found:
            raise wrong(path, line, "conductivities from 0 on, one of each domain", entries)
        found[entries[0]] = value
    return found


def _mesh(place: Path, line: int, name: str, scale: float) -> TriangleMesh:
    path = within(place, name, line)
    mesh = _triangles(path) if path.suffix.lower() == ".tri" else read(path)
    return mesh.scaled(scale)


def _triangles(path: Path) -> TriangleMesh:
    """The mesh of a .tri file: `- n` and n lines of a vertex and its normal, `- m m m` and m lines of triangles."""
    rows = lines_of(path, 2 * VERTICES + 2)
    vertices, rest = _block(path, rows, (3, 6), "- n, then n lines x y z nx ny nz")
    triangles, left = _block(path, rest, (3,), "- n n n, then n lines of three numbers of vertices")
    if left:
        raise wrong(path, left[0][0], "no further lines", left[0][1])
    points = np.array([numbers_of(entries[:3], path, line) for line, entries in vertices])
    corners = [[whole_of(e, path, line, 0, len(points) - 1) for e in entries] for line, entries in triangles]
    try:
        return TriangleMesh(points, np.array(corners))
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None


def _block(path: Path, rows: Lines, widths: tuple[int, ...], wanted: str) -> tuple[Lines, Lines]:
    """The lines of a block that begins with `- n`, and those after it."""
    if not rows:
        raise ValueError(f"{path}: it ends early, expected are {wanted}")
    line, entries = rows[0]
    if entries[0] != "-" or len(entries) < 2:
        raise wrong(path, line, wanted, entries)
    count = whole_of(entries[1], path, line, 3 if widths[0] != widths[-1] else 1, VERTICES)
    own = rows[1 : 1 + count]
    if len(own) < count:
        raise ValueError(f"{path}: it ends after {len(own)} of {count} lines of a block that begins at line {line}")
    for line, entries in own:
        if len(entries) not in widths:
            raise wrong(path, line, wanted, entries)
    return own, rows[1 + count :]
