"""Dense assembly, row by row of the list below: kernel evaluations per second, and where the time goes.

The regular part is timed alone, by running the tiles of calderon.operators.entries with their batches of touching and
near pairs taken out (the one place that looks inside the package). Evaluations are triangles^2 times (points a
triangle)^2; operations per evaluation are counted in the sources for `radial`, the difference vector and the sums, with
a square root, a division and a floor as one each.
"""

import time
from argparse import Namespace
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks import peer, results
from benchmarks.machine import Floor
from benchmarks.spheres import octahedral_sphere
from calderon.backends import real_type, run_tasks
from calderon.operators.boundary import IntegralOperator
from calderon.operators.entries import _Block
from calderon.quadrature import triangle_rule

WAVENUMBER = 5.0
OPERATIONS = {("laplace", "double"): 16, ("laplace", "single"): 11, ("helmholtz", "double"): 70}
OPERATIONS["helmholtz", "single"] = 47
"""Without the sums over test points: 2 more per test function, twice that where values are complex."""


class Row(NamedTuple):
    """One line of the table."""

    equation: str
    layer: str
    space: str
    precision: str

    @property
    def name(self) -> str:
        return f"{self.equation} {self.layer} {self.space} {self.precision}"


ROWS = [
    Row("laplace", "single_layer", "P0", "double"),
    Row("laplace", "single_layer", "P0", "single"),
    Row("laplace", "single_layer", "P1", "double"),
    Row("laplace", "single_layer", "P1", "single"),
    Row("laplace", "double_layer", "P1", "double"),
    Row("laplace", "hypersingular", "P1", "double"),
    Row("helmholtz", "single_layer", "P0", "double"),
    Row("helmholtz", "single_layer", "P0", "single"),
    Row("helmholtz", "single_layer", "P1", "double"),
    Row("helmholtz", "single_layer", "P1", "single"),
    Row("helmholtz", "double_layer", "P1", "double"),
    Row("helmholtz", "adjoint_double_layer", "P1", "double"),
    Row("helmholtz", "hypersingular", "P1", "double"),
]


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Time every row whose name contains options.only."""
    mesh = octahedral_sphere(options.triangles or 8192)
    title = f"assembly, {mesh.number_of_triangles} triangles, 6 x 6 points a pair"
    columns = ["", "whole s", "regular s", "10^9 eval/s", "of flops", "write once s", "singular", "first call s"]
    table = results.table(title, [*columns, f"{peer.NAME} s"])
    rows = []
    for row in ROWS:
        if options.only not in row.name:
            continue
        result = timed(row, mesh, floor, options.repeat)
        result["peer_seconds"] = peer.assembly_seconds(*row, mesh, WAVENUMBER)
        rows.append(result)
        table.add_row(
            row.name,
            results.seconds(result["seconds"]),
            results.seconds(result["regular_seconds"]),
            f"{result['evaluations_per_second'] / 1e9:.3g}",
            f"{result['fraction_of_flops']:.0%}",
            results.seconds(result["write_once_seconds"]),
            f"{result['singular_share']:.0%}",
            results.seconds(result["first_call_seconds"]),
            results.seconds(result["peer_seconds"]),
        )
    screen.print(table)
    return {"triangles": mesh.number_of_triangles, "peer": peer.version(), "rows": rows}


def operator_of(row: Row, mesh: cal.TriangleMesh) -> IntegralOperator:
    """The lazy operator of a row, with the default quadrature."""
    space = {"P0": cal.P0, "P1": cal.P1}[row.space](mesh)
    green = cal.Laplace() if row.equation == "laplace" else cal.Helmholtz(WAVENUMBER)
    return getattr(cal, row.layer)(green, space)


def timed(row: Row, mesh: cal.TriangleMesh, floor: Floor, repeat: int) -> dict[str, Any]:
    """The numbers of one row."""
    operator = operator_of(row, mesh)
    began = time.perf_counter()
    operator.assemble(precision=row.precision)
    first = time.perf_counter() - began
    whole, setup, regular = np.min([_parts(operator, row.precision) for _ in range(max(1, repeat))], axis=0)
    points = triangle_rule(operator.quadrature.regular).number_of_points
    evaluations = mesh.number_of_triangles**2 * points**2 / regular
    functions = 3 if row.space == "P1" else 1
    operations = OPERATIONS[row.equation, row.precision] + 2 * functions * (2 if row.equation == "helmholtz" else 1)
    itemsize = operator.dtype(row.precision).itemsize
    return {
        **row._asdict(),
        "seconds": whole,
        "setup_seconds": setup,
        "regular_seconds": regular,
        "evaluations_per_second": evaluations,
        "operations_per_evaluation": operations,
        "fraction_of_flops": evaluations * operations / getattr(floor, row.precision),
        "write_once_seconds": operator.shape[0] * operator.shape[1] * itemsize / floor.bandwidth,
        "singular_share": max(0.0, 1 - (setup + regular) / whole),
        "first_call_seconds": first,
    }


def _parts(operator: IntegralOperator, precision: str) -> tuple[float, float, float]:
    """Seconds of a whole assembly, of its preparation (finding pairs, tables), and of its regular part alone."""
    began = time.perf_counter()
    operator.assemble(precision=precision)
    whole = time.perf_counter() - began
    out = np.zeros(operator.shape, operator.dtype(precision))
    real = np.dtype(real_type(precision))
    began = time.perf_counter()
    spaces = operator.test, operator.trial
    block = _Block(out, operator.green, operator.integrand, *spaces, 1.0, None, None, operator.quadrature, real)
    setup = time.perf_counter() - began
    block.batches = []
    out[:] = 0  # pages are there before the clock starts
    began = time.perf_counter()
    run_tasks(block.run, len(block.tiles) - 1, block.neighbours)
    return whole, setup, time.perf_counter() - began
