"""Boundary operators as lazy values: nothing is computed before `assemble` or `entries`."""

import os
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import splu

from calderon.backends import Computing, computing, entry_type
from calderon.galerkin.assembly import add_block
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.limits import checked_range
from calderon.galerkin.symmetry import symmetrise
from calderon.greens import Green
from calderon.greens.green import checked_quadrature
from calderon.integrands import ADJOINT_DOUBLE_LAYER, DOUBLE_LAYER, HYPERSINGULAR, SINGLE_LAYER, Integrand
from calderon.mesh.errors import AccuracyWarning, callers_level
from calderon.operators.checks import checked_factor, checked_spaces
from calderon.operators.methods import builder_for, special_options
from calderon.operators.transformed import add_transformed
from calderon.quadrature.options import Quadrature
from calderon.spaces import NodalVectorSpace, Space, VectorSpace, numbering
from calderon.validation import index_array

Index = NDArray[np.int64]
AnySpace = Space | NodalVectorSpace | VectorSpace


class BoundaryOperator(ABC):
    """A bilinear form <phi_i, A psi_j> of trial functions psi and test functions phi; matrix (test, trial).

    Algebra: sums, products with numbers, `A @ B` = A M^-1 B with the mass matrix between the test space of B and the
    trial
    space of A, `.T` and `.H`. trial and test are spaces of scalars (Space) or of tangential fields (VectorSpace).
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

    @abstractmethod
    def add_to(self, out: NDArray[Any], factor: complex, rows: Index | None, columns: Index | None, how: Computing,
               advance: Any = None) -> None:  # fmt: skip
        """out += factor * matrix[rows][:, columns]."""

    def fill(self, out: NDArray[Any], how: Computing, advance: Any = None) -> None:
        """out = matrix, where out is zero. Symmetric parts of a sum come first, integrated by half (symmetry.py)."""
        terms = self.parts if isinstance(self, Sum) else ((1.0, self),)
        halves = [(factor, term) for factor, term in terms if isinstance(term, IntegralOperator) and term.is_symmetric]
        rest = [(factor, term) for factor, term in terms if not any(term is each for _, each in halves)]
        for factor, half in halves:
            half.add_half_to(out, factor, how, advance)
        if halves:
            symmetrise(out)
        for factor, whole in rest:
            whole.add_to(out, factor, None, None, how, advance)

    def dtype(self, precision: str = "double") -> np.dtype[Any]:
        """The NumPy type of the matrix in that precision."""
        return Computing(np.dtype(entry_type(precision))).dtype(self.is_complex)

    def assemble(
        self,
        method: str = "dense",
        *,
        backend: str = "numba",
        precision: str = "double",
        rtol: float | None = None,
        progress: bool = False,
        keep_on_device: bool = False,
        matrix_file: str | os.PathLike[str] | None = None,
    ) -> Any:
        """Compute the matrix: a SciPy LinearOperator that prints what it is.

        method: "dense". backend: "numba", "opencl", "cuda", a device such as "cuda:1", several that share
        a dense matrix, "numba+cuda:0", or "auto". precision: "double",
        "single", or "mixed": a dense matrix in double whose touching and near pairs are integrated in double, all
        others in single. rtol: accuracy of compressed methods.
        progress: show a bar. keep_on_device: leave a dense matrix on its device, where `gmres` and `lu` then work.
        matrix_file: an HDF5 file that an H-matrix is saved to, and taken from if it is there.
        Raises ValueError for an unknown choice and for entries beyond the range of the precision, RuntimeError for a
        backend that is not available, MemoryError (before allocating) when the matrix does not fit.
        """
        build = builder_for(method)
        computing(backend, precision, several=method in ("dense", "hmatrix"), mixed=method == "dense")
        options = special_options(method, keep_on_device, matrix_file)
        return build(self, backend=backend, precision=precision, rtol=rtol, progress=progress, **options)

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
        how = computing(backend, precision, mixed=True)
        if out.size:
            self.add_to(out, 1.0, row_ids, column_ids, how)
        return out[row_places][:, column_places]

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
        if not isinstance(other, BoundaryOperator):
            raise TypeError(
                f"@ composes operators that are not assembled, got {type(other).__name__}: A.assemble() @ x multiplies "
                "vectors and matrices"
            )
        return Product(self, other)

    @property
    def T(self) -> "BoundaryOperator":
        """The transposed form: test and trial exchanged."""
        return Transposed(self, conjugate=False)

    @property
    def H(self) -> "BoundaryOperator":
        """The adjoint form: transposed and conjugated."""
        return Transposed(self, conjugate=True)


@dataclass(frozen=True, eq=False)
class IntegralOperator(BilinearForm, BoundaryOperator):
    """A bilinear form as an operator."""

    def __repr__(self) -> str:
        spaces = self.trial.name if self.trial is self.test else f"{self.trial.name} to {self.test.name}"
        return f"{self.integrand.name} of {self.green}, {spaces}, {self.shape[0]} x {self.shape[1]}"

    def add_to(self, out, factor, rows, columns, how, advance=None):  # type: ignore[no-untyped-def]
        form = (self.green, self.integrand, self.test, self.trial)
        add_block(out, *form, factor, rows, columns, self.quadrature, how, advance, kind=self.block)

    def add_half_to(self, out: NDArray[Any], factor: complex, how: Computing, advance: Any = None) -> None:
        """out += factor * S, where the matrix, if symmetric, is S + S^T."""
        form = (self.green, self.integrand, self.test, self.trial)
        add_block(out, *form, factor, None, None, self.quadrature, how, advance, half=True, kind=self.block)


@dataclass(frozen=True, eq=False)
class TransformedHypersingular(BoundaryOperator):
    """The hypersingular operator through single layers between discontinuous functions (transformed.py)."""

    green: Green
    trial: Space
    test: Space
    quadrature: Quadrature = field(default_factory=Quadrature)

    def __repr__(self) -> str:
        spaces = self.trial.name if self.trial is self.test else f"{self.trial.name} to {self.test.name}"
        return f"hypersingular (transformed) of {self.green}, {spaces}, {self.shape[0]} x {self.shape[1]}"

    @property
    def is_complex(self) -> bool:
        return self.green.is_complex

    def add_to(self, out, factor, rows, columns, how, advance=None):  # type: ignore[no-untyped-def]
        form = (self.green, self.test, self.trial)
        add_transformed(out, *form, factor, rows, columns, self.quadrature, how, advance)


@dataclass(frozen=True, eq=False)
class SparseOperator(BoundaryOperator):
    """A local form (identity, Laplace-Beltrami) given by its sparse matrix."""

    name: str
    matrix: sp.csr_array
    trial: Any
    test: Any

    def __repr__(self) -> str:
        return f"{self.name}, {self.trial.name} to {self.test.name}, {self.shape[0]} x {self.shape[1]}"

    @property
    def is_complex(self) -> bool:
        return False

    def add_to(self, out, factor, rows, columns, how, advance=None):  # type: ignore[no-untyped-def]
        matrix = self.matrix if rows is None else self.matrix[rows]
        block = (matrix if columns is None else matrix[:, columns]).tocoo()
        value = factor * block.data if out.dtype.kind == "c" else complex(factor).real * block.data
        if largest := float(np.abs(value).max(initial=0.0)):
            checked_range(out.dtype, largest, largest, f"the {self.name}")
        out[block.coords] += value.astype(out.dtype)


@dataclass(frozen=True, eq=False)
class Sum(BoundaryOperator):
    """A linear combination of operators with the same spaces."""

    parts: tuple[tuple[complex, BoundaryOperator], ...]

    @staticmethod
    def of(parts: list[tuple[complex, BoundaryOperator]]) -> "Sum":
        """Flattened; ValueError when the spaces differ. Dual tests stand for the functions whose numbers they have."""
        flat: list[tuple[complex, BoundaryOperator]] = []
        for factor, part in parts:
            if not isinstance(part, BoundaryOperator):
                raise TypeError(
                    f"only boundary operators can be added to one, got {type(part).__name__}: a number c stands for "
                    "c * identity(space)"
                )
            inner = part.parts if isinstance(part, Sum) else ((1.0, part),)
            flat += [(checked_factor(factor * each), operator) for each, operator in inner]
        first = flat[0][1]
        for _, part in flat[1:]:
            if part.trial is not first.trial or numbering(part.test) is not numbering(first.test):
                raise ValueError(
                    f"cannot add {part!r} to {first!r}: both need the same trial and test space, on one mesh object"
                )
        return Sum(tuple(flat))

    @property
    def trial(self) -> Space:  # type: ignore[override]
        return self.parts[0][1].trial

    @property
    def test(self) -> Space:  # type: ignore[override]
        return self.parts[0][1].test

    def __repr__(self) -> str:
        return " + ".join(f"({factor:.4g}) {part!r}" for factor, part in self.parts)

    @property
    def is_complex(self) -> bool:
        return any(part.is_complex or complex(factor).imag != 0 for factor, part in self.parts)

    def add_to(self, out, factor, rows, columns, how, advance=None):  # type: ignore[no-untyped-def]
        for each, part in self.parts:
            part.add_to(out, factor * each, rows, columns, how, advance)


@dataclass(frozen=True, eq=False)
class Transposed(BoundaryOperator):
    """The transposed or adjoint of a form."""

    operator: BoundaryOperator
    conjugate: bool

    @property
    def trial(self) -> Space:  # type: ignore[override]
        return self.operator.test

    @property
    def test(self) -> Space:  # type: ignore[override]
        return self.operator.trial

    def __repr__(self) -> str:
        return f"{'adjoint' if self.conjugate else 'transposed'} of ({self.operator!r})"

    @property
    def is_complex(self) -> bool:
        return self.operator.is_complex

    def add_to(self, out, factor, rows, columns, how, advance=None):  # type: ignore[no-untyped-def]
        block = np.zeros(out.shape[::-1], dtype=how.dtype(self.is_complex))
        if rows is None and columns is None:
            self.operator.fill(block, how, advance)  # symmetric operators by half, and as symmetric as by themselves
        else:
            self.operator.add_to(block, 1.0, columns, rows, how, advance)
        out += factor * (block.conj().T if self.conjugate else block.T)


@dataclass(frozen=True, eq=False)
class Product(BoundaryOperator):
    """A @ B = A M^-1 B: the Galerkin matrix of the composed operator, M pairing B's test with A's trial functions."""

    left: BoundaryOperator
    right: BoundaryOperator

    def __post_init__(self) -> None:
        if self.left.trial.dimension != self.right.test.dimension or self.left.trial.mesh is not self.right.test.mesh:
            raise ValueError(
                f"cannot compose {self.left!r} with {self.right!r}: the test space of the right one "
                "must pair with the trial space of the left one (same mesh, same dimension)"
            )

    @property
    def trial(self) -> Space:  # type: ignore[override]
        return self.right.trial

    @property
    def test(self) -> Space:  # type: ignore[override]
        return self.left.test

    def __repr__(self) -> str:
        return f"({self.left!r}) @ ({self.right!r})"

    @property
    def is_complex(self) -> bool:
        return self.left.is_complex or self.right.is_complex

    def middle_factors(self) -> Any:
        """The sparse LU factors of M; ValueError where M is singular."""
        left, right = self.left.trial, self.right.test
        try:
            return splu(left.mass_matrix(right).tocsc())
        except RuntimeError:  # of SuperLU: exactly singular
            raise ValueError(
                f"cannot compose {self.left!r} with {self.right!r}: their middle spaces {left.name} and {right.name}, "
                f"both of dimension {left.dimension}, do not pair, since the matrix of their products is singular: "
                "take one space for both, or functions on the same triangles"
            ) from None

    def add_to(self, out, factor, rows, columns, how, advance=None):  # type: ignore[no-untyped-def]
        def full(operator: BoundaryOperator, kept_rows: Index | None, kept_columns: Index | None) -> NDArray[Any]:
            height = operator.shape[0] if kept_rows is None else len(kept_rows)
            width = operator.shape[1] if kept_columns is None else len(kept_columns)
            block = np.zeros((height, width), dtype=how.dtype(operator.is_complex))
            if kept_rows is None and kept_columns is None:
                operator.fill(block, how)
            else:
                operator.add_to(block, 1.0, kept_rows, kept_columns, how)
            return block

        solved = self.middle_factors()
        inner = full(self.right, None, columns)
        parts = [solved.solve(np.ascontiguousarray(part, dtype=float)) for part in (inner.real, inner.imag)]
        product = full(self.left, rows, None) @ (parts[0] + 1j * parts[1] if inner.dtype.kind == "c" else parts[0])
        out += (factor * product).astype(out.dtype)


def _layer(
    integrand: Integrand, green: Green, trial: Space, test: Space | None, quadrature: Quadrature | None
) -> IntegralOperator:
    test = trial if test is None else test
    checked_spaces(integrand.name, trial, test)
    return IntegralOperator(green, integrand, trial, test, checked_quadrature(integrand.name, green, quadrature))


def single_layer(
    green: Green, trial: Space, test: Space | None = None, *, quadrature: Quadrature | None = None
) -> IntegralOperator:
    """V: <phi, V psi> = int int phi(x) G(x, y) psi(y)."""
    return _layer(SINGLE_LAYER, green, trial, test, quadrature)


def double_layer(
    green: Green, trial: Space, test: Space | None = None, *, quadrature: Quadrature | None = None
) -> IntegralOperator:
    """K: <phi, K psi> = int int phi(x) dG/dn_y(x, y) psi(y); K 1 = -1/2 on closed surfaces for Laplace."""
    return _layer(DOUBLE_LAYER, green, trial, test, quadrature)


def adjoint_double_layer(
    green: Green, trial: Space, test: Space | None = None, *, quadrature: Quadrature | None = None
) -> IntegralOperator:
    """K': <phi, K' psi> = int int phi(x) dG/dn_x(x, y) psi(y)."""
    return _layer(ADJOINT_DOUBLE_LAYER, green, trial, test, quadrature)


def hypersingular(
    green: Green,
    trial: Space,
    test: Space | None = None,
    *,
    form: str | None = None,
    quadrature: Quadrature | None = None,
) -> BoundaryOperator:
    """D = -d/dn of the double layer, integrated by parts:

    <phi, D psi> = int int G (curl phi(x) . curl psi(y) - k^2 n_x . n_y phi(x) psi(y)),  curl = n x grad on the surface
    (Nedelec). On open surfaces trial and test functions must vanish on the rim: P1(mesh, boundary=False). form:
    "direct" (P1 only; None chooses it for P1) or "transformed", through single layers between discontinuous functions
    (transformed.py; P1 and P2). AccuracyWarning for functions that do not vanish on the rim. Raises ValueError for
    discontinuous spaces and for an unknown form.
    """
    test = trial if test is None else test
    checked_spaces(HYPERSINGULAR.name, trial, test)
    for space in (trial, test):
        if not space.is_continuous:
            raise ValueError(f"the hypersingular operator needs continuous functions, {space.name} jumps: try P1 or P2")
    if trial.reaches_rim or test.reaches_rim:
        warnings.warn(
            "functions that do not vanish on the rim of their surface are given to the hypersingular operator, whose "
            f"integration by parts leaves out terms along the rim: take {trial.name}(mesh, boundary=False)",
            AccuracyWarning,
            stacklevel=callers_level(),
        )
    linear = trial.element.degree == 1 and test.element.degree == 1
    if form not in (None, "direct", "transformed"):
        raise ValueError(f"unknown form {form!r}: choose 'direct' or 'transformed'")
    if form == "direct" and not linear:
        raise ValueError("the direct form of the hypersingular operator is for P1: choose form='transformed' for P2")
    quadrature = checked_quadrature(HYPERSINGULAR.name, green, quadrature)
    if form == "transformed" or not linear:
        return TransformedHypersingular(green, trial, test, quadrature)
    return _layer(HYPERSINGULAR, green, trial, test, quadrature)


def identity(trial: AnySpace, test: AnySpace | None = None) -> SparseOperator:
    """The mass matrix as an operator: <phi, psi>, of two spaces of scalars, of two of vectors at nodes
    (P1(mesh, components=3)) or of two of tangential fields."""
    test = trial if test is None else test
    kind = next((each for each in (VectorSpace, NodalVectorSpace) if isinstance(trial, each)), Space)
    checked_spaces("identity", trial, test, kind=kind)
    return SparseOperator("identity", trial.mass_matrix(test), trial, test)  # type: ignore[arg-type]


def laplace_beltrami(space: Space) -> SparseOperator:
    """<grad phi, grad psi> over the surface."""
    checked_spaces("laplace_beltrami", space)
    return SparseOperator("laplace_beltrami", space.laplace_beltrami_matrix(), space, space)
