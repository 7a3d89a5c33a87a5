"""The page on a solid: the first numbers, a sentence and tables, all with units."""

from dataclasses import replace
from typing import Any

import numpy as np

from calderon.case.solid import CONSTANTS, Load
from calderon.formulations.elastic.balance import Resultant
from calderon.report.formatting import Row, number
from calderon.report.page import blocks, equation, wide_table
from calderon.report.solid.results import SolidResults
from calderon.report.solid.units import signed

EQUATION = "(1/2 + K) u = V t  (Somigliana's identity on the surface, Galerkin's method)"
VALUES = {
    "traction": "stress", "pressure": "stress", "force": "force", "moment": "moment", "gravity": "acceleration",
    "rotation": "angular velocity", "remote-stress": "stress",
}  # fmt: skip
"""The kind of quantity of each kind of load."""


def place_text(point: Any, length: str) -> str:
    """Coordinates of a point: "(0.1, 0, −2) mm"."""
    scale = max(float(np.abs(point).max()), 1e-300)
    shown = (signed(0.0 if abs(x) < 1e-6 * scale else float(x)) for x in point)
    return f"({', '.join(shown)}) {length}"


def headlines(results: SolidResults, seconds: dict[str, float]) -> list[Row]:
    """Name, value, unit."""
    solution, units, largest = results.solution, results.units, results.largest
    length, bounded = units.base("length"), not results.file.case.solid.exterior
    furthest, where = results.furthest
    rows: list[Row] = [
        (f"largest von Mises stress, at {place_text(largest.place, length)}", *units.shown("stress", largest.value))
    ]
    if largest.edge:
        away = f"largest away from edges without limit, at {place_text(largest.away[1], length)}"
        rows.append((away, *units.shown("stress", largest.away[0])))
    rows.append((f"largest displacement, at {place_text(where, length)}", *units.shown("length", furthest)))
    principal = solution.principal_stresses
    rows.append(("largest principal stress", *units.shown("stress", float(principal.max()))))
    rows.append(("least principal stress", *units.shown("stress", float(principal.min()))))
    if results.file.case.material.yield_strength is not None:
        rows.append(("safety factor against yield", number(solution.safety_factor), ""))
        if largest.edge:
            strength = results.file.case.material.yield_strength
            rows.append(("the same away from such edges", number(strength / largest.away[0]), ""))
    for tag, reaction in solution.reactions.items():
        size = float(np.linalg.norm(reaction.force))
        if size > 1e-5 * solution.solid.applied[1]:
            rows.append((f"reaction of “{tag}”", *units.shown("force", size)))
    if bounded:
        rows.append(("strain energy", *units.shown("energy", solution.strain_energy)))
        rows.append(("force out of balance", _percent(results.imbalance), "% of the loads"))
    rows.append(("unknowns", f"{_unknowns(results):,}".replace(",", "\u202f"), ""))
    rows.append(("computing and drawing", f"{sum(seconds.values()):.1f}", "s"))
    return rows


def _percent(part: float) -> str:
    return "0" if part < 1e-10 else f"{100 * part:.2g}"


def _unknowns(results: SolidResults) -> int:
    conditions = results.solution.solid.conditions
    return int(conditions.free.shape[1] + conditions.bound.shape[1])


def subtitle(results: SolidResults) -> str:
    case = results.file.case
    source = case.mesh.file or case.mesh.sample or case.mesh.shape
    material = f"{case.material.name}, " if case.material.name else ""
    modulus = results.units.text("modulus", case.material.youngs_modulus)
    side = ", the solid around the surface" if case.solid.exterior else ""
    return f"Mesh “{source}”{side}; {material}E = {modulus}, ν = {case.material.poissons_ratio:g}."


def tables(results: SolidResults, summary: dict[str, Any]) -> str:
    case, units = results.file.case, results.units
    named = [("Material", _material(results)), ("Mesh", _mesh(results)), ("Equations", _equations(results))]
    if not case.solid.exterior:
        named.insert(0, ("Balance", _balance(results)))
    loads = wide_table("Loads", ["tag", "kind", "value", "resultant force"], _loads(results)) if case.load else ""
    held = ["tag", "kind", "reaction force", "moment about the origin"]
    supports = wide_table("Supports", held, _supports(results)) if case.support else ""
    columns = ["tag", "von Mises, largest", "principal, largest", "principal, least", "all tractions"]
    by_tag = wide_table("Stresses by tag", columns, _by_tag(results))
    inside = ""
    if results.points is not None:
        columns = ["point", "displacement", "von Mises", "principal stresses"]
        found = results.points
        rows = [
            [
                place_text(found.points[k], units.base("length")),
                units.vector("length", found.displacement[k].tolist()),
                units.text("stress", float(found.von_mises[k])),
                units.vector("stress", found.principal[k].tolist()),
            ]
            for k in range(len(found.points))
        ]
        inside = wide_table("Points inside", columns, rows)
    return loads + supports + by_tag + inside + blocks(named) + equation(str(EQUATION))


def volume_loads(results: SolidResults) -> str:
    """The loads of the whole body in words, empty without any."""
    loads = (f"{one.kind} {_value(results, one)}" for one in results.file.case.load if one.tag is None)
    return "; ".join(loads)


