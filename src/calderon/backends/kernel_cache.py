"""Keys of compiled kernels on disk: the part that Numba's cache leaves out, the other files a kernel is compiled from.

Numba compiles a cached kernel again when the file of the kernel changes or what the kernel captures by value, not when
a function in another file changes. `stamp_of` covers the other files. A change in one part of the package then leaves
the compiled kernels of the other parts valid.

One process at a time compiles a kernel; others that need it wait and take it from the disk.
"""

import functools
import getpass
import hashlib
import logging
import os
import re
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import EnumType
from pathlib import Path
from pickle import UnpicklingError
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
    UserProvidedCacheLocator,
)
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

PACKAGE = __name__.partition(".")[0]
WINDOWS = sys.platform == "win32"
LOG = logging.getLogger(PACKAGE)
COMPILING = "compiling kernels (once, kept on disk)"
FOREIGN = {"numba", "numpy", "llvmlite", "math", "cmath"}
COMPILED = re.compile(rb"@(\w+\.)?(jitable|overload|intrinsic)|jitable_part\(")
"""Found in files that hold compiled code."""
CONSTANTS = (bool, int, float, complex, str, np.generic)


class Claim:
    """The right to compile the kernel of that key, held by a lock of the operating system in the folder of compiled
    kernels, so that it ends with its process."""

    def __init__(self, folder: Path, key: object) -> None:
        self._file = folder / f"{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.lock"
        self._lock = FileLock(self._file, thread_local=False)

    def waited(self) -> bool:
        """Take it; whether another process had it before. Without it where the file system has no locks, or the other
        one takes more than a minute: it may have been stopped."""
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            with suppress(Timeout, OSError):
                self._lock.acquire(timeout=60.0, poll_interval=0.02)
            return True
        except (OSError, NotImplementedError):
            pass
        return False

    def release(self) -> None:
        """Let others compile; they look for the kernel on the disk first."""
        if self._lock.is_locked:
            with suppress(OSError):
                self._file.unlink()  # while it is held: whoever has opened it finds that it has no name any more
            self._lock.release()


class KernelIndex(IndexDataCacheFile):
    """The compiled variants of a kernel on disk, by the types of its arguments.

    Two processes save one after the other: the index is read, and written with one more variant. Where a file system
    has no locks they may choose one name for two variants. Each file therefore holds its key, and one with another key
    is not used.
    """

    def save(self, key: Any, data: Any) -> None:
        """Save a variant; a disk without room is no reason to stop."""
        claim = Claim(Path(self._cache_path), self._index_name)
        claim.waited()
        try:
            with suppress(OSError):
                super().save(key, {"key": key, "data": data})
        finally:
            claim.release()

    def load(self, key: Any) -> Any:
        """A variant, None if it is missing, damaged, or another one."""
        try:
            found = super().load(key)
        except (EOFError, UnpicklingError):
            return None
        if isinstance(found, dict):
            return found["data"] if found["key"] == key else None
        return found  # of an earlier release

    def _load_index(self) -> dict[Any, Any]:
        """None where a type has moved or has another name since: all are compiled again."""
        try:
            return super()._load_index()
        except (AttributeError, ImportError):
            return {}


