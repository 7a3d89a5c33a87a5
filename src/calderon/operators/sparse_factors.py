"""Sparse factors of operators: sum_d f_d L_d^T A R_d with sparse matrices L_d and R_d around an expression A.

Mirror planes, junctions, finite elements next to a surface and functions that are combinations of finer ones are
nothing else. The hypersingular operator is one, too, through single layers between discontinuous functions (Maue's
formula, component by component): with T_d the sparse matrix that writes component d of the surface curl of every
continuous function in discontinuous functions, and N_d the one that does so with the function times component d of the
normal,

    D = sum_d T_d^T V T_d - k^2 sum_d N_d^T V N_d.

It serves spaces whose curls are not constant (P2), and V compresses better than the direct form.
"""

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.galerkin.limits import checked_range
from calderon.spaces import NodalVectorSpace, Space
from calderon.validation import describe, text, whole_number

Matrices = list[sp.csr_array]


def _one_after_another(first: Callable[[], Matrices], second: Callable[[], Matrices]) -> Matrices:
    return [*first(), *second()]


@dataclass(frozen=True, eq=False)
class SparseFactors:
    """The matrices L_d, or R_d, of sum_d f_d L_d^T A R_d, all of one shape.

    key: equal where the matrices are. build: gives them, so that those of spaces are held only while they are used.
    """

    key: Hashable
    shape: tuple[int, int]
    build: Callable[[], Matrices]
    is_complex: bool = False

    @staticmethod
    def of(*matrices: sp.csr_array) -> "SparseFactors":
        """Matrices that are given; their key is a digest of the entries."""
        total = hashlib.sha256()
        for each in matrices:
            for part in (np.array(each.shape), each.indptr.astype(np.int64), each.indices.astype(np.int64), each.data):
                total.update(np.ascontiguousarray(part).tobytes())
        is_complex = any(each.dtype.kind == "c" for each in matrices)
        return SparseFactors(total.hexdigest()[:16], matrices[0].shape, partial(list, matrices), is_complex)

    @property
    def signature(self) -> str:
        """The text by which files tell given matrices from others; those of spaces are known by their spaces."""
        return self.key if isinstance(self.key, str) else f"{self.shape}"

    @property
    def combines(self) -> bool:
        """Whether a function next to A is made of several unknowns, as differences are; else of one at most, as where
        functions are scaled, numbered or turned in sign."""
        return any(int(np.diff(each.indptr).max(initial=0)) > 1 for each in self.build())

    @property
    def given_bytes(self) -> int:
        """Bytes of matrices that were given; those of spaces are built when they are used."""
        return sum(map(sparse_bytes, self.build())) if isinstance(self.key, str) else 0

    def after(self, inner: "SparseFactors | None") -> "SparseFactors":
        """The products of the inner matrices with these, where A has factors already."""
        if inner is None:
            return self
        pairs = zip(inner.build(), self.build(), strict=True)
        return SparseFactors.of(*(checked_factors((one @ other).tocsr(), "a product of them") for one, other in pairs))

    def extended(self, other: "SparseFactors") -> "SparseFactors":
        """These matrices, and then the other ones."""
        return SparseFactors(
            ("extended", self.key, other.key),
            self.shape,
            partial(_one_after_another, self.build, other.build),
            self.is_complex or other.is_complex,
        )

    @cached_property
    def diagonal(self) -> NDArray[Any] | None:
        """(n,) the entries of a single matrix that is diagonal, else None."""
        matrix, *more = self.build()
        count = matrix.shape[0]
        numbers = np.arange(count)
        is_diagonal = matrix.shape == (count, count) and np.array_equal(matrix.indices, numbers)
        return matrix.data if not more and is_diagonal and np.array_equal(matrix.indptr[:-1], numbers) else None


def sparse_bytes(matrix: sp.csr_array) -> int:
    """Bytes of the entries of a sparse matrix and of their places."""
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


def checked_factors(given: Any, what: str) -> sp.csr_array:
    """A copy of a sparse matrix, or of an array of two dimensions, by rows, of real or complex numbers in double
    precision; TypeError for anything else, ValueError for other shapes and for entries that are not finite."""
    if isinstance(given, np.ndarray) and given.ndim != 2:
        raise ValueError(f"{what}: a matrix has two dimensions, got an array of shape {given.shape}")
    if not (sp.issparse(given) or isinstance(given, np.ndarray)) or given.dtype.kind not in "biufc" or given.ndim != 2:
        kind = f" of {given.dtype}" if hasattr(given, "dtype") else ""
        raise TypeError(
            f"{what}: sparse matrices of SciPy, or arrays, of numbers are factors of operators, got "
            f"{describe(given)}{kind}"
        )
    matrix = sp.csr_array(given, dtype=complex if given.dtype.kind == "c" else float, copy=True)
    if not np.isfinite(matrix.data).all():
        raise ValueError(
            f"{what}: entries of a sparse matrix are finite, got {matrix.data[~np.isfinite(matrix.data)][0]}"
        )
    matrix.sum_duplicates()
    return matrix


