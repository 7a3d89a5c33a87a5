"""Specific absorption rates on a regular grid of voxels, local and averaged over cubes of tissue.

After IEC/IEEE 62704-1:2017, section 6: around each voxel of tissue a cube with sides along the axes grows until it
holds the mass (10 g by convention), and the power absorbed in it over its mass is the voxel's average. The cube is
valid if at most a tenth of it is air and none of its faces lies in air altogether. A voxel without a valid cube of its
own gets the largest average of the valid cubes in which it lies entirely; one that lies in none, the largest average of
cubes that have the voxel in the middle of one of their six faces, among those at most 5 % larger than the smallest.

Differences from the standard: masses and powers of cubes are exact integrals of data that are constant on each voxel,
sides may end within voxels and cubes hold the mass to 1e-9, where the standard fills layers of voxels in part; the cube
at a face contains the whole voxel. All kinds of tissue count.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.backends import require_memory
from calderon.validation import points_in_space, unmasked
from calderon.view import Described

OUTWARD_OF_CUBE = np.kron(np.eye(3), [[1], [-1]])
"""(6, 3) outward normals of the faces of a cube."""
BYTES_OF_A_VOXEL = 180
"""Bytes of grid, tables and cubes for each voxel: 132 were measured where half of the grid is tissue, 161 where all
is."""
Sample = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]


class Origin(IntEnum):
    """Where the average of a voxel comes from: nowhere, its own cube, one it lies in, one it is at the face of."""

    NONE, OWN, WITHIN, AT_FACE = range(4)


@dataclass(frozen=True, eq=False)
class CubeAverages(Described):
    """Averages over cubes around voxels.

    values (nx, ny, nz): W/kg, NaN where there is no tissue. origin (nx, ny, nz): see `Origin`. sides (nx, ny, nz): side
    in m of the cube that the average is of, NaN where there is no tissue.
    """

    values: NDArray[np.float64]
    origin: NDArray[np.int8]
    sides: NDArray[np.float64]

    @property
    def brief(self) -> str:
        """How many voxels there are."""
        return f"{' x '.join(map(str, self.values.shape))} voxels"


@dataclass(frozen=True, eq=False)
class AveragedSAR(Described):
    """Rates in W/kg on voxels, whose midpoints are corner + voxel (i, j, k), all in m.

    mass: of a cube in kg. local, averaged (nx, ny, nz): of the voxel, and over cubes; NaN where there is no tissue.
    power, weight: W absorbed in, and kg of, all voxels.
    """

    mass: float
    voxel: float
    corner: NDArray[np.float64]
    local: NDArray[np.float64]
    averaged: NDArray[np.float64]
    cubes: CubeAverages
    power: float
    weight: float

    @property
    def brief(self) -> str:
        """Power, weight, and how many voxels there are."""
        return f"{self.power:.4g} W in {self.weight:.4g} kg, cubes of {self.mass:g} kg, {self.cubes.brief}"

    @property
    def maximum(self) -> float:
        """Largest average in W/kg."""
        return float(np.nanmax(self.averaged))

    @property
    def place(self) -> NDArray[np.float64]:
        """(3,) midpoint of the voxel with the largest average, in m."""
        largest = np.unravel_index(np.nanargmax(self.averaged), self.averaged.shape)
        return self.corner + self.voxel * np.array(largest)

    @property
    def cube_side(self) -> float:
        """Side in m of the cube with the largest average."""
        return float(self.cubes.sides[np.unravel_index(np.nanargmax(self.averaged), self.averaged.shape)])

    @property
    def local_maximum(self) -> float:
        """Largest rate of a voxel in W/kg."""
        return float(np.nanmax(self.local))

    @property
    def whole_body(self) -> float:
        """Power over weight of all tissue in W/kg."""
        return self.power / self.weight

    def at(self, points: ArrayLike) -> NDArray[np.float64]:
        """(...) averages of the voxels that hold points (..., 3); NaN outside of tissue."""
        x = unmasked(points, "points")
        x = points_in_space(x.reshape(-1, 3) if x.shape[-1:] == (3,) else x).reshape(x.shape)
        outside = np.array(self.averaged.shape, float)  # also of points so far away that no integer holds their number
        index = np.clip(np.round((x - self.corner) / self.voxel), -1, outside).astype(int)
        inside = np.asarray(((index >= 0) & (index < self.averaged.shape)).all(axis=-1))
        values = self.averaged[tuple(np.moveaxis(np.where(inside[..., None], index, 0), -1, 0))]
        return np.where(inside, values, np.nan)


def voxel_midpoints(corners: NDArray[np.float64], voxel: float) -> tuple[NDArray[np.float64], tuple[int, int, int]]:
    """The first midpoint (3,) and the shape of a grid around tissue, given points (n, 3) on its hull.

    Raises ValueError where there are none or the voxels are as large as the tissue, MemoryError with advice.
    """
    if not len(corners):
        raise ValueError("no part of the mesh has a density: give materials one in kg/m^3, Material(density=1000.0)")
    # the box around the tissue, in whole voxels about its middle
    low, high = corners.min(axis=0), corners.max(axis=0)
    if not 0 < voxel < (high - low).min():
        raise ValueError(f"voxel={voxel!r}: a length below the tissue's extent, {(high - low).min():.4g} m, is needed")
    counts = np.ceil((high - low) / voxel - 1e-9).astype(int)
    require_memory(int(BYTES_OF_A_VOXEL * counts.prod()), f"a grid of {counts} voxels", "use larger voxels")
    middle = (low + high) / 2
    nx, ny, nz = map(int, counts)
    return middle - (counts - 1) / 2 * voxel, (nx, ny, nz)


def averaged_sar(
    sample: Sample, corner: NDArray[np.float64], shape: tuple[int, int, int], voxel: float, mass: float
) -> AveragedSAR:
    """On a grid of voxels, from a function of points (n, 3) to density (n,) in kg/m^3, 0 where there is no tissue, and
    power density (n,) in W/m^3.

    Voxels have the values at their midpoints; those next to another density, in which surfaces may lie, the
    means of eight points. So voxels are partly filled at the skin: with full or empty voxels only, the average at the
    surface would jump by a tenth as the grid moves by half a voxel of 2 mm. ValueError as for `cube_averages`.
    """
    # values at the midpoints
    everywhere = np.indices(shape).reshape(3, -1).T
    density, power = (values.reshape(shape) for values in _sampled(sample, everywhere, corner, voxel))
    filled = (density > 0).astype(float)
    # means of eight points where tissues meet
    mixed = scipy.ndimage.maximum_filter(density, 3) != scipy.ndimage.minimum_filter(density, 3)
    where = np.argwhere(mixed)
    sums = np.zeros((3, len(where)))
    for eighth in np.ndindex(2, 2, 2):
        rho, loss = _sampled(sample, where + (np.array(eighth) / 2 - 0.25), corner, voxel)
        sums += np.stack([rho, np.where(rho > 0, loss, 0.0), rho > 0]) / 8
    density[mixed], power[mixed], filled[mixed] = sums
    # averages over cubes, and rates of the voxels themselves
    cubes = cube_averages(density, power, voxel, mass, filled)
    tissue = density > 0
    local = np.where(tissue, power / np.where(tissue, density, 1.0), np.nan)
    total, weight = float(power[tissue].sum()) * voxel**3, float(density.sum()) * voxel**3
    return AveragedSAR(mass, voxel, corner, local, cubes.values, cubes, total, weight)


def _sampled(
    sample: Sample, places: NDArray[Any], corner: NDArray[np.float64], voxel: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Density and power density at places (n, 3), in voxels from the corner."""
    parts = [sample(corner + voxel * own) for own in _chunks(places)] or [(np.zeros(0), np.zeros(0))]
    density, power = (np.concatenate(each) for each in zip(*parts, strict=True))
    return density, power


