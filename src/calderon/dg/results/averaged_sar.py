"""Specific absorption rates on a regular grid, local and averaged over cubes, from fields on tetrahedra."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from calderon.backends import require_memory
from calderon.dg.results.sar import CubeAverages, cube_averages, require_mass
from calderon.mesh import TetrahedralMesh

BYTES_OF_A_VOXEL = 180
"""Of grid, tables and cubes together: 132 were measured where half of the grid is tissue, 161 where all is."""
CHUNK = 50_000
"""Points at a time."""
Sample = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]


@dataclass(frozen=True, eq=False)
class AveragedSAR:
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
    def maximum(self) -> float:
        """Largest average in W/kg."""
        return float(np.nanmax(self.averaged))

    @property
    def place(self) -> NDArray[np.float64]:
        """(3,) midpoint of the voxel with the largest average, in m."""
        return self._point(self.averaged)

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
        index = np.round((np.asarray(points, float) - self.corner) / self.voxel).astype(int)
        inside = np.asarray(((index >= 0) & (index < self.averaged.shape)).all(axis=-1))
        values = self.averaged[tuple(np.moveaxis(np.where(inside[..., None], index, 0), -1, 0))]
        return np.where(inside, values, np.nan)

    def _point(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.corner + self.voxel * np.array(np.unravel_index(np.nanargmax(values), values.shape))


def voxel_midpoints(
    mesh: TetrahedralMesh, densities: Mapping[str, float | None], voxel: float
) -> tuple[NDArray[np.float64], tuple[int, int, int]]:
    """The first midpoint (3,) and the shape of a grid around all parts with a density.

    Raises ValueError where there are none or the voxels are as large as the tissue, MemoryError with advice.
    """
    tags = [tag for name, tag in mesh.names.items() if densities.get(name) is not None]
    tissue = np.isin(mesh.tags, tags)
    if not tissue.any():
        raise ValueError("no part of the mesh has a density: give materials one in kg/m^3")
    corners = mesh.vertices[mesh.tetrahedra[tissue]].reshape(-1, 3)
    low, high = corners.min(axis=0), corners.max(axis=0)
    if not 0 < voxel < (high - low).min():
        raise ValueError(f"voxel={voxel!r}: a length below the tissue's extent, {(high - low).min():.4g} m, is needed")
    counts = np.ceil((high - low) / voxel - 1e-9).astype(int)
    require_memory(int(BYTES_OF_A_VOXEL * counts.prod()), f"a grid of {counts} voxels", "use larger voxels")
    middle = (low + high) / 2
    nx, ny, nz = map(int, counts)
    return middle - (counts - 1) / 2 * voxel, (nx, ny, nz)


def require_tissue(mesh: TetrahedralMesh, densities: Mapping[str, float | None], mass: float, voxel: float) -> None:
    """Errors as for `voxel_midpoints`, and ValueError for less tissue than the mass of a cube in kg."""
    voxel_midpoints(mesh, densities, voxel)
    parts = [(mesh.tags == tag, densities.get(name)) for name, tag in mesh.names.items()]
    require_mass(sum(float(mesh.volumes[own].sum()) * density for own, density in parts if density), mass)


def averaged_sar(
    sample: Sample, corner: NDArray[np.float64], shape: tuple[int, int, int], voxel: float, mass: float
) -> AveragedSAR:
    """On a grid of voxels, from a function of points (n, 3) to density (n,) in kg/m^3, 0 where there is no tissue, and
    power density (n,) in W/m^3.

    Voxels have the values at their midpoints; those next to another density, in which surfaces may lie, the
    means of eight points. So voxels are partly filled at the skin: with full or empty voxels only, the average at the
    surface would jump by a tenth as the grid moves by half a voxel of 2 mm. ValueError as for `cube_averages`.
    """
    density, power = (values.reshape(shape) for values in _at_midpoints(sample, corner, shape, voxel))
    filled = (density > 0).astype(float)
    mixed = maximum_filter(density, 3) != minimum_filter(density, 3)
    where = np.argwhere(mixed)
    sums = np.zeros((3, len(where)))
    for eighth in np.ndindex(2, 2, 2):
        offset = np.array(eighth) / 2 - 0.25
        for first in range(0, len(where), CHUNK):
            own = slice(first, first + CHUNK)
            rho, loss = sample(corner + voxel * (where[own] + offset))
            sums[:, own] += np.stack([rho, np.where(rho > 0, loss, 0.0), rho > 0]) / 8
    density[mixed], power[mixed], filled[mixed] = sums
    cubes = cube_averages(density, power, voxel, mass, filled)
    tissue = density > 0
    local = np.where(tissue, power / np.where(tissue, density, 1.0), np.nan)
    total, weight = float(power[tissue].sum()) * voxel**3, float(density.sum()) * voxel**3
    return AveragedSAR(mass, voxel, corner, local, cubes.values, cubes, total, weight)


def _at_midpoints(
    sample: Sample, corner: NDArray[np.float64], shape: tuple[int, int, int], voxel: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Density and power density, flat."""
    count = int(np.prod(shape))
    parts = []
    for first in range(0, count, CHUNK):
        number = np.arange(first, min(first + CHUNK, count))
        parts.append(sample(corner + voxel * np.stack(np.unravel_index(number, shape), axis=1)))
    density, power = (np.concatenate(each) for each in zip(*parts, strict=True))
    return density, power
