"""From the start of Python to the first matrix: in a process that compiles, and in the next one, which must not.

Both run a small assembly in a process of their own, with an empty folder as Numba's cache.
"""

import os
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.common import results
from benchmarks.common.machine import Floor

PROGRAM = """
import time
began = time.perf_counter()
import calderon as cal
imported = time.perf_counter()
space = cal.{space}(cal.mesh.cube(size=1.0, h=0.2))
cal.{layer}({green}, space).assemble()
print(imported - began, time.perf_counter() - imported)
"""
CASES = {
    "laplace single_layer P0": {"space": "P0", "layer": "single_layer", "green": "cal.Laplace()"},
    "helmholtz single_layer P1": {"space": "P1", "layer": "single_layer", "green": "cal.Helmholtz(2.0)"},
    "helmholtz hypersingular P1": {"space": "P1", "layer": "hypersingular", "green": "cal.Helmholtz(2.0)"},
}


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """First and second process of each case."""
    columns = ["", "import", "first call, compiling", "second process", "whole second"]
    table = results.table("first matrix of a new process, seconds", columns)
    rows = []
    for name, parts in CASES.items():
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            first, second = (_run(PROGRAM.format(**parts), folder) for _ in range(2))
        rows.append({"name": name, "first": first, "second": second})
        cells = (second["import"], first["matrix"], second["matrix"], second["whole"])
        table.add_row(name, *map(results.seconds, cells))
    screen.print(table)
    return {"rows": rows}


def _run(program: str, cache: str) -> dict[str, float]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    began = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True, cwd=Path.cwd()
    )
    whole = time.perf_counter() - began
    imported, matrix = map(float, run.stdout.split())
    return {"import": imported, "matrix": matrix, "whole": whole}
