"""Work shared by the processor and devices, or by several devices, in proportion to their measured speeds.

A product is shared in fixed parts (`at_the_same_time`), of which the processor's is as large as measured seconds say
(`balanced_share`), since its blocks stay where they are. A matrix is set up from one list of tasks (`share_tasks`):
the processor's threads take tasks one by one from the front, each device takes runs of them from the end. A run is half
of a device's share of what is left, by the work that each did per second until then, so that all end together whatever
their speeds; the first run is a small one, to measure. (Static shares from a calibration would be wrong for the next
kernel, and on a machine that runs other programs too.)
"""

import functools
import itertools
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import thread_count
from calderon.backends.threads import TaskQueue


class HandedOver(Exception):
    """Raised by a device that fails and has written nothing of its run, so that others may do it; says what failed."""


class SharingWarning(UserWarning):
    """A device failed, and others do its work."""


Result = TypeVar("Result")
Deliver = Callable[[], AbstractContextManager[Any]]


class Speeds:
    """Record of the `work` (in any unit) that each worker did in `seconds`."""

    def __init__(self, weights: NDArray[np.float64], workers: int) -> None:
        self.weights = weights
        self.work, self.seconds = np.zeros(workers), np.zeros(workers)

    def record(self, worker: int, tasks: Iterable[int], seconds: float) -> None:
        self.work[worker] += self.weights[list(tasks)].sum()
        self.seconds[worker] += seconds

    def rate(self, worker: int) -> float:
        """Work per second; 0 before anything is measured."""
        return float(self.work[worker] / self.seconds[worker]) if self.seconds[worker] > 0 else 0.0

    def length(self, worker: int, pending: list[int]) -> int:
        """How many of the last pending tasks are the next run of a worker.

        The first run is a sixteenth of all work, shared by the workers; later ones take 20 ms or more, so that launches
        do not dominate.
        """
        left = self.weights[pending]
        own = self.rate(worker)
        rates = sum(self.rate(each) for each in range(len(self.work)))
        wanted = self.weights.sum() / (16 * len(self.work))
        if own > 0:
            wanted = max(0.5 * left.sum() * own / rates, 0.02 * own)
        return int(np.searchsorted(np.cumsum(left[::-1]), wanted, "right"))

    def too_long(self, worker: int, task: int, pending: list[int], threads: int) -> bool:
        """Whether one thread of a worker would take longer for the task than the others for all that is left."""
        others = sum(self.rate(each) for each in range(len(self.work)) if each != worker)
        own = self.rate(worker) / threads
        return own > 0 and others > 0 and self.weights[task] / own > self.weights[pending].sum() / others


def share_tasks(
    processor: Callable[[int], None] | None,
    devices: Sequence[Callable[[range, Deliver], None]],
    weights: NDArray[np.float64],
    neighbours: Sequence[Iterable[int]] | None = None,
    advance: Callable[[], None] | None = None,
) -> NDArray[np.float64]:
    """Do all tasks, one for each weight (their work, in any unit); return the part (workers,) that each worker did, the
    processor first.

    processor(task): on one thread, None to leave the processor out. devices: each called with a run of tasks and
    `deliver`, a context in which it may write what neighbours of the run write, too; what a device leaves by HandedOver
    is distributed to the others, with a SharingWarning; if there are no others, its cause is raised. neighbours,
    advance, other errors: as in `run_tasks`.
    """
    queue = TaskQueue(len(weights), neighbours, advance)
    first = 0 if processor is None else 1
    speeds, threads, began = Speeds(weights, first + len(devices)), thread_count(), time.perf_counter()

    # the processor: each thread takes tasks one by one, none that would end later than the devices
    def on_processor() -> None:
        assert processor is not None
        while (task := queue.take(lambda task: speeds.too_long(0, task, queue.pending, threads))) is not None:
            processor(task)
            with queue.condition:
                speeds.record(0, (task,), 0.0)
                speeds.seconds[0] = time.perf_counter() - began
            queue.done((task,))

    # a device: runs of tasks, as long as its speed so far suggests
    working, failures = list(range(len(devices))), list[str]()

    def on_device(number: int) -> None:
        worker = first + number
        while tasks := queue.take_run(lambda pending: speeds.length(worker, pending)):
            started = time.perf_counter()
            try:
                devices[number](tasks, lambda tasks=tasks: queue.exclusive(tasks))  # type: ignore[misc]
            except HandedOver as failure:
                working.remove(number)
                speeds.seconds[worker] = 0.0  # no longer used
                if not working and processor is None:
                    raise failure.__cause__ or failure from None
                failures.append(str(failure))
                queue.give_back(tasks)
                return
            with queue.condition:
                speeds.record(worker, tasks, time.perf_counter() - started)
            queue.done(tasks, delivered=True)

    while queue.pending:  # again where a device failed when the others had ended
        loops: list[Callable[[], None]] = [on_processor] * (threads if processor is not None else 0)
        loops += [lambda number=number: on_device(number) for number in working]  # type: ignore[misc]
        try:
            queue.run(loops)
        finally:  # warnings of other threads may be lost where one of them ignores some for a while
            for failure in failures:
                warnings.warn(f"{failure}; the others do its work", SharingWarning, stacklevel=2)
            failures.clear()
    return speeds.work / max(float(speeds.work.sum()), 1e-300)


TRIAL = 0.125
"""The part of the near blocks that the processor has in the first trial of `balanced_share`."""


def at_the_same_time(products: Sequence[Callable[[], Result]]) -> tuple[list[Result], list[float]]:
    """Results of functions that are called at the same time, in their order, and the seconds that each took."""
    found, seconds = dict[int, Result](), [0.0] * len(products)

    def work(n: int) -> None:
        began = time.perf_counter()
        found[n] = products[n]()
        seconds[n] = time.perf_counter() - began

    TaskQueue(0).run([functools.partial(work, n) for n in range(len(products))])
    return [found[n] for n in range(len(products))], seconds


def balanced_share(build: Callable[[float], Sequence[Callable[[], Any]]]) -> float:
    """The part of the near blocks, between 0 and 1, with which the processor ends when the last of the devices does.

    build(share): the products of all with such a part, the processor's first. Two parts are tried, TRIAL and the one
    that proportional seconds suggest; where the straight lines through the seconds of both meet, all end together.
    """
    tried = []
    share = TRIAL
    for _ in range(2):
        products = build(share)
        at_the_same_time(products)  # what is compiled or sent at first is not measured
        _, (own, *others) = at_the_same_time(products)
        tried.append((share, own, max(others)))
        share = others_share(share, own, max(others))
    (first, own, other), (last, own_last, other_last) = tried
    slope = (own_last - own) - (other_last - other)
    if last == first or (last - first) * slope <= 0:  # noise: seconds of the processor grow with its part
        return share
    return float(np.clip(first + (other - own) * (last - first) / slope, 0.0, 1.0))


def others_share(share: float, own: float, other: float) -> float:
    """The part with which both would take as long, if seconds were proportional to parts: own with `share`, other with
    the rest."""
    rates = share / max(own, 1e-9), (1 - share) / max(other, 1e-9)
    return rates[0] / sum(rates)


def runs_of_work(work: NDArray[np.float64], fractions: Sequence[float]) -> list[tuple[int, int]]:
    """Runs (low, high) of things with these parts of all work, about; fractions: of the sum of work, 1 in all."""
    sums = np.append(0.0, np.cumsum(work))
    inner = np.searchsorted(sums, np.cumsum(fractions)[:-1] * sums[-1]).tolist()
    bounds = [0, *(min(each, len(work)) for each in inner), len(work)]
    return list(itertools.pairwise(bounds))
