"""Processes of the command line that get a signal, in every phase of a run."""

import os
import signal
import subprocess
import sys
import time

import pytest

from calderon.commands import plain_errors
from surface_case import surface_case

CASE = surface_case('far_field = { plane = "xy", count = 7 }')
PROGRAM = """
import sys, time, contextlib, calderon.cli
from calderon.report.stages import Stages
begin = Stages.stage
@contextlib.contextmanager
def stage(self, name, detail=""):
    with begin(self, name, detail):
        print(name, flush=True)
        if name in {waits!r}: time.sleep(30)
        yield
Stages.stage = stage
sys.argv = ["calderon", "run", "case.toml"]
calderon.cli.app()
"""


@pytest.mark.parametrize(
    ("phase", "waits", "number"),
    [
        ("make the mesh", ("make the mesh",), signal.SIGHUP),
        ("assemble and solve", (), signal.SIGTERM),  # it compiles for many seconds: no kernel is in the cache
        ("draw pictures", ("draw pictures",), signal.SIGINT),
    ],
)
def test_a_process_that_gets_a_signal_ends_in_words_and_leaves_nothing(tmp_path, phase, waits, number):
    (tmp_path / "case.toml").write_text(CASE)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    if not waits:
        environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(waits=waits)],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while phase not in (line := process.stdout.readline()):
        assert line, process.stderr.read()
    time.sleep(0.3)
    process.send_signal(number)
    errors = process.communicate(timeout=25)[1]  # before a wait of 30 s has ended
    assert process.returncode == 128 + number
    said = f"error interrupted by {number.name}: no result was written, an earlier one is unchanged\n"
    assert errors == said
    assert [path.name for path in tmp_path.iterdir() if path.name != "cache"] == ["case.toml"]


def test_a_signal_in_a_callback_ends_in_words_whatever_error_follows():
    """A compiler whose callback was stopped fails in its own way, before Python can raise what the callback lost."""
    said = []

    class Callback:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)

    def say(text, code):
        time.sleep(0.1)  # the signal comes again meanwhile
        said.append((text, code))

    with pytest.raises(SystemExit), plain_errors(say):
        Callback()
        raise RuntimeError("symbol not found")
    assert said == [("interrupted by SIGTERM", 128 + signal.SIGTERM)]
