"""A live bar on the terminal while the parts of a matrix are computed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from calderon.solvers.live_bar import live_bar, wanted


@contextmanager
def assembly_progress(title: str, unit: str, shown: bool | None) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function ``advance(done, total)``, or None where nothing is shown; unit: what is counted."""
    if not wanted(shown):
        yield None
        return
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    with live_bar(columns, title, shown, total=None) as bar:
        yield lambda done, total: bar.update(completed=done, total=total)
