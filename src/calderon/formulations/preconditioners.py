"""Preconditioners of integral equations that come from spaces or from the entries of a matrix."""

import math
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends.numba import kernel
from calderon.formulations.linear_system import LinearSystem
from calderon.mesh import TriangleMesh
from calderon.operators import BoundaryOperator
from calderon.operators.sparse_factors import matrices_of
from calderon.operators.tree import terms_of
from calderon.quadrature import triangle_rule
from calderon.solvers import factorised_inverse, sparse_inverse
from calderon.solvers.sparse_cholesky import Submatrices, neighbours_for
from calderon.spaces import EdgeSpace, Space


class Preconditioner(LinearOperator):
    """An approximate inverse (size, size) that is computed at its first product. name: for the record of an
    iteration; nbytes: estimates what it will take; dtype: of its products."""

    def __init__(
        self,
        name: str,
        size: int,
        inverse: Callable[[], LinearOperator],
        nbytes: Callable[[], int] = lambda: 0,
        dtype: type[np.number[Any]] = np.complex128,
    ) -> None:
        super().__init__(np.dtype(dtype), (size, size))
        self.name, self._make, self._bytes = name, inverse, nbytes

    @property
    def nbytes(self) -> int:
        """Bytes that it will take, 0 where little is known of it."""
        return self._bytes()

    @cached_property
    def _inverse(self) -> LinearOperator:
        return self._make()

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._inverse.matmat(x)


REACH, GROWTH = 1.5, 4.0
"""In `local_field` the discs of charges have the radius REACH s, s the root of the area of a triangle, those of
currents GROWTH |k| s times more than that: by steps of GMRES for bodies with |k| s from .02 to .9."""
CENTRES = triangle_rule(2).points
"""Points of a triangle, exact for products of linear functions. Each stands for a third of its charge: with one point
14 instead of 12 steps are taken for 100,823 unknowns."""
SOFTENING = 0.346
"""d of `softened` over the root of the area that gives the self-energy of a charged equilateral triangle:
1 / (4 pi 0.23)."""
FARTHER = 2.0
"""Weight of the potential of charges beyond the neighbours of a column, which is nearly constant among these. Without
it errors of columns add up for smooth charges: of 3,872 fluxes on a sphere with 12 entries of a column the largest
eigenvalues are 5.1 and 1.97, with it 2.2 and 1.27, and the least .64 and .58."""
DETAILS = 0.0306
"""Entry of the single layer over A^(3/2) of a linear function on an equilateral triangle."""


def sparse_factor_bytes(unknowns: int) -> int:
    """Bytes of U while it is made: numbers and indices of its columns, and a copy of them without empty places."""
    return 2 * 12 * neighbours_for(unknowns) * unknowns


class Media(NamedTuple):
    """The regions r whose single layers have each of n functions: regions (n, s), -1 for none; signs (n, s) of the
    function there; constants a_r and kappa_r (1/m) of all regions."""

    regions: NDArray[np.int64]
    signs: NDArray[np.float64]
    constants: Sequence[float]
    decays: Sequence[float]


def layer_inverse(
    mesh: TriangleMesh, triangles: NDArray[np.int64], charges: NDArray[np.float64], media: Media | None = None
) -> LinearOperator:
    """U U^T (n, n) near the inverse of V / a summed over regions, V single layers of Laplace's or Yukawa's equation, of
    constant functions with these integrals on n triangles. media: None of one medium with a = 1.

    Entries are those of `softened` with 3 x 3 points of two triangles and lengths of a third of the area.
    """
    points = mesh.geometry(triangles).points(CENTRES)
    lengths = SOFTENING * np.sqrt(mesh.areas[triangles] / len(CENTRES))
    return factorised_inverse(mesh.centroids[triangles], softened(points, lengths, charges, media))


