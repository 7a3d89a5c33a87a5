"""Layer potentials at points in space: computed on the fly in parallel, never stored."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import run_tasks, thread_count
from calderon.greens import Green
from calderon.greens.elementary import SHORT
from calderon.mesh import TriangleMesh
from calderon.operators.accuracy import AccuracyWarning
from calderon.operators.near_points import near_sources
from calderon.operators.options import Quadrature
from calderon.operators.point_sources import (
    EMISSIONS,
    TARGETS,
    far_field_kernel,
    field_kernel,
    paired_field_kernel,
)
from calderon.quadrature import triangle_rule
from calderon.spaces import Function
from calderon.spaces.element import barycentric

NEAR = 2.0
"""Triangles nearer to a point than this many times their size are integrated adaptively."""
CUT = 1e-3
"""Distance, in smallest triangle sizes, below which a single quadrature point is dropped before the adaptive
correction."""
PIECES = 20_000
"""Parts of triangles whose quadrature points are held at a time."""


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
        unit, k = far_directions(directions, self.green)
        sources, centres = self._sources()
        return far_values(unit, sources, centres, k, self.double, k * self._radius() <= SHORT)

    def _sources(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(triangles, Q, 8) positions, normals, real and imaginary charges at the quadrature points, and centroids."""
        space = self.density.space
        rule = triangle_rule(self.quadrature.regular)
        every = np.arange(len(space.triangles))
        return self._emitted(every, barycentric(rule.points).T, rule.weights), space.mesh.centroids[space.triangles]

    def _radius(self) -> float:
        """Largest distance of a point of a triangle from its centroid, an upper bound."""
        return 2 / 3 * float(self.density.space.mesh.diameters[self.density.space.triangles].max())

    def _emitted(self, local, inside, weights):  # type: ignore[no-untyped-def]
        """Sources (n, Q, 8) as `Emission` says."""
        space = self.density.space
        mesh, element, triangles = space.mesh, space.element, space.triangles[local]
        coefficients = np.append(self.density.coefficients, 0)[space.dofs[local]]
        shapes = element.values(inside[..., 1:].reshape(-1, 2)).reshape(element.size, *inside.shape[:-1])
        density = np.einsum("am,na->nm" if inside.ndim == 2 else "anm,na->nm", shapes, coefficients)
        y = inside @ mesh.vertices[mesh.triangles[triangles]]
        normals = np.broadcast_to(mesh.normals[triangles][:, None], y.shape)
        charges = (2 * mesh.areas[triangles, None] * weights * density)[..., None]
        return np.concatenate([y, normals, charges.real, charges.imag], axis=2)

    def _field(self, points: ArrayLike, gradient: bool) -> NDArray[Any]:
        x = checked_points(points, "points")
        sources, centres = self._sources()
        space = self.density.space
        frame = Frame.of(space.mesh, space.triangles, self.green)
        sources[..., :3] = frame.inside(sources[..., :3])
        green = self.green
        emission = EMISSIONS[self.double, gradient]
        run = field_kernel(green.radial(abs(green.wavenumber) * self._radius()), emission, gradient, green.is_complex)
        targets, centres = in_lanes(frame.inside(x)), frame.inside(centres)
        values = 3 if gradient else 1
        out = np.zeros((len(targets), values, 2, TARGETS))
        run_tasks(lambda b: run(targets[b], sources, centres, frame.scalars, out[b]), len(targets))
        total = np.moveaxis(out, 3, 1).reshape(-1, values, 2)[: len(x)]
        paired = paired_field_kernel(green.radial(math.inf), emission, gradient, green.is_complex)
        degree = self.quadrature.regular
        touched = correct_near(total, x, space.mesh, space.triangles, degree, self._emitted, paired, frame)
        if self.double or gradient:
            warn_on_surface(x, touched)
        total *= frame.scale ** (1 + int(self.double) + int(gradient)) / (4 * math.pi)
        if green.is_complex or np.iscomplexobj(self.density.coefficients):
            return total[..., 0] + 1j * total[..., 1]
        return np.ascontiguousarray(total[..., 0])


def far_directions(directions: ArrayLike, green: Green) -> tuple[NDArray[np.float64], float]:
    """Unit vectors (n, 3) and the wavenumber; ValueError where no far field exists."""
    k = complex(green.wavenumber)
    if k.imag != 0 or k.real == 0:
        raise ValueError(
            f"a far field exists for a real wavenumber k > 0 only, this one is {k:g}: use .evaluate(points)"
        )
    vectors = checked_points(directions, "directions")
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    if (length == 0).any():
        raise ValueError("a direction of length zero has no far field")
    return vectors / length, k.real


