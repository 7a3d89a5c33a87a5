"""A result folder appears whole or not at all."""

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from calderon.report import ResultExists, claimed, refuse_existing, result_folder


def fill(folder, text="1"):
    """A result with two files and a folder."""
    (folder / "summary.json").write_text(json.dumps({"files": ["deep/a", f"{text}.csv", "summary.json"], "text": text}))
    (folder / f"{text}.csv").write_text(text)
    (folder / "deep").mkdir()
    (folder / "deep" / "a").write_text(text)


def text_of(folder):
    """Text of the report of a result that is whole."""
    text = json.loads((folder / "summary.json").read_text())["text"]
    assert (folder / f"{text}.csv").read_text() == (folder / "deep" / "a").read_text() == text
    return text


def contents(text, *more):
    return sorted(["deep", "summary.json", f"{text}.csv", *more])


def test_a_result_takes_its_place_at_the_end_only(tmp_path):
    out = tmp_path / "far" / "result"
    with result_folder(out) as new:
        fill(new.folder)
        assert not out.exists()
        assert new.folder.parent == out.parent  # the same file system, so that renaming is enough
    assert text_of(out) == "1"
    assert [path.name for path in out.parent.iterdir()] == ["result"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ValueError, MemoryError])
def test_an_interrupted_run_leaves_the_old_result(tmp_path, stop):
    out = tmp_path / "result"
    with result_folder(out) as new:
        fill(new.folder, "old")
    with pytest.raises(stop), result_folder(out, force=True) as new:
        (new.folder / "summary.json").write_text("half of the ne")
        raise stop
    assert text_of(out) == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_an_old_result_comes_back_when_it_cannot_be_replaced(tmp_path, monkeypatch):
    out = tmp_path / "result"
    with result_folder(out) as new:
        fill(new.folder, "old")
    rename, failures = type(out).rename, []

    def failing(self, target):
        if target == out / "summary.json" and not failures:
            failures.append(self)
            raise OSError("disk full")
        return rename(self, target)

    monkeypatch.setattr(type(out), "rename", failing)
    with pytest.warns(UserWarning, match="the result is in .*result-2: disk full"):
        with result_folder(out, force=True) as new:
            fill(new.folder, "new")
    assert text_of(out) == "old" and names(out) == contents("old")
    assert text_of(new.place) == "new" and names(tmp_path) == ["result", "result-2"]


