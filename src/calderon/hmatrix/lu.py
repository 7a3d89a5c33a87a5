"""Hierarchical factorisation of compressed matrices: a direct solver to a tolerance, and a preconditioner.

At every division of a cluster the two off-diagonal parts are made one product of low rank each, A_21 = W Z^T and A_12 =
U V^T, so that A = D + P Q^T with D the two diagonal parts, P = diag(U, W), Q^T = [0, V^T; Z^T, 0], and by the formula
of Sherman, Morrison and Woodbury

    A^-1 b = y - D^-1 P (1 + Q^T D^-1 P)^-1 Q^T y,    y = D^-1 b,

which is applied to the diagonal parts in turn, down to clusters that are factorised dense. Sources: S. Ambikasaran and
E. Darve, J. Sci. Comput. 57 (2013) 477 (the factorisation); N. Halko, P. Martinsson and J. Tropp, SIAM Review 53
(2011) 217 (low rank by products with random vectors).
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve, qr, svd
from scipy.sparse.linalg import LinearOperator

from calderon.backends import format_bytes, require_memory
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.off_diagonal import ABOVE, BELOW, WITHIN, Division, Part, Term, parts_of
from calderon.hmatrix.tree.cluster_tree import ClusterTree
from calderon.solvers.iteration import tolerance
from calderon.solvers.lu import NOT_FINITE, Factorisation, norm_estimate

LEAF = 256
"""Unknowns of a cluster that is factorised dense, at most (more where the tree's own leaves are larger)."""
ADVICE = "take a larger rtol: the factors are a preconditioner then"


class HierarchicalLU(Factorisation):
    """Factors of a compressed matrix, with A^-1 to about `rtol` of each off-diagonal part.

    `solve(b, adjoint=False)` for as many right-hand sides as come; a LinearOperator for `preconditioner=` is
    `as_preconditioner()`.
    ranks: of the off-diagonal parts, the largest of each level.
    """

    def __init__(
        self, matrix: LinearOperator, tree: ClusterTree, root: "Node", rtol: float, ranks: list[int], seconds: float
    ) -> None:
        self._matrix, self._tree, self._root = matrix, tree, root
        self.shape, self.dtype, self.nbytes = matrix.shape, root.dtype, root.nbytes
        self.rtol, self.ranks, self.seconds = rtol, ranks, seconds

    @property
    def condition(self) -> float:
        """Estimate of |A| |A^-1| in the 1-norm (Higham and Tisseur 2000)."""
        columns = 10  # with 5 one estimate in thirty is a quarter of the norm, with 8 none
        return norm_estimate(self._matrix, columns) * norm_estimate(self.as_preconditioner(), columns)

    def _solve(self, columns: NDArray[Any], adjoint: bool) -> NDArray[Any]:
        """Solve A x = b, or A^H x = b if adjoint, for the columns b (n, k)."""
        order = self._tree.order
        dtype = np.result_type(self.dtype, columns.dtype)
        b = np.asarray(columns[order], dtype)
        x = np.empty_like(b)
        x[order] = self._root.solve(b.conj(), True).conj() if adjoint else self._root.solve(b, False)
        return x

    def __str__(self) -> str:
        return (
            f"hierarchical LU of {self.shape[0]} x {self.shape[1]} {self.dtype}, {format_bytes(self.nbytes)}, rtol "
            f"{self.rtol:g}, ranks by level {self.ranks}, {self.seconds:.2f} s"
        )

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Leaf:
    """A diagonal part with its dense factors."""

    factors: tuple[NDArray[Any], NDArray[Any]]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.factors[0].dtype

    @property
    def nbytes(self) -> int:
        return self.factors[0].nbytes

    def solve(self, b: NDArray[Any], transposed: bool) -> NDArray[Any]:
        return np.asarray(lu_solve(self.factors, b, trans=1 if transposed else 0, check_finite=False))


@dataclass(frozen=True, eq=False)
class Branch:
    """A diagonal part made of two, and what couples them: D^-1 P as (first, second), Q as (V, Z), and the factors of
    1 + Q^T D^-1 P."""

    first: "Node"
    second: "Node"
    cut: int
    solved: tuple[NDArray[Any], NDArray[Any]]
    right: tuple[NDArray[Any], NDArray[Any]]
    core: tuple[NDArray[Any], NDArray[Any]] | None

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.first.dtype

    @property
    def nbytes(self) -> int:
        own = sum(each.nbytes for each in (*self.solved, *self.right)) + (self.core[0].nbytes if self.core else 0)
        return self.first.nbytes + self.second.nbytes + own

    def solve(self, b: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A^-1 b, or A^-T b = D^-T (b - Q (1 + Q^T D^-1 P)^-T (D^-1 P)^T b)."""
        (u, w), (v, z), k = self.solved, self.right, self.cut
        if transposed:
            if self.core is not None:
                inner = lu_solve(self.core, np.concatenate([u.T @ b[:k], w.T @ b[k:]]), trans=1, check_finite=False)
                b = b - np.concatenate([z @ inner[u.shape[1] :], v @ inner[: u.shape[1]]])
            return np.concatenate([self.first.solve(b[:k], True), self.second.solve(b[k:], True)])
        y = np.concatenate([self.first.solve(b[:k], False), self.second.solve(b[k:], False)])
        if self.core is not None:
            inner = lu_solve(self.core, np.concatenate([v.T @ y[k:], z.T @ y[:k]]), check_finite=False)
            y[:k] -= u @ inner[: u.shape[1]]
            y[k:] -= w @ inner[u.shape[1] :]
        return y


Node = Leaf | Branch


def hlu(matrix: Any, rtol: float = 1e-2) -> HierarchicalLU:
    """Factorise a square matrix that was assembled with method="hmatrix".

    rtol: relative error of the off-diagonal parts in the spectral norm: 1e-2 for a preconditioner, 1e-6 for a direct
    solver of about that accuracy. With N unknowns time and memory grow like N r^2 and N r log N, where the rank r grows
    like sqrt(N) on surfaces.

    Raises TypeError for another kind of matrix, ValueError for one that is not square, has different spaces on its two
    sides, or holds more than sums of H-matrices and sparse ones; MemoryError where the factors do not fit.
    """
    if isinstance(matrix, HMatrix):
        terms: list[Term] | None = [Term(1.0, matrix)]
    elif hasattr(matrix, "terms") and not callable(matrix.terms):
        terms = matrix.terms
    else:
        raise TypeError(
            f"hlu accepts a matrix assembled with method='hmatrix', got {type(matrix).__name__}: assemble it, or use lu"
        )
    if terms is None:
        raise ValueError("hlu supports sums of H-matrices; for products and block systems use gmres")
    compressed = [term.matrix for term in terms if isinstance(term.matrix, HMatrix)]
    trees = {id(tree): tree for each in compressed for tree in (each.tree.rows, each.tree.columns)}
    if len(trees) != 1:
        raise ValueError("hlu needs the same space on both sides: use gmres")
    symmetric = all(
        each.matrix.tree.symmetric
        if isinstance(each.matrix, HMatrix)
        else abs(each.matrix - each.matrix.T).max() <= 1e-14 * abs(each.matrix).max()
        for each in terms
    )
    return factorise(matrix, terms, trees.popitem()[1], rtol, symmetric)


def factorise(
    matrix: LinearOperator, terms: list[Term], tree: ClusterTree, rtol: float, symmetric: bool
) -> HierarchicalLU:
    """Factors of the sum of terms over one cluster tree; matrix: its products. symmetric: A^T = A."""
    tolerance(rtol, example="1e-2")
    started = time.perf_counter()
    division = Division(tree, LEAF)
    parts = parts_of(terms, division, np.dtype(matrix.dtype))
    ranks: dict[int, int] = {}
    rng = np.random.default_rng(0)

    def factors(cluster: int) -> Node:
        """The factors of the diagonal block of a cluster, from those of its children."""
        if division.undivided[cluster]:
            # a cluster that is not divided: a dense block
            block = parts[cluster, WITHIN].dense()
            if not np.isfinite(block).all():
                raise ValueError(NOT_FINITE)
            return Leaf(lu_factor(block, overwrite_a=True, check_finite=False))
        # the off-diagonal blocks by low rank: W Z^T below, U V^T above
        one, two = (int(each) for each in tree.children[cluster])
        w, z = low_rank(parts[cluster, BELOW], rtol, rng)
        u, v = (z, w) if symmetric else low_rank(parts[cluster, ABOVE], rtol, rng)
        level = int(tree.level[cluster])
        ranks[level] = max(ranks.get(level, 0), u.shape[1], w.shape[1])
        # factors of both halves, then of the correction that the low-rank blocks add to them
        first, second = factors(one), factors(two)
        solved = first.solve(u, False), second.solve(w, False)
        count = u.shape[1] + w.shape[1]
        core = np.eye(count, dtype=first.dtype)
        core[: u.shape[1], u.shape[1] :] = v.T @ solved[1]
        core[u.shape[1] :, : u.shape[1]] = z.T @ solved[0]
        cut = int(tree.stop[one] - tree.start[one])
        pivots = lu_factor(core, overwrite_a=True, check_finite=False) if count else None
        return Branch(first, second, cut, solved, (v, z), pivots)

    root = factors(0)
    seconds = time.perf_counter() - started
    return HierarchicalLU(matrix, tree, root, rtol, [ranks[level] for level in sorted(ranks)], seconds)


def low_rank(part: Part, rtol: float, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """U (m, r), V (n, r) with |A - U V^T| about rtol |A| (spectral norm), from products with A and A^T."""
    m, n = part.shape
    most = min(m, n)
    basis = np.zeros((m, 0), part.dtype)
    count, probes = 32, 8  # random vectors at first, and those that judge whether more are needed
    while True:
        # products with random vectors, without what the basis holds already
        samples = part.product(_random(rng, n, min(count, most - basis.shape[1]) + probes, part.dtype))
        size = np.linalg.norm(samples[:, -probes:])
        require_memory(4 * samples.nbytes + 4 * basis.nbytes, "the factors of a compressed matrix", ADVICE)
        for _ in range(2):  # twice is enough
            samples = samples - basis @ (basis.conj().T @ samples)
        # the last of them estimate what the basis lacks
        rest = np.linalg.norm(samples[:, -probes:])
        if size == 0 or (basis.shape[1] and rest <= 0.5 * rtol * size):
            break
        basis = np.concatenate([basis, qr(samples, mode="economic", check_finite=False)[0]], axis=1)
        if basis.shape[1] >= most:
            basis = np.eye(m, dtype=part.dtype) if m <= n else basis[:, :most]
            break
        count = basis.shape[1]
    if not basis.shape[1]:
        return np.zeros((m, 0), part.dtype), np.zeros((n, 0), part.dtype)
    # A = Q (Q^H A), truncated by singular values
    right = part.product(np.ascontiguousarray(basis.conj()), transposed=True)  # A^T conj(Q) = (Q^H A)^T
    q, r = qr(right, mode="economic", check_finite=False)
    left, values, other = svd(r.T, full_matrices=False, check_finite=False)
    kept = max(1, int((values > 0.5 * rtol * values[0]).sum())) if values[0] > 0 else 0
    return basis @ (left[:, :kept] * values[:kept]), q @ other[:kept].T


def _random(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    values = rng.standard_normal((rows, columns))
    if dtype.kind == "c":
        return np.asarray(values + 1j * rng.standard_normal((rows, columns)), dtype)
    return np.asarray(values, dtype)
