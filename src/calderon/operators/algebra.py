"""The algebra of boundary operators as lazy values: nothing is computed before `assemble` or `entries`."""

import math
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Number
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.operators.lazy_operator import LazyOperator, checked_factor, checked_operator, spaces_of, with_spaces
from calderon.operators.products import Products, SandwichProduct
from calderon.operators.sandwich import add_transformed, add_whole, held_entries
from calderon.operators.sparse_factors import (
    SparseFactors,
    add_sparse,
    agree,
    boxes_of,
    checked_factors,
    checked_side,
    common_space,
    matrices_of,
    pairing,
    sparse_bytes,
    unknowns_of,
)
from calderon.operators.tree import (
    Index,
    Term,
    entries_of,
    expression_key,
    expression_signature,
    fill,
    integrals_of,
    local_matrix,
)
from calderon.solvers import sparse_inverse
from calderon.spaces import numbering
from calderon.validation import inverse

COMPOSES = "@ composes operators that are not assembled, and takes sparse matrices of SciPy as factors"
MULTIPLIES = (
    "A.assemble() @ x multiplies vectors and matrices, and cal.transformed(A, right=X) is the operator A X of an array"
)


class BoundaryOperator(LazyOperator):
    """A bilinear form <phi_i, A psi_j> of trial functions psi and test functions phi; matrix (test, trial).

    Algebra: sums, products with numbers, `A @ B` = A M^-1 B with the mass matrix between the test space of B and the
    trial space of A, `S @ A`, `A @ S`, `A + S` and `S - A` with sparse matrices S of SciPy, `.T` and `.H`. trial and
    test are spaces of scalars (Space), of tangential fields (VectorSpace), of finite elements (VolumeSpace), or
    unknowns that are combinations of functions (Unknowns).
    """

    __array_ufunc__ = None  # NumPy's arrays leave products with them to the operator

    def __add__(self, other: Any) -> "BoundaryOperator":
        return Sum.of([(1.0, self), (1.0, other)])

    def __radd__(self, other: Any) -> "BoundaryOperator":
        """Only the number 0, from which sum() starts, is added from the left."""
        return self if isinstance(other, Number) and not other else self + other

    def __sub__(self, other: Any) -> "BoundaryOperator":
        return Sum.of([(1.0, self), (-1.0, other)])

    def __rsub__(self, other: Any) -> "BoundaryOperator":
        return -self + other

    def __mul__(self, factor: complex) -> "BoundaryOperator":
        return Sum.of([(checked_factor(factor), self)])

    __rmul__ = __mul__

    def __truediv__(self, divisor: complex) -> "BoundaryOperator":
        return self * inverse(checked_factor(divisor), "the divisor of an operator")

    def __neg__(self) -> "BoundaryOperator":
        return self * -1.0

    def __matmul__(self, other: Any) -> "BoundaryOperator":
        if sp.issparse(other):
            return self.with_factors(right=other)
        return Product(self, checked_operator(other, COMPOSES, MULTIPLIES))

    def __rmatmul__(self, other: Any) -> "BoundaryOperator":
        """S @ A with a sparse matrix; arrays and SciPy's operators, which multiply numbers, are refused."""
        if sp.issparse(other):
            return self.with_factors(left=other.T)
        return Product(checked_operator(other, COMPOSES, MULTIPLIES), self)

    def with_factors(self, left: Any = None, right: Any = None) -> "BoundaryOperator":
        """L^T A R with sparse matrices of SciPy, None for the identity; see `transformed`."""
        rows, columns = self.shape
        return self.between(
            checked_side("left", left, rows, f"rows of A = {self!r}"),
            checked_side("right", right, columns, f"columns of A = {self!r}"),
        )

    def between(self, left: SparseFactors | None, right: SparseFactors | None) -> "BoundaryOperator":
        """L^T A R with sparse matrices; see `transformed`."""
        if left is None and right is None:
            return self
        spaces = unknowns_of(self.trial, right), unknowns_of(self.test, left)
        if all(term.atom.is_local for term in self.terms()):
            return SparseOperator("a sparse operator", local_matrix(self), self.trial, self.test).between(left, right)
        return TransformedOperator(self, left, right, spaces)

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
    def trial(self) -> Any:
        return self.spaces[0]

    @property
    def test(self) -> Any:
        return self.spaces[1]

    @property
    def is_complex(self) -> bool:
        return any(term.atom.is_complex or complex(term.factor).imag != 0 for term in self.terms())


