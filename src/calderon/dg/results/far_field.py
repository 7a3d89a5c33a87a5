"""Far fields of amplitudes in a mesh, by equivalent currents on a closed surface of element faces.

With J = n x H and M = -n x E on a surface around all that scatters or radiates, n outward (Love's equivalence), the
field far away is that of Hertz dipoles J dS and M dS (see exact.hertz_dipole),
  F(d) = (ik / 4 pi) int exp(-ik d . x) (eta (J - d (d . J)) - d x M) dS,   E ~ F exp(ikr) / r.
A field from outside contributes nothing, so that total fields may be used. Those of both sides of a face
count half each. Source: C. A. Balanis, Advanced Engineering Electromagnetics, 2nd ed. (2012), sections 7.8 and 12.2.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.dg.domain import Domain
from calderon.exact import VACUUM_IMPEDANCE
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedra import FACES
from calderon.parallel import Communicator
from calderon.quadrature import triangle_rule
from calderon.validation import points_in_space

AT_A_TIME = 1 << 21
"""Phases exp(-ik d . x) at a time."""


@dataclass(frozen=True, eq=False)
class EquivalentCurrents:
    """Moments of dipoles at points (p, 3) of a surface, each times its area: electric (p, 3) in A m, magnetic (p, 3) in
    V m. Those of one rank."""

    wavenumber: float
    points: NDArray[np.float64]
    electric: NDArray[np.complex128]
    magnetic: NDArray[np.complex128]
    communicator: Communicator

    def far_field(self, directions: ArrayLike) -> NDArray[np.complex128]:
        """F (n, 3) in V in directions (n, 3) of any length but zero."""
        d = np.atleast_2d(points_in_space(directions, "directions"))
        lengths = np.linalg.norm(d, axis=1, keepdims=True)
        if (lengths == 0).any():
            raise ValueError("a direction must not be zero")
        d = d / lengths
        both = np.concatenate([VACUUM_IMPEDANCE * self.electric, self.magnetic], axis=1)
        step = max(1, AT_A_TIME // max(1, len(self.points)))
        parts = [
            np.exp(-1j * self.wavenumber * (d[n : n + step] @ self.points.T)) @ both for n in range(0, len(d), step)
        ]
        summed = self.communicator.total(np.concatenate(parts) if parts else np.zeros((0, 6), complex))
        electric, magnetic = summed[:, :3], summed[:, 3:]
        across = electric - d * (d * electric).sum(axis=1, keepdims=True)
        return np.asarray(1j * self.wavenumber / (4 * np.pi) * (across - np.cross(d, magnetic)))

    def radiated_power(self) -> float:
        """Integral of |F|^2 / (2 Z0) over all directions in W, by a rule that is exact for the waves that a surface of
        this size can send out."""
        low, high = (self.communicator.gather(each) for each in self._bounds())
        size = np.linalg.norm(np.max(high, axis=0) - np.min(low, axis=0)) / 2
        order = int(np.ceil(self.wavenumber * size + 4 * np.cbrt(self.wavenumber * size) + 6))
        cosines, weights = np.polynomial.legendre.leggauss(order)
        angles = np.arange(2 * order) * np.pi / order
        cosine, angle = (each.ravel() for each in np.meshgrid(cosines, angles, indexing="ij"))
        sine = np.sqrt(1 - cosine**2)
        far = self.far_field(np.stack([sine * np.cos(angle), sine * np.sin(angle), cosine], axis=1))
        squares = (np.abs(far) ** 2).sum(axis=1).reshape(order, -1).sum(axis=1)
        return float(weights @ squares * np.pi / order / (2 * VACUUM_IMPEDANCE))

    def _bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest coordinates; neutral values if there are no points."""
        if not len(self.points):
            return np.full(3, np.inf), np.full(3, -np.inf)
        return self.points.min(axis=0), self.points.max(axis=0)


def equivalent_currents(
    domain: Domain,
    wavenumber: float,
    inside: NDArray[np.bool_],
    electric: NDArray[np.complex128],
    magnetic: NDArray[np.complex128],
) -> EquivalentCurrents:
    """On the faces between tetrahedra that are inside (tetrahedra of the whole mesh,) and others.

    electric, magnetic: E in V/m and H in A/m (elements, n, 3) at the nodes of this rank's part.
    """
    element_blocks, mesh, own = domain.element_blocks, domain.part.mesh, inside[domain.part.elements]
    across = own[np.maximum(mesh.neighbours, 0)]
    if domain.halo is not None:
        across[domain.halo.sides] = domain.halo.across(own.astype(float)) > 0.5
        met = mesh.neighbours >= 0
        met[domain.halo.sides] = True
    else:
        met = mesh.neighbours >= 0
    elements, sides = np.nonzero(met & (across != own[:, None]))
    rule, reference = triangle_rule(2 * element_blocks.reference.order + 4), element_blocks.reference
    corners = np.vstack([np.zeros(3), np.eye(3)])[FACES]  # (4, 3, 3) of the reference tetrahedron
    barycentric = np.column_stack([1 - rule.points.sum(axis=1), rule.points])
    values = np.stack([reference.interpolation(barycentric @ each) for each in corners])[sides]
    ends = mesh.vertices[mesh.tetrahedra[elements[:, None], FACES[sides]]]
    normals = _outward(ends, mesh, elements) * np.where(own[elements], 1.0, -1.0)[:, None]
    areas = rule.weights[:, None] * normals[:, None] / 2  # each side has half the weight
    fields = [np.einsum("fqn,fni->fqi", values, each[elements]) for each in (magnetic, electric)]
    flat = [np.cross(areas, each).reshape(-1, 3) for each in fields]
    return EquivalentCurrents(wavenumber, (barycentric @ ends).reshape(-1, 3), flat[0], -flat[1], domain.communicator)


def _outward(ends: NDArray[np.float64], mesh: TetrahedralMesh, elements: NDArray[np.int64]) -> NDArray[np.float64]:
    """(f, 3) normals of faces out of the tetrahedra, twice as long as their areas."""
    normals = np.cross(ends[:, 1] - ends[:, 0], ends[:, 2] - ends[:, 0])
    sign = np.sign(np.einsum("fi,fi->f", normals, ends.mean(axis=1) - mesh.centroids[elements]))
    return np.asarray(normals * sign[:, None])
