"""Damaged and forged files are refused, or give the same bits; none ends the process."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

OF_SUMS = re.compile(r"^/(sparse/|terms).* new digest")
"""Another sparse matrix or another summand of a sum may be as valid as the first."""
PROGRAM = Path(__file__).with_name("damaged_copies.py")


def outcomes(*arguments):
    """Outcome of each copy, from one process for all of them."""
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("kind", "count"),
    [("matrix", 30), ("checkpoint", 20)]
    + [pytest.param(kind, 60, marks=pytest.mark.variant) for kind in ("matrix", "sum", "assembly", "checkpoint")],
)
def test_a_flipped_bit_is_refused_or_changes_nothing(kind, count, tmp_path):
    found = outcomes("flips", kind, tmp_path, count)
    assert len(found) == count
    assert not [each for each in found if each[1].startswith(("other", "raw"))]
    assert sum(result == "damaged" for _, result in found) >= count // 2  # all those in the numbers, and most others


@pytest.mark.parametrize(
    ("kind", "rows"),
    [("matrix", 1)] + [pytest.param(kind, 1, marks=pytest.mark.variant) for kind in ("sum",)],
)
def test_a_table_with_another_number_is_refused_with_any_digest(kind, rows, tmp_path):
    found = outcomes("tables", kind, tmp_path, rows)
    assert len(found) > 100
    assert not [each for each in found if each[1].startswith(("raw", "refused"))]
    assert not [each for each in found if each[1] == "other" and not OF_SUMS.search(each[0])]
    assert all(result == "damaged" for what, result in found if "/table[" in what or "old digest" in what)
