"""Kill runs of the command line at random times, and run again: `python tests/cli/kills.py KIND ROUNDS [SEED]`.

KIND is a key of CASES, or "two" for two processes with one --out.

Every round forks a process that runs a case, kills it, and lets another one run the same case to its end. What that one
leaves must be equal to the last bit to the result of a run that was not killed, and there must be nothing else.
"""

import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import calderon.commands  # noqa: F401  imported before the processes fork
from calderon.cli import app

IN_TIME = """\
[mesh]
shape = "box"
low = [0, 0, 0]
high = [1, 1, 1]
cells = 4
[physics]
problem = "transient"
[initial]
mode = [1, 1, 0]
[solver]
order = 2
[run]
until = "25 ns"
checkpoint = 0.02
[output]
probes = [[0.5, 0.4, 0.3]]
snapshots = { count = 3 }
"""
ON_A_SURFACE = """\
[mesh]
shape = "sphere"
radius = 1
h = 0.25
[physics]
problem = "sound-hard"
wavenumber = 1.5
[incident]
direction = [1, 0, 0]
[solver]
method = "hmatrix"
matrix_file = "matrix.h5"
[output]
far_field = { plane = "xy", count = 37 }
"""
BY_PLANE_WAVES = """\
[mesh]
shape = "sphere"
radius = 1
h = 0.25
[physics]
problem = "conductor"
wavenumber = 2.5
[incident]
direction = [1, 0, 0]
polarization = [0, 0, 1]
[solver]
method = "mlfmm"
rtol = 1e-3
matrix_file = "matrix.h5"
[output]
far_field = { plane = "xy", count = 37 }
monostatic = { plane = "xy", count = 61, polarizations = ["VV", "HH"] }
"""
CASES = {
    "run in time": IN_TIME, "H-matrix": ON_A_SURFACE, "plane waves": BY_PLANE_WAVES, "force": ON_A_SURFACE,
    "drawing": ON_A_SURFACE,
}  # fmt: skip
NEW = "H-matrix", "plane waves"
"""Kinds whose runs compute the matrix."""
BITS = {".csv", ".vtu", ".png", ".gif"}
"""Endings of files that hold no times of the day and no seconds."""


def start(folder: Path, case: str = "case.toml") -> int:
    """A process of the command line."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.chdir(folder)
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            app(["run", case, "--out", "out", "--force"])
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os._exit(code)


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def bits(out: Path) -> dict[str, bytes]:
    """Files of a result without its times."""
    files = [path for path in out.rglob("*") if path.suffix in BITS]
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}


def kill_at_random(kind: str, folder: Path, rounds: int, seed: int = 0) -> tuple[int, list[str]]:
    """How many runs were killed before they ended, and what was wrong."""
    chance, wrong, killed = random.Random(seed), [], 0
    (folder / "case.toml").write_text(CASES[kind])
    assert ended(start(folder)) == 0  # fills the cache of compiled kernels
    began = time.monotonic()
    if kind in NEW:  # the others find the matrix in the file
        (folder / "matrix.h5").unlink()
    assert ended(start(folder)) == 0
    duration, wanted = time.monotonic() - began, bits(folder / "out")
    assert {"probes.csv", "far_field.csv"} & wanted.keys()
    for number in range(rounds):
        if kind != "force":
            shutil.rmtree(folder / "out")
        if kind in NEW:
            (folder / "matrix.h5").unlink()
        child = start(folder)
        early = 0.4 if kind == "drawing" else 0.0  # the matrix is in the file, and most of the time goes to pictures
        time.sleep(duration * chance.uniform(early, 1.05))
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        killed += ended(child) == -signal.SIGKILL
        if (code := ended(start(folder))) != 0:
            wrong.append(f"round {number}: exit status {code}")
        elif bits(folder / "out") != wanted:
            wrong.append(f"round {number}: other bits")
        left = sorted({path.name for path in folder.iterdir()} - {"case.toml", "out", "matrix.h5"})
        left += [path.name for path in (folder / "out").rglob(".*")]
        if left:
            wrong.append(f"round {number}: {', '.join(left)} left")
    return killed, wrong


def start_both(folder: Path, rounds: int, seed: int = 0) -> tuple[float, list[str]]:
    """Two processes with one --out at almost the same time, of one case and of two in turn: the longest time in which
    one was refused, and what was wrong."""
    chance, wrong, longest, wanted = random.Random(seed), [], 0.0, {}
    for case, probe in (("case.toml", "0.3"), ("other.toml", "0.6")):
        (folder / case).write_text(IN_TIME.replace("0.5, 0.4, 0.3", f"0.5, 0.4, {probe}"))
        assert ended(start(folder, case)) == 0
        wanted[case] = bits(folder / "out")
    for number in range(rounds):
        cases = ["case.toml", ("case.toml", "other.toml")[number % 2]]
        chance.shuffle(cases)
        children = {}
        for case in cases:
            children[start(folder, case)] = case, time.monotonic()
            time.sleep(chance.uniform(0, 0.1))
        codes = {}
        for _ in cases:
            child, status = os.wait()
            case, began = children[child]
            codes[os.waitstatus_to_exitcode(status)] = case
            if not len(codes) > 1:
                longest = max(longest, time.monotonic() - began)
        if list(codes) != [4, 0]:
            wrong.append(f"round {number}: exit status {list(codes)}, the one that ended first before the other")
        elif bits(folder / "out") != wanted[codes[0]]:
            wrong.append(f"round {number}: not the result of the one that was not refused")
        if left := sorted({path.name for path in folder.iterdir()} - {"case.toml", "other.toml", "out"}):
            wrong.append(f"round {number}: {', '.join(left)} left")
    return longest, wrong


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        began, seed = time.monotonic(), int(sys.argv[3]) if len(sys.argv) > 3 else 0
        if sys.argv[1] == "two":
            figure, wrong = start_both(Path(place), int(sys.argv[2]), seed)
            print(f"one refused after at most {figure:.2f} s")
        else:
            figure, wrong = kill_at_random(sys.argv[1], Path(place), int(sys.argv[2]), seed)
            print(f"{sys.argv[1]}: {figure} killed")
        print(f"{time.monotonic() - began:.0f} s", *wrong, sep="\n")
        sys.exit(bool(wrong))
