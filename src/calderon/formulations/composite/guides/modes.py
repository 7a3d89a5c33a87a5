"""Modes of a waveguide of any cross-section, by quadratic finite elements on the triangles of its end.

With the normal n, a scalar phi, and (Laplacian + kc^2) phi = 0 on the cross-section, the transverse electric fields are

    TE: e = n x grad phi, d phi / d nu = 0 on walls;    TM: e = grad phi, phi = 0 on walls;
    TEM: e = grad phi, kc = 0, phi constant on each wall, of cross-sections with more than one,

with int |e|^2 = 1. The wavenumber along the guide is beta = sqrt(k^2 - kc^2), Im beta >= 0, and the admittance H_t /
E_t is beta / (k Z), k / (beta Z), 1 / Z, for a medium with the wavenumber k and the impedance Z.

R. E. Collin, Field Theory of Guided Waves, chapter 5.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh
from calderon.mesh.coincident import compacted
from calderon.mesh.errors import OrientationWarning
from calderon.quadrature import triangle_rule
from calderon.spaces import P2

Real = NDArray[np.float64]
Numbers = NDArray[np.int64]
FLAT = 1e-6
"""Part of the size of a cross-section by which it may leave its plane."""
SAME = 2e-3
"""Relative difference of cutoffs of modes that are turned into each other."""
POINTS = triangle_rule(2).points
"""Reference points of a rule of degree two, with equal weights: exact for products of two fields."""
MOST = 24
"""Modes of each kind that are computed."""


@dataclass(frozen=True, eq=False)
class Mode:
    """kind: "TEM", "TE" or "TM". cutoff kc in 1/m. field (m, 3, 3): e at POINTS on each triangle, in 1/m."""

    kind: str
    cutoff: float
    field: Real

    def beta(self, k: complex) -> complex:
        """The wavenumber along the guide in 1/m, of a medium with the wavenumber k."""
        found = complex(np.sqrt(complex(k) ** 2 - self.cutoff**2))
        return -found if found.imag < 0 else found

    def admittance(self, k: complex) -> complex:
        """H_t over E_t, times the impedance of the medium."""
        return k / self.beta(k) if self.kind == "TM" else self.beta(k) / k if self.kind == "TE" else 1.0 + 0j


def waveguide_modes(vertices: Real, triangles: Numbers, normal: Real, reach: float) -> list[Mode]:
    """Modes with kc up to `reach` in 1/m, at least one, by their cutoffs. triangles (m, 3): the cross-section; normal
    (3,): into the guide. ValueError for a cross-section that is not flat."""
    mesh, places = _cross_section(vertices, triangles, normal)
    space = P2(mesh)
    stiffness, mass = space.laplace_beltrami_matrix(), space.mass_matrix()
    slopes = space.surface_gradient(POINTS)

    def mode(kind: str, square: float, phi: Real) -> Mode:
        """The mode of a potential."""
        gradient = np.stack([each @ phi for each in slopes], axis=1).reshape(-1, 3, 3)
        field = gradient[np.arange(len(places))[:, None], places] / np.sqrt(phi @ (stiffness @ phi))
        return Mode(kind, float(np.sqrt(square)), np.cross(normal, field) if kind == "TE" else field)

    # (w, 3) nodes on each edge of a wall
    at, corner = np.nonzero(mesh.edge_triangle_counts[mesh.triangle_edges] == 1)
    walls = space.dofs[at][space.element.on_edge[corner]].reshape(-1, 3)
    every = np.arange(space.dimension)
    inside = np.setdiff1d(every, walls)
    modes = [mode("TEM", 0.0, phi) for phi in _static(stiffness, walls, inside, space.nodes)]
    for kind, free in (("TE", every), ("TM", inside)):
        squares, vectors = _eigen(stiffness, mass, free)
        for square, vector in zip(squares, vectors.T, strict=True):
            if square > 1e-6 * squares[-1] or kind == "TM":
                phi = np.zeros(space.dimension)
                phi[free] = vector
                modes.append(mode(kind, square, phi))
    modes.sort(key=lambda each: each.cutoff)
    kept = [each for each in modes if each.cutoff <= reach]
    return kept or modes[:1]


def _cross_section(vertices: Real, triangles: Numbers, normal: Real) -> tuple[TriangleMesh, Numbers]:
    """The triangles (m, 3) as a mesh, and (m, 3) the numbers of its POINTS where those of the given triangles lie,
    whose corners it may turn. ValueError unless they are in one plane."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrientationWarning)
        mesh = TriangleMesh(*compacted(vertices, triangles))
    heights = mesh.vertices @ normal
    if np.ptp(heights) > 2 * FLAT * np.ptp(mesh.vertices, axis=0).max():
        raise ValueError("the triangles of a waveguide port are not in one plane: cut the guide by a plane there")
    barycentric = np.column_stack([1 - POINTS.sum(axis=1), POINTS])
    own, given = (barycentric @ x[t] for x, t in ((mesh.vertices, mesh.triangles), (vertices, triangles)))
    return mesh, np.linalg.norm(given[:, :, None] - own[:, None], axis=3).argmin(axis=2)


