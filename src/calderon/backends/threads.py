"""Deal tasks to threads; tasks that write to the same rows never run side by side."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from calderon.backends.numba import thread_count


class Dealing:
    """The tasks 0 .. count - 1 while they are dealt. `neighbours[task]` lists those that must not run beside it."""

    def __init__(
        self,
        count: int,
        neighbours: Sequence[Iterable[int]] | None = None,
        advance: Callable[[], None] | None = None,
    ) -> None:
        self.pending = list(range(count))
        self.failures: list[BaseException] = []
        self.stopped = False
        self._neighbours, self._advance = neighbours, advance
        self._blocked = [0] * count
        self.condition = threading.Condition()
        self._delivering = threading.Lock()

    def take(self, leave: Callable[[int], bool] | None = None) -> int | None:
        """The next task none of whose neighbours runs, from the front; None when all are dealt, or left to others."""
        with self.condition:
            while self.pending and not self.stopped:
                if leave is not None and leave(self.pending[0]):
                    return None
                for position, task in enumerate(self.pending):
                    if not self._blocked[task]:
                        del self.pending[position]
                        self._mark(task, 1)
                        return task
                self.condition.wait()
        return None

    def take_run(self, length: Callable[[list[int]], int]) -> range:
        """Consecutive tasks from the end, at most `length(pending)` and at least one; empty when all are dealt. Their
        neighbours may run: what they write is delivered in `exclusive`."""
        with self.condition:
            if not self.pending or self.stopped:
                return range(0)
            most = max(1, length(self.pending))
            last, first = self.pending.pop(), 0
            for first in range(last, last - most, -1):
                if first == last:
                    continue
                if not self.pending or self.pending[-1] != first:
                    first += 1
                    break
                self.pending.pop()
            return range(first, last + 1)

    @contextmanager
    def exclusive(self, tasks: range) -> Iterator[None]:
        """While neither a neighbour of these tasks runs nor another delivers."""
        with self._delivering:
            with self.condition:
                while self._neighbours is not None and any(self._blocked[task] for task in tasks) and not self.stopped:
                    self.condition.wait()
                for task in tasks:
                    self._mark(task, 1)
            try:
                yield
            finally:
                with self.condition:
                    for task in tasks:
                        self._mark(task, -1)
                    self.condition.notify_all()

    def done(self, tasks: Iterable[int], delivered: bool = False) -> None:
        """After tasks that were taken; delivered: by `exclusive`."""
        with self.condition:
            for task in tasks:
                if not delivered:
                    self._mark(task, -1)
                if self._advance is not None and not self.stopped:
                    self._advance()
            self.condition.notify_all()

    def give_back(self, tasks: Iterable[int]) -> None:
        """Tasks of a run of which nothing was written are pending again."""
        with self.condition:
            self.pending = sorted([*self.pending, *tasks])
            self.condition.notify_all()

    def fail(self, error: BaseException) -> None:
        """Stop the dealing; the first error is raised by `run`."""
        with self.condition:
            self.failures.append(error)
            self.stopped = True
            self.condition.notify_all()

    def run(self, loops: Sequence[Callable[[], None]]) -> None:
        """Run all loops in threads of their own until the last one returns; raises the first error."""

        def guarded(loop: Callable[[], None]) -> None:
            try:
                loop()
            except BaseException as error:  # noqa: BLE001 - handed to the caller below
                self.fail(error)

        threads = [threading.Thread(target=guarded, args=(loop,), daemon=True) for loop in loops]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)
        except BaseException:
            with self.condition:
                self.stopped = True
                self.condition.notify_all()
            for thread in threads:
                thread.join()
            raise
        if self.failures:
            raise self.failures[0]

    def _mark(self, task: int, step: int) -> None:
        for other in self._neighbours[task] if self._neighbours is not None else ():
            self._blocked[other] += step


def run_tasks(
    work: Callable[[int], None],
    count: int,
    neighbours: Sequence[Iterable[int]] | None = None,
    advance: Callable[[], None] | None = None,
) -> None:
    """Call `work(task)` for every task in range(count) on all threads.

    neighbours[task] lists the tasks that must not run at the same time as `task` (they share rows of the output), so
    no locks, atomics or private copies are needed. `advance` is called once after each task, from the calling thread's
    process, under the scheduler's lock. The first exception, also KeyboardInterrupt, stops the dealing, waits for the
    tasks under way and is raised.
    """
    dealing = Dealing(count, neighbours, advance)

    def loop() -> None:
        while (task := dealing.take()) is not None:
            work(task)
            dealing.done((task,))

    dealing.run([loop] * min(thread_count(), count))
