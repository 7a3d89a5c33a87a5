"""Every variant of the kernels builds for CUDA without spilling registers; needs a compiler, not a device.

One variant of each file in each precision is built always; with CALDERON_ALL_VARIANTS=1 all of them, with "k/n" that
share of the others, too.
"""

import os
import re
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cuda_compiler import Usage, find_compiler, usage
from variants import (
    NoteTaker,
    dense_cases,
    fast_cases,
    field_cases,
    hmatrix_cases,
    layered_cases,
    product_cases,
    simulation_cases,
    solve_cases,
    sum_cases,
    wave_cases,
)

import calderon as cal
from calderon.backends import Source, backend, survey
from calderon.dg.stepping.leap_frog import CentredLeapFrog
from calderon.dg.stepping.runge_kutta import UpwindRungeKutta
from calderon.products.check import Check
from catalogue import in_share

LOCAL_MEMORY = {
    ("regular", "POINTS=1"): 48,  # a rule of one point, which is for tests
    ("approximate", "POINTS=1,"): 24,  # the same
    ("dense", "POINTS=1,"): 24,  # the same
}
"""Bytes of local memory that a thread of a kernel may take, by kernel and a word of its variant; no others take any."""
ASKED = os.environ.get("CALDERON_ALL_VARIANTS", "")
PACKAGE = Path(cal.__file__).parent
KERNELS = {
    (str(file.relative_to(PACKAGE)), name)
    for file in PACKAGE.rglob("*.c")
    for name in re.findall(r"^KERNEL (\w+)\(", file.read_text(encoding="utf-8"), re.MULTILINE)
}


@pytest.fixture(scope="module")
def taker():
    """A device that takes notes, as "cuda". The largest stable step, which the processor searches, is given, and so are
    the errors of products, which are all zero."""
    device = NoteTaker()
    with pytest.MonkeyPatch.context() as patch:
        for scheme in (CentredLeapFrog, UpwindRungeKutta):
            patch.setattr(scheme, "limit", lambda *given: 1.0)
        patch.setattr(Check, "errors", lambda *given: np.zeros(1))
        patch.setitem(backend._DRIVERS, "cuda", lambda: [device])
        survey.cache_clear()
        yield device
    survey.cache_clear()


@pytest.fixture(scope="module")
def notes(taker):
    """Requests to that device by all matrices, products, potentials and simulations in both precisions."""
    cases = dense_cases() | product_cases() | field_cases() | solve_cases() | simulation_cases() | hmatrix_cases()
    cases |= fast_cases() | wave_cases() | layered_cases() | sum_cases()
    for compute in cases.values():
        for precision in ("double", "single"):
            compute("cuda", precision)
    for compute in (dense_cases() | layered_cases()).values():
        compute("cuda", "mixed")
    return taker


@pytest.fixture(scope="module")
def compiler():
    found = find_compiler()
    if found is None:
        pytest.skip("no CUDA compiler: neither nvcc nor NVRTC (pip install nvidia-cuda-nvrtc-cu12)")
    return found


def chosen(sources: list[Source]) -> list[Source]:
    """The variant of every file in every precision with the most definitions, the first of these."""
    found: dict[tuple[str, str], Source] = {}
    for source in sources:
        known = found.setdefault((source.path, source.real), source)
        if len(source.defines) > len(known.defines):
            found[source.path, source.real] = source
    return list(found.values())


def wanted(name: str) -> bool:
    """Whether a variant that is not always built is requested."""
    return ASKED == "1" or ("/" in ASKED and in_share(name, ASKED))


