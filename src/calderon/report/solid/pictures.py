"""The pictures of a solid, each with its caption in the report."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.case.solid import Load, Support
from calderon.formulations.elastic.conditions.surface_conditions import faces_of
from calderon.mesh import TriangleMesh
from calderon.report.folder import BestEffort
from calderon.report.formatting import number, plane_equation
from calderon.report.solid.page import volume_loads
from calderon.report.solid.results import Inside, SolidResults
from calderon.report.solid.scenes import solid_scene

VIEWS = [tuple(np.radians(each)) for each in ((-58, 24), (32, 24), (122, 24), (212, 24), (-58, -24), (122, -24))]
"""Azimuth and elevation of the eye, the first as of view "iso"."""


def draw(results: SolidResults, files: BestEffort) -> None:
    """Supports and loads, the deformed body, von Mises and principal stresses, lines and a plane."""
    common: dict[str, Any] = {"view": _view(results), "length": results.length[1]}
    whole = volume_loads(results)
    caption = "Mesh, supports and loads; arrows in proportion to the tractions."
    with files.at("conditions.png", caption + (f" Whole body: {whole}." if whole else "")) as path:
        plots.conditions(_seen(results)[0], *_conditions(results), path, **common)
    files.view(
        lambda: solid_scene(results, *_seen(results)),
        "von_mises.png", "deformed.png", "principal_1.png", "principal_3.png", "temperature.png",
    )  # fmt: skip
    _deformed(results, files, common)
    _stresses(results, files, common)
    if results.temperature is not None:
        with files.at("temperature.png", "Temperature on the surface, from that of the state without stress.") as path:
            mesh, _ = _seen(results)
            values = results.temperature[mesh.triangles]
            plots.solid(mesh, values, path, name="change of temperature", unit="K", **common)
    for k, line in enumerate(results.lines, start=1):
        _line(results, files, line, k)
    if results.cut is not None:
        _cut(results, files)


def _seen(results: SolidResults) -> tuple[TriangleMesh, list[int]]:
    """The surface in the unit of pictures, with normals toward who looks at it, and the order in which it has the
    corners of triangles: the solid around a cavity is looked at from within."""
    mesh, factor = results.mesh, results.length[0]
    vertices = mesh.vertices / factor
    if not results.file.case.solid.exterior:
        scaled = TriangleMesh(vertices, mesh.triangles, mesh.tags, mesh.names)
        return scaled.turned((scaled.triangles != mesh.triangles).any(axis=1)), [0, 1, 2]
    return TriangleMesh(vertices, mesh.triangles[:, ::-1], mesh.tags, mesh.names), [2, 1, 0]


def _view(results: SolidResults) -> Any:
    """The requested view, or the first of some from which the largest stress is seen."""
    if (view := results.file.case.output.view) is not None:
        return view
    mesh, place = _seen(results)[0], results.largest.place / results.length[0]
    return next((each for each in VIEWS if plots.is_seen(mesh, place, each)), VIEWS[0])


def _conditions(results: SolidResults) -> tuple[dict[str, Any], dict[str, Any]]:
    """Triangles of supports, and of loads with their tractions, by the texts of the legend."""
    case, count = results.file.case, len(results.mesh.triangles)
    held, loads, first = {}, {}, 0
    for part, solution in results.parts.items():
        solid, mesh = solution.solid, solution.solid.mesh
        for tag, (triangles, _) in faces_of(mesh, solid.supports).items():
            mask = np.zeros(count, bool)
            mask[first + triangles] = True
            held[f"{results.label(part, tag)}: {_kinds(mesh, case.support, tag)}"] = mask
        for tag, (triangles, face) in faces_of(mesh, solid.loads).items():
            mask, traction = np.zeros(count, bool), np.zeros((count, 3))
            mask[first + triangles] = True
            for load in solid.loads[tag]:
                traction[first + triangles] += load.traction(face)(face.centroids, face.normals)
            loads[f"{results.label(part, tag)}: {_kinds(mesh, results.loads, tag)}"] = (mask, traction)
        first += len(mesh.triangles)
    return held, loads


def _kinds(mesh: TriangleMesh, tables: Sequence[Support | Load], tag: Any) -> str:
    """The kinds of supports or loads of a tag."""
    same = {tag, mesh.names.get(tag, tag)}
    return ", ".join(dict.fromkeys(one.kind for one in tables if one.tag in same))


def _deformed(results: SolidResults, files: BestEffort, common: dict[str, Any]) -> None:
    largest, where = results.furthest
    factor, unit = results.units.multiple("length", largest)
    times, scale = number(results.factor), results.length[0]
    caption = (
        f"Magnitude of the displacement on the deformed body, displacements enlarged {times} times; grey: the edges of "
        f"the undeformed body. Largest: {results.units.text('length', largest)}."
    )
    with files.at("deformed.png", caption) as path:
        mesh, _ = _seen(results)
        plots.solid(
            mesh, (results.sizes / factor)[mesh.triangles], path, name="displacement", unit=unit,
            displacement=results.displacement / scale, factor=results.factor, title=f"displacements × {times}",
            mark=where / scale, note=results.units.text("length", largest), **common,
        )  # fmt: skip


def _stresses(results: SolidResults, files: BestEffort, common: dict[str, Any]) -> None:
    """Von Mises stress with its maximum, and the outer principal stresses."""
    largest = results.largest
    factor, unit = results.units.multiple("stress", largest.value)
    caption = f"Von Mises stress; ring: the largest, {results.units.text('stress', largest.value)} at "
    caption += f"{results.place(largest.place)}" + (f", on {largest.edge}." if largest.edge else ".")
    with files.at("von_mises.png", caption) as path:
        mesh, order = _seen(results)
        plots.solid(
            mesh, results.von_mises[:, order] / factor, path, name="von Mises stress", unit=unit,
            mark=largest.place / results.length[0], note=results.units.text("stress", largest.value), **common,
        )  # fmt: skip
    for index, which in ((0, "largest"), (2, "least")):
        mesh, order = _seen(results)
        stress = results.principal[:, order, index] / factor
        with files.at(f"principal_{index + 1}.png", f"The {which} principal stress, tension positive.") as path:
            plots.solid(mesh, stress, path, name=f"σ{index + 1}", unit=unit, **common)


def _line(results: SolidResults, files: BestEffort, line: Inside, k: int) -> None:
    named = results.file.case.output.line[k - 1].name
    factor, unit = results.units.multiple("stress", float(np.abs(line.principal).max()))
    scale, length = results.length
    ends = " to ".join(results.place(point) for point in (line.points[0], line.points[-1]))
    with files.at(f"line_{k}.png", f"Stresses along {named or 'the line'} from {ends}.") as path:
        curves = {f"σ{i + 1}": line.principal[:, i] / factor for i in range(3)} | {"von Mises": line.von_mises / factor}
        along = np.linalg.norm(line.points - line.points[0], axis=1) / scale
        files.chart(path, plots.cartesian(along, curves, f"distance ({length})", f"stress ({unit})", path))


def _cut(results: SolidResults, files: BestEffort) -> None:
    assert results.cut is not None
    requested = results.file.case.output.slice
    assert requested is not None
    points, values = results.cut
    kind, name = ("stress", "von Mises stress") if requested.quantity == "von-mises" else ("length", "displacement")
    factor, unit = results.units.multiple(kind, float(np.nanmax(values)))
    scale, length = results.length
    points = points / scale
    where = plane_equation(points).removesuffix(" m") + f" {length}"
    with files.at("slice.png", f"{name[0].upper()}{name[1:]} in the plane {where}.") as path:
        blank = "inside" if results.file.case.solid.exterior else "outside"
        plots.field_slice(
            points, values / factor, _seen(results)[0], "real", path, name=name, unit=unit, blank=blank, length=length
        )
