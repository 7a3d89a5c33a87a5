"""Panels of what is computed inside a solid: points, lines and a plane."""

import numpy as np

import calderon.plots as plots
from calderon.kinds.solid.results import Inside, SolidResults
from calderon.kinds.solid.scenes import seen
from calderon.report import Sheet, panel
from calderon.report.formatting import Column, plane_equation

SIX = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("yz", 1, 2), ("xz", 0, 2), ("xy", 0, 1))
"""Names and places of the components of a stress."""


@panel("points")
def points(results: SolidResults, sheet: Sheet) -> None:
    """Displacements and stresses at the requested points."""
    found = results.points
    assert found is not None
    sheet.columns("points.csv", lambda: columns_inside(results, found))
    rows = [
        [
            results.place(found.points[k]),
            results.units.vector("length", found.displacement[k].tolist()),
            results.units.text("stress", float(found.von_mises[k])),
            results.units.vector("stress", found.principal[k].tolist()),
        ]
        for k in range(len(found.points))
    ]
    sheet.table("Points inside", ["point", "displacement", "von Mises", "principal stresses"], rows)


@panel("lines")
def lines(results: SolidResults, sheet: Sheet) -> None:
    """Stresses along lines."""
    for k, line in enumerate(results.lines, start=1):
        _line(results, sheet, line, k)


def _line(results: SolidResults, sheet: Sheet, line: Inside, k: int) -> None:
    named, (scale, length) = results.file.case.output.line[k - 1].name, results.length
    along = np.linalg.norm(line.points - line.points[0], axis=1)
    distance: Column = (f"distance_{results.units.base('length')}", along)
    sheet.columns(f"line_{k}.csv", lambda: [distance, *columns_inside(results, line)])
    factor, unit = results.units.multiple("stress", float(np.abs(line.principal).max()))
    ends = " to ".join(results.place(point) for point in (line.points[0], line.points[-1]))
    curves = {f"σ{i + 1}": line.principal[:, i] / factor for i in range(3)} | {"von Mises": line.von_mises / factor}
    caption, axes = f"Stresses along {named or 'the line'} from {ends}.", (f"distance ({length})", f"stress ({unit})")
    sheet.cartesian(f"line_{k}.png", caption, along / scale, curves, *axes)


@panel("cut")
def cut(results: SolidResults, sheet: Sheet) -> None:
    """Von Mises stress or displacement in a plane."""
    requested = results.file.case.output.slice
    assert results.cut is not None and requested is not None
    points, values = results.cut
    kind, name = ("stress", "von Mises stress") if requested.quantity == "von-mises" else ("length", "displacement")
    factor, unit = results.units.multiple(kind, float(np.nanmax(values)))
    scale, length = results.length
    where = plane_equation(points / scale, length)
    blank = "inside" if results.file.case.solid.exterior else "outside"
    sheet.picture(
        "slice.png",
        f"{name[0].upper()}{name[1:]} in the plane {where}.",
        lambda path: plots.field_slice(
            points / scale, values / factor, seen(results)[0], "real", path, name=name, unit=unit, blank=blank,
            length=length,
        ),
    )  # fmt: skip


def columns_inside(results: SolidResults, found: Inside) -> list[Column]:
    """Points, displacements, stresses, principal and von Mises stresses."""
    length, stress = results.units.base("length"), results.units.base("stress")
    columns: list[Column] = [(f"{'xyz'[k]}_{length}", found.points[:, k]) for k in range(3)]
    columns += [(f"u{'xyz'[k]}_{length}", found.displacement[:, k]) for k in range(3)]
    columns += [(f"s{name}_{stress}", found.stress[:, i, j]) for name, i, j in SIX]
    columns += [(f"principal_{k + 1}_{stress}", found.principal[:, k]) for k in range(3)]
    return [*columns, (f"von_mises_{stress}", found.von_mises)]
