"""A layout of polygons (GDSII) between layers of dielectrics, as a mesh, regions and electrodes.

Polygons of each layer are united and extruded to its heights; polygons of metal that touch, in one layer or in layers
whose heights touch, are one net. The mesh is that of `cal.mesh.solids`, with common vertices at all walls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.statics.files.gds import Drawing, driver, read_gds
from calderon.formulations.statics.files.layout_stack import LayoutLayer, LayoutStack
from calderon.formulations.statics.region import Region
from calderon.mesh import Solid, TriangleMesh, solids
from calderon.mesh.faces.names import PAIR
from calderon.validation import instance

GAP = 2.0
"""Distance up to which polygons touch, in grids of the file."""
MARGIN = 2.0
"""By how much layers without a number reach over all polygons, in heights of the stack."""
Layout = tuple[TriangleMesh, dict[str, Region], dict[str, str], Region]


@dataclass(frozen=True, eq=False)
class Piece:
    """A connected polygon of a layer; polygon, grown: gdstk.Polygon in the unit of the file, as it is and larger by
    the distance at which others touch it."""

    layer: LayoutLayer
    polygon: Any
    grown: list[Any]
    box: NDArray[np.float64]


def read_layout(path: str | Path, stack: LayoutStack | str | Path, h: float, cell: str | None = None) -> Layout:
    """The mesh, regions, electrodes and what is outside, of a cell of a layout; as `StaticProblem.from_layout`."""
    given = LayoutStack.read(stack) if isinstance(stack, str | Path) else stack
    instance(given, LayoutStack, "stack is a LayoutStack, or the path of its .toml file")
    drawing = read_gds(path, cell)
    try:
        pieces = _pieces(drawing, given)
        named = _nets(drawing, given, pieces)
        return _meshed(drawing, given, pieces, named, h)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _pieces(drawing: Drawing, stack: LayoutStack) -> list[Piece]:
    """Polygons of all layers with a number, and of planes of metal without one; ValueError for unknown layers."""
    gdstk, found = driver(), []
    own: dict[str, list[Any]] = {}
    for (number, datatype), polygons in sorted(drawing.polygons.items()):
        fits = [each for each in stack.layers if each.number == number and each.datatype in (None, datatype)]
        if fits:
            own.setdefault(fits[0].name, []).extend(gdstk.Polygon(each) for each in polygons)
        elif number not in stack.ignored:
            known = sorted({str(each.number) for each in stack.layers if each.number is not None})
            raise ValueError(
                f"layer {number}, datatype {datatype}, has polygons ({len(polygons)}), and the stack has layers "
                f"{', '.join(known) or 'without numbers'}: add one, or name the number in ignored"
            )
    if not own:
        raise ValueError("no layer of the stack has a polygon of this cell")
    corners = np.concatenate([each.points for every in own.values() for each in every])
    margin = (MARGIN * (stack.top - stack.bottom) if stack.margin is None else stack.margin) / drawing.unit
    low, high = corners.min(axis=0) - margin, corners.max(axis=0) + margin
    for layer in stack.layers:
        if layer.number is None:
            united = [gdstk.rectangle(tuple(low), tuple(high))]
        else:
            united = gdstk.boolean(own.get(layer.name, []), [], "or", drawing.grid)
        for each in united:
            grown = gdstk.offset(each, GAP / 2 * drawing.grid, "miter", 2, drawing.grid / 10)
            found.append(Piece(layer, each, grown, np.array(each.bounding_box())))
    return found


def _touch(one: Piece, other: Piece, grid: float) -> bool:
    """Whether two polygons of metal have a point in common."""
    if not one.layer.overlaps(other.layer, touching=True):
        return False
    return bool(driver().boolean(one.grown, other.grown, "and", grid / 10))


def _nets(drawing: Drawing, stack: LayoutStack, pieces: Sequence[Piece]) -> dict[int, str]:
    """The name of the net of each piece of metal, by its number; ValueError for nets without a name, or with two."""
    metal = [n for n, each in enumerate(pieces) if each.layer.metal]
    boxes = np.array([pieces[n].box for n in metal]).reshape(-1, 2, 2)
    pairs = []
    for place, box in enumerate(boxes):
        near = (boxes[:, 0] <= box[1] + GAP * drawing.grid).all(1) & (boxes[:, 1] >= box[0] - GAP * drawing.grid).all(1)
        for other in np.flatnonzero(near[:place]).tolist():
            if _touch(pieces[metal[place]], pieces[metal[other]], drawing.grid):
                pairs.append((place, other))
    rows, columns = np.array(pairs, int).reshape(-1, 2).T
    links = sp.coo_array((np.ones(len(rows)), (rows, columns)), (len(metal), len(metal)))
    net = sp.csgraph.connected_components(links, directed=False)[1]
    names: dict[int, str] = {}
    for place, n in enumerate(metal):
        if pieces[n].layer.number is None:
            _name(names, int(net[place]), pieces[n].layer.name)
    numbers = {each.number for each in stack.layers if each.metal}
    for number, name, where in drawing.labels:
        if number not in numbers:
            continue
        under = [
            at for at, n in enumerate(metal)
            if pieces[n].layer.number == number and driver().inside([tuple(where)], pieces[n].grown)[0]
        ]  # fmt: skip
        if not under:
            raise ValueError(f"the label {name!r} at {_at(where)} lies on no polygon of its layer {number}: move it")
        _name(names, int(net[under[0]]), name)
    for place, n in enumerate(metal):
        if net[place] not in names:
            raise ValueError(
                f"the metal of {pieces[n].layer.name!r} around {_at(pieces[n].box.mean(axis=0))} has no name: "
                f"put a label into layer {pieces[n].layer.number} at a place on its net"
            )
    return {n: names[int(net[place])] for place, n in enumerate(metal)}


def _name(names: dict[int, str], net: int, name: str) -> None:
    if names.setdefault(net, name) != name:
        raise ValueError(
            f"{names[net]!r} and {name!r} are labels of one net: its polygons touch, is it a short circuit?"
        )


def _at(place: NDArray[np.float64]) -> str:
    return f"({place[0]:g}, {place[1]:g}) in units of the file"


def _meshed(drawing: Drawing, stack: LayoutStack, pieces: Sequence[Piece], named: dict[int, str], h: float) -> Layout:
    """The layout of pieces with the names of their nets."""
    bodies: dict[str, list[Solid]] = {}
    order = sorted(range(len(pieces)), key=lambda n: (pieces[n].layer.metal, pieces[n].layer.number is not None))
    layers = {each.name for each in stack.layers if not each.metal}
    for n in order:
        layer = pieces[n].layer
        name = named.get(n, layer.name)
        if (n in named and name in layers) or PAIR in name or name in ("", "outside", "all"):
            raise ValueError(
                f"{name!r} is no name of a net or a layer: choose one without {PAIR!r}, not 'outside' or 'all', and "
                "for a net none of a dielectric layer"
            )
        for outline in _outlines(pieces[n].polygon):
            bodies.setdefault(name, []).append(Solid.prism(drawing.unit * outline, layer.bottom, layer.height))
    mesh = solids(bodies, h)
    regions = {
        each.name: Region(each.name, permittivity=each.permittivity)
        for each in stack.layers if not each.metal and each.name in bodies
    }  # fmt: skip
    electrodes = {name: name for name in dict.fromkeys(named.values())}
    return mesh, regions, electrodes, Region(permittivity=stack.permittivity)


def _outlines(polygon: Any) -> list[NDArray[np.float64]]:
    """Corners (n, 2) of a polygon, in parts without holes, which one outline surrounds twice: cut at all heights of
    corners if a corner is there twice."""
    points = np.asarray(polygon.points)
    if len(np.unique(points, axis=0)) == len(points):
        return [points]
    heights = np.unique(points[:, 1])
    strips = driver().slice(polygon, heights[1:-1].tolist(), "y", 1e-6 * float(np.ptp(heights)))
    parts = [np.asarray(each.points) for strip in strips for each in strip]
    return [each for each in parts if _area(each) > 1e-12 * np.ptp(heights) ** 2]


def _area(points: NDArray[np.float64]) -> float:
    closed = [*points, points[0]]
    return abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in pairwise(closed))) / 2
