"""Electric and magnetic fields of surface currents at points in space, computed on the fly."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import Execution
from calderon.greens import Helmholtz
from calderon.greens.green import checked_quadrature
from calderon.greens.helmholtz import helmholtz
from calderon.mesh import TriangleMesh
from calderon.potentials.sources.current_sources import CURRENT_FIELDS
from calderon.potentials.sources.multipoles import current_of
from calderon.potentials.sources.patch_sums import current_field_kernel
from calderon.potentials.sources.point_sources import CURRENT_FAR_FIELD, Emission
from calderon.potentials.sources.point_triangle import point_triangle_integrals
from calderon.potentials.summation import AUTO, Sums
from calderon.potentials.surface_field import Regular, SurfaceField
from calderon.quadrature.options import Quadrature
from calderon.spaces import VectorFunction
from calderon.spaces.element import Element


@dataclass(frozen=True, eq=False)
class CurrentField(SurfaceField):
    """E = i k int G J + (i / k) grad int G div J  or  H = curl int G J  of a surface current J, with eta0 = 1. Built by
    the two functions below."""

    green: Helmholtz
    density: VectorFunction
    magnetic: bool
    quadrature: Quadrature = field(default_factory=Quadrature)

    @property
    def brief(self) -> str:
        """Field, Green's function and current."""
        return f"{'magnetic' if self.magnetic else 'electric'} field of {self.green!r}, current {self.density.brief}"

    def evaluate(
        self,
        points: ArrayLike,
        backend: str = "numba",
        precision: str = "double",
        *,
        method: str = AUTO,
        rtol: float | None = None,
    ) -> NDArray[np.complexfloating[Any, Any]]:
        """(n, 3) field at points (n, 3), in the unit of the density.

        Points near the surface are integrated adaptively. On the surface the mean of its two sides is returned, with an
        AccuracyWarning that names the points. Raises ValueError for a wrong shape, NaN or infinity. backend, precision,
        method, rtol: as for `Potential.evaluate`.
        """
        return self._evaluate(points, CURRENT_FIELDS[self.magnetic], Execution.of(backend, precision), method, rtol)

    def far_field(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, backend: str = "numba", precision: str = "double"
    ) -> NDArray[np.complexfloating[Any, Any]]:
        """Transverse F (..., 3) in directions given by angles or vectors, see `exact.unit_directions`: the field is ~
        F exp(i k r) / r at distance r from the origin. Unit of the density times a length.

        With N = int J exp(-i k d . y):  E has i k (N - d (d . N)) / (4 pi), H has i k d x N / (4 pi). Raises ValueError
        for lossy media, where no such pattern exists. backend, precision: as for `Potential.evaluate`.
        """
        execution = Execution.of(backend, precision)
        toward, k, total = self._far(theta, phi, CURRENT_FAR_FIELD, execution)
        total = total.reshape(toward.shape)
        if self.magnetic:
            values = 1j * k * np.cross(toward, total)
        else:
            values = 1j * k * (total - toward * (toward * total).sum(axis=-1, keepdims=True))
        return values.astype(execution.dtype(True), copy=False)

    @property
    def _mesh(self) -> TriangleMesh:
        return self.density.space.base.mesh

    @property
    def _triangles(self) -> NDArray[np.int64]:
        return self.density.space.support

    @cached_property
    def _corner_values(self) -> NDArray[np.complex128]:
        """(m, 3, 3) vectors at the corners of the supporting triangles."""
        return self.density.values(Element(1).nodes).astype(complex)

    @cached_property
    def _divergence(self) -> NDArray[np.complex128]:
        """(m,) on the supporting triangles."""
        return np.asarray(self.density.space.divergence_matrix() @ self.density.coefficients, dtype=complex)

    def _emitted(self, local: Any, rule: Any, far: bool) -> Any:
        """Positions, real and imaginary currents, real and imaginary charge. far: the plain currents, no charge."""
        geometry, k = self._geometry.take(local), self.green.wavenumber
        weights = geometry.weights(rule)
        current = weights[..., None] * (rule.barycentric @ self._corner_values[local])
        charge = np.zeros((*current.shape[:2], 1), complex)
        if not (self.magnetic or far):
            current = 1j * k * current
            charge = (1j / k * self._divergence[local, None] * weights)[..., None] * self._frame.scale
        return np.concatenate(
            [geometry.points(rule.points), current.real, current.imag, charge.real, charge.imag], axis=2
        )

    def _exact(
        self, x: NDArray[np.float64], numbers: NDArray[np.int64], local: NDArray[np.int64], emission: Emission
    ) -> NDArray[np.complex128]:
        frame, k = self._frame, self.green.wavenumber
        first, second, third = np.moveaxis(self._corner_values[local], 1, 0)
        plane = self._plane(local, np.stack([first, second - first, third - first], axis=2))
        parts = point_triangle_integrals(x, plane, numbers, k / frame.scale, False, self.magnetic)
        if self.magnetic:  # curl: sum over components b of grad (int G J_b) x e_b
            return _curl(parts) / frame.scale**2
        charges = self._plane(local, self._divergence[local][:, None, None])
        slopes = point_triangle_integrals(x, charges, numbers, k / frame.scale, False, True)[:, 0]
        return (1j * k * parts[:, :, 0] + 1j / k * frame.scale * slopes) / frame.scale**2

    def _by_sums(self, sums: Sums, emission: Emission) -> Regular:
        places, k = self._framed_sources().reshape(-1, 11), self._framed_wavenumber
        y, currents, charges = (
            places[:, :3],
            places[:, 3:6] + 1j * places[:, 6:9],
            places[:, 9:10] + 1j * places[:, 10:],
        )

        def total(x: NDArray[np.float64]) -> NDArray[np.complex128]:
            if self.magnetic:
                return 4 * np.pi * _curl(sums(y, currents, None, k, targets=x, gradient=True))
            values = sums(y, currents, None, k, targets=x, gradient=False)[..., 0]
            return 4 * np.pi * (values + sums(y, charges, None, k, targets=x, gradient=True)[:, 0])

        return Regular(np.dtype(np.float64), np.zeros(len(self._triangles)), total)

    def _on_processor(self, emission: Emission, execution: Execution) -> Regular:
        frame, count = self._frame, len(self._triangles)
        clusters = self._clusters(self._framed_sources(), np.zeros((count, 3)), np.full(count, math.sqrt(frame.cut)))
        sources = clusters.sources
        given = np.concatenate(
            [sources[..., 3:6] + 1j * sources[..., 6:9], sources[..., 9:10] + 1j * sources[..., 10:]], axis=2
        )
        run = current_field_kernel(self.green.radial(clusters.spread), self.magnetic)
        sums = self._sums_of(run, clusters, sources, given, current_of(self.magnetic), emission, 2, False)
        return Regular(np.dtype(np.float64), np.full(count, frame.cut), sums)


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


def _curl(slopes: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """(n, 3) curls from the gradients (n, 3, 3) of the three components of a field."""
    return np.stack([slopes[:, i - 1, i - 2] - slopes[:, i - 2, i - 1] for i in range(3)], axis=1)


def _check(density: VectorFunction, what: str) -> None:
    if not isinstance(density, VectorFunction):
        raise TypeError(f"the {what} is that of a VectorFunction, got {type(density).__name__}: see RWG(mesh)")
