"""Volumes of tetrahedra with signs."""

import numpy as np
from numpy.typing import NDArray


def signed_volumes(vertices: NDArray[np.float64], tetrahedra: NDArray[np.int64]) -> NDArray[np.float64]:
    """(nt,) volumes, positive where the fourth vertex lies on the right-handed side of the first three."""
    corners = vertices[tetrahedra]
    a, b, c = (corners[:, n] - corners[:, 0] for n in (1, 2, 3))
    return np.asarray(np.einsum("ni,ni->n", a, np.cross(b, c)) / 6)