@dataclass(frozen=True, eq=False)
class Sum(Expression):
    """A linear combination of operators with the same spaces."""

    parts: tuple[tuple[complex, BoundaryOperator], ...]

    @staticmethod
    def of(parts: list[tuple[complex, Any]]) -> "Sum":
        """Flattened; ValueError when the spaces differ. Dual tests stand for the functions whose numbers they have,
        sparse matrices of SciPy for operators between the spaces of the first part."""
        flat: list[tuple[complex, BoundaryOperator]] = []
        for factor, part in parts:
            if sp.issparse(part) and flat:
                part = SparseOperator.given(part, flat[0][1].trial, flat[0][1].test)
            advice = "a number c stands for c * identity(space), and blocks([[X]]) for an array X"
            checked_operator(part, "only boundary operators and sparse matrices can be added to one", advice)
            summands = part.parts if isinstance(part, Sum) else ((1.0, part),)
            flat += [(checked_factor(factor * each), operator) for each, operator in summands]
        first = flat[0][1]
        for _, part in flat[1:]:
            if not (agree(part.trial, first.trial) and agree(numbering(part.test), numbering(first.test))):
                raise ValueError(
                    f"cannot add {part!r} to {first!r}: both need the same trial and test space, on one mesh object, "
                    "or as many unknowns where these are combinations of functions"
                )
        return Sum(tuple(flat))

    def terms(self) -> list[Term]:
        return [term.times(factor) for factor, part in self.parts for term in part.terms()]

    @cached_property
    def spaces(self) -> tuple[Any, Any]:
        """Trial and test space of the first part, but functions rather than combinations of others."""
        operators = [each for _, each in self.parts]
        return common_space([each.trial for each in operators]), common_space([each.test for each in operators])

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
            return sparse_inverse(pairing(left, right))
        except np.linalg.LinAlgError:
            raise ValueError(
                f"cannot compose {self.left!r} with {self.right!r}: their middle spaces {left.name} and {right.name}, "
                f"both of dimension {left.dimension}, do not pair, since the matrix of their products is singular: "
                "take one space for both, or functions on the same triangles"
            ) from None

    @property
    def key(self) -> Hashable:
        return Product, expression_key(self.left), expression_key(self.right)

    @property
    def expressions(self) -> tuple[BoundaryOperator, ...]:
        return self.left, self.right

    def value(self, products: Products) -> Any:
        return products.of(self.left) @ self.middle_inverse() @ products.of(self.right)

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        solved = self.middle_inverse().matmat(entries_of(self.right, place.execution, None, columns))
        product = entries_of(self.left, place.execution, rows, None) @ solved
        with place.on_host(repr(self)) as out:
            out += (factor * product).astype(out.dtype)