def softened(
    points: NDArray[np.float64], lengths: NDArray[np.float64], weights: NDArray[np.float64], media: Media | None = None
) -> Submatrices:
    """Small matrices of sums over regions of w_i w_j exp(-kappa r) k(r) / (4 pi a), means over pairs of points of two
    functions, with k(r) = (4 d + r) / (2 d + r)^2, which is 1 / d at r = 0 and 1 / r up to (2 d / r)^2 far away.

    points (n, p, 3) m, lengths (n,) m, weights (n,): of functions; d is the mean of both lengths. media: None of one
    medium with a = 1. For one d, k is a mean of functions exp(-s r) with positive weights, so that matrices are
    positive definite. It falls linearly from r = 0, as potentials between the faces of thin layers do.

    FARTHER (1 / R - 1 / extent) exp(-kappa R) is added to k for functions beyond those of a matrix, R the distance of
    its farthest point from the first; not where the last number is the first one again, since no others are there.
    Distances, over the first d of a matrix, and k are in single precision.
    """
    n, points = len(lengths), np.ascontiguousarray(points)
    if media is None:
        media = Media(np.zeros((n, 1), np.int64), np.ones((n, 1)), [1.0], [0.0])
    regions, signs = np.ascontiguousarray(media.regions, np.int64), np.ascontiguousarray(media.signs, np.float64)
    decays, group = np.unique(media.decays, return_inverse=True)
    constants = np.array(media.constants, np.float64)
    extent = float(np.ptp(points.reshape(-1, 3), axis=0).max()) if n else 0.0

    def submatrices(which: NDArray[np.int64]) -> NDArray[np.float64]:
        found = np.empty((*which.shape, which.shape[1]))
        numbers = np.ascontiguousarray(which, np.int64)
        _softened_means(points, extent, lengths, weights, regions, signs, constants, group, decays, numbers, found)
        return found

    return submatrices


@kernel
def _softened_means(points, extent, lengths, weights, regions, signs, constants, group, decays, which, out):
    """out (m, k, k), lower triangles: sums over regions of w_i w_j times means over pairs of points of exp(-kappa r)
    (4 d + r) / (4 pi a (2 d + r)^2) between functions with numbers which (m, k), as in `softened`, with functions
    beyond them in this extent. points (n, p, 3), lengths d, regions (n, s) and signs (n, s) belong to functions, as in
    `Media`; decays are the different kappa, decays[group] those of regions with constants a."""
    size, count, slots, two = which.shape[1], points.shape[1], regions.shape[1], np.float32(2)
    x, y, z, d, sums = np.empty((5, size * count), np.float32)
    near, charges, shares = np.empty((slots, size), np.int64), np.empty((slots, size)), np.empty(size)
    for m in range(len(which)):
        # coordinates of all points one after the other, over d of the first function; regions and w_i / p of functions
        origin, unit = points[which[m, 0], 0], lengths[which[m, 0]]
        for i in range(size):
            own = which[m, i]
            for a in range(count):
                at = i * count + a
                x[at], y[at] = (points[own, a, 0] - origin[0]) / unit, (points[own, a, 1] - origin[1]) / unit
                z[at], d[at] = (points[own, a, 2] - origin[2]) / unit, lengths[own] / unit
            for p in range(slots):
                near[p, i], charges[p, i] = regions[own, p], signs[own, p] * weights[own] / count
        # potentials of charges beyond the neighbours, where the functions are not all that come before the first
        radius, farther = 0.0, 0.0
        for at in range(size * count):
            radius = max(radius, math.sqrt(x[at] ** 2 + y[at] ** 2 + z[at] ** 2))
        if which[m, size - 1] != which[m, 0] and radius > 0:
            farther = FARTHER * count**2 * max(1 / radius - unit / extent, 0.0)
        for i in range(size):
            end = (i + 1) * count
            out[m, i, : i + 1] = 0.0
            for g in range(len(decays)):
                decay = np.float32(decays[g] * unit)
                sums[:end] = 0.0
                # sums of exp(-kappa r) (4 d + r) / (2 d + r)^2 over the points of the i-th function
                for a in range(i * count, end):
                    for at in range(end):
                        r = math.sqrt((x[at] - x[a]) ** 2 + (y[at] - y[a]) ** 2 + (z[at] - z[a]) ** 2)
                        value = (two * (d[at] + d[a]) + r) / (d[at] + d[a] + r) ** 2
                        if decay > 0:
                            value *= math.exp(-decay * r)
                        sums[at] += value
                # w_i w_j / (4 pi a p^2) of the regions that both functions have
                shares[: i + 1] = 0.0
                for p in range(slots):
                    region = near[p, i]
                    if region >= 0 and group[region] == g:
                        factor = charges[p, i] / (4 * math.pi * constants[region] * unit)
                        for q in range(slots):
                            for j in range(i + 1):
                                shares[j] += factor * charges[q, j] if near[q, j] == region else 0.0
                # sums over the points of the j-th function
                constant = farther * math.exp(-decays[g] * unit * radius)
                for j in range(i + 1):
                    total = constant
                    for at in range(j * count, (j + 1) * count):
                        total += sums[at]
                    out[m, i, j] += shares[j] * total


