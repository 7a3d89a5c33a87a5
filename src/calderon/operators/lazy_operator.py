"""The interface of lazy operators before their algebra: state atoms, assemble, plan, give entries."""

import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from numbers import Complex
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import Execution, real_type
from calderon.operators.methods import AUTO, Plan, candidates, fastest, resolved
from calderon.operators.products import Products
from calderon.operators.tree import ArrayPlace, Index, Term, fill, integrals_of
from calderon.validation import as_complex, describe, index_array


class LazyOperator(ABC):
    """A matrix (test.dimension, trial.dimension) that is described, and computed when `assemble` or `entries` ask.

    trial, test: the spaces of its columns and rows.
    """

    trial: Any
    test: Any

    @property
    def shape(self) -> tuple[int, int]:
        """(test.dimension, trial.dimension)."""
        return self.test.dimension, self.trial.dimension

    @property
    @abstractmethod
    def is_complex(self) -> bool: ...

    @property
    def key(self) -> Hashable:
        """A value that operators with the same matrix share, as far as that is known."""
        return id(self)

    @property
    def signature(self) -> str:
        """The text by which files tell an atom from others; meshes, spaces and Green's functions are compared apart."""
        return repr(self)

    @property
    def is_symmetric(self) -> bool:
        """Whether the matrix equals its transposed and `add_half_to` computes half of it."""
        return False

    is_leaf: ClassVar[bool] = False
    """Whether the matrix comes from one integral or is sparse, and not from other operators."""
    is_elastic: ClassVar[bool] = False
    """Whether it is a layer of elastostatics."""
    is_own: ClassVar[bool] = False
    """Whether it is a form of a user, of which multipoles know no expansion."""
    is_layered: ClassVar[bool] = False
    """Whether it is the field of currents between planar layers."""
    is_transformed: ClassVar[bool] = False
    """Whether sparse factors stand around an expression, which may make differences of functions."""
    is_local: ClassVar[bool] = False
    """Whether the matrix is sparse: its `add_to` can transpose and conjugate it."""
    fills: ClassVar[bool] = False
    """Whether `fill_to` puts the matrix into a place that is zero, with less memory than `add_to` elsewhere."""

    def terms(self) -> list[Term]:
        """The terms of the operator (tree.py): a single one, if it is an atom."""
        return [Term(1.0, self)]

    @property
    def expressions(self) -> tuple[Any, ...]:
        """The expressions that an atom is made of; none of an integral or of a given matrix."""
        return ()

    def integrals(self) -> Iterator[Any]:
        """The integral operators in an atom, which have a Green's function."""
        return (each for part in self.expressions for each in integrals_of(part))

    @property
    def held_bytes(self) -> int:
        """Bytes of the entries that an atom holds next to its place while it is added to a dense matrix."""
        return max((term.atom.held_bytes for part in self.expressions for term in part.terms()), default=0)

    @property
    def given_bytes(self) -> int:
        """Bytes of the sparse matrices and arrays that an atom is made of, and that its products keep."""
        atoms = {term.atom.key: term.atom for part in self.expressions for term in part.terms()}
        return sum(atom.given_bytes for atom in atoms.values())

    def joined(self, factor: complex, other: Any, other_factor: complex) -> Any:
        """One atom with the matrix factor * this + other_factor * other, or None where there is none."""
        return None

    def value(self, products: Products) -> Any:
        """The products of an atom, a LinearOperator or a sparse matrix."""
        raise NotImplementedError

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        """place += factor * matrix[rows][:, columns] of an atom."""
        raise NotImplementedError

    def dtype(self, precision: str = "double") -> np.dtype[Any]:
        """The NumPy type of the matrix in that precision."""
        return Execution(real_type(precision, mixed=True)).dtype(self.is_complex)

    def require_method(self, name: Any, backend: str = "numba") -> None:  # noqa: B027
        """ValueError for a method that cannot assemble the operator, and for one that "auto" does not stand for on a
        backend other than "numba"; here for none. "auto" is accepted."""

    def assemble(
        self,
        method: str = "dense",
        *,
        backend: str = "numba",
        precision: str = "double",
        rtol: float | None = None,
        progress: bool | None = None,
        keep_on_device: bool = False,
        matrix_file: str | os.PathLike[str] | None = None,
        spacing: float | None = None,
        order: int | None = None,
        near: float | None = None,
    ) -> Any:
        """Compute the matrix: a SciPy LinearOperator that prints what it is.

        method: "dense", "hmatrix", "fmm" (Laplace and elastostatics), "mlfmm" (acoustic and electromagnetic waves),
        "matrix-free", or "auto", the one that `plan` gives, of those that run on the backend. backend: "numba",
        "opencl", "cuda", a device such as "cuda:1", several that share a matrix, "numba+cuda:0", or "auto".
        precision: "double", "single", or "mixed": a dense matrix in double whose touching and near pairs are integrated
        in double, all others in single. rtol: accuracy of compressed methods. progress: show a bar. keep_on_device:
        leave a dense matrix on its device, where `gmres` and `lu` then work.
        matrix_file: an HDF5 file that an H-matrix, or the near blocks of "mlfmm", are saved to, and taken from if they
            are there.
        spacing, order, near: of method "fft" (planar metal in layers): spacing of the grid in m (default 1/16 of the
            shortest wavelength), degree of interpolation (3), and distance in m up to which pairs are exact (6
            spacings).
        Raises ValueError for an unknown choice and for entries beyond the range of the precision, RuntimeError for a
        backend that is not available, MemoryError (before allocating) when the matrix does not fit.
        """
        self.require_method(method)
        choice = resolved(method, lambda: fastest(self, rtol, backend, precision))
        chosen = choice.method
        rtol = rtol if chosen.compresses or not choice.automatic else None
        options = chosen.options(
            rtol=rtol, keep_on_device=keep_on_device, matrix_file=matrix_file, spacing=spacing, order=order, near=near
        )
        Execution.of(backend, precision, several=chosen.several, mixed=chosen.mixed)  # refuses what is not supported
        return chosen.build(self, backend=backend, precision=precision, progress=progress, **options)

    def plan(self, method: str = AUTO, rtol: float | None = None, precision: str = "double") -> Plan:
        """Estimate of the cost of `assemble` before it is begun: bytes, seconds of set-up and of a product, for "fmm"
        and "mlfmm" levels and orders. method: "auto" is the one with the least seconds for its set-up and 30 products,
        of those that there is memory for. ValueError for a method without estimates, or that does not support the
        operator, MemoryError for "auto" where there is room for none.
        """
        self.require_method(method)
        chosen = resolved(method, lambda: fastest(self, rtol, precision=precision)).method
        if chosen.plan is None:
            able = ", ".join(repr(each.name) for each in candidates(AUTO) if each.plan is not None)
            raise ValueError(f"method {method!r} has no estimates: choose {able} or 'auto'")
        Execution.of("numba", precision, mixed=chosen.mixed)  # refuses what is not supported
        return chosen.plan(self, rtol, precision)

    def entries(
        self,
        rows: ArrayLike | slice,
        columns: ArrayLike | slice,
        precision: str = "double",
        backend: str = "numba",
    ) -> NDArray[Any]:
        """The entries in the given rows and columns, shape (rows, columns), without the rest.

        Rows and columns are chosen as those of a NumPy array: by lists of numbers in any order, negative ones from the
        end, by slices, or by masks of truth values. Raises IndexError outside, TypeError for
        numbers that are not whole, and for text.
        """
        row_ids, row_places = index_array(rows, self.shape[0], "row")
        column_ids, column_places = index_array(columns, self.shape[1], "column")
        out = np.zeros((len(row_ids), len(column_ids)), dtype=self.dtype(precision))
        execution = Execution.of(backend, precision, mixed=True)
        if out.size:
            fill(ArrayPlace(out, execution), self, row_ids, column_ids)
        for axis, places in enumerate((row_places, column_places)):
            if not np.array_equal(places, np.arange(out.shape[axis])):  # else a copy of all
                out = out.take(places, axis)
        return out

    def split(self, vector: NDArray[Any]) -> list[NDArray[Any]]:
        """Cut a solution (columns' dimension, ...) into one piece per trial space: one, unless there are blocks."""
        sizes = [space.dimension for space in spaces_of(self.trial)]
        return np.split(vector, np.cumsum(sizes)[:-1])


