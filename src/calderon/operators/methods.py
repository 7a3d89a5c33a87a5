"""How an operator may be assembled: one table of methods, filled by calderon/methods.py when a method is looked for.

The table lets `assemble("hmatrix")` reach a layer above without an import. A method states what it can do, so that no
other code compares names: `assemble`, the formulations and case files refuse options that a method does not support.
"""

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from calderon.backends import format_bytes, free_memory
from calderon.solvers.iteration import tolerance

AUTO = "auto"
"""Stands for the method of the table that is expected to be fastest, of those that there is memory for."""
PRODUCTS = 30
"""Products for which a method is chosen."""
DENSE_BYTES = 1 << 30
"""Bytes of all that a dense solution holds, entries and factors, up to which "auto" takes one without a comparison. A
hundred products read them in 13 seconds at 8 GB/s, and plans of other methods, which sort triangles into trees, take up
to a second themselves."""


class Plan(NamedTuple):
    """Estimated cost of a method, or of the solution of a problem by it, before memory is taken.

    nbytes: at most at a time. seconds: of set-up, and of what else is done once; product_seconds: of a product.
    details: further facts as text. precision: of the numbers that most memory is for. lines: further facts by name,
    such as the unknowns of a problem.
    """

    method: str
    nbytes: int
    seconds: float
    product_seconds: float = 0.0
    details: str = ""
    precision: str = "double"
    lines: tuple[tuple[str, str], ...] = ()

    @property
    def bytes(self) -> int:
        """Another name of `nbytes`."""
        return self.nbytes

    @property
    def expected_seconds(self) -> float:
        """Seconds of set-up and of PRODUCTS products, by which methods are compared."""
        return self.seconds + PRODUCTS * self.product_seconds

    def __str__(self) -> str:
        needs = f"about {rounded(self.seconds)} s and {format_bytes(self.nbytes)} in {self.precision} precision"
        facts = [f"{name} {text}" for name, text in self.lines]
        return ", ".join(filter(None, [f"{self.method}: {needs}", self.details, *facts]))


def rounded(seconds: float) -> str:
    """With one digit, as estimates are."""
    return f"{float(f'{seconds:.1g}'):g}"


@dataclass(frozen=True)
class Method:
    """A way to assemble an operator.

    build(operator, backend=, precision=, progress=, **options) gives a SciPy LinearOperator; of the options rtol,
    keep_on_device, matrix_file, spacing, order and near it receives those that are given, and only where the method
    supports them.

    several: backends may share one matrix. mixed: precision="mixed" is supported. by_entries: what it does is made of
    entries, so that any integral operator may be split into parts. stores_entries: `to_array()` costs nothing, as LU
    asks. stores_near: entries of unknowns whose supports touch are kept as they are, exact. finds_near: they are kept,
    or found in compressed blocks, as preconditioners of entries ask.
    keeps_on_device: keep_on_device= is supported. compresses: rtol= is supported. saves: matrix_file= is supported;
    saves(operator, matrix, matrix_file, backend=, precision=, rtol=) writes what `build` would have written.
    reads(matrix_file) raises what `build` would raise for a file that is no such one, or for its name.
    finest: the smallest rtol that it is expected to hold; "auto" does not stand for it below. least: the smallest one
    that it accepts, by precision.
    factorise(matrix, rtol) gives rough factors, for preconditioner="hlu". grids: spacing=, order=, near= are supported.
    joins_blocks: the blocks of an operator are one product, not one each.
    once: options of `build` for an operator of which one product is needed.
    ranks: the ranks of MPI may share one matrix. devices: devices assemble it, so that "auto" may stand for it there.
    matrix: a description of what is stored. plan(operator, rtol, precision): its Plan; ValueError for an operator that
    the method does not support.
    """

    name: str
    build: Callable[..., Any]
    several: bool = False
    mixed: bool = False
    by_entries: bool = False
    stores_entries: bool = False
    stores_near: bool = False
    finds_near: bool = False
    keeps_on_device: bool = False
    compresses: bool = False
    finest: float = 0.0
    least: Mapping[str, float] = field(default_factory=dict)
    saves: Callable[..., None] | None = None
    reads: Callable[[str | os.PathLike[str]], Any] | None = None
    factorise: Callable[..., Any] | None = None
    grids: bool = False
    joins_blocks: bool = False
    once: Mapping[str, Any] = field(default_factory=dict)
    ranks: bool = False
    devices: bool = True
    matrix: str = "matrix"
    plan: Callable[..., Plan] | None = None

    def options(self, **given: Any) -> dict[str, Any]:
        """The options that are given (neither None nor False); ValueError for one that is not supported."""
        chosen = {name: value for name, value in given.items() if value is not None and value is not False}
        for name in chosen:
            require(self.name, name)
        return chosen


