"""Threads of time steps: they do all blocks once, leave nothing behind, and let the process fork."""

import os
import threading
import time
import warnings

import numpy as np
import pytest

import calderon as cal
from calderon.backends.team import Team, load, store, team_kernel

MODE = cal.exact.cubic_cavity((1, 1, 1))


@team_kernel
def count_visits(visits, rounds, begin, end):
    for block in range(begin, end):
        for _ in range(rounds):
            visits[block] += 1.0


@pytest.fixture
def three(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    return Team()


@pytest.mark.parametrize("parts", [1, 2, 7, 40])
def test_every_block_is_visited_once_by_each_call(three, parts):
    """More calls than one thread does before another one wakes."""
    visits = np.zeros(40)
    for _ in range(500):
        three.run(count_visits, (3, 40), parts, visits, 1)
    assert np.all(visits[:3] == 0) and np.all(visits[3:] == 500)


def test_an_empty_range_is_no_work(three):
    visits = np.zeros(2)
    three.run(count_visits, (1, 1), 4, visits, 1)
    assert not visits.any()


@team_kernel
def meet(flags, met, patience, begin, end):
    """Each block raises its flag and waits, with patience, until it sees those of all."""
    for block in range(begin, end):
        store(flags, block, 1)
        for _ in range(patience):
            if load(flags, 0) + load(flags, 1) + load(flags, 2) == 3:
                met[block] = 1
                break


def meet_late(*arguments):
    time.sleep(0.02)  # as a caller that another process holds up between waking the threads and giving them tasks
    meet(*arguments)


def test_threads_work_at_the_same_time(three):
    """Each of three blocks waits for the two others: one thread alone would never see all flags."""
    three.run(meet, (0, 3), 3, np.zeros(3, np.int64), np.zeros(3, np.int64), 0)  # the first call compiles
    for _ in range(3):
        flags, met = np.zeros(3, np.int64), np.zeros(3, np.int64)
        three.run(meet_late, (0, 3), 3, flags, met, 10**10)
        assert met.all()


def test_threads_end_with_their_owner(monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    before = set(threading.enumerate())
    owner = Team()
    owner.run(count_visits, (0, 20), 20, np.zeros(20), 1000)
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
