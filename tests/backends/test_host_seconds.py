"""Host seconds of a set-up: processor time of Python's threads, by phase, and laws over sizes."""

import importlib
import sys
import threading
import time
from pathlib import Path

import pytest

from calderon.backends import run_tasks
from calderon.backends.threads import TaskQueue, in_parts

ROOT = Path(__file__).parents[2]


def load(name, monkeypatch):
    if not (ROOT / "benchmarks").exists():
        pytest.skip("needs the source tree")
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module(f"benchmarks.{name}")


def busy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100))


def test_host_seconds_are_processor_time_of_threads_of_python(monkeypatch):
    """Whatever else the machine does: sleep costs nothing, and all of the time has a phase."""
    sampler = load("gpu.sampler", monkeypatch)
    began = time.thread_time()
    with sampler.Sampler() as found:
        busy(0.1)
        time.sleep(0.1)
        other = threading.Thread(target=busy, args=(0.4,))
        other.start()
        other.join()
    own = time.thread_time() - began
    assert own <= found.host < own + 0.41 and found.host > own + 0.3  # the last samples of a thread that ends are lost
    assert sum(found.passed.values()) >= 0.2 and found.transfers == 0
    assert sum(sampler.phases_of(found.used).values()) == pytest.approx(found.host)


def test_frames_that_cannot_be_read_are_unknown_and_errors_are_raised(monkeypatch):
    """Frames of a thread that ends were seen to lead to another object; a sampler that ended early would
    have counted too few seconds without a word."""
    sampler, read = load("gpu.sampler", monkeypatch), []

    def no_frame(frame):
        read.append(frame)
        return frame.f_code.f_code  # AttributeError

    monkeypatch.setattr(sampler, "place_of", no_frame)
    with sampler.Sampler() as found:
        busy(0.05)
    assert read and set(found.used) == {(sampler.UNKNOWN, False)} and found.host > 0.04
    assert sampler.phases_of(found.used) == {sampler.UNKNOWN: found.host}
    monkeypatch.setattr(sampler, "place_of", lambda frame: 1 // 0)
    with pytest.raises(RuntimeError, match="ended early"), sampler.Sampler():
        busy(0.05)
    with pytest.raises(OSError, match="of the body"), sampler.Sampler():
        busy(0.05)
        raise OSError("of the body")


def test_places_are_files_of_the_package(monkeypatch):
    sampler, seen = load("gpu.sampler", monkeypatch), []
    run_tasks(lambda task: seen.append(sampler.place_of(sys._getframe())), 1)
    in_parts(lambda low, high: seen.append(sampler.place_of(sys._getframe())), 1)
    assert seen == [(sampler.OTHER, True)] * 2  # the callers are tests
    assert sampler.place_of(sys._getframe()) == (sampler.OTHER, False)
    assert sampler.phase_of("galerkin/special/scatter.py") == sampler.phase_of("pairs/rules.py")
    assert sampler.phase_of("galerkin/block.py") == "entries" and sampler.phase_of("plots/curves.py") == "plots"


def test_threads_that_wait_for_others_wait(monkeypatch):
    """The thread that started others wakes now and then for signals: no work, however long kernels take."""
    sampler, seen = load("gpu.sampler", monkeypatch), []
    caller = threading.get_ident()

    def work():
        expected, end = (sampler.TRANSFERS, False), time.perf_counter() + 60
        while expected not in seen and time.perf_counter() < end:  # until the caller waits
            seen.append(sampler.place_of(sys._current_frames()[caller]))
            time.sleep(0.001)

    TaskQueue(0).run([work])
    assert seen[-1] == (sampler.TRANSFERS, False)


def test_laws_are_those_of_exact_data(monkeypatch):
    host = load("gpu.host", monkeypatch)
    sizes = [1000, 2000, 4000]
    assert host.law(sizes, [0.1 + 2e-5 * n for n in sizes]) == pytest.approx([0.1, 2e-5])
    assert host.law(sizes, [2e-5 * n - 0.001 for n in sizes])[0] == 0.0
    assert host.law(sizes, [0.01 + 3e-6 * n + 5e-10 * n**2 for n in sizes], 2) == pytest.approx([0.01, 3e-6, 5e-10])
    assert host.at([0.01, 3e-6, 5e-10], 1e4) == pytest.approx(0.09)
