"""Tasks shared by workers of different speed: each once, none next to a neighbour, parts by speed."""

import heapq
import itertools
import threading
import time

import numpy as np
import pytest

from calderon.backends import (
    Execution,
    HandedOver,
    SharingWarning,
    at_the_same_time,
    balanced,
    runs_of_work,
    share_tasks,
)
from calderon.backends.devices.sharing import Speeds
from calderon.backends.threads import TaskQueue

COUNT = 300
NEIGHBOURS = [[other for other in (n - 1, n, n + 1) if 0 <= other < COUNT] for n in range(COUNT)]


class Ledger:
    """Which tasks are written to by whom; notes a task that is written to next to a neighbour."""

    def __init__(self):
        self.lock, self.open, self.done, self.clashes = threading.Lock(), set(), [], []

    def write(self, tasks, seconds):
        with self.lock:
            near = {other for task in tasks for other in NEIGHBOURS[task]}
            self.clashes += near & self.open
            self.open |= set(tasks)
        time.sleep(seconds)
        with self.lock:
            self.open -= set(tasks)
            self.done += tasks

    def processor(self, seconds):
        return lambda task: self.write([task], seconds)

    def device(self, seconds):
        def work(tasks, deliver):
            time.sleep(seconds * len(tasks))
            with deliver():
                self.write(tasks, 0.0005)

        return work


@pytest.mark.parametrize("on_processor", [True, False])
def test_each_task_is_done_once_and_alone(on_processor):
    ledger = Ledger()
    processor = ledger.processor(0.001) if on_processor else None
    steps = []
    devices = [ledger.device(0.0005), ledger.device(0.001)]
    parts = share_tasks(processor, devices, np.ones(COUNT), NEIGHBOURS, lambda: steps.append(1))
    assert sorted(ledger.done) == list(range(COUNT)) and len(steps) == COUNT
    assert not ledger.clashes
    assert len(parts) == 2 + on_processor and parts.sum() == pytest.approx(1) and parts.min() > 0


