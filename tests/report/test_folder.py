"""A result folder appears whole or not at all."""

import os
import stat

import pytest

from calderon.report import ResultExists, refuse_existing, result_folder


def fill(folder, text="1"):
    (folder / "summary.json").write_text(text)
    (folder / "deep").mkdir()


def test_a_result_takes_its_place_at_the_end_only(tmp_path):
    out = tmp_path / "far" / "result"
    with result_folder(out) as scratch:
        fill(scratch)
        assert not out.exists()
        assert scratch.parent == out.parent  # the same file system, so that renaming is enough
    assert (out / "summary.json").read_text() == "1"
    assert [path.name for path in out.parent.iterdir()] == ["result"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ValueError, MemoryError])
def test_an_interrupted_run_leaves_the_old_result(tmp_path, stop):
    out = tmp_path / "result"
    with result_folder(out) as scratch:
        fill(scratch, "old")
    with pytest.raises(stop), result_folder(out, force=True) as scratch:
        (scratch / "summary.json").write_text("half of the ne")
        raise stop
    assert (out / "summary.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_an_old_result_comes_back_when_it_cannot_be_replaced(tmp_path, monkeypatch):
    out = tmp_path / "result"
    with result_folder(out) as scratch:
        fill(scratch, "old")
    rename, failures = type(out).rename, []

    def failing(self, target):
        if str(target) == str(out) and not failures:
            failures.append(self)
            raise OSError("disk full")
        return rename(self, target)

    monkeypatch.setattr(type(out), "rename", failing)
    with pytest.raises(OSError, match="disk full"), result_folder(out, force=True) as scratch:
        fill(scratch, "new")
    assert (out / "summary.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_an_existing_result_is_replaced_with_force_only(tmp_path):
    out = tmp_path / "result"
    with result_folder(out) as scratch:
        fill(scratch, "old")
    with pytest.raises(ResultExists, match="--force"), result_folder(out):
        pytest.fail("the block must not be entered")
    with result_folder(out, force=True) as scratch:
        fill(scratch, "new")
    assert (out / "summary.json").read_text() == "new"


def test_force_does_not_replace_what_is_not_a_result(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("ten years of work")
    with pytest.raises(ResultExists, match="holds no result"), result_folder(tmp_path / "thesis", force=True):
        pytest.fail("the block must not be entered")
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultExists, match="is a file"), result_folder(tmp_path / "file", force=True):
        pytest.fail("the block must not be entered")


@pytest.mark.parametrize(("umask", "folder", "file"), [(0o022, 0o755, 0o644), (0o027, 0o750, 0o640)])
def test_permissions_are_those_of_any_new_folder(tmp_path, umask, folder, file):
    before = os.umask(umask)
    try:
        with result_folder(tmp_path / "result") as scratch:
            fill(scratch)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "result").stat().st_mode) == folder
    assert stat.S_IMODE((tmp_path / "result" / "summary.json").stat().st_mode) == file


def test_places_that_cannot_be_written_are_known_before_the_computation(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(PermissionError, match=r"cannot write into .*file.sub \(.*file is a file\): choose another"):
        refuse_existing(tmp_path / "file" / "sub" / "result", force=True)
    refuse_existing(tmp_path / "new" / "result", force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]

    def closed(**options):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("calderon.report.folder.tempfile.mkdtemp", closed)
    with pytest.raises(PermissionError, match=r"\(Read-only file system\): choose another folder with --out"):
        refuse_existing(tmp_path / "result", force=False)
