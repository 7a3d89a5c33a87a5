"""The page on a periodic surface: the first numbers, a sentence and tables."""

from typing import Any

import numpy as np

from calderon.formulations.periodic.floquet_orders import POLARISATIONS
from calderon.report.formatting import Row, frequency_texts, number
from calderon.report.page import blocks, equation, record, wide_table
from calderon.report.periodic.results import PeriodicResults

EQUATION = "<f, E> = 0 for all RWG functions f; E as a sum over Floquet waves, K = k_t + m b"


def headlines(results: PeriodicResults, seconds: dict[str, float]) -> list[Row]:
    """Name, value, unit: at the middle one of several frequencies."""
    place = len(results.solutions) // 2
    text = frequency_texts(results.frequencies.tolist())[place]
    rows: list[Row] = []
    for name, values in results.waves.items():
        for p, polarisation in enumerate(POLARISATIONS):
            value = values[place, p, p]
            rows.append((f"{name} of {polarisation} at {text}", f"{abs(value):.4f}", ""))
            rows.append((f"its phase, {polarisation}", _degrees(float(np.angle(value))), "°"))
    lost = 100 * float(np.abs(1 - results.power).max())
    rows.append(("power not carried away by any order, at most", number(lost) if lost > 1e-6 else "0", "%"))
    rows.append(("unknowns", f"{results.cell.functions.dimension:,}".replace(",", "\u202f"), ""))
    rows.append(("computing and drawing", f"{sum(seconds.values()):.1f}", "s"))
    return rows


def _degrees(angle: float) -> str:
    return f"{np.degrees(angle):.1f}".replace("-", "\u2212")


def subtitle(results: PeriodicResults) -> str:
    case = results.file.case
    period = case.periodic.period
    sides = " × ".join(f"{1e3 * each:g}" for each in (period if isinstance(period, tuple) else (period,)))
    return (
        f"Element “{case.element.shape}”, period {sides} mm, waves from {case.periodic.side}, "
        f"θ = {np.degrees(case.periodic.theta):g}°, φ = {np.degrees(case.periodic.phi):g}°."
    )


def lengths_of(parameters: dict[str, float | int]) -> list[Row]:
    """Of a shape, in mm."""
    return [
        (name.replace("_", " "), *((str(value), "") if name == "cells" else (f"{1e3 * value:g}", "mm")))
        for name, value in parameters.items()
    ]


def tables(results: PeriodicResults, summary: dict[str, Any]) -> str:
    case, mesh = results.file.case, results.cell.mesh
    element: list[Row] = [("shape", case.element.shape, "")]
    element += lengths_of(case.element.parameters)
    element.append(("height", f"{1e3 * case.height:g}", "mm"))
    edges = f"{1e3 * mesh.edge_lengths.min():.3g} to {1e3 * mesh.edge_lengths.max():.3g}"
    size: list[Row] = [("triangles", str(mesh.number_of_triangles), ""), ("edges", edges, "mm")]
    columns = ["frequency"]
    columns += [f"{name}, {each}" for name in results.waves for each in POLARISATIONS]
    rows = []
    for number_, text in enumerate(frequency_texts(results.frequencies.tolist())):
        shown = [values[number_, p, p] for values in results.waves.values() for p in (0, 1)]
        rows.append([text, *(f"{abs(value):.4f}, {_degrees(float(np.angle(value)))}°" for value in shown)])
    return (
        wide_table("Waves of the order (0, 0)", columns, rows)
        + blocks([("Element", element), ("Mesh", size)])
        + equation(EQUATION)
        + record("Board", str(case.stack))
    )
