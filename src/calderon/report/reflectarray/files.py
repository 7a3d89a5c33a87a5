"""The files of a reflectarray: its numbers as keys with units, elements, focus, and the current for ParaView."""

from typing import Any

import numpy as np

from calderon.report.folder import BestEffort
from calderon.report.formatting import mesh_numbers, write_csv
from calderon.report.reflectarray.results import ReflectarrayResults


def numbers(results: ReflectarrayResults) -> dict[str, Any]:
    """The entries of summary.json on the run."""
    array = results.array
    return {
        "mesh": mesh_numbers(array.mesh),
        "unknowns": len(results.echo.surface.coefficients),
        "elements": int(array.chosen.size),
        "phase_error_rms_deg": float(np.degrees(array.phase_error)),
        "common_phase_deg": float(np.degrees(array.offset)),
        "focus_over_incident": results.focus,
        "solver": str(results.echo.info),
    }


def write_tables(results: ReflectarrayResults, files: BestEffort) -> None:
    """The elements, the field across the focus, the curve of phases, and the current."""
    array = results.array
    with files.at("elements.csv") as path:
        x, y = array.places.reshape(-1, 2).T
        names = ("x_m", "y_m", "size_m", "phase_deg", "phase_error_deg")
        columns = x, y, array.chosen.ravel(), results.phases.ravel(), np.degrees(array.errors).ravel()
        write_csv(path, list(zip(names, columns, strict=True)))
    with files.at("focus.csv") as path:
        write_csv(path, [("distance_m", results.across), *zip(("along_x", "along_y"), results.levels, strict=True)])
    with files.at("phases.csv") as path:
        write_csv(path, [("size_m", np.asarray(array.sizes)), ("phase_deg", np.degrees(array.phases))])
    with files.at("current.vtu") as path:
        results.echo.surface.write(path)
