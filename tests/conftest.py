"""Settings for all tests, and the devices that many of them use."""

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# NumPy and SciPy each bring their own OpenBLAS; two pools of threads on few cores wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# a script in the background ignores Ctrl-C, nohup a closed terminal, and the package leaves ignored signals ignored
for number, effect in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, effect)


def pytest_configure():
    """Import the package once, before anything runs: the process that collects what several workers report has a
    thread for each, and two that meet a warning of the package at once import it at once, which may deadlock."""
    import calderon  # noqa: F401


def pytest_collection_finish():
    """Freeze all present objects: later collections of garbage, many while kernels are compiled, need not look at
    it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


def _whole(config):
    """Whether all tests are requested, as pytest without arguments does; also in a worker."""
    return [Path(each).name for each in config.args] == ["tests"] and not config.option.ignore


def pytest_sessionstart(session):
    """Compile what many tests use, in two processes, before workers that run all tests begin."""
    config = session.config
    if _whole(config) and getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        program = str(Path(__file__).with_name("compile_kernels.py"))
        halves = [subprocess.Popen([sys.executable, program, half]) for half in "01"]
        if any([half.wait() for half in halves]):
            raise pytest.UsageError(f"{program} failed, see above")


ON_DEVICES = (
    "backends/test_devices.py::",
    "backends/test_counters.py::",
    "greens/test_new_function.py::",
    "operators/test_every_form.py::",
    "operators/test_layered_field.py::test_devices_give_the_matrix_of_the_processor[double-",
    "galerkin/test_device_matrices.py::test_entries_are_those_of_the_processor[blocks]",
    "galerkin/test_device_matrices.py::test_mixed_precision[edges-numba]",
    "galerkin/test_device_matrices.py::test_solutions_stay_with_the_host_s",
    "galerkin/test_device_matrices.py::test_refusals",
    "potentials/test_device_potentials.py::test_layers_agree_with_the_processor[helmholtz-double-evaluate-",
    "potentials/test_device_potentials.py::test_currents_agree_with_the_processor[electric-2.0-",
    "operators/test_matrix_free.py::test_products_on_a_device[sum]",
    "operators/test_matrix_free.py::test_memory_is_asked_for_before_anything_is_prepared",
    "galerkin/test_shared_matrices.py::test_same_numbers[symmetric-numba+opencl:0]",
    "galerkin/test_shared_matrices.py::test_refusals",
    "hmatrix/test_device_hmatrix.py::test_double_layers_hold_the_tolerance",
    "hmatrix/test_shared_hmatrices.py::test_the_processor_has_the_small_blocks",
    "fft/test_grid_operator.py::test_devices_multiply_alike[mixed-1e-06-1]",
    "fmm/test_device_products.py::test_layers_of_laplace[0.001]",
    "products/test_near_filling.py::test_numbers_do_not_depend",
    "mlfmm/test_waves_on_two_devices.py::test_refusals",
    "solvers/test_device_solves.py::test_products[complex128]",
    "solvers/test_device_solves.py::test_gmres_ends_as_on_the_host",
    "formulations/test_fields_on_devices.py::test_fields_agree_with_those_of_the_processor[rigid]",
    "dg/test_simulations_on_devices.py::test_cavity[3-",
    "dg/test_simulations_on_devices.py::test_a_device_that_fails_is_named",
    "dg/test_ranks_on_devices.py::test_ranks_of_a_node_take_its_devices_in_turn",
    "dg/test_local_time_stepping.py::test_devices_are_refused",
)
"""Beginnings of the names of tests that need an OpenCL device and always run, one for each thing that devices do. All
others are variants: PoCL compiles each source anew and computes 9 to 17 times slower than Numba."""

VARIANTS = tuple(
    line for line in Path(__file__).with_name("variants.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#"
)
"""Further variants: beginnings of the names of tests that show once more what shorter ones show."""

LONG = (
    "hmatrix/test_operators.py::",
    "formulations/test_methods.py::",
    "greens/test_new_function.py::",
    "formulations/electromagnetic/test_dielectric.py::",
    "hmatrix/test_hierarchical_lu.py::",
    "galerkin/test_close_pairs.py::",
    "galerkin/test_compiled_rows.py::",
)
"""Files with tests of 10 s and more, which compile: they come first, so that no worker waits for them in the end."""


def _needs_device(item):
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return "opencl" in item.fixturenames or "opencl" in [each for each in given if isinstance(each, str)]


def _is_variant(item):
    name = item.nodeid.removeprefix("tests/")
    if item.get_closest_marker("variant") or name.startswith(VARIANTS):
        return True
    return _needs_device(item) and not name.startswith(ON_DEVICES)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Compiling is what most tests spend their time on: further variants wait for CALDERON_ALL_VARIANTS=1; with
    -m variant it runs them alone. "k/n": a share of them, as .ci/run sets; "devices": all tests that need a device and
    no others."""
    marked = {item.nodeid.removeprefix("tests/") for item in items if item.get_closest_marker("variant")}
    further = [item for item in items if _is_variant(item)]
    for item in further:
        item.add_marker(pytest.mark.variant)
    if _whole(config):
        names = [item.nodeid.removeprefix("tests/") for item in items]
        groups = (ON_DEVICES + LONG, names), (VARIANTS, [name for name in names if name not in marked])
        lost = [each for group, own in groups for each in group if not any(name.startswith(each) for name in own)]
        if lost:
            raise pytest.UsageError(
                f"no tests, or tests marked as variants alone, begin with these names of tests/conftest.py or "
                f"tests/variants.txt: {', '.join(lost)}"
            )
    asked = os.environ.get("CALDERON_ALL_VARIANTS")
    if asked != "1":
        if asked == "devices":
            left_out = [item for item in items if not _needs_device(item)]
        else:
            from catalogue import in_share

            # tests of builds for CUDA choose a share of the variants themselves
            names = [each.nodeid for each in further]
            kept = [asked and ("test_cuda_build" in name or in_share(name, asked)) for name in names]
            left_out = [each for each, is_kept in zip(further, kept, strict=True) if not is_kept]
        chosen = {id(item) for item in left_out}
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if id(item) not in chosen]
    items.sort(key=lambda item: not item.nodeid.removeprefix("tests/").startswith(LONG))  # the order within stays


