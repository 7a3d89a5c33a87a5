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


class Record:
    """A record, benchmarks/results/NAME-DATE.json, that is written whole after each change.

    content: all of it. path: its file, None for one that is not kept.
    """

    def __init__(self, path: Path | None, content: dict[str, Any]) -> None:
        self.path, self.content = path, content

    @staticmethod
    def new(name: str, content: dict[str, Any], keeps: bool) -> "Record":
        """An empty record, but for its name, time and content."""
        now = datetime.datetime.now(datetime.UTC)
        path = FOLDER / f"{name}-{now:%Y%m%d-%H%M%S}.json" if keeps else None
        return Record(path, {"benchmark": name, "time": now.isoformat(), **content})

    @staticmethod
    def newest(name: str) -> "Record":
        """The newest record of this name, to go on with; ValueError where there is none."""
        found = sorted(FOLDER.glob(f"{name}-[0-9]*.json"), key=lambda path: path.stem[-15:])
        if not found:
            raise ValueError(f"{FOLDER} has no record {name}-DATE.json to go on with: leave --resume out")
        return Record(found[-1], json.loads(found[-1].read_text(encoding="utf-8")))

    def write(self, **values: Any) -> None:
        """Take these values in and write the file; readers see whole files only."""
        self.content |= values
        if self.path is not None:
            self.path.parent.mkdir(exist_ok=True)
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(self.content, indent=1) + "\n", encoding="utf-8")
            part.replace(self.path)


def seconds(value: float | None) -> str:
    """Seconds for a table, a dash where nothing was measured."""
    return "-" if value is None else f"{value:.3g}"
