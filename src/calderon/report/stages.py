"""The stages of a run: their names, how long each took, and their display on a terminal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from calderon.backends.numba import compilation_seconds
from calderon.solvers.live_bar import own_display

COMPILATION = "compile kernels, the first time"
Listener = Callable[[str, float | None], None]
ProgressListener = Callable[[str, int, int], None]


class Stages:
    """Times named stages. The listener receives (name, None) when one starts and (name, seconds) when it ends;
    on_progress (name, parts done, all parts) of a long one.

    A stage that comes again (a frequency sweep) adds to its time. The compilation of kernels during stages has a row of
    its own, `COMPILATION`, and is no part of theirs: the next run does without it.
    """

    def __init__(
        self,
        listener: Listener = lambda name, seconds: None,
        on_progress: ProgressListener = lambda name, done, total: None,
    ) -> None:
        self.seconds: dict[str, float] = {}
        self._listener, self._on_progress, self._current = listener, on_progress, ""

    def progress(self, done: int, total: int) -> None:
        """Report the progress of the present stage."""
        self._on_progress(self._current, done, total)

    @contextmanager
    def stage(self, name: str, detail: str = "") -> Iterator[None]:
        """Time the block under the name; the detail is for the listener only."""
        shown = f"{name}, {detail}" if detail else name
        self._listener(shown, None)
        self._current = shown
        start, compiled = time.perf_counter(), compilation_seconds()
        yield
        compiling = compilation_seconds() - compiled
        spent = max(0.0, time.perf_counter() - start - compiling)
        if compiling > 0:
            self.seconds[COMPILATION] = self.seconds.get(COMPILATION, 0.0) + compiling
        self.seconds[name] = self.seconds.get(name, 0.0) + spent
        self._listener(shown, spent)


@contextmanager
def stages_on(screen: Console) -> Iterator[Stages]:
    """Stages shown while they run: live on a terminal, a line each elsewhere, and a line for each tenth of a long
    one."""
    columns = (
        SpinnerColumn(finished_text="[green]✓[/green]"),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with own_display(), Progress(*columns, console=screen, disable=not screen.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}
        seen: dict[str, tuple[float, int]] = {}  # time and progress of the first report of a stage
        tenths: dict[str, int] = {}

        def listen(name: str, seconds: float | None) -> None:
            if not screen.is_terminal:
                if seconds is not None:
                    screen.print(f"  {escape(name)}: {seconds:.2f} s", soft_wrap=True)
            elif seconds is None:
                tasks[name] = progress.add_task(name, total=1, left="")
            else:
                progress.update(tasks[name], completed=1, total=1, left="")

        def show_progress(name: str, done: int, total: int) -> None:
            left = f"{100 * done / total:.0f} %{_left(seen, name, done, total)}"
            if screen.is_terminal:
                progress.update(tasks[name], completed=done, total=total, left=left)
                return
            if name not in tenths:
                screen.print(f"  {escape(name)} ...", soft_wrap=True)
            if (tenth := 10 * done // total) > tenths.setdefault(name, 0) and done < total:
                tenths[name] = tenth
                screen.print(f"    {left}")

        yield Stages(listen, show_progress)


def _left(seen: dict[str, tuple[float, int]], name: str, done: int, total: int) -> str:
    """The time left at the pace since the first report of the stage, which may have continued from a checkpoint."""
    now = time.monotonic()
    since, first = seen.setdefault(name, (now, done))
    return f", {(now - since) * (total - done) / (done - first):.0f} s left" if done > first else ""
