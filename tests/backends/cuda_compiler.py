"""Builds device sources for an NVIDIA architecture without an NVIDIA device: by nvcc, or by NVRTC from PyPI."""

import ctypes
import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from calderon.backends import Source
from calderon.backends.devices.cuda import options

ARCHITECTURE = "sm_90"
KERNEL = re.compile(r"Compiling entry function '(\w+)'")
MEMORY = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")


class Usage(NamedTuple):
    """Resources of one thread of a kernel: registers; bytes of local memory, of spilled registers."""

    registers: int
    stack: int
    spilled: int


Compiler = Callable[[Source], str]


def find_compiler() -> tuple[str, Compiler] | None:
    """Name and function from a source to the log of `ptxas -v`, which raises RuntimeError with the log of a failure."""
    if shutil.which("nvcc"):
        return "nvcc", nvcc
    if library := _nvrtc_library():
        return "NVRTC", lambda source: nvrtc(source, library)
    return None


def usage(log: str) -> dict[str, Usage]:
    """Resources of each kernel, from the log of `ptxas -v`."""
    found = {}
    for part in log.split("Compiling entry function ")[1:]:
        kernel = KERNEL.match("Compiling entry function " + part)
        memory, registers = MEMORY.search(part), REGISTERS.search(part)
        if not (kernel and memory and registers):
            raise ValueError(f"the log of ptxas cannot be read:\n{log}")
        stack, stores, loads = map(int, memory.groups())
        found[kernel[1]] = Usage(int(registers[1]), stack, stores + loads)
    return found


def nvcc(source: Source) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cu"
        file.write_text(source.text, encoding="utf-8")
        settings = [f"-arch={ARCHITECTURE}", "-cubin", "-Xptxas=-v", *options(source)]
        command = ["nvcc", *settings, "-o", str(file.with_suffix(".cubin")), str(file)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"nvcc cannot build {source}:\n{run.stdout}{run.stderr}")
    return run.stdout + run.stderr


def nvrtc(source: Source, library: Path) -> str:
    compiler, program = ctypes.CDLL(str(library)), ctypes.c_void_p()
    settings = [
        each.encode() for each in (f"--gpu-architecture={ARCHITECTURE}", "--ptxas-options=-v", *options(source))
    ]
    created = compiler.nvrtcCreateProgram(ctypes.byref(program), source.text.encode(), b"kernel.cu", 0, None, None)
    if created:
        raise RuntimeError(f"NVRTC fails with code {created}")
    failed = compiler.nvrtcCompileProgram(program, len(settings), (ctypes.c_char_p * len(settings))(*settings))
    size = ctypes.c_size_t()
    compiler.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    compiler.nvrtcGetProgramLog(program, log)
    compiler.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        raise RuntimeError(f"NVRTC cannot build {source}:\n{log.value.decode()}")
    return log.value.decode()


def _nvrtc_library() -> Path | None:
    """The library inside of PyPI's nvidia-cuda-nvrtc-cu12, or None."""
    package = importlib.util.find_spec("nvidia")
    places = list(package.submodule_search_locations or []) if package else []
    return next((file for place in places for file in sorted(Path(place).glob("*/lib/libnvrtc.so.*"))), None)
