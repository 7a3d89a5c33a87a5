"""Tables for people, JSON for later."""

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.common.machine import Floor

FOLDER = Path(__file__).parent.parent / "results"


def heading(machine: dict[str, Any], floor: Floor) -> str:
    """Two lines: the machine and its floor, and whether it was busy."""
    busy = machine["load_average"] > 0.3 * machine["threads"]
    note = "\n[yellow]the machine is busy: these figures say nothing about an idle one[/yellow]" if busy else ""
    return (
        f"{machine['processor']}, {machine['threads']} threads, load {machine['load_average']:.1f}\n"
        f"measured floor: {floor.double / 1e9:.0f} Gflop/s double, {floor.single / 1e9:.0f} single, "
        f"{floor.bandwidth / 1e9:.1f} GB/s copy{note}"
    )


def table(title: str, columns: Sequence[str]) -> Table:
    """A table whose first column is text and whose others are numbers."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for position, name in enumerate(columns):
        made.add_column(name, justify="left" if position == 0 else "right", no_wrap=position == 0)
    return made


def save(name: str, record: dict[str, Any]) -> Path:
    """benchmarks/results/NAME-DATE.json."""
    FOLDER.mkdir(exist_ok=True)
    now = datetime.datetime.now(datetime.UTC)
    path = FOLDER / f"{name}-{now:%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps({"benchmark": name, "time": now.isoformat(), **record}, indent=1) + "\n")
    return path.relative_to(FOLDER.parent.parent)


def seconds(value: float | None) -> str:
    """Seconds for a table, a dash where nothing was measured."""
    return "-" if value is None else f"{value:.3g}"
