"""A bar on the terminal that appears when work takes long."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

PATIENCE = 2.0
"""Seconds of work before a bar appears by itself."""
_OTHERS: ContextVar[bool] = ContextVar("calderon_displays", default=False)
"""Whether another display has the terminal."""


@contextmanager
def own_display() -> Iterator[None]:
    """A block that shows its progress itself: bars do not appear by themselves within it."""
    before = _OTHERS.set(True)
    try:
        yield
    finally:
        _OTHERS.reset(before)


def wanted(shown: bool | None) -> bool:
    """Whether a bar may appear: always for True, never for False; for None on a terminal or in a notebook, where no
    other display is."""
    if shown is not None:
        return shown
    console = Console()
    return not _OTHERS.get() and (console.is_terminal or console.is_jupyter)


class LiveBar:
    """A bar of one task that is `wanted`: from the beginning for shown=True, after two seconds for None."""

    def __init__(self, columns: tuple[ProgressColumn, ...], title: str, shown: bool | None, **fields: Any) -> None:
        self._began, self._bar = time.monotonic(), Progress(*columns, transient=shown is None)
        self._task = self._bar.add_task(title, **fields)
        self._waits = shown is None
        self._live = bool(shown)
        if shown:
            self._bar.start()

    def update(self, **values: Any) -> None:
        """New values of the task."""
        self._bar.update(self._task, **values)
        if self._waits and time.monotonic() - self._began > PATIENCE:
            self._bar.start()
            self._waits, self._live = False, True

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._live:
            self._bar.stop()


@contextmanager
def live_bar(columns: tuple[ProgressColumn, ...], title: str, shown: bool | None, **fields: Any) -> Iterator[LiveBar]:
    """A bar that is closed however the block ends, also by an interrupt from the keyboard."""
    bar = LiveBar(columns, title, shown, **fields)
    try:
        yield bar
    finally:
        bar.close()


@contextmanager
def assembly_progress(title: str, unit: str, shown: bool | None) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function ``advance(done, total)``, or None where nothing is shown; unit: what is counted."""
    if not wanted(shown):
        yield None
        return
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    with live_bar(columns, title, shown, total=None) as bar:
        yield lambda done, total: bar.update(completed=done, total=total)