def cube_averages(
    density: NDArray[np.float64],
    power: NDArray[np.float64],
    voxel: float,
    mass: float = 0.010,
    filled: NDArray[np.float64] | None = None,
) -> CubeAverages:
    """Averages of power (nx, ny, nz) in W/m^3 over cubes of `mass` in kg; density (nx, ny, nz) in kg/m^3, 0 where there
    is no tissue; voxel: side in m. filled: the part of each voxel that is tissue, if some hold air too; density and
    power are means over the whole voxel. ValueError if all tissue together is lighter than a cube.

    Error: cubes are exact for the voxels' data; the voxel approximation of smooth fields and curved surfaces is of
    second and first order in their side.
    """
    tissue = density > 0
    total = float(density.sum()) * voxel**3
    require_mass(total, mass)
    part = tissue.astype(float) if filled is None else filled
    # a cube around each voxel of tissue, grown until it has the mass
    tables = _Tables(density * voxel**3, part, np.where(tissue, power, 0.0) * voxel**3)
    where = np.argwhere(tissue)
    values, halves = np.full(density.shape, np.nan), np.full(density.shape, np.nan)
    origin = np.zeros(density.shape, np.int8)
    for own in _chunks(where):
        cubes = tables.cubes(np.asarray(own + 0.5, float), np.zeros(3), mass)
        at = tuple(own.T)
        halves[at] = cubes.half
        valid = cubes.valid(tables)
        kept = tuple(own[valid].T)
        values[kept], origin[kept] = tables.power.over(*cubes.box)[valid] / mass, Origin.OWN
    # voxels without a valid cube: the largest average of cubes that hold them, or cubes at a face
    _take_from_others(values, origin, halves, tissue)
    rest = np.argwhere(tissue & (origin == Origin.NONE))
    for own in _chunks(rest):
        at = tuple(own.T)
        values[at], halves[at] = _at_faces(tables, own, mass)
        origin[at] = Origin.AT_FACE
    return CubeAverages(values, origin, 2 * halves * voxel)


