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
from calderon.dg.operator.boundary import FacesOf
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedra import FACES
from calderon.parallel import Communicator
from calderon.quadrature import triangle_rule
from calderon.quadrature.sphere import far_field_square
from calderon.validation import one_point, positive_length, unit_vectors


@dataclass(frozen=True, eq=False)
class EquivalentCurrents:
    """Moments of dipoles at points (p, 3) of a surface, each times its area: electric (p, 3) in A m, magnetic (p, 3) in
    V m. Those of one rank. impedance: of free space, in the units of the computation."""

    wavenumber: float
    impedance: float
    points: NDArray[np.float64]
    electric: NDArray[np.complex128]
    magnetic: NDArray[np.complex128]
    communicator: Communicator

    def far_field(self, directions: ArrayLike) -> NDArray[np.complex128]:
        """F (n, 3) in V in directions (n, 3) of any length but zero."""
        d = unit_vectors(directions)
        both = np.concatenate([self.impedance * self.electric, self.magnetic], axis=1)
        step = max(1, 2**21 // max(1, len(self.points)))  # directions at a time, with 2 million phases
        parts = [
            np.exp(-1j * self.wavenumber * (d[n : n + step] @ self.points.T)) @ both for n in range(0, len(d), step)
        ]
        summed = self.communicator.total(np.concatenate(parts) if parts else np.zeros((0, 6), complex))
        electric, magnetic = summed[:, :3], summed[:, 3:]
        across = electric - d * (d * electric).sum(axis=1, keepdims=True)
        return np.asarray(1j * self.wavenumber / (4 * np.pi) * (across - np.cross(d, magnetic)))

    def radiated_power(self) -> float:
        """Integral of |F|^2 / (2 impedance) over all directions in W."""
        points = np.concatenate(self.communicator.gather(self.points))
        return far_field_square(self.far_field, points, self.wavenumber) / (2 * self.impedance)


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
    # faces between inside and outside, also where another rank is across
    mesh, own, halo = domain.part.mesh, inside[domain.part.elements], domain.halo
    met, across = mesh.neighbours >= 0, own[np.maximum(mesh.neighbours, 0)]
    if halo is not None:
        met[halo.sides] = True
        across[halo.sides] = halo.across(own.astype(float)) > 0.5
    elements, sides = np.nonzero(met & (across != own[:, None]))
    faces, reference = FacesOf(domain.element_blocks, elements, sides), domain.element_blocks.reference
    # values of the nodes at quadrature points of each side of the reference tetrahedron
    rule = triangle_rule(2 * reference.order + 4)
    corners = np.vstack([np.zeros(3), np.eye(3)])[FACES]  # (4, 3, 3) of the reference tetrahedron
    barycentric = np.column_stack([1 - rule.points.sum(axis=1), rule.points])
    values = np.stack([reference.interpolation(barycentric @ each) for each in corners])[sides]
    # J = n x H and M = -n x E, times weights and areas
    areas = faces.double_areas * np.where(own[elements], 1.0, -1.0)[:, None]
    areas = rule.weights[:, None] * areas[:, None] / 2  # each side has half the weight
    fields = [np.einsum("fqn,fni->fqi", values, each[elements]) for each in (magnetic, electric)]
    flat = [np.cross(areas, each).reshape(-1, 3) for each in fields]
    points = (barycentric @ faces.corners).reshape(-1, 3)
    return EquivalentCurrents(wavenumber, domain.medium.impedance, points, flat[0], -flat[1], domain.communicator)


def enclosed(
    domain: Domain, mesh: TetrahedralMesh, radius: float | None, center: ArrayLike | None
) -> NDArray[np.bool_]:
    """(tetrahedra,) of the whole mesh: those whose centroids lie within a radius in m of a center, by default the
    middle of all that scatters; without a radius all that scatters and one layer of tetrahedra around: the field at
    edges is not smooth, and that of an incident wave, which a closed surface should not see, is wrong by the mesh's
    dispersion, the more the larger the surface.

    Raises ValueError where no face absorbs, or such a face has a tetrahedron inside; where a material, a conductor or a
    current lies outside.
    """
    opened = np.zeros(domain.part.mesh.number_of_tetrahedra, bool)
    opened[domain.open.elements] = True
    body, opened = _scattering(domain), domain.everywhere(opened)
    if not opened.any():
        raise ValueError("no faces absorb: a far field needs absorbing faces all around; set them in boundaries")
    # which tetrahedra are inside: the scatterer with all that share a vertex with it, or a ball
    if radius is None:
        touched = np.zeros(mesh.number_of_vertices, bool)
        touched[mesh.tetrahedra[body]] = True
        inside = np.asarray(touched[mesh.tetrahedra].any(axis=1))
        advice = "leave more room between it and the absorbing faces, or give a radius and a center"
    else:
        ends = mesh.vertices[mesh.tetrahedra[body if body.any() else slice(None)]].reshape(-1, 3)
        middle = (ends.min(axis=0) + ends.max(axis=0)) / 2 if center is None else one_point(center, "center")
        radius = positive_length(radius, "radius")
        inside = np.linalg.norm(mesh.centroids - middle, axis=1) <= radius
        advice = f"choose another radius than {radius:.4g} m or another center than {middle.round(4).tolist()}"
    # the surface must surround all sources and meet no absorbing face
    if (inside & opened).any():
        raise ValueError(f"the surface around the body meets absorbing faces: {advice}")
    if (body & ~inside).any():
        raise ValueError(
            f"{(body & ~inside).sum()} tetrahedra at a body or a current lie outside the surface: {advice}"
        )
    if not inside.any():
        raise ValueError(f"the surface encloses no tetrahedron: {advice}")
    return inside


def _scattering(domain: Domain) -> NDArray[np.bool_]:
    """Tetrahedra of all ranks that are not free space, carry a current or lie at a conductor."""
    medium, mesh = domain.medium, domain.part.mesh
    own = medium.matter
    for load in domain.loads:
        own[load.elements] = True
    closed = np.isin(domain.conditions, ("pec", "pmc"))
    own |= ((mesh.neighbours < 0) & closed[np.maximum(-1 - mesh.neighbours, 0)]).any(axis=1)
    return domain.everywhere(own)
