"""Parts of kernels are compiled to LLVM's intermediate code only: the kernel that calls them becomes machine code.

Numba makes machine code of every function, also of those that only others call, which have a copy of it.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Optimised code of a part, which kernels link to their own."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=False)
class _KnownByName(LoweringPass):  # type: ignore[misc]
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


class PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler of functions that only other compiled functions call."""

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
