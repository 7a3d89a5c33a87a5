"""The common part of solving every kind of problem: options in, record out."""

import re
from typing import Any

from calderon.backends import format_bytes
from calderon.case import Case
from calderon.formulations import SolutionInfo
from calderon.formulations.linear_system import SolveOptions


def options(case: Case) -> dict[str, Any]:
    """The [solver] table as options of solve()."""
    solver = case.solver
    chosen = {
        "method": solver.method,
        "rtol": solver.rtol,
        "precision": solver.precision,
        "backend": solver.backend,
        "solver": solver.solver,
        "maxiter": solver.max_iterations,
        "compression_rtol": solver.compression_rtol,
        "matrix_file": solver.matrix_file,
    }
    return chosen if solver.preconditioner is None else {**chosen, "preconditioner": solver.preconditioner}


def announcement(case: Case, unknowns: int, at: str) -> str:
    """Description of the next solution, with the memory of a dense matrix; `at`: the step of a sweep, empty without
    one."""
    method = SolveOptions(**options(case)).for_unknowns(unknowns).chosen
    if not method.stores_entries:
        return ", ".join([*([at] if at else []), f"{unknowns} unknowns, {method.matrix}"])
    entry = 16 if case.physics.wave else 8
    entry //= 2 if case.solver.precision == "single" else 1
    copies = 2 if case.solver.solver == "lu" else 1
    size = format_bytes(copies * entry * unknowns**2)
    what = "matrix and factors" if copies == 2 else "matrix"
    return ", ".join([*([at] if at else []), f"{unknowns} unknowns, {what} {size}"])


def record(info: SolutionInfo) -> dict[str, Any]:
    """The part of a solver's record that a `Step` keeps."""
    return {
        "unknowns": info.unknowns,
        "equation": info.equation,
        "matrix": re.sub(r"[^,+]*\.\.\.$", " ...", info.matrix),  # a long name ends in the middle of a term
        "solver": info.method,
        "iterations": info.iterations,
        "residuals": info.residuals,
        "residual": info.residual,
        "assembly_seconds": info.assembly_seconds,
        "solution_seconds": info.factorisation_seconds + info.solve_seconds,
    }
