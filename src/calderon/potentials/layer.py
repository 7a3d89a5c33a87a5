"""Layer potentials at points in space: computed on the fly in parallel, never stored."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import Execution, run_tasks, thread_count
from calderon.exact.angular import unit_directions
from calderon.greens import Green
from calderon.greens.elementary import SHORT
from calderon.greens.green import checked_quadrature
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import AccuracyWarning
from calderon.potentials.device import LAYER_FAR_FIELDS, LAYER_FIELDS, device_sums, far_sums, warn_if_coarse
from calderon.potentials.near_evaluation import beside_surface, checked_points, digits_of, near_pairs
from calderon.potentials.patches import GroupedSources
from calderon.potentials.point_sources import (
    CUT as CUT_PLACE,
)
from calderon.potentials.point_sources import (
    EMISSIONS,
    TARGETS,
    far_field_kernel,
    field_kernel,
    lacking,
    paired_field_kernel,
)
from calderon.potentials.point_triangle import Plane, point_triangle_integrals
from calderon.quadrature import triangle_rule
from calderon.quadrature.options import Quadrature
from calderon.spaces import Function
from calderon.spaces.element import barycentric
from calderon.validation import describe

NEAR = 2.0
"""Triangles nearer to a point than this many times their size are integrated adaptively."""
LIFTED = 1.0
"""Points nearer to a centroid than this many times the size of its triangle count as that far, which raises all their
squared distances from the triangle by the same; the adaptive correction makes it good. What cancels there is small:
no distance is below a third of the size, none differs from the centroid's by more than `Green.radial` was told."""
CUT = 0.5
"""Distance, in smallest triangle sizes, below which the single points of a current count as that far. Below 2/3, for
the same reason."""
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

    def evaluate(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """(n,) values at points (n, 3), in the unit of the density times a length to the power the layer has.

        Points near the surface are integrated adaptively. On the surface the double layer gives the mean of its two
        sides, with an AccuracyWarning that names the points. Raises ValueError for a wrong shape, NaN or infinity.

        backend: where, see `backends.get`; near points are corrected on the processor in any case. precision: of the
        numbers that come back; devices also compute in it ("single": about six digits of the largest value, with an
        AccuracyWarning where k r is too large for that), the processor in double. Errors as for `Execution.of`.
        """
        return self._field(points, False, Execution.of(backend, precision))[:, 0]

    def gradient(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """(n, 3) gradients at points (n, 3); as `evaluate`."""
        return self._field(points, True, Execution.of(backend, precision))

    def far_field(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, backend: str = "numba", precision: str = "double"
    ) -> NDArray[np.complexfloating[Any, Any]]:
        """Pattern F (...) in directions given by angles or vectors, see `exact.unit_directions`: u ~ F exp(i k r) / r
        at distance r from the origin.

        A negative wavenumber, of waves that come in, gives the conjugate pattern of a real density. Raises ValueError
        for static or lossy media, where no such pattern exists. backend, precision: as for `evaluate`.
        """
        execution = Execution.of(backend, precision)
        toward, k = unit_directions(theta, phi), far_wavenumber(self.green)
        unit = toward.reshape(-1, 3)
        sources, centres = self._sources()
        if execution.device is None:
            values = far_values(unit, sources, centres, k, self.double, k * self._radius() <= SHORT)
        else:
            frame = self._frame
            warn_if_coarse(execution.real, k, 1 / frame.scale, stacklevel=2)
            emission = LAYER_FAR_FIELDS[self.double]
            values = far_sums(execution, emission, unit, sources, k, frame.origin, frame.scale)[:, 0]
            values *= frame.scale ** int(self.double)
        return values.astype(execution.dtype(True), copy=False).reshape(toward.shape[:-1])

    def _sources(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(triangles, Q, 8) positions, normals, real and imaginary charges at the quadrature points, and centroids."""
        space = self.density.space
        rule = triangle_rule(self.quadrature.regular)
        every = np.arange(len(space.triangles))
        return self._emitted(every, barycentric(rule.points).T, rule.weights), space.mesh.centroids[space.triangles]

    def _framed_sources(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same with positions and centroids in the frame."""
        sources, centres = self._sources()
        sources[..., :3] = self._frame.inside(sources[..., :3])
        return sources, self._frame.inside(centres)

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

    def _exact(self, x: NDArray[np.float64], local: NDArray[np.int64], gradient: bool) -> NDArray[np.float64]:
        """(n, 1 or 3, 2) integrals over triangles local (n,) at points x (n, 3), in the frame."""
        space = self.density.space
        distinct, numbers = np.unique(local, return_inverse=True)
        values = np.append(self.density.coefficients, 0)[space.dofs[distinct]] @ space.element.monomials
        plane = self._frame.plane(space.mesh, space.triangles[distinct], values[:, None].astype(complex))
        k = self.green.wavenumber / self._frame.scale
        x = self._frame.inside(x)
        return point_triangle_integrals(x, plane, numbers, k, self.double, gradient)[:, 0] / self._frame.scale**2

    @cached_property
    def _frame(self) -> "Frame":
        return Frame.of(self.density.space.mesh, self.density.space.triangles, self.green)

    def _host_sums(self, x: NDArray[np.float64], sizes: NDArray[np.float64], gradient: bool) -> NDArray[np.float64]:
        """(n, 1 or 3, 2) regular sums at points x (n, 3) of the frame, which count as no closer than sizes (m,) to the
        centroids."""
        scalars, complex_charges = self._frame.scalars, np.iscomplexobj(self.density.coefficients)
        sources, centres = self._framed_sources()
        *arrays, spread = GroupedSources.of(sources, centres, sizes, abs(self.green.wavenumber) / self._frame.scale)
        del sources  # as large as what was made of it
        radial = self.green.radial(spread)
        field = field_kernel(radial, self.double, gradient, self.green.is_complex, complex_charges)
        total = host_sums(lambda block, out: field(block, *arrays, scalars, out), x, 3 if gradient else 1)
        total *= lacking(radial, self.double, gradient)
        return total

    def _field(self, points: ArrayLike, gradient: bool, execution: Execution) -> NDArray[Any]:
        space, frame, green = self.density.space, self._frame, self.green
        given = checked_points(points, space.mesh)
        beside = beside_surface(space.mesh, space.triangles, given, digits_of(points))
        x = beside.points
        is_complex = green.is_complex or np.iscomplexobj(self.density.coefficients)
        if execution.device is None:
            floors = frame.floors(space.mesh, space.triangles, LIFTED)
            warn_if_coarse(np.dtype(np.float64), green.wavenumber.real, frame.reach(x), stacklevel=3)
            total = self._host_sums(frame.inside(x), np.sqrt(floors), gradient)
        else:
            floors = frame.floors(space.mesh, space.triangles, NEAR)
            warn_if_coarse(execution.real, green.wavenumber.real, frame.reach(x), stacklevel=3)
            sent, (sources, _) = LAYER_FIELDS[self.double, gradient], self._framed_sources()
            total = device_sums(execution, sent, green, frame.inside(x), sources, floors, frame.scalars)
        emission = EMISSIONS[self.double, gradient]
        paired = paired_field_kernel(green.radial(math.inf), emission, gradient, green.is_complex)
        near = Near(x, space.mesh, space.triangles, self.quadrature.regular, floors, execution.device is None)
        correct_near(total, near, self._emitted, paired, frame, lambda x, local: self._exact(x, local, gradient))
        if self.double or gradient:
            warn_on_surface(given, beside.on)
        total = beside.means(total)
        total *= frame.scale ** (1 + int(self.double) + int(gradient)) / (4 * math.pi)
        values = total[..., 0] + 1j * total[..., 1] if is_complex else np.ascontiguousarray(total[..., 0])
        return values.astype(execution.dtype(is_complex), copy=False)


def host_sums(
    run: Callable[[NDArray[np.float64], NDArray[np.float64]], None], x: NDArray[np.float64], values: int
) -> NDArray[np.float64]:
    """(n, values, 2) real and imaginary sums at points x (n, 3): run(targets (3, TARGETS), out) adds them to out
    (values, 2, TARGETS)."""
    targets = in_lanes(x)
    out = np.zeros((len(targets), values, 2, TARGETS))
    run_tasks(lambda b: run(targets[b], out[b]), len(targets))
    return np.moveaxis(out, 3, 1).reshape(-1, values, 2)[: len(x)]


def far_wavenumber(green: Green) -> float:
    """The wavenumber; ValueError where no far field exists."""
    k = complex(green.wavenumber)
    if k.imag != 0 or k.real == 0:
        raise ValueError(
            f"a far field exists for a real wavenumber other than zero only, this one is {k:g}: use .evaluate(points)"
        )
    return k.real


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


class Near(NamedTuple):
    """Points x (n, 3) and the regular quadrature, of some degree, of triangles (m,) of a mesh, in which squared
    distances in the frame's coordinates below floors (m,) counted as that: of each quadrature point, or, `lifted`, of
    the centroid, and of the quadrature points by so much more."""

    x: NDArray[np.float64]
    mesh: TriangleMesh
    triangles: NDArray[np.int64]
    degree: int
    floors: NDArray[np.float64]
    lifted: bool = False

    def counted(self, pairs: NDArray[np.int64], places: NDArray[np.float64], frame: "Frame") -> NDArray[np.float64]:
        """(n, Q) squared distances as which those of pairs (n, 2) of point and triangle, with quadrature points
        (n, Q, 3), counted at least."""
        floors, x = self.floors[pairs[:, 1], None], self.x[pairs[:, 0]]
        if not self.lifted:
            return np.broadcast_to(floors, places.shape[:2])
        centres = self.mesh.centroids[self.triangles[pairs[:, 1]]]
        raised = np.maximum(floors - frame.squares(x, centres)[:, None], 0.0)
        return np.where(raised > 0, frame.squares(x[:, None], places) + raised, 0.0)


def correct_near(
    total: NDArray[np.float64], near: Near, emitted: Emission, run: Callable[..., None], frame: "Frame",
    exact: Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.float64]],
) -> None:  # fmt: skip
    """Replace in total (n, ..., 2) the regular quadrature of triangles near a point by exact(x, local), the integrals
    (m, ..., 2) over triangles `local` (m,) at points x (m, 3). run: a paired kernel for a radial part that is not
    shifted."""
    rule = triangle_rule(near.degree)
    inside = barycentric(rule.points).T
    for pairs in near_pairs(near.mesh, near.triangles, near.x, NEAR):
        regular = emitted(pairs[:, 1], inside, rule.weights)
        floors = near.counted(pairs, regular[..., :3], frame).ravel()
        _add_paired(total, run, near.x, np.repeat(pairs[:, 0], len(rule.weights)), regular, frame, floors, -1.0, -1.0)
        values = exact(near.x[pairs[:, 0]], pairs[:, 1])
        for place in np.ndindex(total.shape[1:]):
            every = (slice(None), *place)
            total[every] += np.bincount(pairs[:, 0], values[every], minlength=len(total))


def warn_on_surface(x: NDArray[np.float64], points: NDArray[np.int64]) -> None:
    """AccuracyWarning, if there are any, for the user who called the caller's caller."""
    if len(points):
        warnings.warn(
            f"{len(points)} of {len(x)} points lie on the surface, the first is number {points[0]} at "
            f"{x[points[0]]}: the mean of both sides is returned; for the limit on one side, move them off by a "
            "part of the mesh size",
            AccuracyWarning,
            stacklevel=4,
        )


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
        scalars = np.array([k2.real, k2.imag, cut, *(p / scale for p in green.parameters)])
        return Frame(mesh.vertices.mean(axis=0), scale, scalars)

    @property
    def cut(self) -> float:
        """The squared distance within which a quadrature point of the regular rule says nothing."""
        return float(self.scalars[CUT_PLACE])

    def inside(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (..., 3) in these coordinates."""
        return (x - self.origin) * self.scale

    def plane(self, mesh: TriangleMesh, triangles: NDArray[np.int64], densities: NDArray[np.complex128]) -> Plane:
        """The triangles in these coordinates, with densities as `Plane.of` says."""
        corners = self.inside(mesh.vertices[mesh.triangles[triangles]])
        return Plane.of(corners, mesh.normals[triangles], densities)

    def floors(self, mesh: TriangleMesh, triangles: NDArray[np.int64], sizes: float) -> NDArray[np.float64]:
        """(m,) squared distances of so many sizes of triangles."""
        return (sizes * self.scale * mesh.diameters[triangles]) ** 2

    def squares(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Squared distances of points x and y (..., 3), in these coordinates."""
        return ((self.scale * (x - y)) ** 2).sum(axis=-1)

    def reach(self, x: NDArray[np.float64]) -> float:
        """A bound for the distance of points x (n, 3) from the mesh, in the unit of x."""
        return float(np.linalg.norm(x - self.origin, axis=1).max(initial=0.0)) + 1 / self.scale


def _add_paired(total, run, x, targets, sources, frame, floors, drop, sign):  # type: ignore[no-untyped-def]
    """total[targets[j]] += sign * field of source j at its own target."""
    count = len(targets)
    columns = np.pad(sources.reshape(-1, sources.shape[-1]), [(0, -count % TARGETS), (0, 0)], mode="edge")
    columns[:, :3] = frame.inside(columns[:, :3])
    columns[count:, 3:] = 0.0
    y = np.pad(frame.inside(x[targets]), [(0, -count % TARGETS), (0, 0)], mode="edge")
    y, columns = np.ascontiguousarray(y.T), np.ascontiguousarray(columns.T)
    floors = np.pad(floors, (0, -count % TARGETS), mode="edge")
    scalars = frame.scalars.copy()
    scalars[CUT_PLACE] = drop
    out = np.empty((*total.shape[1:], y.shape[1]))
    share = TARGETS * max(1, -(-y.shape[1] // (TARGETS * 4 * thread_count())))
    starts = range(0, y.shape[1], share)
    stops = [min(start + share, y.shape[1]) for start in starts]
    run_tasks(lambda n: run(y, columns, floors, scalars, starts[n], stops[n], out), len(starts))
    for place in np.ndindex(total.shape[1:]):
        total[(slice(None), *place)] += sign * np.bincount(targets, out[place][:count], minlength=len(total))


def in_lanes(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(blocks, 3, TARGETS) of points (n, 3), the last block padded with its last point."""
    padded = np.pad(points, [(0, -len(points) % TARGETS), (0, 0)], mode="edge") if len(points) else points
    return np.ascontiguousarray(np.swapaxes(padded.reshape(-1, TARGETS, 3), 1, 2))


def single_layer_potential(green: Green, density: Function, *, quadrature: Quadrature | None = None) -> Potential:
    """S f (x) = int G(x, y) f(y) dS(y)."""
    return _potential("the single-layer potential", green, density, quadrature, double=False)


def double_layer_potential(green: Green, density: Function, *, quadrature: Quadrature | None = None) -> Potential:
    """D f (x) = int dG/dn_y(x, y) f(y) dS(y); jumps by f across the surface (outside minus inside)."""
    return _potential("the double-layer potential", green, density, quadrature, double=True)


def _potential(what: str, green: Green, density: Function, quadrature: Quadrature | None, double: bool) -> Potential:
    if not isinstance(density, Function):
        raise TypeError(f"{what} is that of a Function, got {describe(density)}: try Function(space, coefficients)")
    if density.space.value_shape:
        raise ValueError(
            f"{what} is that of a scalar density, got one of {density.space!r}: take its components singly"
        )
    return Potential(green, density, double, checked_quadrature(what, green, quadrature, waves=True))
