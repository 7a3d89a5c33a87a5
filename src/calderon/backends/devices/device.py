"""The interface of a device: arrays, programs, launches. Each driver has one class that implements it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any, NoReturn, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

PACKAGE = __package__.partition(".")[0]


class BuildError(RuntimeError):
    """A kernel that does not compile: names the source and holds the compiler's log."""


class Device(Protocol):
    """A device that runs kernels written with the macros of prelude.h; calls are queued in order.

    name: as in `get(name)`, such as "opencl:0". label: the vendor's name for it. has_double: whether it computes in
    double precision. is_gpu: whether "auto" may choose it.
    """

    name: str
    label: str
    has_double: bool
    is_gpu: bool
    large: threading.RLock
    """Held by those who take as much memory as local matrices may have: they do so one after the other."""

    def memory(self) -> int:
        """Largest allocation in bytes."""
        ...

    def array(self, host: NDArray[Any]) -> Any:
        """A copy on the device."""
        ...

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array on the device, uninitialised."""
        ...

    def to_host(self, array: Any) -> NDArray[Any]:
        """A copy on the host; waits for what fills it."""
        ...

    def fetch(self, array: Any) -> Callable[[], NDArray[Any]]:
        """Begin to copy an array to the host, after the kernels that fill it and in parallel with what is queued next;
        call what is returned to wait for the copy."""
        ...

    def put(self, host: NDArray[Any], array: Any, first: int = 0) -> None:
        """Copy a contiguous array into one of the device, from its element `first` on, in parallel with what is queued,
        which must not need that part; done when it returns."""
        ...

    def build(self, source: "Source") -> Any:
        """The compiled program, kept for the life of the process and by the driver on disk. Raises BuildError."""
        ...

    def launch(
        self, program: Any, kernel: str, threads: tuple[int, ...], group: tuple[int, ...], *arguments: Any
    ) -> None:
        """Queue a kernel: threads in all, rounded up to whole groups. Arguments are arrays of the device, and NumPy
        scalars or Python ints (32 bits)."""
        ...

    def synchronize(self) -> None:
        """Wait until all that was queued is done."""
        ...


class InDriver:
    """A device, which its driver holds for this process, and with it all that refers to the device."""

    name: str

    def __reduce__(self) -> NoReturn:
        """TypeError, instead of one about whatever of the driver comes first."""
        raise TypeError(
            f"what is held on {self.name} cannot be pickled or copied: take the operator before it is assembled, or "
            "assemble it with backend='numba'"
        )


@runtime_checkable
class LinearAlgebra(Protocol):
    """The additional interface of a device with a library of linear algebra. A matrix stored by rows is its
    transpose to such libraries, which expect columns."""

    name: str

    def lu_factor(self, array: Any, overwrite: bool) -> tuple[Any, NDArray[Any]]:
        """The factors of the transpose of a square array of the device, and the diagonal of U on the host, with zeros
        where the matrix is singular. overwrite: the factors overwrite the array."""
        ...

    def lu_solve(self, factors: Any, rhs: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """Solutions (n, m) of the factorised matrix, or of its transpose, for right-hand sides of its type."""
        ...


@runtime_checkable
class OnDevice(Protocol):
    """A square matrix or linear operator whose products take vectors of its device, pairs (n, 2) of real and imaginary
    parts in double precision, if the device has it; `gmres` keeps its basis there."""

    @property
    def device(self) -> Device:
        """Where."""
        ...

    @property
    def backend(self) -> str:
        """The name of the device."""
        ...

    def times(self, x: Any, first: int = 0, is_complex: bool = True) -> Any:
        """A x, a new vector, of x from its element `first` on. is_complex: whether x may have imaginary parts."""
        ...

    def adjoint_times(self, x: Any) -> Any:
        """A^* x, a new vector."""
        ...


Defines = tuple[tuple[str, str | int], ...]
"""Names and values of the preprocessor definitions of a source."""


@dataclass(frozen=True)
class Source:
    """A file of the package, such as "dg/curl.c", or another one by its absolute path, and what is defined for it: one
    variant of its kernels."""

    path: str
    real: str  # "double" or "float"
    defines: Defines = ()

    @classmethod
    def of(cls, path: str, real: Any, group: int, defines: Defines = (), **more: Any) -> "Source":
        """The variant for a real type and groups of so many threads (GROUP_SIZE). more: further definitions, which are
        whole numbers, truth values, real types or words."""
        own = {name: real_name(each) if isinstance(each, np.dtype | type) else each for name, each in more.items()}
        words = ((name, each if isinstance(each, str) else int(each)) for name, each in own.items())
        return cls(path, real_name(real), (*defines, ("GROUP_SIZE", group), *words))

    @property
    def text(self) -> str:
        """The whole text, definitions and included files in place."""
        paths = {name: str(value) for name, value in self.defines}
        lines = [f"#define REAL {self.real}", f"#define REAL_IS_DOUBLE {int(self.real == 'double')}"]
        lines += [f"#define {name} {value}" for name, value in self.defines]
        return "\n".join([*lines, *_expanded(self.path, paths, set())]) + "\n"

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.defines)
        return f"{self.path} ({self.real}{', ' if settings else ''}{settings})"


class Kernels:
    """The kernels of a source, built for a device, in groups of `group` threads along the first axis."""

    def __init__(self, device: Device, source: Source, group: int) -> None:
        self.device, self.group, self._program = device, group, device.build(source)

    @classmethod
    def of(cls, device: Device, path: str, real: Any, group: int, defines: Defines = (), **more: Any) -> "Kernels":
        """The kernels of a file for a device; further arguments: those of `Source.of`."""
        return cls(device, Source.of(path, real, group, defines, **more), group)

    def launch(self, kernel: str, threads: int | tuple[int, int], *arguments: Any) -> None:
        """Queue a kernel as `Device.launch` does: threads along one axis or two, rounded up to whole groups."""
        number = threads if isinstance(threads, tuple) else (threads,)
        self.device.launch(self._program, kernel, number, (self.group, 1)[: len(number)], *arguments)


def _expanded(path: str, named: dict[str, str], seen: set[str]) -> list[str]:
    """Lines of a file of the package with those it includes, each once; `named` gives the path of #include NAME."""
    if path in seen:
        return []
    seen.add(path)
    lines = []
    for line in resources.files(PACKAGE).joinpath(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("#include"):
            wanted = line.split()[1]
            lines += _expanded((wanted if wanted[0] == '"' else named[wanted]).strip('"'), named, seen)
        else:
            lines.append(line)
    return lines


def rounded(threads: tuple[int, ...], group: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of threads, rounded up to whole groups."""
    return tuple(-(-n // size) * size for n, size in zip(threads, group, strict=True))


def scalar(value: Any) -> np.generic:
    """A kernel's argument: Python ints become 32 bits wide."""
    return value if isinstance(value, np.generic) else np.int32(value)


def real_name(kind: Any) -> str:
    """The C name of a real NumPy type."""
    return "double" if np.dtype(kind) == np.float64 else "float"
