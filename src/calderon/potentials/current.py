"""Electric and magnetic fields of surface currents at points in space, computed on the fly."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import Execution
from calderon.exact.angular import unit_directions
from calderon.greens import Helmholtz
from calderon.greens.elementary import SHORT
from calderon.greens.green import checked_quadrature
from calderon.greens.helmholtz import helmholtz
from calderon.potentials.current_sources import current_field_kernel, paired_current_kernel
from calderon.potentials.device import CURRENT_FAR_FIELD, CURRENT_FIELDS, device_sums, far_sums, warn_if_coarse
from calderon.potentials.layer import (
    NEAR,
    Frame,
    Near,
    correct_near,
    far_values,
    far_wavenumber,
    host_sums,
    warn_on_surface,
)
from calderon.potentials.near_evaluation import beside_surface, checked_points, digits_of
from calderon.potentials.point_triangle import point_triangle_integrals
from calderon.quadrature import triangle_rule
from calderon.quadrature.options import Quadrature
from calderon.spaces import VectorFunction
from calderon.spaces.element import barycentric

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


@dataclass(frozen=True, eq=False)
class CurrentField:
    """E = i k int G J + (i / k) grad int G div J  or  H = curl int G J  of a surface current J, with eta0 = 1. Built by
    the two functions below."""

    green: Helmholtz
    density: VectorFunction
    magnetic: bool
    quadrature: Quadrature = field(default_factory=Quadrature)

    def evaluate(
        self, points: ArrayLike, backend: str = "numba", precision: str = "double"
    ) -> NDArray[np.complexfloating[Any, Any]]:
        """(n, 3) field at points (n, 3), in the unit of the density.

        Points near the surface are integrated adaptively. On the surface the mean of its two sides is returned, with an
        AccuracyWarning that names the points. Raises ValueError for a wrong shape, NaN or infinity. backend, precision:
        as for `Potential.evaluate`.
        """
        return self._field(points, Execution.of(backend, precision))

    def far_field(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, backend: str = "numba", precision: str = "double"
    ) -> NDArray[np.complexfloating[Any, Any]]:
        """Transverse F (..., 3) in directions given by angles or vectors, see `exact.unit_directions`: the field is ~
        F exp(i k r) / r at distance r from the origin. Unit of the density times a length.

        With N = int J exp(-i k d . y):  E has i k (N - d (d . N)) / (4 pi), H has i k d x N / (4 pi). Raises ValueError
        for lossy media, where no such pattern exists. backend, precision: as for `Potential.evaluate`.
        """
        execution = Execution.of(backend, precision)
        toward, k = unit_directions(theta, phi), far_wavenumber(self.green)
        unit = toward.reshape(-1, 3)
        rule, mesh = triangle_rule(self.quadrature.regular), self.density.space.base.mesh
        currents = self._currents(np.arange(len(self._triangles)), barycentric(rule.points).T, rule.weights)
        y = np.einsum("bq,nbc->nqc", barycentric(rule.points), mesh.vertices[mesh.triangles[self._triangles]])
        if execution.device is None:
            total = self._host_far(unit, y, currents, k)
        else:
            frame = self._frame
            warn_if_coarse(execution.real, k, 1 / frame.scale, stacklevel=2)
            sources = np.concatenate([y, currents.real, currents.imag, np.zeros((*y.shape[:2], 2))], axis=2)
            total = far_sums(execution, CURRENT_FAR_FIELD, unit, sources, k, frame.origin, frame.scale)
        if self.magnetic:
            values = 1j * k * np.cross(unit, total)
        else:
            values = 1j * k * (total - unit * (unit * total).sum(axis=1, keepdims=True))
        return values.astype(execution.dtype(True), copy=False).reshape(toward.shape)

    def _host_far(self, unit, y, currents, k):  # type: ignore[no-untyped-def]
        """(n, 3) int J exp(-i k d . y) / (4 pi)."""
        centres, short = self.density.space.base.mesh.centroids[self._triangles], k * self._radius() <= SHORT
        total = np.empty((len(unit), 3), complex)
        for c in range(3):
            charge = currents[..., c, None]
            sources = np.concatenate([y, np.zeros_like(y), charge.real, charge.imag], axis=2)
            total[:, c] = far_values(unit, sources, centres, k, False, short)
        return total

    @property
    def _triangles(self) -> NDArray[np.int64]:
        return self.density.space.support

    @cached_property
    def _corner_values(self) -> NDArray[np.complex128]:
        """(m, 3, 3) vectors at the corners of the supporting triangles."""
        return self.density.values(_CORNERS).astype(complex)

    @cached_property
    def _divergence(self) -> NDArray[np.complex128]:
        """(m,) on the supporting triangles."""
        return np.asarray(self.density.space.divergence_matrix() @ self.density.coefficients, dtype=complex)

    def _radius(self) -> float:
        """Largest distance of a point of a triangle from its centroid, an upper bound."""
        return 2 / 3 * float(self.density.space.base.mesh.diameters[self._triangles].max())

    def _currents(self, local, inside, weights):  # type: ignore[no-untyped-def]
        """(n, Q, 3) currents times weights and Jacobian."""
        areas = 2 * self.density.space.base.mesh.areas[self._triangles[local], None, None]
        return areas * np.asarray(weights)[..., None] * (inside @ self._corner_values[local])

    def _emitted(self, local, inside, weights):  # type: ignore[no-untyped-def]
        """Sources (n, Q, 11) as `potential.Emission` says."""
        mesh, triangles = self.density.space.base.mesh, self._triangles[local]
        k = self.green.wavenumber
        current = self._currents(local, inside, weights)
        charge = np.zeros((*current.shape[:2], 1), complex)
        if not self.magnetic:
            current = 1j * k * current
            strength = 2j / k * mesh.areas[triangles] * self._divergence[local]
            charge = (strength[:, None] * weights)[..., None] * self._frame.scale
        y = inside @ mesh.vertices[mesh.triangles[triangles]]
        return np.concatenate([y, current.real, current.imag, charge.real, charge.imag], axis=2)

    def _exact(self, x: NDArray[np.float64], local: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n, 3, 2) fields of triangles local (n,) at points x (n, 3), in the frame."""
        mesh, frame = self.density.space.base.mesh, self._frame
        distinct, numbers = np.unique(local, return_inverse=True)
        first, second, third = np.moveaxis(self._corner_values[distinct], 1, 0)
        plane = frame.plane(mesh, self._triangles[distinct], np.stack([first, second - first, third - first], axis=2))
        at, k = frame.inside(x), self.green.wavenumber
        parts = point_triangle_integrals(at, plane, numbers, k / frame.scale, False, self.magnetic)
        if self.magnetic:  # curl: sum over components b of grad (int G J_b) x e_b
            slopes = parts / frame.scale**2
            return np.stack([slopes[:, (i + 2) % 3, (i + 1) % 3] - slopes[:, (i + 1) % 3, (i + 2) % 3]
                             for i in range(3)], axis=1)  # fmt: skip
        charges = frame.plane(mesh, self._triangles[distinct], self._divergence[distinct][:, None, None])
        slopes = point_triangle_integrals(at, charges, numbers, k / frame.scale, False, True)[:, 0]
        field = 1j * k * _as_complex(parts[:, :, 0]) + 1j / k * frame.scale * _as_complex(slopes)
        return np.stack([field.real, field.imag], axis=2) / frame.scale**2

    @cached_property
    def _frame(self) -> Frame:
        return Frame.of(self.density.space.base.mesh, self._triangles, self.green)

    def _field(self, points: ArrayLike, execution: Execution) -> NDArray[np.complexfloating[Any, Any]]:
        given = checked_points(points, self.density.space.mesh)
        mesh, triangles, frame, green = self.density.space.base.mesh, self._triangles, self._frame, self.green
        beside = beside_surface(mesh, triangles, given, digits_of(points))
        x, rule = beside.points, triangle_rule(self.quadrature.regular)
        sources = self._emitted(np.arange(len(triangles)), barycentric(rule.points).T, rule.weights)
        sources[..., :3] = frame.inside(sources[..., :3])
        if execution.device is None:
            floors = np.full(len(triangles), frame.cut)
            warn_if_coarse(np.dtype(np.float64), green.wavenumber.real, frame.reach(x), stacklevel=3)
            run = current_field_kernel(green.radial(abs(green.wavenumber) * self._radius()), self.magnetic)
            centres = frame.inside(mesh.centroids[triangles])
            total = host_sums(lambda block, out: run(block, sources, centres, frame.scalars, out), frame.inside(x), 3)
        else:
            floors = frame.floors(mesh, triangles, NEAR)
            warn_if_coarse(execution.real, green.wavenumber.real, frame.reach(x), stacklevel=3)
            sent = CURRENT_FIELDS[self.magnetic]
            total = device_sums(execution, sent, green, frame.inside(x), sources, floors, frame.scalars)
        paired = paired_current_kernel(green.radial(math.inf), self.magnetic)
        near = Near(x, mesh, triangles, self.quadrature.regular, floors)
        correct_near(total, near, self._emitted, paired, frame, self._exact)
        warn_on_surface(given, beside.on)
        total = beside.means(total)
        total *= frame.scale ** (2 if self.magnetic else 1) / (4 * math.pi)
        return (total[..., 0] + 1j * total[..., 1]).astype(execution.dtype(True), copy=False)


