"""Panels of supports and loads: what is given, what they bear, and whether the forces balance."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.formulations.elastic.conditions.rigid_motions import Resultant
from calderon.formulations.elastic.conditions.surface_conditions import faces_of
from calderon.kinds.solid.model import LOADS, Load, Support
from calderon.kinds.solid.results import SolidResults
from calderon.kinds.solid.scenes import seen, view_of
from calderon.mesh import TriangleMesh
from calderon.report import Sheet, panel
from calderon.report.formatting import Column, Row

FACES = "Faces by name, in the colours of the list; point for the name, its tag without one."


def percent(part: float) -> str:
    """A part as a percentage with two digits; 0 for rounding errors."""
    return "0" if part < 1e-10 else f"{100 * part:.2g}"


@panel("parts")
def conditions(results: SolidResults, sheet: Sheet) -> None:
    """Loads and supports as tables, and a picture of them."""
    case = results.file.case
    if case.load:
        sheet.table("Loads", ["tag", "kind", "value", "resultant force"], _loads(results))
    if case.support:
        held = ["tag", "kind", "reaction force", "moment about the origin"]
        sheet.table("Supports", held, _supports(results))
    whole = "; ".join(f"{one.kind} {_value(results, one)}" for one in results.loads if one.tag is None)
    caption = "Mesh, supports and loads; arrows in proportion to the tractions."
    sheet.picture(
        "conditions.png",
        caption + (f" Whole body: {whole}." if whole else ""),
        lambda path: plots.conditions(
            seen(results)[0], *_shown(results), path, view=view_of(results), length=results.length[1]
        ),
    )
    shown, _ = seen(results)
    if len(shown.faces()) > 1 and len(set(shown.tags.tolist())) > 1:
        bare = not case.support and all(one.tag is None for one in results.loads)  # the picture shows the mesh alone
        caption = f"{FACES} Whole body: {whole}." if bare and whole else FACES
        sheet.view(
            lambda: replace(shown.scene(), length=results.length[1], caption=caption),
            *(("conditions.png",) if bare else ()),
        )


@panel("parts")
def forces(results: SolidResults, sheet: Sheet) -> None:
    """Reactions and resultants of tags."""
    for tag, reaction in results.reactions.items():
        size = float(np.linalg.norm(reaction.force))
        if size > 1e-5 * results.applied[1]:
            sheet.headline(f"reaction of “{tag}”", *results.units.shown("force", size))
    sheet.numbers |= {
        "resultants": {str(tag): _numbers(each) for tag, each in results.resultants.items()},
        "reactions": {str(tag): _numbers(each) for tag, each in results.reactions.items()},
    }
    sheet.columns("resultants.csv", lambda: _resultants(results))


def _numbers(resultant: Resultant) -> dict[str, Any]:
    return {"force": resultant.force.tolist(), "moment": resultant.moment.tolist()}


def _resultants(results: SolidResults) -> list[Column]:
    """All tractions of each tag, and the reaction of each support, which leaves out the loads there."""
    force, moment = (results.units.base(kind).replace(" ", "_") for kind in ("force", "moment"))
    rows = [("all tractions", str(tag), each) for tag, each in results.resultants.items()]
    rows += [("reaction", str(tag), each) for tag, each in results.reactions.items()]
    columns: list[Column] = [("what", [what for what, _, _ in rows]), ("tag", [tag for _, tag, _ in rows])]
    for axis in range(3):
        columns.append((f"force_{'xyz'[axis]}_{force}", [float(each.force[axis]) for _, _, each in rows]))
    for axis in range(3):
        columns.append((f"moment_{'xyz'[axis]}_{moment}", [float(each.moment[axis]) for _, _, each in rows]))
    return columns


@panel("parts")
def balanced(results: SolidResults, sheet: Sheet) -> None:
    """Energy, and the force that loads and reactions leave."""
    if results.strain_energy is not None:
        sheet.headline("strain energy", *results.units.shown("energy", results.strain_energy))
    bounded = not results.file.case.solid.exterior
    sheet.numbers |= {
        "force_out_of_balance": results.imbalance if bounded else None,
        "traction_error": results.traction_error if bounded else None,
        "strain_energy": results.strain_energy,
    }
    if bounded:
        sheet.headline("force out of balance", percent(results.imbalance), "% of the loads")
        sheet.block("Balance", _balance(results))


@panel("load_cases")
def load_cases(results: SolidResults, sheet: Sheet) -> None:
    """The largest stress, the largest displacement and the reactions of each load case."""
    sheet.numbers |= {"load_case": results.load_case or None, "load_cases": _numbers_of_cases(results)}
    if len(results.load_cases) < 2:
        return
    units, rows = results.units, []
    for name, parts in results.load_cases.items():
        stress, place = max((each.largest_stress for each in parts.values()), key=lambda found: found[0])
        moved = max(float(np.linalg.norm(s.displacement.on_mesh()[1], axis=1).max()) for s in parts.values())
        size = sum(each.solid.applied[1] for each in parts.values())
        forces = (
            f"{results.label(part, tag)} {units.vector('force', reaction.force.tolist(), size)}"
            for part, solution in parts.items()
            for tag, reaction in solution.reactions.items()
        )
        length = units.text("length", moved)
        rows.append([name, units.text("stress", stress), results.place(place), length, ", ".join(forces)])
    columns = ["load case", "largest von Mises stress", "at", "largest displacement", "reactions"]
    sheet.table("Load cases", columns, rows)


def _numbers_of_cases(results: SolidResults) -> dict[str, Any]:
    return {
        name: {
            "largest_von_mises": max(each.largest_stress[0] for each in parts.values()),
            "reactions": {
                results.label(part, tag): _numbers(found)
                for part, each in parts.items()
                for tag, found in each.reactions.items()
            },
        }
        for name, parts in results.load_cases.items()
        if name
    }


def _loads(results: SolidResults) -> list[list[str]]:
    rows = []
    for one in results.loads:
        forces = []
        for solution in results.parts.values():
            solid, numbers = solution.solid, solution.solid.mesh.tags
            if one.kind == "bolt":
                forces.append(Resultant(np.zeros(3), np.zeros(3)))  # of both faces together
            elif (
                one.tag is not None
                and (solid.mesh.names.get(one.tag) if isinstance(one.tag, str) else one.tag) in numbers
            ):
                forces.append(replace(solid, supports={}, loads={one.tag: one.condition}, body=()).applied[0])
            elif one.kind in ("gravity", "rotation"):
                forces.append(replace(solid, supports={}, loads={}, body=[one.condition]).applied[0])
        force = force_text(results, np.sum([each.force for each in forces], axis=0)) if forces else ""
        rows.append(["whole body" if one.tag is None else str(one.tag), one.kind, _value(results, one), force])
    return rows


def force_text(results: SolidResults, force: NDArray[np.float64]) -> str:
    """A force, components that are rounding errors of the loads as 0."""
    return results.units.vector("force", force.tolist(), results.applied[1])


def _value(results: SolidResults, load: Load) -> str:
    """The value of a load as text."""
    units, kind = results.units, LOADS[load.kind].quantity
    match load.kind:
        case "pressure":
            assert load.pressure is not None
            return units.text(kind, load.pressure)
        case "bolt":
            assert load.preload is not None
            return f"{units.text('force', load.preload)} between {load.tag} and {load.other}"
        case "rotation":
            assert load.angular_velocity is not None
            rpm = f"{load.angular_velocity * 30 / np.pi:.5g}"
            return f"{units.text('angular velocity', load.angular_velocity)} ({rpm} rpm)"
        case "temperature":
            return f"{load.change:+g} K"
        case "steady-temperature":
            known = [f"{tag} {value:g}" for tag, value in (load.temperatures or {}).items()]
            heat = [
                f"heat through {tag} {value:g} {units.base('heat flux')}" for tag, value in (load.heat or {}).items()
            ]
            return ", ".join([*known, *heat, f"free of stress at {load.reference or 0:g}"])
        case "remote-stress":
            assert load.stress is not None
            return units.vector("stress", list(load.stress)) + " (xx, yy, zz, yz, xz, xy)"
    return units.vector(kind, list(getattr(load, LOADS[load.kind].needed[-1])))


def _supports(results: SolidResults) -> list[list[str]]:
    rows, size = [], results.applied[1]
    for part, solution in results.parts.items():
        mesh = solution.solid.mesh
        for tag, reaction in solution.reactions.items():
            same = {tag, mesh.names.get(tag, tag)}
            kinds = ", ".join(one.kind for one in results.file.case.support if one.tag in same)
            moment = results.units.vector("moment", reaction.moment.tolist(), size * mesh.diameter)
            rows.append([results.label(part, tag), kinds, force_text(results, reaction.force), moment])
            patches = solution.patch_reactions[tag]
            for centre, each in patches if len(patches) > 1 else ():
                moment = results.units.vector("moment", each.moment.tolist(), size * mesh.diameter)
                where = f"{results.label(part, tag)}, at {results.place(centre)}"
                rows.append([where, "", force_text(results, each.force), moment])
    return rows


def _balance(results: SolidResults) -> list[Row]:
    units = results.units
    applied, size = results.applied
    arm, energy = size * results.mesh.diameter, results.strain_energy
    reaction = sum((each.force for each in results.reactions.values()), np.zeros(3))
    return [
        ("all loads", units.vector("force", applied.force.tolist(), size), ""),
        ("their moment about the origin", units.vector("moment", applied.moment.tolist(), arm), ""),
        ("all reactions", units.vector("force", reaction.tolist(), size), ""),
        ("force out of balance", percent(results.imbalance), "% of the loads"),
        ("force that integrals of the supports' tractions miss", percent(results.traction_error), "% of the loads"),
        *([] if energy is None else [("strain energy", *units.shown("energy", energy))]),
    ]


def _shown(results: SolidResults) -> tuple[dict[str, Any], dict[str, Any]]:
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
