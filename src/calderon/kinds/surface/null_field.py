"""The field that a solution leaves inside of a closed body: an exact one leaves none.

The boundary integral equation is posed on the surface; that its solution also extinguishes the field at points inside
is another equation, which holds as far as the solution is accurate (Waterman's null field). It gives the order of
magnitude of an error: on spheres of 2.5 to 10 elements per radius, far fields have errors 1.1 to 6 times as large.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh

Field = Callable[[NDArray[np.float64]], NDArray[Any]]


def left_inside(mesh: TriangleMesh, field: Field, reference: Field) -> float | None:
    """The root of the mean square of `field` over that of `reference`, at points inside that are a mean edge away from
    the surface; None for open surfaces and for bodies that are too thin."""
    x = points_inside(mesh) if mesh.is_closed else np.zeros((0, 3))
    if len(x) < 8:  # too few for a mean
        return None
    left, size = (float(np.sqrt(np.mean(np.abs(each(x)) ** 2))) for each in (field, reference))
    return left / size if size else None


def points_inside(mesh: TriangleMesh) -> NDArray[np.float64]:
    """At most 64 of 1000 random points (n, 3) in the box of a closed surface: inside, a mean edge away from it."""
    low, high = mesh.bounds
    x = low + (high - low) * np.random.default_rng(1).random((1000, 3))
    distances, _ = scipy.spatial.cKDTree(mesh.centroids).query(x)
    x = x[distances > mesh.mean_edge_length]
    return x[mesh.contains(x)][:64] if len(x) else x
