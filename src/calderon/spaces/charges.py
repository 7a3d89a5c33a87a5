"""Charges: what a fast summation asks of a space, as quadrature points and sparse maps to them and from them.

A Galerkin matrix without its singular parts is a sum over the points of two quadrature rules,

    A[i, j] = sum_p sum_q M_i(x_p) K(x_p, y_q) M_j(y_q),

where M_j(y_q) is the weight of the point times a linear functional of trial function j there: its value, its surface
curl, its divergence. These numbers are the charges of function j, and their matrix is the `spread` S. On the test side
the same matrix, transposed, gathers potentials at points into moments with test functions: A = S_test^T K S_trial.
No kernel is known here, and nothing of a space is known to who sums.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.numba import kernel
from calderon.quadrature import TriangleRule, triangle_rule
from calderon.spaces.edge.field_table import FieldTable
from calderon.spaces.element import barycentric
from calderon.spaces.space import Space
from calderon.spaces.vector_space import VectorSpace

KINDS = {
    "value": ("value", 1),
    "normal": ("value", 3),
    "curl": ("curl", 3),
    "current": ("current", 3),
    "rotated": ("current", 3),
    "divergence": ("divergence", 1),
}
"""By kind of charge: the map that is stored for it, and the number of its components."""


@dataclass(frozen=True, eq=False)
class Charges:
    """Quadrature points of a space, and maps between its coefficients and charges at the points.

    points (n, 3) in m; weights (n,) in m^2, whose sum is the area; normals (n, 3) of unit length; triangles (n,): the
    triangle of the mesh that each point lies in, points of a triangle follow each other. maps: sparse matrices of
    shape (n, dimension), or (number of triangles, dimension) for what is constant on triangles, without weights.

    Kinds of charges, and what they are with the weight w of a point and its normal n:

    - "value": w phi, of scalar functions phi. A double layer takes them as dipoles along the normals.
    - "normal": w phi n, three components: dipole moments; on the test side moments of normal derivatives.
    - "curl": w (n x grad phi), three components.
    - "current": w f, three components, of tangential fields f (n x included in those of rotated spaces).
    - "rotated": w (n x f): <f, n x H> = -<n x f, H>.
    - "divergence": w div f.
    """

    points: NDArray[np.float64]
    weights: NDArray[np.float64]
    normals: NDArray[np.float64]
    triangles: NDArray[np.int64]
    maps: dict[str, tuple[sp.csr_array, ...]]

    def __repr__(self) -> str:
        return f"Charges({len(self.points)} points, {', '.join(self.kinds)})"

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of charges that there are."""
        return tuple(kind for kind, (stored, _) in KINDS.items() if stored in self.maps)

    @property
    def dimension(self) -> int:
        """The number of functions of the space."""
        return int(next(iter(self.maps.values()))[0].shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        matrices = [matrix for parts in self.maps.values() for matrix in parts]
        arrays = [each for matrix in matrices for each in (matrix.data, matrix.indices, matrix.indptr)]
        return sum(each.nbytes for each in [self.points, self.weights, self.normals, self.triangles, *arrays])

    def strengths(self, kind: str, coefficients: NDArray[Any]) -> NDArray[Any]:
        """(n, components) charges of coefficients (dimension,): the spread of that kind times the coefficients; of
        several columns (dimension, m), such as the components of a displacement, (n, components, m)."""
        parts = np.stack([part @ coefficients for part in self._stored(kind)], axis=1)  # at points or on triangles
        charges = _times(np.repeat(parts, len(self.points) // len(parts), axis=0), self.weights)
        if kind == "normal":
            return charges * self.normals.reshape(*self.normals.shape, *[1] * (charges.ndim - 2))
        return _cross(self.normals, charges) if kind == "rotated" else charges

    def moments(self, kind: str, potentials: NDArray[Any]) -> NDArray[Any]:
        """(dimension,) moments of potentials (n, components): the transposed spread of that kind times them; of
        (n, components, m) potentials (dimension, m)."""
        parts = self._stored(kind)
        shape = (len(self.points), KINDS[kind][1])
        if potentials.shape[:2] != shape:
            raise ValueError(f"moments of kind {kind!r} need potentials of shape {shape}, got {potentials.shape}")
        weighted = _times(potentials, self.weights)
        if kind == "normal":
            weighted = np.einsum("nc,nc...->n...", self.normals, weighted)[:, None]
        if kind == "rotated":
            weighted = -_cross(self.normals, weighted)  # (n x f) . H = -f . (n x H)
        rows = parts[0].shape[0]  # points, or triangles, over whose points values are summed
        if rows < len(weighted):
            weighted = weighted.reshape(rows, -1, *weighted.shape[1:]).sum(axis=1)
        return sum(part.T @ weighted[:, c] for c, part in enumerate(parts))

    def spread(self, kind: str) -> tuple[sp.csr_array, ...]:
        """The sparse matrix (n, dimension) of each component: coefficients to charges of that kind."""
        count = len(self.points)
        parts = self._stored(kind)
        if parts[0].shape[0] != count:
            once = sp.kron(sp.eye_array(parts[0].shape[0]), np.ones((count // parts[0].shape[0], 1)), format="csr")
            parts = tuple(once @ part for part in parts)
        normal = self.normals.T
        if kind == "normal":
            factors, parts = list(normal), parts * 3
            return tuple(_scaled(part, self.weights * each) for part, each in zip(parts, factors, strict=True))
        if kind == "rotated":
            turned = ((normal[1], 2, normal[2], 1), (normal[2], 0, normal[0], 2), (normal[0], 1, normal[1], 0))
            return tuple(
                (_scaled(parts[i], self.weights * a) - _scaled(parts[j], self.weights * b)).tocsr()
                for a, i, b, j in turned
            )
        return tuple(_scaled(part, self.weights) for part in parts)

    def gather(self, kind: str) -> tuple[sp.csr_array, ...]:
        """The sparse matrix (dimension, n) of each component: potentials to moments with the functions, weights
        included."""
        return tuple(part.T.tocsr() for part in self.spread(kind))

    def _stored(self, kind: str) -> tuple[sp.csr_array, ...]:
        if kind not in self.kinds:
            raise ValueError(f"these charges have no kind {kind!r}: choose {_choices(self.kinds)}")
        return self.maps[KINDS[kind][0]]


def _has_table(space: Any) -> bool:
    """Whether functions are a table of tangential fields that are affine on triangles, with one row for each."""
    return isinstance(space, FieldTable) and len(space.triangles) == len(space.support)


def shares(space: Any, triangles: int = 4096) -> list[Any]:
    """Spaces with a part of the triangles each, in order, whose charges one after the other are those of the space: of
    functions with a table of tangential fields, so many triangles at a time; else the space itself."""
    if _has_table(space):
        count = len(space.triangles)
        return [space.taken(rows) for rows in np.split(np.arange(count), range(triangles, count, triangles))]
    return [space]


def charges(space: Space | VectorSpace, degree: int, *kinds: str) -> Charges:
    """The charges of a space on the points of the rule of that degree (1 to 20) on each triangle of its support; of
    combined functions (BC, RBC) on the triangles of the refined mesh. Components of a vector-valued nodal space are
    columns of coefficients of its scalar space.

    kinds: those that are wanted, default all that the space has. Raises ValueError for kinds that it does not have:
    scalar spaces have "value" and "normal", from degree 1 "curl"; spaces of tangential fields "current" and "rotated",
    and "divergence" unless they are rotated or dual tests.
    """
    chosen = kinds or space.charge_kinds
    for kind in chosen:
        if kind not in space.charge_kinds:
            raise ValueError(f"functions of {space!r} have no charges {kind!r}: choose {_choices(space.charge_kinds)}")
    rule, stored = triangle_rule(degree), {KINDS[kind][0] for kind in chosen}
    names = [name for name in ("value", "curl", "current", "divergence") if name in stored]
    return Charges(*_places(space, rule), {name: _map(space, name, rule.points) for name in names})


class ChargeEntries(NamedTuple):
    """Entries of sparse maps by triangles, all components together: those of the functions unknowns (n,) at the points
    of each of the carriers (n,), which are numbers of triangles below `total`. numbers(places, real): (n, points,
    components) in that type, entry e at places[e]."""

    total: int
    carriers: NDArray[np.int64]
    unknowns: NDArray[np.int64]
    numbers: Callable[[NDArray[np.int64], Any], NDArray[Any]]


def entries_of_charges(space: Any, degree: int, kind: str) -> ChargeEntries:
    """Entries of `charges(space, degree, kind).spread(kind)`, in any order; those of nodal functions, and of tables of
    tangential fields, are made without sparse matrices."""
    is_table = _has_table(space) and kind in ("current", "rotated")
    if not is_table and not (isinstance(space, Space) and kind in ("value", "normal")):
        return _entries_of_maps(space, degree, kind)
    rule, kept = triangle_rule(degree), space.dofs >= 0
    rows, local = np.nonzero(kept)
    starts, components = np.append(0, np.cumsum(kept.sum(axis=1))), KINDS[kind][1]
    shape, turned = (len(rows), rule.number_of_points, components), kind in ("normal", "rotated")
    parts = shares(space)
    ends = np.cumsum([0, *(len(each.triangles) for each in parts)])

    def numbers(places: NDArray[np.int64], real: Any) -> NDArray[Any]:
        out = np.empty(shape, real)

        def work(number: int) -> None:
            """Write the entries of a share of the triangles."""
            part, low, high = parts[number], ends[number], ends[number + 1]
            geometry = part.base.mesh.geometry(part.triangles) if is_table else part.geometry
            weights = geometry.weights(rule)
            normals = geometry.normals_at(rule.points) if turned else np.zeros((1, 0, 3))
            own = slice(starts[low], starts[high])
            given = rows[own] - low, local[own], places[own], weights, normals
            if is_table:
                put_fields(*given, part.corner_values, barycentric(rule.points), out)
            else:
                put_values(*given, np.ascontiguousarray(space.element.values(rule.points)), out)

        run_tasks(work, len(parts))
        return out

    return ChargeEntries(len(space.triangles), rows, space.dofs[kept], numbers)


@kernel
def put_values(rows, local, places, weights, normals, values, out):
    """Write charges of nodal functions to out[places[e]] (points, components): values[local[e]] (points,) times the
    weights[rows[e]] (points,), and, unless there are none, normals[rows[e]] (points, 3)."""
    for e in range(len(rows)):
        r, a, place = rows[e], local[e], places[e]
        for j in range(weights.shape[1]):
            number = values[a, j] * weights[r, j]
            if normals.shape[1] == 0:
                out[place, j, 0] = number
            else:
                for c in range(3):
                    out[place, j, c] = number * normals[r, j, c]


@kernel
def put_fields(rows, local, places, weights, normals, corner_values, barycentric, out):
    """Write charges of tangential fields to out[places[e]] (points, 3): those with corner_values[rows[e], local[e]] (3,
    3) at points with barycentric coordinates (3, points), n x them unless there are no normals, times weights; other
    arguments as in `put_values`."""
    for e in range(len(rows)):
        r, a, place = rows[e], local[e], places[e]
        for j in range(weights.shape[1]):
            u, v, w = barycentric[0, j], barycentric[1, j], barycentric[2, j]
            f = corner_values[r, a]
            x = (u * f[0, 0] + v * f[1, 0] + w * f[2, 0]) * weights[r, j]
            y = (u * f[0, 1] + v * f[1, 1] + w * f[2, 1]) * weights[r, j]
            z = (u * f[0, 2] + v * f[1, 2] + w * f[2, 2]) * weights[r, j]
            if normals.shape[1] > 0:
                nx, ny, nz = normals[r, j, 0], normals[r, j, 1], normals[r, j, 2]
                x, y, z = ny * z - nz * y, nz * x - nx * z, nx * y - ny * x
            out[place, j, 0], out[place, j, 1], out[place, j, 2] = x, y, z


def _entries_of_maps(space: Any, degree: int, kind: str) -> ChargeEntries:
    """Entries of spaces that have sparse maps, on one pattern of entries."""
    q = triangle_rule(degree).number_of_points
    given = charges(space, degree, kind)
    parts = given.spread(kind)
    union = parts[0]
    if not all(np.array_equal(each.indices, union.indices) and np.array_equal(each.indptr, union.indptr)
               for each in parts):  # fmt: skip
        ones = [sp.csr_array((np.ones(each.nnz), each.indices, each.indptr), each.shape) for each in parts]
        union = sp.csr_array(sum(ones[1:], ones[0]))
        union.sort_indices()
        parts = tuple(_on(each, union) for each in parts)
    total, numbers = len(given.points) // q, np.stack([each.data for each in parts], axis=1)
    # the functions of a triangle at its first point, which mostly are those at the others
    counts, starts = np.diff(union.indptr).reshape(total, q), union.indptr[:-1:q]
    width = counts[:, 0]
    carriers = np.repeat(np.arange(total), width)
    first = starts[carriers] + np.arange(len(carriers)) - np.repeat(np.cumsum(width) - width, width)
    if (counts == width[:, None]).all():
        at = first[:, None] + np.arange(q) * width[carriers][:, None]
        if (union.indices[at] == union.indices[first][:, None]).all():
            return ChargeEntries(total, carriers, union.indices[first], partial(_placed, numbers[at]))
    # else all that a triangle has at one of them
    row, column = union.tocoo().coords
    keys, entry = np.unique(row // q * space.dimension + column.astype(np.int64), return_inverse=True)
    found = np.zeros((len(keys), q, numbers.shape[1]))
    found[entry, row % q] = numbers
    return ChargeEntries(total, *np.divmod(keys, space.dimension), partial(_placed, found))


def _placed(numbers: NDArray[Any], places: NDArray[np.int64], real: Any) -> NDArray[Any]:
    """Numbers (n, ...) in a type, that of entry e at places[e]."""
    out = np.empty(numbers.shape, real)
    out[places] = numbers
    return out


def _on(matrix: sp.csr_array, pattern: sp.csr_array) -> sp.csr_array:
    """A matrix with zeros where another one has entries."""
    full = matrix + sp.csr_array((np.full(pattern.nnz, 1e-300), pattern.indices, pattern.indptr), pattern.shape)
    full.sort_indices()
    return full


def carriers_of_charges(space: Space | VectorSpace) -> tuple[Any, NDArray[np.int64]]:
    """The mesh and the triangles (n,) that have the charges of a space, in the order of these; of combined functions
    those of the refined mesh."""
    if isinstance(space, Space):
        return space.mesh, space.triangles
    table: Any = space
    return space.base.mesh, table.triangles if _has_table(space) else space.support


def _places(space: Any, rule: TriangleRule) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Points, weights, normals and triangles, as of `Charges`."""
    mesh, triangles = carriers_of_charges(space)
    geometry = mesh.geometry(triangles)
    return (
        geometry.points(rule.points).reshape(-1, 3),
        geometry.weights(rule).ravel(),
        geometry.normals_at(rule.points).reshape(-1, 3),
        np.repeat(triangles, rule.number_of_points),
    )


def _map(space: Any, name: str, points: NDArray[np.float64]) -> tuple[sp.csr_array, ...]:
    """The components of a map at reference points, or on triangles where the functions are constant there."""
    if name in ("value", "current"):
        found = space.expansion(points)
    elif name == "divergence":
        found = space.divergence_matrix()
    else:
        found = space.surface_curl(points[:1] if space.element.degree == 1 and space.mesh.is_flat else points)
    parts = tuple(found) if isinstance(found, list) else (found,)
    for part in parts:
        part.sum_duplicates()  # scaled copies share the indices, which SciPy sorts in place where they are not
    return parts


def _times(values: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[Any]:
    """Values (n, ...) times weights (n,)."""
    return values * weights.reshape(-1, *[1] * (values.ndim - 1))


def _cross(normals: NDArray[np.float64], vectors: NDArray[Any]) -> NDArray[Any]:
    """n x v of vectors (n, 3, ...)."""
    return np.moveaxis(np.cross(normals.reshape(len(normals), *[1] * (vectors.ndim - 2), 3),
                                np.moveaxis(vectors, 1, -1)), -1, 1)  # fmt: skip


def _scaled(matrix: sp.csr_array, factors: NDArray[np.float64]) -> sp.csr_array:
    """A matrix with rows times factors."""
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    return sp.csr_array((data, matrix.indices, matrix.indptr), matrix.shape)


def _choices(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names))
