"""Devices: chosen by name, probed before they count, refused with a reason."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from calderon.backends import BuildError, Source, available, backend, get, survey
from calderon.backends.devices import opencl as opencl_driver

PROBE = "backends/devices/probe.c"
NUMBERS = np.linspace(0.5, 3.0, 100)


class FakeDevice:
    """A device whose probe gives `factor` times the right numbers, or raises `error`."""

    is_gpu, has_double = True, True

    def __init__(self, name, factor=1.0, error=None):
        self.name, self.label, self.factor, self.error = name, "a fake", factor, error

    def memory(self):
        return 10**9

    def array(self, host):
        return host.copy()

    def empty(self, shape, dtype):
        return np.empty(shape, dtype)

    def to_host(self, array):
        return array

    def fetch(self, array):
        return lambda: array

    def put(self, host, array, first=0):
        array.ravel()[first : first + host.size] = host.ravel()

    def build(self, source):
        if self.error:
            raise self.error
        return source

    def launch(self, program, kernel, threads, group, *arguments):
        x, y, n = arguments
        y[:n] = self.factor * (1 / np.sqrt(x[:n]) + 2 * np.exp(-x[:n]))

    def synchronize(self):
        pass


@pytest.fixture
def driver(monkeypatch):
    """driver(cuda=[...], opencl=[...]) replaces what the drivers find: a list of devices, or an error to raise."""

    def replace(**found):
        for name in backend.DEVICE_BACKENDS:
            outcome = found.get(name, RuntimeError(f"no {name} in this test"))

            def devices(outcome=outcome):
                if isinstance(outcome, Exception):
                    raise outcome
                return outcome

            monkeypatch.setitem(backend._DRIVERS, name, devices)
        survey.cache_clear()

    yield replace
    monkeypatch.undo()
    survey.cache_clear()


@pytest.fixture
def device(opencl):
    return opencl


@pytest.mark.parametrize(("real", "kind", "bound"), [("float", np.float32, 1e-6), ("double", np.float64, 1e-15)])
def test_a_kernel_gives_the_right_numbers(device, real, kind, bound):
    if real == "double" and not device.has_double:
        pytest.skip(f"{device.label} has no double precision")
    x = NUMBERS.astype(kind)
    y = device.empty(x.shape, kind)
    device.launch(device.build(Source(PROBE, real)), "probe", x.shape, (32,), device.array(x), y, len(x))
    device.synchronize()
    exact = 1 / np.sqrt(x) + 2 * np.exp(-x)
    assert np.abs(device.to_host(y) / exact - 1).max() < bound


def test_a_kernel_stays_inside_of_its_array(device):
    """100 numbers in groups of 32: the last group is not full; the 20 numbers beyond n stay."""
    x, y = device.array(NUMBERS), device.array(np.full(100, -1.0))
    device.launch(device.build(Source(PROBE, "double")), "probe", (100,), (32,), x, y, 80)
    result = device.to_host(y)
    assert (result[:80] > 0).all() and (result[80:] == -1).all()


def test_arrays_come_back_as_they_went(device):
    for host in (np.arange(6, dtype=np.int32).reshape(2, 3), np.array([1 + 2j, 3j]), np.zeros((0, 3)), NUMBERS[::7]):
        back = device.to_host(device.array(host))
        assert back.dtype == host.dtype and np.array_equal(back, host)
    there = device.array(np.zeros((3, 4)))
    device.put(NUMBERS[:8].reshape(2, 4), there, 4)
    device.put(NUMBERS[:0], there)
    assert np.array_equal(device.to_host(there).ravel(), [*np.zeros(4), *NUMBERS[:8]])
    assert device.array(NUMBERS).nbytes == 800
    assert device.memory() > 10**6


def test_a_program_is_built_once(device):
    assert device.build(Source(PROBE, "float")) is device.build(Source(PROBE, "float"))
    assert device.build(Source(PROBE, "double")) is not device.build(Source(PROBE, "float"))


def test_a_kernel_that_does_not_build_is_named_with_the_log_of_the_compiler(device):
    source = Source(PROBE, "float", (("y", 1),))
    with pytest.raises(BuildError) as raised:
        device.build(source)
    text = str(raised.value)
    assert "backends/devices/probe.c (float, y=1)" in text  # which variant
    assert device.name in text and "probe" in text
    assert "error:" in text.lower() and text.count("\n") > 2  # what the compiler said


def test_the_text_of_a_source_includes_each_file_once():
    source = Source(PROBE, "double", (("SIZE", 3), ("GREEN", '"greens/helmholtz.h"')))
    text = source.text
    assert text.startswith("#define REAL double\n#define REAL_IS_DOUBLE 1\n#define SIZE 3\n")
    assert "#include" not in text and "KERNEL probe" in text
    assert text.count("#define NO_UNROLL _Pragma") == 1
    single = Source(PROBE, "float").text
    assert single.startswith("#define REAL float\n#define REAL_IS_DOUBLE 0\n")


def test_a_green_function_is_included_by_name_and_brings_its_files_once(tmp_path, monkeypatch):
    (tmp_path / "a.c").write_text('#include GREEN\n#include "b.h"\n#include "b.h"\nlast\n')
    (tmp_path / "b.h").write_text("from b\n")
    (tmp_path / "g.h").write_text('#include "b.h"\nfrom g\n')
    monkeypatch.setattr("calderon.backends.devices.device.resources.files", lambda package: tmp_path)
    lines = Source("a.c", "float", (("GREEN", '"g.h"'),)).text.splitlines()
    assert lines[-3:] == ["from b", "from g", "last"]


@pytest.mark.parametrize("name", ["gpu", "", "opencl:", "opencl:x", "opencl:-1", "numba:1", "auto:0", None, 3])
def test_unknown_names_are_answered_with_the_choices(name):
    with pytest.raises(ValueError, match="unknown backend .*: choose 'numba'.* such as 'cuda:1'"):
        get(name)


def test_the_processor_needs_no_device():
    assert get("numba") is None and available()[0] == "numba"


def test_devices_are_chosen_by_number(driver):
    first, second = FakeDevice("cuda:0"), FakeDevice("cuda:1")
    driver(cuda=[first, second])
    assert available() == ["numba", "cuda"]
    assert get("cuda") is first and get("cuda:0") is first and get("cuda:1") is second
    assert [get("cuda", turn) for turn in range(5)] == [first, second, first, second, first]
    assert [get("auto", turn) for turn in range(3)] == [first, second, first]
    assert get("cuda:0", 1) is first and get("numba", 1) is None
    with pytest.raises(RuntimeError, match=r"there is no 'cuda:2': 'cuda' has 2 device\(s\), numbered from 0"):
        get("cuda:2")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (FakeDevice("cuda:0", factor=1.001), r"gives wrong numbers in a probe \(float, error \d.\de-0\d\)"),
        (FakeDevice("cuda:0", factor=np.nan), "gives wrong numbers in a probe"),
        (FakeDevice("cuda:0", error=BuildError("nothing compiles here")), "fails in a probe: nothing compiles here"),
        (FakeDevice("cuda:0", error=OSError("the bus is gone")), "fails in a probe: the bus is gone"),
    ],
)
def test_a_failing_probe_takes_the_device_out_and_says_why(driver, broken, reason):
    driver(cuda=[broken])
    assert available() == ["numba"]
    for name in ("cuda", "cuda:0"):
        with pytest.raises(RuntimeError, match=rf"'{name}' is not available: cuda:0 \(a fake\) {reason}.*'numba'"):
            get(name)
    driver(cuda=[broken, FakeDevice("cuda:1")])  # numbers stay, and a request is never replaced by another device
    assert available() == ["numba", "cuda"]
    assert get("cuda").name == "cuda:1" and get("cuda:1").name == "cuda:1"
    with pytest.raises(RuntimeError, match=f"'cuda:0' is not available: .*{reason}"):
        get("cuda:0")


def test_a_probe_without_double_precision_is_held_to_single(driver):
    device = FakeDevice("opencl:0", factor=1 + 1e-7)
    driver(opencl=[device])
    assert available() == ["numba"]  # right to seven digits is wrong in double precision
    device.has_double = False
    survey.cache_clear()
    assert available() == ["numba", "opencl"]


@pytest.mark.parametrize(
    "error", [ImportError("No module named 'cupy'"), RuntimeError("CUDA has no device"), OSError("x")]
)
def test_a_missing_driver_is_reported_with_what_to_install(driver, error):
    driver(cuda=error)
    with pytest.raises(
        RuntimeError, match=r"'cuda:1' is not available: .*pip install \"calderon\[cuda\]\".*Or choose"
    ) as raised:
        get("cuda:1")
    assert str(error) in str(raised.value)


def test_auto_takes_a_graphics_processor_or_none(driver):
    nvidia, card, runtime = FakeDevice("cuda:0"), FakeDevice("opencl:0"), FakeDevice("opencl:1")
    runtime.is_gpu = False
    driver(cuda=[nvidia], opencl=[card])
    assert get("auto") is nvidia
    driver(cuda=[FakeDevice("cuda:0", factor=2)], opencl=[card])
    assert get("auto") is card
    driver(opencl=[runtime])
    assert get("auto") is None and get("opencl") is runtime
    driver()
    assert get("auto") is None


HIDDEN = """
import sys
from pathlib import Path
for name in ("pyopencl", "cupy"):
    sys.modules[name] = None
