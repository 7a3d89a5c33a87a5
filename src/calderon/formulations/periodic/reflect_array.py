"""Reflectarrays: elements of different sizes on a board that turn a plane wave into one toward a focus."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Unpack

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.exact.vacuum import SPEED_OF_LIGHT
from calderon.formulations.options import named_options
from calderon.formulations.periodic.cell import PeriodicCell
from calderon.formulations.periodic.cell_solution import POLARISATIONS
from calderon.formulations.planar.echo import PlanarEcho
from calderon.formulations.planar.equation import PlanarChoices, PlanarPlanChoices
from calderon.formulations.planar.problem import PlanarProblem
from calderon.layers import Stack
from calderon.mesh import TriangleMesh, merge
from calderon.operators.methods import Plan
from calderon.validation import one_of, positive_length, positive_numbers, unmasked, whole_number

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReflectArray:
    """A square grid of elements whose reflected waves arrive at a focus in phase.

    element: a function of a size in m that returns the mesh of one element about the origin. sizes: ascending, those
    whose phase is computed in a `PeriodicCell`, at normal incidence. period: in m. count: elements along x and y.
    stack: a `Stack`. frequency: in Hz. focus: its height above the array in m, or its place (3,) relative to the middle
    of the array. polarisation: "TM" (electric field along x) or "TE" (along y).

        lens = ReflectArray(lambda size: planar.jerusalem_cross(size, 1e-3, 0.4 * size, z=board.top),
                            np.linspace(4e-3, 12e-3, 9), period=12.5e-3, count=(33, 33), stack=board,
                            frequency=12e9, focus=0.3)
        lens.chosen, lens.phase_error, lens.mesh
        lens.scatter().electric([[0, 0, board.top + 0.3]])

    The required phase is -k0 (|x - focus| - d) + phi0 at the place x of an element, with d the distance of the middle
    of the array. Of all phi0 that with the least rms error is taken. Raises ValueError for a focus in the plane of the
    array and for sizes that are not ascending; elements are those of an endless array of equal ones.

    J. Huang, J. A. Encinar, Reflectarray Antennas (2008), chapter 3.
    """

    element: Callable[[float], TriangleMesh]
    sizes: ArrayLike
    period: float
    count: Sequence[int]
    stack: Stack
    frequency: float
    focus: ArrayLike
    polarisation: str = field(default="TM", kw_only=True)

    def __post_init__(self) -> None:
        needed = "sizes must be two or more lengths in m, ascending"
        sizes = positive_numbers(self.sizes, "sizes", needed)
        if len(sizes) < 2 or not (np.diff(sizes) > 0).all():
            raise ValueError(f"{needed}, got {self.sizes!r}")
        object.__setattr__(self, "sizes", sizes)
        positive_length(self.period, "the period in m")
        positive_length(self.frequency, "frequency in Hz")
        one_of(self.polarisation, POLARISATIONS, "polarisation")
        if not isinstance(self.count, list | tuple | np.ndarray) or len(self.count) != 2:
            raise ValueError(f"count is two whole numbers of elements along x and y, got {self.count!r}")
        for each, axis in zip(self.count, "xy", strict=True):
            whole_number(each, f"count is two whole numbers, and that along {axis}")
        place = unmasked(self.focus, "focus")
        if place.dtype.kind not in "fiu" or place.shape not in ((), (3,)) or not np.isfinite(place).all():
            raise ValueError(f"focus is a height in m or a place (3,), got {self.focus!r}")
        place = np.array([0.0, 0.0, float(place)]) if place.ndim == 0 else place
        if place[2] <= 0:
            raise ValueError(f"the focus lies in or below the plane of the array (z = {place[2]:g} m): put it above")
        object.__setattr__(self, "focus", place)

    @cached_property
    def phases(self) -> Floats:
        """Phases of the reflected wave at each of `sizes`, in radians, without jumps."""
        place = POLARISATIONS.index(self.polarisation)
        cells = (PeriodicCell(self.element(float(size)), self.period, self.stack) for size in np.asarray(self.sizes))
        return np.unwrap([np.angle(cell.reflection(self.frequency)[place, place]) for cell in cells])

    @cached_property
    def places(self) -> Floats:
        """(n, m, 2) x and y of the elements in m."""
        x, y = (self.period * (np.arange(n) - 0.5 * (n - 1)) for n in self.count)
        return np.stack(np.meshgrid(x, y, indexing="ij"), axis=2)

    @cached_property
    def required(self) -> Floats:
        """(n, m) phases in radians, without phi0."""
        place = np.asarray(self.focus)
        distance = np.sqrt(((self.places - place[:2]) ** 2).sum(axis=2) + place[2] ** 2)
        return np.asarray(-2 * np.pi * self.frequency / SPEED_OF_LIGHT * (distance - np.linalg.norm(place)))

    @cached_property
    def _best(self) -> tuple[float, Floats, Floats]:
        """phi0, the sizes (n, m), and what their phases are too large by (n, m)."""
        count = 720  # phases of the circle that are tabulated, and offsets that are tried
        fine = np.linspace(np.asarray(self.sizes)[0], np.asarray(self.sizes)[-1], 2000)
        curve = scipy.interpolate.PchipInterpolator(self.sizes, self.phases)(fine)
        targets = 2 * np.pi * np.arange(count) / count
        error = np.angle(np.exp(1j * (curve - targets[:, None])))
        nearest = np.abs(error).argmin(axis=1)
        least = error[np.arange(count), nearest]
        steps = np.round(self.required * count / (2 * np.pi)).astype(np.int64)
        rms = [np.mean(least[(steps + offset) % count] ** 2) for offset in range(count)]
        offset = targets[int(np.argmin(rms))]
        chosen = nearest[np.round((self.required + offset) * count / (2 * np.pi)).astype(np.int64) % count]
        return float(offset), fine[chosen], np.angle(np.exp(1j * (curve[chosen] - self.required - offset)))

    @property
    def offset(self) -> float:
        """phi0 in radians."""
        return self._best[0]

    @property
    def chosen(self) -> Floats:
        """(n, m) sizes of the elements in m."""
        return self._best[1]

    @property
    def errors(self) -> Floats:
        """(n, m) phases of the elements less the required ones, in radians."""
        return self._best[2]

    @property
    def phase_error(self) -> float:
        """The root of the mean square of `errors`, in radians."""
        return float(np.sqrt(np.mean(self.errors**2)))

    @cached_property
    def mesh(self) -> TriangleMesh:
        """All elements; the tag of each is its number, x slowest."""
        meshes = [
            self.element(float(size)).translated([x, y, 0.0])
            for size, (x, y) in zip(self.chosen.ravel(), self.places.reshape(-1, 2), strict=True)
        ]
        merged = merge(meshes)
        numbers = np.repeat(np.arange(len(meshes)), [each.number_of_triangles for each in meshes])
        return TriangleMesh(merged.vertices, merged.triangles, numbers)

    @named_options
    def scatter(self, **options: Unpack[PlanarChoices]) -> PlanarEcho:
        """The currents of all elements together for a wave of 1 V/m at normal incidence, of the array's polarisation.

        Options as of `PlanarProblem.solve`. `electric(points)` is the field of the focus, with the wave and what the
        board reflects of it.
        """
        along = "VH"[POLARISATIONS.index(self.polarisation)]
        return self._problem.scatter(self.frequency, 0.0, 0.0, along, **options)

    @named_options
    def plan(self, **options: Unpack[PlanarPlanChoices]) -> Plan:
        """The plan of `scatter` with these options, before memory is taken."""
        return self._problem.plan(self.frequency, **options)

    @cached_property
    def _problem(self) -> PlanarProblem:
        return PlanarProblem(self.stack, self.mesh)

    def __str__(self) -> str:
        sizes, phases = np.asarray(self.sizes), np.degrees(self.phases)
        n, m = self.count
        return (
            f"{n} x {m} elements of {1e3 * self.chosen.min():.3g} to {1e3 * self.chosen.max():.3g} mm, period "
            f"{1e3 * self.period:g} mm, {self.frequency / 1e9:g} GHz; phase {phases[0]:.0f}° at {1e3 * sizes[0]:g} mm, "
            f"{phases[-1]:.0f}° at {1e3 * sizes[-1]:g} mm, error {np.degrees(self.phase_error):.1f}° rms"
        )