def _loads(results: SolidResults) -> list[list[str]]:
    rows = []
    solid = results.solution.solid
    for one in results.file.case.load:
        force = ""
        if one.tag is not None:
            alone = replace(solid, supports={}, loads={one.tag: one.condition}, body=())
            force = _force(results, alone.applied[0])
        elif one.kind in ("gravity", "rotation"):
            alone = replace(solid, supports={}, loads={}, body=[one.condition])
            force = _force(results, alone.applied[0])
        rows.append(["whole body" if one.tag is None else str(one.tag), one.kind, _value(results, one), force])
    return rows


def _force(results: SolidResults, resultant: Resultant) -> str:
    return results.units.vector("force", resultant.force.tolist(), results.solution.solid.applied[1])


def _value(results: SolidResults, load: Load) -> str:
    units = results.units
    match load.kind:
        case "pressure":
            assert load.pressure is not None
            return units.text("stress", load.pressure)
        case "gravity":
            assert load.acceleration is not None
            return units.vector("acceleration", list(load.acceleration))
        case "rotation":
            assert load.angular_velocity is not None
            rpm = f"{load.angular_velocity * 30 / np.pi:.5g}"
            return f"{units.text('angular velocity', load.angular_velocity)} ({rpm} rpm)"
        case "temperature":
            return f"{load.change:+g} K"
        case "remote-stress":
            assert load.stress is not None
            return units.vector("stress", list(load.stress)) + " (xx, yy, zz, yz, xz, xy)"
    return units.vector(VALUES[load.kind], list(getattr(load, load.kind)))


def _supports(results: SolidResults) -> list[list[str]]:
    units, mesh = results.units, results.mesh
    rows = []
    size = results.solution.solid.applied[1]
    for tag, reaction in results.solution.reactions.items():
        number_of = int(mesh.tag_numbers(tag)[0])
        kinds = [one.kind for one in results.file.case.support if int(mesh.tag_numbers(one.tag)[0]) == number_of]
        force = units.vector("force", reaction.force.tolist(), size)
        moment = units.vector("moment", reaction.moment.tolist(), size * mesh.diameter)
        rows.append([str(tag), ", ".join(kinds), force, moment])
    return rows


def _by_tag(results: SolidResults) -> list[list[str]]:
    mesh, solution, units = results.mesh, results.solution, results.units
    rows = []
    for tag, resultant in solution.resultants.items():
        chosen = mesh.tags == mesh.tag_numbers(tag)[0]
        principal = solution.principal_stresses[chosen]
        rows.append(
            [
                str(tag),
                units.text("stress", float(solution.von_mises[chosen].max())),
                units.text("stress", float(principal.max())),
                units.text("stress", float(principal.min())),
                _force(results, resultant),
            ]
        )
    return rows


def _balance(results: SolidResults) -> list[Row]:
    solution, units = results.solution, results.units
    applied, size = solution.solid.applied
    arm = size * results.mesh.diameter
    reaction = sum((each.force for each in solution.reactions.values()), np.zeros(3))
    return [
        ("all loads", units.vector("force", applied.force.tolist(), size), ""),
        ("their moment about the origin", units.vector("moment", applied.moment.tolist(), arm), ""),
        ("all reactions", units.vector("force", reaction.tolist(), size), ""),
        ("force out of balance", _percent(results.imbalance), "% of the loads"),
        ("strain energy", *units.shown("energy", solution.strain_energy)),
    ]


def _material(results: SolidResults) -> list[Row]:
    given, units = results.file.case.material, results.units
    rows: list[Row] = [("material", given.name, "")] if given.name else []
    rows.append(("Young's modulus E", *units.shown("modulus", given.youngs_modulus)))
    rows.append(("Poisson's ratio ν", f"{given.poissons_ratio:g}", ""))
    if given.density is not None and "density" in {CONSTANTS.get(one.kind) for one in results.file.case.load}:
        rows.append(("density", number(given.density), units.base("density")))
    if given.expansion is not None:
        rows.append(("thermal expansion", f"{given.expansion:g}", "1/K"))
    if given.yield_strength is not None:
        rows.append(("yield strength", *units.shown("stress", given.yield_strength)))
    return rows


def _mesh(results: SolidResults) -> list[Row]:
    mesh, base = results.mesh, results.units.base
    return [
        ("triangles", str(mesh.number_of_triangles), ""),
        ("vertices", str(mesh.number_of_vertices), ""),
        ("area", number(float(mesh.areas.sum())), base("area")),
        ("volume", number(abs(float(mesh.volume))), base("volume")),
        ("mean edge length", number(float(mesh.mean_edge_length)), base("length")),
    ]


def _equations(results: SolidResults) -> list[Row]:
    info, space = results.solution.info, results.file.case.solid.space
    rows: list[Row] = [
        ("displacements, tractions", {"P1": "P1, P0", "P2": "P2, DP1"}[space], ""),
        ("unknowns", str(_unknowns(results)), ""),
        ("matrix", info.plan.split(":")[0], ""),
        ("solver", info.solver, ""),
        ("error of rigid rotations", f"{info.rotation_error:.1e}", ""),
        ("assembly", f"{info.assembly_seconds:.2f}", "s"),
        ("solution", f"{info.solve_seconds:.2f}", "s"),
    ]
    if info.free_tags:
        rows.append(("free faces", ", ".join(info.free_tags), ""))
    if info.free_motions:
        rows.append(("rigid motions removed", str(info.free_motions), ""))
    return rows