def checked_side(name: str, given: Any, size: int, what: str) -> SparseFactors | None:
    """The factor `name` of L^T A R, None where none is given; ValueError unless it has a row for each of the `size`
    rows or columns of A, which `what` says."""
    if given is None:
        return None
    matrix = checked_factors(given, f"{name}= of L^T A R")
    if matrix.shape[0] != size or not matrix.shape[1]:
        turned = "; its transposed matrix has as many" if matrix.shape[1] == size else ""
        raise ValueError(
            f"L^T A R: {name}= is {matrix.shape[0]} x {matrix.shape[1]}, and needs {size} rows, one for each of the "
            f"{what}, and a column{turned} (S @ A is left=S.T, A @ S is right=S)"
        )
    return SparseFactors.of(matrix)


def matrices_of(side: SparseFactors | None, size: int) -> Matrices:
    """The matrices on one side of an operator with that many rows or columns."""
    return [sp.eye_array(size, format="csr")] if side is None else side.build()


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Unknowns x that are no functions of a surface by themselves: coefficients of combinations of functions, x stands
    for sum_i (C x)_i psi_i, or those of finite elements.

    space, factors: the functions psi_i and the matrix C; None for unknowns that no functions belong to.
    """

    dimension: int
    space: Any = None
    factors: SparseFactors | None = None

    @property
    def name(self) -> str:
        """The space that is combined."""
        return "unknowns" if self.space is None else f"combinations of {self.space.name}"

    @property
    def mesh(self) -> Any:
        """That of the functions, None without any."""
        return None if self.space is None else self.space.mesh

    def mass_matrix(self, test: Any = None) -> sp.csr_array:
        """(test.dimension, dimension) sparse matrix of the products of the functions; ValueError without any."""
        return pairing(self, self if test is None else test)

    @cached_property
    def boxes(self) -> NDArray[np.float64]:
        """(dimension, 2, 3) boxes around what is combined; those of unknowns without functions are at the origin."""
        boxes = np.zeros((self.dimension, 2, 3))
        if self.factors is None:
            return boxes
        inner, columns = boxes_of(self.space), self.factors.build()[0].tocsc()
        used = np.flatnonzero(np.diff(columns.indptr))
        for side, least in enumerate((np.minimum, np.maximum)):
            if len(used):
                boxes[used, side] = least.reduceat(inner[columns.indices, side], columns.indptr[used], axis=0)
        return boxes


@dataclass(frozen=True, eq=False)
class VolumeSpace:
    """Functions in a volume, which no surface has: the finite elements of a row or column of blocks.

    name: such as "P2 in tetrahedra". dimension: their number. mesh: any mesh of the volume. mass: (dimension,
    dimension) sparse matrix of their products, which A @ B inverts between operators of the volume; None where it is
    not known.

    Raises TypeError and ValueError for a mass matrix of another size, or that is no sparse matrix of finite numbers.
    """

    name: str
    dimension: int
    mesh: Any = None
    mass: Any = None

    def __post_init__(self) -> None:
        text(self.name, "name")
        whole_number(self.dimension, "dimension")
        if self.mass is None:
            return
        matrix = checked_factors(self.mass, f"the mass matrix of {self.name}")
        if matrix.shape != (self.dimension, self.dimension):
            raise ValueError(
                f"the mass matrix of {self.name} is {matrix.shape[0]} x {matrix.shape[1]}, and has a row and a column "
                f"for each of {self.dimension} functions"
            )
        object.__setattr__(self, "mass", matrix)

    def mass_matrix(self, test: Any = None) -> sp.csr_array:
        """(dimension, dimension) sparse matrix of the products of the functions; ValueError with those of another
        space, and where it is not known."""
        if self.mass is None or test not in (None, self):
            other = "" if test in (None, self) else f" with those of {test.name}"
            raise ValueError(f"the products of the functions of {self.name}{other} are not known: give mass= to the "
                             "space, or multiply the assembled operators")  # fmt: skip
        return self.mass


def pairing(trial: Any, test: Any) -> sp.csr_array:
    """(test.dimension, trial.dimension) the products of the functions of two spaces, which may be combinations;
    ValueError for unknowns that have no functions."""
    if not any(isinstance(side, Unknowns) for side in (trial, test)):
        return trial.mass_matrix(test)
    matrices, spaces = [], []
    for side in (trial, test):
        combined = isinstance(side, Unknowns)
        if combined and side.factors is None:
            raise ValueError(
                f"{side.dimension} unknowns without functions have no mass matrix, which A @ B puts between: multiply "
                "the assembled operators"
            )
        matrices.append(side.factors.build()[0] if combined else sp.eye_array(side.dimension, format="csr"))
        spaces.append(side.space if combined else side)
    return (matrices[1].T @ spaces[0].mass_matrix(spaces[1]) @ matrices[0]).tocsr()


def unknowns_of(space: Any, side: SparseFactors | None) -> Any:
    """The unknowns that a matrix next to an operator leaves; its own functions without any."""
    return space if side is None else Unknowns(side.shape[1], space, side)


def agree(one: Any, other: Any) -> bool:
    """Whether operators with these spaces on one side have a sum: equal ones, or as many unknowns where these are
    combinations of functions, or none."""
    if one == other:
        return True
    parts = [*getattr(one, "spaces", (one,)), *getattr(other, "spaces", (other,))]
    return one.dimension == other.dimension and any(isinstance(each, Unknowns) for each in parts)


def common_space(spaces: list[Any]) -> Any:
    """The first of the spaces that operators have on one side that is made of functions, else the first."""
    return [*(each for each in spaces if not isinstance(each, Unknowns)), *spaces][0]


def has_places(space: Any) -> bool:
    """Whether functions of a space, or some of those that are combined, have a place on a surface."""
    if isinstance(space, Unknowns):
        return space.space is not None and has_places(space.space)
    return any(has_places(each) for each in getattr(space, "spaces", ())) or hasattr(space, "dofs")


def boxes_of(space: Any) -> NDArray[np.float64]:
    """(dimension, 2, 3) boxes around the functions of a space, of combinations and of blocks; others at the origin."""
    if hasattr(space, "spaces"):
        return np.concatenate([boxes_of(each) for each in space.spaces])
    return np.asarray(space.boxes) if has_places(space) else np.zeros((space.dimension, 2, 3))


def add_sparse(place: Any, matrix: sp.csr_array, factor: complex, name: str) -> None:
    """place += factor * matrix, called `name`; ValueError for entries beyond the range of the place's type."""
    block = matrix.tocoo()
    block.sum_duplicates()
    value = factor * block.data if place.dtype.kind == "c" else complex(factor).real * block.data
    if largest := float(np.abs(value).max(initial=0.0)):
        checked_range(place.dtype, largest, largest, f"the {name}")
    place.add_entries(value, *block.coords)


