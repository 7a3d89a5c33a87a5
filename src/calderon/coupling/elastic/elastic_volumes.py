"""Elastic bodies of quadratic tetrahedra: their matrices by scikit-fem, the forces on them, their displacements.

Unknowns are the displacements along x at all nodes, then those along y, then those along z; nodes are those of
`ElementTetP2`, the vertices before the edges. Stiffness and mass of an isotropic material are

    lambda div u div v + 2 mu eps(u) : eps(v),     rho u . v.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.coupling.elastic.structures import Structure
from calderon.coupling.finite_elements import FiniteElements
from calderon.coupling.traces import trace
from calderon.coupling.volumes import scikit_fem
from calderon.formulations.elastic.conditions.face_conditions import Load
from calderon.formulations.elastic.conditions.surface_conditions import by_tag, faces_of
from calderon.formulations.elastic.material import ElasticMaterial
from calderon.formulations.mirrors import Mirrors
from calderon.mesh import TetrahedralMesh, TriangleMesh
from calderon.mesh.coincident import compacted
from calderon.mesh.tetrahedral.location import locate
from calderon.mesh.tolerances import TOLERANCES
from calderon.spaces import DP2, Space
from calderon.spaces.volume_function import VolumeFunction
from calderon.validation import complex_vector, describe, instance, one_point

Materials = ElasticMaterial | Mapping[Any, ElasticMaterial]


@dataclass(frozen=True, eq=False)
class ElasticVolume:
    """A body of elastic materials.

    elements: quadratic functions on its tetrahedra. material: one for all, or {tag or name: material} of all tags.
    """

    elements: FiniteElements
    material: Materials

    @classmethod
    def of(cls, volume: Any, material: Any, mirrors: Mirrors = None) -> "ElasticVolume":
        """The body of a volume as for `boundary`; TypeError, ValueError for materials without a density, and for tags
        that have none. mirrors: as of `MirroredSurface.of`."""
        found = cls(FiniteElements.of(volume, 2, mirrors, holes=False), material)
        _ = found.constants
        return found

    @property
    def volume(self) -> TetrahedralMesh:
        """The tetrahedra."""
        return self.elements.volume

    @property
    def basis(self) -> Any:
        """The basis of scikit-fem of one component."""
        return self.elements.basis

    @cached_property
    def constants(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
        """lambda, mu and rho (nt,) of each tetrahedron; complex where there is loss."""
        tags = self.volume.tags
        given = self.material
        if not isinstance(given, Mapping):
            given = {tag: given for tag in np.unique(tags).tolist()}
        lame, shear, density = (np.full(len(tags), np.nan, kind) for kind in (complex, complex, float))
        for tag, material in given.items():
            number = self.volume.names.get(tag, tag) if isinstance(tag, str) else tag
            own = tags == number
            if not own.any():
                raise ValueError(
                    f"no tetrahedron has the tag {tag!r}: the volume has the tags {np.unique(tags).tolist()} and the "
                    f"names {', '.join(self.volume.names) or 'none'}"
                )
            instance(material, ElasticMaterial, "an elastic body needs an ElasticMaterial, or {tag: material}")
            density[own] = material.required("density", "a vibration")
            lame[own], shear[own] = material.complex_lame, material.complex_shear_modulus
        if (missing := np.unique(tags[np.isnan(density)])).size:
            raise ValueError(f"tetrahedra with the tags {missing.tolist()} have no material: give one for each tag")
        if not (lame.imag.any() or shear.imag.any()):
            return lame.real, shear.real, density
        return lame, shear, density

    @property
    def wet(self) -> TriangleMesh:
        """The surface around the body, without its holes, which are empty, and without faces in mirrors."""
        return self.elements.surface.part

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """(3 nodes,) the displacements that mirrors do not hold: normal to an even one, along an odd one."""
        return np.concatenate([self.elements.free(component) for component in range(3)])

    @cached_property
    def structure(self) -> Structure:
        """The matrices of the free displacements, with n . u in DP2 on the wet surface."""
        (stiffness, mass), kept, space = self._matrices, np.flatnonzero(self.free), DP2(self.wet)
        if len(kept) < len(self.free):
            stiffness, mass = (sp.csr_array(each[kept][:, kept]) for each in (stiffness, mass))
        return Structure(stiffness, mass, self.normal_displacements(space), space)

    def normal_displacements(self, space: Space) -> sp.csr_array:
        """G (space.dimension, free displacements) from these to n . u in DP2 on walls of the body, n of their mesh."""
        values = trace(self.basis, space)
        triangle = np.empty(space.dimension, np.int64)
        triangle[space.dofs.ravel()] = np.repeat(space.triangles, space.element.size)
        normals = space.mesh.normals[triangle]
        normal = sp.hstack([sp.diags_array(normals[:, c]) @ values for c in range(3)], format="csr")
        return normal if self.free.all() else sp.csr_array(normal[:, np.flatnonzero(self.free)])

    @property
    def holes(self) -> TriangleMesh | None:
        """The walls of its holes with normals into the body; None without any."""
        boundary = self.volume.boundary
        if not boundary.hollow.any():
            return None
        mesh = boundary.mesh
        vertices, triangles = compacted(mesh.vertices, mesh.triangles[boundary.hollow][:, [0, 2, 1]])
        return TriangleMesh(vertices, triangles, mesh.tags[boundary.hollow], mesh.names)

    @property
    def _matrices(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Stiffness and mass: blocks lambda D_ab + mu D_ba + delta_ab mu (D_xx + D_yy + D_zz) of
        D_ab = int (d_a phi_i) (d_b phi_j)."""
        lame, shear, density = self.constants
        weighted = [self._products(constant) for constant in (lame, shear)]
        rows = [[weighted[0][a, b] + weighted[1][b, a] for b in range(3)] for a in range(3)]
        shear_of_gradients = sum(weighted[1][c, c] for c in range(3))
        for c in range(3):
            rows[c][c] = rows[c][c] + shear_of_gradients
        mass = self.elements.mass(density[:, None])
        return sp.csr_array(sp.block_array(rows)), sp.csr_array(sp.block_diag([mass] * 3))

    def _products(self, constant: NDArray[Any]) -> dict[tuple[int, int], sp.csr_array]:
        """c D_ab for all pairs of directions, c (nt,)."""
        skfem, found = scikit_fem(), {}
        for a in range(3):
            for b in range(a, 3):
                form = skfem.BilinearForm(
                    lambda u, v, w, a=a, b=b: constant[:, None] * v.grad[a] * u.grad[b], dtype=constant.dtype
                )
                found[a, b] = sp.csr_array(form.assemble(self.basis))
                found[b, a] = found[a, b].T
        return found

    def functions(self, coefficients: NDArray[Any]) -> tuple[VolumeFunction, ...]:
        """The displacements along x, y and z in m of the unknowns, with their images in mirrors."""
        whole = np.zeros(len(self.free), np.complex128)
        whole[self.free] = coefficients
        return tuple(
            self.elements.function(part, f"displacement {'xyz'[c]}", "m", component=c)
            for c, part in enumerate(np.split(whole, 3))
        )

    def forces(self, loads: Any, point_forces: Any) -> NDArray[Any] | None:
        """The vector F of the unknowns of loads {tag: Force(...)} of the boundary and of forces [(point, force)] in N;
        None without any. Forces have their images in mirrors; one in a mirror is its own."""
        found, some = np.zeros((3, int(self.basis.N)), np.complex128), False
        surface = self.volume.surface()
        posed = by_tag(surface, loads, Load, "loads", "cal.elastic.Force([0, 0, 1])")
        for tag, (_, face) in faces_of(surface, posed).items():
            space, some = DP2(surface, tags=tag), True
            to_nodes = trace(self.basis, space).T
            for load in posed[tag]:
                traction = load.traction(face)
                for c in range(3):
                    found[c] += to_nodes @ space.load_vector(lambda x, n, t=traction, c=c: t(x, n)[:, c])
        total = found.ravel()[self.free]
        for own, share in self.each_force(point_forces):
            total, some = total + share * own, True
        return total if some else None

    def each_force(self, point_forces: Any) -> list[tuple[NDArray[np.complex128], float]]:
        """The vectors of the unknowns of forces [(point, force)] in N, and the shares of the part in them."""
        vectors = []
        for given in _pairs(point_forces):
            place, force = one_point(given[0], "a place"), complex_vector(given[1], "a force")
            numbers, weights = self._at(place)
            own = np.zeros((3, int(self.basis.N)), np.complex128)
            own[:, numbers] = force[:, None] * weights
            vectors.append((own.ravel()[self.free], self._share(place, force)))
        return vectors

    def _share(self, place: NDArray[np.float64], force: NDArray[Any]) -> float:
        """The share of the part in a force (3,) at a place (3,); ValueError where its image in a mirror through the
        place is another one."""
        surface = self.elements.surface
        share = 1.0
        if surface.mirrored is None:
            return share
        for k in 2 ** np.arange(len(surface.mirrored.planes)):  # the images by one mirror
            signs, parity = surface.mirrored.signs[k], surface.parities[k]
            plane = int(np.flatnonzero(signs < 0)[0])
            if abs(place[plane]) > TOLERANCES.near * self.volume.longest_edges.max():
                continue
            if np.abs(parity * signs * force - force).max() > TOLERANCES.same * np.abs(force).max():
                raise ValueError(
                    f"the force {force.tolist()} at {place.tolist()} lies in the mirror {'xyz'[plane]} = 0 and is not "
                    "its own image: along an even mirror, or normal to an odd one, it is"
                )
            share /= 2
        return share

    def _at(self, place: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(10,) nodes, and the values of their functions at a point (3,) of the body."""
        tetrahedra, _ = locate(self.volume, place[None])
        basis = self.basis
        local = basis.mapping.invF(place[:, None, None], tind=tetrahedra)[:, :, 0]
        values = np.concatenate([basis.elem.lbasis(local, i)[0] for i in range(10)])
        return np.asarray(basis.element_dofs[:, tetrahedra[0]], np.int64), values


def _pairs(given: Any) -> Any:
    """Pairs of a place and a force; TypeError for anything else."""
    if not isinstance(given, list | tuple) or not all(isinstance(one, list | tuple) and len(one) == 2 for one in given):
        raise TypeError(
            f"point_forces is a list of pairs of a place and a force, [([0, 0, 0], [0, 0, 1])], got {describe(given)}"
        )
    return given
