"""The files of a problem on surfaces: its numbers as keys with units, and its tables."""

import re
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np

from calderon.data import Axis, LabelledArrays, Quantity
from calderon.data.collections import write_collection
from calderon.data.labelled import stacked
from calderon.formulations.ports.touchstone import write_touchstone
from calderon.report.folder import BestEffort
from calderon.report.formatting import Column, Level, decibels_of_power, write_csv
from calderon.report.planes import write_plane
from calderon.report.reflection import LINE, accepted, reflection, standing_wave_ratio
from calderon.report.surface.references import reference_path
from calderon.report.surface.results import Results, Step


def numbers(results: Results) -> dict[str, Any]:
    """All the numbers of a run, as they go into summary.json; keys carry the units."""
    mesh = results.mesh
    return {
        "mesh": {
            "triangles": mesh.number_of_triangles,
            "vertices": mesh.number_of_vertices,
            "closed": bool(mesh.is_closed),
            "area_m2": float(mesh.areas.sum()),
            "volume_m3": float(mesh.volume) if mesh.is_closed else None,
            "diameter_m": float(mesh.diameter),
            "mean_edge_m": float(mesh.mean_edge_length),
        },
        "unknowns": results.unknowns,
        "steps": [_step(step, results.level) for step in results.steps],
    }


def _step(step: Step, level: Level) -> dict[str, Any]:
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
    return {name: number for name, number in entries.items() if number is not None}


def write_tables(results: Results, files: BestEffort) -> None:
    """far_field.csv, monostatic.csv, impedance.csv, residuals.csv and one surface file a step, files of references."""
    output, steps = results.file.case.output, results.steps
    if output.far_field is not None:
        with files.at("far_field.csv") as path:
            write_csv(path, _of_steps(steps, lambda step: _far_field(results.level, step, output.far_field)))
    if output.monostatic is not None:
        with files.at("monostatic.csv") as path:
            write_csv(path, _of_steps(steps, lambda step: _monostatic(results.level, step, output.monostatic)))
    impedances = np.array([step.impedance for step in steps if step.impedance is not None])
    if len(impedances):
        with files.at("impedance.csv") as path:
            waves = _moments(steps)
            ohms = ("resistance_ohm", impedances.real), ("reactance_ohm", -impedances.imag)
            s = reflection(impedances)
            matched = ("S11_dB", decibels_of_power(np.abs(s) ** 2)), ("VSWR", standing_wave_ratio(s))
            write_csv(path, [waves, *ohms, *matched])
        if steps[0].frequency is not None:
            with files.at("antenna.s1p") as path:
                write_touchstone(path, waves[1], reflection(impedances)[:, None, None], LINE)
    for source in {reference_path(results.file, one) for one in output.reference}:
        with files.at(source.name) as path:
            shutil.copyfile(source, path)
    if any(len(step.info.residuals) for step in steps):
        with files.at("residuals.csv") as path:
            longest = max(len(step.info.residuals) for step in steps)
            columns: list[Column] = [("iteration", range(longest))]
            for step in steps:
                name = f"relative_residual at {step.name}" if len(steps) > 1 else "relative_residual"
                residuals = [*step.info.residuals, *[np.nan] * (longest - len(step.info.residuals))]
                columns.append((name, residuals))
            write_csv(path, columns)
    names = [f"surface_{number:02d}.vtu" if len(steps) > 1 else "surface.vtu" for number in range(1, len(steps) + 1)]
    for name, step in zip(names, steps, strict=True):
        with files.at(name) as path:
            step.surface.write(path)
    if len(steps) > 1:
        with files.at("surface.pvd") as path:
            write_collection(path, [(_moment(step), 0, name) for name, step in zip(names, steps, strict=True)])
    _write_fields(results, files)


def _moment(step: Step) -> float:
    return float(step.frequency or step.wavenumber or 0.0)


def _write_fields(results: Results, files: BestEffort) -> None:
    """slice.vti and slice.npz, and near_field_NAME.csv, of a sweep with a column of frequencies; grids of the last step
    as .vti, too."""
    last, words = results.steps[-1], results.words
    if (cut := last.slice) is not None:
        vector = cut.vectors is not None
        values, name = cut.values if cut.vectors is None else cut.vectors, words.field.replace(" ", "_")
        write_plane(files, "slice", cut.points, Quantity(name, values, words.unit, words.field, vector=vector))
    for name, samples in last.near_fields.items():
        with files.at(f"near_field_{name}.csv") as path:
            _by_frequency(results, name).write_csv(path)
        if samples.places.image is not None:
            with files.at(f"near_field_{name}.vti") as path:
                samples.write(path)


def _by_frequency(results: Results, name: str) -> LabelledArrays:
    parts = [step.near_fields[name].arrays for step in results.steps]
    if len(parts) == 1:
        return parts[0]
    return stacked(Axis("frequency", np.array([_moment(step) for step in results.steps]), "Hz"), parts)


def _moments(steps: tuple[Step, ...]) -> tuple[str, np.ndarray]:
    """The column of frequencies, or of wavenumbers where there are none."""
    if steps[0].frequency is None:
        return "wavenumber_per_m", np.array([step.wavenumber for step in steps], dtype=float)
    return "frequency_Hz", np.array([step.frequency for step in steps], dtype=float)


def _of_steps(steps: tuple[Step, ...], columns_of: Callable[[Step], list[Column]]) -> list[Column]:
    """The columns of a step, or of a sweep those of all steps below each other, after their frequencies with all
    digits: one row an observation."""
    tables = [columns_of(step) for step in steps]
    if len(tables) == 1:
        return tables[0]
    name, values = _moments(steps)
    moments = [repr(x) for x, table in zip(values.tolist(), tables, strict=True) for _ in table[0][1]]
    below = [(each, np.concatenate([table[k][1] for table in tables])) for k, (each, _) in enumerate(tables[0])]
    return [(name, moments), *below]


def _monostatic(level: Level, step: Step, requested: Any) -> list[Column]:
    """Levels by polarisation over the angle."""
    angles: Column = ("angle_deg", np.degrees(requested.values))
    return [angles, *((level.column(pair), levels) for pair, levels in step.monostatic.items())]


def _far_field(level: Level, step: Step, requested: Any) -> list[Column]:
    """Level and complex far field over the angle."""
    assert step.strength is not None
    columns: list[Column] = [("angle_deg", np.degrees(requested.values)), (level.column(), step.strength)]
    for (name, unit), values in step.far_field.items():
        columns += [(f"{name}_real_{unit}", values.real), (f"{name}_imag_{unit}", values.imag)]
    if step.exact_strength is not None:
        columns.append((f"exact_{level.column()}", step.exact_strength))
    return columns
