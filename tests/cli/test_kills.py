"""Runs that are killed at random times, and two at one place; full counts by `python tests/cli/kills.py`."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("kills.py")


def variant(*values):
    return pytest.param(*values, marks=pytest.mark.variant)


@pytest.mark.parametrize(
    ("kind", "rounds"),
    [("run in time", 2), variant("force", 1), variant("H-matrix", 1), variant("plane waves", 1), variant("drawing", 1)],
)
def test_a_killed_run_goes_on_to_the_same_bits_and_leaves_nothing(kind, rounds):
    done = subprocess.run([sys.executable, PROGRAM, kind, str(rounds)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_of_two_runs_at_one_place_one_is_refused_at_once():
    """Before the other one ends."""
    done = subprocess.run([sys.executable, PROGRAM, "two", "2"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
