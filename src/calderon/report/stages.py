"""The stages of a run: what is being done, and how long each took."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def silent(name: str, seconds: float | None) -> None:
    """A listener that says nothing."""


class Stages:
    """Times named stages; the listener hears (name, None) when one starts and (name, seconds) when it ends.

    A stage that comes again (a frequency sweep) adds to its time.
    """

    def __init__(self, listener: Callable[[str, float | None], None] = silent) -> None:
        self.seconds: dict[str, float] = {}
        self._listener = listener

    @contextmanager
    def stage(self, name: str, detail: str = "") -> Iterator[None]:
        """Time the block under the name; the detail is for the listener only."""
        shown = f"{name}, {detail}" if detail else name
        self._listener(shown, None)
        start = time.perf_counter()
        yield
        spent = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + spent
        self._listener(shown, spent)
