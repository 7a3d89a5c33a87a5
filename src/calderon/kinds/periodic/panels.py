"""Results of a periodic surface, and their panels."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.formulations import CellSolution, PeriodicCell
from calderon.formulations.periodic.cell_solution import POLARISATIONS
from calderon.kinds.periodic.model import PeriodicCase
from calderon.mesh import TriangleMesh
from calderon.report import Result, Sheet, panel
from calderon.report.formatting import Column, frequency_text, frequency_texts, frequency_unit, number
from calderon.report.panels import ShownCurrent
from calderon.report.scenes import stepped_currents
from calderon.view import Steps

PAIRS = [(out, into, f"{a}_to_{b}") for into, a in enumerate(POLARISATIONS) for out, b in enumerate(POLARISATIONS)]
"""Polarisations of the outgoing and the incoming wave, and the name of their amplitude."""


@dataclass(frozen=True)
class PeriodicResults(Result[PeriodicCase]):
    """Solutions at the frequencies of a case, in its order."""

    cell: PeriodicCell
    solutions: tuple[CellSolution, ...]

    equation = "<f, E> = 0 for all RWG functions f; E as a sum over Floquet waves, K = k_t + m b"

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """Frequencies in Hz."""
        return np.array([each.frequency for each in self.solutions])

    @cached_property
    def waves(self) -> dict[str, NDArray[np.complex128]]:
        """Amplitudes (frequencies, 2, 2) of the order (0, 0): "reflection", and "transmission" where there is one."""
        found = {"reflection": np.array([each.reflection for each in self.solutions])}
        if self.solutions[0].transmitted is not None:
            found["transmission"] = np.array([each.transmission for each in self.solutions])
        return found

    @property
    def power(self) -> NDArray[np.float64]:
        """(frequencies, 2) of all orders over that of the incident TM and TE waves."""
        return np.array([each.power for each in self.solutions])

    @property
    def unknowns(self) -> int:
        return self.cell.functions.dimension

    @property
    def metal(self) -> TriangleMesh:
        return self.cell.mesh

    @property
    def current(self) -> ShownCurrent:
        """The current of a TM wave at the first frequency."""
        shown: Any = self.solutions[0].current()
        caption = f"Current for a TM wave of 1 V/m across the surface, at {frequency_text(float(self.frequencies[0]))}."
        labels = frequency_texts(self.frequencies.tolist())
        steps = Steps("frequency", labels, len(labels) // 2, own=True) if len(labels) > 1 else None
        return ShownCurrent(
            shown,
            caption,
            lambda: stepped_currents(self.solutions, "Currents for waves of 1 V/m across the surface.", steps),
            lambda path: plots.surface(shown, "abs", path, view="top"),
        )


def _degrees(angle: float) -> str:
    return f"{np.degrees(angle):.1f}".replace("-", "\u2212")


@panel("waves")
def waves(results: PeriodicResults, sheet: Sheet) -> None:
    """Amplitudes of the order (0, 0): headlines at the middle frequency, numbers, a table, files and curves."""
    frequencies, texts = results.frequencies, frequency_texts(results.frequencies.tolist())
    place = len(texts) // 2
    sheet.numbers["frequency_Hz"] = frequencies.tolist()
    for name, values in results.waves.items():
        for p, polarisation in enumerate(POLARISATIONS):
            value = values[place, p, p]
            sheet.headline(f"{name} of {polarisation} at {texts[place]}", f"{abs(value):.4f}")
            sheet.headline(f"its phase, {polarisation}", _degrees(float(np.angle(value))), "°")
        columns: list[Column] = [("frequency_Hz", frequencies)]
        for out, into, pair in PAIRS:
            size, phase = np.abs(values[:, out, into]), np.degrees(np.angle(values[:, out, into]))
            sheet.numbers |= {f"{name}_{pair}": size.tolist(), f"{name}_{pair}_phase_deg": phase.tolist()}
            columns += [(pair, size), (f"{pair}_phase_deg", phase)]
        sheet.columns(f"{name}.csv", columns)
        if len(texts) > 1:
            _curves(results, name, sheet)
    diagonal = [(name, p, values[:, p, p]) for name, values in results.waves.items() for p in (0, 1)]
    header = ["frequency", *(f"{name}, {POLARISATIONS[p]}" for name, p, _ in diagonal)]
    rows = [
        [text, *(f"{abs(each[k]):.4f}, {_degrees(float(np.angle(each[k])))}°" for _, _, each in diagonal)]
        for k, text in enumerate(texts)
    ]
    sheet.table("Waves of the order (0, 0)", header, rows)


def _curves(results: PeriodicResults, name: str, sheet: Sheet) -> None:
    """Phase and magnitude of "reflection" or "transmission" over frequency."""
    factor, unit = frequency_unit(float(results.frequencies.min()))
    frequencies, axis = results.frequencies / factor, f"frequency ({unit})"
    both = {each: results.waves[name][:, p, p] for p, each in enumerate(POLARISATIONS)}
    phases = {each: np.degrees(np.unwrap(np.angle(value))) for each, value in both.items()}
    sizes = {each: np.abs(value) for each, value in both.items()}
    caption, label = f"Phase of the {name} of TM and TE waves.", f"phase of the {name} (degrees)"
    sheet.cartesian(f"{name}_phase.png", caption, frequencies, phases, axis, label)
    caption, label = f"Magnitude of the {name} of TM and TE waves.", f"magnitude of the {name}"
    sheet.cartesian(f"{name}.png", caption, frequencies, sizes, axis, label)


@panel("power")
def power(results: PeriodicResults, sheet: Sheet) -> None:
    """The power of all orders, and what is missing of it."""
    lost = 100 * float(np.abs(1 - results.power).max())
    name = "power not carried away by any order, at most"
    sheet.headline(name, number(lost) if lost > 1e-6 else "0", "%")
    for place, polarisation in enumerate(POLARISATIONS):
        sheet.numbers[f"power_of_all_orders_over_incident_{polarisation}"] = results.power[:, place].tolist()
    sheet.columns("orders.csv", lambda: _orders(results))


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


PANELS = (waves, power)
