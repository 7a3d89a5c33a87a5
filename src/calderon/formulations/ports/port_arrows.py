"""Arrows that show where an antenna is fed, along the positive currents of its ports and into its waveguides."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from calderon.formulations.ports.finite_gap import FiniteGap
from calderon.formulations.ports.gaps import DeltaGap, WireGap
from calderon.formulations.wires.wire import Wire
from calderon.mesh import TriangleMesh
from calderon.spaces import RWG, EdgeSpace
from calderon.view import Arrows

FEED = "#c1121f"
PART = 0.16
"""Length of an arrow in parts of the size of the antenna."""
ALIKE = 0.25
"""Least length of the mean of the unit vectors across a gap for an arrow of all of it: 0 of rings, 0.5 of zigzags."""
Real = NDArray[np.float64]


def port_arrows(problem: Any, names: Sequence[str]) -> Arrows | None:
    """An arrow for each port of a `PECAntenna`, a `WireAntenna` or a `MaxwellProblem`; None without ports. names: of
    the modes of waveguides that are fed, then of gaps, the `feeds` of a solution.

    At a gap the middle of the arrow is the gap, and it points along positive current; at a gap whose directions cancel,
    as around a ring, it is that of one place. At a waveguide port the arrow ends in the plane, points into the guide,
    and has the names of all modes that are fed.
    """
    wires, mesh = getattr(problem, "wires", ()), getattr(problem, "mesh", None)
    own = iter(names)
    into = list(_guides(problem))
    texts = ["; ".join(islice(own, waves)) for waves, _, _ in into] + list(own)
    places = [(place, along) for _, place, along in into]
    if getattr(problem, "feeds", None):  # of one conductor, whose functions lie on images in mirrors, too
        places += [_across_edges(problem.function_space, weights) for weights in problem._weights.T]
    else:
        places += [_at_gap(each, mesh, wires) for each in problem.ports]
    if not places:
        return None
    points = [np.asarray(each.points) for each in wires] + ([] if mesh is None else [np.asarray(mesh.bounds)])
    return _drawn(places, len(into), texts, np.concatenate(points))


def slot_arrow(gap: DeltaGap, mesh: TriangleMesh, name: str) -> Arrows:
    """The arrow of `port_arrows` for one gap in a surface."""
    return _drawn([_at_gap(gap, mesh, ())], 0, [name], np.asarray(mesh.bounds))


def _drawn(places: Sequence[tuple[Real, Real]], guides: int, texts: Sequence[str], points: Real) -> Arrows:
    """Arrows at places along unit vectors, first those that end in planes of guides. points (n, 3): of all bodies."""
    length = PART * float(np.linalg.norm(np.ptp(points, axis=0)))
    vectors = length * np.array([along for _, along in places])
    before = np.where(np.arange(len(places)) < guides, 1.0, 0.5)
    begins = np.array([place for place, _ in places]) - before[:, None] * vectors
    return Arrows("ports", begins, vectors, (FEED,), tuple(texts))


def _at_gap(gap: DeltaGap | WireGap | FiniteGap, mesh: TriangleMesh | None, wires: Sequence[Wire]) -> tuple[Real, Real]:
    """The middle of a gap, and the unit vector along positive current."""
    if isinstance(gap, WireGap):
        place = np.asarray(gap.at, float)
        return place, _unit(_along_wire(wires, place) if gap.direction is None else np.asarray(gap.direction))
    assert mesh is not None
    if isinstance(gap, FiniteGap):
        cells, *ends = (np.isin(mesh.tags, mesh.tag_numbers(tags)) for tags in (gap.cells, *gap.between))
        middles = mesh.centroids[cells]
        begin, end = (mesh.centroids[own][KDTree(mesh.centroids[own]).query(middles)[1]] for own in ends)
        return _shown(middles, end - begin, mesh.areas[cells])
    space = RWG(mesh)
    return _across_edges(space, gap.weights(space))


def _across_edges(space: EdgeSpace, weights: Real) -> tuple[Real, Real]:
    """The middle of a slot, and the unit vector along positive current, from `DeltaGap.weights` of its edges."""
    mesh, own = space.mesh, np.flatnonzero(weights)
    edges, pairs = space.edges[own], space.pairs[own]
    ends = mesh.vertices[mesh.edges[edges]]
    along = (ends[:, 1] - ends[:, 0]) / mesh.edge_lengths[edges, None]
    across = mesh.centroids[pairs[:, 1]] - mesh.centroids[pairs[:, 0]]
    across -= np.sum(across * along, axis=1, keepdims=True) * along
    return _shown(ends.mean(axis=1), np.sign(weights[own])[:, None] * across, np.abs(weights[own]))


def _shown(places: Real, across: Real, weights: Real) -> tuple[Real, Real]:
    """The mean place and direction of the parts (n, 3) of a gap; those of the largest part where directions cancel."""
    directions = across / np.linalg.norm(across, axis=1, keepdims=True)
    mean = np.average(directions, axis=0, weights=weights)
    if np.linalg.norm(mean) < ALIKE:
        largest = int(weights.argmax())
        return places[largest], directions[largest]
    return np.average(places, axis=0, weights=weights), _unit(mean)


def _guides(problem: Any) -> Iterator[tuple[int, Real, Real]]:
    """The numbers of modes that are fed by waveguide ports, their middles, and the unit vectors into the guides."""
    guides = getattr(problem, "_waveguides", None)
    if guides is None:
        return
    skeleton = problem.skeleton
    for port, number in zip(guides.ports, guides.numbers, strict=True):
        region = skeleton.names.index(port.region)
        chosen = np.flatnonzero(skeleton.kinds[skeleton.triangles_of(region)] == number)
        walls = skeleton.walls[region]
        into = -walls.outward[chosen].mean(axis=0) if port.into is None else np.asarray(port.into)
        place = np.average(walls.mesh.centroids[chosen], axis=0, weights=walls.mesh.areas[chosen])
        yield port.waves, place, _unit(into)


def _along_wire(wires: Sequence[Wire], place: Real) -> Real:
    """The direction of the straight part of a wire that is nearest to a place."""
    parts = np.concatenate(
        [np.stack([points[:-1], points[1:]], axis=1) for points in (np.asarray(each.points) for each in wires)]
    )
    along = parts[:, 1] - parts[:, 0]
    share = np.clip(np.einsum("ni,ni->n", place - parts[:, 0], along) / (along**2).sum(axis=1), 0, 1)
    distance = np.linalg.norm(parts[:, 0] + share[:, None] * along - place, axis=1)
    return np.asarray(along[distance.argmin()])


def _unit(vector: Real) -> Real:
    return np.asarray(vector / np.linalg.norm(vector))
