"""python tests/on_cuda.py [--seconds 240] [options of pytest]: the tests that need an OpenCL device, on a CUDA device.

No machine of the project's own has one, so that tests name OpenCL. They are copied into a temporary folder, where
OpenCL's names are replaced by CUDA's. Those that always run come first, further variants after them; what would begin
after so many seconds is skipped, and said to be.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
OF_DRIVERS = "test_devices.py", "test_cuda_build.py", "test_cuda_calls.py"
"""Tests of the drivers themselves and of what is compiled without a device: these run as they are, if requested."""
OF_OPENCL = {
    "test_lu_refuses": "CUDA has LU",
    "test_sweeps_after_a_solution_on_a_device_without_factors": "CUDA has LU",
    "test_what_a_device_leaves_is_done_by_the_others": "threads may be done before a graphics processor begins",
    "test_same_blocks and symmetric": "the same",
    "test_ranks_of_a_node_take_its_devices_in_turn": "compares free memory, of which other processes take some",
}
"""Tests that hold for OpenCL only, or for devices that are slow and have their memory for themselves."""
TWICE = "devices = [driver.OpenCLDevice(opencl._device, number) for number in range(2)]"
"""One device as two, in the fixture `two`."""
TWICE_BY_CUDA = "devices = [driver.CudaDevice(0) for _ in range(2)]\n    devices[1].name = 'cuda:1'"


LIMIT = """

def pytest_runtest_setup(item):
    import time

    if time.time() > {end}:
        pytest.skip("would begin after {seconds:.0f} s: python tests/on_cuda.py --seconds {seconds:.0f}")


@pytest.hookimpl(trylast=True, specname="pytest_collection_modifyitems")
def pytest_first_those_that_always_run(items):
    items.sort(key=lambda item: not item.nodeid.removeprefix("tests/").startswith(ON_DEVICES))
"""
"""Hooks that are appended to conftest.py, with the time after which nothing begins."""


def copied(folder: Path, limit: str) -> list[str]:
    """Write the tests for CUDA, next to the benchmarks that some of them read; their files that need a device."""
    shutil.copytree(HERE, folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(HERE.parent / "benchmarks", folder / "benchmarks")
    shutil.copy(HERE.parent / "pyproject.toml", folder)
    needed = []
    for path in (folder / "tests").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert path.name != "conftest.py" or TWICE in text
        text += limit if path.name == "conftest.py" else ""
        path.write_text(text.replace(TWICE, TWICE_BY_CUDA).replace("opencl", "cuda"), encoding="utf-8")
        if "opencl" in text and path.name.startswith("test_") and path.name not in OF_DRIVERS:
            needed.append(str(path.relative_to(folder)))
    return needed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=240, help="nothing begins after so many")
    options, further = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        limit = LIMIT.format(end=time.time() + options.seconds, seconds=options.seconds)
        files = copied(Path(name), limit)
        chosen = " and ".join(f"not ({name})" for name in OF_OPENCL)
        environment = os.environ | {"CALDERON_ALL_VARIANTS": "devices"}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *files, "-k", chosen, *further]
        return subprocess.run(command, cwd=name, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
