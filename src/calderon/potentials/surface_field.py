"""Fields of sources on a surface, layers or currents, at points and far away.

The regular quadrature of all triangles is summed on the processor or a device (`Execution.choose`); triangles near a
point are then replaced by closed forms and quadrature, on the processor in double precision.
"""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import Execution, run_tasks
from calderon.backends.threads import in_parts
from calderon.backends.vectors import aligned, width
from calderon.exact.angular import unit_directions
from calderon.greens import RadialGreen
from calderon.greens.elementary import SHORT
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import AccuracyWarning
from calderon.mesh.geometry import Geometry
from calderon.mesh.locality import locality_order
from calderon.pairs.zones import USUAL
from calderon.potentials.clusters import Clusters, FieldOfCharges
from calderon.potentials.device import device_sums, far_sums, warn_if_coarse
from calderon.potentials.far_patterns import Body, in_directions
from calderon.potentials.field_algebra import FieldAlgebra
from calderon.potentials.near_evaluation import checked_points, digits_of, near_pairs, off_surface
from calderon.potentials.sources.multipoles import ROOM
from calderon.potentials.sources.point_sources import CUT as CUT_PLACE
from calderon.potentials.sources.point_sources import TARGETS, Emission, far_field_kernel, near_kernel
from calderon.potentials.sources.point_triangle import Plane
from calderon.potentials.summation import Sums, fast_sums, is_fast
from calderon.quadrature import TriangleRule, triangle_rule
from calderon.quadrature.options import Quadrature
from calderon.validation import callers_level

STATIC = 0.1
"""Part of the accuracy of the quadrature that expansions of static fields have, where it costs little."""
FEW = 2000
"""Points for which expansions are not worth their set-up: it takes as long as sources at 1,400 to 4,000 points do."""
AT_ONCE = 200_000
"""Triangles whose sources are in memory at a time for far fields."""
NEAR = 2.0
"""Triangles nearer to a point than this many times their size are integrated adaptively."""
CUT = 0.5
"""Distance, in smallest triangle sizes, below which the single points of a current count as that far. Below 2/3, for
the same reason as the distances of layers (layer.py)."""


class Frame(NamedTuple):
    """Coordinates (x - origin) * scale, in which the mesh has about unit size (squared distances then suit single
    precision), and the scalars of the field kernels in them."""

    origin: NDArray[np.float64]
    scale: float
    scalars: NDArray[np.float64]

    @staticmethod
    def of(mesh: TriangleMesh, triangles: NDArray[np.int64], green: RadialGreen) -> "Frame":
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

    def reach(self, x: NDArray[np.float64]) -> float:
        """A bound for the distance of points x (n, 3) from the mesh, in the unit of x."""
        return float(np.linalg.norm(x - self.origin, axis=1).max(initial=0.0)) + 1 / self.scale


