"""Finite elements in a ball and boundary elements around it: `InhomogeneousScattering` with 200,000 unknowns inside.

Outside are plane waves: dense operators of this size, which "auto" takes, would need 3 GB more.

Nothing is there (a = 1, n = 1 but for a loss of 1e-9): the solution is the plane wave itself, which gives the error.
"""

import resource
import time
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor

UNKNOWNS, NODES, EDGE, WAVENUMBER = 200_000, 137_616, 0.0558, 4.0
"""Unknowns of the volume; quadratic nodes of a ball with edges of EDGE."""
RTOL, PRODUCTS, LOSS = 1e-4, 1e-4, 1e-9
"""Tolerances of GMRES and of products; a loss of the material, which makes factors complex."""


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """The problem as users call it, with the factors of the volume apart; --unknowns: about so many in the volume."""
    wanted = options.unknowns or UNKNOWNS
    volume, wave = cal.mesh.ball(1.0, EDGE * (NODES / wanted) ** (1 / 3)), cal.PlaneWave([0, 0, 1])
    before, began, processor = _peak(), time.perf_counter(), time.process_time()
    problem = cal.InhomogeneousScattering(volume, WAVENUMBER, a=1.0, n=1.0 + 1j * LOSS)
    given: dict[str, Any] = {"method": "mlfmm", "rtol": RTOL, "compression_rtol": PRODUCTS}
    plan = problem.plan(**given)
    record: dict[str, Any] = {
        "volume unknowns": problem.elements.dimension,
        "surface unknowns": problem.unknowns,
        "surface values": problem.elements.values.dimension,
        "method": plan.method,
        "set_up_seconds": time.perf_counter() - began,
    }
    began_factors = time.perf_counter()
    problem.elimination.solve(np.zeros((problem.elements.dimension, 1)))
    record["factor_seconds"] = time.perf_counter() - began_factors
    solution = problem.solve(wave, progress=False, **given)
    nodes = solution.interior.nodes
    record |= {
        "assembly_seconds": solution.info.assembly_seconds,
        "solution_seconds": solution.info.solve_seconds,
        "iterations": solution.info.iterations,
        "seconds": time.perf_counter() - began,
        "processor_seconds": time.process_time() - processor,
        "peak_bytes": _peak() - before,
        "planned_bytes": plan.nbytes,
        "error": float(np.abs(solution.interior.coefficients - np.exp(1j * WAVENUMBER * nodes[:, 2])).max()),
    }
    table = results.table("Finite elements inside, boundary elements outside", ["", ""])
    for name, value in record.items():
        table.add_row(name.replace("_", " "), value if isinstance(value, str) else f"{value:.4g}")
    screen.print(table)
    screen.print(solution.info.method)
    return record


def _peak() -> int:
    """The largest memory of the process in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
