"""The algebra of boundary operators as lazy values: nothing is computed before `assemble` or `entries`."""

import os
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from numbers import Complex, Number
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.backends import Execution, real_type
from calderon.operators.methods import AUTO, Plan, candidates, fastest, method_named
from calderon.operators.tree import ArrayPlace, Products, Term, fill, terms_of
from calderon.solvers import sparse_inverse
from calderon.spaces import numbering
from calderon.validation import as_complex, describe, index_array

Index = NDArray[np.int64]
Sliced = tuple[Any, tuple[int, int] | None]
"""Something with a Green's function; the shape of the matrix of which some rows are computed at a time, or None."""


class BoundaryOperator(ABC):
    """A bilinear form <phi_i, A psi_j> of trial functions psi and test functions phi; matrix (test, trial).

    Algebra: sums, products with numbers, `A @ B` = A M^-1 B with the mass matrix between the test space of B and the
    trial space of A, `.T` and `.H`. trial and test are spaces of scalars (Space) or of tangential fields (VectorSpace).
    """

    trial: Any
    test: Any
    __array_ufunc__ = None  # NumPy's arrays leave products with them to the operator

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
    def is_symmetric(self) -> bool:
        """Whether the matrix equals its transposed and `add_half_to` computes half of it."""
        return False

    is_leaf: ClassVar[bool] = False
    """Whether the matrix comes from one integral or is sparse, and not from other operators."""
    is_elastic: ClassVar[bool] = False
    """Whether it is a layer of elastostatics."""
    is_layered: ClassVar[bool] = False
    """Whether it is the field of currents between planar layers."""
    is_local: ClassVar[bool] = False
    """Whether the matrix is sparse: its `add_to` can transpose it."""
    fills: ClassVar[bool] = False
    """Whether `fill_to` puts the matrix into a place that is zero, with less memory than `add_to` elsewhere."""

    def terms(self) -> list[Term]:
        """The operator as a list of terms (tree.py): a single term, if it is an atom."""
        return [Term(1.0, self)]

    def integrals(self) -> Iterator[Sliced]:
        """The parts of an atom that have a Green's function; see `Sliced`."""
        return iter(())

    def value(self, products: Products) -> Any:
        """The products of an atom, a LinearOperator or a sparse matrix."""
        raise NotImplementedError

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        """place += factor * matrix[rows][:, columns] of an atom."""
        raise NotImplementedError

    def dtype(self, precision: str = "double") -> np.dtype[Any]:
        """The NumPy type of the matrix in that precision."""
        return Execution(real_type(precision, mixed=True)).dtype(self.is_complex)

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
        fast = isinstance(method, str) and method == AUTO
        chosen = method_named(fastest(self, rtol, backend, precision=precision)[0] if fast else method)
        rtol = rtol if chosen.compresses or not fast else None
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
        chosen = method_named(fastest(self, rtol, precision=precision)[0] if method == AUTO else method)
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
        end, by slices, or by masks of truth values. Raises IndexError outside, TypeError for fractions and the like.
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

    def __add__(self, other: "BoundaryOperator") -> "BoundaryOperator":
        return Sum.of([(1.0, self), (1.0, other)])

    def __radd__(self, other: Any) -> "BoundaryOperator":
        """Only the number 0, from which sum() starts, is added from the left."""
        return self if isinstance(other, Number) and other == 0 else self + other  # type: ignore[operator]

    def __sub__(self, other: "BoundaryOperator") -> "BoundaryOperator":
        return Sum.of([(1.0, self), (-1.0, other)])

    def __mul__(self, factor: complex) -> "BoundaryOperator":
        return Sum.of([(checked_factor(factor), self)])

    __rmul__ = __mul__

    def __truediv__(self, divisor: complex) -> "BoundaryOperator":
        return self * (1 / checked_factor(divisor))

    def __neg__(self) -> "BoundaryOperator":
        return self * -1.0

    def __matmul__(self, other: "BoundaryOperator") -> "BoundaryOperator":
        advice = "A.assemble() @ x multiplies vectors and matrices"
        return Product(self, checked_operator(other, "@ composes operators that are not assembled", advice))

    @property
    def T(self) -> "BoundaryOperator":
        """The transposed form: test and trial exchanged."""
        return Transposed(self, conjugate=False)

    @property
    def H(self) -> "BoundaryOperator":
        """The adjoint form: transposed and conjugated."""
        return Transposed(self, conjugate=True)


