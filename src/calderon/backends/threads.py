"""Distribute tasks to threads; tasks that write to the same rows run one after the other, in an order that is fixed
beforehand. So sums have equal bits, whichever thread is faster.

The order is that of a computed schedule: tasks with weights take so long, and those that share rows with much other
remaining work come first. In the order of their numbers, the last tasks would be neighbours of each other, which only
one thread can do at a time.

Linear algebra in tasks has one thread each: that of NumPy would start as many threads again for each of them.
"""

import functools
import heapq
import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  its library may be another one than NumPy's
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from calderon.backends.memory import share_memory
from calderon.backends.numba import thread_count


@functools.cache
def linear_algebra() -> Any:
    """The libraries of linear algebra of NumPy and SciPy, with their numbers of threads."""
    return ThreadpoolController().select(user_api="blas")


class OneThread:
    """While a caller is inside, linear algebra of NumPy and SciPy has one thread; several may be inside at once."""

    def __init__(self) -> None:
        self._lock, self._inside, self._limits = threading.Lock(), 0, list[Any]()

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limits.append(linear_algebra().limit(limits=1))

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limits.pop().restore_original_limits()


one_thread = OneThread()


Orders = SimpleQueue[tuple[Callable[[], None], Callable[[], None]]]
"""Orders of a thread: what it calls, and what it calls when that has returned."""


class Crew:
    """Threads that wait for work between runs, as many as ever ran at once: to start 16 takes milliseconds, to wake
    them a tenth of it."""

    def __init__(self) -> None:
        self._idle: deque[Orders] = deque()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._idle.clear)  # which has none of the threads

    def start(self, loops: Sequence[Callable[[], None]]) -> Callable[[], None]:
        """Call each of the functions, which raise nothing, in a thread of its own; a function that waits until all have
        returned. A signal ends the wait with its exception, within 0.2 s on every system; it may be called again."""
        returned, news = list[None](), SimpleQueue[None]()

        def done() -> None:
            returned.append(None)
            news.put(None)

        for work in loops:
            try:
                orders = self._idle.pop()
            except IndexError:
                orders = SimpleQueue()
                threading.Thread(target=self._serve, args=(orders,), name="calderon", daemon=True).start()
            orders.put((work, done))

        def wait() -> None:
            while len(returned) < len(loops):
                with suppress(Empty):
                    news.get(timeout=0.2)

        return wait

    def _serve(self, orders: Orders) -> None:
        while True:
            work, done = orders.get()
            work()
            del work  # what it refers to is not kept until the next one
            self._idle.append(orders)
            done()
            del done


crew = Crew()


class TaskQueue:
    """The tasks 0 .. count - 1 while they are distributed. `neighbours[task]` lists those that must not run with it,
    and itself."""

    def __init__(
        self,
        count: int,
        neighbours: Sequence[Iterable[int]] | None = None,
        advance: Callable[[], None] | None = None,
    ) -> None:
        self.pending = list(range(count))
        self.failures: list[BaseException] = []
        self.stopped = False
        self._neighbours = None if neighbours is None else [np.asarray(each, np.intp) for each in neighbours]
        self._advance = advance
        self._blocked = np.zeros(count, np.int64)
        self.condition = threading.Condition()
        self._delivering = threading.Lock()

    def take(self, leave: Callable[[int], bool] | None = None) -> int | None:
        """The first task that may run; None when all are taken, or left to others."""
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

    def take_run(self, length: Callable[[list[int]], int], leave: Callable[[int], bool] | None = None) -> range:
        """Consecutive tasks from the end, at most `length(pending)` and at least one; empty when all are taken, or left
        to others. Their neighbours may run: what they write is delivered in `exclusive`."""
        with self.condition:
            if not self.pending or self.stopped or (leave is not None and leave(self.pending[-1])):
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
                # from now on no neighbour of the tasks begins
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

        wait = crew.start([functools.partial(guarded, each) for each in loops])
        try:
            wait()
        except BaseException as error:
            self.fail(error)
            wait()
            raise
        if self.failures:
            raise self.failures[0]

    def _next(self) -> int | None:
        """Which of the pending tasks is to be taken, None if all must wait."""
        return next((task for task in self.pending if not self._blocked[task]), None)

    def _mark(self, task: int, step: int) -> None:
        if self._neighbours is not None:
            self._blocked[self._neighbours[task]] += step


