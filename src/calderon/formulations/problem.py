"""Problems: data become right-hand sides, which are solved together, and solutions are wrapped."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import Execution, LinearAlgebra
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.options import (
    PAIR_BYTES,
    PlanChoices,
    SolveChoices,
    SolveOptions,
    checked_choices,
    named_options,
)
from calderon.formulations.preconditioners import Preconditioner, near_preconditioner, sparse_factor_bytes
from calderon.formulations.solution_info import SolutionInfo
from calderon.hmatrix import is_sum
from calderon.operators.methods import AUTO, Plan, candidates, first_that, require
from calderon.solvers.iteration import ToleranceError
from calderon.validation import one_of
from calderon.view import Described

Solution = TypeVar("Solution")


class Problem(Described, ABC, Generic[Solution]):
    """A boundary value problem posed as an integral equation; data in, solution out.

    The assembled matrix, and its LU factors if requested, are kept with the problem, so that a second solution with the
    same method, backend and precision costs the solver only.

    mesh, function_space: the surface and the space of the unknown on it. title: what is solved, in a few words.
    """

    mesh: Any
    function_space: Any
    title: ClassVar[str]
    pair_bytes: ClassVar[int] = PAIR_BYTES  # of entries and factors in a dense solution
    usual_solver: ClassVar[str] = "gmres"  # of matrices that store their entries

    @named_options
    def solve(self, data: Any = None, **options: Unpack[SolveChoices]) -> Solution:
        """Solve for one incident wave (scattering), boundary datum (Laplace) or set of voltages (antennas).

        Options, by name, with the same defaults for every physics. method: how the matrix is stored: "dense",
        "hmatrix", "matrix-free", "fmm" (Laplace), "mlfmm" (acoustic and electromagnetic waves), or "auto": "dense" up
        to 8192 unknowns, whose complex entries take 1 GB, above what is expected to take the least seconds, which
        `info` states. rtol: relative residual at which GMRES ends, by default 1e-5. compression_rtol: accuracy of a
        compressed matrix, default rtol / 10, and of "mlfmm" 1e-6 at least. solver: "gmres" (default) or "lu".
        preconditioner: a name out of `preconditioners`, whose first is the default; "mass" is the inverse mass matrix;
        with method "hmatrix" also "hlu", hierarchical factors, for sums of operators on one space; or None, or anything
        with a product M @ x. precision: "double" (default), "single", or for dense matrices "mixed". backend: "numba"
        or a device. progress: whether to show live progress; by default, on a terminal or in a notebook, of work over
        two seconds. keep_on_device: leave a dense matrix on the device of `backend`, where GMRES and (on CUDA) LU then
        run. matrix_file: an HDF5 file in which the parts of an H-matrix, or the near blocks of "mlfmm", are saved as
        they are ready; solving again, after an interrupt or another day, takes from it what is there. maxiter: limit
        of GMRES, default 1000.

        Raises ConvergenceError (with history and last iterate) when the residual stays above rtol, MemoryError before a
        matrix that does not fit is begun, ValueError or TypeError for data and options that do not
        fit, ValueError for a matrix_file of another mesh, wavenumber or tolerance.
        """
        return self.solve_all([data], **options)[0]

    @named_options
    def plan(self, **options: Unpack[PlanChoices]) -> Plan:
        """The plan of the matrix of `solve` with these options, before memory is taken: bytes, with those of its usual
        preconditioner, seconds of set-up and of a product, precision of its numbers, for "mlfmm" and "fmm" levels
        and degrees. ValueError for a method without estimates, and for what `solve` refuses."""
        chosen: Any = checked_choices(options, PlanChoices)
        return self.system.plan(self._options(chosen))

    @named_options
    def solve_all(self, data: Sequence[Any], **options: Unpack[SolveChoices]) -> list[Solution]:
        """Solve for several waves or data at once: one matrix, products for all together; options as in `solve`. Where
        products of a faster method do not hold the tolerance, "auto" takes an H-matrix."""
        require_several(data)
        chosen = self._options(options)
        try:
            return self._solve([*data], chosen)
        except ToleranceError as error:
            if not chosen.is_automatic:
                raise
            reason = f"not {chosen.method}: {str(error).partition(':')[0]}"
        compressed = self._options({**options, "method": first_that("compresses").name})  # type: ignore[typeddict-item]
        return self._solve([*data], replace(compressed, reason=reason))

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """The names that `solve` accepts as preconditioner=, the usual one first."""
        return ("mass",)

    def _usual_preconditioner(self, options: SolveOptions) -> str:
        """The name of the preconditioner where none is given: the first one that the method has."""
        return next(each for each in self.preconditioners if each != "near" or options.chosen.stores_near)

    def _options(self, choices: SolveChoices) -> SolveOptions:
        """Checked options, with the method that "auto" stands for and the operator of a named preconditioner."""
        given = SolveOptions(**checked_choices(choices))
        options = given.for_unknowns(self.unknowns, self.system.compared, self.pair_bytes)
        if options.chosen.stores_entries and "solver" not in choices:
            options = replace(options, solver=self.usual_solver)
        accuracy, scales = options.assembly_rtol, self.system.scales_for(options)
        if scales is not None and options.compression_rtol is None and accuracy is not None:
            if (needed := scales.holding(accuracy)) < accuracy:
                options = replace(options, compression_rtol=needed)
        if "preconditioner" not in choices:
            options = replace(options, preconditioner=self._usual_preconditioner(options))
        if isinstance(options.preconditioner, str):
            hlu = ["hlu"] if options.chosen.factorise else []
            one_of(options.preconditioner, (*self.preconditioners, *hlu), "preconditioner")
        return self._preconditioned(options)

    def _sweep_options(self, choices: SolveChoices) -> SolveOptions:
        """Checked options for many right-hand sides: by default with the available matrix, which is factorised: a dense
        one to solve with (not left on a device that cannot), a compressed one roughly, to precondition where the
        problem knows nothing better."""
        candidates(choices.get("method", AUTO))  # refuses an unknown name
        usual: SolveChoices = {}
        if (kept := self.system.key) is not None:
            usual = {"method": kept[0], "backend": kept[2], "precision": kept[3]}
            if choices.get("method", kept[0]) == kept[0]:
                usual["compression_rtol"] = kept[1]
                usual["keep_on_device"] = kept[4] and "backend" not in choices
        usual.update(choices)
        factorised = all(each.factorise for each in candidates(usual.get("method", AUTO)))
        if factorised and is_sum(self.system.operator):
            if self._usual_preconditioner(SolveOptions(**checked_choices(usual))) == "mass":
                usual.setdefault("preconditioner", "hlu")
        options = self._options(usual)
        if "solver" in choices or not options.chosen.stores_entries:
            return options
        if options.keep_on_device and "keep_on_device" not in choices:
            device = Execution.of(options.backend, options.precision, mixed=True).device
            options = replace(options, keep_on_device=isinstance(device, LinearAlgebra))
        return replace(options, solver="lu")

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        """The options with an operator instead of the name of a preconditioner, where it is one of entries or the
        problem's own."""
        if options.preconditioned_by("osrc"):
            precision = "single" if options.precision == "single" else "double"
            if precision not in self._inverses:
                self._inverses[precision] = Preconditioner(
                    "OSRC of the surface", self.unknowns, lambda: self._osrc(precision)
                )
            return replace(options, preconditioner=self._inverses[precision])
        if options.solver == "lu":
            return options
        if options.preconditioned_by("hlu") and not is_sum(self.system.operator):
            names = " or ".join(map(repr, self.preconditioners))
            raise ValueError(
                "preconditioner='hlu', hierarchical factors, is for sums of integral operators on one space, and the "
                f"equation of this problem ({self.system.equation}) has blocks or products: take {names}"
            )
        if options.preconditioned_by("factorised"):
            return replace(options, preconditioner=self._factorised)
        if not options.preconditioned_by("near"):
            return options
        require(options.method, "preconditioner='near'")
        return replace(options, preconditioner=near_preconditioner(self.system))

    @cached_property
    def _inverses(self) -> dict[str, Preconditioner]:
        """The preconditioners "osrc" by their precision."""
        return {}

    @cached_property
    def _factorised(self) -> Preconditioner:
        """The preconditioner "factorised"."""
        size = self.unknowns
        return Preconditioner(
            "factorised", size, self._factorised_inverse, lambda: sparse_factor_bytes(size), np.float64
        )

    def _factorised_inverse(self) -> LinearOperator:
        """The inverse of "factorised" of problems that have it."""
        raise NotImplementedError

    def _osrc(self, precision: str) -> LinearOperator:
        """The inverse of "osrc" of problems that have it. precision: of sparse factors, which are computed once."""
        raise NotImplementedError

    def _solve(self, data: list[Any], options: SolveOptions) -> list[Solution]:
        checked = [self._checked(one) for one in data]
        preparation = self._prepare(options)
        rhs = np.stack([self._right_hand_side(one) for one in checked], axis=1)
        coefficients, infos = self.system.solve(rhs, options)
        infos = [replace(info, assembly_seconds=info.assembly_seconds + preparation) for info in infos]
        columns = np.ascontiguousarray(coefficients.T)
        return [self._solution(one, x, info) for one, x, info in zip(checked, columns, infos, strict=True)]

    @cached_property
    def system(self) -> LinearSystem:
        """The discrete equation, with the available matrix and factors."""
        return self._build_system()

    @property
    def unknowns(self) -> int:
        """Number of unknowns."""
        return self.system.unknowns

    @abstractmethod
    def _build_system(self) -> LinearSystem: ...

    def _checked(self, data: Any) -> Any:
        """The data in the form that the other steps accept; TypeError or ValueError for data that do not fit."""
        return data

    @abstractmethod
    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        """The vector (dimension,) of the data."""

    def _prepare(self, options: SolveOptions) -> float:
        """Assemble, as the options say, what right-hand sides need besides the data; the seconds it took."""
        return 0.0

    @abstractmethod
    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> Solution: ...

    @property
    def _details(self) -> tuple[str, ...]:
        """Further lines of its text."""
        return ()

    @property
    def _discretisation(self) -> str:
        return f"({self.function_space.name}) on {self.mesh.number_of_triangles} triangles"

    @property
    def brief(self) -> str:
        """The problem and its size."""
        return f"{self.title}, {self.unknowns} unknowns {self._discretisation}"

    def __str__(self) -> str:
        unknowns = f"{self.unknowns} unknowns {self._discretisation}"
        return "\n  ".join([self.title, self.system.equation, unknowns, *self._details])


def require_several(data: Any) -> None:
    """TypeError for data of `solve_all` that are no list, ValueError for an empty one."""
    if not hasattr(data, "__len__") or isinstance(data, str):
        raise TypeError(
            f"solve_all accepts a list of waves or boundary data, got {type(data).__name__}: solve accepts one"
        )
    if len(data) == 0:
        raise ValueError("solve_all needs at least one wave or boundary datum")


class Equation(Problem[tuple[NDArray[Any], SolutionInfo]]):
    """A problem whose data are right-hand sides (dimension,), and whose solutions are coefficients and their record."""

    def _right_hand_side(self, data: NDArray[Any]) -> NDArray[Any]:
        return data

    def _solution(
        self, data: NDArray[Any], coefficients: NDArray[Any], info: SolutionInfo
    ) -> tuple[NDArray[Any], SolutionInfo]:
        return coefficients, info
