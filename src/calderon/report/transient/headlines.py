"""The few numbers of a run in time that a reader needs first."""

import numpy as np

from calderon.backends import format_bytes
from calderon.report.formatting import Row, decibels, number, ohms, time_text
from calderon.report.transient.results import TransientResults


def transient_headlines(results: TransientResults, seconds: dict[str, float]) -> list[Row]:
    """Name, value, unit."""
    rows: list[Row] = []
    found = results.amplitudes
    if found is not None:
        for name, feed in found.feeds.items():
            called = "" if len(found.feeds) == 1 else f" of “{name}”"
            rows.append((f"input impedance{called}", ohms(feed.impedance), "Ω"))
            rows.append((f"power fed{called}", number(feed.power), "W"))
        absorbed = sum(found.absorbed.values())
        rows.append(("absorbed", number(absorbed), "W"))
        if found.feeds:
            fed = sum(feed.power for feed in found.feeds.values())
            rows.append(("radiated", number(found.outward), "W"))
            rows.append(("radiation efficiency", f"{100 * found.outward / fed:.1f}", "%"))
            rows.append(
                (
                    "power balance, absorbed + radiated − fed",
                    f"{100 * balance(results):.2g}".replace("-", "\u2212"),
                    "% of fed",
                )
            )
        if found.averaged is not None:
            mass = f"{1e3 * found.averaged.mass:g} g"
            rows.append((f"largest SAR averaged over {mass}", number(found.averaged.maximum), "W/kg"))
            rows.append(("largest local SAR on the grid", number(found.averaged.local_maximum), "W/kg"))
        if found.pattern is not None:
            largest = int(found.pattern.levels.argmax())
            degrees = np.degrees(found.pattern.asked.values[largest])
            name = f"largest {found.pattern.level.name}, at {degrees:.4g}° in the {found.pattern.asked.plane} plane"
            rows.append((name, decibels(found.pattern.levels[largest]), found.pattern.level.unit))
        rows.append(("change in the last period", f"{100 * found.change:.2g}", "%"))
    if results.error is not None:
        rows.append(("error against the exact wave", f"{100 * results.error:.2g}", "%"))
    facts = results.facts
    rows.append(("unknowns", f"{facts.unknowns:,}".replace(",", "\u202f"), ""))
    rows.append(("steps", f"{facts.steps:,}".replace(",", "\u202f"), ""))
    rows.append(("step", *_two(time_text(facts.step))))
    rows.append(("memory of the fields", *_two(format_bytes(facts.memory))))
    if len(facts.elements_by_step) > 1:
        rows.append(("shorter steps of small elements save", f"{facts.saving:.1f}", "times the work"))
    advanced = seconds.get("advance the fields")
    if advanced:
        updates = facts.unknowns * facts.steps * facts.updates
        rows.append(("updates of unknowns", f"{1e-6 * updates / advanced:.0f}", "million/s"))
    rows.append(("computing and drawing", f"{sum(seconds.values()):.1f}", "s"))
    return rows


def balance(results: TransientResults) -> float:
    """Absorbed and radiated power less the power fed, over the latter."""
    found = results.amplitudes
    assert found is not None
    fed = sum(feed.power for feed in found.feeds.values())
    return (sum(found.absorbed.values()) + found.outward) / fed - 1


def _two(text: str) -> tuple[str, str]:
    value, unit = text.split()
    return value, unit
