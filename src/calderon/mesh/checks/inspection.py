"""Possible faults of a surface: counts, elements and advice."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.checks.crossings import crossing_pairs
from calderon.mesh.containment import nested_components
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.topology import connected, row_numbers
from calderon.mesh.triangulation import Triangulation
from calderon.mesh.validation import listed
from calderon.validation import instance


@dataclass(frozen=True, eq=False)
class Finding:
    """One kind of fault: what it is, how many, the numbers of the elements (of which kind), and what to do."""

    name: str
    count: int
    elements: str
    ids: NDArray[np.int64]
    advice: str

    def __str__(self) -> str:
        which = f" ({listed(self.ids)})" if len(self.ids) else ""
        return f"{self.name}: {self.count} {self.elements}{which}; {self.advice}"


@dataclass(frozen=True, eq=False)
class MeshReport:
    """Problems (results would be wrong or poor) and notes (harmless if intended) about a mesh; printable."""

    summary: str
    problems: tuple[Finding, ...]
    notes: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """No problems; there may be notes."""
        return not self.problems

    def __str__(self) -> str:
        lines = [self.summary, *(f"problem: {f}" for f in self.problems), *(f"note: {f}" for f in self.notes)]
        return "\n".join([*lines, "no problems found"] if self.ok else lines)


def check(mesh: Triangulation) -> MeshReport:
    """Look for torn and open edges, non-manifold edges and vertices, coincident vertices, triangles that pass through
    each other, slivers and jumps of size.

    An open surface is a note; boundary loops that are short against the area of a component without longer ones are
    holes of a closed surface, and a problem, as are open edges that coincide with others (a surface torn by duplicate
    vertices).
    """
    instance(mesh, Triangulation, "a mesh of triangles is checked")
    problems: list[Finding] = []
    notes: list[Finding] = []
    _open_edges(mesh, problems, notes)
    _vertices(mesh, problems, notes)
    # junctions and intersections
    many = np.flatnonzero(mesh.edge_triangle_counts > 2)
    _add(problems, "non-manifold edges", "edges with three triangles or more", many,
         "remove inner walls of a body; junctions of thin sheets suit open-surface formulations only")  # fmt: skip
    crossing = np.unique(crossing_pairs(mesh.vertices[mesh.triangles], mesh.triangles))
    _add(problems, "crossings", "triangles that pass through or lie on others", crossing,
         "operators refuse pairs without a common vertex and integrate the others wrongly: unite the bodies by "
         "cal.mesh.union or in the CAD program, or move them apart")  # fmt: skip
    # shapes of triangles
    sliver = mesh.angles.min(axis=1) < TOLERANCES.sliver_angle
    _add(problems, "slivers", "triangles with an angle below 1 degree", np.flatnonzero(sliver),
         "they spoil conditioning and quadrature: remesh, or collapse short edges")  # fmt: skip
    longest, shortest = mesh.diameters, mesh.edge_lengths[mesh.triangle_edges].min(axis=1)
    needles = np.flatnonzero((longest > 8 * shortest) & ~sliver)
    _add(notes, "stretched triangles", "triangles with edges in a ratio above 8", needles,
         "accuracy follows the longest edge; even triangles cost less")  # fmt: skip
    # parts within others, and repairs at the beginning
    if mesh.is_closed and mesh.number_of_components > 1:
        within = np.isin(mesh.components, nested_components(mesh.vertices, mesh.triangles, mesh.components))
        _add(notes, "nested parts", "triangles of closed parts within others", np.flatnonzero(within),
             "an impenetrable body hides them: remove them; the volume includes them")  # fmt: skip
    if mesh.flipped:
        what, none = "triangles were flipped when the mesh was made", np.zeros(0, np.int64)
        notes.append(Finding("orientation", mesh.flipped, what, none, "look at the normals"))
    return MeshReport(str(mesh), tuple(problems), tuple(notes))


def _add(findings: list[Finding], name: str, elements: str, ids: NDArray, advice: str) -> None:
    if len(ids):
        findings.append(Finding(name, len(ids), elements, ids, advice))


def _open_edges(mesh: Triangulation, problems: list[Finding], notes: list[Finding]) -> None:
    """Torn edges, holes, and the boundaries of open surfaces."""
    boundary = mesh.boundary_edges
    if len(boundary) == 0:
        return
    # edges whose middles coincide
    tree = scipy.spatial.cKDTree(mesh.vertices[mesh.edges[boundary]].mean(axis=1))
    near = tree.query_pairs(TOLERANCES.joined * mesh.diameter, output_type="ndarray")
    torn = np.zeros(len(boundary), dtype=bool)
    torn[near.ravel()] = True
    _add(problems, "torn edges", "open edges that coincide with other open edges", boundary[torn],
         "duplicate vertices tear the surface: mesh.merged_vertices() joins them")  # fmt: skip
    # the longest boundary loop of each component, squared, against its area
    edges = mesh.edges[boundary]
    loop = connected(edges[:, 0], edges[:, 1], mesh.number_of_vertices)[edges[:, 0]]
    lengths = np.bincount(loop, weights=mesh.edge_lengths[boundary])
    owner = np.empty(mesh.number_of_edges, dtype=np.int64)
    owner[mesh.triangle_edges] = mesh.components[:, None]
    owner = owner[boundary]
    areas = np.bincount(mesh.components, weights=mesh.areas)
    longest = np.zeros(len(areas))
    np.maximum.at(longest, owner, lengths[loop])
    hole = (longest**2 < 0.5 * areas)[owner] & ~torn  # short: not an outer boundary
    _add(problems, "holes", "open edges around holes of an otherwise closed surface", boundary[hole],
         "fill the holes in the CAD or mesh program: inside and outside are not defined")  # fmt: skip
    _add(notes, "open edges", "edges with one triangle", boundary[~torn & ~hole],
         "an open surface: right for screens and plates, refused by formulations for closed bodies")  # fmt: skip


def _vertices(mesh: Triangulation, problems: list[Finding], notes: list[Finding]) -> None:
    """Coincident, touching and unused vertices."""
    used = mesh.used_vertices
    tree = scipy.spatial.cKDTree(mesh.vertices[used])
    pairs = tree.query_pairs(TOLERANCES.joined * mesh.diameter, output_type="ndarray")
    _add(problems, "duplicate vertices", "vertices that coincide with others", used[np.unique(pairs)],
         "mesh.merged_vertices() joins them; keep them only where two bodies touch")  # fmt: skip
    # corners of a vertex belong together if their triangles share an edge: both are joined to that end of the edge
    corners = np.arange(mesh.triangles.size)
    ends = [mesh.triangle_edges[:, sides] for sides in ([1, 2, 0], [2, 0, 1])]
    joined = [2 * each + (mesh.edges[each, 1] == mesh.triangles) for each in ends]
    number = len(corners) + 2 * mesh.number_of_edges
    sheet = connected(np.tile(corners, 2), len(corners) + np.concatenate(joined).ravel(), number)[: len(corners)]
    sheets = row_numbers(np.column_stack([mesh.triangles.ravel(), sheet]))[0][:, 0]
    touching = np.flatnonzero(np.bincount(sheets, minlength=mesh.number_of_vertices) > 1)
    _add(notes, "touching vertices", "vertices where sheets meet in a point only", touching,
         "double them if the parts are to be separate: continuous spaces join the parts there")  # fmt: skip
    unused = np.setdiff1d(np.arange(mesh.number_of_vertices), used)
    _add(notes, "unused vertices", "vertices without a triangle", unused, "harmless: spaces number used vertices only")
