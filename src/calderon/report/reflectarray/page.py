"""The page on a reflectarray: the first numbers, a sentence and tables."""

from typing import Any

import numpy as np

from calderon.report.formatting import Row, frequency_text
from calderon.report.page import blocks, record
from calderon.report.periodic.page import lengths_of
from calderon.report.reflectarray.results import ReflectarrayResults

FINE = 2001
"""Points of a line across the focus between which its width is found."""


def headlines(results: ReflectarrayResults, seconds: dict[str, float]) -> list[Row]:
    """Name, value, unit."""
    across = np.linspace(results.across[0], results.across[-1], FINE)
    rows: list[Row] = [("field at the focus over that of the wave", f"{results.focus:.2f}", "")]
    for name, sampled in zip("xy", results.levels, strict=True):
        level = np.interp(across, results.across, sampled)
        middle, below = int(level.argmax()), np.flatnonzero(level < level.max() / 2**0.5)
        low, high = below[below < middle].max(initial=0), below[below > middle].min(initial=FINE - 1)
        rows.append((f"width at half the power along {name}", f"{1e3 * (across[high] - across[low]):.1f}", "mm"))
    rows.append(("error of the phases, rms", f"{np.degrees(results.array.phase_error):.1f}", "°"))
    unknowns = len(results.echo.surface.coefficients)
    rows.append(("unknowns", f"{unknowns:,}".replace(",", "\u202f"), ""))
    rows.append(("computing and drawing", f"{sum(seconds.values()):.1f}", "s"))
    return rows


def subtitle(results: ReflectarrayResults) -> str:
    given = results.file.case.reflectarray
    n, m = given.count
    return (
        f"{n} × {m} elements “{results.file.case.element.shape}”, period {1e3 * given.period:g} mm, "
        f"{frequency_text(given.frequency)}, focus {1e3 * given.focus:g} mm above."
    )


def tables(results: ReflectarrayResults, summary: dict[str, Any]) -> str:
    case, array = results.file.case, results.array
    element: list[Row] = [("shape", case.element.shape, ""), *lengths_of(case.element.parameters)]
    sizes = f"{1e3 * array.chosen.min():.3g} to {1e3 * array.chosen.max():.3g}"
    design: list[Row] = [
        ("sizes", sizes, "mm"),
        ("phases of these, largest less smallest", f"{np.degrees(np.ptp(array.phases)):.0f}", "°"),
        ("common phase", f"{np.degrees(array.offset):.0f}", "°"),
    ]
    return (
        blocks([("Element", element), ("Design", design)])
        + record("Solver", str(results.echo.info))
        + record("Board", str(case.stack))
    )
