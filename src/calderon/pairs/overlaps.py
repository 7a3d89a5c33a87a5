"""Surfaces that pass through each other are refused: no rule integrates them, and no problem is posed on them."""

import numpy as np
from numpy.typing import NDArray

from calderon.mesh import MeshError
from calderon.mesh.checks.crossings import overlapping
from calderon.pairs.classes import TouchingPairs
from calderon.spaces import Space


def refuse_overlaps(
    spaces: tuple[Space, Space],
    triangles: tuple[NDArray[np.int64], NDArray[np.int64]],
    corners: tuple[NDArray[np.float64], NDArray[np.float64]],
    touching: TouchingPairs,
    near: NDArray[np.int32],
    ratio: NDArray[np.float64],
) -> None:
    """MeshError for triangles that pass through each other or, of one mesh, lie on each other.

    triangles: of both spaces, with corners (m, 3, 3); near (n, 2), ratio (n,): pairs of these and their distance as a
    fraction of the size.
    """
    test, trial = (space.triangles[each] for space, each in zip(spaces, triangles, strict=True))
    # where an edge passes through a triangle, the boundaries are no farther than 0.29 of its size, its radius inside
    i, j = near[ratio < 0.29].T
    cut = overlapping(corners[0][i], corners[1][j])
    found = np.stack([test[i[cut]], trial[j[cut]]], axis=1)
    if spaces[0].mesh is spaces[1].mesh:
        i, j = touching.pairs[touching.shared == 3].T
        twice = test[i] != trial[j]
        found = np.concatenate([found, np.stack([test[i[twice]], trial[j[twice]]], axis=1)])
    if len(found):
        first = ", ".join(f"{a} and {b}" for a, b in found[:4]) + (", ..." if len(found) > 4 else "")
        raise MeshError(
            f"{len(found)} pairs of triangles pass through or lie on each other without being neighbours (triangles "
            f"{first}): unite the bodies in the CAD or mesh program, or move them apart"
        )
