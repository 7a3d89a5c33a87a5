"""Dense assembly, row by row of the list below: where the time goes, and kernel evaluations per second.

The parts are timed alone, through the operator's Block: preparation (finding touching and near pairs,
tables), the regular part with no touching and near pairs, and those pairs alone. The regular part has cheaper rules for
distant pairs (`pairs/zones.py`); it is timed again, in turn, with 6 x 6 points for every pair, which gives evaluations
per second: (pairs of triangles) times (points a triangle)^2. Symmetric operators integrate half of the pairs and mirror
the matrix, double layers on one space take both orders of a pair from one evaluation. Operations per evaluation are
counted in the sources, a multiply-add as two and an estimate of 1/sqrt as one.
"""

import time
from argparse import Namespace
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import peer, results
from benchmarks.common.machine import Floor
from benchmarks.common.spheres import octahedral_sphere
from calderon.backends import real_type, run_tasks
from calderon.galerkin.assembly import kind_of_whole
from calderon.galerkin.mutual_block import MutualBlock
from calderon.galerkin.symmetry import symmetrise
from calderon.operators.boundary import IntegralOperator
from calderon.quadrature import triangle_rule

WAVENUMBER = 5.0
ACCURACY = {"laplace": 1e-5, "helmholtz": 1e-4}
"""Accuracy of distant pairs: the default; that of waves from which on they have cheaper rules."""
OPERATIONS = {("laplace", "double"): 12.6, ("laplace", "single"): 10.6, ("helmholtz", "double"): 46.6}
OPERATIONS["helmholtz", "single"] = 35.6
"""Operations of one evaluation without the sums over test points, with the share of the work on a pair of triangles."""
DIFFERENCES = 3.4
"""So many more where distances come from differences of coordinates: fields of edge functions."""
SUMS = {"P0": 1.0, "P1": 2.8, "RWG": 6.0}
"""Operations of these sums per evaluation of a real value, at the six points of the default rule."""
BOTH_ORDERS = {("laplace", "double"): 14.5, ("laplace", "single"): 12.5, ("helmholtz", "double"): 57.5}
"""OPERATIONS for double layers, with the share of the work on a pair of triangles."""
BOTH_SUMS = 9.0
"""Operations of their sums for both orders and functions of both triangles, P1."""


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
    Row("helmholtz", "electric_field", "RWG", "double"),
    Row("helmholtz", "electric_field", "RWG", "single"),
    Row("helmholtz", "magnetic_field", "RWG", "double"),
]


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Time every row whose name contains options.only."""
    mesh = octahedral_sphere(options.triangles or 8192)
    title = f"assembly, {mesh.number_of_triangles} triangles; seconds; rates with 6 x 6 points for every pair"
    columns = ["", "whole", "setup", "regular", "6 x 6", "10^9 eval/s", "of flops", "near", "mirror", "write once"]
    table = results.table(title, [*columns, "first call", peer.NAME])
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
            results.seconds(result["setup_seconds"]),
            results.seconds(result["regular_seconds"]),
            results.seconds(result["usual_seconds"]),
            f"{result['evaluations_per_second'] / 1e9:.3g}",
            f"{result['fraction_of_flops']:.0%}",
            results.seconds(result["near_seconds"]),
            results.seconds(result["mirror_seconds"]),
            results.seconds(result["write_once_seconds"]),
            results.seconds(result["first_call_seconds"]),
            results.seconds(result["peer_seconds"]),
        )
    screen.print(table)
    return {"triangles": mesh.number_of_triangles, "peer": peer.version(), "rows": rows}


def operator_of(row: Row, mesh: cal.TriangleMesh) -> IntegralOperator:
    """The lazy operator of a row, with the default quadrature."""
    space: Any = {"P0": cal.P0, "P1": cal.P1, "RWG": cal.RWG}[row.space](mesh)
    green = cal.Laplace() if row.equation == "laplace" else cal.Helmholtz(WAVENUMBER)
    return getattr(cal, row.layer)(green, space)


def with_accuracy(operator: IntegralOperator, accuracy: float) -> IntegralOperator:
    """The operator with this accuracy of distant pairs, 0 for one rule of all pairs."""
    return replace(operator, quadrature=replace(operator.quadrature, accuracy=accuracy))


def timed(row: Row, mesh: cal.TriangleMesh, floor: Floor, repeat: int) -> dict[str, Any]:
    """The numbers of one row."""
    usual = with_accuracy(operator_of(row, mesh), 0.0)
    operator = with_accuracy(usual, ACCURACY[row.equation])
    began = time.perf_counter()
    operator.assemble(precision=row.precision)
    first = time.perf_counter() - began
    both = [(_parts(operator, row.precision), _parts(usual, row.precision)) for _ in range(max(1, repeat))]
    (whole, setup, regular, near, mirror), (_, _, every, _, _) = np.min(both, axis=0)
    points = triangle_rule(operator.quadrature.regular).number_of_points
    kind = kind_of_whole(operator.block, operator.integrand, operator.test, operator.trial)
    share = 0.5 if operator.is_symmetric or kind is MutualBlock else 1.0
    evaluations = share * mesh.number_of_triangles**2 * points**2 / every
    sums = 8.0 if row.layer == "magnetic_field" else SUMS[row.space]
    base = OPERATIONS
    if kind is MutualBlock:
        base, sums = BOTH_ORDERS, BOTH_SUMS
    if row.space == "RWG":
        sums += DIFFERENCES / 2
    operations = base[row.equation, row.precision] + sums * (2 if row.equation == "helmholtz" else 1)
    itemsize = operator.dtype(row.precision).itemsize
    return {
        **row._asdict(),
        "seconds": whole,
        "setup_seconds": setup,
        "regular_seconds": regular,
        "usual_seconds": every,
        "near_seconds": near,
        "mirror_seconds": mirror,
        "pairs_integrated": share,
        "evaluations_per_second": evaluations,
        "operations_per_evaluation": operations,
        "fraction_of_flops": evaluations * operations / getattr(floor, row.precision),
        "write_once_seconds": operator.shape[0] * operator.shape[1] * itemsize / floor.bandwidth,
        "first_call_seconds": first,
    }


def _parts(operator: IntegralOperator, precision: str) -> tuple[float, ...]:
    """Seconds of a whole assembly, its preparation, its regular part, its touching and near pairs, and the mirror."""
    out = np.zeros(operator.shape, operator.dtype(precision))
    real, half = np.dtype(real_type(precision)), operator.is_symmetric
    times = [time.perf_counter()]

    def lap() -> None:
        times.append(time.perf_counter())

    operator.assemble(precision=precision)
    lap()
    spaces = operator.test, operator.trial
    form = operator.green, operator.integrand, *spaces, 1.0, None, None
    kind = kind_of_whole(operator.block, operator.integrand, *spaces)
    block = kind(out, *form, operator.quadrature, real, half)
    lap()
    out[:] = 0  # pages are there before the clock starts
    times.append(time.perf_counter())
    for stage in block.stages():
        run_tasks(*stage)
        lap()
    if half:
        symmetrise(out)
    lap()
    seconds = np.diff(times)
    return seconds[0], seconds[1], seconds[3], seconds[4], seconds[5]