def faults(source: Source, found: dict[str, Usage]) -> list[str]:
    """Faults of the compiled kernels, a line each."""
    lines = []
    for kernel, used in found.items():
        if used.spilled:
            lines.append(f"{source}: {kernel} spills {used.spilled} bytes of registers ({used.registers} are used)")
        allowed = [most for (name, word), most in LOCAL_MEMORY.items() if name == kernel and word in str(source)]
        if used.stack > max(allowed, default=0):
            lines.append(f"{source}: {kernel} takes {used.stack} bytes of local memory")
    expected = {kernel for path, kernel in KERNELS if path == source.path}
    return lines if set(found) == expected else [*lines, f"{source}: has kernels {set(found)}, not {expected}"]


def test_the_operators_use_every_kernel_of_the_package(notes):
    assert len(KERNELS) > 3
    assert notes.launched == KERNELS
    assert {source.real for source in notes.sources} == {"double", "float"}


def test_launches_stay_within_the_limits_of_cuda(taker):
    """65,535 groups along the second axis, where a thin block has more rows (see NoteTaker.launch)."""
    mesh = cal.mesh.plate((1.0, 1.0), h=1 / 183)
    rows = np.arange(mesh.number_of_triangles)
    assert len(rows) > 65_535
    cal.single_layer(cal.Laplace(), cal.P0(mesh)).entries(rows, [0], backend="cuda")


def test_variants_build_without_spills(notes, compiler):
    name, build = compiler
    always = chosen(notes.sources)
    sources = [each for each in notes.sources if each in always or wanted(str(each))]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda source: usage(build(source)), sources))
    registers = defaultdict(list)
    for source, kernels in zip(sources, found, strict=True):
        for kernel, used in kernels.items():
            registers[source.path, kernel, source.real].append((used.registers, str(source)))
    print(f"\n{len(sources)} of {len(notes.sources)} variants built by {name}; registers of a thread, most for:")
    for key, values in sorted(registers.items()):
        low, (high, most) = min(values)[0], max(values)
        print(f"{key[1]:12} {key[2]:6} {low:4} to {high:3}  {most}")
    wrong = [line for source, kernels in zip(sources, found, strict=True) for line in faults(source, kernels)]
    assert not wrong, "\n".join(wrong)


def test_the_choice_has_every_file_in_every_precision(notes):
    few = chosen(notes.sources)
    pairs = [(source.path, source.real) for source in few]
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) == {(source.path, source.real) for source in notes.sources}


WASTE = """
extern "C" __global__ void waste(const float *x, const int *place, float *y)
{
    float kept[64];
    for (int n = 0; n < 64; n++) kept[n] = x[n * 32 + threadIdx.x];
    for (int n = 0; n < 64; n++) kept[place[n]] += kept[place[n + 1]];
    float total = 0;
    for (int n = 0; n < 64; n++) total += kept[n] * n;
    y[threadIdx.x] = total;
}
"""


def test_local_memory_is_seen_and_errors_are_reported(compiler):
    """An array with computed indices cannot stay in registers."""
    _, build = compiler
    found = usage(build(SimpleNamespace(text=WASTE, real="float")))
    assert found["waste"].stack >= 256
    assert any("local memory" in line for line in faults(Source("a.c", "float"), found))
    with pytest.raises(RuntimeError, match="cannot build"):
        build(SimpleNamespace(text="no code", real="float"))


@pytest.mark.parametrize("mark", ["    ", "ptxas         .     "])  # of nvcc and of NVRTC
def test_the_log_of_a_spill_is_understood(mark):
    log = (
        "ptxas info    : Compiling entry function 'first' for 'sm_90'\nptxas info    : Function properties for first\n"
        f"{mark}8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\nptxas info    : Used 255 registers\n"
        "ptxas info    : Compiling entry function 'second' for 'sm_90'\nptxas info    : Function properties for it\n"
        f"{mark}0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 20 registers\n"
    )
    assert usage(log) == {"first": Usage(255, 8, 16), "second": Usage(20, 0, 0)}
    assert any("spills 16 bytes" in line for line in faults(Source("a.c", "float"), usage(log)))
    with pytest.raises(ValueError, match="cannot be read"):
        usage("Compiling entry function 'first' for 'sm_90'\nanother format")
