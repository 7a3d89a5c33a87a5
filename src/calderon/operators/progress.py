"""A live bar on the terminal while the parts of a matrix are computed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def assembly_progress(title: str, unit: str, shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function ``advance(done, total)``, or None where nothing is shown; unit: what is counted."""
    if not shown:
        yield None
        return
    columns = [TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn()]
    with Progress(*columns, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
