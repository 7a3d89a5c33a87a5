"""Coils next to iron: the scalar potential of their field on the walls of the region in which they lie.

In the region of a coil H = H_s - grad u, H_s by the law of Biot and Savart; in iron H = -grad u. No current passes
through a wall, so that along it H_s = -grad_s g: g, integrated along edges from a vertex of each wall, and -H_s . n are
the traces of a source of that region, since behind each wall H_s has a scalar potential. Around a loop of edges through
which the coil passes, as where it is wound on iron, g has no single value.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.statics.skeleton import WALLS
from calderon.formulations.statics.unknowns import Traces
from calderon.operators import identity
from calderon.quadrature import gauss
from calderon.waves import CurrentPath

Vectors = NDArray[np.float64]
POINTS = 8
"""Gauss points on an edge."""
THREADED = 0.5
"""Circulation of H over the current, of which whole numbers are wires through a loop, from which on there is one."""
CLOSE = 1e-2
"""Circulation over the current from which on edges are too long for the distance of the coil."""


def tested_coil(path: CurrentPath, traces: Traces) -> list[NDArray[np.float64]]:
    """<v, a ds/dn> and <p, s> of a coil in the region, s = g and ds/dn = -H_s . n on its walls; ValueError for a coil
    that passes through a loop on iron."""
    space: Any = traces.potentials
    if space is None:
        return [np.zeros(traces.fluxes.dimension)]
    a = traces.surface.region.constant
    slope = space.load_vector(lambda x, n: -a * np.einsum("ni,ni->n", path.magnetic_field(x), n))
    pairing = identity(space, traces.fluxes).assemble()
    return [slope, np.asarray(pairing @ wall_potential(path, traces))]


def wall_potential(path: CurrentPath, traces: Traces) -> NDArray[np.float64]:
    """Coefficients of g with grad_s g = -H_s on the walls of a region, its mean over each 0."""
    space: Any = traces.potentials
    mesh = traces.surface.mesh
    own = np.unique(mesh.triangle_edges[mesh.tags == WALLS])
    ends = mesh.edges[own]
    steps = -_along(path, mesh.vertices[ends[:, 0]], mesh.vertices[ends[:, 1]])
    values = np.zeros(len(mesh.vertices))
    graph = sp.coo_array((np.ones(len(own)), (ends[:, 0], ends[:, 1])), (len(values), len(values))).tocsr()
    number = sp.coo_array((np.arange(1, len(own) + 1), (ends[:, 0], ends[:, 1])), graph.shape).tocsr()
    count, labels = sp.csgraph.connected_components(graph, directed=False)
    starts = np.unique(labels[ends[:, 0]], return_index=True)[1]  # one of each part; vertices off the walls have none
    for first in ends[starts, 0]:
        order, before = sp.csgraph.breadth_first_order(graph, first, directed=False)
        nodes, others = order[1:], before[order[1:]]
        ahead, back = (np.asarray(number[i, j]).ravel() for i, j in ((others, nodes), (nodes, others)))
        rises = np.where(ahead > 0, 1.0, -1.0) * steps[np.maximum(ahead, back).astype(int) - 1]
        for node, other, rise in zip(nodes.tolist(), others.tolist(), rises.tolist(), strict=True):
            values[node] = values[other] + rise
    # u is constant on iron of high permeability, nearly the mean of g: what is left inside is no difference then
    walls = mesh.tags == WALLS
    weights = np.bincount(mesh.triangles[walls].ravel(), np.repeat(mesh.areas[walls], 3), len(values))
    means = np.bincount(labels, weights * values, count) / np.maximum(np.bincount(labels, weights, count), 1e-300)
    values -= means[labels]
    missing = np.abs(values[ends[:, 1]] - values[ends[:, 0]] - steps)
    if (worst := float(missing.max(initial=0.0))) > CLOSE * abs(path.current):
        place = mesh.vertices[ends[int(missing.argmax())]].mean(axis=0).tolist()
        if worst > THREADED * abs(path.current):
            raise ValueError(
                f"the coil passes through a loop of iron, or of other walls, near {place}: the potential has no single "
                "value then; leave a gap in the iron"
            )
        raise ValueError(f"the coil is too close to the wall at {place}: mesh it finer there, or move it off")
    found = np.zeros(space.dimension)
    corners = mesh.triangles[space.triangles]
    found[space.dofs[:, :3]] = values[corners]
    for middle in range(3, space.dofs.shape[1]):  # opposite a vertex
        one, two = corners[:, (middle + 1) % 3], corners[:, (middle + 2) % 3]
        a, b = mesh.vertices[one], mesh.vertices[two]
        found[space.dofs[:, middle]] = values[one] - _along(path, a, (a + b) / 2)
    return found


def _along(path: CurrentPath, a: Vectors, b: Vectors) -> NDArray[np.float64]:
    """Integrals (n,) of H_s along straight lines from a to b (n, 3)."""
    rule = gauss(POINTS)
    x = a[:, None] + rule.points[:, None] * (b - a)[:, None]
    field = path.magnetic_field(x.reshape(-1, 3)).reshape(x.shape)
    return np.asarray(np.einsum("nqi,ni,q->n", field, b - a, rule.weights))