def spaces_of(space: Any) -> tuple[Any, ...]:
    """The spaces of the blocks on one side of an operator: one, unless it is made of blocks."""
    return space.spaces if hasattr(space, "spaces") else (space,)


def short_label(operator: LazyOperator) -> str:
    """The formula of an operator in at most 100 characters."""
    label = repr(operator)
    return label if len(label) < 100 else label[:97] + "..."


def with_spaces(what: str, operator: LazyOperator) -> str:
    """A description of an operator, `what`, with its spaces and its size."""
    trial, test = operator.trial, operator.test
    spaces = trial.name if trial is test else f"{trial.name} to {test.name}"
    return f"{what}, {spaces}, {operator.shape[0]} x {operator.shape[1]}"


def checked_operator(given: Any, what: str, advice: str) -> Any:
    """TypeError, which begins with `what` and ends with `advice`, for anything but an operator."""
    if not isinstance(given, LazyOperator):
        raise TypeError(f"{what}, got {describe(given)}: {advice}")
    return given


def checked_factor(factor: Any) -> complex:
    """A finite number in double precision, whatever NumPy type it has; TypeError or ValueError for anything else."""
    if not isinstance(factor, Complex) or isinstance(factor, bool):
        raise TypeError(
            f"an operator is multiplied by numbers, got {describe(factor)}: A @ B composes operators, S @ A is "
            "for sparse matrices, and A.assemble() @ x multiplies a vector"
        )
    number = as_complex(factor, "the factor of an operator")
    if not np.isfinite(number):
        raise ValueError(f"the factor of an operator must be finite, got {factor!r}")
    return number if number.imag else number.real
