"""Panels that results of several kinds share: a result that has these attributes shows them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calderon.report.formatting import Row, mesh_numbers
from calderon.report.sheet import Panel, Sheet, panel
from calderon.view import Scene


def grouped(count: int) -> str:
    """A count with thin blanks between groups of three digits."""
    return f"{count:,}".replace(",", "\u202f")


@panel("unknowns")
def unknowns(results: Any, sheet: Sheet) -> None:
    sheet.headline("unknowns", grouped(results.unknowns))
    sheet.number("unknowns", results.unknowns)


@panel("second_mesh")
def second_mesh(results: Any, sheet: Sheet) -> None:
    sheet.error(results.second_mesh.meaning, results.second_mesh.error)


@panel("is_unestimated")
def unestimated(results: Any, sheet: Sheet) -> None:
    sheet.hint("estimate the error by a second mesh", "--estimate")


@panel("near_fields")
def near_fields(results: Any, sheet: Sheet) -> None:
    """near_field_NAME.csv, and of grids .vti files."""
    for name, samples in results.near_fields.items():
        for ending in ("csv", "vti") if samples.places.image is not None else ("csv",):
            sheet.file(f"near_field_{name}.{ending}", samples.write)


@panel("file.case.element")
def element(results: Any, sheet: Sheet) -> None:
    """The shape of an element, its lengths, and the height at which it lies."""
    case = results.file.case
    sheet.fact("Element", "shape", case.element.shape)
    sheet.block("Element", lengths_of(case.element.parameters))
    if hasattr(case, "height"):
        sheet.fact("Element", "height", f"{1e3 * case.height:g}", "mm")


@panel("metal")
def metal(results: Any, sheet: Sheet) -> None:
    mesh = results.metal
    sheet.number("mesh", mesh_numbers(mesh))
    sheet.fact("Mesh", "triangles", mesh.number_of_triangles)
    edges = mesh.edge_lengths
    sheet.fact("Mesh", "edges", f"{1e3 * edges.min():.3g} to {1e3 * edges.max():.3g}", "mm")


def lengths_of(parameters: Mapping[str, float | int]) -> list[Row]:
    """The lengths of a shape, in mm."""
    return [
        (name.replace("_", " "), *((str(value), "") if name == "cells" else (f"{1e3 * value:g}", "mm")))
        for name, value in parameters.items()
    ]


@dataclass(frozen=True)
class ShownCurrent:
    """A surface current in a report: the function, the caption of its picture, the live view, and what draws it."""

    function: Any
    caption: str
    scene: Callable[[], Scene]
    draw: Callable[[Path], object]


@panel("current")
def current(results: Any, sheet: Sheet) -> None:
    shown = results.current
    sheet.file("current.vtu", shown.function.write)
    sheet.view(shown.scene, "current.png")
    sheet.picture("current.png", shown.caption, shown.draw)


SHARED: tuple[Panel[Any], ...] = (
    unknowns,
    second_mesh,
    unestimated,
    near_fields,
    element,
    metal,
    current,
    Panel("equation", ("equation",), lambda results, sheet: sheet.equation(results.equation)),
    Panel("solver", ("solver_record",), lambda results, sheet: sheet.record("Solver", results.solver_record)),
    Panel("board", ("file.case.stack",), lambda results, sheet: sheet.record("Board", str(results.file.case.stack))),
)
"""In the order in which they appear."""
