"""Distribute tasks to threads; tasks that write to the same rows never run at the same time.

Of tasks with weights, those that share rows with much other remaining work come first. In the order of their numbers,
the last tasks would be neighbours of each other, which only one thread can do at a time.
"""

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from calderon.backends.numba import thread_count


class TaskQueue:
    """The tasks 0 .. count - 1 while they are distributed. `neighbours[task]` lists those that must not run with it,
    and itself. weights: the work of each task, in any unit; None for the order of their numbers."""

    def __init__(
        self,
        count: int,
        neighbours: Sequence[Iterable[int]] | None = None,
        advance: Callable[[], None] | None = None,
        weights: Sequence[float] | None = None,
    ) -> None:
        self.pending = list(range(count))
        self.failures: list[BaseException] = []
        self.stopped = False
        self._neighbours = None if neighbours is None else [np.asarray(each, np.intp) for each in neighbours]
        self._advance = advance
        self._blocked, self._waiting = np.zeros(count, np.int64), np.ones(count, bool)
        self._weights = self._burden = None
        if weights is not None and self._neighbours is not None:
            self._weights = np.asarray(weights, np.float64)
            self._burden = np.array([self._weights[each].sum() for each in self._neighbours])
        self.condition = threading.Condition()
        self._delivering = threading.Lock()

    def take(self, leave: Callable[[int], bool] | None = None) -> int | None:
        """A task of which no neighbour runs: the first, or that with the heaviest pending neighbours, itself included;
        None when all are taken, or left to others."""
        with self.condition:
            while self.pending and not self.stopped:
                if leave is not None and leave(self.pending[0]):
                    return None
                task = self._next()
                if task is not None:
                    self.pending.remove(task)
                    self._mark(task, 1)
                    return task
                self.condition.wait()
        return None

    def take_run(self, length: Callable[[list[int]], int]) -> range:
        """Consecutive tasks from the end, at most `length(pending)` and at least one; empty when all are taken. Their
        neighbours may run: what they write is delivered in `exclusive`."""
        with self.condition:
            if not self.pending or self.stopped:
                return range(0)
            last, count = self.pending[-1], 1
            most = min(length(self.pending), len(self.pending))
            while count < most and self.pending[-1 - count] == last - count:
                count += 1
            del self.pending[-count:]
            return range(last + 1 - count, last + 1)

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
        """Stop the distribution; the first error is raised by `run`."""
        with self.condition:
            self.failures.append(error)
            self.stopped = True
            self.condition.notify_all()

    def run(self, loops: Sequence[Callable[[], None]]) -> None:
        """Run all loops in threads of their own until the last one returns; raises the first error."""

        def guarded(loop: Callable[[], None]) -> None:
            try:
                loop()
            except BaseException as error:  # noqa: BLE001 - passed to the caller below
                self.fail(error)

        threads = [threading.Thread(target=guarded, args=(loop,), daemon=True) for loop in loops]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)
        except BaseException as error:
            self.fail(error)
            for thread in threads:
                thread.join()
            raise
        if self.failures:
            raise self.failures[0]

    def _next(self) -> int | None:
        """Which of the pending tasks is to be taken, None if all must wait."""
        if self._weights is None or self._burden is None or self._neighbours is None:
            return next((task for task in self.pending if not self._blocked[task]), None)
        free = np.flatnonzero(self._waiting & (self._blocked == 0))
        if not free.size:
            return None
        task = int(free[np.argmax(self._burden[free])])
        self._waiting[task] = False
        self._burden[self._neighbours[task]] -= self._weights[task]
        return task

    def _mark(self, task: int, step: int) -> None:
        if self._neighbours is not None:
            self._blocked[self._neighbours[task]] += step


def counted(advance: Callable[[int, int], None] | None, total: int) -> Callable[[], None]:
    """A function for `run_tasks` that calls advance(done, total) after each of so many tasks; None for nothing."""
    done = itertools.count(1)
    return (lambda: None) if advance is None else lambda: advance(next(done), total)


def run_tasks(
    work: Callable[[int], None],
    count: int,
    neighbours: Sequence[Iterable[int]] | None = None,
    weights: Sequence[float] | None = None,
    advance: Callable[[], None] | None = None,
) -> None:
    """Call `work(task)` for every task in range(count) on all threads.

    neighbours[task] lists the tasks that must not run at the same time as `task` (they share rows of the output), and
    itself, so no locks, atomics or private copies are needed. weights[task]: its work, in any unit, for an order in
    which no thread waits for another in the end; None for the order of the numbers. `advance` is called once after
    each task, from the calling thread's process, under the scheduler's lock. The first exception, also
    KeyboardInterrupt, stops the distribution, waits for the running tasks and is raised.
    """
    queue = TaskQueue(count, neighbours, advance, weights)

    def loop() -> None:
        while (task := queue.take()) is not None:
            work(task)
            queue.done((task,))

    queue.run([loop] * min(thread_count(), count))
