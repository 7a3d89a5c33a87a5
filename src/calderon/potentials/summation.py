"""How the regular quadrature of a layer may be summed at points: a table, filled only by calderon/__init__.py, through
which `evaluate(points, method="fmm")` reaches a layer above without an import."""

from collections.abc import Callable
from typing import Any

from calderon.validation import one_of

DIRECT = "direct"
_sums: dict[str, Callable[..., Any]] = {}


def register_sums(name: str, sums: Callable[..., Any]) -> None:
    """Enter a method, each name once: sums(points, charges, dipoles, targets=, gradient=, rtol=) with real charges (n,)
    or None and dipoles (n, 3) or None of Laplace's equation; the result has `potential` and `gradient`."""
    if name == DIRECT or _sums.setdefault(name, sums) is not sums:
        raise ValueError(f"method {name!r} is registered already")


def sums_named(name: str) -> Callable[..., Any] | None:
    """A method of the table, None for direct sums; ValueError naming the choices for an unknown one."""
    return _sums.get(one_of(name, [DIRECT, *sorted(_sums)], "method"))
