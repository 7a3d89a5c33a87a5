"""Layer potentials at points in space: computed on the fly in parallel, never stored."""

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import run_tasks
from calderon.greens import Green
from calderon.operators.accuracy import AccuracyWarning
from calderon.operators.near_points import near_sources
from calderon.operators.options import Quadrature
from calderon.operators.point_sources import far_field_kernel, field_kernel
from calderon.operators.sides import LANES
from calderon.quadrature import triangle_rule
from calderon.spaces import Function
from calderon.spaces.geometry import reference_to_surface

NEAR = 2.0
"""Triangles nearer to a point than this many times their size are integrated adaptively."""
CUT = 1e-3
"""Distance, in smallest triangle sizes, below which a single quadrature point is dropped before the adaptive
correction."""


@dataclass(frozen=True, eq=False)
class Potential:
    """u(x) = int k(x, y) f(y) dS(y), k = G (single layer) or dG/dn_y (double layer). Built by the two functions
    below."""

    green: Green
    density: Function
    double: bool
    quadrature: Quadrature = field(default_factory=Quadrature)

    def evaluate(self, points: ArrayLike) -> NDArray[Any]:
        """(n,) values at points (n, 3), in the unit of the density times a length to the power the layer has.

        Points near the surface are integrated adaptively. On the surface the double layer gives the mean of its two
        sides,
        with an AccuracyWarning that names the points. Raises ValueError for a wrong shape, NaN or infinity.
        """
        return self._field(points, gradient=False)[:, 0]

    def gradient(self, points: ArrayLike) -> NDArray[Any]:
        """(n, 3) gradients at points (n, 3); as `evaluate`."""
        return self._field(points, gradient=True)

    def far_field(self, directions: ArrayLike) -> NDArray[np.complex128]:
        """(n,) pattern F in directions (n, 3) of any length > 0: u ~ F exp(i k r) / r at distance r from the origin.

        Raises ValueError for static or lossy media, where no such pattern exists.
        """
        k = complex(self.green.wavenumber)
        if k.imag != 0 or k.real == 0:
            raise ValueError(
                f"a far field exists for a real wavenumber k > 0 only, this one is {k:g}: use .evaluate(points)"
            )
        unit = _checked_points(directions, "directions")
        length = np.linalg.norm(unit, axis=1, keepdims=True)
        if (length == 0).any():
            raise ValueError("a direction of length zero has no far field")
        unit = unit / length
        sources = self._sources()
        out = np.zeros((-(-len(unit) // LANES), 2, LANES))
        lanes = _lanes(unit)
        far = far_field_kernel()
        run_tasks(lambda b: far(lanes[b], sources, k.real, self.double, out[b]), len(lanes))
        values = np.empty(len(unit), complex)
        values.real = out[:, 0].ravel()[: len(unit)] / (4 * math.pi)
        values.imag = out[:, 1].ravel()[: len(unit)] / (4 * math.pi)
        return values

    def _sources(self) -> NDArray[np.float64]:
        """(8, n) positions, normals, real and imaginary charges at the quadrature points."""
        space = self.density.space
        rule = triangle_rule(self.quadrature.regular)
        return self._charges(space.triangles, rule.points, rule.weights, self.density.values(rule.points))

    def _charges(self, triangles, reference, weights, values):  # type: ignore[no-untyped-def]
        mesh = self.density.space.mesh
        y = reference_to_surface(mesh, triangles, reference)
        normals = np.broadcast_to(mesh.normals[triangles][:, None], y.shape)
        charges = 2 * mesh.areas[triangles, None] * weights * values
        parts = [y.reshape(-1, 3).T, normals.reshape(-1, 3).T, charges.real.reshape(1, -1), charges.imag.reshape(1, -1)]
        return np.ascontiguousarray(np.concatenate(parts))

    def _field(self, points: ArrayLike, gradient: bool) -> NDArray[Any]:
        x = _checked_points(points, "points")
        sources = self._sources()
        mesh, triangles = self.density.space.mesh, self.density.space.triangles
        scale = 1.0 / float(np.linalg.norm(mesh.vertices.max(axis=0) - mesh.vertices.min(axis=0)))
        origin = mesh.vertices.mean(axis=0)
        sources[:3] = (sources[:3] - origin[:, None]) * scale
        y = (x - origin) * scale
        k2 = complex(self.green.wavenumber) ** 2 / scale**2
        cut = (CUT * scale * float(mesh.diameters[triangles].min())) ** 2
        scalars = np.array([*(p / scale for p in self.green.parameters), k2.real, k2.imag, cut])
        complex_green = self.green.is_complex
        run = field_kernel(self.green.radial, self.double, gradient, complex_green)
        lanes = _lanes(y)
        out = np.zeros((len(lanes), 2, 3 if gradient else 1, LANES))
        run_tasks(lambda b: run(lanes[b], sources, scalars, 0, sources.shape[1], out[b]), len(lanes))
        total = np.moveaxis(out, 3, 1).reshape(-1, 2, out.shape[2])[: len(x)]
        self._correct(total, run, x, scalars, scale, origin)
        power = 1 + int(self.double) + int(gradient)
        values = total * (scale**power / (4 * math.pi))
        if complex_green or np.iscomplexobj(self.density.coefficients):
            return values[:, 0] + 1j * values[:, 1]
        return values[:, 0]

    def _correct(self, total, run, x, scalars, scale, origin):  # type: ignore[no-untyped-def]
        """Replace the regular quadrature of triangles near a point by an adaptive one."""
        space = self.density.space
        mesh = space.mesh
        pairs, pieces = near_sources(mesh, space.triangles, x, NEAR)
        if len(pairs) == 0:
            return
        rule = triangle_rule(self.quadrature.regular)
        n = len(rule.weights)
        regular = self._charges(
            space.triangles[pairs[:, 1]], rule.points, rule.weights, self.density.values(rule.points)[pairs[:, 1]]
        )
        self._add_single(total, run, x, np.repeat(pairs[:, 0], n), regular, scalars, scale, origin, -1.0)
        element, dofs = space.element, space.dofs
        coefficients = np.append(self.density.coefficients, 0)[dofs]
        chunk = 20_000
        exact = scalars.copy()
        exact[4] *= 1e-12  # only a point that coincides with a quadrature point is dropped
        for start in range(0, len(pieces.pair), chunk):
            part = slice(start, start + chunk)
            fine = triangle_rule(pieces.degree)
            bary = np.concatenate([1 - fine.points.sum(axis=1, keepdims=True), fine.points], axis=1)
            inside = bary @ pieces.corners[part]  # (m, n, 3) barycentric coordinates in the whole triangle
            local = pairs[pieces.pair[part], 1]
            values = element.values(inside[..., 1:].reshape(-1, 2)).reshape(element.size, len(local), -1)
            density = np.einsum("amn,ma->mn", values, coefficients[local])
            y = inside @ mesh.vertices[mesh.triangles[space.triangles[local]]]
            normals = np.broadcast_to(mesh.normals[space.triangles[local]][:, None], y.shape)
            charge = 2 * mesh.areas[space.triangles[local], None] * pieces.share[part, None] * fine.weights * density
            source = np.concatenate(
                [y.reshape(-1, 3).T, normals.reshape(-1, 3).T, charge.real.reshape(1, -1), charge.imag.reshape(1, -1)]
            )
            targets = np.repeat(pairs[pieces.pair[part], 0], len(fine.weights))
            self._add_single(total, run, x, targets, source, exact, scale, origin, 1.0)
        if self.double or total.shape[2] == 3:
            self._warn_on_surface(x, pairs[pieces.on_surface])

    def _add_single(self, total, run, x, targets, sources, scalars, scale, origin, sign):  # type: ignore[no-untyped-def]
        """total[targets[j]] += sign * field of source j at its own target."""
        count = len(targets)
        padding = -count % LANES
        y = np.pad((x[targets] - origin) * scale, [(0, padding), (0, 0)], mode="edge")
        s = np.array(np.pad(sources, [(0, 0), (0, padding)], mode="edge"))
        s[:3] = (s[:3] - origin[:, None]) * scale
        s[6:, count:] = 0.0
        out = np.zeros((len(y) // LANES, 2, total.shape[2], LANES))
        s = np.ascontiguousarray(np.moveaxis(s.reshape(8, -1, LANES), 1, 0))
        lanes = _lanes(y)
        for block in range(len(lanes)):
            run(lanes[block], s[block], scalars, -1, 0, out[block])
        values = np.moveaxis(out, 3, 1).reshape(-1, 2, total.shape[2])[:count]
        np.add.at(total, targets, sign * values)

    @staticmethod
    def _warn_on_surface(x: NDArray[np.float64], pairs: NDArray[np.int64]) -> None:
        points = np.unique(pairs[:, 0])
        if len(points):
            warnings.warn(
                f"{len(points)} of {len(x)} points lie on the surface, the first is number {points[0]} at "
                f"{x[points[0]]}: the mean of both sides is returned, accurate to about three digits; move them off by "
                "a thousandth of the mesh size",
                AccuracyWarning,
                stacklevel=5,
            )


def _checked_points(points: ArrayLike, what: str) -> NDArray[np.float64]:
    x = np.atleast_2d(np.asarray(points, dtype=float))
    if x.ndim != 2 or x.shape[1] != 3:
        raise ValueError(f"{what} need shape (n, 3), got {np.shape(points)}")
    if not np.isfinite(x).all():
        bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
        raise ValueError(f"{len(bad)} of {len(x)} {what} are NaN or infinite, the first is number {bad[0]}")
    return x


def _lanes(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(blocks, 3, LANES) of points (n, 3), the last block padded with its last point."""
    padded = np.pad(points, [(0, -len(points) % LANES), (0, 0)], mode="edge") if len(points) else points
    return np.ascontiguousarray(np.swapaxes(padded.reshape(-1, LANES, 3), 1, 2))


def single_layer_potential(green: Green, density: Function, quadrature: Quadrature | None = None) -> Potential:
    """S f (x) = int G(x, y) f(y) dS(y)."""
    return Potential(green, density, double=False, quadrature=quadrature or Quadrature())


def double_layer_potential(green: Green, density: Function, quadrature: Quadrature | None = None) -> Potential:
    """D f (x) = int dG/dn_y(x, y) f(y) dS(y); jumps by f across the surface (outside minus inside)."""
    return Potential(green, density, double=True, quadrature=quadrature or Quadrature())
