"""A bar on the terminal that appears when work takes long."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from calderon.validation import truth

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
    """A bar of one task that is `wanted`: from the beginning for shown=True, after two seconds for None. The terminal
    is left as it was however its block ends, also by an interrupt from the keyboard."""

    def __init__(self, columns: tuple[ProgressColumn, ...], title: str, shown: bool | None, **fields: Any) -> None:
        self._began, self._bar = time.monotonic(), Progress(*columns, transient=shown is None)
        self._task = self._bar.add_task(title, **fields)
        self._waits = shown is None
        if shown:
            self._bar.start()

    def update(self, **values: Any) -> None:
        """Set values of the task."""
        self._bar.update(self._task, **values)
        if self._waits and time.monotonic() - self._began > PATIENCE:
            self._bar.start()
            self._waits = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._waits:
            self._bar.stop()


@contextmanager
def assembly_progress(title: str, unit: str, shown: bool | None) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function ``advance(done, total)``, or None where nothing is shown; unit: what is counted."""
    if not wanted(shown):
        yield None
        return
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeRemainingColumn())
    with LiveBar(columns, title, shown, total=None) as bar:
        yield lambda done, total: bar.update(completed=done, total=total)


@contextmanager
def live_progress(title: str, rtol: float, shown: bool | None) -> Iterator[Callable[[int, float], None]]:
    """Yield a function ``report(iteration, residual)``; the bar fills with the logarithm of the residual."""
    if not wanted(shown if shown is None else truth(shown, "progress")):
        yield lambda iteration, residual: None
        return
    goal = max(-math.log10(rtol), 1e-9) if rtol > 0 else 16.0
    text = TextColumn("iteration {task.fields[iteration]}, residual {task.fields[residual]:.1e}")
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), text, TimeElapsedColumn()
    with LiveBar(columns, title, shown, total=goal, iteration=0, residual=1.0) as bar:

        def report(iteration: int, residual: float) -> None:
            done = goal if residual <= 0 else min(max(-math.log10(residual), 0.0), goal)
            bar.update(completed=done, iteration=iteration, residual=residual)

        yield report
