"""Calls of CudaDevice to CuPy, for which NumPy under CuPy's names stands in: they fit together and the numbers
come back. It says nothing about CuPy itself, nor about speed."""

import contextlib
import ctypes
import sys
import types

import numpy as np
import pytest
import scipy.linalg

from calderon.backends import BuildError, LinearAlgebra, Source, get, survey
from calderon.backends.devices.cuda import CudaDevice


class Memory:
    """Substitute for `cupy.ndarray.data`."""

    def __init__(self, array):
        self.array = array

    def copy_to_host_async(self, target, size, stream):
        assert isinstance(target, ctypes.c_void_p) and stream.waited
        ctypes.memmove(target, self.array.ctypes.data, size)


class Array(np.ndarray):
    @property
    def data(self):
        return Memory(self)

    def get(self, stream=None):
        assert stream is not None
        return np.array(self)

    def set(self, values, stream=None):
        assert stream is not None and values.flags.c_contiguous and values.shape == self.shape
        self[:] = values


def array(values, order="C"):
    return np.array(values, order=order).view(Array)


class Stream(contextlib.nullcontext):
    def __init__(self, non_blocking=False):
        super().__init__()
        self.waited = []

    def record(self):
        return types.SimpleNamespace(synchronize=lambda: None)

    def wait_event(self, event):
        self.waited.append(event)

    def synchronize(self):
        pass


class RawModule:
    def __init__(self, code, options, backend):
        assert backend == "nvrtc"
        self.code, self.launches = code, []

    def compile(self):
        if "broken" in self.code:
            raise CompileError("error: no such thing")

    def get_function(self, name):
        def run(blocks, group, arguments):
            self.launches.append((name, blocks, group))
            x, y, n = arguments
            assert isinstance(n, np.int32)
            y[:n] = 1 / np.sqrt(x[:n]) + 2 * np.exp(-x[:n])

        return run


class CompileError(Exception):
    pass


@pytest.fixture
def cuda(monkeypatch):
    """The device "cuda:1" of two."""
    runtime = types.SimpleNamespace(
        getDeviceCount=lambda: 2,
        getDeviceProperties=lambda number: {"name": b"NumPy"},
        memGetInfo=lambda: (10**9, 2 * 10**9),
        CUDARuntimeError=RuntimeError,
    )
    cupy = types.ModuleType("cupy")
    cupy.ndarray, cupy.RawModule = Array, RawModule
    cupy.asarray, cupy.ascontiguousarray = array, array
    cupy.empty = lambda shape, dtype: np.empty(shape, dtype).view(Array)
    cupy.get_default_memory_pool = lambda: types.SimpleNamespace(free_bytes=lambda: 5 * 10**8)
    cupy.cuda = types.SimpleNamespace(
        runtime=runtime,
        Device=lambda number: contextlib.nullcontext(),
        Stream=Stream,
        alloc_pinned_memory=bytearray,
        compiler=types.SimpleNamespace(CompileException=CompileError),
    )
    linalg = types.ModuleType("cupyx.scipy.linalg")

    def lu_factor(a, overwrite_a, check_finite):
        assert overwrite_a is False or a.flags.f_contiguous  # else CuPy copies
        factors, pivots = scipy.linalg.lu_factor(np.asarray(a), check_finite=check_finite)
        return array(factors), array(pivots)

    def lu_solve(lu_and_piv, b, trans, overwrite_b, check_finite):
        assert b.flags.f_contiguous
        return array(scipy.linalg.lu_solve(tuple(map(np.asarray, lu_and_piv)), np.asarray(b), trans))

    linalg.lu_factor, linalg.lu_solve = lu_factor, lu_solve
    for name, module in (("cupy", cupy), ("cupyx", types.ModuleType("cupyx")), ("cupyx.scipy.linalg", linalg)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "cupyx.scipy", types.ModuleType("cupyx.scipy"))
    survey.cache_clear()
    yield get("cuda:1")
    monkeypatch.undo()
    survey.cache_clear()


def test_probed_and_launched(cuda):
    assert isinstance(cuda, CudaDevice) and cuda.name == "cuda:1" and cuda.label == "NumPy"
    assert cuda.memory() == 1_500_000_000
    program = cuda.build(Source("backends/devices/probe.c", "double"))
    assert program is cuda.build(Source("backends/devices/probe.c", "double"))
    assert program.launches == [("probe", (4,), (32,))]  # 100 threads
    cuda.launch(program, "probe", (0,), (32,))
    assert len(program.launches) == 1
    cuda.synchronize()


def test_copies(cuda):
    for host in (np.arange(6, dtype=np.int32).reshape(2, 3), np.array([1 + 2j, 3j]), np.zeros((0, 3))):
        for back in (cuda.to_host(cuda.array(host)), cuda.fetch(cuda.array(host))()):
            assert back.dtype == host.dtype and np.array_equal(back, host)
    there = cuda.array(np.zeros((3, 2)))
    cuda.put(np.array([[1.0, 2.0]]), there, 2)
    cuda.put(np.zeros((0, 2)), there)
    assert cuda.to_host(there).tolist() == [[0, 0], [1, 2], [0, 0]]
    assert cuda.empty((2, 3), np.float32).shape == (2, 3)


def test_a_source_that_does_not_build(cuda):
    with pytest.raises(BuildError, match=r"cuda:1 \(NumPy\) cannot build .*broken=1.*\n.*no such thing"):
        cuda.build(Source("backends/devices/probe.c", "float", (("broken", 1),)))


@pytest.mark.parametrize("overwrite", [False, True])
def test_factors_are_those_of_the_transposed(cuda, overwrite):
    assert isinstance(cuda, LinearAlgebra)
    random = np.random.default_rng(0)
    matrix = random.standard_normal((9, 9)) + 1j * random.standard_normal((9, 9))
    rhs = np.asfortranarray(random.standard_normal((9, 2)) + 0j)
    factors, diagonal = cuda.lu_factor(cuda.array(matrix), overwrite)
    assert diagonal.shape == (9,) and np.prod(np.abs(diagonal)) == pytest.approx(abs(np.linalg.det(matrix)))
    assert np.allclose(matrix @ cuda.lu_solve(factors, rhs, transposed=True), rhs)
    assert np.allclose(matrix.T @ cuda.lu_solve(factors, rhs, transposed=False), rhs)
    singular, diagonal = cuda.lu_factor(cuda.array(np.diag([1.0, 0.0])), overwrite)
    assert diagonal[1] == 0