@dataclass(frozen=True, eq=False)
class TransformedOperator(Expression):
    """sum_d factors[d] L_d^T A R_d with sparse matrices around an expression A.

    inner: A. left, right: the L_d (rows of A, rows), R_d (columns of A, columns); None is the identity. functions:
    the trial and the test space. name: what the operator is, "" where the matrices were given. by_rows: a dense matrix
    is made with some rows of A at a time, as the functions of A are finer than those of the result; else A is computed
    whole before it is multiplied, symmetric matrices by half.
    """

    inner: BoundaryOperator
    left: SparseFactors | None
    right: SparseFactors | None
    functions: tuple[Any, Any]
    factors: tuple[complex, ...] = (1.0,)
    name: str = ""
    by_rows: bool = False

    @property
    def spaces(self) -> tuple[Any, Any]:
        return self.functions

    def __repr__(self) -> str:
        if self.name:
            return with_spaces(f"{self.name} of {next(iter(integrals_of(self.inner))).green}", self)
        return f"sparse factors around ({self.inner!r}), {self.shape[0]} x {self.shape[1]}"

    @property
    def is_complex(self) -> bool:
        sides = [each.is_complex for each in (self.left, self.right) if each is not None]
        return self.inner.is_complex or any(sides) or np.iscomplexobj(np.array(self.factors))

    @property
    def key(self) -> tuple[Any, ...]:
        sides = (None if each is None else each.key for each in (self.left, self.right))
        return TransformedOperator, expression_key(self.inner), *sides, self.factors, self.by_rows

    @property
    def signature(self) -> str:
        if self.name:
            return repr(self)
        sides = ["" if each is None else each.signature for each in (self.left, self.right)]
        return f"{sides} {self.factors} {self.shape} around {expression_signature(self.inner)}"

    @property
    def expressions(self) -> tuple[BoundaryOperator, ...]:
        return (self.inner,)

    @property
    def held_bytes(self) -> int:
        held = held_entries(self.inner, self.by_rows, math.prod(self.shape))
        return held if self.by_rows else held + super().held_bytes

    @property
    def given_bytes(self) -> int:
        sides = (side.given_bytes for side in (self.left, self.right) if side is not None)
        return super().given_bytes + sum(sides)

    @cached_property
    def scales(self) -> NDArray[Any] | None:
        """(columns,) the numbers that columns of A are multiplied by, where that is all: A diag(s)."""
        alone = self.left is None and self.factors == (1.0,) and self.right is not None
        return self.right.diagonal if alone else None  # type: ignore[union-attr]

    @property
    def is_transformed(self) -> bool:  # type: ignore[override]
        return self.scales is None

    @property
    def fills(self) -> bool:  # type: ignore[override]
        return self.scales is not None

    def value(self, products: Products) -> Any:
        sides = (None if each is None else each.build() for each in (self.left, self.right))
        return SandwichProduct(products.of(self.inner), list(self.factors), *sides)

    def fill_to(self, place: Any, factor: complex) -> None:
        """place = factor * matrix, where it is zero: A is scaled where it stands."""
        fill(place, self.inner)
        place.scale_columns(self.scales if factor == 1 or self.scales is None else factor * self.scales)

    def add_to(self, place: Any, factor: complex, rows: Index | None, columns: Index | None) -> None:
        if self.scales is not None:
            other = place.temporary([(place.shape, self.is_complex)])(place.shape, self.is_complex)
            fill(other, self.inner, rows, columns)
            other.scale_columns(self.scales if columns is None else self.scales[columns])
            place.add(other, factor, False, False)
            return
        left, right = (
            [each if chosen is None else each[:, chosen].tocsr() for each in matrices_of(side, size)]
            for side, size, chosen in zip((self.left, self.right), self.inner.shape, (rows, columns), strict=True)
        )
        with place.on_host(repr(self)) as out:
            scales = [factor * each if out.dtype.kind == "c" else complex(factor * each).real for each in self.factors]
            given = out, scales, left, right
            if not self.by_rows and rows is None and columns is None:
                add_whole(*given, self.inner, place.execution, place.advance)
                return
            inner, kind = partial(entries_of, self.inner, place.execution), place.execution.dtype(self.inner.is_complex)
            add_transformed(*given, inner, boxes_of(self.inner.test).mean(axis=1), kind, place.advance)

    def between(self, left: SparseFactors | None, right: SparseFactors | None) -> BoundaryOperator:
        if self.name or len(self.factors) > 1:
            return super().between(left, right)
        sides = [new if new is None else new.after(old) for new, old in ((left, self.left), (right, self.right))]
        kept = [old if new is None else new for new, old in zip(sides, (self.left, self.right), strict=True)]
        found = self.inner.between(*kept)
        return found if self.factors[0] == 1 else found * self.factors[0]

    def joined(self, factor: complex, other: Any, other_factor: complex) -> "BoundaryOperator | None":
        """Where both have the same matrices around them, these around the sum; where both have the same operator in
        between, all matrices around that."""
        if not isinstance(other.key, tuple) or other.key[0] is not TransformedOperator:
            return None
        (_, inner, *sides), (_, its_inner, *its_sides) = self.key, other.key
        if sides == its_sides:
            known = agree(self.inner.trial, other.inner.trial)
            if known and agree(numbering(self.inner.test), numbering(other.inner.test)):
                return replace(self, inner=Sum.of([(factor, self.inner), (other_factor, other.inner)]))
        if inner != its_inner or self.by_rows != other.by_rows or None in sides or None in its_sides:
            return None
        factors = [*(factor * each for each in self.factors), *(other_factor * each for each in other.factors)]
        left, right = self.left.extended(other.left), self.right.extended(other.right)  # type: ignore[union-attr]
        return replace(self, left=left, right=right, factors=tuple(factors))


