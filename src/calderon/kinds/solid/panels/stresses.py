"""Panels of stresses and displacements on the surface of a solid."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.formulations.elastic.material import von_mises
from calderon.kinds.solid.panels.conditions import force_text
from calderon.kinds.solid.results import SolidResults
from calderon.kinds.solid.scenes import seen, solid_scene, view_of
from calderon.report import Sheet, panel
from calderon.report.formatting import Column, number
from calderon.spaces.field_file import write_fields


@panel("parts")
def numbers(results: SolidResults, sheet: Sheet) -> None:
    """The largest stress, displacement and principal stresses, and the factor of safety."""
    units, largest, (furthest, where) = results.units, results.largest, results.furthest
    if len(results.load_cases) > 1:
        sheet.headline(f"load case of {len(results.load_cases)} with the largest stress", results.load_case)
    value, place = largest.away if largest.edge else (largest.value, largest.place)
    away = " away from edges where it has no limit" if largest.edge else ""
    sheet.headline(f"largest von Mises stress{away}, at {results.place(place)}", *units.shown("stress", value))
    if largest.edge:
        name = f"on {largest.edge}, at {results.place(largest.place)}: it grows with every refinement"
        sheet.aside(name, *units.shown("stress", largest.value))
    if results.safety_factor is not None:
        _safety(results, sheet, away)
    sheet.headline(f"largest displacement, at {results.place(where)}", *units.shown("length", furthest))
    outer = float(results.principal.max()), float(results.principal.min())
    sheet.headline("largest principal stress", *units.shown("stress", outer[0]))
    sheet.headline("least principal stress", *units.shown("stress", outer[1]))
    sheet.numbers |= {
        "displacement": {"largest": furthest, "at": where.tolist()},
        "von_mises": {
            "largest": largest.value,
            "at": largest.place.tolist(),
            "no_limit": largest.edge or None,
            "largest_away_from_such_edges": largest.away[0],
            "away_at": largest.away[1].tolist(),
        },
        "principal": {"largest": outer[0], "least": outer[1]},
        "safety_factor": results.safety_factor,
    }
    columns = ["tag", "von Mises, largest", "principal, largest", "principal, least", "all tractions"]
    sheet.table("Stresses by tag", columns, _by_tag(results))


def _safety(results: SolidResults, sheet: Sheet, away: str) -> None:
    """The factor of safety: of one part away from edges at which the stress has no limit, and on them aside."""
    least, largest = results.safety_factor, results.largest
    assert least is not None
    if not away or len(results.parts) > 1:
        sheet.headline("safety factor against yield", number(least))
        return
    sheet.headline("safety factor against yield away from such edges", number(least * largest.value / largest.away[0]))
    sheet.aside(f"safety factor on {largest.edge}", number(least))


@panel("parts")
def fields(results: SolidResults, sheet: Sheet) -> None:
    """The fields as files, their live view, and pictures of displacement, stresses and temperature."""
    sheet.columns("surface.csv", lambda: _columns(results))
    sheet.file("solid.vtu", lambda path: _write_fields(results, path))
    pictures = ("von_mises.png", "deformed.png", "principal_1.png", "principal_3.png", "temperature.png")
    sheet.view(lambda: solid_scene(results, *seen(results)), *pictures)
    common: dict[str, Any] = {"view": view_of(results), "length": results.length[1]}
    _deformed(results, sheet, common)
    _stresses(results, sheet, common)
    if (change := results.temperature) is not None:
        caption = "Temperature on the surface, from that of the state without stress."
        mesh, _ = seen(results)
        sheet.picture(
            "temperature.png",
            caption,
            lambda path: plots.solid(
                mesh, change[mesh.triangles], path, name="change of temperature", unit="K", **common
            ),
        )


def _columns(results: SolidResults) -> list[Column]:
    """At each vertex: displacement, and of the triangles around it the largest von Mises and principal stresses."""
    mesh, base = results.mesh, results.units.base
    count, corners = mesh.number_of_vertices, mesh.triangles
    worst, first, third = np.zeros(count), np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(worst, corners, results.von_mises)
    np.maximum.at(first, corners, results.principal[..., 0])
    np.minimum.at(third, corners, results.principal[..., 2])
    moved = results.displacement
    length, stress = base("length"), base("stress")
    columns: list[Column] = [(f"{'xyz'[k]}_{length}", mesh.vertices[:, k]) for k in range(3)]
    columns += [(f"u{'xyz'[k]}_{length}", moved[:, k]) for k in range(3)]
    columns += [(f"von_mises_{stress}", worst), (f"principal_1_{stress}", first), (f"principal_3_{stress}", third)]
    return columns


def _write_fields(results: SolidResults, path: Path) -> None:
    """Displacement and largest von Mises stress at vertices; traction, stress, principal and von Mises on triangles."""
    mesh, mean = results.mesh, results.mean_stress
    length, stress = results.units.base("length"), results.units.base("stress")
    worst = np.zeros(mesh.number_of_vertices)
    np.maximum.at(worst, mesh.triangles, results.von_mises)
    at_vertices = {f"displacement [{length}]": results.displacement, f"von Mises [{stress}]": worst}
    if results.temperature is not None:
        at_vertices["change of temperature [K]"] = results.temperature
    on_triangles = {
        f"traction [{stress}]": results.traction,
        f"stress [{stress}]": mean.reshape(-1, 9),
        f"principal stresses [{stress}]": np.linalg.eigvalsh(mean)[:, ::-1],
        f"mean von Mises [{stress}]": von_mises(mean),
    }
    write_fields(path, mesh, at_vertices, on_triangles)


def _by_tag(results: SolidResults) -> list[list[str]]:
    rows = []
    for part, solution in results.parts.items():
        mesh = solution.solid.mesh
        for tag, resultant in solution.resultants.items():
            chosen = mesh.tags == mesh.tag_numbers(tag)[0]
            principal = solution.principal_stresses[chosen]
            largest = float(solution.von_mises[chosen].max()), float(principal.max()), float(principal.min())
            stresses = [results.units.text("stress", each) for each in largest]
            rows.append([results.label(part, tag), *stresses, force_text(results, resultant.force)])
    return rows


def _deformed(results: SolidResults, sheet: Sheet, common: dict[str, Any]) -> None:
    """The deformed body, with its displacement."""
    largest, where = results.furthest
    factor, unit = results.units.multiple("length", largest)
    times, scale, text = number(results.factor), results.length[0], results.units.text("length", largest)
    caption = (
        f"Magnitude of the displacement on the deformed body, displacements enlarged {times} times; grey: the edges of "
        f"the undeformed body. Largest: {text}."
    )
    mesh, _ = seen(results)
    sheet.picture(
        "deformed.png",
        caption,
        lambda path: plots.solid(
            mesh, (results.sizes / factor)[mesh.triangles], path, name="displacement", unit=unit,
            displacement=results.displacement / scale, factor=results.factor, title=f"displacements × {times}",
            mark=where / scale, note=text, **common,
        ),
    )  # fmt: skip


def _stresses(results: SolidResults, sheet: Sheet, common: dict[str, Any]) -> None:
    """Von Mises stress with its maximum, and the outer principal stresses."""
    largest, (mesh, order) = results.largest, seen(results)
    factor, unit = results.units.multiple("stress", largest.value)
    text, mark = results.units.text("stress", largest.value), largest.place / results.length[0]
    caption = f"Von Mises stress; ring: the largest, {text} at {results.place(largest.place)}"
    sheet.picture(
        "von_mises.png",
        f"{caption}, on {largest.edge}." if largest.edge else f"{caption}.",
        lambda path: plots.solid(
            mesh, results.von_mises[:, order] / factor, path, name="von Mises stress", unit=unit, mark=mark, note=text,
            **common,
        ),
    )  # fmt: skip
    for index, which in ((0, "largest"), (2, "least")):
        stress = results.principal[:, order, index] / factor
        draw = partial(plots.solid, mesh, stress, name=f"σ{index + 1}", unit=unit, **common)
        sheet.picture(f"principal_{index + 1}.png", f"The {which} principal stress, tension positive.", draw)
