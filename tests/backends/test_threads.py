"""The order in which threads take tasks that must not run at the same time."""

import threading
import time

import numpy as np
import pytest

from calderon.backends import run_tasks
from calderon.backends.threads import TaskQueue

CLIQUE = [4, 5, 6, 7]
NEIGHBOURS = [[0], [1], [2], [3], CLIQUE, CLIQUE, CLIQUE, CLIQUE]


def test_two_threads_are_never_left_with_neighbours_alone():
    """Four tasks that only one thread can do at a time, and four that do not care: side by side in four rounds, where
    the order of their numbers would take six."""
    queue, rounds = TaskQueue(8, NEIGHBOURS, weights=[1.0] * 8), []
    while queue.pending:
        pair = [queue.take(), queue.take()]
        rounds.append(sorted(pair))
        queue.done(pair)
    assert [first for first, _ in rounds] == [0, 1, 2, 3]
    assert [second for _, second in rounds] == CLIQUE


def test_heavy_neighbours_come_first():
    queue = TaskQueue(4, [[0, 1], [0, 1], [2, 3], [2, 3]], weights=[1.0, 2.0, 1.0, 3.0])
    assert [queue.take(), queue.take()] == [2, 0]
    queue.done([2])
    assert queue.take() == 3


def test_tasks_without_weights_are_dealt_in_order():
    queue = TaskQueue(8, NEIGHBOURS)
    assert [queue.take() for _ in range(5)] == [0, 1, 2, 3, 4]
    queue.done([4])
    assert queue.take() == 5


@pytest.mark.parametrize("weighted", [True, False])
def test_no_task_runs_beside_a_neighbour(weighted):
    generator = np.random.default_rng(1)
    near = generator.random((60, 60)) < 0.1
    near = near | near.T | np.eye(60, dtype=bool)
    lock, running, done, clashes = threading.Lock(), set[int](), list[int](), list[int]()

    def work(task):
        with lock:
            clashes.extend(other for other in running if near[task, other])
            running.add(task)
        time.sleep(0.001)
        with lock:
            running.remove(task)
            done.append(task)

    weights = generator.random(60).tolist() if weighted else None
    run_tasks(work, 60, [np.flatnonzero(row) for row in near], weights)
    assert sorted(done) == list(range(60)) and not clashes
