"""Words of [solver] that several kinds of cases share: where and how equations are solved."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, model_validator

from calderon.case.table import OneOf, Table, backend_name, key
from calderon.formulations.options import DEFAULTS
from calderon.operators.methods import AUTO, candidates, require, require_tolerance

Backend = Annotated[str, AfterValidator(backend_name)]
Precision = Literal["double", "single"]


def method_name(name: str) -> str:
    """The name of a method; ValueError naming the choices for another."""
    candidates(name)
    return name


MethodName = Annotated[
    str, AfterValidator(method_name), OneOf(lambda: [AUTO, *(each.name for each in candidates(AUTO))])
]


class RealSolver(Table):
    """[solver], of problems without waves: method "auto": dense for few unknowns, else compressed. rtol: of GMRES."""

    method: MethodName = key(
        'how operators are stored; "auto" takes dense for few unknowns, else a compressed one', DEFAULTS["method"]
    )
    rtol: float = key("relative residual at which GMRES stops", DEFAULTS["rtol"], gt=0, lt=1)
    backend: Backend = key("where kernels run, as for other problems", DEFAULTS["backend"])
    precision: ClassVar = "double"


class WaveSolver(Table):
    """[solver]: how the equations are discretised and solved.

    method "auto": dense for few unknowns, else the expectedly fastest of "hmatrix" and "mlfmm". rtol: of GMRES;
    compression_rtol: of a compressed matrix, default a tenth of it, by "mlfmm" 1e-6 at least. preconditioner: default
    the usual one of the problem, which refuses those that it does not have.
    """

    method: MethodName = key('how operators are stored; "auto" takes the expectedly fastest', DEFAULTS["method"])
    solver: Literal["gmres", "lu"] = key("iterations, or a factorisation of a dense matrix", DEFAULTS["solver"])
    rtol: float = key("relative residual at which GMRES stops", DEFAULTS["rtol"], gt=0, lt=1)
    compression_rtol: float | None = key(
        "relative error of a compressed matrix; a tenth of rtol unless given", gt=0, lt=1
    )
    preconditioner: Literal["mass", "osrc", "near", "factorised", "modes", "hlu"] | None = key(
        "of GMRES; the usual one of the problem unless given"
    )
    precision: Precision = key("of matrices", DEFAULTS["precision"])
    backend: Backend = key(
        'where kernels run: "numba" (processors), "opencl", "cuda", a device such as "cuda:1", or "auto"',
        DEFAULTS["backend"],
    )
    max_iterations: int = key("of GMRES", DEFAULTS["maxiter"], ge=1)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.compression_rtol is not None:
            require(self.method, "compression_rtol")
        require_tolerance(self.method, self.rtol, self.compression_rtol, self.precision)
        if self.preconditioner == "hlu":
            require(self.method, "preconditioner='hlu'")
        if self.solver == "lu":
            require(self.method, "solver='lu'")
        return self

    @property
    def names_method(self) -> bool:
        """Whether one method is named, and none is left to be chosen by its cost."""
        return len(candidates(self.method)) == 1

    @property
    def options(self) -> dict[str, Any]:
        """The keys as options of `solve`."""
        names = ("method", "rtol", "precision", "backend", "solver", "compression_rtol")
        chosen = {name: getattr(self, name) for name in names} | {"maxiter": self.max_iterations}
        return chosen if self.preconditioner is None else {**chosen, "preconditioner": self.preconditioner}
