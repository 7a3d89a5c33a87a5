"""A reference: what is computed, from where the known values are, and the error that is allowed."""

import subprocess
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from shutil import which
from typing import Protocol

from calderon.mesh import AccuracyWarning, MeshWarning


@dataclass(frozen=True)
class Validated:
    """The error against a reference and the processor seconds of all threads; missing: why there is no error."""

    error: float | None
    cpu_seconds: float
    missing: str = ""


FAILURES = ValueError, MemoryError, RuntimeError, FloatingPointError, OSError, subprocess.TimeoutExpired


class Asked(Protocol):
    """A program of which `missing` says why it cannot be run, or nothing."""

    def missing(self) -> str: ...


@dataclass(frozen=True)
class Reference:
    """A row of `calderon validate`.

    compute() gives the relative error of `what` against the source, at most `bound`. packages: those that are needed in
    addition, each with the extra of calderon that brings it. programs: commands that are run in addition. peer: a
    package of another Python that is asked.
    """

    name: str
    what: str
    source: str
    bound: float
    compute: Callable[[], float]
    packages: tuple[tuple[str, str], ...] = ()
    programs: tuple[str, ...] = ()
    peer: Asked | None = None

    def validated(self) -> Validated:
        """Compute the error. Where a package is missing, or the computation raises an error, `missing` says it."""
        for package, extra in self.packages:
            if find_spec(package) is None:
                return Validated(None, 0.0, f"{package} is not installed: pip install 'calderon[{extra}]'")
        for program in self.programs:
            if which(program) is None:
                return Validated(None, 0.0, f"the program {program} is not installed, or not on the path")
        if self.peer is not None and (why := self.peer.missing()):
            return Validated(None, 0.0, why)
        start = time.process_time()
        with warnings.catch_warnings():
            for kind in (AccuracyWarning, MeshWarning):  # the error that they warn of is measured here
                warnings.simplefilter("ignore", kind)
            try:
                error, missing = self.compute(), ""
            except FAILURES as reason:
                error, missing = None, f"{type(reason).__name__}: {reason}"
        return Validated(error, time.process_time() - start, missing)
