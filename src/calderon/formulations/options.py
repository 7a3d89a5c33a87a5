"""How a problem is solved: the options that every physics accepts, their defaults, and the method of "auto".

`SolveOptions` is the one place of the defaults: solvers, the signatures that editors show, and case files read them
there.
"""

import inspect
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypedDict, TypeVar, get_args, get_type_hints

from calderon.backends import Execution
from calderon.operators import BoundaryOperator
from calderon.operators import methods as rule
from calderon.operators.methods import (
    AUTO,
    Method,
    automatic,
    candidates,
    first_that,
    least_of,
    method_named,
    plans,
    products_rtol,
    require,
    require_tolerance,
)
from calderon.solvers.iteration import tolerance
from calderon.validation import one_of, truth

SOLVERS = ("gmres", "lu")
PRECONDITIONERS = ("mass", "osrc", "near", "factorised", "dual", "hlu", "two-level", "modes")
MethodName = Literal["dense", "hmatrix", "matrix-free", "fmm", "mlfmm", "fft", "auto"]
"""How a matrix is stored; see `Problem.solve`."""
PAIR_BYTES = 16
"""Bytes of a pair of unknowns in the rule of "auto": those of a complex number, of real matrices and in single
precision too, whose entries are not computed much faster."""


def largest_dense() -> int:
    """Unknowns n up to which "auto" stores the entries: PAIR_BYTES n^2 bytes are DENSE_BYTES."""
    return math.isqrt(rule.DENSE_BYTES // PAIR_BYTES)


@dataclass(frozen=True)
class SolveOptions:
    """How a problem is assembled and solved; see `Problem.solve`. ValueError for unknown choices.

    accept: whether solutions above the tolerance are returned instead of a ConvergenceError. is_automatic: whether the
    method was chosen by "auto"; reason: why it was.
    """

    method: str = AUTO
    rtol: float = 1e-5
    compression_rtol: float | None = None
    solver: str = "gmres"
    backend: str = "numba"
    precision: str = "double"
    preconditioner: Any = "mass"
    maxiter: int = 1000
    progress: bool | None = None
    keep_on_device: bool = False
    matrix_file: str | os.PathLike[str] | None = None
    accept: bool = False
    is_automatic: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        one_of(self.solver, SOLVERS, "solver")
        if isinstance(self.preconditioner, str):
            one_of(self.preconditioner, PRECONDITIONERS, "preconditioner")
        tolerance(self.rtol)
        truth(self.keep_on_device, "keep_on_device")
        if self.compression_rtol is not None:
            tolerance(self.compression_rtol, "compression_rtol")
        candidates(self.method)  # refuses an unknown name
        for option, given in (
            ("compression_rtol", self.compression_rtol is not None),
            ("matrix_file", self.matrix_file is not None),
            ("solver='lu'", self.solver == "lu"),
        ):
            if given:
                require(self.method, option)
        require_tolerance(self.method, self.rtol, self.compression_rtol, self.precision)
        methods = candidates(self.method)
        several, mixed = any(each.several for each in methods), any(each.mixed for each in methods)
        Execution.of(self.backend, self.precision, several=several, mixed=mixed)

    def for_unknowns(
        self, unknowns: int, operator: BoundaryOperator | None = None, pair: int = PAIR_BYTES
    ) -> "SolveOptions":
        """The options with a method instead of "auto", by the rule of `operators.methods.automatic`: one that stores
        entries for few unknowns and for LU, which needs no compression_rtol, else one that compresses. pair: bytes
        that entries and factors take for each pair of unknowns."""
        if len(candidates(self.method)) == 1:
            return self
        nbytes = 0 if self.solver == "lu" else pair * unknowns**2
        name, reason = automatic(nbytes, lambda: self._compressing(operator))
        kept = self.compression_rtol if method_named(name).compresses else None
        return replace(self, method=name, compression_rtol=kept, is_automatic=True, reason=reason)

    def _compressing(self, operator: BoundaryOperator | None) -> tuple[str, str]:
        """The expectedly fastest method of those that do not store all entries, and why; the first of them where there
        is no operator yet, on devices, and for options that only such a one has; of those that do where none other
        supports the operator."""
        bound = self.backend != "numba" or self.matrix_file is not None or self.preconditioned_by("hlu")
        if operator is None or bound or self.precision == "mixed":
            return first_that("compresses").name, ""
        given: Any = {"rtol": self.assembly_rtol, "precision": self.precision}
        return least_of(plans(operator, compressing=True, **given) or plans(operator, **given))

    @property
    def chosen(self) -> Method:
        """The method itself; ValueError for "auto"."""
        return method_named(self.method)

    def preconditioned_by(self, name: str) -> bool:
        """Whether the preconditioner is the one of that name; a matrix has none."""
        return isinstance(self.preconditioner, str) and self.preconditioner == name

    @property
    def assembly_rtol(self) -> float | None:
        """The accuracy required of a compressed matrix, unless given a tenth of the solver's, or what the method holds;
        None for an exact one."""
        methods = candidates(self.method)
        if not any(each.compresses for each in methods):
            return None
        return products_rtol(self.method, self.rtol) if self.compression_rtol is None else self.compression_rtol

    @property
    def execution(self) -> dict[str, Any]:
        """Where and how accurately the matrix is computed, as options of `assemble`."""
        return {"backend": self.backend, "precision": self.precision, "rtol": self.assembly_rtol}

    @property
    def matrix_key(self) -> tuple[Any, ...]:
        """Options that the entries of the matrix depend on."""
        return self.method, self.assembly_rtol, self.backend, self.precision, self.keep_on_device


class SolveChoices(TypedDict, total=False):
    """The options of `Problem.solve` by name; their defaults are those of `SolveOptions`."""

    method: MethodName
    rtol: float
    compression_rtol: float | None
    solver: Literal["gmres", "lu"]
    preconditioner: Any
    precision: Literal["double", "single", "mixed"]
    backend: str
    progress: bool | None
    keep_on_device: bool
    matrix_file: str | os.PathLike[str] | None
    maxiter: int


class PlanChoices(TypedDict, total=False):
    """The options of `Problem.plan` by name."""

    method: MethodName
    rtol: float
    compression_rtol: float | None
    precision: Literal["double", "single", "mixed"]


DEFAULTS = {each.name: each.default for each in fields(SolveOptions)}
"""Defaults by the name of the option."""
Function = TypeVar("Function", bound=Callable[..., Any])


def checked_choices(given: Any, kind: type = SolveChoices) -> dict[str, Any]:
    """The options themselves; TypeError naming those of `kind` for an unknown one."""
    if unknown := sorted(set(given) - set(kind.__annotations__)):
        raise TypeError(
            f"unknown options {', '.join(unknown)}: choose from {', '.join(kind.__annotations__)}; waves, voltages and "
            "other data come first, help(...) of this method names them"
        )
    return dict(given)


def require_supported(given: Any, supported: Mapping[str, Sequence[Any]], why: str) -> None:
    """ValueError, with the reason, for options that a physics does not take. supported: options with the values that
    they may have, any value where these are empty; all others have their defaults."""
    for name, value in checked_choices(given).items():
        values = supported.get(name, (DEFAULTS[name],))
        if values and not any(value is each or value == each for each in values):
            raise ValueError(f"{why}: {name}={value!r} is not supported, leave it out")


def named_options(function: Function) -> Function:
    """The function with its **options by name in its signature, which help(), notebooks and editors show and complete:
    with their defaults, but for the preconditioner, whose default depends on the problem."""
    signature = inspect.signature(function)
    *others, last = signature.parameters.values()
    (choices,) = get_args(last.annotation)
    named = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=... if name == "preconditioner" else DEFAULTS.get(name),
            annotation=kind,
        )
        for name, kind in get_type_hints(choices).items()
    ]
    function.__signature__ = signature.replace(parameters=[*others, *named])  # type: ignore[attr-defined]
    return function
