"""Files appear whole or not at all, with the permissions of any other file."""

import os
import stat

import pytest

import calderon as cal
from calderon.files import whole_file
from calderon.report.folder import result_folder


@pytest.fixture(params=[0o022, 0o077, 0o002])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_permissions_are_those_of_an_ordinary_file(tmp_path, umask):
    mesh = cal.mesh.cube(1.0, 0.5)
    (tmp_path / "ordinary").write_text("")
    for name in ("a.msh", "a.vtu", "a.stl"):
        mesh.write(tmp_path / name)
        assert permissions(tmp_path / name) == permissions(tmp_path / "ordinary") == 0o666 & ~umask
    cal.Function.interpolate(cal.P1(mesh), 1.0).write(tmp_path / "u.vtu")
    assert permissions(tmp_path / "u.vtu") == 0o666 & ~umask


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(path) as scratch:
        scratch.write_text("half of the n")
        raise KeyboardInterrupt
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]
    with whole_file(path) as scratch:
        assert scratch.parent == path.parent and scratch.suffix == ".txt" and scratch.name.startswith(".")
        scratch.write_text("new")
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["a.txt"]


def test_a_missing_folder_is_named(tmp_path):
    function = cal.Function.interpolate(cal.P1(cal.mesh.cube(1.0, 0.5)), 1.0)
    with pytest.raises(FileNotFoundError, match="the folder .*nowhere does not exist; create it first"):
        function.write(tmp_path / "nowhere" / "u.vtu")
    assert os.listdir(tmp_path) == []


@pytest.fixture
def steps(monkeypatch):
    """Names of the files that are flushed and renamed, in order."""
    found = []
    fsync, replace, rename = os.fsync, os.replace, os.rename

    def noted(number):
        found.append(("flush", os.path.basename(os.readlink(f"/proc/self/fd/{number}"))))
        fsync(number)

    def moved(source, target, function):
        found.append(("move", os.path.basename(target)))
        function(source, target)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "replace", lambda a, b: moved(a, b, replace))
    monkeypatch.setattr(os, "rename", lambda a, b, **options: moved(a, b, rename))
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="names of open files are read there")
def test_a_file_is_on_the_disk_before_it_takes_its_place_and_its_name_after(tmp_path, steps):
    with whole_file(tmp_path / "a.txt") as scratch:
        scratch.write_text("new")
    assert steps == [("flush", scratch.name), ("move", "a.txt"), ("flush", tmp_path.name)]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="names of open files are read there")
@pytest.mark.parametrize("exists", [False, True])
def test_the_files_of_a_result_are_on_the_disk_before_it_takes_its_place(tmp_path, steps, exists):
    out = tmp_path / "out"
    if exists:
        out.mkdir()
    with result_folder(out) as result:
        scratch = result.folder
        (scratch / "parts").mkdir()
        for name in ("summary.json", "a.csv", "parts/b.csv"):
            (scratch / name).write_text("x")
    first = next(n for n, (what, _) in enumerate(steps) if what == "move")
    assert {name for _, name in steps[:first]} == {"summary.json", "a.csv", "parts", "b.csv", scratch.name}
    assert steps[-1] == ("flush", "out" if exists else tmp_path.name)