class Expression(BoundaryOperator):
    """An operator made of others, which give it its spaces."""

    @property
    @abstractmethod
    def spaces(self) -> tuple[Any, Any]:
        """The trial and the test space."""

    @property
    def trial(self) -> Any:  # type: ignore[override]
        return self.spaces[0]

    @property
    def test(self) -> Any:  # type: ignore[override]
        return self.spaces[1]

    @property
    def is_complex(self) -> bool:
        return any(term.atom.is_complex or complex(term.factor).imag != 0 for term in self.terms())


@dataclass(frozen=True, eq=False)
class Sum(Expression):
    """A linear combination of operators with the same spaces."""

    parts: tuple[tuple[complex, BoundaryOperator], ...]

    @staticmethod
    def of(parts: list[tuple[complex, BoundaryOperator]]) -> "Sum":
        """Flattened; ValueError when the spaces differ. Dual tests stand for the functions whose numbers they have."""
        flat: list[tuple[complex, BoundaryOperator]] = []
        for factor, part in parts:
            advice = "a number c stands for c * identity(space)"
            checked_operator(part, "only boundary operators can be added to one", advice)
            summands = part.parts if isinstance(part, Sum) else ((1.0, part),)
            flat += [(checked_factor(factor * each), operator) for each, operator in summands]
        first = flat[0][1]
        for _, part in flat[1:]:
            if part.trial != first.trial or numbering(part.test) != numbering(first.test):
                raise ValueError(
                    f"cannot add {part!r} to {first!r}: both need the same trial and test space, on one mesh object"
                )
        return Sum(tuple(flat))

    def terms(self) -> list[Term]:
        return [term.times(factor) for factor, part in self.parts for term in part.terms()]

    @property
    def spaces(self) -> tuple[Any, Any]:
        return self.parts[0][1].trial, self.parts[0][1].test

    def __repr__(self) -> str:
        return " + ".join(f"({factor:.4g}) {part!r}" for factor, part in self.parts)


@dataclass(frozen=True, eq=False)
class Transposed(Expression):
    """The transposed or adjoint of a form."""

    operator: BoundaryOperator
    conjugate: bool

    @property
    def spaces(self) -> tuple[Any, Any]:
        return self.operator.test, self.operator.trial

    def __repr__(self) -> str:
        return f"{'adjoint' if self.conjugate else 'transposed'} of ({self.operator!r})"

    def terms(self) -> list[Term]:
        return [term.exchanged(self.conjugate) for term in self.operator.terms()]


@dataclass(frozen=True, eq=False)
class Product(Expression):
    """A @ B = A M^-1 B: the Galerkin matrix of the composed operator, M pairing B's test with A's trial functions."""

    left: BoundaryOperator
    right: BoundaryOperator

    def __post_init__(self) -> None:
        middle = ([(s.dimension, s.mesh) for s in spaces_of(each)] for each in (self.left.trial, self.right.test))
        if next(middle) != next(middle):
            raise ValueError(
                f"cannot compose {self.left!r} with {self.right!r}: the test space of the right one "
                "must pair with the trial space of the left one (same mesh, same dimension)"
            )

    @property
    def spaces(self) -> tuple[Any, Any]:
        return self.right.trial, self.left.test

    def __repr__(self) -> str:
        return f"({self.left!r}) @ ({self.right!r})"

    @property
    def is_complex(self) -> bool:
        return self.left.is_complex or self.right.is_complex

    def middle_inverse(self) -> LinearOperator:
        """M^-1 by sparse LU factors; ValueError where M is singular."""
        left, right = self.left.trial, self.right.test
        try:
            return sparse_inverse(left.mass_matrix(right))
        except np.linalg.LinAlgError:
            raise ValueError(
                f"cannot compose {self.left!r} with {self.right!r}: their middle spaces {left.name} and {right.name}, "
                f"both of dimension {left.dimension}, do not pair, since the matrix of their products is singular: "
                "take one space for both, or functions on the same triangles"
            ) from None

    @property
    def key(self) -> Hashable:
        return Product, expression_key(self.left), expression_key(self.right)

    def integrals(self) -> Iterator[Sliced]:
        return (each for part in (self.left, self.right) for each in integrals_of(part))

    def value(self, products: Products) -> Any:
        return products.of(self.left) @ self.middle_inverse() @ products.of(self.right)

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        execution = place.execution

        def full(operator: BoundaryOperator, kept_rows: Index | None, kept_columns: Index | None) -> NDArray[Any]:
            height = operator.shape[0] if kept_rows is None else len(kept_rows)
            width = operator.shape[1] if kept_columns is None else len(kept_columns)
            block = np.zeros((height, width), dtype=execution.dtype(operator.is_complex))
            fill(ArrayPlace(block, execution), operator, kept_rows, kept_columns)
            return block

        solved = self.middle_inverse().matmat(full(self.right, None, columns))
        product = full(self.left, rows, None) @ solved
        with place.on_host(repr(self)) as out:
            out += (factor * product).astype(out.dtype)


