"""Layer potentials at points in space: computed on the fly in parallel, never stored."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import Execution
from calderon.greens import RadialGreen
from calderon.greens.green import checked_quadrature
from calderon.mesh import TriangleMesh
from calderon.potentials.sources.multipoles import layer_of
from calderon.potentials.sources.patch_sums import lacking, layer_field_kernel
from calderon.potentials.sources.point_sources import LAYER_FAR_FIELDS, LAYER_FIELDS, Emission
from calderon.potentials.sources.point_triangle import point_triangle_integrals
from calderon.potentials.summation import AUTO, Sums
from calderon.potentials.surface_field import Regular, SurfaceField
from calderon.quadrature.options import Quadrature
from calderon.spaces import Function
from calderon.validation import describe


@dataclass(frozen=True, eq=False)
class Potential(SurfaceField):
    """u(x) = int k(x, y) f(y) dS(y), k = G (single layer) or dG/dn_y (double layer). Built by the two functions
    below."""

    green: RadialGreen
    density: Function
    double: bool
    quadrature: Quadrature = field(default_factory=Quadrature)

    @property
    def brief(self) -> str:
        """Layer, Green's function and density."""
        return f"{'double' if self.double else 'single'} layer of {self.green!r}, density {self.density.brief}"

    def evaluate(
        self,
        points: ArrayLike,
        backend: str = "numba",
        precision: str = "double",
        *,
        method: str = AUTO,
        rtol: float | None = None,
    ) -> NDArray[Any]:
        """(n,) values at points (n, 3), in the unit of the density times a length to the power the layer has.

        Points near the surface are integrated adaptively. On the surface the double layer gives the mean of its two
        sides, with an AccuracyWarning that names the points. Raises ValueError for a wrong shape, NaN or infinity.

        backend: where, see `backends.get`; near points are corrected on the processor in any case. precision: of the
        numbers that come back; devices also compute in it ("single": about six digits of the largest value, with an
        AccuracyWarning where k r is too large for that), the processor in double. Errors as for `Execution.of`.

        method: "direct"; "fmm" for Laplace's equation or "mlfmm" for Helmholtz's (Re k >= 0), in time proportional to
        the number of points and triangles, or somewhat more, whose sums are direct ones where these take less time;
        "auto": one of these on the processor where it takes less time. rtol: then the relative error of the regular
        quadrature in the 2-norm over the points, default 1e-6, checked as by `laplace_sums` and `helmholtz_sums`; where
        it cannot be held, "auto" sums directly.
        """
        return self._at(points, False, backend, precision, method, rtol)[:, 0]

    def gradient(
        self,
        points: ArrayLike,
        backend: str = "numba",
        precision: str = "double",
        *,
        method: str = AUTO,
        rtol: float | None = None,
    ) -> NDArray[Any]:
        """(n, 3) gradients at points (n, 3); as `evaluate`."""
        return self._at(points, True, backend, precision, method, rtol)

    def _at(
        self, points: ArrayLike, gradient: bool, backend: str, precision: str, method: str, rtol: float | None
    ) -> NDArray[Any]:
        emission = LAYER_FIELDS[self.double, gradient]
        return self._evaluate(points, emission, Execution.of(backend, precision), method, rtol)

    def _by_sums(self, sums: Sums, emission: Emission) -> Regular:
        places = self._framed_sources().reshape(-1, 8)
        y, normals, charges = places[:, :3], places[:, None, 3:6], places[:, 6:7] + 1j * places[:, 7:]
        kinds = (None, charges[..., None] * normals) if self.double else (charges, None)

        def total(x: NDArray[np.float64]) -> NDArray[np.complex128]:
            return 4 * np.pi * sums(y, *kinds, self._framed_wavenumber, targets=x, gradient=emission.values == 3)[:, 0]

        return Regular(np.dtype(np.float64), np.zeros(len(self._triangles)), total)

    def far_field(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, backend: str = "numba", precision: str = "double"
    ) -> NDArray[np.complexfloating[Any, Any]]:
        """Pattern F (...) in directions given by angles or vectors, see `exact.unit_directions`: u ~ F exp(i k r) / r
        at distance r from the origin.

        A negative wavenumber, of waves that come in, gives the conjugate pattern of a real density. Raises ValueError
        for static or lossy media, where no such pattern exists. backend, precision: as for `evaluate`.
        """
        execution = Execution.of(backend, precision)
        toward, _, total = self._far(theta, phi, LAYER_FAR_FIELDS[self.double], execution)
        return total[:, 0].astype(execution.dtype(True), copy=False).reshape(toward.shape[:-1])

    @property
    def _mesh(self) -> TriangleMesh:
        return self.density.space.mesh

    @property
    def _triangles(self) -> NDArray[np.int64]:
        return self.density.space.triangles

    def _emitted(self, local: Any, rule: Any, far: bool) -> Any:
        """Positions, normals, real and imaginary charges."""
        space, geometry = self.density.space, self._geometry.take(local)
        coefficients = np.append(self.density.coefficients, 0)[space.dofs[local]]
        density = coefficients @ space.element.values(rule.points)
        charges = (geometry.weights(rule) * density)[..., None]
        y, normals = geometry.points(rule.points), geometry.normals_at(rule.points)
        return np.concatenate([y, normals, charges.real, charges.imag], axis=2)

    def _exact(
        self, x: NDArray[np.float64], numbers: NDArray[np.int64], local: NDArray[np.int64], emission: Emission
    ) -> NDArray[np.complex128]:
        space, frame = self.density.space, self._frame
        values = np.append(self.density.coefficients, 0)[space.dofs[local]] @ space.element.monomials
        plane = self._plane(local, values[:, None].astype(complex))
        kind = self.green.wavenumber / frame.scale, self.double, emission.values == 3
        return point_triangle_integrals(x, plane, numbers, *kind)[:, 0] / frame.scale**2

    def _on_processor(self, emission: Emission, execution: Execution) -> Regular:
        """The triangles in patches with a common phase."""
        # points nearer to a centroid than the size of its triangle count as that far, which raises all their squared
        # distances from the triangle by the same; the adaptive correction makes it good. What cancels there is small:
        # no distance is below a third of the size, none differs from that of the centroid by more than was said
        floors, gradient = self._floors(1.0), emission.values == 3
        sources, complex_charges = self._framed_sources(), np.iscomplexobj(self.density.coefficients)
        clusters = self._clusters(sources, sources[:, 0, 3:6], np.sqrt(floors))
        # -2 o and |o|^2 of the offset o from the centroid, and charges with a factor that the kernel leaves out
        radial = self.green.radial(clusters.spread)
        offsets, factor = (
            clusters.sources[..., :3] - clusters.groups[:, None, :3],
            lacking(radial, self.double, gradient),
        )
        squares, charges = (offsets**2).sum(axis=2, keepdims=True), clusters.sources[..., 6:]
        packed = np.concatenate([-2 * offsets, squares, factor * charges], axis=2)
        given = charges[..., :1] + 1j * charges[..., 1:]
        given = given * clusters.sources[..., 3:6] if self.double else given
        run = layer_field_kernel(radial, self.double, gradient, self.green.is_complex, complex_charges)
        real = not (self.green.is_complex or complex_charges)
        sums = self._sums_of(
            run, clusters, packed, given, layer_of(self.double, gradient), emission, emission.power, real
        )
        return Regular(np.dtype(np.float64), floors, sums, lifted=True)


def single_layer_potential(green: RadialGreen, density: Function, *, quadrature: Quadrature | None = None) -> Potential:
    """S f (x) = int G(x, y) f(y) dS(y)."""
    return _potential("the single-layer potential", green, density, quadrature, double=False)


def double_layer_potential(green: RadialGreen, density: Function, *, quadrature: Quadrature | None = None) -> Potential:
    """D f (x) = int dG/dn_y(x, y) f(y) dS(y); jumps by f across the surface (outside minus inside)."""
    return _potential("the double-layer potential", green, density, quadrature, double=True)


def _potential(
    what: str, green: RadialGreen, density: Function, quadrature: Quadrature | None, double: bool
) -> Potential:
    if not isinstance(density, Function):
        raise TypeError(f"{what} is that of a Function, got {describe(density)}: try Function(space, coefficients)")
    if density.space.value_shape:
        raise ValueError(
            f"{what} is that of a scalar density, got one of {density.space!r}: take its components singly"
        )
    return Potential(green, density, double, checked_quadrature(what, green, quadrature, waves=True))