@pytest.fixture
def opencl():
    """The first OpenCL device that works, a processor will do; skips the test where there is none. Tests that search
    for devices anew leave another object."""
    from calderon.backends import available, get, survey

    if "opencl" not in available():
        found = survey("opencl")
        pytest.skip(f"OpenCL is not available: {found.missing or found.failures}")
    return get("opencl")


@pytest.fixture
def two(opencl, monkeypatch):
    """The first OpenCL device twice, with queues of its own each: "opencl:0" and "opencl:1"."""
    from calderon.backends import backend, survey
    from calderon.backends.devices import opencl as driver

    devices = [driver.OpenCLDevice(opencl._device, number) for number in range(2)]
    monkeypatch.setitem(backend._DRIVERS, "opencl", lambda: devices)
    survey.cache_clear()
    yield devices
    monkeypatch.undo()
    survey.cache_clear()


@pytest.fixture
def cuda_builds(monkeypatch):
    """cuda_builds(assemble, header): what each kernel takes, for the sources with this header that assemble() asks a
    CUDA device for: (source, {kernel: Usage}); skips the test where there is no compiler."""
    from backends.cuda_compiler import find_compiler, usage
    from backends.variants import NoteTaker
    from calderon.backends import backend, survey

    if (compiler := find_compiler()) is None:
        pytest.skip("no CUDA compiler: neither nvcc nor NVRTC (pip install nvidia-cuda-nvrtc-cu12)")

    def built(assemble, header):
        taker = NoteTaker()
        with monkeypatch.context() as patch:
            patch.setitem(backend._DRIVERS, "cuda", lambda: [taker])
            survey.cache_clear()
            assemble()
        survey.cache_clear()
        return [(each, usage(compiler[1](each))) for each in taker.sources if header in str(each)]

    return built


@pytest.fixture
def peak_of():
    """peak_of(operator, **options): the dense matrix, and the most memory that its assembly takes at a time."""
    import tracemalloc

    def assembled(operator, **options):
        tracemalloc.start()
        try:
            matrix = operator.assemble(**options)
            return matrix, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return assembled


@pytest.fixture(autouse=True, scope="session")
def typical_rates():
    """Plans have the rates of a typical machine, so that "auto" takes the same method on each one."""
    from calderon.backends.rates import TYPICAL
    from calderon.products import cost

    cost.machine_rates = lambda: TYPICAL


@pytest.fixture(autouse=True, scope="session")
def pictures_of_few_pixels():
    """Pictures have a sixteenth of the pixels that users get: tests of reports take a fifth less time."""
    from calderon.plots import style

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style.save, "__defaults__", (100,))
        yield


@pytest.fixture
def all_pixels(monkeypatch):
    """Pictures have all pixels that users get."""
    from calderon.plots import style

    monkeypatch.setattr(style.save, "__defaults__", (400,))


@pytest.fixture(autouse=True, scope="session")
def one_process_compiles():
    """Commands start no second process that compiles: other tests take its processor, and it compiles more than the
    command needs. tests/test_warm_up.py starts it."""
    from calderon import warm_up

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warm_up, "thread_count", lambda: 1)
        yield
