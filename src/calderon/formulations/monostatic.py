"""Monostatic sweeps: many plane waves, each observed where it comes from, with one matrix; and their files, with which
a sweep that ended early goes on with the same numbers.

While the sweep is solved, the products of each step are saved; a resumed sweep takes from them what it would compute.
At the end the file has the solution of the compressed right-hand sides.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.files import FileKind, Pieces, put
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import SolveOptions
from calderon.formulations.solution_info import SolutionInfo
from calderon.operators.fingerprint import digest, fingerprint_of_all
from calderon.solvers import CompressedSides

SWEEP = FileKind("calderon monostatic sweep", "solutions of a sweep", "remove it and solve again", version=1, former=1)


def monostatic_sweep(
    system: LinearSystem,
    number: int,
    waves: Callable[[slice], tuple[NDArray[Any], NDArray[Any]]],
    options: SolveOptions,
    directions: tuple[NDArray[Any], ...],
    file: str | os.PathLike[str] | None,
) -> tuple[NDArray[np.complex128], SolutionInfo | None]:
    """The echoes l . x (number,) of all directions, and the record with the largest residual, None without directions.

    waves: right-hand sides and receivers l (n, m) of a slice of 64 directions, which are in memory for one slice at a
    time. Without factors all are solved together, compressed to a tenth of the tolerance. directions: what waves are
    made of. file: in which the solution is saved, and what there is of it before; ValueError with factors.
    """
    slices = [slice(n, n + 64) for n in range(0, number, 64)]
    values, infos = np.empty(number, np.complex128), []
    if options.solver == "lu":
        if file is not None:
            raise ValueError(
                "sweep_file= is of iterations, and solver='lu' has none: leave it out, or take solver='gmres'"
            )
        for part in slices:
            rhs, receivers = waves(part)
            x, records = system.solve(rhs, options)
            values[part] = np.einsum("nd,nd->d", receivers, x)
            infos += records
    elif number:
        sides = CompressedSides(0.1 * options.rtol)
        for part in slices:
            sides.add(system.sides(waves(part)[0], options))
        sides.truncate()
        if file is None:
            x, infos = system.solve_together(sides, options)
        else:
            x, infos = solve_and_save(system, sides, options, file, directions)
        x = system.coefficients(x, options)
        for part in slices:
            weights = sides.coefficients[:, part] * sides.sizes[part]
            values[part] = np.einsum("dr,rd->d", waves(part)[1].T @ x, weights)
    return values, max(infos, key=lambda info: info.residual, default=None)


def solve_and_save(
    system: LinearSystem,
    sides: CompressedSides,
    options: SolveOptions,
    path: str | os.PathLike[str],
    directions: tuple[NDArray[Any], ...],
) -> tuple[NDArray[Any], list[SolutionInfo]]:
    """`LinearSystem.solve_together` with a file. directions: what the right-hand sides are made of. Raises what
    `Pieces` raises."""
    given = options.preconditioner
    name = given if isinstance(given, str) else getattr(given, "name", type(given).__name__)
    identity = fingerprint_of_all(system.operator) | {
        "directions": digest(*directions),
        "solver": f"rtol {options.rtol:g}, {name}",
        "matrix": ", ".join(str(each) for each in options.matrix_key),
    }
    with Pieces(path, SWEEP, identity) as pieces:
        if pieces.is_complete:
            with pieces.result() as file:
                start = file.array("solution", np.complex128, (system.unknowns, sides.rank))
            return system.solve_together(sides, options, start=start)
        found = system.solve_together(sides, options, recorded=lambda matrix: RecordedProducts(matrix, pieces))
        with pieces.finish() as file:
            put(file, "solution", found[0])
        return found


class RecordedProducts:
    """A matrix whose products are saved, or taken from what an earlier run saved: those with the same vectors, as far
    as it had come."""

    def __init__(self, matrix: Any, pieces: Pieces) -> None:
        self.matrix, self.pieces, self.count, self.follows = matrix, pieces, 0, True
        self.shape, self.dtype = matrix.shape, matrix.dtype

    def __matmul__(self, vectors: NDArray[Any]) -> NDArray[Any]:
        vectors = np.asarray(vectors)
        name, self.count = f"{self.count}-{digest(np.ascontiguousarray(vectors))}", self.count + 1
        if self.follows:
            found = self.pieces.piece(name, vectors.shape, self.dtype)
            if found is not None:
                return found
            self.follows = False
        product = np.asarray(self.matrix @ vectors, self.dtype)
        self.pieces.keep(name, product)
        return product
