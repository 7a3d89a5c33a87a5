"""How far a run is: a bar, or whoever wants to know."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import Progress

SHOWN = 20
"""Steps between two updates."""
Listener = Callable[[int, int], None]
"""Called with the steps done and all steps."""


def silent() -> None:
    """Says nothing."""


@contextmanager
def progress_of(choice: bool | Listener, text: str, total: int, rank: int) -> Iterator[Callable[[int], None]]:
    """A function to be told the number of steps done. choice: whether a bar with the time left is shown, or a function
    that is told instead. Ranks other than 0 say nothing."""
    listener = choice if callable(choice) else None
    if listener is None and not isinstance(choice, bool):
        raise ValueError(f"progress={choice!r}: True, False or a function of the parts done and all parts is needed")
    with Progress(transient=True, disable=listener is not None or not choice or rank > 0) as bar:
        task = bar.add_task(text, total=total)

        def tell(done: int) -> None:
            if done % SHOWN and done < total or rank > 0:
                return
            if listener is not None:
                listener(done, total)
            else:
                bar.update(task, completed=done)

        yield tell