def far_values(
    unit: NDArray[np.float64],
    sources: NDArray[np.float64],
    centres: NDArray[np.float64],
    k: float,
    double: bool,
    short: bool,
) -> NDArray[np.complex128]:
    """(n,) far field of sources (groups, Q, 8) in unit directions (n, 3); arguments as for `far_field_kernel`."""
    out = np.zeros((-(-len(unit) // TARGETS), 2, TARGETS))
    targets, far = in_lanes(unit), far_field_kernel(double, short)
    run_tasks(lambda b: far(targets[b], sources, centres, k, out[b]), len(targets))
    values = np.empty(len(unit), complex)
    values.real = out[:, 0].ravel()[: len(unit)] / (4 * math.pi)
    values.imag = out[:, 1].ravel()[: len(unit)] / (4 * math.pi)
    return values


class Emission(Protocol):
    """emitted(local, inside, weights): sources (n, Q, C) of the triangles with the numbers `local` (n,) among those of
    a density, at barycentric coordinates inside (Q, 3) or (n, Q, 3), with weights (Q,) or (n, Q) that sum up to 1/2 for
    a whole triangle. The first three columns are places."""

    def __call__(
        self, local: NDArray[np.int64], inside: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...


def correct_near(
    total: NDArray[np.float64],
    x: NDArray[np.float64],
    mesh: TriangleMesh,
    triangles: NDArray[np.int64],
    degree: int,
    emitted: Emission,
    run: Callable[..., None],
    frame: "Frame",
) -> NDArray[np.int64]:
    """Replace in total (n, ..., 2) the regular quadrature of triangles near a point by an adaptive one; returns the
    points that lie on the surface. run: a paired kernel for a radial part that is not shifted."""
    pairs, pieces = near_sources(mesh, triangles, x, NEAR)
    if len(pairs) == 0:
        return np.zeros(0, np.int64)
    rule = triangle_rule(degree)
    regular = emitted(pairs[:, 1], barycentric(rule.points).T, rule.weights)
    _add_paired(total, run, x, np.repeat(pairs[:, 0], len(rule.weights)), regular, frame, frame.scalars, -1.0)
    exact = frame.scalars.copy()
    exact[4:] = exact[4] * 1e-12  # only a point that coincides with a quadrature point is dropped
    fine = triangle_rule(pieces.degree)
    bary = barycentric(fine.points).T
    for start in range(0, len(pieces.pair), PIECES):
        part = slice(start, start + PIECES)
        point, local = pairs[pieces.pair[part]].T
        sources = emitted(local, bary @ pieces.corners[part], pieces.share[part, None] * fine.weights)
        _add_paired(total, run, x, np.repeat(point, len(fine.weights)), sources, frame, exact, 1.0)
    return np.unique(pairs[pieces.on_surface, 0])


def warn_on_surface(x: NDArray[np.float64], points: NDArray[np.int64]) -> None:
    """AccuracyWarning, if there are any, for the user who called the caller's caller."""
    if len(points):
        warnings.warn(
            f"{len(points)} of {len(x)} points lie on the surface, the first is number {points[0]} at "
            f"{x[points[0]]}: the mean of both sides is returned, accurate to about three digits; move them off by "
            "a thousandth of the mesh size",
            AccuracyWarning,
            stacklevel=4,
        )


def checked_points(points: ArrayLike, what: str) -> NDArray[np.float64]:
    x = np.atleast_2d(np.asarray(points, dtype=float))
    if x.ndim != 2 or x.shape[1] != 3:
        raise ValueError(f"{what} need shape (n, 3), got {np.shape(points)}")
    if not np.isfinite(x).all():
        bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
        raise ValueError(f"{len(bad)} of {len(x)} {what} are NaN or infinite, the first is number {bad[0]}")
    return x


class Frame(NamedTuple):
    """Coordinates (x - origin) * scale, in which the mesh has about unit size (squared distances then suit single
    precision), and the scalars of the field kernels in them."""

    origin: NDArray[np.float64]
    scale: float
    scalars: NDArray[np.float64]

    @staticmethod
    def of(mesh: TriangleMesh, triangles: NDArray[np.int64], green: Green) -> "Frame":
        scale = 1.0 / float(np.linalg.norm(mesh.vertices.max(axis=0) - mesh.vertices.min(axis=0)))
        k2 = complex(green.wavenumber) ** 2 / scale**2
        cut = (CUT * scale * float(mesh.diameters[triangles].min())) ** 2
        scalars = np.array([*(p / scale for p in green.parameters), k2.real, k2.imag, cut])
        return Frame(mesh.vertices.mean(axis=0), scale, scalars)

    def inside(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (..., 3) in these coordinates."""
        return (x - self.origin) * self.scale


def _add_paired(total, run, x, targets, sources, frame, scalars, sign):  # type: ignore[no-untyped-def]
    """total[targets[j]] += sign * field of source j at its own target."""
    count = len(targets)
    columns = np.pad(sources.reshape(-1, sources.shape[-1]), [(0, -count % TARGETS), (0, 0)], mode="edge")
    columns[:, :3] = frame.inside(columns[:, :3])
    columns[count:, 3:] = 0.0
    y = np.pad(frame.inside(x[targets]), [(0, -count % TARGETS), (0, 0)], mode="edge")
    y, columns = np.ascontiguousarray(y.T), np.ascontiguousarray(columns.T)
    out = np.empty((*total.shape[1:], y.shape[1]))
    share = TARGETS * max(1, -(-y.shape[1] // (TARGETS * 4 * thread_count())))
    starts = range(0, y.shape[1], share)
    run_tasks(lambda n: run(y, columns, scalars, starts[n], min(starts[n] + share, y.shape[1]), out), len(starts))
    for place in np.ndindex(total.shape[1:]):
        total[(slice(None), *place)] += sign * np.bincount(targets, out[place][:count], minlength=len(total))


def in_lanes(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(blocks, 3, TARGETS) of points (n, 3), the last block padded with its last point."""
    padded = np.pad(points, [(0, -len(points) % TARGETS), (0, 0)], mode="edge") if len(points) else points
    return np.ascontiguousarray(np.swapaxes(padded.reshape(-1, TARGETS, 3), 1, 2))


def single_layer_potential(green: Green, density: Function, quadrature: Quadrature | None = None) -> Potential:
    """S f (x) = int G(x, y) f(y) dS(y)."""
    return Potential(green, density, double=False, quadrature=quadrature or Quadrature())


def double_layer_potential(green: Green, density: Function, quadrature: Quadrature | None = None) -> Potential:
    """D f (x) = int dG/dn_y(x, y) f(y) dS(y); jumps by f across the surface (outside minus inside)."""
    return Potential(green, density, double=True, quadrature=quadrature or Quadrature())