import calderon as cal
print(cal.backends.available())
mesh = cal.mesh.cube(size=1.0, h=0.5)
print(cal.single_layer(cal.Laplace(), cal.P0(mesh)).assemble().to_array().sum())
try:
    cal.backends.get("opencl")
except RuntimeError as error:
    print(error)
"""


def test_without_any_driver_package_the_processor_computes():
    run = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    names, total, error = run.stdout.splitlines()
    assert names == "['numba']" and float(total) > 0
    assert "its Python package is missing" in error and 'pip install "calderon[opencl]"' in error


def test_graphics_processors_come_first(device):
    found = opencl_driver.devices()
    assert [each.name for each in found] == [f"opencl:{n}" for n in range(len(found))]
    kinds = [each.is_gpu for each in found]
    assert kinds == sorted(kinds, reverse=True)


PAGE = Path(__file__).parents[2] / "docs" / "guides" / "backends.md"


@pytest.mark.skipif(not PAGE.exists(), reason="needs the source tree")
def test_the_page_for_developers_tells_the_lines_that_opencl_takes():
    rows = re.findall(r"^\| `backends/(\S+)` \| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    stated = {name: int(number) for name, number in rows}
    folder = Path(backend.__file__).parent
    prelude = (folder / "prelude.h").read_text(encoding="utf-8").split("#ifdef __OPENCL_VERSION__")[1].split("#else")[0]
    assert stated["devices/opencl.py"] == len((folder / "devices/opencl.py").read_text(encoding="utf-8").splitlines())
    assert stated["prelude.h"] == len([line for line in prelude.splitlines() if line.strip()])
    assert stated["backend.py"] == sum("opencl." in line or "import cuda, opencl" in line for line in
                                     (folder / "backend.py").read_text(encoding="utf-8").splitlines())  # fmt: skip
    total = int(re.search(r"OpenCL needed\s+about (\d+) lines", PAGE.read_text(encoding="utf-8"))[1])
    assert abs(total - sum(stated.values())) <= 5
