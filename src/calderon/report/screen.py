"""Output on a terminal: stages while they run, and tables."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from calderon.report.stages import Stages


@contextmanager
def stages_on(screen: Console) -> Iterator[Stages]:
    """Stages shown while they run: live on a terminal, a line each elsewhere, and a line for each tenth of a long
    one."""
    columns = (
        SpinnerColumn(finished_text="[green]✓[/green]"),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=screen, disable=not screen.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}
        seen: dict[str, tuple[float, int]] = {}  # time and progress of the first report of a stage
        tenths: dict[str, int] = {}

        def listen(name: str, seconds: float | None) -> None:
            if not screen.is_terminal:
                if seconds is not None:
                    screen.print(f"  {escape(name)}: {seconds:.2f} s", soft_wrap=True)
            elif seconds is None:
                tasks[name] = progress.add_task(escape(name), total=1, left="")
            else:
                progress.update(tasks[name], completed=1, total=1, left="")

        def tell(name: str, done: int, total: int) -> None:
            left = f"{100 * done / total:.0f} %{_left(seen, name, done, total)}"
            if screen.is_terminal:
                progress.update(tasks[name], completed=done, total=total, left=left)
                return
            if name not in tenths:
                screen.print(f"  {escape(name)} ...", soft_wrap=True)
            if (tenth := 10 * done // total) > tenths.setdefault(name, 0) and done < total:
                tenths[name] = tenth
                screen.print(f"    {left}")

        yield Stages(listen, tell)


def _left(seen: dict[str, tuple[float, int]], name: str, done: int, total: int) -> str:
    """The time left at the pace since the first report of the stage, which may have continued from a checkpoint."""
    now = time.monotonic()
    since, first = seen.setdefault(name, (now, done))
    return f", {(now - since) * (total - done) / (done - first):.0f} s left" if done > first else ""


def two_columns(title: str) -> Table:
    table = Table(
        title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=False
    )
    table.add_column(style="dim")
    table.add_column()
    return table
