"""The pictures of a solid, each with its caption in the report."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.case.solid import Load, Support
from calderon.formulations.elastic.surface_conditions import faces_of
from calderon.mesh import TriangleMesh
from calderon.report.folder import BestEffort
from calderon.report.formatting import number, plane_equation
from calderon.report.solid.page import place_text, volume_loads
from calderon.report.solid.results import Inside, SolidResults


def draw(results: SolidResults, files: BestEffort) -> None:
    """Supports and loads, the deformed body, von Mises and principal stresses, lines and a plane."""
    common: dict[str, Any] = {"view": results.file.case.output.view, "length": results.units.base("length")}
    whole = volume_loads(results)
    caption = "Mesh, supports and loads; arrows in proportion to the tractions."
    with files.at("conditions.png", caption + (f" Whole body: {whole}." if whole else "")) as path:
        plots.conditions(_seen(results)[0], *_conditions(results), path, **common)
    _deformed(results, files, common)
    _stresses(results, files, common)
    for k, line in enumerate(results.lines, start=1):
        _line(results, files, line, k)
    if results.cut is not None:
        _cut(results, files)


def _seen(results: SolidResults) -> tuple[TriangleMesh, list[int]]:
    """The surface with normals toward who looks at it, and the order in which it has the corners of triangles: the
    solid around a cavity is looked at from within."""
    mesh = results.mesh
    if not results.file.case.solid.exterior:
        return mesh, [0, 1, 2]
    turned = TriangleMesh(mesh.vertices, mesh.triangles[:, ::-1], mesh.tags, mesh.names)
    return turned, [2, 1, 0]


def _conditions(results: SolidResults) -> tuple[dict[str, Any], dict[str, Any]]:
    """Triangles of supports, and of loads with their tractions, by the texts of the legend."""
    mesh, solid = results.mesh, results.solution.solid
    held, loads = {}, {}
    for tag, (triangles, _) in faces_of(mesh, solid.supports).items():
        mask = np.zeros(len(mesh.triangles), bool)
        mask[triangles] = True
        held[f"{tag}: {_kinds(mesh, results.file.case.support, tag)}"] = mask
    for tag, (triangles, face) in faces_of(mesh, solid.loads).items():
        mask, traction = np.zeros(len(mesh.triangles), bool), np.zeros((len(mesh.triangles), 3))
        mask[triangles] = True
        for load in solid.loads[tag]:
            traction[triangles] += load.traction(face)(face.centroids, face.normals)
        loads[f"{tag}: {_kinds(mesh, results.file.case.load, tag)}"] = (mask, traction)
    return held, loads


def _kinds(mesh: TriangleMesh, tables: Sequence[Support | Load], tag: Any) -> str:
    """The kinds of supports or loads of a tag."""
    number = mesh.tag_numbers(tag)[0]
    kinds = (one.kind for one in tables if one.tag is not None and mesh.tag_numbers(one.tag)[0] == number)
    return ", ".join(dict.fromkeys(kinds))


def _deformed(results: SolidResults, files: BestEffort, common: dict[str, Any]) -> None:
    largest, where = results.furthest
    factor, unit = results.units.multiple("length", largest)
    times = number(results.factor)
    caption = (
        f"Magnitude of the displacement on the deformed body, displacements enlarged {times} times; grey: the edges of "
        f"the undeformed body. Largest: {results.units.text('length', largest)}."
    )
    with files.at("deformed.png", caption) as path:
        moved = results.solution.displacement.on_mesh()[1]
        mesh, _ = _seen(results)
        plots.solid(
            mesh, (results.sizes / factor)[mesh.triangles], path, name="displacement", unit=unit,
            displacement=moved, factor=results.factor, title=f"displacements × {times}", mark=where,
            note=results.units.text("length", largest), **common,
        )  # fmt: skip


def _stresses(results: SolidResults, files: BestEffort, common: dict[str, Any]) -> None:
    """Von Mises stress with its maximum, and the outer principal stresses."""
    solution, largest = results.solution, results.largest
    factor, unit = results.units.multiple("stress", largest.value)
    length = common["length"]
    caption = f"Von Mises stress; ring: the largest, {results.units.text('stress', largest.value)} at "
    caption += f"{place_text(largest.place, length)}" + (f", on {largest.edge}." if largest.edge else ".")
    with files.at("von_mises.png", caption) as path:
        mesh, order = _seen(results)
        plots.solid(
            mesh, solution.von_mises[:, order] / factor, path, name="von Mises stress", unit=unit, mark=largest.place,
            note=results.units.text("stress", largest.value), **common,
        )  # fmt: skip
    for index, which in ((0, "largest"), (2, "least")):
        mesh, order = _seen(results)
        stress = solution.principal_stresses[:, order, index] / factor
        with files.at(f"principal_{index + 1}.png", f"The {which} principal stress, tension positive.") as path:
            plots.solid(mesh, stress, path, name=f"σ{index + 1}", unit=unit, **common)


def _line(results: SolidResults, files: BestEffort, line: Inside, k: int) -> None:
    named = results.file.case.output.line[k - 1].name
    factor, unit = results.units.multiple("stress", float(np.abs(line.principal).max()))
    length = results.units.base("length")
    ends = " to ".join(place_text(point, length) for point in (line.points[0], line.points[-1]))
    with files.at(f"line_{k}.png", f"Stresses along {named or 'the line'} from {ends}.") as path:
        curves = {f"σ{i + 1}": line.principal[:, i] / factor for i in range(3)} | {"von Mises": line.von_mises / factor}
        along = np.linalg.norm(line.points - line.points[0], axis=1)
        plots.cartesian(along, curves, f"distance ({length})", f"stress ({unit})", path)


def _cut(results: SolidResults, files: BestEffort) -> None:
    assert results.cut is not None
    requested = results.file.case.output.slice
    assert requested is not None
    points, values = results.cut
    kind, name = ("stress", "von Mises stress") if requested.quantity == "von-mises" else ("length", "displacement")
    factor, unit = results.units.multiple(kind, float(np.nanmax(values)))
    length = results.units.base("length")
    where = plane_equation(points).removesuffix(" m") + f" {length}"
    with files.at("slice.png", f"{name[0].upper()}{name[1:]} in the plane {where}.") as path:
        blank = "inside" if results.file.case.solid.exterior else "outside"
        plots.field_slice(
            points, values / factor, results.mesh, "real", path, name=name, unit=unit, blank=blank, length=length
        )