class OrderedQueue(TaskQueue):
    """A queue in which the first of two neighbours in `order` (all tasks) runs first, and the other one waits for
    it."""

    def __init__(
        self,
        neighbours: Sequence[NDArray[np.intp]],
        order: Sequence[int],
        advance: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(len(order), None, advance)
        self.pending, self._order = list(order), order
        self._place = np.argsort(order)
        self._after = [each[self._place[each] > self._place[task]] for task, each in enumerate(neighbours)]
        for each in self._after:
            self._blocked[each] += 1
        self._free = np.sort(self._place[self._blocked == 0]).tolist()  # a heap of places in the order

    def _next(self) -> int | None:
        return self._order[heapq.heappop(self._free)] if self._free else None

    def _mark(self, task: int, step: int) -> None:
        """Tasks wait from the beginning, until all before them are done."""
        if step < 0:
            after = self._after[task]
            self._blocked[after] -= 1
            for place in self._place[after[self._blocked[after] == 0]].tolist():
                heapq.heappush(self._free, place)


def counted(advance: Callable[[int, int], None] | None, total: int) -> Callable[[], None]:
    """A function for `run_tasks` that calls advance(done, total) after each of so many tasks; None for nothing. Tasks
    that are done again, as a device failed, do not count."""
    done = itertools.count(1)
    return (lambda: None) if advance is None else lambda: advance(min(next(done), total), total)


def at_once(work: Callable[[], Any], other: Callable[[], Any]) -> tuple[Any, Any]:
    """Results of two independent functions, called side by side; both may run tasks. The second one is called in the
    calling thread, so that its warnings name the line of the caller."""
    if thread_count() == 1:
        return work(), other()
    # the first function in another thread
    results, failures = list[Any](), list[BaseException]()

    def guarded() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - passed to the caller below
            failures.append(error)

    with one_thread:
        wait = crew.start([guarded])
        try:
            second = other()
        finally:
            wait()
    if failures:
        raise failures[0]
    return results[0], second


class InOrder:
    """Results of tasks, used in the order of the tasks. What comes early is kept until those before it are there."""

    def __init__(self, use: Callable[..., None]) -> None:
        self._use, self._next = use, 0
        self._early: dict[int, tuple[Any, ...]] = {}
        self._lock = threading.Lock()

    def add(self, task: int, *result: Any) -> None:
        """The result of a task: use(*result) is called for it at once or later, never for two at a time."""
        with self._lock:
            self._early[task] = result
            while self._next in self._early:
                self._use(*self._early.pop(self._next))
                self._next += 1


def schedule(neighbours: Sequence[NDArray[np.intp]], weights: Sequence[float], threads: int) -> list[int]:
    """The order in which so many threads would begin tasks that take as long as they weigh: each time the task with
    the heaviest neighbours left, itself included, of which no neighbour runs."""
    lengths = np.asarray(weights, np.float64)
    burden = np.array([lengths[each].sum() for each in neighbours])
    blocked = np.zeros(len(lengths), np.int64)
    # until all have begun
    running, order, now = list[tuple[float, int]](), list[int](), 0.0
    while len(order) < len(lengths):
        task = int(np.argmax(np.where(blocked == 0, burden, -1.0))) if len(running) < threads else -1
        if task < 0 or blocked[task]:
            # no thread is free, or all that is left has a neighbour that runs: the next task ends
            now = running[0][0]
            while running and running[0][0] <= now:
                blocked[neighbours[heapq.heappop(running)[1]]] -= 1
            continue
        # the task begins
        order.append(task)
        blocked[task] += 1  # for good
        blocked[neighbours[task]] += 1
        burden[neighbours[task]] -= lengths[task]
        heapq.heappush(running, (now + lengths[task], task))
    return order


def run_tasks(
    work: Callable[[int], None],
    count: int,
    neighbours: Sequence[Iterable[int]] | None = None,
    weights: Sequence[float] | None = None,
    advance: Callable[[], None] | None = None,
) -> None:
    """Call `work(task)` for every task in range(count) on all threads.

    neighbours[task] lists the tasks that must not run at the same time as `task` (they share rows of the output), and
    itself, so no locks, atomics or private copies are needed. They run in an order that depends on the arguments and
    the number of threads only. weights[task]: its work, in any unit, for an order in which no thread waits for another
    in the end; None for the order of the numbers. `advance` is called once after each task, from the calling thread's
    process, under the scheduler's lock. The first exception, also KeyboardInterrupt, stops the distribution, waits for
    the running tasks and is raised.
    """
    share_memory()
    # a queue, in which neighbours have an order
    if neighbours is None:
        queue = TaskQueue(count, None, advance)
    else:
        groups = [np.asarray(each, np.intp) for each in neighbours]
        order = range(count) if weights is None else schedule(groups, weights, thread_count())
        queue = OrderedQueue(groups, order, advance)
    # tasks that are independent of each other need no queue
    numbers = iter(range(count))

    def loop() -> None:
        while (task := queue.take()) is not None:
            work(task)
            queue.done((task,))

    def independent() -> None:
        for task in numbers:  # shared: each number comes once
            if queue.stopped:
                break
            work(task)

    with one_thread:
        queue.run([independent if neighbours is None and advance is None else loop] * min(thread_count(), count))


def in_parts(work: Callable[[int, int], Any], count: int, most: int | None = None) -> None:
    """Call work(low, high) for parts of range(count) on all threads; a single thing is done at once.

    Eight parts, and two more for each thread, keep all of them busy until the end where parts take unequal times. One
    thread works in place: ten calls on a thread of their own made products of 20 ms longer by a fifth. most: things in
    a part at most, for loops that take long: an interruption ends them after the parts that have begun, on one thread,
    too.
    """
    parts = 2 * thread_count() + 8 if thread_count() > 1 else 1
    parts = min(count, max(parts, -(-count // most) if most else 1))
    if parts <= 1:
        if count:
            work(0, count)
        return
    bounds = np.linspace(0, count, parts + 1).astype(np.int64).tolist()
    run_tasks(lambda n: work(bounds[n], bounds[n + 1]), parts)
