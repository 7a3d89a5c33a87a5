"""Currents that flow from the end of a wire into a surface, at a vertex of its triangles.

On each triangle i around the vertex, of angle alpha_i there, area A and height h, with rho from the vertex,

    f = -(alpha_i / alpha) (1 - h^2 / (rho . h^)^2) rho / (2 A),        div f = -alpha_i / (alpha A),           (1)

alpha the sum of the angles: across the edges at the vertex f has no component, on the opposite edge it is zero, and 1 A
flows out of the vertex. It is infinite there as 1 / rho, which the coordinates u, v of x = vertex + u ((1 - v) e_1 + v
e_2) remove.

Related functions: S. U. Hwu, D. R. Wilton, S. M. Rao, IEEE Antennas and Propagation Society Symposium (1988) 890.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
RATIO, LEAST = 3.0, 0.5
"""Ratio of panels in u, and radii of the wire in the innermost one."""


@dataclass(frozen=True, eq=False)
class Attachments:
    """Functions (1) at `count` vertices of a mesh.

    One row for each pair of a vertex and a triangle around it: feet (n,) the number of the function, triangles (n,),
    corners (n,) the vertex as a corner of the triangle, shares (n,) alpha_i / alpha.
    """

    mesh: TriangleMesh
    count: int
    feet: Numbers
    triangles: Numbers
    corners: Numbers
    shares: Floats

    @staticmethod
    def at(mesh: TriangleMesh, vertices: Numbers, allowed: NDArray[np.bool_]) -> "Attachments":
        """At these vertices (f,), on the triangles that are allowed (nt,)."""
        rows = [np.argwhere((mesh.triangles == vertex) & allowed[:, None]) for vertex in vertices]
        feet = np.repeat(np.arange(len(vertices)), [len(each) for each in rows])
        triangles, corners = (np.concatenate(rows) if rows else np.zeros((0, 2), np.int64)).T
        ends = mesh.vertices[mesh.triangles[triangles]]
        own = np.arange(len(triangles))
        first, second = (ends[own, (corners + n) % 3] - ends[own, corners] for n in (1, 2))
        cosine = np.einsum("ni,ni->n", first, second)
        angle = np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), cosine)
        shares = angle / np.bincount(feet, angle, len(vertices))[feet]
        return Attachments(mesh, len(vertices), feet, triangles, corners, shares)

    @property
    def divergences(self) -> Floats:
        """(n,) div f of each row, in 1/m^2."""
        return -self.shares / self.mesh.areas[self.triangles]

    @property
    def _sides(self) -> tuple[Floats, Floats, Floats]:
        """(n, 3) the vertex and the edges from it to the other two corners."""
        ends, own = self.mesh.vertices[self.mesh.triangles[self.triangles]], np.arange(len(self.triangles))
        origin = ends[own, self.corners]
        return origin, ends[own, (self.corners + 1) % 3] - origin, ends[own, (self.corners + 2) % 3] - origin

    def values(self, rows: Numbers, x: Floats) -> Floats:
        """f (m, 3) of rows (m,) at points x (m, 3) of their triangles."""
        origin, first, second = (each[rows] for each in self._sides)
        across = second - first
        normal = np.cross(np.cross(first, across), across)
        height = normal * (np.einsum("ni,ni->n", first, normal) / np.einsum("ni,ni->n", normal, normal))[:, None]
        rho = x - origin
        square = np.einsum("ni,ni->n", height, height)
        ratio = np.einsum("ni,ni->n", rho, height) / square  # rho . h^ / h
        scale = -self.shares[rows] / (2 * self.mesh.areas[self.triangles[rows]])
        return np.asarray((scale * (1 - 1 / ratio**2))[:, None] * rho)

    def points(self, radius: float | None = None, order: int = 8) -> tuple[Numbers, Floats, Floats, Floats]:
        """Rows (m,), points (m, 3), weights (m,) and f (m, 3) there, in u and v; with panels in u that shrink towards
        the vertex down to the radius of the wire, if one is given. order: points of each panel and in v."""
        nodes, weights = np.polynomial.legendre.leggauss(order)
        nodes, weights = (nodes + 1) / 2, weights / 2
        limits = [0.0, 1.0]
        if radius is not None and len(self.triangles):
            least = LEAST * radius / float(np.sqrt(self.mesh.areas[self.triangles].max()))
            count = max(0, int(np.ceil(np.log(1 / least) / np.log(RATIO))))
            limits = [0.0, *(RATIO ** -np.arange(count, -1.0, -1.0))]
        low, high = np.array(limits[:-1]), np.array(limits[1:])
        u = (low[:, None] + np.outer(high - low, nodes)).ravel()
        in_u = np.outer(high - low, weights).ravel()
        origin, first, second = self._sides
        along = first[:, None] * (1 - nodes)[:, None] + second[:, None] * nodes[:, None]
        x = origin[:, None, None] + u[:, None, None] * along[:, None]
        scale = 2 * self.mesh.areas[self.triangles]
        w = scale[:, None, None] * (u * in_u)[:, None] * weights
        rows = np.repeat(np.arange(len(scale)), u.size * order)
        x = x.reshape(-1, 3)
        return rows, x, w.ravel(), self.values(rows, x)
