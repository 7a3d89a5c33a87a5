"""Settings for all tests, and the devices that many of them use."""

import os

import pytest

# NumPy and SciPy each bring their own OpenBLAS; two pools of threads on few cores wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_configure():
    """Import the package once, before anything runs: the process that collects what several workers report has a
    thread for each, and two that meet a warning of the package at once import it at once, which may deadlock."""
    import calderon  # noqa: F401


def pytest_collection_modifyitems(config, items):
    """Compiling is what most tests spend their time on: further variants of kernels wait for CALDERON_ALL_VARIANTS=1,
    which .ci/run sets."""
    if os.environ.get("CALDERON_ALL_VARIANTS") == "1":
        return
    further = [item for item in items if item.get_closest_marker("variant")]
    config.hook.pytest_deselected(items=further)
    items[:] = [item for item in items if item not in further]


@pytest.fixture(scope="session")
def opencl():
    """The first OpenCL device that works, a processor will do; skips the test where there is none."""
    from calderon.backends import available, get, survey

    if "opencl" not in available():
        pytest.skip(f"OpenCL is not at hand: {survey('opencl').reason}")
    return get("opencl")


@pytest.fixture
def two(opencl, monkeypatch):
    """The first OpenCL device twice, with queues of its own each: "opencl:0" and "opencl:1"."""
    from calderon.backends import backend, survey
    from calderon.backends import opencl as driver

    devices = [driver.OpenCLDevice(opencl._device, number) for number in range(2)]
    monkeypatch.setitem(backend._DRIVERS, "opencl", lambda: devices)
    survey.cache_clear()
    yield devices
    monkeypatch.undo()
    survey.cache_clear()