def test_an_existing_result_is_replaced_with_force_only(tmp_path):
    out = tmp_path / "result"
    with result_folder(out) as new:
        fill(new.folder, "old")
    with pytest.raises(ResultExists, match="--force"), result_folder(out):
        pytest.fail("the block must not be entered")
    with result_folder(out, force=True) as new:
        fill(new.folder, "new")
    assert text_of(out) == "new"


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
        with result_folder(tmp_path / "result") as new:
            fill(new.folder)
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
    with result_folder(out, force) as new:
        fill(new.folder, text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_empty_folder_is_filled_where_it_is(tmp_path):
    """It may be a mount point, the folder of a shell, or have permissions of its own."""
    out = tmp_path / "result"
    out.mkdir(mode=0o700)
    before = out.stat().st_ino
    with result_folder(out) as new:
        assert new.folder.parent == out  # the same file system, whatever is mounted there
        fill(new.folder)
        refuse_existing(out, force=False)  # another run may begin meanwhile
    assert out.stat().st_ino == before and stat.S_IMODE(out.stat().st_mode) == 0o700
    assert names(out) == contents(text_of(out)) and names(tmp_path) == ["result"]
    with pytest.raises(KeyboardInterrupt), result_folder(tmp_path / "new") as new:
        raise KeyboardInterrupt
    (tmp_path / "empty").mkdir()
    with pytest.raises(KeyboardInterrupt), result_folder(tmp_path / "empty") as new:
        fill(new.folder)
        raise KeyboardInterrupt
    assert names(tmp_path / "empty") == []


def test_the_present_folder_stays_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    write_result(Path("."), "old")
    write_result(Path("."), "new", force=True)
    assert tmp_path.stat().st_ino == before
    assert names(tmp_path) == contents(text_of(tmp_path)) and text_of(tmp_path) == "new"


def test_a_result_on_a_mount_point_is_replaced_within_it(tmp_path, monkeypatch):
    out = tmp_path / "mount"
    out.mkdir()
    write_result(out, "old")
    (out / "notes.txt").write_text("mine")
    rename = type(out).rename

    def busy(self, target):
        if self == out or Path(target) == out:
            raise OSError(errno.EBUSY, "Device or resource busy", str(self))
        return rename(self, target)

    monkeypatch.setattr(type(out), "rename", busy)
    write_result(out, "new", force=True)
    assert names(out) == contents("new", "notes.txt") and text_of(out) == "new"
    assert names(tmp_path) == ["mount"]


def test_an_old_result_that_stays_comes_back_when_a_move_fails(tmp_path, monkeypatch):
    """The new one goes next to it."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    write_result(Path("."), "old")
    rename = type(tmp_path).rename

    def failing(self, target):
        if target == here / "summary.json" and json.loads(self.read_text())["text"] == "new":
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", failing)
    with pytest.warns(UserWarning, match="the result is in .*here-2: .*No space left"):
        write_result(Path("."), "new", force=True)
    assert names(here) == contents("old") and text_of(here) == "old"
    assert names(tmp_path) == ["here", "here-2"] and text_of(tmp_path / "here-2") == "new"


def test_force_removes_what_the_old_summary_lists_only(tmp_path):
    out = tmp_path / "result"
    write_result(out, "old")
    (out / "notes.txt").write_text("ten years of work")
    (out / "deep" / "mine").write_text("mine")
    write_result(out, "new", force=True)
    assert names(out) == contents("new", "notes.txt") and names(out / "deep") == ["a", "mine"]
    assert text_of(out) == "new" and names(tmp_path) == ["result"]


def test_a_file_of_the_user_with_the_name_of_a_new_one_stays(tmp_path):
    out = tmp_path / "result"
    write_result(out, "old")
    (out / "new.csv").write_text("mine")
    with pytest.warns(UserWarning, match="result-2: .*new.csv does not belong to the old result and is not replaced"):
        write_result(out, "new", force=True)
    assert text_of(out) == "old" and (out / "new.csv").read_text() == "mine"
    assert text_of(tmp_path / "result-2") == "new" and names(tmp_path) == ["result", "result-2"]


@pytest.mark.parametrize(
    "summary",
    [
        "half of",
        "[]",
        '{"files": 1}',
        '{"files": ["../a"]}',
        '{"files": ["/etc/a"]}',
        '{"files": ["."]}',
        '{"files": ["link/a"]}',
    ],
)
def test_a_summary_that_lists_no_files_of_the_folder_is_not_replaced(tmp_path, summary):
    (tmp_path / "a").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "summary.json").write_text(summary)
    (tmp_path / "out" / "link").symlink_to(tmp_path)
    with pytest.raises(ResultExists, match="does not list the files of the result .* --force cannot replace it"):
        refuse_existing(tmp_path / "out", force=True)


@pytest.mark.parametrize("before", ["nothing", "an empty folder", "a result"])
def test_a_place_that_is_taken_meanwhile_costs_no_result(tmp_path, before):
    out = tmp_path / "result"
    if before == "an empty folder":
        out.mkdir()
    with pytest.warns(UserWarning, match="the result is in .*result-2: .*result .*choose another folder"):
        with result_folder(out) as new:
            fill(new.folder, "second")
            (tmp_path / "result-1").mkdir()
            if before == "a result":
                write_result(out, "first")
            else:
                out.mkdir(exist_ok=True)
                (out / "chapter.tex").write_text("mine")
    assert new.place == tmp_path / "result-2" and text_of(new.place) == "second"
    assert names(out) == (contents("first") if before == "a result" else ["chapter.tex"])


@pytest.mark.parametrize("kill", range(12))
def test_a_kill_at_every_move_loses_neither_result(tmp_path, kill):
    """The process ends before that move; the next one at this place completes what was begun, or leaves the old."""
    out = tmp_path / "result"
    out.mkdir()
    write_result(out, "old")
    (out / "gone.csv").write_text("mine")
    (out / "old.csv").unlink()  # listed, but removed by the user
    child = os.fork()
    if not child:
        rename, moves = Path.rename, []

        def killing(self, target):
            moves.append(self)
            if len(moves) > kill:
                os._exit(9)
            return rename(self, target)

        Path.rename = killing
        try:
            write_result(out, "new", force=True)
        finally:
            os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == (9 if kill < 5 else 0)  # two old files and three new ones are moved
    with claimed(out, force=True):
        assert names(out) == contents("new", "gone.csv") and text_of(out) == "new"
    assert names(tmp_path) == ["result"]
    write_result(out, "third", force=True)
    assert names(out) == contents("third", "gone.csv")


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
    assert link.is_symlink() and text_of(target) == "new"
    assert names(tmp_path) == ["far", "link"] and names(tmp_path / "far") == ["target"]


def test_names_that_no_file_has_are_known_before_the_computation(tmp_path):
    with pytest.raises(PermissionError, match=r"\(File name too long\): choose another folder with --out"):
        refuse_existing(tmp_path / ("n" * 300), force=False)
    write_result(tmp_path / ("n" * 250))  # with a name as long as it may be
    assert names(tmp_path) == ["n" * 250]
