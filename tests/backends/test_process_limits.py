"""Memory that control groups and limits of the process leave."""

import subprocess
import sys

import pytest

from calderon.backends import free_memory
from calderon.backends.process_limits import left_by_limits, resident_bytes

GB = 10**9


def group(folder, version, limit, usage, dropped=0):
    """A control group as the kernel shows it."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {1: ("memory.limit_in_bytes", "memory.usage_in_bytes"), 2: ("memory.max", "memory.current")}[version]
    for name, value in zip(names, (limit, usage), strict=True):
        (folder / name).write_text(f"{value}\n")
    prefix = "total_" if version == 1 else ""
    (folder / "memory.stat").write_text(f"anon 17\n{prefix}inactive_file {dropped}\n")


@pytest.fixture
def place(tmp_path):
    (tmp_path / "proc").mkdir()
    return tmp_path / "mount", tmp_path / "proc"


@pytest.mark.parametrize(
    ("version", "line", "root"),
    [(2, "0::/jobs/7", ""), (1, "9:cpu:/other\n4:memory,hugetlb:/jobs/7", "memory"), (2, "0::/jobs/7", "unified")],
)
def test_the_strictest_group_around_the_process_counts(place, version, line, root):
    mount, tables = place
    (tables / "cgroup").write_text(f"{line}\n")
    assert left_by_limits(mount, tables) is None
    group(mount / root / "jobs", version, 5 * GB, 2 * GB)
    group(mount / root / "jobs" / "7", version, 4 * GB, 3 * GB, dropped=GB // 2)
    assert left_by_limits(mount, tables) == 1.5 * GB
    group(mount / root / "jobs", version, 5 * GB, 9 * GB // 2)
    assert left_by_limits(mount, tables) == GB // 2
    group(mount / root / "jobs", version, "max" if version == 2 else 2**63 - 4096, 4 * GB)
    assert left_by_limits(mount, tables) == 1.5 * GB
    group(mount / root / "jobs" / "7", version, 4 * GB, 5 * GB)
    assert left_by_limits(mount, tables) == 0


def test_a_path_that_is_not_mounted_leads_to_the_root(place):
    mount, tables = place
    (tables / "cgroup").write_text("0::/../../outside\n")
    group(mount, 2, 3 * GB, GB)
    assert left_by_limits(mount, tables) == 2 * GB


def test_damaged_tables_count_as_none(place):
    mount, tables = place
    (tables / "cgroup").write_bytes(b"\xff\n::\nnonsense\n")
    (tables / "statm").write_text("many pages")
    group(mount, 2, "a lot", "more")
    assert left_by_limits(mount, tables) is None and resident_bytes(tables) is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_job_with_a_limit_is_refused_in_words():
    assert 0 < resident_bytes() and free_memory() > 0
    program = (
        "import resource, calderon as cal\n"
        "mesh = cal.mesh.sphere(radius=1.0, h=0.03)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 * 10**9, resource.RLIM_INFINITY))\n"
        "assert cal.backends.free_memory() < 4 * 10**9\n"
        "try: cal.single_layer(cal.Laplace(), cal.P0(mesh)).assemble('dense')\n"
        "except MemoryError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "GB are free: try precision=" in run.stdout
