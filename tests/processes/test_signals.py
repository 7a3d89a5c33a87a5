"""Signals that ask a program to end: one raises, a second one ends at once, a run saves its present step first."""

import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

import calderon as cal
from calderon.processes import ECHO, STOPS, Stopped, postponed, stops_raise

MODE = cal.exact.cubic_cavity(mode=(1, 1, 1))


@pytest.fixture(autouse=True)
def ctrl_c_raises():
    """Python's own effect of Ctrl-C; gmsh, which tests before may have started, ends the process instead."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


@pytest.mark.parametrize("number", STOPS)
def test_a_signal_raises_once_and_handlers_come_back(number):
    before = [signal.getsignal(each) for each in STOPS]
    with stops_raise() as stops, pytest.raises(Stopped) as caught:
        signal.raise_signal(number)
    assert caught.value.number == number == stops.asked
    assert [signal.getsignal(each) for each in STOPS] == before


def test_a_signal_in_a_destructor_is_not_lost():
    """Python drops what a destructor raises."""

    class Dropped:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)

    with stops_raise(), pytest.raises(Stopped):
        Dropped()
        time.sleep(0.1)


def test_what_a_process_was_started_to_ignore_stays_ignored():
    """A process under nohup ignores SIGHUP, for instance."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stops_raise() as stops, postponed() as later:
            later.begin()
            signal.raise_signal(signal.SIGHUP)
            assert not stops.asked and not later.asked
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_waits_for_the_end_of_a_block():
    with stops_raise(), pytest.raises(Stopped):
        done = 0
        with postponed() as later:
            later.begin()
            signal.raise_signal(signal.SIGTERM)
            assert later.asked == signal.SIGTERM
            done = 1
        pytest.fail("the signal must have its effect at the end of the block")
    assert done


TWICE = """
import ctypes, os, signal, time
from calderon.processes import STOPS, postponed, stops_raise
libc, ends = ctypes.CDLL(None), os.pipe()
with stops_raise(), postponed() as later:
    {begin}
    print("ready", flush=True)
    {wait}
"""
COMPILED = "[signal.siginterrupt(each, False) for each in STOPS]; libc.read(ends[0], ctypes.create_string_buffer(1), 1)"
"""Never comes back to Python, which would run a handler."""


@pytest.mark.parametrize(("begin", "wait"), [("pass", COMPILED), ("later.begin()", "time.sleep(30)")])
def test_a_second_signal_ends_at_once_and_an_echo_does_not(begin, wait):
    command = [sys.executable, "-c", TWICE.format(begin=begin, wait=wait)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGTERM)
    time.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)  # as `timeout` does, to a process and to its group
    time.sleep(ECHO + 0.2)
    running = process.poll() is None
    os.kill(process.pid, signal.SIGHUP)
    errors = process.communicate(timeout=20)[1]  # before what it waits for has come
    assert running and process.returncode == 129
    assert errors == b"ended at once by a second signal\n"


def cavity():
    result = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2), 2)
    result.set_fields(MODE.electric, MODE.magnetic)
    return result


def at_step(step, number):
    def report(done, total):
        if done == step:
            signal.raise_signal(number)

    return report


def test_ctrl_c_saves_the_present_step_of_a_run_in_any_program(tmp_path):
    """Without the command line, an hour before a checkpoint is due; the field is that of an uninterrupted run."""
    file, whole, stopped, resumed = tmp_path / "run.h5", cavity(), cavity(), cavity()
    until = 60 * whole.time_step
    whole.run(until)
    with pytest.raises(KeyboardInterrupt):
        stopped.run(until, at_step(20, signal.SIGINT), file, checkpoint_seconds=3600)
    with h5py.File(file) as saved:
        assert saved.attrs["steps"] == 20
    resumed.run(until, checkpoint=file)
    assert np.array_equal(resumed._system.electric, whole._system.electric) and not file.exists()


def test_without_a_checkpoint_a_signal_has_its_effect_at_once():
    simulation, steps = cavity(), []

    def report(done, total):
        signal.raise_signal(signal.SIGINT)
        steps.append(done)

    with pytest.raises(KeyboardInterrupt):
        simulation.run(40 * simulation.time_step, report)
    assert steps == []


def test_a_kept_last_state_ends_the_same_run_at_once(tmp_path):
    """Also for runs that follow it."""
    file, once, again = tmp_path / "run.h5", cavity(), cavity()
    until, recorded = 30 * once.time_step, []
    for each in (once, again):
        probe, transform = each.add_probe([[0.4, 0.5, 0.6]], 2), each.add_transform([0.5])
        each.run(until, lambda done, total: recorded.append(done), file, keep_checkpoint=True)
        each.run(1.5 * until)
        recorded.append(probe.electric.tobytes() + transform.electric.tobytes() + each._system.magnetic.tobytes())
    assert recorded[:2] == [20, 30] and recorded[2] == recorded[3] and len(recorded) == 4
    assert file.exists()
