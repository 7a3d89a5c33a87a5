"""When a run writes its checkpoints: about every so many seconds, before a signal ends it, and at its end."""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from calderon.dg.run.checkpoint import Expected, Moment, RunKey, read_checkpoint, write_checkpoint
from calderon.files import sweep
from calderon.parallel import Communicator, agreed
from calderon.processes import Postponed, held
from calderon.validation import callers_level, real_number, truth


class Checkpoints:
    """The checkpoints of a run in one file, None for none. seconds: about the time from one to the next. kept: whether
    the last state stays in the file; the same run then ends there at once."""

    def __init__(
        self, path: str | os.PathLike[str] | None, seconds: Any, kept: bool, key: RunKey, ranks: Communicator
    ) -> None:
        if (pause := real_number(seconds, "checkpoint_seconds")) < 0:
            raise ValueError(f"checkpoint_seconds={seconds!r}: a number of seconds, not negative, is needed")
        self.path, self.kept = path, truth(kept, "keep_checkpoint")
        self._seconds, self._key, self._ranks = pause, key, ranks
        self._last, self._warned = time.monotonic(), False

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the file is used by this run alone; InUse, on all ranks, where another process uses it."""
        with ExitStack() as stack:
            if isinstance(self.path, str | os.PathLike) and Path(self.path).absolute().parent.is_dir():
                path = Path(self.path).absolute()

                def hold() -> None:
                    if self._ranks.rank == 0:
                        stack.enter_context(held(path, "wait for it, or name another checkpoint"))
                        sweep(path)

                agreed(self._ranks, hold)
            yield

    def read(self, expected: Callable[[], Expected]) -> Moment | None:
        """The state of an interrupted run, None if there is none. Errors as for `read_checkpoint`."""
        return None if self.path is None else read_checkpoint(self.path, self._key, expected)

    def due(self, stops: Postponed) -> tuple[bool, int]:
        """For all ranks together: whether it is time for a checkpoint, and the signal that one of them received, or
        0."""
        own = time.monotonic() - self._last > self._seconds, stops.asked
        if self._ranks.size == 1:
            return own
        gathered = self._ranks.gather(own)
        return gathered[0][0], max(number for _, number in gathered)

    def write(self, moment: Moment) -> None:
        """Write the state on rank 0. Where that fails, as on a full disk, the last good checkpoint stays, the run goes
        on, and a later state is tried; the first failure is reported by a warning."""
        if self._ranks.rank == 0 and self.path is not None:
            try:
                write_checkpoint(self.path, self._key, moment)
            except OSError as error:
                if not self._warned:
                    self._warned = True
                    warnings.warn(self._failure(moment.steps, error), UserWarning, stacklevel=callers_level())
        self._last = time.monotonic()

    def _failure(self, steps: int, error: OSError) -> str:
        """The warning of a checkpoint that could not be written."""
        reason = error.strerror or error
        there = "the last one stays" if Path(str(self.path)).is_file() else "there is none yet"
        return (
            f"the checkpoint after step {steps} could not be written to {str(self.path)!r} ({reason}): {there}; "
            "the run goes on and tries again: make room on that disk"
        )

    def done(self) -> None:
        """Remove the file after the run, unless the last state is to stay."""
        if self._ranks.rank == 0 and self.path is not None and not self.kept:
            Path(self.path).unlink(missing_ok=True)
