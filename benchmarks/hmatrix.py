"""H-matrices on the unit sphere: seconds, memory, product and error as the number of unknowns grows.

Assembly is timed from the space to the finished matrix: cluster tree, touching and near pairs, blocks. The error is
that of a product with a random vector in some rows, which are computed entry by entry with the same quadrature.
"""

import time
from argparse import Namespace
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor
from benchmarks.common.spheres import octahedral_sphere

RTOL = 1e-4
WAVENUMBER = 5.0
ROWS = 100
"""Rows in which the error is measured."""


class Row(NamedTuple):
    """One line of the table."""

    equation: str
    layer: str
    space: str
    triangles: int

    @property
    def name(self) -> str:
        return f"{self.equation} {self.layer} {self.space} {self.triangles}"


TABLE = [
    *(Row("laplace", "single_layer", "P1", triangles) for triangles in (20_000, 80_000, 320_000)),
    Row("laplace", "single_layer", "P0", 100_352),
    Row("laplace", "double_layer", "P0", 100_352),
    Row("helmholtz", "single_layer", "P0", 100_352),
    Row("helmholtz", "double_layer", "P1", 80_000),
]


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Time every row whose name contains options.only; options.triangles replaces the sizes."""
    title = f"H-matrices, rtol {RTOL:g}; seconds"
    columns = ["", "unknowns", "assembly", "product", "KiB/unknown", "of dense", "largest rank", "full", "error"]
    table = results.table(title, columns)
    rows = []
    for row in dict.fromkeys(each._replace(triangles=options.triangles or each.triangles) for each in TABLE):
        if options.only not in row.name:
            continue
        result = timed(row, options.repeat)
        rows.append(result)
        table.add_row(
            row.name,
            str(result["unknowns"]),
            results.seconds(result["assembly_seconds"]),
            results.seconds(result["product_seconds"]),
            f"{result['bytes'] / 1024 / result['unknowns']:.1f}",
            f"{result['fraction_of_dense']:.2%}",
            str(result["largest_rank"]),
            str(result["full_blocks"]),
            f"{result['error']:.1e}",
        )
    screen.print(table)
    return {"rtol": RTOL, "rows": rows}


def timed(row: Row, repeat: int) -> dict[str, Any]:
    """The numbers of one row; the first assembly, which may compile, is not counted where there are more."""
    mesh = octahedral_sphere(row.triangles)
    space: Any = {"P0": cal.P0, "P1": cal.P1}[row.space](mesh)
    green = cal.Laplace() if row.equation == "laplace" else cal.Helmholtz(WAVENUMBER)
    operator = getattr(cal, row.layer)(green, space)
    seconds = []
    for _ in range(max(2, repeat)):
        began = time.perf_counter()
        matrix = operator.assemble("hmatrix", rtol=RTOL)
        seconds.append(time.perf_counter() - began)
    rng = np.random.default_rng(0)
    x = rng.standard_normal(space.dimension)
    products = []
    for _ in range(5):
        began = time.perf_counter()
        y = matrix @ x
        products.append(time.perf_counter() - began)
    chosen = rng.choice(space.dimension, min(ROWS, space.dimension), replace=False)
    exact = operator.entries(chosen, np.arange(space.dimension)) @ x
    total = matrix.statistics.total
    return {
        **row._asdict(),
        "unknowns": space.dimension,
        "assembly_seconds": min(seconds[1:]),
        "first_seconds": seconds[0],
        "product_seconds": min(products),
        "bytes": matrix.nbytes,
        "fraction_of_dense": matrix.nbytes / (space.dimension**2 * matrix.dtype.itemsize),
        "largest_rank": total.largest_rank,
        "mean_rank": total.mean_rank,
        "full_blocks": matrix.full,
        "error": float(np.linalg.norm(y[chosen] - exact) / np.linalg.norm(exact)),
    }
