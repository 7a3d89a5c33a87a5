"""Where compiled kernels are stored: read-only containers, several processes at once, damaged files."""

import subprocess
import sys

import numpy as np
import pytest

from calderon.backends.kernel_cache import Claim, KernelIndex
from calderon.solvers.symmetric import eliminate

READ_ONLY = """
import sys, warnings
import numba.core.caching as caching
ensure = caching._CacheLocator.ensure_cache_path
def refused(self):
    if not self.get_cache_path().startswith({writable!r}):
        raise OSError(30, "Read-only file system")
    ensure(self)
caching._CacheLocator.ensure_cache_path = refused
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import calderon
    import numpy as np
    from calderon.solvers.symmetric import eliminate
    starts, columns, counts = np.arange(3), np.arange(2, dtype=np.int32), np.zeros((2, 2), np.int64)
    eliminate(starts, columns, *counts, np.zeros(3, np.int64), np.empty(0, np.int32))
print(len(eliminate.stats.cache_hits), len(caught), *[each.message for each in caught])
"""


def in_a_container(tmp_path, temporary):
    """Compile a kernel where the package and the home folder cannot be written."""
    program = READ_ONLY.format(writable=str(tmp_path))
    environment = {
        "PATH": "",
        "PYTHONPATH": ":".join(sys.path),
        "TMPDIR": str(temporary),
        "NUMBA_CACHE_DIR": "/proc/none",
    }
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    hits, warned, *text = done.stdout.split()
    return int(hits), int(warned), " ".join(text)


def test_a_read_only_container_stores_kernels_in_a_private_folder(tmp_path):
    """One warning; the second process finds what the first has compiled."""
    for hits in (0, 1):
        found, warned, text = in_a_container(tmp_path, tmp_path)
        assert (found, warned) == (hits, 1) and "set NUMBA_CACHE_DIR to a folder that can be written" in text
        assert "compiled kernels are stored in" in text and "calderon-kernels-" in text
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700 and list(folder.rglob("*.nbc"))


def test_a_folder_that_others_can_write_is_not_used(tmp_path):
    """Compiled kernels are code."""
    in_a_container(tmp_path, tmp_path)
    (folder,) = tmp_path.iterdir()
    folder.chmod(0o777)
    hits, warned, text = in_a_container(tmp_path, tmp_path)
    assert (hits, warned) == (0, 1) and "no folder for compiled kernels can be written: each process compiles" in text


@pytest.fixture
def two(tmp_path):
    """One index as two processes hold it."""
    return [KernelIndex(str(tmp_path), "kernel", "stamp") for _ in range(2)]


@pytest.mark.parametrize("between", ["_save_index", "_save_data"])
def test_two_processes_that_save_at_once_mix_nothing_up(two, between, monkeypatch):
    """On a file system without locks; with them they save one after the other."""
    one, other = two
    method = getattr(one, between)
    monkeypatch.setattr(Claim, "waited", lambda claim: False)

    def interrupted(*arguments):
        delattr(one, between)
        other.save("key of the other", "data of the other")
        method(*arguments)

    setattr(one, between, interrupted)
    one.save("key of one", "data of one")
    assert one.load("key of one") in (None, "data of one")
    assert one.load("key of the other") in (None, "data of the other")
    one.save("key of one", "data of one")
    assert other.load("key of one") == "data of one"


def test_half_a_file_is_compiled_again(two, tmp_path):
    two[0].save("key", np.arange(1000))
    (file,) = tmp_path.glob("*.nbc")
    file.write_bytes(file.read_bytes()[:-100])
    assert two[1].load("key") is None


def test_kernels_are_stored_where_numba_would():
    assert "calderon-kernels" not in eliminate._cache.cache_path
