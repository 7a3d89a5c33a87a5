"""A result folder appears whole or not at all."""

import errno
import os
import stat
from pathlib import Path

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
        if target == out / "summary.json" and not failures:
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


def write_result(out, text="new", force=False):
    with result_folder(out, force) as scratch:
        fill(scratch, text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_empty_folder_is_filled_where_it_is(tmp_path):
    """It may be a mount point, the folder of a shell, or have permissions of its own."""
    out = tmp_path / "result"
    out.mkdir(mode=0o700)
    before = out.stat().st_ino
    with result_folder(out) as scratch:
        assert scratch.parent == out  # the same file system, whatever is mounted there
        fill(scratch)
        refuse_existing(out, force=False)  # another run may begin meanwhile
    assert out.stat().st_ino == before and stat.S_IMODE(out.stat().st_mode) == 0o700
    assert names(out) == ["deep", "summary.json"] and names(tmp_path) == ["result"]
    with pytest.raises(KeyboardInterrupt), result_folder(tmp_path / "new") as scratch:
        raise KeyboardInterrupt
    (tmp_path / "empty").mkdir()
    with pytest.raises(KeyboardInterrupt), result_folder(tmp_path / "empty") as scratch:
        fill(scratch)
        raise KeyboardInterrupt
    assert names(tmp_path / "empty") == []


def test_the_present_folder_stays_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    write_result(Path("."), "old")
    write_result(Path("."), "new", force=True)
    assert tmp_path.stat().st_ino == before
    assert names(tmp_path) == ["deep", "summary.json"] and (tmp_path / "summary.json").read_text() == "new"


def test_a_result_on_a_mount_point_is_replaced_within_it(tmp_path, monkeypatch):
    out = tmp_path / "mount"
    out.mkdir()
    write_result(out, "old")
    (out / "far_field.csv").write_text("old")
    rename = type(out).rename

    def busy(self, target):
        if self == out or Path(target) == out:
            raise OSError(errno.EBUSY, "Device or resource busy", str(self))
        return rename(self, target)

    monkeypatch.setattr(type(out), "rename", busy)
    write_result(out, "new", force=True)
    assert names(out) == ["deep", "summary.json"] and (out / "summary.json").read_text() == "new"
    assert names(tmp_path) == ["mount"]


def test_an_old_result_that_stays_comes_back_when_a_move_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_result(Path("."), "old")
    rename = type(tmp_path).rename

    def failing(self, target):
        if target == tmp_path / "summary.json" and self.read_text() == "new":
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", failing)
    with pytest.raises(OSError, match="No space left"):
        write_result(Path("."), "new", force=True)
    assert names(tmp_path) == ["deep", "summary.json"] and (tmp_path / "summary.json").read_text() == "old"


@pytest.mark.parametrize("there", ["nothing", "an empty folder", "a result"])
def test_a_link_leads_to_where_the_result_goes(tmp_path, there):
    target, link = tmp_path / "far" / "target", tmp_path / "link"
    if there != "nothing":
        target.mkdir(parents=True)
    if there == "a result":
        write_result(target, "old")
    link.symlink_to(target)
    refuse_existing(link, force=True)
    write_result(link, "new", force=True)
    assert link.is_symlink() and (target / "summary.json").read_text() == "new"
    assert names(tmp_path) == ["far", "link"] and names(tmp_path / "far") == ["target"]


def test_names_that_no_file_has_are_known_before_the_computation(tmp_path):
    with pytest.raises(PermissionError, match=r"\(File name too long\): choose another folder with --out"):
        refuse_existing(tmp_path / ("n" * 300), force=False)
    write_result(tmp_path / ("n" * 250))  # with a name as long as it may be
    assert names(tmp_path) == ["n" * 250]
