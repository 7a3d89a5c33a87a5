"""Panels of the mesh, the waves, the equations and their solution, and of what is known of its error."""

import re
from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.backends import format_bytes
from calderon.exact import VACUUM_PERMITTIVITY
from calderon.kinds.surface.results import PlaneWaves, Results, Step
from calderon.report import Sheet, panel
from calderon.report.formatting import (
    Column,
    Level,
    decibels,
    decibels_of_power,
    frequency_unit,
    number,
    ohms,
    prefixed,
    prefixed_unit,
)
from calderon.report.reflection import accepted, reflection, standing_wave_ratio


@panel("steps")
def solution(results: Results, sheet: Sheet) -> None:
    steps, last = results.steps, results.steps[-1]
    sheet.numbers["steps"] = [_entries(step, results.level) for step in steps]
    resolved = [step.elements_per_wavelength for step in steps if step.elements_per_wavelength is not None]
    if resolved:
        sheet.headline("elements per wavelength", f"{min(resolved):.1f}")
    if any(len(step.info.residuals) for step in steps):
        sheet.headline("iterations", str(max(step.info.iterations for step in steps)))
        _residuals(results, sheet)
    _mesh(results, sheet)
    if last.wavenumber is not None:
        _wave(results, last, sheet)
    _system(results, last, sheet)
    if results.is_sweep:
        _sweep(results, sheet)
    if last.plane_waves is not None:
        _plane_waves(last.plane_waves, sheet)


def _entries(step: Step, level: Level) -> dict[str, Any]:
    """The entries of summary.json on a step; keys carry the units."""
    info = step.info
    entries: dict[str, Any] = {
        "frequency_Hz": step.frequency,
        "wavenumber_per_m": step.wavenumber,
        "elements_per_wavelength": step.elements_per_wavelength,
        "equation": info.equation,
        "matrix": re.sub(r"[^,+]*\.\.\.$", " ...", info.matrix),  # a long name ends in the middle of a term
        "solver": info.method,
        "iterations": info.iterations,
        "relative_residual": float(info.residual),
        "assembly_s": round(info.assembly_seconds, 4),
        "solution_s": round(info.factorisation_seconds + info.solve_seconds, 4),
        "far_field_error_against_exact": step.exact_error,
        "field_left_inside": step.left_inside,
        "charge_over_eps0_Vm": step.total_flux,
    }
    if step.second_mesh is not None:
        entries |= step.second_mesh.entries
    if step.backward is not None:
        entries[f"{level.key}_toward_source_dB"] = step.backward
    entries |= {f"far_field_deviation_on_{name}": value for name, value in step.deviations.items()}
    if step.impedance is not None:
        entries["input_resistance_ohm"], entries["input_reactance_ohm"] = step.impedance.real, -step.impedance.imag
        s = reflection(step.impedance)
        entries["S11_dB"] = float(decibels_of_power(np.abs(s) ** 2))
        entries["VSWR"] = float(standing_wave_ratio(s))
        if step.strength is not None:
            entries["realised_gain_max_dB"] = float(step.strength.max() + decibels_of_power(accepted(s)))
    levels = {level.key: step.strength} if step.strength is not None else {}
    levels |= {
        "_".join(filter(None, ["monostatic", level.key, pair])): values for pair, values in step.monostatic.items()
    }
    for name, values in levels.items():
        entries[f"{name}_max_dB"] = float(np.max(values))
        entries[f"{name}_min_dB"] = float(np.min(values))
    return {name: value for name, value in entries.items() if value is not None}


def _residuals(results: Results, sheet: Sheet) -> None:
    """Residuals of GMRES over its iterations."""
    steps = results.steps
    longest = max(len(step.info.residuals) for step in steps)
    columns: list[Column] = [("iteration", range(longest))]
    for step in steps:
        name = f"relative_residual at {step.name}" if len(steps) > 1 else "relative_residual"
        columns.append((name, [*step.info.residuals, *[np.nan] * (longest - len(step.info.residuals))]))
    sheet.columns("residuals.csv", columns)
    histories = {step.name or "residual": step.info.residuals for step in steps if len(step.info.residuals)}
    shown = histories if len(histories) > 1 else next(iter(histories.values()))
    caption, rtol = "Relative residual of GMRES over its iterations.", results.file.case.solver.rtol
    sheet.curves("convergence.png", caption, lambda path: plots.convergence(shown, path, rtol=rtol), last=True)


def _mesh(results: Results, sheet: Sheet) -> None:
    """Size and quality of the mesh."""
    mesh, block = results.mesh, "Mesh"
    sheet.fact(block, "triangles", mesh.number_of_triangles, key="mesh.triangles")
    sheet.fact(block, "vertices", mesh.number_of_vertices, key="mesh.vertices")
    closed, volume = bool(mesh.is_closed), float(mesh.volume) if mesh.is_closed else None
    sheet.fact(block, "surface", closed, key="mesh.closed", text="closed" if closed else "open")
    metres, unit = prefixed_unit(float(mesh.diameter), "m")
    area, edge = float(mesh.areas.sum()), float(mesh.mean_edge_length)
    sheet.fact(block, "area", area, f"{unit}²", key="mesh.area_m2", text=number(area / metres**2))
    sheet.number("mesh.volume_m3", volume)
    if volume is not None:
        sheet.fact(block, "volume", volume / metres**3, f"{unit}³")
    size = number(float(mesh.diameter) / metres)
    sheet.fact(block, "bounding-box diagonal", float(mesh.diameter), unit, key="mesh.diameter_m", text=size)
    sheet.fact(block, "mean edge length", edge, unit, key="mesh.mean_edge_m", text=number(edge / metres))