def require_mass(total: float, mass: float) -> None:
    """Raise ValueError if tissue of that weight in kg is lighter than a cube of that mass."""
    if total < mass:
        raise ValueError(f"the tissue weighs {total:.4g} kg, less than one cube of {mass:.4g} kg: use a smaller mass")


def _chunks(where: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Cubes or points, 50,000 at a time."""
    for first in range(0, len(where), 50_000):
        yield where[first : first + 50_000]


class _Sums:
    """Integrals over boxes, in voxels, of data constant on each voxel and zero outside of the grid."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self._table = np.zeros(np.array(values.shape) + 1)
        self._table[1:, 1:, 1:] = values.cumsum(0).cumsum(1).cumsum(2)

    def over(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) between the corners (n, 3): the table is linear in each direction within a voxel."""
        total = np.zeros(len(low))
        for corner in np.ndindex(2, 2, 2):
            points = np.where(np.array(corner) == 1, high, low)
            sign = (-1) ** (3 - sum(corner))
            total += sign * scipy.ndimage.map_coordinates(self._table, points.T, order=1, mode="nearest")
        return total


@dataclass(frozen=True, eq=False)
class _Cubes:
    """middle (n, 3) and half sides (n,) in voxels, NaN where the grid does not hold the mass."""

    middle: NDArray[np.float64]
    half: NDArray[np.float64]

    @property
    def box(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        half = np.nan_to_num(self.half)[:, None]
        return self.middle - half, self.middle + half

    def valid(self, tables: "_Tables") -> NDArray[np.bool_]:
        """(n,) whether at most a tenth of each averaging cube is air, and no face lies entirely in air; False where no
        cube holds the mass (its half edge is not finite)."""
        low, high = self.box
        full = tables.tissue.over(low, high) >= 0.9 * (2 * self.half) ** 3
        thin = 1e-3  # voxels
        # tissue in a thin layer at each face
        for face in OUTWARD_OF_CUBE:
            first, last = low.copy(), high.copy()
            axis = int(np.argmax(np.abs(face)))
            if face[axis] > 0:
                first[:, axis] = high[:, axis] - thin
            else:
                last[:, axis] = low[:, axis] + thin
            full &= tables.tissue.over(first, last) > 1e-6 * thin
        return full & np.isfinite(self.half)


class _Tables:
    """Mass, tissue (volume in voxels) and power of boxes."""

    def __init__(self, mass: NDArray[np.float64], tissue: NDArray[np.float64], power: NDArray[np.float64]) -> None:
        self.mass, self.tissue, self.power = _Sums(mass), _Sums(tissue), _Sums(power)
        self._largest = float(max(mass.shape))

    def cubes(self, start: NDArray[np.float64], along: NDArray[np.float64], mass: float) -> _Cubes:
        """Cubes of a mass: about the points start (n, 3), or, with a unit vector along (3,), with that voxel in
        the middle of the rear face.

        The cube root of the mass grows about linearly with the side, and the Illinois form of false position finds
        where it has its value.
        """

        def root(half: NDArray[np.float64]) -> NDArray[np.float64]:
            middle = start + along * (half[:, None] - 0.5)
            found = self.mass.over(middle - half[:, None], middle + half[:, None])
            return np.asarray(np.cbrt(np.maximum(found, 0)) - np.cbrt(mass))

        # brackets: no cube, and one as large as the grid
        low, high = np.zeros(len(start)), np.full(len(start), self._largest)
        at_low, at_high = root(low), root(high)
        reached = at_high >= 0
        half = high.copy()
        last = np.zeros(len(start))
        for _ in range(60):
            step = np.where(reached, at_low / np.where(at_low == at_high, 1, at_low - at_high), 1.0)
            half = low + step * (high - low)
            value = root(half)
            if (np.abs(value[reached]) <= 1e-9 / 3 * np.cbrt(mass)).all():  # 1e-9 of the mass
                break
            above = value > 0
            # the value of an end that stays twice is halved, otherwise it would stay indefinitely
            at_low = np.where(above, np.where(last > 0, at_low / 2, at_low), value)
            at_high = np.where(above, value, np.where(last < 0, at_high / 2, at_high))
            low, high = np.where(above, low, half), np.where(above, half, high)
            last = np.where(above, 1.0, -1.0)
        half = np.where(reached, half, np.nan)
        return _Cubes(start + along * (np.nan_to_num(half)[:, None] - 0.5), half)


def _take_from_others(
    values: NDArray[np.float64], origin: NDArray[np.int8], halves: NDArray[np.float64], tissue: NDArray[np.bool_]
) -> None:
    """Give voxels without a valid cube the largest average of the valid cubes in which they lie entirely."""
    # valid cubes that reach a voxel without one
    without = tissue & (origin != Origin.OWN)
    counts = _Sums(without.astype(float))
    givers = np.argwhere(origin == Origin.OWN)
    reach = np.floor(halves[tuple(givers.T)] - 0.5 + 1e-9).astype(int)[:, None]
    touching = counts.over(givers - reach, givers + reach + 1.0) > 0.5
    givers, reach = givers[touching], reach[touching]
    # each overwrites those with smaller averages in the voxels that it holds entirely
    taken = np.full(values.shape, -1)
    averages = values[tuple(givers.T)]
    for n in np.argsort(averages, kind="stable"):  # the largest comes last
        low, high = np.maximum(givers[n] - reach[n], 0), givers[n] + reach[n] + 1
        taken[low[0] : high[0], low[1] : high[1], low[2] : high[2]] = n
    found = without & (taken >= 0)
    values[found], origin[found] = averages[taken[found]], Origin.WITHIN
    halves[found] = halves[tuple(givers[taken[found]].T)]


def _at_faces(
    tables: _Tables, voxels: NDArray[np.int64], mass: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n,) largest average of the cubes that have the voxel in the middle of a face and are about as small as the
    smallest, and half the side of that cube in voxels."""
    halves, averages = np.empty((6, len(voxels))), np.empty((6, len(voxels)))
    for n, face in enumerate(OUTWARD_OF_CUBE):
        cubes = tables.cubes(np.asarray(voxels + 0.5, float), face, mass)
        halves[n] = np.where(np.isfinite(cubes.half), cubes.half, np.inf)
        averages[n] = tables.power.over(*cubes.box) / mass
    averages[halves**3 > 1.05 * halves.min(axis=0) ** 3] = -np.inf  # volumes up to 5 % larger than the smallest
    best = averages.argmax(axis=0), np.arange(len(voxels))
    return averages[best], halves[best]
