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

TRIED, TAKEN = 1000, 64
"""Random points in the box of a body, and of those inside of it, at most."""
LEAST = 8
"""Points that a mean needs."""
Field = Callable[[NDArray[np.float64]], NDArray[Any]]


def left_inside(mesh: TriangleMesh, field: Field, reference: Field) -> float | None:
    """The root of the mean square of `field` over that of `reference`, at points inside that are a mean edge away from
    the surface; None for open surfaces and for bodies that are too thin."""
    x = points_inside(mesh) if mesh.is_closed else np.zeros((0, 3))
    if len(x) < LEAST:
        return None
    left, size = (float(np.sqrt(np.mean(np.abs(each(x)) ** 2))) for each in (field, reference))
    return left / size if size else None


def points_inside(mesh: TriangleMesh) -> NDArray[np.float64]:
    """At most TAKEN points (n, 3), a mean edge away from a closed surface."""
    low, high = mesh.bounds
    x = low + (high - low) * np.random.default_rng(1).random((TRIED, 3))
    distances, _ = scipy.spatial.cKDTree(mesh.centroids).query(x)
    x = x[distances > mesh.mean_edge_length]
    return x[mesh.contains(x)][:TAKEN] if len(x) else x
