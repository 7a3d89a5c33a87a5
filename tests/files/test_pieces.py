"""Pieces of results that take long."""

import os

import numpy as np
import pytest

from calderon.files import DamagedFile, FileKind, Pieces, put
from calderon.processes import InUse, leftovers
from calderon.processes.leftovers import host

KIND = FileKind("calderon sums", "sums", "remove it", version=1, former=1)
VALUES = np.arange(6.0).reshape(2, 3)


def opened(path, **identity):
    return Pieces(path, KIND, {"mesh": "1", **identity})


def test_pieces_are_kept_until_the_result_replaces_them(tmp_path):
    path = tmp_path / "sums.h5"
    with opened(path) as pieces:
        pieces.keep("0-ab", VALUES)
        with pytest.raises(InUse, match="or name another file"):
            opened(path)
    (tmp_path / "sums.part-9.txt").touch()
    (tmp_path / "other.part-0.h5").touch()
    with opened(path) as pieces:
        assert np.array_equal(pieces.piece("0-ab", (2, 3), np.float64), VALUES)
        assert pieces.piece("1-ab", (2, 3), np.float64) is None and not pieces.is_complete
        with pieces.finish() as file:
            put(file, "total", VALUES)
    assert sorted(os.listdir(tmp_path)) == ["other.part-0.h5", "sums.h5", "sums.part-9.txt"]
    with opened(path) as pieces, pieces.result() as file:
        assert pieces.is_complete and np.array_equal(file.array("total"), VALUES)


def test_pieces_of_other_problems_sizes_and_damaged_ones_are_refused(tmp_path):
    path = tmp_path / "sums.h5"
    with opened(path) as pieces:
        pieces.keep("0", VALUES)
        with pytest.raises(DamagedFile, match="shape"):
            pieces.piece("0", (3, 2), np.float64)
        with pytest.raises(DamagedFile, match="type"):
            pieces.piece("0", (2, 3), np.complex128)
        pieces.keep("1", np.array([np.nan]))
        with pytest.raises(DamagedFile, match="not finite"):
            pieces.piece("1", (1,), np.float64)
    with pytest.raises(ValueError, match="holds sums of another problem: mesh 1 instead of 2"):
        opened(path, mesh="2")
    content = (tmp_path / "sums.part-0.h5").read_bytes()
    (tmp_path / "sums.part-0.h5").write_bytes(content[:1000])
    with pytest.raises(DamagedFile):
        opened(path)
    with pytest.raises(TypeError, match="give a path"):
        opened(3)


def test_what_ended_processes_have_left_is_removed(tmp_path):
    left = tmp_path / f".sums.part-3-ab.999999999-{host()}-0a1b2c3d4e5f.h5"
    left.touch()
    assert leftovers(tmp_path, ".sums.part-3-ab.", ".h5") == [left]
    with opened(tmp_path / "sums.h5"):
        assert not left.exists()