def _eigen(stiffness: sp.csr_array, mass: sp.csr_array, free: Numbers) -> tuple[Real, Real]:
    """The smallest squares of kc, and fields of the norm 1."""
    k, m = (each[free][:, free].toarray() for each in (stiffness, mass))
    squares, vectors = scipy.linalg.eigh(k, m, subset_by_index=[0, min(MOST, len(free)) - 1])
    return np.maximum(squares, 0), vectors


def _static(stiffness: sp.csr_array, walls: Numbers, inside: Numbers, nodes: Real) -> list[Real]:
    """Potentials of 1 on one wall and 0 on others, for each wall but the longest one; walls (w, 3): the nodes of their
    edges, nodes (n, 3): the places of all."""
    size = stiffness.shape[0]
    graph = sp.coo_array((np.ones(2 * len(walls)), (walls[:, [0, 0]].ravel(), walls[:, 1:].ravel())), (size, size))
    on_wall = np.unique(walls)
    labels = sp.csgraph.connected_components(graph, directed=False)[1][on_wall]
    loops = np.unique(labels)
    if len(loops) < 2:
        return []
    spans = [np.ptp(nodes[on_wall[labels == each]], axis=0).max() for each in loops]
    found = []
    for each in np.delete(loops, int(np.argmax(spans))):
        phi = np.zeros(size)
        phi[on_wall[labels == each]] = 1.0
        phi[inside] = sp.linalg.spsolve(stiffness[inside][:, inside].tocsc(), -(stiffness[inside] @ phi))
        found.append(phi)
    return found


def aligned(modes: list[Mode], areas: Real, toward: Real | None, reference: Real) -> list[Mode]:
    """The modes, equal ones turned so that the mean field of the first is along a direction, or a fixed one, and all
    with such a sign. areas (m,) of the triangles; reference (m, 3, 3): points of the rule."""
    weights = areas[:, None, None] / 3
    found, n = list[Mode](), 0
    while n < len(modes):
        group = [each for each in modes[n:] if each.kind == modes[n].kind and abs(each.cutoff - modes[n].cutoff)
                 <= SAME * modes[n].cutoff]  # fmt: skip
        group = group[: next((i for i, each in enumerate(group) if each is not modes[n + i]), len(group))]
        means = np.array([(each.field * weights).sum(axis=(0, 1)) for each in group])
        scale = np.sqrt(areas.sum())
        axis = np.linalg.svd(means)[2][0] if toward is None else np.asarray(toward, float)
        axis = axis * np.sign(axis[np.abs(axis).argmax()])
        along = means @ axis
        if np.linalg.norm(along) < 1e-3 * scale or modes[n].kind == "TEM":  # no mean field: by its moment
            centre = reference - (reference * weights).sum(axis=(0, 1)) / areas.sum()
            along = np.array([(each.field * centre * weights).sum() for each in group])
            if np.linalg.norm(along) < 1e-3 * scale * np.abs(centre).max():
                along = np.array([each.field.ravel()[np.abs(each.field).argmax()] for each in group])
        turn = np.linalg.qr(np.column_stack([along, np.eye(len(group))]))[0].T
        turned = turn @ means  # the sign of the first by its part along the axis, of others by their largest component
        largest = turned[np.arange(len(turned)), np.abs(turned).argmax(axis=1)]
        largest[0] = turn[0] @ along
        turn = turn * np.where(largest < 0, -1, 1)[:, None]
        cutoff = float(np.mean([each.cutoff for each in group]))
        fields = np.stack([each.field for each in group])
        found += [Mode(modes[n].kind, cutoff, np.tensordot(row, fields, 1)) for row in turn]
        n += len(group)
    return found
