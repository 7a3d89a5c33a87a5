"""NVIDIA devices through CuPy: kernels are compiled by NVRTC and kept on disk by CuPy."""

import ctypes
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.devices.device import BuildError, InDriver, Source, rounded, scalar

NAME = "cuda"


def options(source: Source) -> tuple[str, ...]:
    """Options of the compiler. Fast math for single precision; in double precision it changes nothing."""
    return ("--std=c++17", "--use_fast_math") if source.real == "float" else ("--std=c++17",)


def devices() -> list["CudaDevice"]:
    """All devices. ImportError without CuPy, RuntimeError without a working driver."""
    import cupy

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(f"CUDA has no working driver ({error})") from error
    if count == 0:
        raise RuntimeError("CUDA has no device")
    return [CudaDevice(number) for number in range(count)]


class CudaDevice(InDriver):
    """One NVIDIA device with a stream for kernels and one for copies to the host; see `device.Device`."""

    has_double = True
    is_gpu = True

    def __init__(self, number: int) -> None:
        import cupy

        self._cupy, self._number = cupy, number
        self.name = f"{NAME}:{number}"
        self.label = cupy.cuda.runtime.getDeviceProperties(number)["name"].decode()
        with cupy.cuda.Device(number):
            self._stream, self._copies = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
        self._programs: dict[Source, Any] = {}
        self.large = threading.RLock()

    def memory(self) -> int:
        with self._cupy.cuda.Device(self._number):
            free = int(self._cupy.cuda.runtime.memGetInfo()[0])
            return free + int(self._cupy.get_default_memory_pool().free_bytes())

    def array(self, host: NDArray[Any]) -> Any:
        with self._cupy.cuda.Device(self._number), self._stream:
            return self._cupy.asarray(np.ascontiguousarray(host))

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        with self._cupy.cuda.Device(self._number), self._stream:
            return self._cupy.empty(shape, dtype)

    def to_host(self, array: Any) -> NDArray[Any]:
        with self._cupy.cuda.Device(self._number):
            host: NDArray[Any] = array.get(stream=self._stream)
            self._stream.synchronize()
        return host

    def fetch(self, array: Any) -> Callable[[], NDArray[Any]]:
        if not array.nbytes:
            return lambda: np.empty(array.shape, array.dtype)
        with self._cupy.cuda.Device(self._number):
            # the copy begins when the kernels queued so far have ended
            self._copies.wait_event(self._stream.record())
            pinned = self._cupy.cuda.alloc_pinned_memory(array.nbytes)  # pageable memory would make the copy wait
            host = np.frombuffer(pinned, array.dtype, array.size).reshape(array.shape)
            array.data.copy_to_host_async(ctypes.c_void_p(host.ctypes.data), array.nbytes, self._copies)
            copied = self._copies.record()

        def wait(kept: Any = array) -> NDArray[Any]:  # until then the array's memory must not be given to another
            copied.synchronize()
            return host

        return wait

    def put(self, host: NDArray[Any], array: Any, first: int = 0) -> None:
        if host.nbytes:
            with self._cupy.cuda.Device(self._number):
                array.ravel()[first : first + host.size].set(host.ravel(), stream=self._copies)
                self._copies.synchronize()

    def build(self, source: Source) -> Any:
        if source not in self._programs:
            with self._cupy.cuda.Device(self._number):
                try:
                    module = self._cupy.RawModule(code=source.text, options=options(source), backend="nvrtc")
                    module.compile()
                except self._cupy.cuda.compiler.CompileException as error:
                    raise BuildError(f"{self.name} ({self.label}) cannot build {source}:\n{error}") from error
            self._programs[source] = module
        return self._programs[source]

    def launch(
        self, program: Any, kernel: str, threads: tuple[int, ...], group: tuple[int, ...], *arguments: Any
    ) -> None:
        if 0 in threads:
            return
        blocks = tuple(n // size for n, size in zip(rounded(threads, group), group, strict=True))
        given = tuple(each if isinstance(each, self._cupy.ndarray) else scalar(each) for each in arguments)
        with self._cupy.cuda.Device(self._number), self._stream:
            program.get_function(kernel)(blocks, group, given)

    def synchronize(self) -> None:
        self._stream.synchronize()

    def lu_factor(self, array: Any, overwrite: bool) -> tuple[Any, NDArray[Any]]:
        from cupyx.scipy.linalg import lu_factor

        with self._cupy.cuda.Device(self._number), self._stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a zero on the diagonal, which the caller sees
            factors = lu_factor(array.T, overwrite_a=overwrite, check_finite=False)
            diagonal = self._cupy.ascontiguousarray(factors[0].diagonal())
        return factors, self.to_host(diagonal)

    def lu_solve(self, factors: Any, rhs: NDArray[Any], transposed: bool) -> NDArray[Any]:
        from cupyx.scipy.linalg import lu_solve

        with self._cupy.cuda.Device(self._number), self._stream:
            given = self._cupy.asarray(rhs, order="F")
            solution = lu_solve(factors, given, trans=int(transposed), overwrite_b=True, check_finite=False)
            solution = self._cupy.ascontiguousarray(solution)
        return self.to_host(solution)
