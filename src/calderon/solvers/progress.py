"""A live line on the terminal while an iteration runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import log10

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


@contextmanager
def live_progress(title: str, rtol: float, shown: bool) -> Iterator[Callable[[int, float], None]]:
    """Yield a function ``report(iteration, residual)``; the bar fills with the logarithm of the residual.

    The line is closed and the cursor restored however the block ends, also by an interrupt from the keyboard.
    """
    if not shown:
        yield lambda iteration, residual: None
        return
    goal = max(-log10(rtol), 1e-9) if rtol > 0 else 16.0
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("iteration {task.fields[iteration]}, residual {task.fields[residual]:.1e}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as bar:
        task = bar.add_task(title, total=goal, iteration=0, residual=1.0)

        def report(iteration: int, residual: float) -> None:
            done = goal if residual <= 0 else min(max(-log10(residual), 0.0), goal)
            bar.update(task, completed=done, iteration=iteration, residual=residual)

        yield report
