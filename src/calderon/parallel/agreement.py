"""Agreement of ranks: values they must have in common, so that none waits indefinitely, and a common end after
errors."""

import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TypeVar

from calderon.parallel.communicator import Communicator

T = TypeVar("T")


class RankError(RuntimeError):
    """Something failed on some of the ranks; all raise it and name the first of them."""


def agreed(ranks: Communicator, make: Callable[[], T]) -> T:
    """Call `make` on each rank and return its value on this one if it fails on none; make must not wait for other
    ranks.

    An error that occurs on all ranks is raised as it is, any other as RankError on every rank.
    """
    result, failure = None, None
    try:
        result = make()
    except Exception as error:  # noqa: BLE001 - every error must reach the other ranks
        failure = error
    texts = ranks.gather(None if failure is None else f"{failure}")
    failed = [rank for rank, text in enumerate(texts) if text is not None]
    if not failed:
        return result  # type: ignore[return-value]
    if failure is not None and len(failed) == ranks.size and len(set(texts)) == 1:
        raise failure
    raise RankError(f"rank {failed[0]}: {texts[failed[0]]}") from failure


def require_same(ranks: Communicator, choices: Mapping[str, Any]) -> None:
    """ValueError on every rank where one of the choices, compared by their texts, differs from that of rank 0."""
    own = {name: repr(value) for name, value in choices.items()}
    for rank, others in enumerate(found := ranks.gather(own)):
        for name, value in others.items():
            if value != found[0][name]:
                raise ValueError(
                    f"{name}={found[0][name]} on rank 0, {value} on rank {rank}: all ranks must make the same calls, "
                    "with the same arguments"
                )


def leave(ranks: Communicator, code: int, alone: Callable[[], None] | None = None) -> None:
    """Return if all ranks arrive here; else call `alone`, which may print why this one does, and end all of them.

    Other ranks have two seconds to meet the same error, and mpiexec as long to pass on the output before an abort.
    """
    if ranks.meet(2.0):
        return
    if alone is not None:
        alone()
    time.sleep(2.0)
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