class _PrivateLocator(UserProvidedCacheLocator):
    """The place of a kernel in `private_folder`."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        super().__init__(function, file)
        self._cache_path = str(Path(str(private_folder()), self.get_suitable_cache_subpath(file)))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Any:
        return super(UserProvidedCacheLocator, cls).from_function(function, file)


class _PrivateFiles(CompileResultCacheImpl):
    _locator_classes = [_PrivateLocator]


@functools.cache
def private_folder() -> Path | None:
    """A folder for compiled kernels where no other can be written, as in a read-only container: in that of temporary
    files, the same one for all processes of a user, who alone may write in it. None where that is impossible. A warning
    says which, once."""
    advice = "set NUMBA_CACHE_DIR to a folder that can be written"
    try:
        folder = Path(tempfile.gettempdir(), f"calderon-kernels-{getpass.getuser() if WINDOWS else os.getuid()}")
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
        shared = not WINDOWS and (
            facts.st_uid != os.getuid() or facts.st_mode & 0o077
        )  # Windows: a folder of each user
        if shared or not stat.S_ISDIR(facts.st_mode):
            raise PermissionError(f"{folder} belongs to others")
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        text = f"no folder for compiled kernels can be written: each process compiles again; {advice}"
        warnings.warn(text, UserWarning, stacklevel=2)
        return None
    warnings.warn(
        f"compiled kernels are stored in {folder}, since no other folder can be written: {advice}", UserWarning, 2
    )
    return folder


class KernelCache(FunctionCache):
    """Numba's cache on disk of one kernel, with `stamp_of` the kernel as part of the key.

    Numba hashes what a kernel captures as a pickle, which also records which of its values are one object. Factories
    cache the functions that they return by equal arguments, so that this differs with the first caller: the key has
    `capture_of` the kernel in its place.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            super().__init__(function)
        except RuntimeError:  # neither the folder of the package nor that of the user can be written
            if private_folder() is None:
                raise
            self._impl_class = _PrivateFiles
            super().__init__(function)
        self._cache_file.__class__ = KernelIndex
        self._claim: Claim | None = None

    @functools.cached_property
    def stamp(self) -> str:
        return stamp_of(self._py_func)

    @functools.cached_property
    def capture(self) -> str:
        return capture_of(self._py_func)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The variant on disk, None where this process has to compile it, which is reported to the logger "calderon".
        While another process compiles it, this one waits."""
        # on the disk already
        found = self._loaded(sig, target_context)
        if found is not None:
            return found
        self._give_up()  # where a compilation has failed
        with suppress(OSError):
            self._impl.locator.ensure_cache_path()
        # the right to compile it, or what another process has compiled meanwhile
        claim = Claim(Path(self.cache_path), self._index_key(sig, target_context.codegen()))
        if claim.waited() and (found := self._loaded(sig, target_context)) is not None:
            claim.release()
            return found
        self._claim = claim
        report_compilation(self._py_func.__name__)
        return None

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        """Machine code from the disk. It needs Numba's runtime, not the implementations that Numba compiles from, which
        it would import and register first: a quarter of a second. The intermediate code that comes with it, twenty
        times as large in memory, is for other compiled functions that call a kernel, of which there are none."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
        if found is not None:
            found.library._shared_module = None
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a variant for other processes."""
        try:
            super().save_overload(sig, data)
        finally:
            self._give_up()

    def _give_up(self) -> None:
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return sig, codegen.magic_tuple(), self.capture, self.stamp


@functools.cache
def _announce() -> None:
    LOG.info(COMPILING)


def report_compilation(name: str) -> None:
    """The first kernel of a process that is compiled is an INFO, and each, by its name, a DEBUG of the logger."""
    _announce()
    LOG.debug("compiling %s", name)


def capture_of(kernel: Callable[..., Any]) -> str:
    """Hash of the code of `kernel` and of the values that it captures: functions with what these capture, and so on."""
    return _hash(_described(kernel, {}))


def _hash(description: Any) -> str:
    return hashlib.sha256(repr(description).encode()).hexdigest()


def _described(value: Any, functions: dict[FunctionType, str]) -> Any:
    """A description of a value that is equal for equal values, whichever objects hold it. functions: hashes of the
    functions described so far."""
    function = getattr(value, "py_func", value)  # the function of a kernel
    if isinstance(function, FunctionType):
        if function not in functions:
            cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
            parts = function.__module__, function.__qualname__, function.__defaults__, function.__code__, cells
            functions[function] = _hash(_described(parts, functions))
        return functions[function]
    if isinstance(value, CodeType):
        return value.co_firstlineno, value.co_code, value.co_names, _described(value.co_consts, functions)
    if isinstance(value, tuple):
        return type(value).__name__, [_described(each, functions) for each in value]
    if isinstance(value, frozenset):
        return sorted(repr(_described(each, functions)) for each in value)
    if value is None or isinstance(value, CONSTANTS):
        return type(value).__name__, repr(value)
    return dumps(value)


def cache_of(kernel: Callable[..., Any]) -> KernelCache | NullCache:
    """The cache on disk of a kernel; one that holds nothing where no folder can be written."""
    try:
        return KernelCache(kernel)
    except RuntimeError:
        return NullCache()


def stamp_of(kernel: Callable[..., Any]) -> str:
    """Hash of the code that `kernel` is compiled from, as far as other files hold it.

    Covered are the functions that the kernel captures or names, those that these capture or name, and so on: their
    files, the constants that they name, and the files with compiled code from which these files import. The last are
    needed for implementations that Numba looks up itself, those of `overload` for instance.
    """
    # functions that can be reached, their files, and constants that they name
    files, constants = set[str](), set[str]()
    modules, seen = set[str](), set[Any]()
    waiting: list[Any] = [kernel]
    while waiting:
        function = waiting.pop()
        if function in seen or _root(function.__module__) in FOREIGN:
            continue
        seen.add(function)
        files.add(function.__code__.co_filename)
        modules.add(function.__module__)
        for name, value in _reached(function):
            if isinstance(value, FunctionType):
                waiting.append(value)
            elif isinstance(value, np.ndarray):
                constants.add(f"{name}={value.tolist()}")
            elif isinstance(value, CONSTANTS):
                constants.add(f"{name}={value!r}")
            elif isinstance(value, EnumType):
                members: Mapping[str, Any] = value.__members__
                constants.update(f"{name}.{key}={each.value!r}" for key, each in members.items())
    # files with compiled code that these import
    for module in _closure(modules):
        files.add(_file(module))
    digest = hashlib.sha256("\n".join(sorted(constants)).encode())
    for content in sorted(map(_content, files)):
        digest.update(content)
    return digest.hexdigest()


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _reached(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Names and values that a function captures, and the globals that it names; members of tuples one by one, those of
    named tuples by their names."""
    # captured values
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    found = list(zip(function.__code__.co_freevars, cells, strict=True))
    # globals, also those that inner functions name
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        found += [(name, function.__globals__[name]) for name in code.co_names if name in function.__globals__]
    while found:
        name, value = found.pop()
        if isinstance(value, tuple):
            places = getattr(value, "_fields", range(len(value)))
            found += [(f"{name}[{place}]", each) for place, each in zip(places, value, strict=True)]
        else:
            yield name, getattr(value, "py_func", value)  # the function of a kernel


def _closure(modules: set[str]) -> set[str]:
    """Modules of this package that hold compiled code and that `modules` import, directly or through such
    modules."""
    found, waiting = set[str](), {each for each in modules if _root(each) == PACKAGE}
    while waiting:
        module = waiting.pop()
        found.add(module)
        waiting |= _imported(module) - found
    return found


@functools.cache
def _imported(module: str) -> set[str]:
    """Modules of this package that hold compiled code and define what the names of `module` stand for."""
    values = vars(sys.modules[module]).values()
    names = {getattr(value, "__module__", None) or getattr(value, "__name__", "") for value in values}
    return {name for name in names if isinstance(name, str) and _root(name) == PACKAGE and _holds_compiled_code(name)}


def _holds_compiled_code(module: str) -> bool:
    return module in sys.modules and COMPILED.search(Path(_file(module)).read_bytes()) is not None


def _file(module: str) -> str:
    return str(sys.modules[module].__file__)


@functools.cache
def _content(file: str) -> bytes:
    """Digest of a file; nothing for functions defined interactively (Numba then hashes their text)."""
    path = Path(file)
    return hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b""