def test_runs_follow_the_measured_speeds():
    """With rates 1, 3 and 4 and 160 left: half of 60 and of 80; small ones to begin with and at the end."""
    speeds = Speeds(np.ones(320), [1, 1, 1])
    pending = list(range(160))
    assert speeds.length(1, pending) == 320 // 64 // 3  # to measure
    for worker, rate in enumerate((100, 300, 400)):
        speeds.record(worker, range(rate // 10), rate / 10 / rate)
    assert [speeds.length(worker, pending) for worker in (1, 2)] == [30, 40]
    assert speeds.length(2, pending[:4]) == 4  # not less than 0.02 s
    alone = Speeds(np.ones(320), [1, 1, 1])
    alone.record(1, range(40), 0.1)
    assert alone.length(1, pending) == 160 // 3 // 2  # others may be as fast
    speeds.weights = np.arange(320.0)
    assert speeds.length(1, pending) < 30  # the last tasks are the longest


def test_workers_that_failed_have_no_share():
    """They are not as fast as the others, as those are of whom nothing is measured, and nothing is left to them."""
    speeds, pending = Speeds(np.ones(320), [1, 1]), list(range(160))
    speeds.record(0, range(16), 0.16)
    speeds.record(1, range(16), 16.0)
    assert speeds.too_long(1, 159, [159])
    speeds.used[0] = False
    assert speeds.length(1, pending) == 80 and not speeds.too_long(1, 159, [159])


def test_members_leave_what_would_take_them_longer_than_the_others():
    speeds = Speeds(np.ones(100), [2, 1])
    assert not speeds.too_long(0, 5, [5, 6])  # nothing is measured
    speeds.record(0, range(10), 10.0)  # two threads: two seconds a task
    speeds.record(1, range(50), 5.0)
    assert speeds.too_long(0, 5, list(range(5, 24)))
    assert not speeds.too_long(0, 5, list(range(5, 27)))
    assert not speeds.too_long(1, 5, [5])  # the fastest leaves nothing
    equal = Speeds(np.ones(4), [1, 1, 1])
    for worker in range(3):
        equal.record(worker, [worker], 1.0)
    assert not any(equal.too_long(worker, 3, [3]) for worker in range(3))


def ends(weights, rates, threads):
    """When each member ends, by the decisions of `share_tasks` in simulated time, all tasks with these weights; rates:
    work per second; threads: of the first, the processor, 0 for none."""
    speeds, pending = Speeds(weights, [max(1, threads), *[1] * (len(rates) - 1)]), list(range(len(weights)))
    free = [0] * threads + list(range(threads > 0, len(rates)))
    events, ended, numbers = [], np.zeros(len(rates)), itertools.count()
    while events or pending:
        if not events:  # all begin, and again where each had left tasks to the others
            events = [(ended.max(), next(numbers), worker, [], 0.0) for worker in free]
        now, _, worker, tasks, seconds = heapq.heappop(events)
        on_processor = worker == 0 and threads > 0
        if tasks:
            speeds.record(worker, tasks, seconds)
            ended[worker] = now
        if on_processor:
            speeds.seconds[0] = now
        if not pending or speeds.too_long(worker, pending[0 if on_processor else -1], pending):
            continue
        part = slice(1) if on_processor else slice(-max(1, speeds.length(worker, pending)), None)
        tasks = pending[part]
        del pending[part]
        seconds = weights[tasks].sum() / rates[worker] * max(1, threads * on_processor)
        heapq.heappush(events, (now + seconds, next(numbers), worker, tasks, seconds))
    return ended


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("rates", [(1.0, 1.0), (3.0, 1.0), (40.0, 1.0), (1.0, 10.0), (2.0, 10.0, 1.0)])
def test_all_tasks_are_done_when_members_of_these_speeds_could_have_done_them(rates, threads):
    """Within a tenth: 64 tasks of different length, in two seconds."""
    for seed in range(10):
        weights = np.random.default_rng(seed).uniform(0.5, 1.5, 64)
        speeds = np.array(rates) / sum(rates) * weights.sum() / 2.0
        assert 2.0 * (1 - 1e-9) <= ends(weights, speeds, threads).max() < 2.2


def test_runs_are_taken_from_the_end_without_gaps():
    queue = TaskQueue(10, [[n] for n in range(10)])
    assert queue.take() == 0
    assert queue.take_run(lambda pending: 3) == range(7, 10)
    assert queue.take_run(lambda pending: 0) == range(6, 7)
    del queue.pending[2]  # 3 was taken by another
    assert queue.take_run(lambda pending: 100) == range(4, 6)
    assert queue.take_run(lambda pending: 100) == range(1, 3)
    assert not queue.take_run(lambda pending: 1) and queue.take() is None


@pytest.mark.parametrize("on_processor", [True, False])
def test_what_one_leaves_the_others_do(on_processor):
    """Also when the slow ones had left all to the one that fails."""
    ledger = Ledger()
    runs = []

    def failing(tasks, deliver):
        runs.append(tasks)
        if len(runs) > 1:
            raise HandedOver("the fast one failed") from OSError("gone")
        ledger.device(0.0)(tasks, deliver)

    steps = []
    processor = ledger.processor(0.003) if on_processor else None
    devices = [failing, ledger.device(0.002)]
    with pytest.warns(SharingWarning, match="the fast one failed; the others do its work"):
        parts = share_tasks(processor, devices, np.ones(COUNT), NEIGHBOURS, lambda: steps.append(1))
    assert sorted(ledger.done) == list(range(COUNT)) and len(steps) == COUNT
    assert len(runs) == 2 and not ledger.clashes and parts.sum() == pytest.approx(1)


def test_what_one_had_left_it_does_where_the_other_fails(monkeypatch):
    """The slow one has ended, as the other is faster, when this one fails in its second run."""
    left, runs, done, known = threading.Event(), [], [], Speeds.too_long

    def too_long(speeds, worker, *given):
        found = known(speeds, worker, *given)
        if found and worker == 1:
            left.set()
        return found

    def fast(tasks, deliver):
        runs.append(tasks)
        if len(runs) > 1:
            assert left.wait(10)
            raise HandedOver("the fast one failed") from OSError("gone")
        time.sleep(0.01)  # so that its second run are not all tasks
        done.extend(tasks)

    def slow(tasks, deliver):
        time.sleep(0.0 if left.is_set() else 0.5)
        done.extend(tasks)

    monkeypatch.setattr(Speeds, "too_long", too_long)
    with pytest.warns(SharingWarning, match="the fast one failed"):
        share_tasks(None, [fast, slow], np.ones(20))
    assert sorted(done) == list(range(20)) and len(runs) == 2


def test_the_cause_is_raised_where_there_are_no_others():
    def failing(tasks, deliver):
        raise HandedOver("failed") from OSError("gone")

    with pytest.raises(OSError, match="gone"):
        share_tasks(None, [failing], np.ones(COUNT))


@pytest.mark.parametrize("broken", ["processor", "device"])
def test_the_first_error_ends_all(broken):
    ledger = Ledger()

    def fail(*arguments):
        raise OSError("gone")

    processor = fail if broken == "processor" else ledger.processor(0.001)
    devices = [fail if broken == "device" else ledger.device(0.001), ledger.device(0.001)]
    with pytest.raises(OSError, match="gone"):
        share_tasks(processor, devices, np.ones(COUNT), NEIGHBOURS)
    assert len(ledger.done) < COUNT


def ends_of(fixed, slopes, least=(0.0, 0.0, 0.0), unit=1e-6):
    """Trials of `balanced` with members that take fixed + slope * work seconds, of one unit of work in all, in whole
    units, and have their least work at least; the seconds of each member, and how often parts were made."""
    fixed, slopes, made = np.array(fixed), np.array(slopes), []

    def distributed(shares):
        work = np.maximum(np.round(shares / unit) * unit, least[: len(shares)])
        free = work > np.array(least[: len(shares)])
        work[free] *= (1 - work[~free].sum()) / max(work[free].sum(), 1e-300)
        return work, lambda: (made.append(work), [work])[1]

    parts, work = balanced(distributed, np.full(len(fixed), 1 / len(fixed)), lambda parts: fixed + slopes * parts[0])
    assert parts[0] is work
    return fixed + slopes * work, len(made)


@pytest.mark.parametrize("seed", range(5))
def test_members_end_together_whatever_their_speeds(seed):
    """Within a tenth, by at most four trials and the best of them again; speeds differ a hundredfold, and up to half
    of the time does not depend on the work."""
    random = np.random.default_rng(seed)
    for members in (2, 3):
        slopes = 10 ** random.uniform(-1, 1, members)
        fixed = random.random(members) / (1 / slopes).sum()
        seconds, made = ends_of(fixed, slopes)
        least = (1 + (fixed / slopes).sum()) / (1 / slopes).sum()
        assert least * (1 - 1e-9) <= seconds.max() < 1.1 * least and made <= 5


def test_nothing_is_tried_again_where_it_would_not_help():
    """Equal members, and one that has more to do than it may leave to the other."""
    assert ends_of([0.0, 0.0], [1.0, 1.02])[1] == 1
    seconds, made = ends_of([0.0, 0.0], [1.0, 3.0], least=(0.0, 0.8))
    assert seconds == pytest.approx([0.2, 2.4]) and made == 1


def test_later_parts_that_do_not_fit_are_not_used():
    def distributed(shares):
        def make():
            if shares[0] > limit:
                raise MemoryError("full")
            return [shares]

        return shares, make

    def seconds_of(parts):
        return np.array([0.2, 1.0]) * parts[0]

    limit = 0.6
    assert balanced(distributed, np.array([0.5, 0.5]), seconds_of)[1].tolist() == [0.5, 0.5]
    limit = 0.4
    with pytest.raises(MemoryError, match="full"):
        balanced(distributed, np.array([0.5, 0.5]), seconds_of)


def test_products_that_do_not_fit_are_as_parts_that_do_not():
    def seconds_of(parts):
        if parts[0][0] > limit:
            raise MemoryError("full")
        return np.array([0.2, 1.0]) * parts[0]

    limit, given = 0.6, (lambda shares: (shares, lambda: [shares]), np.array([0.5, 0.5]))
    parts, work = balanced(*given, seconds_of)
    assert work.tolist() == parts[0].tolist() == [0.5, 0.5]
    limit = 0.4
    with pytest.raises(MemoryError, match="full"):
        balanced(*given, seconds_of)


@pytest.mark.parametrize(("seconds", "noise"), [(1.0, 0.2), (0.002, 5.0)])
def test_noise_does_not_make_parts_again(seconds, noise):
    """Two equal members keep their first parts but in two of a hundred cases; products below 5 ms may differ freely."""
    random, made = np.random.default_rng(0), []

    def distributed(shares):
        return shares, lambda: (made.append(1), [shares])[1]

    def seconds_of(parts):
        return seconds / (1 + noise) * parts[0] * (1 + noise * random.exponential(size=(3, 2)).min(axis=0))

    for _ in range(100):
        balanced(distributed, np.array([0.5, 0.5]), seconds_of)
    assert len(made) <= 102


def test_teams_without_work_have_their_first_parts():
    shares, none = np.array([0.5, 0.5]), np.zeros(2)
    parts, work = balanced(lambda shares: (none, lambda: [shares]), shares, lambda parts: none)
    assert parts[0] is shares and work is none
    real = np.dtype(float)
    assert Execution(real, None, None, (Execution(real, None),) * 2, [none]).name == "numba (0%) + numba (0%)"


def test_functions_run_at_the_same_time_and_keep_their_order():
    barrier = threading.Barrier(3, timeout=60)

    def meet(n):
        barrier.wait()
        time.sleep(0.01 * (3 - n))
        return n

    found, seconds = at_the_same_time([lambda n=n: meet(n) for n in range(3)])
    assert found == [0, 1, 2] and min(seconds) >= 0.01
    with pytest.raises(ZeroDivisionError):
        at_the_same_time([lambda: 1 / 0, lambda: 1])


def test_runs_have_their_parts_of_the_work():
    work = np.random.default_rng(0).random(1000)
    runs = runs_of_work(work, [0.2, 0.5, 0.3])
    assert [low for low, _ in runs] == [0, *(high for _, high in runs[:-1])] and runs[-1][1] == 1000
    parts = np.array([work[low:high].sum() for low, high in runs]) / work.sum()
    assert parts == pytest.approx([0.2, 0.5, 0.3], abs=1e-3)
    assert runs_of_work(work, [0.0, 1.0]) == [(0, 0), (0, 1000)] and runs_of_work(work, [1.0, 0.0])[1] == (1000, 1000)
    assert runs_of_work(np.zeros(3), [0.5, 0.5])[-1][1] == 3 and runs_of_work(np.ones(1), [0.5, 0.5])[-1][1] == 1
