"""Modes of a waveguide of any cross-section, by quadratic finite elements on the triangles of its end.

With the normal n, a scalar phi, and (Laplacian + kc^2) phi = 0 on the cross-section, the transverse electric fields are

    TE: e = n x grad phi, d phi / d nu = 0 on walls;    TM: e = grad phi, phi = 0 on walls;
    TEM: e = grad phi, kc = 0, phi constant on each wall, of cross-sections with more than one,

with int |e|^2 = 1. The wavenumber along the guide is beta = sqrt(k^2 - kc^2), Im beta >= 0, and the admittance H_t /
E_t is beta / (k Z), k / (beta Z), 1 / Z, for a medium with the wavenumber k and the impedance Z.

R. E. Collin, Field Theory of Guided Waves, chapter 5.
"""

from dataclasses import dataclass

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.quadrature import triangle_rule

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
    used, flat = np.unique(triangles, return_inverse=True)
    points, triangles = vertices[used], flat.reshape(-1, 3)
    frame = _frame(points, normal)
    plane = (points - points.mean(axis=0)) @ frame.T
    if np.abs(plane[:, 2]).max() > FLAT * np.abs(plane).max():
        raise ValueError("the triangles of a waveguide port are not in one plane: cut the guide by a plane there")
    nodes, edges = _nodes(triangles, len(points))
    gradients, stiffness, mass = _matrices(plane[:, :2], triangles, nodes, frame)
    counts = np.bincount(edges.ravel())
    walls = np.flatnonzero(counts[edges] == 1)
    on_wall = np.unique(nodes[walls // 3][:, [[1, 2, 4], [2, 0, 5], [0, 1, 3]]][np.arange(len(walls)), walls % 3])
    inside = np.setdiff1d(np.arange(stiffness.shape[0]), on_wall)
    found = _static(stiffness, triangles, nodes, walls, on_wall, inside, plane)
    modes = [Mode("TEM", 0.0, _of(phi, gradients, nodes, None, stiffness)) for phi in found]
    for kind, free in (("TE", np.arange(stiffness.shape[0])), ("TM", inside)):
        squares, vectors = _eigen(stiffness, mass, free)
        for square, vector in zip(squares, vectors.T, strict=True):
            if square > 1e-6 * squares[-1] or kind == "TM":
                phi = np.zeros(stiffness.shape[0])
                phi[free] = vector
                modes.append(
                    Mode(kind, float(np.sqrt(square)), _of(phi, gradients, nodes, normal * (kind == "TE"), stiffness))
                )
    modes.sort(key=lambda each: each.cutoff)
    kept = [each for each in modes if each.cutoff <= reach]
    return kept or modes[:1]


def _frame(points: Real, normal: Real) -> Real:
    first = np.eye(3)[np.abs(normal).argmin()]
    u = np.cross(first, normal)
    u /= np.linalg.norm(u)
    return np.stack([u, np.cross(normal, u), normal])


def _nodes(triangles: Numbers, count: int) -> tuple[Numbers, Numbers]:
    """(m, 6) nodes: corners, then middles of the edges 01, 12, 20; (m, 3) edges opposite of the corners."""
    pairs = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    _, numbers = np.unique(pairs, axis=0, return_inverse=True)
    middles = numbers.reshape(-1, 3)
    return np.hstack([triangles, count + middles]), middles[:, [1, 2, 0]]


def _shapes(points: Real) -> tuple[Real, Real]:
    """(q, 6) quadratic functions, and (q, 6, 3) their derivatives by barycentric coordinates, at reference points."""
    b = np.column_stack([1 - points.sum(axis=1), points])
    pairs = ((0, 1), (1, 2), (2, 0))
    values = np.hstack([b * (2 * b - 1), 4 * np.column_stack([b[:, i] * b[:, j] for i, j in pairs])])
    derivatives = np.zeros((len(points), 6, 3))
    for i in range(3):
        derivatives[:, i, i] = 4 * b[:, i] - 1
    for n, (i, j) in enumerate(pairs):
        derivatives[:, 3 + n, i], derivatives[:, 3 + n, j] = 4 * b[:, j], 4 * b[:, i]
    return values, derivatives


def _matrices(plane: Real, triangles: Numbers, nodes: Numbers, frame: Real) -> tuple[Real, sp.csr_array, sp.csr_array]:
    """Gradients (m, q, 6, 3) of functions at POINTS, the stiffness and the mass matrix."""
    corners = plane[triangles]
    sides = np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=2)
    areas = np.abs(np.linalg.det(sides)) / 2
    inverse = np.linalg.inv(sides)  # gradients of the second and third barycentric coordinate
    slopes = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    gradients = np.einsum("qal,mli->mqai", _shapes(POINTS)[1], slopes)
    local = np.einsum("mqai,mqbi,m->mab", gradients, gradients, areas / 3)
    rule = triangle_rule(4)
    values = _shapes(rule.points)[0]
    masses = np.einsum("qa,qb,q->ab", values, values, rule.weights / rule.weights.sum())[None] * areas[:, None, None]
    size = int(nodes.max()) + 1
    rows, columns = np.repeat(nodes, 6, axis=1).ravel(), np.tile(nodes, (1, 6)).ravel()
    stiffness, mass = (sp.coo_array((each.ravel(), (rows, columns)), (size, size)).tocsr() for each in (local, masses))
    return gradients @ frame[:2], stiffness, mass


def _eigen(stiffness: sp.csr_array, mass: sp.csr_array, free: Numbers) -> tuple[Real, Real]:
    """The smallest squares of kc, and fields of the norm 1."""
    k, m = (each[free][:, free].toarray() for each in (stiffness, mass))
    squares, vectors = scipy.linalg.eigh(k, m, subset_by_index=[0, min(MOST, len(free)) - 1])
    return np.maximum(squares, 0), vectors


def _static(
    stiffness: sp.csr_array, triangles: Numbers, nodes: Numbers, walls: Numbers, on_wall: Numbers, inside: Numbers,
    plane: Real,
) -> list[Real]:  # fmt: skip
    """Potentials of 1 on one wall and 0 on others, for each wall but the longest one."""
    ends = np.stack([triangles[walls // 3, (walls + 1) % 3], triangles[walls // 3, (walls + 2) % 3]])
    middles = nodes[walls // 3, 3 + (walls % 3 + 1) % 3]
    size = stiffness.shape[0]
    graph = sp.coo_array((np.ones(2 * len(walls)), (np.tile(middles, 2), ends.ravel())), (size, size))
    labels = sp.csgraph.connected_components(graph, directed=False)[1][on_wall]
    loops = np.unique(labels)
    if len(loops) < 2:
        return []
    corners = on_wall < len(plane)
    spans = [np.ptp(plane[on_wall[corners & (labels == each)]], axis=0).max() for each in loops]
    found = []
    for each in np.delete(loops, int(np.argmax(spans))):
        phi = np.zeros(size)
        phi[on_wall[labels == each]] = 1.0
        phi[inside] = sp.linalg.spsolve(stiffness[inside][:, inside].tocsc(), -(stiffness[inside] @ phi))
        found.append(phi)
    return found


def _of(phi: Real, gradients: Real, nodes: Numbers, turned: Real | None, stiffness: sp.csr_array) -> Real:
    """The field of a potential with int |e|^2 = 1; turned: the normal of TE modes, which turns gradients."""
    field = np.einsum("mqai,ma->mqi", gradients, phi[nodes]) / np.sqrt(phi @ (stiffness @ phi))
    return np.cross(turned, field) if turned is not None and turned.any() else field


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
