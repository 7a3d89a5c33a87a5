"""Finite elements in a ball and boundary elements around it: quadratic ones, complex factors, about 200,000 unknowns.

Nothing is there (n = a = 1): the solution is the plane wave itself, which says what the error is.
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
from calderon.coupling import skfem_mesh, trace
from calderon.solvers import CoupledMatrix, coupled_bytes, solve_coupled, sparse_inverse

UNKNOWNS, NODES, EDGE, WAVENUMBER, RTOL, PRODUCTS = 200_000, 1764, 0.27, 4.0, 1e-4, 1e-4
"""Unknowns of the volume; quadratic nodes of a ball with edges of EDGE; tolerances of GMRES and of products."""


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Matrices, factors, operators outside and the solution; --unknowns: about so many in the volume."""
    import skfem
    from skfem.models.poisson import laplace, mass

    wanted = options.unknowns or UNKNOWNS
    volume, wave = cal.mesh.ball(1.0, EDGE * (NODES / wanted) ** (1 / 3)), cal.Helmholtz(WAVENUMBER)
    basis = skfem.Basis(skfem_mesh(volume), skfem.ElementTetP2())
    space, eta = cal.P2(volume.surface()), 1j / WAVENUMBER
    T, M = trace(basis, space), space.mass_matrix()
    inside = (laplace.assemble(basis) - WAVENUMBER**2 * mass.assemble(basis)).astype(complex)
    one, K, V = cal.identity(space), cal.double_layer(wave, space), cal.single_layer(wave, space)
    of_trace = 0.5 * one - K + eta * cal.hypersingular(wave, space)
    outside = cal.blocks([[of_trace, V + eta * (0.5 * one + cal.adjoint_double_layer(wave, space))]])
    plan = outside.plan("auto", PRODUCTS)
    planned, before = plan.nbytes + coupled_bytes(inside, space.dimension), _peak()
    began, processor = time.perf_counter(), time.process_time()
    matrix = CoupledMatrix(inside, -T.T @ M, T, outside.assemble("auto", rtol=PRODUCTS))
    record: dict[str, Any] = {
        "volume unknowns": inside.shape[0],
        "surface unknowns": space.dimension,
        "method": plan.method,
        "outside_seconds": time.perf_counter() - began,
        "outside_processor_seconds": time.process_time() - processor,
    }
    known = space.load_vector(lambda y, n: (1 + eta * 1j * WAVENUMBER * n[:, 2]) * np.exp(1j * WAVENUMBER * y[:, 2]))
    rhs = np.zeros(inside.shape[0], complex), known
    began_solution = time.perf_counter()
    found = solve_coupled(matrix, rhs, rtol=RTOL, outside=sparse_inverse(M), progress=False)
    exact = np.exp(1j * WAVENUMBER * basis.doflocs[2])
    record |= {
        "factor_seconds": found.factors.seconds,
        "factor_bytes": found.factors.nbytes,
        "solution_seconds": time.perf_counter() - began_solution,
        "iterations": found.info.iterations,
        "seconds": time.perf_counter() - began,
        "processor_seconds": time.process_time() - processor,
        "peak_bytes": _peak() - before,
        "planned_bytes": planned,
        "error": float(np.abs(found.inside - exact).max()),
    }
    table = results.table("Finite elements inside, boundary elements outside", ["", ""])
    for name, value in record.items():
        table.add_row(name.replace("_", " "), value if isinstance(value, str) else f"{value:.4g}")
    screen.print(table)
    screen.print(found.info.method)
    return record


def _peak() -> int:
    """The largest memory of the process in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
