"""The files of a periodic surface: its numbers as keys with units, tables, and the current for ParaView."""

from typing import Any

import numpy as np

from calderon.formulations.periodic.floquet_orders import POLARISATIONS
from calderon.report.folder import BestEffort
from calderon.report.formatting import Column, mesh_numbers, write_csv
from calderon.report.periodic.results import PeriodicResults

PAIRS = [(out, into, f"{POLARISATIONS[into]}_to_{POLARISATIONS[out]}") for into in (0, 1) for out in (0, 1)]


def numbers(results: PeriodicResults) -> dict[str, Any]:
    """The entries of summary.json on the run."""
    mesh = results.cell.mesh
    found: dict[str, Any] = {
        "mesh": mesh_numbers(mesh),
        "unknowns": results.cell.functions.dimension,
        "frequency_Hz": results.frequencies.tolist(),
    }
    for name, values in results.waves.items():
        for out, into, pair in PAIRS:
            found[f"{name}_{pair}"] = np.abs(values[:, out, into]).tolist()
            found[f"{name}_{pair}_phase_deg"] = np.degrees(np.angle(values[:, out, into])).tolist()
    for place, polarisation in enumerate(POLARISATIONS):
        found[f"power_of_all_orders_over_incident_{polarisation}"] = results.power[:, place].tolist()
    return found


def write_tables(results: PeriodicResults, files: BestEffort) -> None:
    """Amplitudes over frequency, the orders at each frequency, and the current at the first one."""
    for name, values in results.waves.items():
        columns: list[Column] = [("frequency_Hz", results.frequencies)]
        for out, into, pair in PAIRS:
            columns.append((pair, np.abs(values[:, out, into])))
            columns.append((f"{pair}_phase_deg", np.degrees(np.angle(values[:, out, into]))))
        with files.at(f"{name}.csv") as path:
            write_csv(path, columns)
    with files.at("orders.csv") as path:
        write_csv(path, _orders(results))
    with files.at("current.vtu") as path:
        results.solutions[0].current().write(path)


def _orders(results: PeriodicResults) -> list[Column]:
    rows: list[list[Any]] = []
    for solution in results.solutions:
        for side, orders in (("reflected", solution.reflected), ("transmitted", solution.transmitted)):
            if orders is None:
                continue
            angles = np.degrees([orders.theta, orders.phi]).T
            for order, (theta, phi), power in zip(orders.orders, angles, orders.power, strict=True):
                rows.append([solution.frequency, side, *map(float, order), theta, phi, *power])
    names = ("frequency_Hz", "side", "m", "n", "theta_deg", "phi_deg", "power_of_TM", "power_of_TE")
    return list(zip(names, zip(*rows, strict=True), strict=True))
