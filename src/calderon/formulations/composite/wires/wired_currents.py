"""Currents on surfaces and on wires that radiate together."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from calderon.exact import unit_directions
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents
from calderon.formulations.wires.network import JOINED
from calderon.formulations.wires.radiation import far_fields, near_fields
from calderon.mesh import TriangleMesh
from calderon.quadrature.sphere import far_field_square
from calderon.spaces import VectorFunction
from calderon.spaces.space import Tags, supported_triangles
from calderon.validation import one_or_more_points

Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]
CHUNK = 1_000_000
"""Pairs of points that are computed together."""


@dataclass(frozen=True, eq=False)
class WireSources:
    """Segments (n, 8) of wires with the currents (n, 2) in A at their ends, and where these end on metal points (q, 3)
    with current moments (q, 3) in A m and charges (q,), of div J, in A."""

    segments: Floats
    currents: Complex
    points: Floats
    moments: Complex
    charges: Complex

    def fields(self, x: Floats, k: complex, eta: complex) -> tuple[Complex, Complex]:
        """E and H (m, 3) at points (m, 3)."""
        electric, magnetic = near_fields(self.segments, self.currents, k, eta, x)
        step = max(1, CHUNK // max(1, len(self.points)))
        for low in range(0, len(x) if len(self.points) else 0, step):
            some = slice(low, low + step)
            offset = x[some, None] - self.points
            r = np.maximum(np.linalg.norm(offset, axis=2), 1e-12)
            green = np.exp(1j * k * r) / (4 * np.pi * r)
            slope = green * (1j * k - 1 / r) / r
            electric[some] += 1j * k * eta * (green @ self.moments)
            electric[some] += 1j * eta / k * np.einsum("mq,mqi->mi", slope * self.charges, offset)
            magnetic[some] += np.einsum("mq,mqi->mi", slope, np.cross(offset, self.moments))
        return electric, magnetic

    def means(self, mesh: TriangleMesh) -> tuple[Complex, Complex]:
        """Means over the triangles of a mesh of what flows out of wires into it: the current (nt, 3) in A/m and its
        divergence (nt,) in A/m^2."""
        current = np.zeros((mesh.number_of_triangles, 3), np.complex128)
        charge = np.zeros(mesh.number_of_triangles, np.complex128)
        begin, along = self.segments[:, :3], self.segments[:, 3:6] * self.segments[:, 6:7]
        used = mesh.used_vertices
        away, near = cKDTree(mesh.vertices[used]).query(np.concatenate([begin, begin + along]))
        feet = used[np.unique(near[away <= JOINED * self.segments[:, 6].min()])]
        around = np.flatnonzero(np.isin(mesh.triangles, feet).any(axis=1))
        if not len(self.points) or not len(around):
            return current, charge
        # the triangle of a point: x = sum of barycentric coordinates (m, n, 3) times corners, none of them negative
        corners = mesh.vertices[mesh.triangles[around]]
        inverse = np.linalg.pinv(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2))
        offset = self.points[:, None] - corners[:, 0]
        inner = np.einsum("nij,mnj->mni", inverse, offset)
        error = offset - np.einsum("nji,mnj->mni", corners[:, 1:] - corners[:, :1], inner)
        outside = np.maximum(-np.minimum(inner.min(axis=2), 1 - inner.sum(axis=2)), 0)
        size = np.sqrt(mesh.areas[around])
        own = around[np.argmin(outside + np.linalg.norm(error, axis=2) / size, axis=1)]
        np.add.at(current, own, self.moments)
        np.add.at(charge, own, self.charges)
        return current / mesh.areas[:, None], charge / mesh.areas

    def far(self, directions: Floats, k: float, eta: float) -> Complex:
        """F (m, 3) in V toward unit vectors (m, 3)."""
        found = far_fields(self.segments, self.currents, k, eta, directions)
        of_metal = np.exp(-1j * k * (directions @ self.points.T)) @ self.moments
        of_metal = of_metal - np.einsum("mi,mi->m", of_metal, directions)[:, None] * directions
        return np.asarray(found + 1j * k * eta / (4 * np.pi) * of_metal)


@dataclass(frozen=True, eq=False)
class CurrentWithFeet(VectorFunction):
    """A surface current in A/m with what flows into the surface where wires end on it: means (nt, 3) over triangles,
    and those of its divergence (nt,) in A/m^2. `values` and norms are those of the space alone: the other part is
    infinite at the ends of wires, and its square has no integral."""

    feet: Complex = field(kw_only=True)
    charges: Complex = field(kw_only=True)

    def at_centroids(self) -> NDArray[Any]:
        """(nt, 3) vectors at the centroids, with the means of what flows out of wires."""
        return super().at_centroids() + self.feet

    def divergence(self) -> NDArray[Any]:
        return super().divergence() + self.charges

    def integral(self, tags: Tags = None) -> NDArray[Any]:
        mesh = self.space.mesh
        some = supported_triangles(mesh, tags)
        return np.asarray(super().integral(tags) + mesh.areas[some] @ self.feet[some])

    def __mul__(self, factor: complex) -> Self:
        return replace(super().__mul__(factor), feet=self.feet * factor, charges=self.charges * factor)

    __rmul__ = __mul__

    def __add__(self, other: VectorFunction) -> Self:
        """The sum with another current, also with one without feet."""
        feet, charges, plain = self.feet, self.charges, other
        if isinstance(other, CurrentWithFeet):
            feet, charges, plain = feet + other.feet, charges + other.charges, other._of_the_space()
        total = self._of_the_space() + plain
        return replace(self, coefficients=total.coefficients, feet=feet, charges=charges)

    __radd__ = __add__

    def __sub__(self, other: VectorFunction) -> Self:
        return self + other * -1

    def perpendicular(self) -> "CurrentWithFeet":
        found, sign = super().perpendicular(), -1 if self.space.rotated else 1
        given = found.space, found.coefficients, found.label, found.unit
        return CurrentWithFeet(*given, feet=np.cross(self.space.mesh.normals, self.feet), charges=sign * self.charges)

    def _of_the_space(self) -> VectorFunction:
        return VectorFunction(self.space, self.coefficients, self.label, self.unit)


@dataclass(frozen=True, eq=False, kw_only=True)
class WiredCurrents(RadiatingCurrents):
    """Currents on surfaces, and `wires` in the same medium, whose constants are real where there are far fields."""

    wires: WireSources

    @property
    def shown(self) -> tuple[VectorFunction, ...]:
        first, *others = self.electric_currents
        feet, charges = self.wires.means(first.space.mesh)
        given = first.space, first.coefficients, first.label, first.unit
        return CurrentWithFeet(*given, feet=feet, charges=charges), *others

    def electric(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        return self._added(0, super().electric, points, backend, precision)

    def magnetic(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        return self._added(1, super().magnetic, points, backend, precision)

    def _added(self, which: int, of_surfaces: Callable[..., Any], points: ArrayLike, *where: str) -> NDArray[Any]:
        found = np.asarray(of_surfaces(points, *where))
        flat = one_or_more_points(np.reshape(points, (-1, 3)))
        own = self.wires.fields(flat, complex(self.wavenumber), complex(self.impedance))[which]
        return found + own.reshape(found.shape)

    def far_field(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, backend: str = "numba", precision: str = "double"
    ) -> NDArray[Any]:
        found = super().far_field(theta, phi, backend=backend, precision=precision)
        directions = unit_directions(theta) if phi is None else unit_directions(theta, phi)
        own = self.wires.far(directions.reshape(-1, 3), *self._real)
        return np.asarray(found + own.reshape(found.shape))

    @property
    def _real(self) -> tuple[float, float]:
        return float(np.real(self.wavenumber)), float(np.real(self.impedance))

    def far_field_square(self) -> float:
        meshes = {id(j.space.mesh): j.space.mesh for j in self.electric_currents}
        begin, along = self.wires.segments[:, :3], self.wires.segments[:, 3:6] * self.wires.segments[:, 6:7]
        places = [mesh.vertices[mesh.used_vertices] for mesh in meshes.values()]
        return far_field_square(self.far_field, np.concatenate([*places, begin, begin + along]), self.wavenumber)

    def delivered_power(self) -> float:
        """The radiated power in W: the medium around has no loss."""
        return self.far_field_square() / (2 * self._real[1])
