"""How a program on several ranks ends when one of them fails."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from calderon.parallel.communicator import Communicator

GRACE = 2.0
"""Seconds for other ranks to meet the same error, or for mpiexec to pass on the output before an abort."""


def leave(ranks: Communicator, code: int, alone: Callable[[], None] | None = None) -> None:
    """Return if all ranks arrive here; else call `alone`, which may print why this one does, and end all of them."""
    if ranks.meet(GRACE):
        return
    if alone is not None:
        alone()
    time.sleep(GRACE)
    ranks.abort(code)


class Ending:
    """Replaces sys.excepthook: a rank that fails alone, for which the others would wait indefinitely, reports it
    and ends all; ranks that fail together end normally."""

    def __init__(self, ranks: Communicator, report: Any) -> None:
        self._ranks, self._report = ranks, report

    def __call__(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._report(kind, error, trace)
        sys.stderr.flush()
        leave(self._ranks, 1)


def end_together(ranks: Communicator) -> None:
    """Let uncaught errors of a program end all its ranks."""
    if not isinstance(sys.excepthook, Ending):
        sys.excepthook = Ending(ranks, sys.excepthook)
