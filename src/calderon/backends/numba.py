"""The CPU backend: Numba kernels that release the interpreter lock, run by a pool of Python threads.

Kernels are serial functions over one tile of work; `threads.run_tasks` distributes the tiles. A serial kernel compiles
in half the time of a `parallel=True` one, can be interrupted between tiles and needs no threading layer.
"""

import functools
import gc
import os
import time
import weakref
from collections.abc import Callable
from inspect import signature
from typing import Any

import numba
import numpy as np
from llvmlite.binding import ffi
from numba.core import event, ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes
from numba.extending import register_jitable
from numpy.typing import NDArray

from calderon.backends.kernel_cache import cache_of
from calderon.processes import threads_asked

NAME = "numba"
PRECISIONS = {"double": np.float64, "single": np.float32}

ARITHMETIC = ("contract", "arcp", "afn", "nsz", "nnan", "ninf")
"""Transformations of floating-point arithmetic that LLVM may apply. Not "reassoc": it would fold the constants of an
argument reduction.
"""


class _HeldBack(event.Listener):
    """Python's garbage collector and the timers of llvmlite rest while a kernel of this package is compiled.

    The collector would traverse all objects of Numba repeatedly, which takes a seventh of the time: it leaves older
    objects alone and looks at new ones less often. llvmlite would report each of its 50,000 calls to the timers of all
    functions that are being compiled, which takes a tenth. Nothing is done for kernels of other packages. Numba reports
    kernels, and the functions that they call, while it holds its lock.
    """

    def __init__(self) -> None:
        self.kernels, self.depth, self.before = weakref.WeakSet[Any](), 0, gc.get_threshold()
        self.started = self.seconds = 0.0
        self.calls: list[Any] = getattr(getattr(ffi.lib, "_lock", None), "_cblist", [])
        self.held: list[Any] = []

    def on_start(self, event: event.Event) -> None:
        if self.depth or event.data["dispatcher"] in self.kernels:
            self.depth += 1
            if self.depth == 1:
                self.started, self.before = time.perf_counter(), gc.get_threshold()
                newest, newer, _ = self.before
                # the newest objects less often, and 1,000,000 collections of newer objects before one of the oldest
                gc.set_threshold(max(20_000, newest) if newest else 0, newer, 1_000_000)
                self.held[:], self.calls[:] = self.calls, []

    def on_end(self, event: event.Event) -> None:
        if self.depth:
            self.depth -= 1
            if self.depth == 0:
                self.seconds += time.perf_counter() - self.started
                gc.set_threshold(*self.before)
                self.calls[:] = self.held


@functools.cache
def _collector() -> _HeldBack:
    """The listener, registered with Numba when the first kernel is made."""
    listener = _HeldBack()
    event.register("numba:compile", listener)
    return listener


def compilation_seconds() -> float:
    """Seconds for which this process has compiled kernels so far; those that are read from disk are not compiled."""
    return _collector().seconds


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` for the CPU: lock released, cached on disk, contracted arithmetic, no division checks.

    `function` may close over module-level functions marked `jitable_part` or `vectors.jitable` and over numbers,
    nothing else: only then does the cache survive into a new process.
    """
    options: Any = {"nogil": True, "fastmath": set(ARITHMETIC), "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = numba.njit(**options, pipeline_class=KernelCompiler)(function)
    if compiled is not function:  # as it is with NUMBA_DISABLE_JIT
        compiled._cache = cache_of(function)
        _collector().kernels.add(compiled)
    return compiled


@register_pass(mutates_CFG=True, analysis_only=False)
class _InlineClosures(InlineClosureLikes):
    """Numba's pass where a function has closures or lists."""

    def run_pass(self, state: Any) -> bool:
        values = (each.value for block in state.func_ir.blocks.values() for each in block.find_insts(ir.Assign))
        found = any(isinstance(each, ir.Expr) and each.op in ("make_function", "build_list") for each in values)
        return found and super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class _RewriteArrays(NopythonRewrites):
    """Numba's pass where a function makes arrays of others: it turns arithmetic of whole arrays into loops."""

    def run_pass(self, state: Any) -> bool:
        made = (each.op for each, typed in state.calltypes.items() if _makes_array(typed) and isinstance(each, ir.Expr))
        return not {"getitem", "static_getitem"}.issuperset(made) and super().run_pass(state)


def _makes_array(typed: Any) -> bool:
    return isinstance(getattr(typed, "return_type", None), types.Array)


class _Passes(PassManager):
    """Numba's passes without reports of each one and checks after it (decision 154)."""

    @global_compiler_lock
    def _runPass(self, index: int, each: Any, state: Any) -> None:
        each.analysis = self._analysis
        each.run_initialization(state)
        each.run_pass(state)
        each.run_finalizer(state)


def _are_known(usual: Any) -> bool:
    """Whether Numba runs its passes by what `_Passes` takes the place of, which it may change in any version."""
    run = getattr(PassManager, "_runPass", None)
    return hasattr(usual, "_analysis") and run is not None and len(signature(run).parameters) == 4


class KernelCompiler(Compiler):
    """Numba's compiler of kernels, with the passes that they need: most have neither closures nor arithmetic of whole
    arrays. All of Numba's passes run where this version has another way to run them."""

    REPLACED = {InlineClosureLikes: _InlineClosures, NopythonRewrites: _RewriteArrays}

    def define_pipelines(self) -> list[Any]:
        (usual,) = super().define_pipelines()
        if not _are_known(usual):
            return [usual]
        passes = _Passes(usual.pipeline_name)
        passes.passes = [(self.REPLACED.get(each, each), text) for each, text in usual.passes]
        passes.finalize()
        return [passes]


class _PartLibrary(JITCodeLibrary):
    """Code of a part, which kernels link to their own and optimise with it; it becomes no machine code of its own."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=False)
class _KnownByName(LoweringPass):
    """Let kernels find the part: Numba looks it up by its entry point, which is never called."""

    _name = "part_known_by_name"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        lowered = state["cr"]
        entry: Any = [lowered.fndesc].count  # a built-in method of its own object: no other is equal
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=entry)
        return True


class PartCompiler(KernelCompiler):
    """Numba's compiler of functions that only other compiled functions call: to LLVM's intermediate code, of which the
    kernel that calls them has a copy. Numba would make machine code of each of them, too."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *args: Any) -> None:
        super().__init__(typingctx, targetctx, library, *args)
        self.state.flags.no_compile = True

    def define_pipelines(self) -> list[Any]:
        state = self.state
        if state.library is None:
            state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        (passes,) = super().define_pipelines()
        passes.add_pass_after(_KnownByName, NativeLowering)
        passes.finalize()
        return [passes]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view of an array that kernels read and do not write. Numba compiles a kernel for arrays that may be written,
    and once more for those that may not, such as those of meshes and rules: handed over like this all are the latter.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def jitable_part(function: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
    """Mark a function as part of kernels, with options of `numba.njit`; without an entry for callers in C, which Numba
    would optimise as well."""
    mark = register_jitable(no_cfunc_wrapper=True, pipeline_class=PartCompiler, **options)
    return mark if function is None else mark(function)


@jitable_part
def first_at_least(values, lo, hi, bound):
    """The first place of the increasing values[lo:hi] that is not below the bound, or hi."""
    while lo < hi:
        middle = (lo + hi) // 2
        if values[middle] < bound:
            lo = middle + 1
        else:
            hi = middle
    return lo


def thread_count() -> int:
    """Threads that kernels use: NUMBA_NUM_THREADS if set, else the processors this process may run on."""
    if asked := threads_asked():
        return asked
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
