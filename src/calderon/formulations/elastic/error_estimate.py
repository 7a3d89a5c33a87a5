"""How wrong a solution is about, from the jumps of its stress between triangles.

With the stress s of the triangles, its means s* at vertices, and the means s** of the means of s* over triangles,

    e_u = 0.2 (|s - s*| / |s*|)^2,    e_s = 0.4 |s** - s*| / |s*|,

in the norm of L^2 of the surface. The first is the jump that O. C. Zienkiewicz, J. Z. Zhu (1987) take for the error of
the energy, to which errors of displacements are similar; the second is what one more mean would change. Factors are
measured: docs/guides/solids.md has the ratios to errors that are known.
"""

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.elastic.surface_stress import averaged, smooth_corners
from calderon.mesh import TriangleMesh

Array = NDArray[np.float64]
DISPLACEMENT, STRESS = 0.2, 0.4


def estimated_errors(mesh: TriangleMesh, stresses: Array, free: Array) -> tuple[float, float]:
    """Relative errors of displacements and of averaged stresses on the surface, from stresses (m, 3, 3, 3) of triangles
    at their vertices. free (m, 3): stress of the strain that is free, where a body expands without stress."""

    def size(tensors: Array) -> float:
        return float(np.sqrt(mesh.areas @ (tensors.reshape(len(tensors), -1) ** 2).sum(axis=1) / 3))

    patch = smooth_corners(mesh)
    means = averaged(mesh, stresses, patch)
    again = averaged(mesh, np.repeat(means.mean(axis=1)[:, None], 3, axis=1), patch)
    scale = max(size(means), size(free))
    if scale == 0:
        return 0.0, 0.0
    return DISPLACEMENT * (size(stresses - means) / scale) ** 2, STRESS * size(again - means) / scale