class Regular(NamedTuple):
    """The regular quadrature of all triangles: sums(x) (n, values) at points x (n, 3) of the frame.

    real: the type in which it is computed. floors (m,): squared distances in the frame below which the distance of each
    quadrature point counts as that, or, `lifted`, that of the centroid, and of the quadrature points by so much more.
    """

    real: np.dtype[Any]
    floors: NDArray[np.float64]
    sums: Callable[[NDArray[np.float64]], NDArray[np.complex128]]
    lifted: bool = False

    def groups(self, centres: NDArray[np.float64], local: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n, 5) triangles `local` with those centroids, as `near_kernel` reads them."""
        floors, nothing = self.floors[local, None], np.zeros((len(local), 1))
        return np.hstack([centres, *((floors, nothing) if self.lifted else (nothing, floors))])


class SurfaceField(FieldAlgebra, ABC):
    """The field of a density on the triangles of a surface; a point in space has one or three complex values."""

    green: RadialGreen
    density: Any
    quadrature: Quadrature

    @property
    @abstractmethod
    def _mesh(self) -> TriangleMesh: ...

    @property
    @abstractmethod
    def _triangles(self) -> NDArray[np.int64]:
        """(m,) the triangles of the mesh on which the density is not zero."""

    @abstractmethod
    def _emitted(self, local: NDArray[np.int64], rule: TriangleRule, far: bool) -> NDArray[np.float64]:
        """Sources (n, Q, C), their places first, of the triangles with the numbers `local` (n,) among `_triangles`, by
        a rule of Q points. far: as far fields sum them."""

    @abstractmethod
    def _exact(
        self, x: NDArray[np.float64], numbers: NDArray[np.int64], local: NDArray[np.int64], emission: Emission
    ) -> NDArray[np.complex128]:
        """(n, values) integrals at points x (n, 3) of the frame over the triangles local[numbers] (n,)."""

    @abstractmethod
    def _on_processor(self, emission: Emission, execution: Execution) -> Regular:
        """The regular quadrature on the processor, in double precision."""

    def _on_device(self, emission: Emission, execution: Execution) -> Regular:
        floors, sources = self._floors(NEAR), self._framed_sources()
        scalars = self._frame.scalars
        return Regular(
            execution.real, floors, lambda x: device_sums(execution, emission, self.green, x, sources, floors, scalars)
        )

    @abstractmethod
    def _by_sums(self, sums: Sums, emission: Emission) -> Regular:
        """The regular quadrature by a fast method (summation.py)."""

    def _evaluate(
        self, points: ArrayLike, emission: Emission, execution: Execution, method: str, rtol: float | None
    ) -> NDArray[Any]:
        """(n, values) at points (n, 3)."""
        count = triangle_rule(self.quadrature.regular).number_of_points * len(self._triangles)
        sums = fast_sums(method, self.green, execution, float(count) * len(checked_points(points, self._mesh)), rtol)
        if sums is not None:
            try:
                return self._with(points, emission, execution, self._by_sums(sums, emission))
            except (RuntimeError, MemoryError):
                if is_fast(method):
                    raise
        return self._with(points, emission, execution, None)

    def _with(
        self, points: ArrayLike, emission: Emission, execution: Execution, regular: Regular | None
    ) -> NDArray[Any]:
        """By this sum of the regular quadrature, None for the direct one."""
        frame, green = self._frame, self.green
        surface = self._mesh.flat_triangles(self._triangles, "a potential at points")
        given = checked_points(points, self._mesh)
        moved = off_surface(surface, given, digits_of(points))
        regular = regular or execution.choose(self._on_processor, self._on_device)(emission, execution)
        warn_if_coarse(regular.real, green.wavenumber.real, frame.reach(moved.points))
        total = regular.sums(frame.inside(moved.points))
        self._correct_near(total, moved.points, regular, emission)
        if emission.jumps:
            warn_on_surface(given, moved.on)
        values = moved.means(total) * (frame.scale**emission.power / (4 * math.pi))
        is_complex = green.is_complex or np.iscomplexobj(self.density.coefficients)
        return (values if is_complex else values.real).astype(execution.dtype(is_complex))

    def _correct_near(
        self, total: NDArray[np.complex128], x: NDArray[np.float64], regular: Regular, emission: Emission
    ) -> None:
        """Replace in total (n, values) the regular quadrature of triangles near a point by their integrals."""
        rule, inside = triangle_rule(self.quadrature.regular), self._frame.inside(x)
        run = near_kernel(self.green.radial(math.inf), emission, self.green.is_complex)
        for pairs in near_pairs(self._geometry, x, NEAR):
            point, local = pairs.T
            first = np.diff(local, prepend=-1) != 0  # pairs of a triangle follow one another
            numbers, triangles, at = np.cumsum(first) - 1, local[first], inside[point]
            sources = self._emitted(triangles, rule, far=False)
            sources[..., :3] = self._frame.inside(sources[..., :3])
            groups = regular.groups(self._frame.inside(self._centres[triangles]), triangles)
            change = self._exact(at, numbers, triangles, emission)
            change -= paired_sums(run, at, numbers, groups, sources, self._frame.scalars, emission.values)
            for sums, each in zip(total.T, change.T, strict=True):
                sums.real += np.bincount(point, each.real, len(total))
                sums.imag += np.bincount(point, each.imag, len(total))

    def _far(
        self, theta: ArrayLike, phi: ArrayLike | None, emission: Emission, execution: Execution
    ) -> tuple[NDArray[np.float64], float, NDArray[np.complex128]]:
        """Unit directions (..., 3), the wavenumber, and (n, values) sums of c exp(-i k d.y) / (4 pi) over sources."""
        toward, k = unit_directions(theta, phi), far_wavenumber(self.green)
        sums = execution.choose(self._far_on_processor, self._far_on_device)
        return toward, k, sums(toward.reshape(-1, 3), k, emission, execution)

    def _body(self, k: float) -> Body:
        """The sources of far fields about the centre of the bounding box of the triangles."""
        centres, count = self._centres, triangle_rule(self.quadrature.regular).number_of_points
        centre = (centres.max(axis=0) + centres.min(axis=0)) / 2
        reach = float(np.linalg.norm(centres - centre, axis=1).max()) + (1 if self._mesh.is_flat else 2) * self._radius
        return Body(k, centre, reach, count * len(centres))

    def _far_on_processor(
        self, unit: NDArray[np.float64], k: float, emission: Emission, execution: Execution
    ) -> NDArray[np.complex128]:
        return in_directions(lambda some: self._far_sums(some, k, emission), self._body(k), unit)

    def _far_sums(self, unit: NDArray[np.float64], k: float, emission: Emission) -> NDArray[np.complex128]:
        """The sums over sources, direction by direction."""
        short, count = self._mesh.is_flat and k * self._radius <= SHORT, len(self._triangles)
        run, rule = far_field_kernel(emission.kind, short), triangle_rule(self.quadrature.regular)

        total = np.zeros((len(unit), emission.values), complex)
        for low in range(0, count, AT_ONCE):
            some = np.arange(low, min(low + AT_ONCE, count))
            given = self._emitted(some, rule, True), self._centres[some], k

            def add(block: NDArray[Any], out: NDArray[Any], given: Any = given) -> None:
                run(block, *given, out)

            total += sums_at(add, unit, emission.values)
        return np.asarray(total / (4 * math.pi))

    def _far_on_device(
        self, unit: NDArray[np.float64], k: float, emission: Emission, execution: Execution
    ) -> NDArray[np.complex128]:
        frame = self._frame
        warn_if_coarse(execution.real, k, 1 / frame.scale)
        return far_sums(execution, emission, unit, self._sources(far=True), k, frame.origin, frame.scale)

    def _sources(self, far: bool) -> NDArray[np.float64]:
        """(m, Q, C) those of all triangles."""
        return self._emitted(np.arange(len(self._triangles)), triangle_rule(self.quadrature.regular), far)

    @property
    def _framed_wavenumber(self) -> complex:
        return complex(self.green.wavenumber) / self._frame.scale

    def _framed_sources(self) -> NDArray[np.float64]:
        """The sources with places in the frame, for points nearby."""
        sources = self._sources(far=False)
        sources[..., :3] = self._frame.inside(sources[..., :3])
        return sources

    def _floors(self, sizes: float) -> NDArray[np.float64]:
        """(m,) squared distances of so many sizes of the triangles, in the frame."""
        return (sizes * self._frame.scale * self._geometry.diameters) ** 2

    def _clusters(
        self, sources: NDArray[np.float64], normals: NDArray[np.float64], floors: NDArray[np.float64]
    ) -> Clusters:
        """The triangles in the frame with sources (m, Q, C) and normals (m, 3), neighbours together; floors (m,):
        distances that shorter ones count as."""
        frame = self._frame
        sizes = frame.scale * self._geometry.diameters
        return Clusters.of(sources, frame.inside(self._centres), normals, sizes, floors, self._framed_wavenumber)

    def _sums_of(
        self,
        run: Callable[..., None],
        clusters: Clusters,
        sources: NDArray[np.float64],
        charges: NDArray[np.complex128],
        field: FieldOfCharges,
        emission: Emission,
        order: int,
        real: bool,
    ) -> Callable[[NDArray[np.float64]], NDArray[np.complex128]]:
        """The sums (n, values) of a kernel of patch_sums.py at points x (n, 3) of the frame, neighbours in the same
        vectors.

        sources (m, Q, C): as the kernel reads them; others: as for `Clusters.expansions`.
        """
        accuracy = self.quadrature.accuracy * (1.0 if clusters.k else STATIC)
        zones = accuracy > 0 and self.quadrature.regular == USUAL
        scalars, values, lanes = self._frame.scalars, emission.values, width(float)

        def sums(x: NDArray[np.float64]) -> NDArray[np.complex128]:
            found = clusters.expansions(charges, field, order, accuracy, real) if zones and len(x) >= FEW else None
            arrays = clusters.arrays(sources, found)
            room = ROOM * (2 + (found.degree if found else 0)) * lanes

            def block(targets: NDArray[np.float64], out: NDArray[np.float64]) -> None:
                each = targets.reshape(3, -1, lanes)
                centres = each.mean(axis=2)
                radii = np.linalg.norm(each - centres[..., None], axis=0).max(axis=1)
                run(targets, np.column_stack([centres.T, radii]), *arrays, scalars, aligned(room, float), out)

            order_of, total = locality_order(x), np.empty((len(x), values), complex)
            total[order_of] = sums_at(block, x[order_of], values)
            return total

        return sums

    def _plane(self, local: NDArray[np.int64], densities: NDArray[np.complex128]) -> Plane:
        """Triangles in the frame, with densities as `Plane.of` says."""
        flat = self._mesh.flat_triangles(self._triangles[local], "a potential at points")
        return Plane.of(self._frame.inside(flat.corners), flat.normals, densities)

    @cached_property
    def _geometry(self) -> Geometry:
        return self._mesh.geometry(self._triangles)

    @cached_property
    def _centres(self) -> NDArray[np.float64]:
        return self._geometry.centroids

    @property
    def _radius(self) -> float:
        """Largest distance of a point of a triangle from its centroid, an upper bound if triangles are flat."""
        return 2 / 3 * float(self._geometry.diameters.max())

    @cached_property
    def _frame(self) -> Frame:
        return Frame.of(self._mesh, self._triangles, self.green)


def paired_sums(
    run: Callable[..., None],
    x: NDArray[np.float64],
    numbers: NDArray[np.int64],
    groups: NDArray[np.float64],
    sources: NDArray[np.float64],
    scalars: NDArray[np.float64],
    values: int,
) -> NDArray[np.complex128]:
    """(n, values) sums of `near_kernel` at points x (n, 3), each with the sources of the group of its number."""
    out = np.empty((values, 2, len(x)))

    def work(low: int, high: int) -> None:
        scratch = aligned((3 + 2 * values) * width(float), float)
        run(x, numbers, groups, sources, scalars, low, high, scratch, out)

    in_parts(work, len(x), most=4096)
    re, im = np.moveaxis(out, (1, 2), (0, 1))
    return np.asarray(re + 1j * im)


def sums_at(
    run: Callable[[NDArray[np.float64], NDArray[np.float64]], None], x: NDArray[np.float64], values: int
) -> NDArray[np.complex128]:
    """(n, values) sums at points x (n, 3): run(targets (3, TARGETS), out) adds real and imaginary parts to out
    (values, 2, TARGETS). The last block is padded with its last point."""
    padded = np.pad(x, [(0, -len(x) % TARGETS), (0, 0)], mode="edge") if len(x) else x
    targets = np.ascontiguousarray(np.swapaxes(padded.reshape(-1, TARGETS, 3), 1, 2))
    out = np.zeros((len(targets), values, 2, TARGETS))
    run_tasks(lambda b: run(targets[b], out[b]), len(targets))
    re, im = np.moveaxis(out, (2, 3), (0, 2)).reshape(2, -1, values)[:, : len(x)]
    return re + 1j * im


def far_wavenumber(green: RadialGreen) -> float:
    """The wavenumber; ValueError where no far field exists."""
    k = complex(green.wavenumber)
    if k.imag != 0 or k.real == 0:
        raise ValueError(
            f"a far field exists for a real wavenumber other than zero only, this one is {k:g}: at points there is "
            "solution.field(points), or .evaluate(points) of a potential"
        )
    return k.real


def warn_on_surface(x: NDArray[np.float64], points: NDArray[np.int64]) -> None:
    """AccuracyWarning, if there are any."""
    if len(points):
        warnings.warn(
            f"{len(points)} of {len(x)} points lie on the surface, the first is number {points[0]} at "
            f"{x[points[0]]}: the mean of both sides is returned; for the limit on one side, move them off by a "
            "part of the mesh size",
            AccuracyWarning,
            stacklevel=callers_level(),
        )
