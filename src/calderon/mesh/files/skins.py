"""Boundaries of solid elements: the faces that belong to one of them only."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.topology import row_numbers

FACES_OF_SOLIDS = {
    "tetra": [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]],
    "hexahedron": [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]],
    "wedge": [[0, 2, 1], [3, 4, 5], [0, 1, 4, 3], [1, 2, 5, 4], [2, 0, 3, 5]],
    "pyramid": [[0, 3, 2, 1], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
}
"""Corners of faces, outward for elements of positive volume, by the beginning of meshio's names."""

Faces = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Corners (n, 3 or 4), and the numbers (n,) of the elements to which the faces belong."""


def skin(solids: Sequence[tuple[str, NDArray[np.int64]]]) -> list[Faces]:
    """The triangles and the quadrilaterals of the boundary of solids, given by their kinds and corners (n, corners),
    numbered through all of these.

    Edges of solids may be collapsed. MeshError where three solids share a face, where a triangle lies on one half of a
    quadrilateral, and where nothing is left.
    """
    found: dict[int, list[Faces]] = {3: [], 4: []}
    first = 0
    for kind, corners in solids:
        for face in FACES_OF_SOLIDS[kind]:
            own = corners[:, face], first + np.arange(len(corners))
            for size, part in _without_repeated(*own).items():
                found[size].append(part)
        first += len(corners)
    # faces that occur once
    outer = {size: _single(np.concatenate(c), np.concatenate(o)) for size, parts in found.items() if parts
             for c, o in [tuple(zip(*parts, strict=True))]}  # fmt: skip
    # a triangle on one half of a quadrilateral
    if len(outer) == 2:
        halves = np.concatenate([outer[4][0][:, half] for half in ([0, 1, 2], [0, 2, 3], [0, 1, 3], [1, 2, 3])])
        rows = np.sort(np.concatenate([outer[3][0], halves]), axis=1)
        number = row_numbers(rows)[1]
        if (on := np.isin(number[: len(outer[3][0])], number[len(outer[3][0]) :])).any():
            raise MeshError(
                f"{np.count_nonzero(on)} triangles lie on halves of quadrilaterals: solids that do not fit to each "
                "other have no boundary; mesh them with one kind, or the surface with triangles"
            )
    if not any(len(corners) for corners, _ in outer.values()):
        raise MeshError("the solids have no boundary: each is given twice")
    return [each for each in outer.values() if len(each[0])]


def _without_repeated(corners: NDArray[np.int64], owners: NDArray[np.int64]) -> dict[int, Faces]:
    """Faces by their number of different corners; those that have less than three are left out."""
    keep = corners != np.roll(corners, -1, axis=1)
    count = keep.sum(axis=1)
    return {
        size: (corners[count == size][keep[count == size]].reshape(-1, size), owners[count == size])
        for size in (3, 4)
        if size <= corners.shape[1]
    }


def _single(corners: NDArray[np.int64], owners: NDArray[np.int64]) -> Faces:
    number = row_numbers(np.sort(corners, axis=1))[1]
    times = np.bincount(number, minlength=1)
    if (times > 2).any():
        raise MeshError(f"{np.count_nonzero(times > 2)} faces belong to three solids or more: some are given twice")
    once = times[number] == 1
    return corners[once], owners[once]
