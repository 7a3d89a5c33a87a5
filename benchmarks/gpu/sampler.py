"""Seconds of a set-up by phase: a thread that looks where the others are.

Processor time is that of Python's threads alone (Linux): a driver that computes on the same processor has threads of
its own. A phase is that of the innermost file of the package that a thread is in.
"""

import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

import calderon as cal
from benchmarks.gpu import shortened

PACKAGE = str(Path(cal.__file__).parent) + os.sep
PERIOD = 5e-4
"""Seconds between samples, at least."""
TRANSFERS, COMPILING, OTHER, UNKNOWN = "transfers and waits", "compilation", "threads", "unknown"
"""Places in a driver that copy or wait, in Numba, outside of the package, and of frames that could not be read."""
SHARED = "backends/threads.py"
GENERIC = (
    SHARED,
    *(f"backends/{name}.py" for name in ("numba", "kernel_cache", "memory", "vectors", "devices/counters")),
)
"""Files that run what others give them: the phase is that of the caller."""
PHASES = {
    "backends/devices": "launches",
    "validation": "mesh and spaces",
    "fft": "grid",
    "floquet": "grid",
    "fmm/galerkin": "moments",
    "fmm/elastic_moments": "moments",
    "fmm/moment_store": "moments",
    "fmm/p2m_l2p": "moments",
    "fmm/tables": "translation tables",
    "fmm/orders": "translation tables",
    "formulations": "problem and solution",
    "galerkin": "entries",
    "galerkin/special": "touching and near pairs",
    "galerkin/rows/special_pairs": "touching and near pairs",
    "greens": "entries",
    "hmatrix": "compression",
    "hmatrix/tree": "trees and lists",
    "layers": "layers",
    "mesh": "mesh and spaces",
    "mlfmm/check": "check",
    "mlfmm/degrees": "translation tables",
    "mlfmm/points": "moments",
    "mlfmm/translation": "translation tables",
    "mlfmm/spectrum": "translation tables",
    "pairs": "touching and near pairs",
    "products/check": "check",
    "products/direct_sums": "check",
    "products/lists": "trees and lists",
    "products/near": "near store",
    "products/octree": "trees and lists",
    "products/packed": "near store",
    "quadrature": "rules",
    "solvers": "problem and solution",
    "spaces": "mesh and spaces",
}
"""Phases by the beginning of a path, the longest one that fits; others have the name of their folder."""


Place = tuple[str, bool]
"""A file of the package or one of the places above, and whether threads share the work."""


def place_of(frame: FrameType | None) -> Place:
    """File of the package that a frame is in, TRANSFERS, or OTHER, and whether several threads would share its work."""
    found, shared = "", False
    while frame is not None:
        code = frame.f_code
        if not found and f"{os.sep}numba{os.sep}" in code.co_filename:
            found = COMPILING  # or a kernel from the cache
        if not found and code is shortened.noise.__code__:
            found = TRANSFERS  # instead of a kernel
        if code.co_filename.startswith(PACKAGE):
            path = code.co_filename[len(PACKAGE) :].replace(os.sep, "/")
            shared = shared or path == SHARED and code.co_name in ("run_tasks", "in_parts", "_serve")
            if not found and path == SHARED and code.co_name == "wait":
                found = TRANSFERS  # wakes for signals until other threads, of which kernels are waited for, have ended
            if not found and path not in GENERIC:
                is_driver = path in ("backends/devices/opencl.py", "backends/devices/cuda.py")
                moves = is_driver and code.co_name not in ("launch", "build", "memory", "empty")
                found = TRANSFERS if moves else path
        frame = frame.f_back
    return found or OTHER, shared


def place_if_readable(frame: FrameType) -> Place:
    """The place of a frame, or UNKNOWN: a function of another thread may return while its frames are read."""
    try:
        return place_of(frame)
    except AttributeError:  # f_back was no frame
        return UNKNOWN, False


def phases_of(seconds: Mapping[Place, float]) -> dict[str, float]:
    """Seconds by phase, the longest first."""
    found: dict[str, float] = defaultdict(float)
    for (place, _), value in seconds.items():
        found[phase_of(place)] += value
    return dict(sorted(found.items(), key=lambda each: -each[1]))


def shown(phases: Mapping[str, float]) -> str:
    """The phases by their seconds, without those below a fiftieth."""
    total = sum(phases.values())
    return ", ".join(f"{name} {seconds:.2g}" for name, seconds in phases.items() if seconds > total / 50)


def phase_of(place: str) -> str:
    """The phase of a file of the package."""
    if place in (TRANSFERS, COMPILING, OTHER, UNKNOWN):
        return place
    fitting = [each for each in PHASES if place.startswith(each)]
    return PHASES[max(fitting, key=len)] if fitting else place.split("/")[0]


class Sampler:
    """Seconds by place, (place, shared), while a caller is inside: `used`, processor time of all threads of Python;
    `passed`, wall-clock of the thread of the caller. An error of the sampler is raised where the caller leaves without
    one."""

    def __init__(self) -> None:
        self._error: BaseException | None = None
        self.used: dict[Place, float] = defaultdict(float)
        self.passed: dict[Place, float] = defaultdict(float)
        self._caller, self._now = threading.current_thread(), 0.0
        self._last: dict[int, float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def __enter__(self) -> "Sampler":
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(PERIOD)
        self._sample(counts=False)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        sys.setswitchinterval(self._interval)
        if kind is not None:
            return  # the error of the caller, which that of the sampler would hide
        if self._error is not None:
            raise RuntimeError("the sampler ended early: its seconds are too few; repeat the run") from self._error
        self._sample()

    def _run(self) -> None:
        try:
            while not self._ended.wait(PERIOD):
                self._sample()
        except BaseException as error:  # noqa: BLE001 - raised in the thread of the caller
            self._error = error

    def _sample(self, counts: bool = True) -> None:
        """Give the seconds since the last sample to where each thread is now: a long call into compiled code lets the
        sampler in where it returns."""
        frames, now = sys._current_frames(), time.perf_counter()
        for thread in threading.enumerate():
            if thread is self._thread or thread.ident is None or thread.native_id is None:
                continue
            used = thread_seconds(thread.native_id)
            if counts:
                own = frames.get(thread.ident) if thread is not threading.current_thread() else None
                place = place_if_readable(own or sys._getframe())
                self.used[place] += used - self._last.get(thread.ident, 0.0)
                if thread is self._caller:
                    self.passed[place] += now - self._now
            self._last[thread.ident] = used
        self._now = now

    @property
    def host(self) -> float:
        """Host seconds: processor time without transfers and waits."""
        return sum(seconds for (place, _), seconds in self.used.items() if place != TRANSFERS)

    @property
    def shared(self) -> float:
        """Host seconds of work that threads share."""
        return sum(seconds for (place, shared), seconds in self.used.items() if shared and place != TRANSFERS)

    @property
    def transfers(self) -> float:
        """Processor time in transfers and waits."""
        return sum(seconds for (place, _), seconds in self.used.items() if place == TRANSFERS)


def thread_seconds(number: int) -> float:
    """Processor seconds of a thread of this process by its number in the system (Linux)."""
    return time.clock_gettime((~number << 3) | 6)  # the clock of one thread: clock_getcpuclockid(3)
