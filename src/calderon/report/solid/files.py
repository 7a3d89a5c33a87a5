"""The files of a solid: its numbers as keys with units, tables, and the fields on its surface for ParaView."""

from pathlib import Path
from typing import Any

import numpy as np

from calderon.formulations.elastic.conditions.rigid_motions import Resultant
from calderon.formulations.elastic.material import von_mises
from calderon.report.folder import BestEffort
from calderon.report.formatting import Column, write_csv
from calderon.report.solid.results import Inside, SolidResults
from calderon.spaces.field_file import write_fields

SIX = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("yz", 1, 2), ("xz", 0, 2), ("xy", 0, 1))


def numbers(results: SolidResults) -> dict[str, Any]:
    """All the numbers of a run, as they go into summary.json; "units" has the units of all others."""
    mesh, base = results.mesh, results.units.base
    bounded = not results.file.case.solid.exterior
    largest, (furthest, where) = results.largest, results.furthest
    principal = results.principal
    infos = {name: each.info for name, each in results.parts.items()}
    return {
        "units": {kind: base(kind) for kind in ("length", "stress", "force", "moment", "energy", "area", "volume")},
        "mesh": {
            "triangles": mesh.number_of_triangles,
            "vertices": mesh.number_of_vertices,
            "area": float(mesh.areas.sum()),
            "volume": abs(float(mesh.volume)),
            "diameter": float(mesh.diameter),
            "mean_edge": float(mesh.mean_edge_length),
        },
        "displacement": {"largest": furthest, "at": where.tolist()},
        "von_mises": {
            "largest": largest.value,
            "at": largest.place.tolist(),
            "no_limit": largest.edge or None,
            "largest_away_from_such_edges": largest.away[0],
            "away_at": largest.away[1].tolist(),
        },
        "principal": {"largest": float(principal.max()), "least": float(principal.min())},
        "safety_factor": results.safety_factor,
        "resultants": {str(tag): _numbers(each) for tag, each in results.resultants.items()},
        "reactions": {str(tag): _numbers(each) for tag, each in results.reactions.items()},
        "force_out_of_balance": results.imbalance if bounded else None,
        "strain_energy": results.strain_energy,
        "load_case": results.load_case or None,
        "load_cases": {
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
        },
        "estimated_errors": dict(zip(("displacement", "stress"), results.estimates, strict=True)),
        "unknowns": results.unknowns,
        "solver": str(next(iter(infos.values()))).splitlines(),
        "rotation_error": max(each.rotation_error for each in infos.values()),
        "amplification": max(each.amplification for each in infos.values()),
    }


def _numbers(resultant: Resultant) -> dict[str, Any]:
    return {"force": resultant.force.tolist(), "moment": resultant.moment.tolist()}


def write_tables(results: SolidResults, files: BestEffort) -> None:
    """Resultants and reactions by tag, stresses on the surface and inside, and the fields for ParaView."""
    with files.at("resultants.csv") as path:
        _write_resultants(results, path)
    with files.at("surface.csv") as path:
        _write_surface(results, path)
    if results.points is not None:
        with files.at("points.csv") as path:
            write_csv(path, inside_columns(results, results.points))
    for number, line in enumerate(results.lines, start=1):
        with files.at(f"line_{number}.csv") as path:
            along = np.linalg.norm(line.points - line.points[0], axis=1)
            distance: Column = (f"distance_{results.units.base('length')}", along)
            write_csv(path, [distance, *inside_columns(results, line)])
    for name, samples in results.near_fields.items():
        for ending in ("csv", "vti") if samples.places.image is not None else ("csv",):
            with files.at(f"near_field_{name}.{ending}") as path:
                samples.write(path)
    with files.at("solid.vtu") as path:
        _write_fields(results, path)


def _write_resultants(results: SolidResults, path: Path) -> None:
    """All tractions of each tag, and the reaction of each support, which leaves out the loads there."""
    force, moment = (results.units.base(kind).replace(" ", "_") for kind in ("force", "moment"))
    rows = [("all tractions", str(tag), each) for tag, each in results.resultants.items()]
    rows += [("reaction", str(tag), each) for tag, each in results.reactions.items()]
    columns: list[Column] = [("what", [what for what, _, _ in rows]), ("tag", [tag for _, tag, _ in rows])]
    for axis in range(3):
        columns.append((f"force_{'xyz'[axis]}_{force}", [float(each.force[axis]) for _, _, each in rows]))
    for axis in range(3):
        columns.append((f"moment_{'xyz'[axis]}_{moment}", [float(each.moment[axis]) for _, _, each in rows]))
    write_csv(path, columns)


def _write_surface(results: SolidResults, path: Path) -> None:
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
    write_csv(path, columns)


def inside_columns(results: SolidResults, found: Inside) -> list[Column]:
    """Points, displacements, stresses, principal and von Mises stresses."""
    length, stress = results.units.base("length"), results.units.base("stress")
    columns: list[Column] = [(f"{'xyz'[k]}_{length}", found.points[:, k]) for k in range(3)]
    columns += [(f"u{'xyz'[k]}_{length}", found.displacement[:, k]) for k in range(3)]
    columns += [(f"s{name}_{stress}", found.stress[:, i, j]) for name, i, j in SIX]
    columns += [(f"principal_{k + 1}_{stress}", found.principal[:, k]) for k in range(3)]
    return [*columns, (f"von_mises_{stress}", found.von_mises)]


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
