"""The parts of a mesh of tetrahedra that are tissue: those with a density."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from calderon.data.sar import require_mass, voxel_midpoints
from calderon.mesh import TetrahedralMesh
from calderon.validation import positive_length


def tissue_corners(mesh: TetrahedralMesh, densities: Mapping[str, float | None]) -> NDArray[np.float64]:
    """Corners (n, 3) of the tetrahedra of all parts with a density."""
    tags = [tag for name, tag in mesh.names.items() if densities.get(name) is not None]
    return mesh.vertices[mesh.tetrahedra[np.isin(mesh.tags, tags)]].reshape(-1, 3)


def require_tissue(mesh: TetrahedralMesh, densities: Mapping[str, float | None], mass: float, voxel: float) -> None:
    """Errors as for `voxel_midpoints`, and ValueError for less tissue than the mass of a cube in kg."""
    mass = positive_length(mass, "mass")
    voxel_midpoints(tissue_corners(mesh, densities), positive_length(voxel, "voxel"))
    parts = [(mesh.tags == tag, densities.get(name)) for name, tag in mesh.names.items()]
    require_mass(sum(float(mesh.volumes[own].sum()) * density for own, density in parts if density), mass)