def with_details(inverse: LinearOperator, diagonal: NDArray[np.float64]) -> LinearOperator:
    """An approximate inverse (3 n, 3 n) for linear functions on n triangles. inverse: (n, n) of the means of the three
    functions of each; what differs from means is divided by diagonal (n,)."""
    count = len(diagonal)

    def product(x: NDArray[Any]) -> NDArray[Any]:
        local = x.reshape(count, 3, -1)
        means = local.mean(axis=1)
        found = (local - means[:, None]) / diagonal[:, None, None] + inverse.matmat(means)[:, None] / 3
        return np.asarray(found.reshape(x.shape))

    shape = (3 * count, 3 * count)
    return LinearOperator(shape, matvec=product, rmatvec=product, matmat=product, dtype=inverse.dtype)


def space_inverse(space: Space) -> LinearOperator:
    """U U^T near the inverse of the single layer of Laplace's equation on a space P0 or DP1."""
    size = space.element.size
    areas = space.mesh.areas[space.triangles]
    means = layer_inverse(space.mesh, space.triangles, areas / size)
    return means if size == 1 else with_details(means, DETAILS * areas**1.5)


def near_preconditioner(system: LinearSystem) -> Preconditioner:
    """The inverse of the entries between functions that share a triangle, all blocks of a surface: sparse LU factors of
    the entries of a dense matrix, or of the blocks of neighbours."""

    def nbytes() -> int:
        near = sum(sharing(space).nnz for space in system.spaces) if _have_triangles(system) else _pattern(system).nnz
        return _factor_bytes(near, system.unknowns)

    def inverse() -> LinearOperator:
        return sparse_inverse(entries_of(system.assembled, _pattern(system).tocoo()))

    return Preconditioner("near", system.unknowns, inverse, nbytes)


def factors_of(name: str, size: int, matrix: Callable[[], sp.csr_array]) -> Preconditioner:
    """The inverse of a sparse matrix (size, size) of complex numbers near that of a system, by its LU factors."""
    made = cache(matrix)
    return Preconditioner(name, size, lambda: sparse_inverse(made()), lambda: _factor_bytes(made().nnz, size))


def _factor_bytes(entries: int, unknowns: int) -> int:
    """Bytes of sparse LU factors of complex numbers by the logarithm of the unknowns, measured for P1, P2 and RWG from
    1,000 to 90,000 unknowns (within a third), and of copies of the entries on their way there."""
    return int(entries * (0.8 * 20 * np.log2(max(unknowns, 2)) + 80))


def entries_of(matrix: Any, pattern: sp.coo_array) -> sp.csc_array:
    """The entries of a pattern (rows, columns), complex, of a matrix that stores them."""
    stores_near = hasattr(matrix, "near_entries")
    entries = matrix.near_entries(*pattern.coords) if stores_near else matrix.to_array()[pattern.coords]
    entries = np.asarray(entries, np.complex128)
    return sp.coo_array((entries, pattern.coords), pattern.shape).tocsc()


def _pattern(system: LinearSystem) -> sp.csr_array:
    """(n, n) not zero where two unknowns share a triangle: those of one space in all of its blocks; where unknowns are
    combinations of functions, those of functions that an operator of the system pairs."""
    if not _have_triangles(system):
        return sharing_in(system.operator)
    near = {id(space): sharing(space) for space in system.spaces}
    table = [[near[id(row)] if row is column else None for column in system.spaces] for row in system.spaces]
    return sp.csr_array(sp.block_array(table))


