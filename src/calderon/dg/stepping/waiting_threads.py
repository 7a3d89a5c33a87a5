"""Threads that wait for the next half step.

`backends.run_tasks` starts its threads anew at each call, which takes 0.14 ms for two. Half steps of small meshes are
as short as that, and a run has thousands of them: here threads persist and sleep between the calls.
"""

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from calderon.backends import thread_count


class WaitingThreads:
    """All threads that kernels use, the caller's among them; the others start at the first call that needs them and end
    with this object. number: of all."""

    def __init__(self) -> None:
        self.number = thread_count()
        self._others: ThreadPoolExecutor | None = None
        self._process = 0

    def run(self, work: Callable[[int], None], count: int) -> None:
        """Call `work(task)` for every task in range(count), in this order, each by the next free thread; raises
        an error of the tasks when all threads have stopped."""
        tasks = itertools.count()

        def loop() -> None:
            while (task := next(tasks)) < count:
                work(task)

        if min(self.number, count) < 2:
            loop()
            return
        if self._others is None or self._process != os.getpid():  # threads do not survive in a forked process
            self._others, self._process = ThreadPoolExecutor(self.number - 1, "calderon-step"), os.getpid()
        running = [self._others.submit(loop) for _ in range(min(self.number, count) - 1)]
        try:
            loop()
        finally:
            wait(running)
        for each in running:
            each.result()
