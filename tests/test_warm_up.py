"""Kernels of a first run are compiled by two processes."""

import logging
import subprocess
import sys
import threading

import pytest

from calderon import warm_up
from calderon.backends.kernel_cache import COMPILING, Claim
from calderon.mlfmm import operator, sums
from calderon.mlfmm.points import mutual_kernel
from calderon.operators.boundary import IntegralOperator


def test_one_compiles_and_the_other_waits(tmp_path):
    first, second, other = Claim(tmp_path, "kernel"), Claim(tmp_path, "kernel"), Claim(tmp_path, "other")
    assert not first.waited() and not other.waited()
    threading.Timer(0.1, first.release).start()
    assert second.waited()
    second.release()
    other.release()
    assert not Claim(tmp_path, "kernel").waited() and not Claim(tmp_path / "missing" / "x", "kernel").waited()


@pytest.fixture
def started(monkeypatch, caplog):
    """The commands of processes that would be started."""
    commands = []

    class Process:
        def __init__(self, command, **streams):
            commands.append(command)

        def kill(self):
            commands.append("killed")

        def wait(self):
            pass

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(warm_up, "thread_count", lambda: 2)
    caplog.set_level(logging.INFO, "calderon")
    return commands


def test_a_missing_kernel_starts_a_second_process_once(started):
    with warm_up.compiling_in_parallel("acoustic", "auto"):
        warm_up.LOG.info("something else")
        assert started == []
        warm_up.LOG.info(COMPILING)
        warm_up.LOG.info(COMPILING)
    assert started == [[sys.executable, "-P", "-m", "calderon.warm_up", "acoustic", "auto"], "killed"]
    warm_up.LOG.info(COMPILING)
    with warm_up.compiling_in_parallel("transient", "dense"):
        warm_up.LOG.info(COMPILING)
    assert len(started) == 2


@pytest.mark.parametrize(
    ("family", "integral_operators"),
    [
        ("static", 1),
        *(pytest.param(each, 2, marks=pytest.mark.variant) for each in ("acoustic", "electromagnetic", "vibration")),
    ],
)
def test_the_second_process_computes_what_a_run_needs(family, integral_operators, monkeypatch):
    steps = []
    make, after = warm_up.BEHIND[family]
    monkeypatch.setattr(warm_up, "BEHIND", {family: (make, lambda problem: (after(problem), steps.append("fields")))})
    monkeypatch.setattr(IntegralOperator, "assemble", lambda self, method: steps.append((self.is_symmetric, method)))
    warm_up.compile_from_behind(family, "auto")
    assert steps[0] == "fields" and steps[1:] == sorted(steps[1:])
    assert len(steps) == 1 + integral_operators and {each[1] for each in steps[1:]} == {"dense"}
    warm_up.compile_from_behind(family, "mlfmm")
    assert steps[2 + integral_operators :] == []


VIBRATING = """
import logging
from calderon.backends.kernel_cache import COMPILING
class Compiled(logging.Handler):
    def emit(self, record):
        assert record.getMessage() != COMPILING, "a kernel is compiled again"
logging.getLogger("calderon").addHandler(Compiled())
logging.getLogger("calderon").setLevel(logging.INFO)
import calderon as cal
ball = cal.mesh.sphere(radius=1.0, h=0.4)
moving = cal.Velocity([0.0, 0.0, 1e-3])
solution = cal.AcousticProblem(ball, 1.0, fluid=cal.Fluid.water(), conditions=moving).solve()
print(solution.sound_power, solution.spl([[0, 0, 3.0]]), solution.directivity([[0, 0, 1.0]]))
print(solution.intensity([[0, 2.0, 0]]))
"""


@pytest.mark.variant
def test_a_vibrating_sphere_compiles_nothing_in_a_second_process():
    assert [name for name, _ in warm_up.warm_up(["vibration"])] == ["vibration"]
    second = subprocess.run([sys.executable, "-c", VIBRATING], capture_output=True, text=True)
    assert second.returncode == 0 and "compiled again" not in second.stderr, second.stderr


@pytest.mark.variant
def test_sums_and_products_of_waves_are_warmed_up(monkeypatch):
    kernels = []
    monkeypatch.setattr(sums, "mutual_kernel", lambda *kind: kernels.append(kind) or mutual_kernel(*kind))
    monkeypatch.setattr(
        operator, "prepared", lambda *given, made=operator.prepared: kernels.append("products") or made(*given)
    )
    assert [name for name, _ in warm_up.warm_up(["waves"])] == ["waves"]
    lossy, in_two, is_short = False, True, True
    assert {(lossy, in_two, is_short), (lossy, in_two, not is_short), (lossy, not in_two, not is_short)} <= set(kernels)
    assert kernels.count("products") == 2