def _have_triangles(system: LinearSystem) -> bool:
    return all(hasattr(space, "dofs") for space in system.spaces)


def sharing_in(operator: BoundaryOperator) -> sp.csr_array:
    """(rows, columns) not zero where functions that an expression pairs have a common triangle, and where sparse
    operators have entries; between sparse factors sum_d |L_d|^T P |R_d| with the pattern P of the operator there."""
    total = sp.csr_array(operator.shape)
    for term in terms_of(operator):
        pattern = _sharing_of(term.atom)
        pattern = (pattern.T if term.transposed else pattern).tocoo()
        places = pattern.coords[0] + term.top, pattern.coords[1] + term.left
        total = total + sp.coo_array((np.ones(pattern.nnz), places), operator.shape).tocsr()
    return total


def _sharing_of(atom: Any) -> sp.csr_array:
    """The pattern of one atom; empty for compositions, whose entries are not stored, and for two meshes."""
    if atom.is_local:
        return abs(atom.matrix)
    if not atom.is_leaf:
        pattern = sp.csr_array(atom.shape)
        for inner in atom.expressions if atom.is_transformed else ():
            near = sharing_in(inner)
            pairs = (matrices_of(side, size) for side, size in zip((atom.left, atom.right), near.shape, strict=True))
            for left, right in zip(*pairs, strict=True):
                pattern = pattern + abs(left).T @ near @ abs(right)
        return pattern
    test, trial = atom.test, atom.trial
    if test.mesh is not trial.mesh:
        return sp.csr_array(atom.shape)
    return (_carried(test) @ _carried(trial).T).tocsr()


def sharing(space: Any) -> sp.csr_array:
    """(n, n) not zero where two functions have a common triangle. Masses of some neighbours are zero, or rounding, so
    that the mass matrix has another pattern."""
    carried = _carried(space)
    return (carried @ carried.T).tocsr()


def _carried(space: Any) -> sp.csr_array:
    """(functions, triangles of the mesh) not zero where a triangle carries a function."""
    held = space.dofs >= 0
    triangles = space.triangles[np.nonzero(held)[0]]
    shape = space.dimension, space.mesh.number_of_triangles
    return sp.csr_array((np.ones(len(triangles)), (space.dofs[held], triangles)), shape)


def weighted_gram(test: EdgeSpace, trial: EdgeSpace, weights: NDArray[Any]) -> sp.csr_array:
    """(dimension, dimension) int w f . g with numbers w on the triangles (nt,)."""
    scale = sp.diags_array(np.repeat((weights * test.mesh.areas)[test.support] / 3, 3))
    pairs = zip(test.expansion(CENTRES), trial.expansion(CENTRES), strict=True)
    return sp.csr_array(sum(left.T @ scale @ right for left, right in pairs))


def local_field(space: EdgeSpace, k: complex) -> sp.csr_array:
    """A sparse matrix (dimension, dimension) near the electric field T of a wavenumber k, for its inverse: the fields
    of currents and charges around each point alone, as if these were constant on discs of radius a,

        g(a) = a / 2 / (1 - i k a),        <f_i, T f_j> ~ int i k g(a_J) f_i . f_j + g(a_q) / (i k) div f_i div f_j,

    where g has the limits of (exp(i k a) - 1) / (2 i k), the potential of a disc, for small and lossy or large ones.
    Loops have no charges, and none here: entries of T between functions that share a triangle, without those of others
    around, would give them some, which are large where k h is small. Currents have larger discs than charges where it
    is not: else i k g and g / (i k), of opposite sign, cancel for waves along the surface."""
    size = np.sqrt(space.mesh.areas)
    reach = REACH * size
    currents, charges = (a / 2 / (1 - 1j * k * a) for a in (reach * (1 + GROWTH * abs(k) * size), reach))
    divergence = space.divergence_matrix()
    field = 1j * k * weighted_gram(space, space, currents)
    return sp.csr_array(field + divergence.T @ sp.diags_array(charges * space.mesh.areas / (1j * k)) @ divergence)
