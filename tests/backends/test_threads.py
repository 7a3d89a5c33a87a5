"""The order in which threads take tasks that must not run at the same time."""

import threading
import time

import numpy as np
import pytest

from calderon.backends import InOrder, at_once, one_thread, run_tasks
from calderon.backends.threads import OrderedQueue, TaskQueue, in_parts, linear_algebra, schedule

CLIQUE = [4, 5, 6, 7]
NEIGHBOURS = [[0], [1], [2], [3], CLIQUE, CLIQUE, CLIQUE, CLIQUE]


def taken(queue, threads):
    """The tasks that threads of equal speed take in rounds."""
    rounds = []
    while queue.pending:
        rounds.append([queue.take() for _ in range(min(threads, len(queue.pending)))])
        queue.done(rounds[-1])
    return rounds


def test_two_threads_are_never_left_with_neighbours_alone():
    """Four tasks that only one thread can do at a time, and four that do not care: side by side in four rounds, where
    the order of their numbers would take six."""
    order = schedule([np.array(each) for each in NEIGHBOURS], [1.0] * 8, 2)
    rounds = [sorted(each) for each in taken(OrderedQueue([np.array(each) for each in NEIGHBOURS], order), 2)]
    assert [first for first, _ in rounds] == [0, 1, 2, 3]
    assert [second for _, second in rounds] == CLIQUE


def test_heavy_neighbours_come_first():
    neighbours = [np.array(each) for each in ([0, 1], [0, 1], [2, 3], [2, 3])]
    assert schedule(neighbours, [1.0, 2.0, 1.0, 3.0], 2) == [2, 0, 3, 1]


def test_the_first_of_two_neighbours_is_waited_for():
    """Also where a thread is free and the second one could begin."""
    queue = OrderedQueue([np.array(each) for each in ([0, 1], [0, 1], [2])], [0, 1, 2])
    assert [queue.take(), queue.take()] == [0, 2]
    queue.done([2])
    waiting = threading.Thread(target=lambda: queue.done([queue.take()]))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    queue.done([0])
    waiting.join()
    assert not queue.pending


def test_results_are_used_in_the_order_of_their_tasks():
    used = []
    results = InOrder(used.append)
    for task in (2, 0, 3, 1, 4):
        results.add(task, task)
        assert used == list(range(len(used)))
    assert len(used) == 5


def test_tasks_without_weights_are_dealt_in_order():
    queue = TaskQueue(8, NEIGHBOURS)
    assert [queue.take() for _ in range(5)] == [0, 1, 2, 3, 4]
    queue.done([4])
    assert queue.take() == 5


@pytest.mark.parametrize("weighted", [True, False])
def test_no_task_runs_beside_a_neighbour(weighted):
    """And of two neighbours the same one is always the first, however long each takes."""
    generator = np.random.default_rng(1)
    near = generator.random((60, 60)) < 0.1
    near = near | near.T | np.eye(60, dtype=bool)
    lock, running, done, clashes = threading.Lock(), set[int](), list[int](), list[int]()

    def work(task):
        with lock:
            clashes.extend(other for other in running if near[task, other])
            running.add(task)
        time.sleep(0.002 * generator.random())
        with lock:
            running.remove(task)
            done.append(task)

    weights, orders = generator.random(60).tolist() if weighted else None, set[tuple[bool, ...]]()
    for _ in range(3):
        done.clear()
        run_tasks(work, 60, [np.flatnonzero(row) for row in near], weights)
        assert sorted(done) == list(range(60)) and not clashes
        place = np.argsort(done)
        orders.add(tuple((place[:, None] < place)[near]))
    assert len(orders) == 1


def test_linear_algebra_in_tasks_has_one_thread():
    seen = []

    def counts() -> set[int]:
        return {library["num_threads"] for library in linear_algebra().info()}

    with linear_algebra().limit(limits=2):
        run_tasks(lambda task: seen.append(counts()), 3)
        with one_thread:
            run_tasks(lambda task: None, 3)
            seen.append(counts())
        assert seen == [{1}] * 4
        assert counts() == {2}


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_cover_all_things_once_and_are_as_small_as_wanted(threads, monkeypatch):
    monkeypatch.setattr("calderon.backends.threads.thread_count", lambda: threads)
    for count in (0, 1, 7, 1000):
        for most in (None, 3):
            found = []
            in_parts(lambda low, high, to=found: to.append((low, high)), count, most)
            assert [n for low, high in sorted(found) for n in range(low, high)] == list(range(count))
            assert most is None or all(high - low <= most for low, high in found)


def test_an_error_ends_long_loops_in_parts_on_one_thread(monkeypatch):
    """Parts that have not begun do not begin; an interruption ends loops in the same way."""
    monkeypatch.setattr("calderon.backends.threads.thread_count", lambda: 1)
    begun = []

    def work(low, high):
        begun.append(low)
        if len(begun) == 2:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        in_parts(work, 1000, most=10)
    assert len(begun) == 2


def test_two_functions_run_at_once(monkeypatch):
    """The second one in the calling thread; errors of either come out, that of the first when the second has ended."""
    monkeypatch.setattr("calderon.backends.threads.thread_count", lambda: 2)
    met = threading.Barrier(2, timeout=60)

    def here():
        met.wait()
        return threading.get_ident()

    first, second = at_once(here, here)
    assert first != second == threading.get_ident()

    def wrong():
        raise ValueError("wrong")

    ended = []
    with pytest.raises(ValueError, match="wrong"):
        at_once(wrong, lambda: ended.append(1))
    with pytest.raises(ValueError, match="wrong"):
        at_once(lambda: ended.append(2), wrong)
    assert sorted(ended) == [1, 2]
