"""OpenCL devices through PyOpenCL: GPUs of any vendor, and processors through a runtime such as PoCL."""

import math
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.devices.device import BuildError, InDriver, Source, rounded, scalar

NAME = "opencl"
_ignoring = threading.Lock()  # two threads that ignore warnings for a while would leave them ignored


class Buffer:
    """Memory of the device with the shape and type of an array."""

    def __init__(self, memory: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.memory, self.shape, self.dtype = memory, shape, dtype

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def devices() -> list["OpenCLDevice"]:
    """All devices, graphics processors first. ImportError without PyOpenCL, RuntimeError without a working driver."""
    import pyopencl as cl

    try:
        found = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except cl.Error as error:
        raise RuntimeError(f"OpenCL has no working driver ({error})") from error
    if not found:
        raise RuntimeError("OpenCL has no device")
    found.sort(key=lambda device: not device.type & cl.device_type.GPU)
    return [OpenCLDevice(device, number) for number, device in enumerate(found)]


class OpenCLDevice(InDriver):
    """One OpenCL device with a queue for kernels and one for copies to the host; see `device.Device`."""

    def __init__(self, device: Any, number: int) -> None:
        import pyopencl as cl

        self._cl, self._device = cl, device
        self.name, self.label = f"{NAME}:{number}", f"{device.name.strip()} ({device.platform.name.strip()})"
        self.has_double = bool(device.double_fp_config)
        self.is_gpu = bool(device.type & cl.device_type.GPU)
        self._context = cl.Context([device])
        self._queue, self._copies = cl.CommandQueue(self._context), cl.CommandQueue(self._context)
        self._programs: dict[Source, Any] = {}
        self.large = threading.RLock()
        self._launching = threading.Lock()  # a kernel keeps its arguments until it is queued

    def memory(self) -> int:
        return int(self._device.max_mem_alloc_size)

    def array(self, host: NDArray[Any]) -> Buffer:
        host = np.ascontiguousarray(host)
        if host.nbytes == 0:
            return self.empty(host.shape, host.dtype)
        flags = self._cl.mem_flags
        memory = self._cl.Buffer(self._context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=host)
        return Buffer(memory, host.shape, host.dtype)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Buffer:
        kind = np.dtype(dtype)
        size = max(16, math.prod(shape) * kind.itemsize)
        return Buffer(self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, size), shape, kind)

    def to_host(self, array: Buffer) -> NDArray[Any]:
        host = np.empty(array.shape, array.dtype)
        if host.nbytes:
            self._cl.enqueue_copy(self._queue, host, array.memory)
        return host

    def fetch(self, array: Buffer) -> Callable[[], NDArray[Any]]:
        host = np.empty(array.shape, array.dtype)
        if not host.nbytes:
            return lambda: host
        # the copy begins when the kernels queued so far have ended
        filled = self._cl.enqueue_marker(self._queue)
        self._queue.flush()
        copied = self._cl.enqueue_copy(self._copies, host, array.memory, is_blocking=False, wait_for=[filled])
        self._copies.flush()

        def wait() -> NDArray[Any]:
            self._queue.flush()  # work queued since then runs in the meantime
            copied.wait()
            return host

        return wait

    def put(self, host: NDArray[Any], array: Buffer, first: int = 0) -> None:
        if host.nbytes:
            offset = first * array.dtype.itemsize
            self._cl.enqueue_copy(self._copies, array.memory, host, dst_offset=offset, is_blocking=True)

    def build(self, source: Source) -> Any:
        if source not in self._programs:
            try:
                with _ignoring, warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the compiler's log may be non-empty on success
                    program = self._cl.Program(self._context, source.text).build(["-cl-mad-enable", "-cl-std=CL1.2"])
            except self._cl.Error as error:
                raise BuildError(f"{self.name} ({self.label}) cannot build {source}:\n{error}") from error
            self._programs[source] = {kernel.function_name: kernel for kernel in program.all_kernels()}
        return self._programs[source]

    def launch(
        self, program: Any, kernel: str, threads: tuple[int, ...], group: tuple[int, ...], *arguments: Any
    ) -> None:
        if 0 in threads:
            return
        given = [each.memory if isinstance(each, Buffer) else scalar(each) for each in arguments]
        with self._launching:
            program[kernel](self._queue, rounded(threads, group), group, *given)

    def synchronize(self) -> None:
        self._queue.finish()
