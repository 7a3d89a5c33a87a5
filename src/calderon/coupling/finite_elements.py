"""Finite elements on tetrahedra by scikit-fem: matrices of a second-order equation, and traces on its boundary."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.coupling.traces import trace
from calderon.coupling.volumes import scikit_fem, skfem_mesh, snapped_volume, used_volume
from calderon.formulations.mirrors import Baffle, HalfSpace, MirroredSurface, Mirrors
from calderon.mesh import TetrahedralMesh, TriangleMesh
from calderon.mesh.coincident import compacted
from calderon.mesh.shapes.mirror_images import MirrorImages, mirror_images
from calderon.mesh.topology import components_by_edges, edge_table
from calderon.spaces import P1, P2, Space
from calderon.spaces.mirror_images import MirroredFunctions
from calderon.spaces.volume_function import VolumeFunction

DEGREES = {"P1": 1, "P2": 2}
"""The degree of the functions by the name of their space on the surface."""


@dataclass(frozen=True, eq=False)
class VolumeElements:
    """Functions on the tetrahedra of a volume without unused vertices, which are those on one side of mirrors, by a
    `basis` of scikit-fem.

    surface: the boundary without faces in mirrors, and the whole with its images.
    """

    volume: TetrahedralMesh
    surface: MirroredSurface

    basis: ClassVar[Any]

    @property
    def dimension(self) -> int:
        """Number of functions in the volume."""
        return int(self.basis.N)

    @property
    def points(self) -> NDArray[np.float64]:
        """(nt, q, 3) points of quadrature."""
        return np.moveaxis(np.asarray(self.basis.global_coordinates()), 0, -1)

    @property
    def images(self) -> MirrorImages | None:
        """The tetrahedra with their images in mirrors; None without these, and in a half space."""
        mirrored = self.surface.mirrored
        if mirrored is None or self.surface.half_space:
            return None
        return mirror_images(self.volume.vertices, self.volume.tetrahedra, mirrored.planes)


@dataclass(frozen=True, eq=False)
class FiniteElements(VolumeElements):
    """Continuous functions of a degree, 1 or 2, on tetrahedra. Fields are combinations of functions on the whole
    surface with the same value, or its negative, in all images; their unknowns are those of the part."""

    degree: int

    @classmethod
    def of(cls, volume: Any, degree: int, mirrors: Mirrors = None, holes: bool = True) -> "FiniteElements":
        """The functions of a degree on a volume, which is given as for `boundary`. mirrors: as of `MirroredSurface.of`.
        holes: whether their walls are part of the boundary. ValueError for a baffle, and for holes in mirrors."""
        given, surface = mirrored_volume(volume, mirrors, holes)
        return cls(given, surface, degree)

    @cached_property
    def basis(self) -> Any:
        """The basis of scikit-fem, with a rule of degree 2 p + 2."""
        skfem = scikit_fem()
        element = skfem.ElementTetP1() if self.degree == 1 else skfem.ElementTetP2()
        return skfem.Basis(skfem_mesh(self.volume), element, intorder=2 * self.degree + 2)

    @cached_property
    def space(self) -> Space:
        """The functions of the same degree on the boundary."""
        return (P1 if self.degree == 1 else P2)(self.surface.whole)

    @cached_property
    def values(self) -> MirroredFunctions:
        """The functions of `space` that have unknowns."""
        return self.surface.functions(self.space)

    @cached_property
    def derivatives(self) -> MirroredFunctions:
        """The functions of `slopes` that have unknowns."""
        return self.surface.functions(self.slopes)

    @cached_property
    def slopes(self) -> Space:
        """The space of normal derivatives on the boundary: linear functions, which are as accurate as quadratic ones
        on flat triangles, between which the normal jumps."""
        return P1(self.surface.whole)

    @cached_property
    def inclusion(self) -> sp.csr_array:
        """(space.dimension, slopes.dimension): `slopes` as functions of `space`."""
        space, kept = self.space, self.space.dofs.ravel()
        first = np.unique(kept, return_index=True)[1]
        return self.slopes.expansion(space.element.nodes)[first]

    @cached_property
    def pairing(self) -> sp.csr_array:
        """M (values.dimension, derivatives.dimension), integrals of values with slopes over the part."""
        return self._on_part(self.values, self.derivatives)

    def _on_part(self, rows: MirroredFunctions, columns: MirroredFunctions) -> sp.csr_array:
        """Integrals over the part of products of fields with unknowns."""
        return self.surface.on_part(rows, columns, columns.space.mass_matrix(rows.space))

    def robin(self, eta: complex) -> sp.csr_array:
        """R (derivatives.dimension, values.dimension): values over eta as slopes, by the sums of their mass matrix, so
        that it is sparse; M R is symmetric."""
        sums = self._on_part(self.derivatives, self.derivatives).sum(axis=1)
        return sp.csr_array(sp.diags_array(1 / (eta * sums)) @ self.pairing.T)

    @cached_property
    def trace(self) -> sp.csr_array:
        """T (values.dimension, dimension): values on the boundary."""
        space, number = self.space, self.surface.part.number_of_triangles
        own = space.triangles < number
        part = replace(space, triangles=space.triangles[own], dofs=space.dofs[own])
        return trace(self.basis, part)[self.values.functions]

    def free(self, component: int | None = None) -> NDArray[np.bool_]:
        """(dimension,) which functions are not zero in all fields by the mirrors that they lie in: scalar ones, or a
        component of vectors whose normal components are as even as scalars."""
        found, surface = np.ones(self.dimension, bool), self.surface
        if surface.mirrored is None:
            return found
        for k in 2 ** np.arange(len(surface.mirrored.planes)):  # the images by one mirror
            signs = surface.mirrored.signs[k]
            if surface.parities[k] * (1 if component is None else signs[component]) < 0:
                found &= self.basis.doflocs[np.flatnonzero(signs < 0)[0]] != 0
        return found

    def reduced(self, matrix: sp.csr_array) -> sp.csr_array:
        """The matrix (n, n) of the free functions from one of all."""
        if self.surface.mirrored is None:
            return matrix
        free = np.flatnonzero(self.free())
        return sp.csr_array(matrix[free][:, free])

    def restored(self, unknowns: NDArray[Any]) -> NDArray[Any]:
        """Coefficients of all functions from those of the free ones."""
        found = np.zeros(self.dimension, unknowns.dtype)
        found[self.free()] = unknowns
        return found

    def stiffness(self, a: NDArray[Any]) -> sp.csr_array:
        """int a grad u . grad v with values a (nt, q) at the points, or tensors (nt, q, 3, 3)."""

        def form(u: Any, v: Any, w: Any) -> Any:
            if a.ndim == 2:
                return a * (u.grad * v.grad).sum(axis=0)
            return np.einsum("nqij,jnq,inq->nq", a, u.grad, v.grad)

        return self._assembled(form, a.dtype)

    def mass(self, n: NDArray[Any]) -> sp.csr_array:
        """int n u v with values n (nt, q) at the points."""
        return self._assembled(lambda u, v, w: n * u * v, n.dtype)

    def _assembled(self, form: Any, dtype: np.dtype[Any]) -> sp.csr_array:
        return sp.csr_array(scikit_fem().BilinearForm(form, dtype=dtype.type).assemble(self.basis))

    def load(self, density: NDArray[Any]) -> NDArray[Any]:
        """int f v with values f (nt, q) at the points."""
        return np.asarray(
            scikit_fem().LinearForm(lambda v, w: density * v, dtype=density.dtype.type).assemble(self.basis)
        )

    def flux_load(self, field: NDArray[Any]) -> NDArray[Any]:
        """int f . grad v with vectors f (nt, q, 3) at the points."""
        parts = np.moveaxis(field, -1, 0)
        form = scikit_fem().LinearForm(lambda v, w: (parts * v.grad).sum(axis=0), dtype=field.dtype.type)
        return np.asarray(form.assemble(self.basis))

    def gradients(self, coefficients: NDArray[Any]) -> NDArray[Any]:
        """grad u (nt, q, 3) at the points of the function with coefficients (dimension,)."""
        return np.moveaxis(np.asarray(self.basis.interpolate(coefficients).grad), 0, -1)

    @property
    def description(self) -> str:
        """A line for the text of a problem."""
        return f"{self.dimension} unknowns in {self.volume.number_of_tetrahedra} tetrahedra are eliminated"

    def function(
        self, coefficients: NDArray[Any], label: str, unit: str, component: int | None = None
    ) -> VolumeFunction:
        """The function with these coefficients (dimension,), with its images in mirrors, but for those beyond the plane
        of a half space. component: as in `free`."""
        basis, mesh = self.basis, self.volume
        values = coefficients[basis.nodal_dofs[0]]
        if self.degree == 2:  # edges in lexicographic order
            ends = np.sort(basis.mesh.edges.T, axis=1)
            values = np.concatenate([values, coefficients[basis.edge_dofs[0]][np.lexsort(ends.T[::-1])]])
        part = VolumeFunction(mesh.vertices, mesh.tetrahedra, self.degree, np.asarray(values), label, unit)
        if (images := self.images) is None:
            return part
        signs = 1 if component is None else images.signs[:, component]
        return part.with_images(images, self.surface.parities * signs)


def mirrored_volume(
    volume: Any, mirrors: Mirrors, holes: bool = True, of_currents: bool = False
) -> tuple[TetrahedralMesh, MirroredSurface]:
    """A volume, which is given as for `boundary`, and its boundary with images in mirrors; arguments as of
    `MirroredSurface.of`. holes: whether their walls are part of the boundary. ValueError for a baffle, and for holes in
    mirrors."""
    if isinstance(mirrors, Baffle):
        raise ValueError('a volume has no Baffle: give planes, {"z": "even"}, or HalfSpace("z")')
    given = used_volume(volume)
    if not isinstance(mirrors, HalfSpace | Mapping) or not mirrors:
        mesh, hollow = given.surface(), given.boundary.hollow
        return given, MirroredSurface.of(mesh if holes else _without(mesh, hollow), mirrors, of_currents)
    planes = (mirrors.plane,) if isinstance(mirrors, HalfSpace) else tuple(mirrors)
    found = snapped_volume(given, planes)
    in_mirrors, hollow = _cut(found.surface(), ["xyz".index(plane) for plane in planes])
    if holes and hollow.any():
        raise ValueError("a body with holes has no mirrors here: give the whole, or fill the holes")
    return found, MirroredSurface.of(_without(found.surface(), in_mirrors | hollow), mirrors, of_currents)


def _cut(mesh: TriangleMesh, axes: list[int]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(nt,) which triangles of the boundary of a snapped volume lie in mirrors, and which bound holes: seen from the
    origin, a point of all mirrors, their components have a negative volume."""
    corners = mesh.vertices[mesh.triangles]
    inside = (corners == 0).all(axis=1)[:, axes].any(axis=1)
    edges, triangle_edges, _ = edge_table(mesh.triangles[~inside], mesh.number_of_vertices)
    components = components_by_edges(triangle_edges, len(edges))
    hollow = np.zeros(len(inside), bool)
    hollow[~inside] = (np.bincount(components, np.linalg.det(corners[~inside])) < 0)[components]
    return inside, hollow


def _without(mesh: TriangleMesh, dropped: NDArray[np.bool_]) -> TriangleMesh:
    """A mesh without some triangles (nt,)."""
    if not dropped.any():
        return mesh
    vertices, triangles = compacted(mesh.vertices, mesh.triangles[~dropped])
    return TriangleMesh(vertices, triangles, mesh.tags[~dropped], mesh.names)


def matrices(volume: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass matrix (nv, nv) of linear tetrahedra, int grad phi_i . grad phi_j and int phi_i phi_j.

    volume: as for `boundary`; function i belongs to its vertex i. A vertex of no tetrahedron has rows of zeros.
    """
    skfem = scikit_fem()
    basis = skfem.Basis(skfem_mesh(volume), skfem.ElementTetP1(), intorder=2)
    stiffness = skfem.BilinearForm(lambda u, v, w: (u.grad * v.grad).sum(axis=0)).assemble(basis)
    mass = skfem.BilinearForm(lambda u, v, w: u * v).assemble(basis)
    return sp.csr_array(stiffness), sp.csr_array(mass)
