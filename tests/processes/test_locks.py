"""Places that one process at a time works on: who holds them is reported, and ended processes hold nothing."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

import calderon as cal
from calderon.files import whole_file
from calderon.hmatrix.saving import SavedParts
from calderon.processes import InUse, held, lock_path, mark, refuse_held
from calderon.report import claimed

HOLD = """
import sys, time
from pathlib import Path
from calderon.processes import held
with held(Path(sys.argv[1]), "wait", "hull.toml"):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def holder(place):
    """Another process that holds a place."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(place)], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"held\n"
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_place_is_refused_at_once_with_the_facts_and_free_when_its_holder_has_died(tmp_path):
    place = tmp_path / "result"
    with holder(place) as process:
        for refused in (held(place, "wait for it"), claimed(place, force=True, case="other.toml")):
            facts = rf"result is in use by process {process.pid} on \w+ \(hull.toml\), since 20..-.*UTC: wait for it"
            with pytest.raises(InUse, match=facts), refused:
                pytest.fail("the block must not be entered")
        with pytest.raises(InUse, match="in use by process"):
            refuse_held(place, "wait for it")
        assert process.poll() is None  # it holds the place still: no one waited for it
    assert lock_path(place).exists()  # the process was killed
    refuse_held(place, "wait for it")
    with held(place, "wait for it"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_locks_is_a_warning(tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("filelock.FileLock.acquire", fail)
    with pytest.warns(UserWarning, match="result cannot be locked .No locks available.: start no second run there"):
        with held(tmp_path / "result", "wait"):
            pass


def test_files_that_grow_belong_to_one_process(tmp_path):
    """matrix_file of an assembly, also before anything is computed, and the checkpoint of a run."""
    sphere = cal.mesh.sphere(1.0, 0.6)
    operator = cal.single_layer(cal.Laplace(), cal.P0(sphere))
    simulation = cal.MaxwellDG(cal.mesh.box([0, 0, 0], [1, 1, 1], cells=2), 1)
    matrix, checkpoint = tmp_path / "matrix.h5", tmp_path / "run.h5"
    early = SavedParts(matrix)
    with holder(matrix), holder(checkpoint):
        for use in (
            lambda: operator.assemble("hmatrix", matrix_file=matrix),
            early.claim,
            lambda: simulation.run(1.0, checkpoint=checkpoint),
        ):
            with pytest.raises(InUse, match=r"in use by process .*: wait for it, or name another (matrix_file|check)"):
                use()
        assert not matrix.exists()
    operator.assemble("hmatrix", matrix_file=matrix)
    simulation.run(1.0, checkpoint=checkpoint)
    assert [path.name for path in tmp_path.iterdir()] == ["matrix.h5"]


def test_a_matrix_that_another_process_has_finished_meanwhile_is_read(tmp_path):
    sphere = cal.mesh.sphere(1.0, 0.6)
    operator = cal.single_layer(cal.Laplace(), cal.P0(sphere))
    waiting = SavedParts(tmp_path / "matrix.h5")
    operator.assemble("hmatrix", matrix_file=tmp_path / "matrix.h5")
    assert waiting.identities == []
    waiting.claim()
    assert len(waiting.identities) == 1
    waiting.close()


def test_hidden_files_of_ended_processes_are_removed_by_who_writes_there_next(tmp_path):
    """Not those of processes that are alive, of other hosts, or of files with other names."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    own, alive = mark(), mark()
    dead = own.replace(str(os.getpid()), str(child.pid), 1)
    stay = [
        f".a.{alive}.vtu",
        f".a.{dead.replace('-', '-x', 1)}.vtu",
        f".b.{dead}.vtu",
        ".a.0123456789ab.vtu",
        ".a.vtu",
    ]
    for name in (*stay, f".a.{dead}.vtu"):
        (tmp_path / name).write_text("half")
    with whole_file(tmp_path / "a.vtu") as scratch:
        scratch.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*stay, "a.vtu"])


def test_a_killed_process_leaves_nothing_for_ever(tmp_path):
    """Folders and files of a process that was killed while it wrote a result."""
    program = (
        "import sys, time\nfrom pathlib import Path\nfrom calderon.report import claimed, result_folder\n"
        "out = Path(sys.argv[1])\n"
        "with claimed(out, False), result_folder(out) as new:\n"
        "    (new.folder / 'a.csv').write_text('half')\n    print('now', flush=True)\n    time.sleep(60)\n"
    )
    out = tmp_path / "far" / "result"
    process = subprocess.Popen([sys.executable, "-c", program, str(out)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"now\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(list(out.parent.iterdir())) == 2  # the lock and the hidden folder
    with claimed(out, force=False):
        assert [path.name for path in out.parent.iterdir()] == [lock_path(out).name]
    assert list(out.parent.iterdir()) == []
