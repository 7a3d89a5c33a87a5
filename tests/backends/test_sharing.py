"""Tasks shared by workers of different speed: each once, none next to a neighbour, parts by speed."""

import threading
import time

import numpy as np
import pytest

from calderon.backends import (
    HandedOver,
    SharingWarning,
    at_the_same_time,
    balanced_share,
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
    speeds = Speeds(np.ones(320), 3)
    pending = list(range(160))
    assert speeds.length(1, pending) == 320 // 16 // 3  # to measure
    for worker, rate in enumerate((100, 300, 400)):
        speeds.record(worker, range(rate // 10), rate / 10 / rate)
    assert [speeds.length(worker, pending) for worker in (1, 2)] == [30, 40]
    assert speeds.length(2, pending[:4]) == 4  # not less than 0.02 s
    speeds.weights = np.arange(320.0)
    assert speeds.length(1, pending) < 30  # the last tasks are the longest


def test_the_processor_leaves_what_would_take_it_longer_than_the_devices():
    speeds = Speeds(np.ones(100), 2)
    assert not speeds.too_long(0, 5, [5, 6], 2)  # nothing is measured
    speeds.record(0, range(10), 10.0)  # two threads: two seconds a task
    speeds.record(1, range(50), 5.0)
    assert speeds.too_long(0, 5, list(range(5, 24)), 2)
    assert not speeds.too_long(0, 5, list(range(5, 27)), 2)


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


@pytest.mark.parametrize(("own", "far", "other"), [(1.0, 0.1, 1.0), (4.0, 0.5, 1.0), (1.0, 0.0, 3.0)])
def test_the_part_of_the_processor_is_that_with_which_all_end_together(own, far, other, monkeypatch):
    """Seconds own * share of the processor and far + other * (1 - share) of a device are equal."""
    timed = []

    def build(share):
        timed.append([own * share, far + other * (1 - share)])
        return []

    monkeypatch.setattr("calderon.backends.devices.sharing.at_the_same_time", lambda products: ([], timed[-1]))
    share = balanced_share(build)
    assert share == pytest.approx((far + other) / (own + other))
    assert len(timed) == 2


def test_a_device_that_is_always_later_leaves_all_near_blocks(monkeypatch):
    """A part is never above one, nor below nothing, whatever noise there is."""
    seconds = iter([[1.0, 9.0]] * 2 + [[2.0, 8.0]] * 2 + [[3.0, 1.0]] * 2 + [[3.0, 1.0]] * 2)
    monkeypatch.setattr("calderon.backends.devices.sharing.at_the_same_time", lambda products: ([], next(seconds)))
    assert balanced_share(lambda share: []) == 1.0
    assert 0.0 <= balanced_share(lambda share: []) <= 1.0


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
