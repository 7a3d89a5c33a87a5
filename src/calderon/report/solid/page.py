"""The page on a solid: the first numbers, a sentence and tables, all with units."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.case.solid import CONSTANTS, Constants, Load
from calderon.report.formatting import Row, number
from calderon.report.page import blocks, equation, record, wide_table
from calderon.report.solid.results import SolidResults

EQUATION = "(1/2 + K) u = V t  (Somigliana's identity on the surface, Galerkin's method)"
VALUES = {
    "traction": "stress", "pressure": "stress", "force": "force", "moment": "moment", "gravity": "acceleration",
    "rotation": "angular velocity", "remote-stress": "stress",
}  # fmt: skip
"""The kind of quantity of each kind of load."""


def headlines(results: SolidResults, seconds: dict[str, float]) -> list[Row]:
    """Name, value, unit."""
    units, largest = results.units, results.largest
    bounded = not results.file.case.solid.exterior
    furthest, where = results.furthest
    rows: list[Row] = [
        (f"largest von Mises stress, at {results.place(largest.place)}", *units.shown("stress", largest.value))
    ]
    if len(results.load_cases) > 1:
        rows.insert(0, (f"load case of {len(results.load_cases)} with the largest stress", results.load_case, ""))
    if largest.edge:
        named = f"largest away from edges without limit, at {results.place(largest.away[1])}"
        rows.append((named, *units.shown("stress", largest.away[0])))
    rows.append((f"largest displacement, at {results.place(where)}", *units.shown("length", furthest)))
    principal = results.principal
    rows.append(("largest principal stress", *units.shown("stress", float(principal.max()))))
    rows.append(("least principal stress", *units.shown("stress", float(principal.min()))))
    if results.safety_factor is not None:
        rows.append(("safety factor against yield", number(results.safety_factor), ""))
        if largest.edge and len(results.parts) == 1:
            away = results.safety_factor * largest.value / largest.away[0]
            rows.append(("the same away from such edges", number(away), ""))
    for tag, reaction in results.reactions.items():
        size = float(np.linalg.norm(reaction.force))
        if size > 1e-5 * results.applied[1]:
            rows.append((f"reaction of “{tag}”", *units.shown("force", size)))
    if results.strain_energy is not None:
        rows.append(("strain energy", *units.shown("energy", results.strain_energy)))
    if bounded:
        rows.append(("force out of balance", _percent(results.imbalance), "% of the loads"))
    rows.append(("estimated error of displacements, in the mean", _percent(results.estimates[0]), "%"))
    rows.append(("estimated error of surface stresses, in the mean", _percent(results.estimates[1]), "%"))
    rows.append(("unknowns", f"{results.unknowns:,}".replace(",", "\u202f"), ""))
    rows.append(("computing and drawing", f"{sum(seconds.values()):.1f}", "s"))
    return rows


def _percent(part: float) -> str:
    return "0" if part < 1e-10 else f"{100 * part:.2g}"


def subtitle(results: SolidResults) -> str:
    case = results.file.case
    source = case.mesh.file or case.mesh.sample or case.mesh.shape
    side = ", the solid around the surface" if case.solid.exterior else ""
    materials = []
    for name, one in case.materials.items():
        called = ", ".join(filter(None, [name, one.name]))
        modulus = results.units.text("modulus", one.youngs_modulus)
        materials.append(f"{called + ': ' if called else ''}E = {modulus}, ν = {one.poissons_ratio:g}")
    return f"Mesh “{source}”{side}; {'; '.join(materials)}."


def tables(results: SolidResults, summary: dict[str, Any]) -> str:
    case, units = results.file.case, results.units
    materials = [(f"Material {name}".strip(), _material(results, one)) for name, one in case.materials.items()]
    named = [*materials, ("Mesh", _mesh(results)), ("Equations", _equations(results))]
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
                results.place(found.points[k]),
                units.vector("length", found.displacement[k].tolist()),
                units.text("stress", float(found.von_mises[k])),
                units.vector("stress", found.principal[k].tolist()),
            ]
            for k in range(len(found.points))
        ]
        inside = wide_table("Points inside", columns, rows)
    infos = "\n".join(f"{name + ': ' if name else ''}{each.info}" for name, each in results.parts.items())
    return (
        _load_cases(results)
        + loads
        + supports
        + by_tag
        + inside
        + blocks(named)
        + equation(EQUATION)
        + record("Solver", infos)
    )


def _load_cases(results: SolidResults) -> str:
    """The load cases as a table, empty for one."""
    if len(results.load_cases) < 2:
        return ""
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
    return wide_table("Load cases", columns, rows)


def volume_loads(results: SolidResults) -> str:
    """The loads of the whole body as a text, empty without any."""
    loads = (f"{one.kind} {_value(results, one)}" for one in results.loads if one.tag is None)
    return "; ".join(loads)


def _loads(results: SolidResults) -> list[list[str]]:
    rows = []
    for one in results.loads:
        forces = []
        for solution in results.parts.values():
            solid, numbers = solution.solid, solution.solid.mesh.tags
            if (
                one.tag is not None
                and (solid.mesh.names.get(one.tag) if isinstance(one.tag, str) else one.tag) in numbers
            ):
                forces.append(replace(solid, supports={}, loads={one.tag: one.condition}, body=()).applied[0])
            elif one.kind in ("gravity", "rotation"):
                forces.append(replace(solid, supports={}, loads={}, body=[one.condition]).applied[0])
        force = _force(results, np.sum([each.force for each in forces], axis=0)) if forces else ""
        rows.append(["whole body" if one.tag is None else str(one.tag), one.kind, _value(results, one), force])
    return rows


def _force(results: SolidResults, force: NDArray[np.float64]) -> str:
    return results.units.vector("force", force.tolist(), results.applied[1])


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
        case "steady-temperature":
            known = [f"{tag} {value:g}" for tag, value in (load.temperatures or {}).items()]
            heat = [
                f"heat through {tag} {value:g} {units.base('heat flux')}" for tag, value in (load.heat or {}).items()
            ]
            return ", ".join([*known, *heat, f"free of stress at {load.reference or 0:g}"])
        case "remote-stress":
            assert load.stress is not None
            return units.vector("stress", list(load.stress)) + " (xx, yy, zz, yz, xz, xy)"
    return units.vector(VALUES[load.kind], list(getattr(load, load.kind)))


def _supports(results: SolidResults) -> list[list[str]]:
    rows, size = [], results.applied[1]
    for part, solution in results.parts.items():
        mesh = solution.solid.mesh
        for tag, reaction in solution.reactions.items():
            same = {tag, mesh.names.get(tag, tag)}
            kinds = ", ".join(one.kind for one in results.file.case.support if one.tag in same)
            moment = results.units.vector("moment", reaction.moment.tolist(), size * mesh.diameter)
            rows.append([results.label(part, tag), kinds, _force(results, reaction.force), moment])
    return rows


def _by_tag(results: SolidResults) -> list[list[str]]:
    rows = []
    for part, solution in results.parts.items():
        mesh = solution.solid.mesh
        for tag, resultant in solution.resultants.items():
            chosen = mesh.tags == mesh.tag_numbers(tag)[0]
            principal = solution.principal_stresses[chosen]
            largest = float(solution.von_mises[chosen].max()), float(principal.max()), float(principal.min())
            stresses = [results.units.text("stress", each) for each in largest]
            rows.append([results.label(part, tag), *stresses, _force(results, resultant.force)])
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
        ("force out of balance", _percent(results.imbalance), "% of the loads"),
        *([] if energy is None else [("strain energy", *units.shown("energy", energy))]),
    ]


def _material(results: SolidResults, given: Constants) -> list[Row]:
    units = results.units
    rows: list[Row] = [("material", given.name, "")] if given.name else []
    rows.append(("Young's modulus E", *units.shown("modulus", given.youngs_modulus)))
    rows.append(("Poisson's ratio ν", f"{given.poissons_ratio:g}", ""))
    if given.density is not None and "density" in {CONSTANTS.get(one.kind) for one in results.loads}:
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
    infos, space = [each.info for each in results.parts.values()], results.file.case.solid.space
    info = infos[0]
    rows: list[Row] = [
        ("displacements, tractions", {"P1": "P1, P0", "P2": "P2, DP1"}[space], ""),
        ("unknowns", str(results.unknowns), ""),
        ("matrix", info.matrix.split(":")[0], ""),
        ("error of rigid rotations", f"{max(each.rotation_error for each in infos):.1e}", ""),
        ("largest amplification of it by bending", f"{max(each.amplification for each in infos):,.0f}", ""),
        ("assembly", f"{info.assembly_seconds:.2f}", "s"),
        ("solution", f"{info.solve_seconds:.2f}", "s"),
    ]
    free = [results.label(part, tag) for part, each in results.parts.items() for tag in each.info.free_tags]
    if free:
        rows.append(("free faces", ", ".join(free), ""))
    if info.free_motions:
        rows.append(("rigid motions removed", str(info.free_motions), ""))
    return rows
