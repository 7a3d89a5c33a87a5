"""Threads of time steps: they do all tasks once, leave nothing behind, and let the process fork."""

import os
import threading
import time
import warnings

import pytest

import calderon as cal
from calderon.dg.stepping.system import WaitingThreads

MODE = cal.exact.cubic_cavity((1, 1, 1))


@pytest.fixture
def three(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    return WaitingThreads()


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_every_task_is_done_once(three, count):
    for _ in range(3):
        done = []
        three.run(done.append, count)
        assert sorted(done) == list(range(count))


def test_tasks_run_at_the_same_time(three):
    """Each waits for the two others."""
    meeting = threading.Barrier(3, timeout=30)
    three.run(lambda task: meeting.wait(), 3)


def test_an_error_of_a_task_is_raised_and_the_threads_go_on(three):
    def work(task):
        if task == 7:
            raise ZeroDivisionError("task 7")

    with pytest.raises(ZeroDivisionError, match="task 7"):
        three.run(work, 20)
    test_every_task_is_done_once(three, 50)


def test_threads_end_with_their_owner(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    before = set(threading.enumerate())
    owner = WaitingThreads()
    owner.run(lambda task: time.sleep(0.01), 20)
    started = set(threading.enumerate()) - before
    assert len(started) == 2
    del owner
    for each in started:
        each.join(30)
        assert not each.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that fork")
def test_a_simulation_runs_on_in_a_forked_process(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    before = set(threading.enumerate())
    simulation = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=5), 2)
    simulation.set_fields(MODE.electric, MODE.magnetic)
    simulation.run(0.02)
    assert len(set(threading.enumerate()) - before) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of threads, which the child does not use
        child = os.fork()
    if child == 0:
        status = 1
        try:
            simulation.run(0.04)
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_simulations_leave_no_memory_behind():
    """200 built and dropped grow the process by less than 5 MB."""

    def megabytes():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    mesh = cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2)
    for _ in range(5):
        cal.MaxwellDG(mesh, 2)
    before = megabytes()
    for _ in range(200):
        cal.MaxwellDG(mesh, 2)
    assert megabytes() - before < 5
