"""Test functions of the magnetic field equation: the rotated dual functions as affine fields on each triangle."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh
from calderon.quadrature import triangle_rule
from calderon.spaces.edge.buffa_christiansen import RBC
from calderon.spaces.edge.edge_space import EdgeSpace
from calderon.spaces.edge.field_table import FieldTable
from calderon.spaces.interning import interned
from calderon.spaces.vector_space import CombinedSpace, VectorData


@dataclass(frozen=True, eq=False)
class DualTests(FieldTable):
    """One test function for each function of `primal`, as a table of tangential fields that are affine on triangles.

    corner_values (n, L, 3, 3): [t, a, m] is the value of local function a of triangle t at its vertex m, in between it
    is linear; dofs (n, L): the function that it belongs to, numbered like those of `primal`, -1 for none (its values
    are zero then). Functions jump at edges. They test tangential fields such as n x H and n x (grad G x J); they have
    neither divergence nor curl. part_of: the space that `primal` has some functions of; None where it has all. share:
    triangles on which functions are projected and paired at a time.
    """

    primal: EdgeSpace
    triangles: NDArray[np.int64]
    dofs: NDArray[np.int64]
    corner_values: NDArray[np.float64]
    part_of: EdgeSpace | None = None

    name = "dual tests"
    rotated = False
    row_arrays = ("triangles", "dofs", "corner_values")
    share: ClassVar[int] = 4096
    charge_kinds = ("current", "rotated")

    def __repr__(self) -> str:
        return f"dual tests({self.dimension} functions on {len(self.dofs)} triangles)"

    @property
    def mesh(self) -> TriangleMesh:  # type: ignore[override]
        return self.primal.mesh

    @property
    def dimension(self) -> int:  # type: ignore[override]
        return self.primal.dimension

    @cached_property
    def pairing(self) -> sp.csr_array:
        """(dimension, dimension) sparse matrix <t_i, f_j> with the functions of `primal`."""
        edges, shape = self.primal.dofs.astype(np.int32), (len(self.dofs), self.dofs.shape[1], 3)
        values = np.empty(shape)
        for chosen in self._portions(len(values)):
            values[chosen] = _local_pairing(self.primal, chosen, self.corner_values[chosen])
        rows, columns = np.broadcast_arrays(self.dofs.astype(np.int32)[:, :, None], edges[:, None])
        kept = (rows >= 0) & (columns >= 0)
        return sp.coo_array((values[kept], (rows[kept], columns[kept])), (self.dimension, self.dimension)).tocsr()

    def of_functions(self, numbers: NDArray[np.int64], primal: EdgeSpace) -> "DualTests":
        """The tests of some functions alone, in ascending order of their numbers. primal: the space of these."""
        places = np.full(self.dimension, -1)
        places[numbers] = np.arange(len(numbers))
        dofs = np.where(self.dofs < 0, -1, places[self.dofs])
        kept = (dofs >= 0).any(axis=1)
        values = np.where(dofs[kept][:, :, None, None] < 0, 0.0, self.corner_values[kept])
        whole = self.primal if self.part_of is None else self.part_of
        return DualTests(primal, self.triangles[kept], dofs[kept], values, whole)

    @classmethod
    def _portions(cls, count: int) -> list[NDArray[np.int64]]:
        """Numbers of so many triangles, a share at a time."""
        return np.split(np.arange(count), range(cls.share, count, cls.share))

    def refined(self) -> NoReturn:
        raise self._not_for("fields of a refined mesh")

    def perpendicular(self) -> NoReturn:
        raise self._not_for("rotated fields")

    def divergence_matrix(self) -> NoReturn:
        raise self._not_for("a divergence")

    def interpolation(self, data: VectorData, points: int = 4) -> NoReturn:
        raise self._not_for("an interpolation")

    def _not_for(self, what: str) -> ValueError:
        return ValueError(
            f"dual tests are for testing, on the mesh that they are of, and have no {what}: take RBC(mesh)"
        )


def numbering(space: Any) -> Any:
    """The space whose functions give rows of a matrix their numbers: that of which dual tests are, else itself."""
    return space.primal if isinstance(space, DualTests) else space


def dual_tests(space: EdgeSpace) -> DualTests:
    """The rotated dual functions n x g_e of Buffa and Christiansen, each replaced on every triangle of the mesh by its
    projection in L2 on affine fields, and scaled so that <t_e, f_e> = <f_e, f_e> with the functions f_e of `space`.

    All affine fields on a triangle have the integrals against t_e that they have against n x g_e. In particular
    <t_e, f_j> is, but for the scale, the pairing of dual and RWG functions, whose condition does not depend on the
    size of triangles; and a field that is smooth on triangles is tested as by n x g_e but for its second derivatives,
    without a refined mesh. The scale, a number, lets equations tested with t_e and with f_e be added on stretched
    triangles, too.

    space: `RWG(mesh)` of a whole mesh. Raises MeshError where three or more triangles meet at an edge, TypeError and
    ValueError for another space. Sources: testing
    with n x g_e, K. Cools, F. P. Andriulli, D. De Zutter, E. Michielssen, IEEE Antennas Wirel. Propag. Lett. 10 (2011)
    528; the projection, docs/decisions/15-dual-tests.md.
    """
    if not isinstance(space, EdgeSpace):
        raise TypeError(f"dual tests are those of edge functions, got {space!r}: take RWG(mesh)")
    if space.rotated or len(space.support) < space.mesh.number_of_triangles:
        raise ValueError(
            f"dual tests are those of RWG functions on a whole mesh, got {space!r}: "
            "take RWG(mesh), for a part of it RWG(mesh.restricted(tags))"
        )
    return interned(space.mesh, ("dual tests", id(space)), lambda: _dual_tests(space))


def _dual_tests(space: EdgeSpace) -> DualTests:
    """Some triangles at a time, so that little more memory is taken than the table has."""
    count, dual, parts = space.mesh.number_of_triangles, RBC(space.mesh), []
    diagonal, sizes = np.zeros((2, space.dimension))
    # dual functions on some triangles, products with the function of their own edge, squares of edge functions
    for chosen in DualTests._portions(count):
        own, numbers = _on_triangles(dual, chosen)
        pairs = _local_pairing(space, chosen, numbers)
        edges = space.dofs[chosen]
        itself = (own[:, :, None] == edges[:, None]) & (own[:, :, None] >= 0)
        np.add.at(diagonal, own[itself.any(axis=2)], pairs[itself])
        pairs = _local_pairing(space, chosen, space.taken(chosen).corner_values)
        np.add.at(sizes, edges[edges >= 0], np.einsum("tbb->tb", pairs)[edges >= 0])
        parts.append((own, numbers))
    del dual
    # one table of all, scaled so that these products agree
    dofs = np.full((count, max(each.shape[1] for each, _ in parts)), -1)
    values = np.zeros((*dofs.shape, 3, 3))
    factors = sizes / diagonal
    while parts:  # from the last on, which is freed then
        own, numbers = parts.pop()
        last = len(parts) * DualTests.share
        dofs[last : last + len(own), : own.shape[1]] = own
        numbers *= factors[own][:, :, None, None]  # those of no function are zero
        values[last : last + len(own), : own.shape[1]] = numbers
    return DualTests(space, np.arange(count), dofs, values)


def _on_triangles(dual: CombinedSpace, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """dofs and corner_values of the dual functions on some triangles that follow one another, before these are
    scaled."""
    fine: Any = dual.base
    children = fine.taken((6 * chosen[:, None] + np.arange(6)).ravel())
    project = sp.kron(sp.eye_array(len(chosen)), _projection()).tocsr()
    parts = [(project @ (part @ dual.matrix)).tocsr() for part in children.expansion(triangle_rule(2).points)]
    pattern = sum(abs(part) for part in parts).tocoo()
    shape = (len(chosen), dual.dimension)
    places = sp.coo_array((np.ones(pattern.nnz), (pattern.coords[0] // 3, pattern.coords[1])), shape).tocsr()
    places.sort_indices()
    count = np.diff(places.indptr)
    triangle = np.repeat(np.arange(len(count)), count)
    local = np.arange(len(triangle)) - np.repeat(places.indptr[:-1], count)
    dofs = np.full((len(count), int(count.max())), -1)
    dofs[triangle, local] = places.indices
    values = np.zeros((*dofs.shape, 3, 3))
    for c, part in enumerate(parts):
        for m in range(3):
            values[triangle, local, m, c] = part[3 * triangle + m, places.indices]
    return dofs, values


def _local_pairing(space: EdgeSpace, chosen: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, L, 3) integrals over some triangles of affine fields with these values at corners (n, L, 3, 3) and of the
    functions of each row: int l_m l_n is (1 + delta) / 12 of the area."""
    weighted = np.einsum("nbkc,mk->nmcb", space.taken(chosen).corner_values, 1 + np.eye(3))
    found = values.reshape(*values.shape[:2], 9) @ weighted.reshape(len(chosen), 9, 3)
    return np.asarray(found * (space.mesh.areas[chosen] / 12)[:, None, None])


def _projection() -> NDArray[np.float64]:
    """(3, 6 points) from values at the points of the rule of degree 2 on the six children of a triangle to those at its
    vertices of the nearest affine function in L2: children have a sixth of the area each, int l_m l_n is (1 + delta) /
    12 of it."""
    eye = np.eye(3)
    centre = np.full(3, 1 / 3)
    middle = [(eye[i] + eye[j]) / 2 for i, j in ((1, 2), (2, 0), (0, 1))]
    children = [  # as in mesh.barycentric_refinement
        corners
        for i in range(3)
        for corners in ((eye[i], middle[(i + 2) % 3], centre), (eye[i], centre, middle[(i + 1) % 3]))
    ]
    rule = triangle_rule(2)  # exact for products of two affine functions
    values = np.einsum("pa,kam->kpm", rule.barycentric, np.array(children)) * rule.weights[:, None] / 3
    return np.asarray(12 * np.linalg.inv(1 + eye) @ values.reshape(-1, 3).T)
