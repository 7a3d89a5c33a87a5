"""The files of a printed circuit: its numbers as keys with units, S, gains, and the current for ParaView."""

from typing import Any

import numpy as np

from calderon.report.folder import BestEffort
from calderon.report.formatting import GAIN, Column, mesh_numbers, write_csv
from calderon.report.planar.results import PlanarResults


def numbers(results: PlanarResults) -> dict[str, Any]:
    """The entries of summary.json on the run."""
    mesh, solution, sweep = results.problem.mesh, results.solution, results.sweep
    found: dict[str, Any] = {
        "mesh": mesh_numbers(mesh),
        "unknowns": results.problem.function_space.dimension,
        "solved_frequencies_Hz": np.sort(sweep.solved).tolist(),
        "resonances": [{"frequency_Hz": each.frequency, "quality": each.quality} for each in results.resonances],
        "least_S11_dB": float(results.levels[next(iter(results.levels))].min()),
        "least_S11_frequency_Hz": float(sweep.frequencies[np.abs(sweep.s[:, 0, 0]).argmin()]),
        "pattern_frequency_Hz": solution.frequency,
        "power_W": solution.power._asdict(),
    }
    if results.second_mesh is not None:
        found |= results.second_mesh.entries
    if results.radiates:
        found["largest_gain_dBi"] = results.largest_gain
    return found


def write_tables(results: PlanarResults, files: BestEffort) -> None:
    """S over frequency as CSV and Touchstone files, the gains, and the current."""
    sweep = results.sweep
    columns: list[Column] = [("frequency_Hz", sweep.frequencies)]
    for name, place in results.names.items():
        columns.append((f"{name}_dB", results.levels[name]))
        # exp(+j omega t), as in Touchstone files
        columns.append((f"{name}_phase_deg", np.degrees(np.angle(sweep.s[:, *place].conj()))))
    if [port.kind for port in results.file.case.port] in (["probe"], ["gap"]):
        z = sweep.z[:, 0, 0].conj()
        columns += [("R_ohm", z.real), ("X_ohm", z.imag)]
    with files.at("scattering.csv") as path:
        write_csv(path, columns)
    with files.at(f"scattering.s{len(results.problem.ports)}p") as path:
        sweep.write_touchstone(path)
    if results.radiates:
        angles, cuts = results.cuts
        with files.at("gain.csv") as path:
            gains = [(GAIN.column(name.replace(" plane", "")), values) for name, values in cuts.items()]
            write_csv(path, [("angle_deg", np.degrees(angles)), *gains])
    with files.at("current.vtu") as path:
        results.solution.surface.write(path)
