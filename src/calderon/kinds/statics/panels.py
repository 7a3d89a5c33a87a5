"""Panels of a case of static fields: capacitances, electrodes, forces, surfaces, a plane."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.formulations.statics.solution import StaticSolution
from calderon.kinds.statics.results import StaticResults
from calderon.report import Sheet, panel
from calderon.report.formatting import Column, mesh_numbers, number, plane_equation, prefixed, prefixed_unit
from calderon.report.scenes import facing, grid, opening
from calderon.spaces import Function
from calderon.view import Field, Scene, Surface

MOST_LAYERS = 24
"""Surfaces that a live view shows each on its own."""


@panel("matrix")
def matrix(results: StaticResults, sheet: Sheet) -> None:
    """The matrix of capacitances or conductances: a table, a file, and what two electrodes have in common."""
    found = results.matrix
    names, values, unit, what = found.row.values.tolist(), found.values, found.attrs["units"], found.name
    factor, shown = prefixed_unit(float(np.abs(values).max()), unit)
    rows = [[name, *(_signed(each / factor) for each in row)] for name, row in zip(names, values, strict=True)]
    of = "charge" if what == "capacitance" else "current fed in"
    sheet.table(f"{what.capitalize()} ({shown}): {of} of the row for 1 V at the column", ["", *names], rows)
    columns: list[Column] = [("electrode", names)]
    columns += [(f"{name}_{unit}", values[:, n]) for n, name in enumerate(names)]
    sheet.columns(f"{what}.csv", columns)
    numbers = {name: dict(zip(names, row, strict=True)) for name, row in zip(names, values.tolist(), strict=True)}
    sheet.number(f"{what}_{unit}", numbers)
    if len(names) == 1:
        sheet.headline(f"{what} of {names[0]}", *prefixed(values[0, 0], unit))
    elif what == "capacitance":
        sheet.headline(f"mutual capacitance of {names[0]} and {names[1]}", *prefixed(-values[0, 1], unit))
    elif len(names) == 2:
        sheet.headline(f"resistance between {names[0]} and {names[1]}", *prefixed(-1 / values[0, 1], "Ω"))


def _signed(value: float) -> str:
    return number(value).replace("-", "\u2212")


@panel("solution")
def electrodes(results: StaticResults, sheet: Sheet) -> None:
    """Potentials, charges or currents, and the largest field of electrodes; energies."""
    solution: Any = results.solution
    kind, errors, largest = solution.kind, solution.charge_errors, solution.largest_strengths
    charge = "current" if kind.charge == "A" else "charge"
    rows = []
    for name, total in solution.totals.items():
        given = (solution.potentials[name], kind.potential), (total, kind.charge), (errors[name], kind.charge)
        rows.append([name, *(" ".join(prefixed(*each)) for each in (*given, (largest[name], kind.field)))])
        key = f"electrodes.{name.replace('.', '_')}"
        sheet.number(f"{key}.potential_V", solution.potentials[name])
        sheet.number(f"{key}.{charge}_{kind.charge}", total)
        sheet.number(f"{key}.error_of_integral_{kind.charge}", errors[name])
    header = ["", "potential", charge, "error of the flux, estimated", f"largest |{kind.field_name}|"]
    sheet.table("Electrodes", header, rows)
    for name, total in [*solution.totals.items()][:2]:
        sheet.headline(f"{charge} of {name}", *prefixed(total, kind.charge))
        if name not in results.file.case.excitation["voltages"]:
            sheet.headline(f"potential of {name}", *prefixed(solution.potentials[name], kind.potential))
    if largest_total := max(map(abs, solution.totals.values()), default=0.0):
        name = f"{charge} by the integral of the flux against its density, of the largest one"
        sheet.errors[name] = max(abs(each) for each in errors.values()) / largest_total
    if solution.totals:
        sheet.record("Largest fields", "At edges and corners of metal they grow without bound as meshes get finer.")
    for what, unit in (("energy", "J"), ("dissipated_power", "W"), ("solvation_energy", "J")):
        with suppress(ValueError):  # of sources and materials without one
            value = getattr(solution, what)
            sheet.number(f"{what}_{unit}", value)
            sheet.headline(what.replace("_", " "), *prefixed(value, unit))


@panel("forces")
def forces(results: StaticResults, sheet: Sheet) -> None:
    """Forces and torques by tag and on point charges, and what is missing of their balance."""
    found: Any = results.forces
    factor, unit = prefixed_unit(max(float(np.abs(each).max()) for each in found.forces.values()), "N")
    rows = [
        [name, *(_signed(each / factor) for each in force),
         *(" ".join(prefixed(each, "N m")) for each in found.torques[name])]
        for name, force in found.forces.items()
    ]  # fmt: skip
    header = ["", *(f"force along {axis} ({unit})" for axis in "xyz"), *(f"torque about {axis}" for axis in "xyz")]
    sheet.table("Forces", header, rows)
    for name, force in found.forces.items():
        sheet.number(f"forces_N.{name.replace('.', '_')}", force.tolist())
    if len(found.forces) > 1:
        missing = " ".join(prefixed(found.missing, "N"))
        sheet.record(
            "Balance", f"All forces sum to {missing} instead of 0: those not much larger are errors of the mesh."
        )
    if found.imbalance is not None:
        sheet.error("error estimate: sum of all forces over their sizes", found.imbalance)


@panel("leads")
def lead_field(results: StaticResults, sheet: Sheet) -> None:
    """lead_field.csv, a row for each electrode and place."""
    leads, requested = results.leads, results.file.case.output.lead_field
    assert leads is not None and requested is not None
    count, places = leads.shape[:2]
    columns: list[Column] = [("electrode", np.repeat(np.arange(1, count + 1), places))]
    columns += [(f"place_{axis}_m", np.tile(np.array(requested.places)[:, n], count)) for n, axis in enumerate("xyz")]
    columns += [(f"potential_of_unit_dipole_{axis}", leads[:, :, n].ravel()) for n, axis in enumerate("xyz")]
    sheet.columns("lead_field.csv", columns)
    sheet.headline("lead field", f"{count} electrodes, {places} places")


def _shown(solution: StaticSolution) -> dict[str, Function]:
    """Functions of the surfaces by the name of their file."""
    found = {"potential": solution.surface, "strength": solution.surface_strength}
    return {**found, "density": solution.density} if solution.posed.electrodes else found


@panel("solution")
def surfaces(results: StaticResults, sheet: Sheet) -> None:
    """The potential, the field strength and the charge of surfaces: files, pictures, a live view."""
    shown = _shown(results.solution)  # type: ignore[arg-type]
    sheet.view(lambda: surface_scene(results), *(f"surface_{name}.png" for name in shown))
    for name, each in shown.items():
        sheet.file(f"surface_{name}.vtu", each.write)
        caption = f"{each.label.capitalize()} of surfaces{', on their side with more' if name == 'strength' else ''}."
        quantity = "abs" if name == "strength" else "real"
        sheet.picture(f"surface_{name}.png", caption, partial(_draw_surface, each, quantity))


def _draw_surface(shown: Function, quantity: str, path: Path) -> None:
    plots.surface(shown, quantity, path, renderer="matplotlib")


def surface_scene(results: StaticResults) -> Scene:
    """A layer for each tag with the potential, the field strength and the charge, and the plane where it is known, for
    which the nearer side of regions is taken off."""
    mesh, solution = results.mesh, results.solution
    assert solution is not None
    cut = results.plane
    called = {tag: name for name, tag in mesh.names.items()}
    tags = np.unique(mesh.tags)
    groups = [tags[n : n + 1] for n in range(len(tags))] if len(tags) <= MOST_LAYERS else [tags]
    layers: list[Any] = []
    for group in groups:
        own = np.isin(mesh.tags, group)
        name = called.get(int(group[0]), f"tag {group[0]}") if len(group) == 1 else "surfaces"
        fields = tuple(_field(name, each, own) for name, each in _shown(solution).items())
        layers.append(
            Surface(
                name, mesh.vertices, mesh.triangles[own], fields,
                open=opening(cut.places.points) if cut is not None and results.file.case.region else None,
            )
        )  # fmt: skip
    eye = None
    if cut is not None:
        points, kind = cut.places.points, solution.kind
        drawn = [
            Field("potential", "potential", kind.potential, [cut.arrays["potential"].ravel()], quantity="real"),
            Field(f"|{kind.field_name}|", f"|{kind.field_name}|", kind.field, [_strength(results).ravel()]),
        ]
        layers.append(grid(points, drawn, filled=True))
        eye = facing(opening(points)[0])
    where = " and in the plane" if cut is not None else ""
    caption = f"Potential, field strength and charge of surfaces{where}. Drag to turn, point for values."
    return Scene(tuple(layers), eye=eye, caption=caption)


def _field(name: str, shown: Function, own: NDArray[np.bool_]) -> Field:
    """A function on the triangles of one layer, whose vertices are those of all."""
    location, values = shown.on_mesh()
    kept = values if location == "vertices" else values[own]
    return Field(shown.label, shown.label, shown.unit, [kept], location, "abs" if name == "strength" else "real")


def _strength(results: StaticResults) -> NDArray[np.float64]:
    """The magnitude of E or H (rows, columns) in the plane."""
    assert results.plane is not None and results.solution is not None
    return np.asarray(np.linalg.norm(results.plane.arrays[results.solution.kind.field_name], axis=-1))


@panel("plane")
def plane(results: StaticResults, sheet: Sheet) -> None:
    """slice.vti, slice.npz and slice.png with lines of equal potential."""
    cut, requested, kind = results.plane, results.file.case.output.slice, results.problem.kind
    assert cut is not None and requested is not None
    for ending in ("vti", "npz"):
        sheet.file(f"slice.{ending}", cut.write)
    points, potential = cut.places.points, cut.arrays["potential"]
    is_potential = requested.quantity == "potential"
    values = potential if is_potential else _strength(results)
    coil = any(each.kind == "loop" for each in results.file.case.source)  # whose field has no potential
    count = 0 if coil else requested.lines
    name, unit = ("potential", kind.potential) if is_potential else (f"|{kind.field_name}|", kind.field)
    what = f"{'Potential' if is_potential else f'Strength of {kind.field_name}'} in the plane {plane_equation(points)}"
    lines = f", {count} lines of equal potential" if count else ""
    field = cut.arrays[kind.field_name] if requested.field_lines else None
    lines += f", lines along {kind.field_name}" if requested.field_lines else ""
    metres, length = prefixed_unit(float(np.ptp(points.reshape(-1, 3), axis=0).max()), "m")
    sheet.picture(
        "slice.png", f"{what}{lines}.",
        lambda path: plots.field_slice(
            points / metres, values, results.mesh.scaled(1 / metres), "real" if is_potential else "abs", path,
            name=name, unit=unit, blank="none", length=length, contours=potential, levels=count, field_lines=field,
        ),
    )  # fmt: skip


@panel("mesh")
def regions_and_mesh(results: StaticResults, sheet: Sheet) -> None:
    """Materials, and the mesh."""
    problem = results.problem
    unit = "S/m" if problem.kind.name == "conductivity" else ""
    for name, each in problem.skeleton.regions.items():
        sheet.fact(f"{problem.kind.name.capitalize()}", name, each.constant, unit)
        if each.debye_length is not None:
            sheet.fact(f"{problem.kind.name.capitalize()}", f"Debye length of {name}", each.debye_length, "m")
    sheet.number("mesh", mesh_numbers(results.mesh))
    sheet.fact("Mesh", "triangles", results.mesh.number_of_triangles)
    sheet.block("Mesh", [("mean edge length", *prefixed(float(results.mesh.mean_edge_length), "m"))])


PANELS = (matrix, electrodes, forces, lead_field, surfaces, plane, regions_and_mesh)
"""In the order in which they appear."""
