"""Deal tasks to threads; tasks that write to the same rows never run side by side."""

import threading
from collections.abc import Callable, Iterable, Sequence

from calderon.backends.numba import thread_count


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
    pending = list(range(count))
    blocked = [0] * count
    condition = threading.Condition()
    failures: list[BaseException] = []
    stop = False

    def take() -> int | None:
        """The next task none of whose neighbours runs; None when all are dealt. Called with the lock held."""
        while pending and not stop:
            for position, task in enumerate(pending):
                if not blocked[task]:
                    del pending[position]
                    _mark(task, 1)
                    return task
            condition.wait()
        return None

    def _mark(task: int, step: int) -> None:
        for other in neighbours[task] if neighbours is not None else ():
            blocked[other] += step

    def loop() -> None:
        nonlocal stop
        while True:
            with condition:
                task = take()
            if task is None:
                return
            try:
                work(task)
            except BaseException as error:  # noqa: BLE001 - handed to the caller below
                failures.append(error)
                stop = True
            with condition:
                _mark(task, -1)
                if advance is not None and not stop:
                    advance()
                condition.notify_all()

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(min(thread_count(), count))]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
    except BaseException:
        with condition:
            stop = True
            condition.notify_all()
        for thread in threads:
            thread.join()
        raise
    if failures:
        raise failures[0]
