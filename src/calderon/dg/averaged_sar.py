"""Specific absorption rates on a regular grid, local and averaged over cubes, from fields on tetrahedra."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import require_memory
from calderon.dg.sar import CubeAverages, cube_averages
from calderon.mesh import TetrahedralMesh

BYTES_OF_A_VOXEL = 220
"""Of grid, tables and cubes together, measured."""


@dataclass(frozen=True, eq=False)
class AveragedSAR:
    """Rates in W/kg on voxels, whose midpoints are corner + voxel (i, j, k), all in m.

    mass: of a cube in kg. local, averaged (nx, ny, nz): at the midpoint, and over cubes; NaN where there is no tissue.
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
        """Largest rate at a voxel's midpoint in W/kg."""
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
    require_memory(int(BYTES_OF_A_VOXEL * counts.prod()), f"a grid of {counts} voxels", "take larger voxels")
    middle = (low + high) / 2
    nx, ny, nz = map(int, counts)
    return middle - (counts - 1) / 2 * voxel, (nx, ny, nz)


def averaged_sar(
    density: NDArray[np.float64], power: NDArray[np.float64], corner: NDArray[np.float64], voxel: float, mass: float
) -> AveragedSAR:
    """From kg/m^3 (0 where there is no tissue) and W/m^3 at the midpoints (nx, ny, nz). ValueError as for
    `cube_averages`."""
    cubes = cube_averages(density, power, voxel, mass)
    tissue = density > 0
    local = np.where(tissue, power / np.where(tissue, density, 1.0), np.nan)
    total, weight = float(power[tissue].sum()) * voxel**3, float(density.sum()) * voxel**3
    return AveragedSAR(mass, voxel, corner, local, cubes.values, cubes, total, weight)
