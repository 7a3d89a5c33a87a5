"""Arrows that show where an antenna is fed, along the positive currents of its ports and into its waveguides."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.ports.finite_gap import FiniteGap
from calderon.formulations.ports.gaps import DeltaGap, WireGap
from calderon.formulations.wires.wire import Wire
from calderon.mesh import TriangleMesh
from calderon.spaces import RWG
from calderon.view import Arrows

FEED = "#c1121f"
PART = 0.16
"""Length of an arrow in parts of the size of the antenna."""
Real = NDArray[np.float64]


def port_arrows(problem: Any) -> Arrows | None:
    """The arrows of `gap_arrows` for the ports of a `PECAntenna`, a `WireAntenna` or a `MaxwellProblem`."""
    gaps = getattr(problem, "feeds", None) or problem.ports
    return gap_arrows(gaps, getattr(problem, "mesh", None), getattr(problem, "wires", ()), tuple(_guides(problem)))


def gap_arrows(
    gaps: Sequence[DeltaGap | WireGap | FiniteGap],
    mesh: TriangleMesh | None,
    wires: Sequence[Wire] = (),
    guides: Sequence[tuple[Real, Real]] = (),
) -> Arrows | None:
    """An arrow with a name for each port on a mesh and on wires; None without ports. guides: the middles of waveguide
    ports, and unit vectors into the guides.

    At a gap the middle of the arrow is the gap, and it points along positive current; at a waveguide port it ends in
    the plane, and points into the guide.
    """
    places = [*guides, *(_at_gap(each, mesh, wires) for each in gaps)]
    if not places:
        return None
    points = [np.asarray(each.points) for each in wires] + ([] if mesh is None else [np.asarray(mesh.bounds)])
    length = PART * float(np.linalg.norm(np.ptp(np.concatenate(points), axis=0)))
    vectors = length * np.array([along for _, along in places])
    before = np.where(np.arange(len(places)) < len(guides), 1.0, 0.5)
    begins = np.array([place for place, _ in places]) - before[:, None] * vectors
    texts = [f"port {n}" for n in range(1, len(places) + 1)] if len(places) > 1 else ["feed"]
    return Arrows("ports", begins, vectors, (FEED,), tuple(texts))


def _at_gap(gap: DeltaGap | WireGap | FiniteGap, mesh: TriangleMesh | None, wires: Sequence[Wire]) -> tuple[Real, Real]:
    """The middle of a gap, and the unit vector along positive current."""
    if isinstance(gap, WireGap):
        place = np.asarray(gap.at, float)
        return place, _unit(_along_wire(wires, place) if gap.direction is None else np.asarray(gap.direction))
    assert mesh is not None
    if isinstance(gap, FiniteGap):
        begin, end = (_centre(mesh, tags) for tags in gap.between)
        return _centre(mesh, gap.cells), _unit(end - begin)
    space = RWG(mesh)
    weights = gap.weights(space)
    ends = mesh.vertices[mesh.edges[space.edges]]
    along = (ends[:, 1] - ends[:, 0]) / mesh.edge_lengths[space.edges, None]
    across = np.subtract(*(mesh.centroids[space.pairs[:, side]] for side in (1, 0)))
    across -= np.sum(across * along, axis=1, keepdims=True) * along
    return np.average(ends.mean(axis=1), axis=0, weights=np.abs(weights)), _unit(weights @ across)


def _guides(problem: Any) -> Iterator[tuple[Real, Real]]:
    """The middles of waveguide ports, and the unit vectors into the guides."""
    guides = getattr(problem, "_waveguides", None)
    if guides is None:
        return
    skeleton = problem.skeleton
    for port, number in zip(guides.ports, guides.numbers, strict=True):
        region = skeleton.names.index(port.region)
        chosen = np.flatnonzero(skeleton.kinds[skeleton.triangles_of(region)] == number)
        walls = skeleton.walls[region]
        into = -walls.outward[chosen].mean(axis=0) if port.into is None else np.asarray(port.into)
        yield np.average(walls.mesh.centroids[chosen], axis=0, weights=walls.mesh.areas[chosen]), _unit(into)


def _along_wire(wires: Sequence[Wire], place: Real) -> Real:
    """The direction of the straight part of a wire that is nearest to a place."""
    parts = np.concatenate(
        [np.stack([points[:-1], points[1:]], axis=1) for points in (np.asarray(each.points) for each in wires)]
    )
    along = parts[:, 1] - parts[:, 0]
    share = np.clip(np.einsum("ni,ni->n", place - parts[:, 0], along) / (along**2).sum(axis=1), 0, 1)
    distance = np.linalg.norm(parts[:, 0] + share[:, None] * along - place, axis=1)
    return np.asarray(along[distance.argmin()])


def _centre(mesh: TriangleMesh, tags: Any) -> Real:
    """The centroid of the triangles of tags."""
    own = np.isin(mesh.tags, mesh.tag_numbers(tags))
    return np.asarray(np.average(mesh.centroids[own], axis=0, weights=mesh.areas[own]))


def _unit(vector: Real) -> Real:
    return np.asarray(vector / np.linalg.norm(vector))