def transforms(space: Space, fine: Space) -> Matrices:
    """The matrices T_d, then N_d, each (fine.dimension, space.dimension), with discontinuous functions `fine` on the
    same triangles."""
    nodes = fine.element.nodes
    normals = space.geometry.normals_at(nodes).reshape(-1, 3)
    values = space.expansion(nodes)
    return [*space.surface_curl(nodes), *((sp.diags_array(each) @ values).tocsr() for each in normals.T)]


def tangential_derivatives(space: NodalVectorSpace, fine: Space) -> tuple[sp.csr_array, dict[str, Matrices]]:
    """Factors of the hypersingular operator of elastostatics, for vectors of three components: with the curls
    c = n x grad and M_ij = n_j d_i - n_i d_j = -eps_ijk c_k of scalar functions, written in discontinuous functions
    `fine`, the matrix of (M u)_i = sum_j M_ij u_j in vectors of them, and matrices (fine.dimension, space.dimension):

    "rows": (M u)_i; "curls": c_k u_l; "left", "right": M_kj u_i and M_ki u_j, for all i, j, k where neither is 0.
    """
    curls = space.scalar.surface_curl(fine.element.nodes)
    unit = [sp.csr_array(each[None]) for each in np.eye(3)]

    def turned(i: int, j: int, component: int) -> sp.csr_array:
        """M_ij of a component, i and j different."""
        sign = -1.0 if (j - i) % 3 == 1 else 1.0
        return sign * sp.kron(curls[3 - i - j], unit[component], format="csr")

    rows = [turned(i, (i + 1) % 3, (i + 1) % 3) + turned(i, (i + 2) % 3, (i + 2) % 3) for i in range(3)]
    whole = sum(sp.kron(each, axis.T, format="csr") for each, axis in zip(rows, unit, strict=True))
    triples = [(i, j, k) for i in range(3) for j in range(3) for k in range(3) if k not in (i, j)]
    return whole, {
        "rows": rows,
        "curls": [sp.kron(each, axis, format="csr") for each in curls for axis in unit],
        "left": [turned(k, j, i) for i, j, k in triples],
        "right": [turned(k, i, j) for i, j, k in triples],
    }
