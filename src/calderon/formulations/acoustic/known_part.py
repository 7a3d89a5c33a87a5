"""Products with what is known on the walls, of which one is needed: made, multiplied once, and released."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import return_memory
from calderon.formulations.acoustic.sound_equation import SoundEquation
from calderon.formulations.options import SolveOptions
from calderon.operators.methods import Plan

LOAD = 0.3
"""Error of products with what is known, by the tolerance of the solver."""


@dataclass(eq=False)
class KnownPart:
    """Integrals of what is known, by the options of the matrix; the last ones computed, as a problem has one matrix.

    equation: the equation. load (unknowns,): the integrals, in the order of the rows; zeros where nothing is known.
    """

    equation: SoundEquation
    load: NDArray[Any] = field(default_factory=lambda: np.zeros(0), init=False)
    _key: tuple[Any, ...] | None = field(default=None, init=False)

    def compute(self, options: SolveOptions) -> float:
        """Make the integrals available by the method of the options where it compresses, or several backends share its
        matrix, else without a matrix; the seconds that took."""
        if self._key == (key := (*options.matrix_key, load_rtol(options))):
            return 0.0
        began, known = time.perf_counter(), self.equation.known()
        if known is None:
            self.load = np.zeros(len(self.equation.order))
        else:
            self.load = (products_of(known[0], options) @ known[1])[self.equation.order]
            return_memory()
        self._key = key
        return time.perf_counter() - began

    def added(self, plan: Plan, options: SolveOptions) -> Plan:
        """The plan of a solution with that of these products: their seconds, and their bytes if these are more, since
        the matrix follows them."""
        if (known := self.equation.known()) is None:
            return plan
        own = known[0].plan(options.method, load_rtol(options), options.precision)
        stored = own.nbytes if options.chosen.compresses else 0
        return plan._replace(nbytes=max(plan.nbytes, stored), seconds=plan.seconds + own.seconds)


def products_of(operator: Any, options: SolveOptions) -> Any:
    """The products of an operator of which one is needed, with these options."""
    chosen, progress = options.chosen, options.progress
    if chosen.compresses:
        operator.require_method(chosen.name)
        given = {**options.execution, "rtol": load_rtol(options), **chosen.once}
        return chosen.build(operator, progress=progress, **given)
    if "+" in options.backend:
        return operator.assemble(chosen.name, progress=progress, **options.execution)
    precision = "double" if options.precision == "mixed" else options.precision
    return operator.assemble("matrix-free", backend=options.backend, precision=precision)


def load_rtol(options: SolveOptions) -> float | None:
    """The accuracy required of a compressed product with what is known: its error is one of the equation, as the
    residual is, and a third of what that may be; that of the matrix where `compression_rtol` is given."""
    matrix = options.assembly_rtol
    return matrix if matrix is None or options.compression_rtol is not None else max(matrix, LOAD * options.rtol)
