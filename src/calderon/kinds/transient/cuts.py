"""Planes through a mesh of tetrahedra: where they lie, the outlines of the parts, and the live view of their fields."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.medium import FREE_SPACE
from calderon.kinds.transient.model import Cut
from calderon.kinds.transient.results import CutField, TransientResults
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedra import FACES
from calderon.plots import cut_triangles
from calderon.report.formatting import frequency_text, time_unit
from calderon.report.scenes import facing, grid, opening
from calderon.view import PART_COLOURS, Field, Scene, Steps, Surface


def cut_points(mesh: TetrahedralMesh, requested: Cut) -> NDArray[np.float64]:
    """(rows, columns, 3) of the requested rectangle; by default around everything that is not air (metal included),
    through its middle, within the mesh's bounding box."""
    whole = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    low, high = body_bounds(mesh)
    margin = 0.35 * (high - low)[requested.axes].max()
    low, high = np.maximum(low - margin, whole[0]), np.minimum(high + margin, whole[1])
    return requested.grid((high - low)[requested.axes], (low + high) / 2)


def body_bounds(mesh: TetrahedralMesh) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Opposite corners of the box around all parts but air, and all inner boundaries; of a mesh of air alone, of
    everything."""
    air = [tag for name, tag in mesh.names.items() if name in FREE_SPACE]
    solid = mesh.tetrahedra[~np.isin(mesh.tags, air)].ravel()
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    corners = mesh.vertices[mesh.faces]
    middle, reach = (low + high) / 2, (high - low).max() / 2
    inner = (np.linalg.norm(corners - middle, axis=2) < 0.9 * reach).all(axis=1)
    vertices = np.concatenate([solid, mesh.faces[inner].ravel()])
    if not len(solid) and not inner.any():
        return low, high
    return mesh.vertices[vertices].min(axis=0), mesh.vertices[vertices].max(axis=0)


def outlines(mesh: TetrahedralMesh, points: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """{name: segments (n, 2, 2)} in metres along the two sides of a cut (rows, columns, 3): the surface of each part
    but air, and each named boundary."""
    found = {name: around_parts(mesh, [name], points) for name in mesh.names if name not in FREE_SPACE}
    for name, tag in mesh.face_names.items():
        found[name] = cut_triangles(mesh.vertices, mesh.faces[mesh.face_tags == tag], points)
    return {name: segments for name, segments in found.items() if len(segments)}


def around_parts(mesh: TetrahedralMesh, names: Collection[str], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Segments (n, 2, 2), as in `outlines`, of the surface of the given parts together: faces between them and others,
    without boundaries of the mesh."""
    tags = [tag for name, tag in mesh.names.items() if name in names]
    across, own = mesh.neighbours, np.isin(mesh.tags, tags)
    skin = own[:, None] & (across >= 0) & ~own[np.maximum(across, 0)]
    return cut_triangles(mesh.vertices, mesh.tetrahedra[:, FACES][skin], points)


UNSEEN = ("outer", "wall", "feed")
"""Boundaries around everything, and the gap of an antenna."""


def cuts_scene(results: TransientResults) -> Scene:
    """Fields on all planes, complex amplitudes or, of a run without them, magnitudes at the times of the frames."""
    moving = results.amplitudes is None and results.cuts[0].frames is not None
    planes = [
        grid(found.points, _fields(found, moving), hidden=number > 0) for number, found in enumerate(results.cuts)
    ]
    parts = _parts(results, opening(results.cuts[0].points))
    steps, times = None, results.cuts[0].times
    if moving and times is not None:
        factor, unit = time_unit(float(times[-1]))
        steps = Steps("time", [f"{time / factor:.3f} {unit}" for time in times], 0)
    at = "" if results.amplitudes is None else f" at {frequency_text(results.amplitudes.frequency)}"
    caption = f"Fields in the planes{at}. The bodies are open there; drag to turn, point at a plane for values."
    names = [each.name for each in planes]
    if len(set(names)) < len(names):
        planes = [replace(each, name=f"{each.name} ({number})") for number, each in enumerate(planes, start=1)]
    eye = facing(opening(results.cuts[0].points)[0])
    return Scene((*planes, *parts), steps=steps, eye=eye, caption=caption)


def _fields(found: CutField, moving: bool) -> list[Field]:
    """The electric field of a plane, and the absorption rate where it is requested."""
    wanted = found.requested.quantity
    if moving and found.frames is not None:
        size = np.linalg.norm(found.frames, axis=3).reshape(len(found.frames), -1)
        first = "db" if wanted == "db" else "real"
        return [Field("electric field", "|E|", "V/m", list(size), quantity=first, depth=60.0)]
    electric = found.electric.reshape(-1, 3)
    fields = [Field("electric field", "E", "V/m", [electric], quantity="abs" if wanted == "abs" else "db", depth=60.0)]
    if found.sar is not None:
        fields.insert(0, _rate(found.sar.ravel()))
    return fields


def _parts(results: TransientResults, plane: tuple[NDArray[np.float64], float]) -> list[Surface]:
    """The skins of parts, with the absorption rate on tissue, and the boundaries within; of a mesh of air alone, what
    encloses it; and the cube with the largest average absorption."""
    mesh, found = results.mesh, results.amplitudes
    named: dict[str, NDArray[np.int64]] = {}
    for name, tag in mesh.names.items():
        if name not in (*FREE_SPACE, *UNSEEN):
            named[name] = mesh.skin(mesh.tags == tag)
    for name, tag in mesh.face_names.items():
        if name not in UNSEEN:
            named[name] = mesh.faces[mesh.face_tags == tag]
    named = {name: faces for name, faces in named.items() if len(faces)} or {"boundary": mesh.faces}
    colours: Any = [PART_COLOURS[k % len(PART_COLOURS)] for k in range(len(named))]
    layers = [
        Surface.of_faces(name, mesh.vertices, faces, colour, open=plane)
        for (name, faces), colour in zip(named.items(), colours, strict=True)
    ]
    if found is None or any(each.frames is not None and each.sar is None for each in results.cuts[:1]):
        return layers
    layers = [_absorbing(results, each, faces) for each, faces in zip(layers, named.values(), strict=True)]
    if found.averaged is not None:
        average = found.averaged
        half, name = average.cube_side / 2, f"{1e3 * average.mass:g} g cube"
        layers.append(Surface.box(name, average.place - half, average.place + half, "#c1121f", opacity=0.55))
    return layers


def _absorbing(results: TransientResults, layer: Surface, faces: NDArray[np.int64]) -> Surface:
    """A part of tissue with its absorption rate at vertices: the mean of its tetrahedra there, weighted by volume."""
    mesh, found = results.mesh, results.amplitudes
    assert found is not None
    if layer.name not in mesh.names:
        return layer
    own = mesh.tags == mesh.names[layer.name]
    rate = found.sar[own]
    if not np.isfinite(rate).all() or not rate.any():
        return layer
    corners, weights = mesh.tetrahedra[own].ravel(), np.repeat(mesh.volumes[own], 4)
    count = len(mesh.vertices)
    sums = np.bincount(corners, weights * np.repeat(rate, 4), count) / np.maximum(
        np.bincount(corners, weights, count), 1e-300
    )
    return replace(layer, fields=(_rate(sums[np.unique(faces)]),))


def _rate(values: NDArray[np.float64]) -> Field:
    return Field("absorption rate (SAR)", "SAR", "W/kg", [values], quantity="real", depth=40.0)