def _wave(results: Results, step: Step, sheet: Sheet) -> None:
    """Frequency, wavelength, and the size of body and elements in wavelengths."""
    assert step.wavenumber is not None
    block = f"Wave{' (last of the sweep)' if results.is_sweep else ''}"
    if step.frequency is not None:
        factor, unit = frequency_unit(step.frequency)
        sheet.fact(block, "frequency", step.frequency / factor, unit)
    sheet.fact(block, "wavenumber k", step.wavenumber, "1/m")
    sheet.block(block, [("wavelength", *prefixed(2 * np.pi / step.wavenumber, "m"))])
    sheet.fact(block, "k × diagonal", step.wavenumber * float(results.mesh.diameter))
    sheet.fact(block, "elements per wavelength", f"{step.elements_per_wavelength:.1f}")


def _system(results: Results, step: Step, sheet: Sheet) -> None:
    """The system of equations and how it was solved."""
    solver, info, block = results.file.case.solver, step.info, "Equations"
    sheet.fact(block, "unknowns", results.unknowns)
    sheet.fact(block, "matrix", f"{_method(results)}, {solver.precision}, {solver.backend}")
    sheet.fact(block, "solver", info.method)
    if len(info.residuals):
        sheet.fact(block, "tolerance", f"{solver.rtol:g}")
        sheet.fact(block, "iterations", info.iterations)
    sheet.fact(block, "relative residual", f"{info.residual:.2e}")
    sheet.fact(block, "assembly", f"{info.assembly_seconds:.2f}", "s")
    sheet.fact(block, "solution", f"{info.factorisation_seconds + info.solve_seconds:.2f}", "s")


def _method(results: Results) -> str:
    """The method that the case names, or that "auto" took."""
    solver, matrix = results.file.case.solver, results.steps[-1].info.matrix
    return solver.method if solver.names_method else re.split(r"(?: matrix| operator)? \d", matrix)[0]


def _sweep(results: Results, sheet: Sheet) -> None:
    """The sweep as a table."""
    steps, level = results.steps, results.level
    fed = steps[0].impedance is not None
    columns = [
        "",
        "elements per wavelength",
        "iterations",
        f"largest {level.name} ({level.unit})",
        *(["input impedance (Ω)", "S11 (dB)", "VSWR"] if fed else ["error against exact (%)"]),
    ]
    rows = [
        [
            step.name,
            "" if step.elements_per_wavelength is None else f"{step.elements_per_wavelength:.1f}",
            str(step.info.iterations),
            "" if step.strength is None else f"{step.strength.max():.2f}",
            *_last_cells(step),
        ]
        for step in steps
    ]
    sheet.table("Sweep", columns, rows)


def _plane_waves(matrix: PlaneWaves, sheet: Sheet) -> None:
    """Memory and checked error of the matrix, and the levels of all media unless all boxes are neighbours."""
    block = "Plane waves"
    sheet.fact(block, "memory of the matrix", format_bytes(matrix.nbytes))
    sheet.fact(block, "near blocks", format_bytes(matrix.near_nbytes))
    if matrix.error is not None:
        name, requested = f"error of products, on {matrix.checked} rows", f"of {matrix.rtol:g}" if matrix.rtol else ""
        sheet.fact(block, name, f"{matrix.error:.1e}", requested)
    columns = (
        "wavenumber (1/m)", "edge (m)", "edge (wavelengths)", "boxes", "degree of patterns", "degree of translations",
        "pairs", "memory", "points of an edge",
    )  # fmt: skip
    rows = [
        [
            f"{k.real:.4g}" + (f" + {k.imag:.4g}i" if k.imag else ""),
            number(one.edge),
            f"{one.wavelengths:.3g}",
            *(str(each or "") for each in (one.boxes, one.half, one.full, one.pairs)),
            format_bytes(one.nbytes),
            str(one.points or ""),
        ]
        for k, levels in matrix.levels
        for one in levels
    ]
    sheet.table("Levels of boxes", columns, rows)


def _last_cells(step: Step) -> list[str]:
    if step.impedance is not None:
        s = reflection(step.impedance)
        ratio = float(standing_wave_ratio(s))
        return [ohms(step.impedance), decibels(float(decibels_of_power(np.abs(s) ** 2))), f"{ratio:.3g}"]
    return ["" if step.exact_error is None else f"{100 * step.exact_error:.3f}"]


@panel("steps")
def exact(results: Results, sheet: Sheet) -> None:
    errors = [step.exact_error for step in results.steps if step.exact_error is not None]
    if errors:
        sheet.error("far-field error against the exact series", max(errors))
    for backend in results.steps[0].deviations:
        largest = max(step.deviations[backend] for step in results.steps)
        sheet.headline(f"deviation of the far field computed on {backend}", f"{100 * largest:.2g}", "%")


@panel("steps")
def charge(results: Results, sheet: Sheet) -> None:
    """The charge of bodies at a given potential, and their capacitance."""
    charge, potential = results.steps[0].total_flux, results.file.case.physics.potential
    if charge is None:
        return
    sheet.headline("total charge over ε₀", f"{charge:.6g}".replace("-", "\u2212"), "V m")
    if potential:
        farads = VACUUM_PERMITTIVITY * charge / potential
        sheet.headline("capacitance in vacuum", f"{1e12 * farads:.5g}", "pF")


@panel("steps")
def inside(results: Results, sheet: Sheet) -> None:
    left = [step.left_inside for step in results.steps if step.left_inside is not None]
    if left:
        what = "incident wave" if results.steps[0].wavenumber is not None else "potential"
        sheet.error(f"error estimate: field left inside the body, of the {what}", max(left))