@dataclass(frozen=True, eq=False)
class SparseOperator(BoundaryOperator):
    """A local form (identity, Laplace-Beltrami), or a matrix that was given, by its sparse matrix.

    digest: that of a matrix that was given; "" where name and spaces tell which one it is.
    """

    name: str
    matrix: sp.csr_array
    trial: Any
    test: Any
    digest: str = ""

    is_leaf: ClassVar[bool] = True
    is_local: ClassVar[bool] = True

    @classmethod
    def given(cls, matrix: Any, trial: Any, test: Any, what: str = "a sum") -> "SparseOperator":
        """A copy of a sparse matrix, or array, as an operator between spaces; ValueError where it does not fit."""
        checked = checked_factors(matrix, what)
        if checked.shape != (test.dimension, trial.dimension):
            raise ValueError(
                f"{what}: the sparse matrix is {checked.shape[0]} x {checked.shape[1]}, and {test.dimension} x "
                f"{trial.dimension} are needed, from {trial.name} to {test.name}"
            )
        return cls("sparse matrix", checked, trial, test, str(SparseFactors.of(checked).key))

    def __repr__(self) -> str:
        return f"{self.name}, {self.trial.name} to {self.test.name}, {self.shape[0]} x {self.shape[1]}"

    @property
    def signature(self) -> str:
        return f"{self!r} {self.digest}" if self.digest else repr(self)

    @property
    def is_complex(self) -> bool:
        return self.matrix.dtype.kind == "c"

    @property
    def given_bytes(self) -> int:
        return sparse_bytes(self.matrix) if self.digest else 0  # those of the package are small, as identities are

    def value(self, products: Products) -> Any:
        return self.matrix

    def between(self, left: SparseFactors | None, right: SparseFactors | None) -> BoundaryOperator:
        one, other = (matrices_of(side, size)[0] for side, size in zip((left, right), self.shape, strict=True))
        matrix = checked_factors((one.T @ self.matrix @ other).tocsr(), f"sparse factors around {self.name}")
        name = self.name if self.digest else f"sparse factors around {self.name}"
        spaces = unknowns_of(self.trial, right), unknowns_of(self.test, left)
        return SparseOperator(name, matrix, *spaces, str(SparseFactors.of(matrix).key))

    def add_to(
        self, place: Any, factor: complex, rows: Index | None, columns: Index | None,
        transposed: bool = False, conjugated: bool = False,
    ) -> None:  # fmt: skip
        """place += factor * matrix[rows][:, columns], or the same of the transposed or conjugated matrix."""
        matrix = self.matrix.T.tocsr() if transposed else self.matrix
        matrix = matrix.conj() if conjugated else matrix
        matrix = matrix if rows is None else matrix[rows]
        add_sparse(place, matrix if columns is None else matrix[:, columns], factor, self.name)
