"""How the regular quadrature of a layer may be summed at points: a table, filled by calderon/methods.py, through
which `evaluate(points, method="fmm")` reaches a layer above without an import."""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Execution
from calderon.greens import RadialGreen
from calderon.solvers.iteration import tolerance
from calderon.validation import one_of

DIRECT, AUTO = CHOSEN_HERE = "direct", "auto"
RTOL = 1e-6
"""Default tolerance of fast sums."""

Sums = Callable[..., NDArray[np.complex128]]
"""sums(points, charges, dipoles, wavenumber, targets=, gradient=, rtol=), with complex charges (n, c) or None and
dipoles (n, c, 3) or None: potentials (m, c, 1), or gradients (m, c, 3)."""


class FastSums(NamedTuple):
    """A fast method. serves: whether it sums a Green's function, those of `equation`; pairs: of points and targets from
    which it takes less time than direct sums."""

    name: str
    equation: str
    serves: Callable[[RadialGreen], bool]
    sums: Sums
    pairs: float


_methods: dict[str, FastSums] = {}


def register_sums(method: FastSums) -> None:
    """Enter a method, each name once."""
    if method.name in CHOSEN_HERE or _methods.setdefault(method.name, method) is not method:
        raise ValueError(f"method {method.name!r} is registered already")


def _table() -> dict[str, FastSums]:
    """The methods by name, which a module above registers when it is imported."""
    importlib.import_module("calderon.methods")
    return _methods


def is_fast(method: str) -> bool:
    """Whether this is the name of a fast method, whose errors its caller wants to see: "auto" then sums directly."""
    return method in _table()


def fast_sums(method: str, green: RadialGreen, execution: Execution, pairs: float, rtol: Any) -> Sums | None:
    """The sums of a method with that tolerance, None for direct sums; "auto": fast ones from so many pairs on that they
    take less time. ValueError naming the choices for an unknown method, and for what it does not serve."""
    if rtol is not None:
        rtol = tolerance(rtol)
    table = _table()
    chosen = one_of(method, [AUTO, DIRECT, *sorted(table)], "method")
    if chosen == DIRECT and rtol is not None:
        raise ValueError(f"rtol={rtol!r}: method 'direct' sums exactly; leave it out, or choose method='auto'")
    served = [] if execution.devices else [each for each in table.values() if each.serves(green)]
    quick = next((each for each in served if pairs >= each.pairs), None)
    named: dict[str, FastSums | None] = {**table, DIRECT: None}
    found = named.get(chosen, quick)
    if found is not None and found not in served:
        raise ValueError(
            f"method {found.name!r} sums potentials of {found.equation} on the processor, got {green} and "
            f"backend {execution.name!r}: choose method='direct'"
        )
    return None if found is None else partial(found.sums, rtol=RTOL if rtol is None else rtol)
