"""Work shared by the processor and devices, or by several devices, in proportion to their measured speeds.

A product is shared in fixed parts (`at_the_same_time`), which measured seconds choose (`balanced`), since blocks stay
where they are. A matrix is set up from one list of tasks (`share_tasks`): the processor's threads take tasks one by one
from the front, each device takes runs of them from the end. A run is half of a device's share of what is left, by the
work that each did per second until then, so that all end together whatever their speeds; the first run is a small one,
to measure; and a worker leaves what others would have done before. (Static shares from a calibration would be wrong for
the next kernel, and on a machine that runs other programs too.)
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
Parts = Sequence[Any]
Deliver = Callable[[], AbstractContextManager[Any]]


class Speeds:
    """Record of the `work` (in any unit) that each worker did in `seconds`.

    weights: the work of each task. threads: tasks that each worker does at once. used: which workers have not failed.
    """

    def __init__(self, weights: NDArray[np.float64], threads: Sequence[int]) -> None:
        self.weights, self.threads = weights, threads
        self.work, self.seconds = np.zeros(len(threads)), np.zeros(len(threads))
        self.used = [True] * len(threads)

    def record(self, worker: int, tasks: Iterable[int], seconds: float) -> None:
        self.work[worker] += self.weights[list(tasks)].sum()
        self.seconds[worker] += seconds

    def rate(self, worker: int) -> float:
        """Work per second; 0 before anything is measured, and for a worker that failed."""
        known = self.used[worker] and self.seconds[worker] > 0
        return float(self.work[worker] / self.seconds[worker]) if known else 0.0

    def length(self, worker: int, pending: list[int]) -> int:
        """How many of the last pending tasks are the next run of a worker.

        The first run is a 64th of all work, shared by the workers; later ones take 20 ms or more, so that launches do
        not dominate. Workers of whom nothing is measured count as fast as this one.
        """
        left = self.weights[pending]
        own = self.rate(worker)
        rates = sum(self.rate(each) or own for each in np.flatnonzero(self.used).tolist())
        wanted = self.weights.sum() / (64 * len(self.work))
        if own > 0:
            wanted = max(0.5 * left.sum() * own / rates, 0.02 * own)
        return int(np.searchsorted(np.cumsum(left[::-1]), wanted, "right"))

    def too_long(self, worker: int, task: int, pending: list[int]) -> bool:
        """Whether a worker would take longer for the task than the others for all that is left, and than one of them
        for the task: so not the fastest one."""
        speeds = [self.rate(each) for each in range(len(self.work))]
        single = [rate / threads for rate, threads in zip(speeds, self.threads, strict=True)]
        own, others = single.pop(worker), sum(speeds) - speeds[worker]
        if own == 0 or others == 0:
            return False
        work, left = self.weights[task], self.weights[pending].sum()
        return bool(work / own > max(left / others, work / max(single)))


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
    first, threads, began = int(processor is not None), thread_count(), time.perf_counter()
    speeds = Speeds(weights, [*[threads] * first, *[1] * len(devices)])

    # the processor: each thread takes tasks one by one
    def on_processor() -> None:
        assert processor is not None
        while (task := queue.take(lambda task: speeds.too_long(0, task, queue.pending))) is not None:
            processor(task)
            with queue.condition:
                speeds.record(0, (task,), 0.0)
                speeds.seconds[0] = time.perf_counter() - began
            queue.done((task,))

    # a device: runs of tasks, as long as its speed so far suggests
    working, failures = list(range(len(devices))), list[str]()

    def on_device(number: int) -> None:
        worker = first + number
        leave = functools.partial(speeds.too_long, worker)
        while tasks := queue.take_run(lambda left: speeds.length(worker, left), lambda n: leave(n, queue.pending)):
            started = time.perf_counter()
            try:
                devices[number](tasks, lambda tasks=tasks: queue.exclusive(tasks))  # type: ignore[misc]
            except HandedOver as failure:
                working.remove(number)
                speeds.used[worker] = False
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
            while failures:
                warnings.warn(f"{failures.pop(0)}; the others do its work", SharingWarning, stacklevel=2)
    return speeds.work / max(float(speeds.work.sum()), 1e-300)


TRIAL = 0.125
"""The part of all work that the processor has in the first trial of `balanced`."""
TRIALS, CLOSE = 4, 0.05
"""Trials of `balanced` at most; how much longer than necessary the slowest member may take in one that is kept."""
SHORT = 5e-3
"""Products that take fewer seconds are not tried with other parts: Python changes threads after 5 ms
(`sys.getswitchinterval`), so that seconds of shorter ones say which member came first."""
LEAST_SECONDS, REPEATS = 0.1, 3
"""Products are timed so often, or for so long."""


def at_the_same_time(products: Sequence[Callable[[], Result]]) -> tuple[list[Result], list[float]]:
    """Results of functions that are called at the same time, in their order, and the seconds that each took."""
    found, seconds = dict[int, Result](), [0.0] * len(products)

    def work(n: int) -> None:
        began = time.perf_counter()
        found[n] = products[n]()
        seconds[n] = time.perf_counter() - began

    TaskQueue(0).run([functools.partial(work, n) for n in range(len(products))])
    return [found[n] for n in range(len(products))], seconds


def seconds_together(products: Sequence[Callable[[], Any]]) -> NDArray[np.float64]:
    """The least seconds that each function takes in a few calls of all of them at the same time."""
    at_the_same_time(products)  # what is compiled or sent at first is not measured
    found = [at_the_same_time(products)[1]]
    while len(found) < REPEATS and np.max(found, axis=1).sum() < LEAST_SECONDS:
        found.append(at_the_same_time(products)[1])
    return np.min(found, axis=0)


Distribution = tuple[NDArray[np.float64], Callable[[], Parts]]
"""The work of each member of a team, in any unit, and a function that makes their parts of a product."""


def balanced(
    distributed: Callable[[NDArray[np.float64]], Distribution],
    shares: NDArray[np.float64],
    seconds_of: Callable[[Parts], NDArray[np.float64]],
) -> tuple[Parts, NDArray[np.float64]]:
    """Parts of a product with which the members of a team end together, about, and the work of each.

    distributed(shares): how work is distributed that is to have these shares, or the nearest that are possible.
    shares: the first that are tried. seconds_of(parts): what each member takes. MemoryError where the first parts do
    not fit, or their product; later ones that do not are not used. Parts are made again, which sends all near blocks
    again, where this promises more than seconds of the same parts, measured twice, have differed.
    """
    tried = list[tuple[NDArray[np.float64], NDArray[np.float64]]]()
    work, make = distributed(shares)
    if work.sum() == 0:
        return make(), work
    noise, better = 0.0, True
    while better:
        parts: Parts | None = None  # those of the last trial are gone before others are made
        try:
            parts = make()
            seconds = seconds_of(parts)
            if better := seconds.max() > SHORT and _gain([*tried, (work, seconds)]) > 0:
                again = seconds_of(parts)
                noise = max(noise, float(np.abs(again - seconds).max() / seconds.max()))
                seconds = np.minimum(seconds, again)
        except MemoryError:
            if not tried:
                raise
            parts = None
            break
        tried.append((work, seconds))
        if better := better and len(tried) < TRIALS and _gain(tried) > noise:
            wanted = ends_together(tried)[0]
            work, make = distributed(wanted / wanted.sum())
            better = not any(np.allclose(work, each, 0.02, 1e-4 * each.sum()) for each, _ in tried)
    # the last parts, unless others were better by more than the noise
    ends = [float(each.max()) for _, each in tried]
    best = tried[int(np.argmin(ends))][0]
    if parts is not None and ends[-1] <= (1 + CLOSE + noise) * min(ends):
        return parts, tried[-1][0]
    parts = None
    work, make = distributed(best / best.sum())
    return make(), work


def _gain(tried: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> float:
    """How much longer the last trial takes than if all ended together, of this time, less CLOSE."""
    return float(tried[-1][1].max()) / ends_together(tried)[1] - 1 - CLOSE


def ends_together(
    tried: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> tuple[NDArray[np.float64], float]:
    """The work of each member with which all end together, and when they do.

    tried: work and seconds of each. The seconds of a member are a straight line: through those of the last two trials,
    or in proportion to its work where this has hardly changed. A member that ends later without work has none.
    """
    work, seconds = tried[-1]
    few = 0.02 * work.sum() / len(work)
    plain = np.maximum(seconds, 1e-9) / np.maximum(work, few)
    slopes = plain
    if len(tried) > 1:
        more, longer = work - tried[-2][0], seconds - tried[-2][1]
        lines = longer / np.where(np.abs(more) > few, more, np.inf)
        slopes = np.where(lines > 0, np.clip(lines, plain / 10, 10 * plain), plain)
    first, used = seconds - slopes * work, np.ones(len(work), bool)
    while True:
        end = float((work.sum() + (first / slopes)[used].sum()) / (1 / slopes)[used].sum())
        found = np.where(used, (end - first) / slopes, 0.0)
        if found.min() >= 0:
            return found, end
        used &= found > 0


def runs_of_work(work: NDArray[np.float64], fractions: Sequence[float]) -> list[tuple[int, int]]:
    """Runs (low, high) of things with these parts of all work, about; fractions: of the sum of work, 1 in all."""
    sums = np.append(0.0, np.cumsum(work))
    inner = np.searchsorted(sums, np.cumsum(fractions)[:-1] * sums[-1]).tolist()
    bounds = [0, *(min(each, len(work)) for each in inner), len(work)]
    return list(itertools.pairwise(bounds))