@dataclass(frozen=True, eq=False)
class Scaled(Expression):
    """A diag(s): the operator A applied to s u for u = sum_j x_j psi_j and a function s with values s_j at the nodes,
    up to the interpolation of s u by the functions psi_j.

    factors: (trial.dimension,) the values s_j.
    """

    operator: BoundaryOperator
    factors: NDArray[Any]

    fills: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.factors.shape != (self.operator.shape[1],):
            raise ValueError(f"{self.operator!r} needs {self.operator.shape[1]} factors, got {self.factors.shape}")

    @property
    def spaces(self) -> tuple[Any, Any]:
        return self.operator.trial, self.operator.test

    def __repr__(self) -> str:
        return f"({self.operator!r}) after a multiplication"

    @property
    def is_complex(self) -> bool:
        return self.operator.is_complex or np.iscomplexobj(self.factors)

    def integrals(self) -> Iterator[Sliced]:
        return integrals_of(self.operator)

    def value(self, products: Products) -> Any:
        return products.of(self.operator) @ aslinearoperator(sp.diags_array(self.factors).tocsr())

    def fill_to(self, place: Any, factor: complex) -> None:
        """place = factor * matrix, where it is zero: A is scaled where it stands."""
        fill(place, self.operator)
        place.scale_columns(self.factors if factor == 1 else factor * self.factors)

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        other = place.temporary([(place.shape, self.is_complex)])(place.shape, self.is_complex)
        fill(other, self.operator, rows, columns)
        other.scale_columns(self.factors if columns is None else self.factors[columns])
        place.add(other, factor, False, False)


def checked_operator(given: Any, what: str, advice: str) -> BoundaryOperator:
    """TypeError, which begins with `what` and ends with `advice`, for anything but an operator."""
    if not isinstance(given, BoundaryOperator):
        raise TypeError(f"{what}, got {describe(given)}: {advice}")
    return given


def checked_factor(factor: Any) -> complex:
    """A finite number; TypeError or ValueError for anything else."""
    if not isinstance(factor, Complex) or isinstance(factor, bool):
        raise TypeError(
            f"an operator is multiplied by numbers, got {describe(factor)}: A @ B composes operators, and "
            "A.assemble() @ x multiplies a vector"
        )
    if not np.isfinite(as_complex(factor, "the factor of an operator")):
        raise ValueError(f"the factor of an operator must be finite, got {factor!r}")
    return factor  # type: ignore[return-value]


def short_label(operator: BoundaryOperator) -> str:
    """The formula of an operator in at most 100 characters."""
    label = repr(operator)
    return label if len(label) < 100 else label[:97] + "..."


def with_spaces(what: str, operator: BoundaryOperator) -> str:
    """A description of an operator, `what`, with its spaces and its size."""
    trial, test = operator.trial, operator.test
    spaces = trial.name if trial is test else f"{trial.name} to {test.name}"
    return f"{what}, {spaces}, {operator.shape[0]} x {operator.shape[1]}"


def expression_key(operator: BoundaryOperator) -> Hashable:
    """A value that expressions with the same matrix share, as far as that is known."""
    return tuple((term.atom.key, *term[2:], complex(term.factor)) for term in terms_of(operator))


def integrals_of(operator: BoundaryOperator) -> Iterator[Sliced]:
    """The parts of an expression that have a Green's function."""
    return (each for term in terms_of(operator) for each in term.atom.integrals())


def spaces_of(space: Any) -> tuple[Any, ...]:
    """The spaces of the blocks on one side of an operator: one, unless it is made of blocks."""
    return space.spaces if hasattr(space, "spaces") else (space,)