ABILITIES = {
    "rtol": ("compresses", "compresses nothing and has the accuracy of its quadrature"),
    "compression_rtol": ("compresses", "compresses nothing"),
    **dict.fromkeys(("spacing", "order", "near"), ("grids", "has no grid")),
    "keep_on_device": ("keeps_on_device", "keeps no matrix on a device"),
    "matrix_file": ("saves", "saves nothing"),
    "solver='lu'": ("stores_entries", "keeps no entries of a matrix (preconditioner='hlu' factorises an H-matrix)"),
    "preconditioner='hlu'": ("factorise", "has no hierarchical factors"),
    "preconditioner='near'": ("finds_near", "keeps no entries of a matrix"),
}
"""The ability of a method that an option needs, and the words of the message about a method without it."""
_methods: dict[str, Method] = {}


def register(method: Method) -> None:
    """Enter a method; each name once."""
    if method.name == AUTO or _methods.setdefault(method.name, method) is not method:
        raise ValueError(f"method {method.name!r} is registered already")


def table() -> dict[str, Method]:
    """The methods by name, which a module above registers when it is imported."""
    importlib.import_module("calderon.methods")
    return _methods


def method_named(name: str) -> Method:
    """A method of the table; ValueError naming the choices for an unknown one."""
    return _found(name, sorted(table()))


def candidates(name: str) -> tuple[Method, ...]:
    """The methods that a name may stand for: all of them for "auto"; ValueError for an unknown name."""
    return tuple(table().values()) if is_automatic(name) else (_found(name, [*sorted(table()), AUTO]),)


def plans(
    operator: Any, rtol: float | None, backend: str = "numba", compressing: bool = False, precision: str = "double"
) -> list[Plan]:
    """Plans of all methods (of those that do not store all entries) that have one, run on the backend, hold rtol and
    support the operator, the expectedly fastest first. ValueError for an rtol that is not a tolerance."""
    found = []
    if rtol is not None:
        tolerance(rtol)
    for method in table().values():
        suits = not (compressing and method.stores_entries) and (method.devices or backend == "numba")
        if method.plan is not None and suits and (rtol is None or rtol >= method.finest):
            try:
                operator.require_method(method.name, backend)
                found.append(operator.plan(method.name, rtol, precision))
            except ValueError:
                continue
    return sorted(found, key=lambda each: each.expected_seconds)


class Choice(NamedTuple):
    """The method that a name stands for. reason: why it was taken, empty where plans were not compared; automatic:
    whether "auto" left it to a rule."""

    method: Method
    reason: str = ""
    automatic: bool = False


def is_automatic(name: Any) -> bool:
    """Whether the name of a method is "auto", which leaves the method to a rule."""
    return isinstance(name, str) and name == AUTO


def resolved(name: Any, best: Callable[[], tuple[str, str]]) -> Choice:
    """The method that a name stands for: for "auto" the one that best() names, with its reason, which `fastest` and
    `automatic` give. ValueError naming the choices for an unknown name."""
    if not is_automatic(name):
        return Choice(method_named(name))
    found, reason = best()
    return Choice(method_named(found), reason, True)


