"""Products with what is known on the walls, of which one is needed: made, multiplied once, and released."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.acoustic.sound_equation import SoundEquation
from calderon.formulations.options import SolveOptions
from calderon.operators.methods import Plan


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
        if self._key == options.matrix_key:
            return 0.0
        began, known = time.perf_counter(), self.equation.known()
        if known is None:
            self.load = np.zeros(len(self.equation.order))
        else:
            self.load = (products_of(known[0], options) @ known[1])[self.equation.order]
        self._key = options.matrix_key
        return time.perf_counter() - began

    def added(self, plan: Plan, options: SolveOptions) -> Plan:
        """The plan of a solution with that of these products: their seconds, and their bytes if these are more, since
        the matrix follows them."""
        if (known := self.equation.known()) is None:
            return plan
        own = known[0].plan(options.method, options.assembly_rtol, options.precision)
        stored = own.nbytes if options.chosen.compresses else 0
        return plan._replace(nbytes=max(plan.nbytes, stored), seconds=plan.seconds + own.seconds)


def products_of(operator: Any, options: SolveOptions) -> Any:
    """The products of an operator with these options."""
    if options.chosen.compresses or "+" in options.backend:
        return operator.assemble(options.method, progress=options.progress, **options.execution)
    precision = "double" if options.precision == "mixed" else options.precision
    return operator.assemble("matrix-free", backend=options.backend, precision=precision)
