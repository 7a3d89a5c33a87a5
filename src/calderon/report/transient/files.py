"""The files of a run in time: numbers as keys with units, tables and fields."""

import shutil
from typing import Any

import numpy as np

from calderon.data import Quantity
from calderon.files.formats import meshio
from calderon.report.folder import BestEffort
from calderon.report.formatting import Column, write_csv
from calderon.report.planes import write_plane
from calderon.report.transient.results import Amplitudes, TransientResults


def numbers(results: TransientResults) -> dict[str, Any]:
    """The entries of summary.json on the run."""
    mesh, shape, facts = results.mesh, results.shape, results.facts
    entries: dict[str, Any] = {
        "mesh": {
            "tetrahedra": mesh.number_of_tetrahedra,
            "vertices": mesh.number_of_vertices,
            "volume_m3": float(mesh.volumes.sum()),
            "least_quality": float(mesh.quality.min()),
            "slivers": shape.slivers,
            "step_without_slivers_over_step": shape.gain,
            "parts": {
                part.name: {
                    "tetrahedra": part.tetrahedra,
                    "shortest_and_longest_edge_m": list(part.edges),
                    "least_quality": part.quality,
                    "least_delay_s": part.delay,
                }
                for part in shape.parts
            },
        },
        "unknowns": facts.unknowns,
        "steps": facts.steps,
        "step_s": facts.step,
        "step_limit_s": facts.step_limit,
        "tetrahedra_by_halvings_of_the_step": list(facts.elements_by_step),
        "work_of_one_step_for_all_over_work": facts.saving,
        "end_s": facts.end,
        "memory_bytes": facts.memory,
        "ranks": facts.ranks,
    }
    if results.error is not None:
        entries["relative_l2_error"] = results.error
    if results.amplitudes is not None:
        entries |= _amplitudes(results.amplitudes)
        if results.amplitudes.feeds:
            entries["power_balance_over_fed"] = results.amplitudes.balance
    return entries


def _amplitudes(found: Amplitudes) -> dict[str, Any]:
    entries: dict[str, Any] = {
        "frequency_Hz": found.frequency,
        "change_in_last_period": found.change,
        "absorbed_W": found.absorbed,
        "outward_W": found.outward,
        "fields_scaled_by": found.scale,
        "feeds": {
            name: {
                "input_resistance_ohm": feed.impedance.real,
                "input_reactance_ohm": -feed.impedance.imag,
                "current_A": abs(feed.current),
                "voltage_V": abs(feed.voltage),
                "fed_W": feed.power,
            }
            for name, feed in found.feeds.items()
        },
    }
    if found.averaged is not None:
        average = found.averaged
        entries["averaged_sar"] = {
            "mass_kg": average.mass,
            "voxel_m": average.voxel,
            "maximum_W_kg": average.maximum,
            "place_m": [float(x) for x in average.place],
            "cube_side_m": average.cube_side,
            "local_maximum_W_kg": average.local_maximum,
            "whole_body_W_kg": average.whole_body,
            "absorbed_in_voxels_W": average.power,
            "weight_kg": average.weight,
        }
    return entries


def write_tables(results: TransientResults, files: BestEffort) -> None:
    """probes.csv, far_field.csv, planes, fields.vtu (element by element), averaged_sar.npz and the folder snapshots."""
    if results.snapshots is not None:
        with files.at("snapshots") as path:
            shutil.copytree(results.snapshots, path)
    signals, found = results.signals, results.amplitudes
    if signals is not None:
        with files.at("probes.csv") as path:
            columns: list[Column] = [("time_s", signals.times)]
            for n in range(len(signals.points)):
                for axis, letter in enumerate("xyz"):
                    columns.append((f"E{letter}_{n + 1}_V_m", signals.electric[:, n, axis]))
                for axis, letter in enumerate("xyz"):
                    columns.append((f"H{letter}_{n + 1}_A_m", signals.magnetic[:, n, axis]))
            write_csv(path, columns)
    if found is not None and found.pattern is not None:
        with files.at("far_field.csv") as path:
            pattern = found.pattern
            columns = [("angle_deg", np.degrees(pattern.requested.values)), (pattern.level.column(), pattern.levels)]
            for axis, letter in enumerate("xyz"):
                columns.append((f"F{letter}_real_V", pattern.far_field[:, axis].real))
                columns.append((f"F{letter}_imag_V", pattern.far_field[:, axis].imag))
            write_csv(path, columns)
    for number, cut in enumerate(results.cuts, start=1):
        fields = [Quantity("electric_field", cut.electric, "V/m", "electric field", vector=True)]
        if cut.sar is not None:
            fields.append(Quantity("absorption_rate", cut.sar, "W/kg", "absorption rate (SAR)"))
        write_plane(files, "slice" if len(results.cuts) == 1 else f"slice_{number}", cut.points, *fields)
    with files.at("fields.vtu") as path:
        data: dict[str, list[Any]] = {"material": [results.mesh.tags]}
        if found is not None:
            data |= {"|E| (V/m)": [found.electric], "SAR (W/kg)": [np.nan_to_num(found.sar)]}
        if results.final is not None:
            data["|E| at the end (V/m)"] = [results.final]
        content = meshio.Mesh(results.mesh.vertices, [("tetra", results.mesh.tetrahedra)], cell_data=data)
        content.write(path, file_format="vtu")
    if found is not None and found.averaged is not None:
        with files.at("averaged_sar.npz") as path:
            average = found.averaged
            np.savez_compressed(
                path,
                averaged_W_kg=average.averaged,
                local_W_kg=average.local,
                first_midpoint_m=average.corner,
                voxel_m=average.voxel,
                origin=average.cubes.origin,
            )