def automatic(nbytes: float, best: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """The name of the method that "auto" stands for, and why: the one that stores entries where all that its solution
    holds takes `nbytes` of at most DENSE_BYTES (without a reason, as nothing is compared), else `best`, which compares
    plans by `least_of`."""
    return (first_that("stores_entries").name, "") if nbytes <= DENSE_BYTES else best()


def least_of(choices: Sequence[Plan]) -> tuple[str, str]:
    """The name of the method whose plan takes the least seconds, of those that there is memory for, and why.
    MemoryError where there is room for none. choices: the fastest first."""
    free = free_memory()
    fitting = [each for each in choices if each.nbytes <= free]
    fitting = [each for each in fitting if not any(_is_thriftier(other, each) for other in fitting)]
    if not fitting:
        texts = "; ".join(map(str, choices))
        raise MemoryError(f"{format_bytes(free)} are free, and every method needs more ({texts}): try a coarser mesh, "
                          "a larger rtol, or method='matrix-free'")  # fmt: skip
    others = [each for each in choices if each is not fitting[0]]
    return fitting[0].method, "chosen as " + ", not ".join(map(str, [fitting[0], *others]))


def fastest(operator: Any, rtol: float | None, backend: str = "numba", precision: str = "double") -> tuple[str, str]:
    """The name of the method of least seconds that assembles an operator, and why; see `plans` and `least_of`."""
    return least_of(plans(operator, rtol, backend, precision=precision))


def _is_thriftier(one: Plan, other: Plan) -> bool:
    """Whether one takes a tenth of the memory of the other, and at most three times its time: of bodies far from each
    other plane waves would take gigabytes for a few hundred unknowns."""
    return 10 * one.nbytes <= other.nbytes and one.expected_seconds <= 3 * other.expected_seconds


def first_that(ability: str) -> Method:
    """The method with an ability, such as "compresses", that was registered first."""
    return next(each for each in table().values() if getattr(each, ability))


def require(name: str, option: str) -> None:
    """ValueError where no method that the name may stand for supports an option out of ABILITIES."""
    ability, lack = ABILITIES[option]
    if not any(getattr(each, ability) for each in candidates(name)):
        able = " or ".join(f"method={each.name!r}" for each in table().values() if getattr(each, ability))
        shown = option if "=" in option else f"{option}="
        raise ValueError(f"{shown} is supported by {able} only: method {name!r} {lack}; leave it out")


def products_rtol(name: str, rtol: float) -> float:
    """The tolerance of products for that of a solver: a tenth of it, or what the method is expected to hold."""
    return max(rtol / 10, *(each.finest for each in candidates(name)))


def require_tolerance(name: str, rtol: float, compression_rtol: float | None, precision: str) -> None:
    """ValueError, in the words of the one who gave the options, where products of the method cannot be so accurate."""
    if not isinstance(precision, str):
        return  # refused with what precisions there are
    least = min(each.least.get(precision, 0.0) for each in candidates(name))
    wanted = products_rtol(name, rtol) if compression_rtol is None else compression_rtol
    if wanted < least:
        given = f"compression_rtol={wanted:g}"
        if compression_rtol is None:
            given = f"rtol={rtol:g} takes products of {wanted:g}"
        double = " or choose precision='double'" if precision == "single" else ""
        raise ValueError(
            f"{given}: products by method {name!r} hold {least:g} and above with precision={precision!r}: increase "
            f"{'it' if compression_rtol else f'rtol to {10 * least:g}, give compression_rtol={least:g},'}{double}"
        )


def _found(name: Any, choices: list[str]) -> Method:
    if not isinstance(name, str) or name not in table():
        raise ValueError(f"unknown method {name!r}: choose {' or '.join(map(repr, choices))}")
    return table()[name]
