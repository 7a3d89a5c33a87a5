"""The stages of a run: their names, and how long each took."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Teller = Callable[[str, int, int], None]
"""Receives the stage, the parts of it done and all parts."""


def silent(name: str, seconds: float | None) -> None:
    """A listener that prints nothing."""


class Stages:
    """Times named stages; the listener receives (name, None) when one starts and (name, seconds) when it ends, the
    teller the progress of a long one.

    A stage that comes again (a frequency sweep) adds to its time.
    """

    def __init__(
        self, listener: Callable[[str, float | None], None] = silent, teller: Teller = lambda name, done, total: None
    ) -> None:
        self.seconds: dict[str, float] = {}
        self._listener, self._teller, self._current = listener, teller, ""

    def progress(self, done: int, total: int) -> None:
        """Report the progress of the present stage."""
        self._teller(self._current, done, total)

    @contextmanager
    def stage(self, name: str, detail: str = "") -> Iterator[None]:
        """Time the block under the name; the detail is for the listener only."""
        shown = f"{name}, {detail}" if detail else name
        self._listener(shown, None)
        self._current = shown
        start = time.perf_counter()
        yield
        spent = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + spent
        self._listener(shown, spent)
