"""What every problem does: turn data into right-hand sides, solve them together, and wrap the solutions."""

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, TypedDict, TypeVar, Unpack, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Execution, LinearAlgebra
from calderon.formulations.linear_system import LinearSystem, SolutionInfo, SolveOptions
from calderon.formulations.preconditioners import near_preconditioner
from calderon.formulations.saved_sweep import solve_and_save
from calderon.hmatrix import is_sum
from calderon.operators.methods import AUTO, Plan, ToleranceError, candidates, require
from calderon.solvers import CompressedSides
from calderon.validation import one_of
from calderon.view import Described

MethodName = Literal["dense", "hmatrix", "matrix-free", "fmm", "mlfmm", "fft", "auto"]
"""How a matrix is stored; see `Problem.solve`."""
Solution = TypeVar("Solution")
DIRECTIONS_AT_ONCE = 64  # right-hand sides of a monostatic sweep that are in memory together
COMPRESSION = 0.1  # part of the solver's tolerance to which they are compressed


class SolverChoices(TypedDict, total=False):
    """The options of `Problem.solve` by name; their defaults are those of `SolveOptions`."""

    compression_rtol: float | None
    solver: Literal["gmres", "lu"]
    backend: str
    precision: Literal["double", "single", "mixed"]
    preconditioner: Any
    maxiter: int
    progress: bool | None
    keep_on_device: bool
    matrix_file: str | os.PathLike[str] | None


class SolveChoices(SolverChoices, total=False):
    """The same with the method and the tolerance."""

    method: MethodName
    rtol: float


Function = TypeVar("Function", bound=Callable[..., Any])


def named_options(function: Function) -> Function:
    """The function with its **options by name in its signature, which help(), notebooks and editors show and complete;
    their defaults stand in the description, as they depend on each other."""
    signature = inspect.signature(function)
    *others, last = signature.parameters.values()
    (choices,) = get_args(last.annotation)
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=..., annotation=kind)
        for name, kind in get_type_hints(choices).items()
    ]
    function.__signature__ = signature.replace(parameters=[*others, *named])  # type: ignore[attr-defined]
    return function