def _as_complex(parts: NDArray[np.float64]) -> NDArray[np.complex128]:
    """From real and imaginary parts (..., 2)."""
    return parts[..., 0] + 1j * parts[..., 1]


def electric_field_potential(
    green: Helmholtz | complex, density: VectorFunction, *, quadrature: Quadrature | None = None
) -> CurrentField:
    """E = i k int G J + (i / k) grad int G div J, the electric field of a surface current (eta0 = 1).

    Its tangential part, tested, is `electric_field`. green: a Helmholtz or its wavenumber. The density J is
    div-conforming, of RWG or BC functions. Raises ValueError for k = 0 and for rotated spaces, TypeError for functions
    that are not vector fields.
    """
    _check(density, "electric field potential")
    if density.space.rotated:
        raise ValueError(
            f"the electric field potential needs the charge div J, and that of {density.space.name} functions lives on "
            "the edges: use RWG or BC, or density.perpendicular()"
        )
    green = helmholtz(green, "electric field potential")
    return CurrentField(green, density, False, checked_quadrature("the electric field potential", green, quadrature))


def magnetic_field_potential(
    green: Helmholtz | complex, density: VectorFunction, *, quadrature: Quadrature | None = None
) -> CurrentField:
    """H = curl int G J = int grad_x G x J, the magnetic field of a surface current; also E = -(that of M) for a
    magnetic current M. n x H jumps by J across the surface (outside minus inside).

    Arguments and errors as for `electric_field_potential`; every space of vector fields will do.
    """
    _check(density, "magnetic field potential")
    green = helmholtz(green, "magnetic field potential")
    return CurrentField(green, density, True, checked_quadrature("the magnetic field potential", green, quadrature))


def _check(density: VectorFunction, what: str) -> None:
    if not isinstance(density, VectorFunction):
        raise TypeError(f"the {what} is that of a VectorFunction, got {type(density).__name__}: see RWG(mesh)")
