"""Kernels, and vectors inside of them."""

import gc
from pathlib import Path

import numba
import numba.experimental
import numpy as np
import pytest
from llvmlite.binding import ffi
from numba.core import event
from numba.core.compiler_machinery import PassManager

from calderon.backends.log_and_angle import angle, logarithm
from calderon.backends.numba import kernel
from calderon.backends.vectors import lanes, load, prefetch, prefetch_to_read, store, where_less


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_vectors_are_moved_and_asking_for_more_than_there_is_does_no_harm(real: type) -> None:
    @kernel
    def doubled(source, target):  # type: ignore[no-untyped-def]
        step = lanes(source)
        for v in range(0, source.size, step):
            prefetch_to_read(source, v + 1000 * step)
            prefetch(target, v + 1000 * step)
            store(target, v, load(source, v) * 2)
        return step

    source = np.arange(64).astype(real)
    target = np.zeros_like(source)
    assert doubled(source, target) == 64 // source.itemsize
    assert np.array_equal(target, 2 * source)


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_numbers_are_chosen_one_by_one(real: type) -> None:
    @kernel
    def smaller(source, target):  # type: ignore[no-untyped-def]
        x, y = load(source, 0), load(source, lanes(source))
        store(target, 0, where_less(x, y, x, y))
        store(target, lanes(target), where_less(2.5, x, 1.0, y / (x - x)))  # what is not chosen does no harm

    x, y = np.arange(16).astype(real), np.arange(16)[::-1].astype(real)
    step = 64 // x.itemsize
    source, target = np.concatenate([x[:step], y[:step]]), np.zeros(2 * step, real)
    smaller(source, target)
    assert np.array_equal(target[:step], np.minimum(x, y)[:step])
    assert np.array_equal(target[step + 3 :], np.ones(step - 3))


@pytest.fixture
def nothing_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels defined here are compiled, also where an earlier run of the tests left them."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


def test_logarithm_and_angle_are_those_of_numbers() -> None:
    @kernel
    def both(y, x, logarithms, angles):  # type: ignore[no-untyped-def]
        for v in range(0, x.size, lanes(x)):
            store(logarithms, v, logarithm(load(x, v) * load(x, v)))
            store(angles, v, angle(load(y, v), load(x, v)))

    random = np.random.default_rng(1)
    x, y = random.normal(size=(2, 512)) * 10.0 ** random.uniform(-120, 120, (2, 512))
    x[:128], y[:128] = random.normal(size=(2, 128))
    x[128:256] = 1 + random.normal(size=128) * 10.0 ** random.uniform(-15, -1, 128)
    y[:4], x[1:4] = [0.0, 0.0, 0.0, 2.0], [1.0, -1.0, -2.0]
    logarithms, angles = np.empty_like(x), np.empty_like(x)
    both(y, x, logarithms, angles)
    assert logarithms == pytest.approx(np.log(x * x), rel=1e-15, abs=1e-300)
    assert np.abs(angles - np.arctan2(y, x)).max() < 1e-15
    angles[:] = 1.0
    both(np.zeros(8), np.zeros(8) + np.arange(8), logarithms, angles)
    assert not angles[:8].any()  # also at the origin


@pytest.mark.usefixtures("nothing_compiled")
def test_kernels_align_their_stack() -> None:
    @kernel
    def first(source):  # type: ignore[no-untyped-def]
        store(source, 0, load(source, lanes(source)))

    first(np.zeros(16))
    (code,) = first.inspect_llvm().values()
    assert "alignstack=64" in code or "alignstack(64)" in code


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_and_timers_of_calls_wait_while_a_kernel_compiles(enabled: bool) -> None:
    """One kernel that compiles and one that does not; the collector itself stays as it was."""
    seen = []

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            seen.append((gc.isenabled(), gc.get_threshold()[2] > 100 * thresholds[2], len(timers)))

        def on_end(self, event: event.Event) -> None:
            pass

    def good(x):  # type: ignore[no-untyped-def]
        return x + 1

    def bad(x):  # type: ignore[no-untyped-def]
        return x.nothing

    before, thresholds, timers = gc.isenabled(), gc.get_threshold(), ffi.lib._lock._cblist
    reported = len(timers)
    first, second = kernel(good), kernel(bad)  # the listener of the package comes first
    listener = Listener()
    event.register("numba:compile", listener)
    try:
        gc.enable() if enabled else gc.disable()
        assert first(1) == 2
        with pytest.raises(numba.TypingError):
            second(1)
        assert gc.isenabled() == enabled and gc.get_threshold() == thresholds
        assert len(timers) == reported > 0
    finally:
        event.unregister("numba:compile", listener)
        gc.enable() if before else gc.disable()
    assert seen == [(enabled, True, 0)] * 2


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("change", ["none", "another name", "one more argument"])
def test_all_passes_run_where_numba_runs_them_in_another_way(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba's own method runs no pass of a kernel, all of them where a later version has changed it."""
    finalize, run, seen = PassManager.finalize, PassManager._runPass, []

    def renamed(self):  # type: ignore[no-untyped-def]
        finalize(self)
        self.known = self.__dict__.pop("_analysis")

    def seen_run(self, index, each, state):  # type: ignore[no-untyped-def]
        seen.append(each.name())
        self._analysis = getattr(self, "known", None) or self._analysis
        run(self, index, each, state)

    def longer_run(self, index, each, state, more=None):  # type: ignore[no-untyped-def]
        seen_run(self, index, each, state)

    monkeypatch.setattr(PassManager, "_runPass", longer_run if change == "one more argument" else seen_run)
    if change == "another name":
        monkeypatch.setattr(PassManager, "finalize", renamed)

    @kernel
    def next_one(x):  # type: ignore[no-untyped-def]
        return x + 1

    assert next_one(1) == 2 and ("native_lowering" in seen) == bool(seen) == (change != "none")


def test_classes_that_others_compile_still_do() -> None:
    """Numba writes their constructor, a function of no module."""

    class Number:
        def __init__(self, value: float) -> None:
            self.value = value

    assert numba.experimental.jitclass([("value", numba.float64)])(Number)(2.0).value == 2.0