class Problem(Described, ABC, Generic[Solution]):
    """A boundary value problem posed as an integral equation; data in, solution out.

    The assembled matrix, and its LU factors if requested, are kept with the problem, so that a second solution with the
    same method, backend and precision costs the solver only.

    mesh, function_space: the surface and the space of the unknown on it. title: what is solved, in a few words.
    """

    mesh: Any
    function_space: Any
    title: ClassVar[str]

    @named_options
    def solve(
        self, data: Any, method: MethodName = "dense", rtol: float = 1e-6, **options: Unpack[SolverChoices]
    ) -> Solution:
        """Solve for one incident wave (scattering) or boundary datum (Laplace).

        method: how the matrix is stored: "dense", "hmatrix", "matrix-free", "fmm" (Laplace), "mlfmm" (acoustic and
        electromagnetic waves), or "auto": "dense" up to 8000 unknowns, above what is expected to take the least
        seconds, which `info` states. rtol: relative residual at which GMRES ends.

        Further options, by name. compression_rtol: accuracy of a compressed matrix, default rtol / 10, and of "mlfmm"
        1e-6 at least. solver: "gmres" (default) or "lu". backend: "numba" or a device. precision: "double" (default) or
        "single". preconditioner: a name out of `preconditioners`, whose first is the default; "mass" is the inverse
        mass matrix; with method "hmatrix" also "hlu", hierarchical factors, for equations of the first kind; or None,
        or anything with a product M @ x. maxiter: limit of GMRES, default 1000. progress: whether to show live
        progress; by default, on a terminal or in a notebook, of work over two seconds. keep_on_device: leave a dense
        matrix on the device of `backend`, where GMRES and (on CUDA) LU then run. matrix_file: an HDF5 file in which the
        parts of an H-matrix, or the near blocks of "mlfmm", are saved as they are ready; solving again, after an
        interrupt or another day, takes from it what is there.

        Raises ConvergenceError (with history and last iterate) when the residual stays above rtol, MemoryError before a
        matrix that does not fit is begun, ValueError or TypeError for data and options that do not
        fit, ValueError for a matrix_file of another mesh, wavenumber or tolerance.
        """
        return self._solved([data], method, rtol, options)[0]

    def plan(
        self,
        method: MethodName = "auto",
        rtol: float = 1e-6,
        compression_rtol: float | None = None,
        precision: Literal["double", "single", "mixed"] = "double",
    ) -> Plan:
        """What the matrix of `solve` with these options will take, before memory is taken: bytes, with those of its
        usual preconditioner, seconds of set-up and of a product, precision of its numbers, for "mlfmm" and "fmm" levels
        and degrees. ValueError for a method without estimates, and for what `solve` refuses."""
        given = SolverChoices(compression_rtol=compression_rtol, precision=precision)
        return self.system.plan(self._options(method, rtol, given))

    @named_options
    def solve_all(
        self, data: Sequence[Any], method: MethodName = "dense", rtol: float = 1e-6, **options: Unpack[SolverChoices]
    ) -> list[Solution]:
        """Solve for several waves or data at once: one matrix, products for all together; options as in `solve`."""
        if not hasattr(data, "__len__") or isinstance(data, str):
            raise TypeError(
                f"solve_all accepts a list of waves or boundary data, got {type(data).__name__}: solve accepts one"
            )
        if len(data) == 0:
            raise ValueError("solve_all needs at least one wave or boundary datum")
        return self._solved(list(data), method, rtol, options)

    def _solved(self, data: list[Any], method: str, rtol: float, choices: SolverChoices) -> list[Solution]:
        """The solutions. Where products of a faster method do not hold the tolerance, "auto" takes an H-matrix, unless
        preconditioner="near" is given: an H-matrix has no such preconditioner."""
        options = self._options(method, rtol, choices)
        try:
            return self._solve(data, options)
        except ToleranceError as error:
            given = choices.get("preconditioner")
            if method != AUTO or (isinstance(given, str) and given == "near"):
                raise
            reason = f"not {options.method}: {str(error).partition(':')[0]}"
        return self._solve(data, replace(self._options("hmatrix", rtol, choices), reason=reason))

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """The names that `solve` accepts as preconditioner=, the usual one first."""
        return ("mass",)

    @property
    def _usual_without_entries(self) -> str:
        """The usual preconditioner where a method keeps no entries."""
        return next(each for each in self.preconditioners if each != "near")

    def _options(self, method: str, rtol: float, choices: SolverChoices) -> SolveOptions:
        """Checked options, with the method that "auto" stands for and the operator of a named preconditioner."""
        if unknown := sorted(set(choices) - set(SolverChoices.__annotations__)):
            known = ", ".join(["method", "rtol", *SolverChoices.__annotations__])
            raise TypeError(f"unknown options {', '.join(unknown)}: choose from {known}")
        options = SolveOptions(method, rtol, **choices).for_unknowns(self.unknowns, self.system.operator)
        scales, given = self.system.scales_for(options), options.assembly_rtol
        if scales is not None and options.compression_rtol is None and given is not None:
            if (needed := scales.holding(given)) < given:
                options = replace(options, compression_rtol=needed)
        if "preconditioner" not in choices:
            usual = self.preconditioners[0] if options.chosen.stores_near else self._usual_without_entries
            options = replace(options, preconditioner=usual)
        if isinstance(options.preconditioner, str):
            hlu = ["hlu"] if options.chosen.factorise else []
            one_of(options.preconditioner, (*self.preconditioners, *hlu), "preconditioner")
        return self._preconditioned(options)

    def _sweep_options(self, method: str | None, rtol: float, choices: SolverChoices) -> SolveOptions:
        """The same for many right-hand sides: by default with the available matrix, which is factorised: a dense one to
        solve with (not left on a device that cannot), a compressed one roughly, to precondition where the problem
        knows nothing better."""
        kept = self.system.key or SolveOptions().matrix_key
        if method is not None:
            candidates(method)  # refuses what is no method
        usual: SolverChoices = {"backend": kept[2], "precision": kept[3]}
        if method in (None, kept[0]):
            usual["compression_rtol"] = kept[1]
            usual["keep_on_device"] = kept[4] and "backend" not in choices
        factorised = all(each.factorise for each in candidates(method or kept[0])) and is_sum(self.system.operator)
        if factorised and self._usual_without_entries == "mass":
            usual["preconditioner"] = "hlu"
        usual.update(choices)
        options = self._options(method or kept[0], rtol, usual)
        if "solver" in choices or not options.chosen.stores_entries:
            return options
        if options.keep_on_device and "keep_on_device" not in choices:
            device = Execution.of(options.backend, options.precision, mixed=True).device
            options = replace(options, keep_on_device=isinstance(device, LinearAlgebra))
        return replace(options, solver="lu")

    def _preconditioned(self, options: SolveOptions) -> SolveOptions:
        """The options with an operator instead of the name of a preconditioner, where it is one of entries or the
        problem's own."""
        if not options.preconditioned_by("near") or options.solver == "lu":
            return options
        require(options.method, "preconditioner='near'")
        return replace(options, preconditioner=near_preconditioner(self.system))

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


def monostatic_sweep(
    system: LinearSystem,
    number: int,
    waves: Callable[[slice], tuple[NDArray[Any], NDArray[Any]]],
    options: SolveOptions,
    directions: tuple[NDArray[Any], ...],
    file: str | os.PathLike[str] | None,
) -> tuple[NDArray[np.complex128], SolutionInfo | None]:
    """The echoes l . x (number,) of all directions, and the record with the largest residual, None without directions.

    waves: right-hand sides and receivers l (n, m) of a slice of the directions, which are in memory for one slice at a
    time. Without factors all are solved together, compressed to a part of the tolerance. directions: what waves are
    made of. file: in which the solution is saved, and what there is of it before; ValueError with factors.
    """
    slices = [slice(n, n + DIRECTIONS_AT_ONCE) for n in range(0, number, DIRECTIONS_AT_ONCE)]
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
        sides = CompressedSides(COMPRESSION * options.rtol)
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
