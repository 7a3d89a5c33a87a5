"""Finite element spaces on triangulated surfaces."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.mesh import TriangleMesh
from calderon.mesh.geometry import Geometry
from calderon.quadrature import triangle_rule
from calderon.spaces.coefficients import function_in
from calderon.spaces.element import Element
from calderon.spaces.projection import Loads, ProjectionSpace, tabulated_loads
from calderon.spaces.supports import Carriers, carriers_of, put_vertices
from calderon.validation import LARGEST, unmasked

Data = complex | Callable[..., Any]
Tags = int | str | Iterable[int | str] | None


@dataclass(frozen=True, eq=False)
class Space(ProjectionSpace):
    """Scalar piecewise polynomials on the triangles of a mesh.

    mesh: the surface. triangles (m,): numbers of the triangles of the support. dofs (m, element.size): number of the
    global function that each local one belongs to, -1 where there is none (a node left out). dimension: number of
    global functions. Built by `P0`, `P1`, `DP1`, `P2`.
    """

    name: str
    mesh: TriangleMesh
    element: Element
    triangles: NDArray[np.int64]
    dofs: NDArray[np.int64]
    dimension: int

    value_shape: ClassVar[tuple[int, ...]] = ()

    @property
    def scalar(self) -> "Space":
        """The space of each component: itself."""
        return self

    def __repr__(self) -> str:
        return f"{self.name}({self.dimension} functions on {len(self.triangles)} triangles)"

    @cached_property
    def is_continuous(self) -> bool:
        """Whether the functions are continuous across edges, as the hypersingular operator requires: all triangles of
        an edge have the same functions at its nodes."""
        if self.element.degree == 0:
            return False
        if self.element.degree == 1:  # one function at each vertex, as nearly always
            at_vertex = np.full(self.mesh.number_of_vertices, -2, self.dofs.dtype)
            if _is_one_at_each_vertex(self.mesh.triangles, self.triangles, self.dofs, at_vertex):
                return True
        vertices, local, nodes = self.mesh.triangles[self.triangles], self.element.indices, []
        for i in range(3):  # from the vertex with the smaller number to the other one
            j, k = (i + 1) % 3, (i + 2) % 3
            on_edge = np.flatnonzero(self.element.on_edge[i])
            forward = self.dofs[:, on_edge[np.argsort(local[on_edge, k])]]
            nodes.append(np.where(vertices[:, j : j + 1] < vertices[:, k : k + 1], forward, forward[:, ::-1]))
        edges = self.mesh.triangle_edges[self.triangles].T.ravel()
        order = np.argsort(edges, kind="stable")
        edges, functions = edges[order], np.concatenate(nodes)[order]
        same = edges[1:] == edges[:-1]
        return bool((functions[1:][same] == functions[:-1][same]).all())

    @property
    def charge_kinds(self) -> tuple[str, ...]:
        """The kinds of `Charges` that the functions have."""
        return ("value", "normal", "curl") if self.is_continuous else ("value", "normal")

    def selected(self, functions: NDArray[np.bool_]) -> "Space":
        """The space of some functions, a mask (dimension,), in the same order, on the triangles where they are not
        zero; this space itself where it is all of them."""
        if functions.all():
            return self
        numbers = np.where(functions, np.cumsum(functions) - 1, -1)
        dofs = np.where(self.dofs < 0, -1, numbers[self.dofs])
        kept = (dofs >= 0).any(axis=1)
        return replace(
            self, triangles=self.triangles[kept], dofs=dofs[kept], dimension=int(np.count_nonzero(functions))
        )

    def on(self, triangles: NDArray[np.int64]) -> "Space":
        """The parts of all functions on some triangles of the support, increasing numbers; others have none there."""
        if len(triangles) == len(self.triangles):
            return self
        return replace(self, triangles=triangles, dofs=self.dofs[np.searchsorted(self.triangles, triangles)])

    @property
    def geometry(self) -> Geometry:
        """The triangles of the support."""
        return self.mesh.geometry(self.triangles)

    @cached_property
    def carriers(self) -> Carriers:
        """The triangles of each function."""
        return carriers_of(self.dofs, self.dimension)

    @cached_property
    def reaches_boundary(self) -> bool:
        """Whether a continuous function does not vanish on the boundary of the support: at a node of an edge that only
        one of its triangles has."""
        edges = self.mesh.triangle_edges[self.triangles]
        on_rim = np.bincount(edges.ravel(), minlength=self.mesh.number_of_edges)[edges] == 1  # opposite vertex i
        return bool((on_rim @ self.element.on_edge & (self.dofs >= 0)).any())

    @cached_property
    def nodes(self) -> NDArray[np.float64]:
        """(dimension, 3) points at which the functions are dual (centroids for P0)."""
        nodes = np.empty((self.dimension, 3))
        if self.element.degree == 1 and self.mesh.is_flat:  # as nearly always
            put_vertices(self.mesh.vertices, self.mesh.triangles, self.triangles, self.dofs, nodes)
        else:
            kept = self.dofs >= 0
            nodes[self.dofs[kept]] = self.geometry.points(self.element.nodes)[kept]
        return nodes

    @cached_property
    def node_normals(self) -> NDArray[np.float64]:
        """(dimension, 3) unit normals at the nodes: area-weighted mean over the triangles that meet there."""
        kept = self.dofs >= 0
        normals = np.zeros((self.dimension, 3))
        np.add.at(normals, self.dofs[kept], self.geometry.area_vectors_at(self.element.nodes)[kept])
        return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)

    def expansion(self, points: NDArray[np.float64]) -> sp.csr_array:
        """(m * n, dimension) sparse matrix: coefficients to values at reference points (n, 2) of each triangle in
        turn.
        """
        values = self.element.values(points)
        return self._scatter(np.broadcast_to(values.T[None], (len(self.triangles), len(points), self.element.size)))

    def _scatter(self, local: NDArray[Any]) -> sp.csr_array:
        """Sparse (m * n, dimension) matrix of local values (m, n, size)."""
        m, n, size = local.shape
        data = np.array(local, dtype=float).reshape(-1)
        starts = np.arange(0, data.size + 1, size)
        columns = self.dofs.astype(np.int32 if data.size < 2**31 else np.int64)
        indices = np.repeat(columns[:, None], n, axis=1).reshape(-1)
        if (self.dofs < 0).any():
            kept = indices >= 0
            starts = np.append(0, np.cumsum(kept.reshape(-1, size).sum(axis=1)))
            data, indices = data[kept], indices[kept]
        matrix = sp.csr_array((data, indices, starts.astype(indices.dtype)), shape=(m * n, self.dimension))
        matrix.sort_indices()
        return matrix

    def surface_gradient(self, points: NDArray[np.float64]) -> list[sp.csr_array]:
        """Three (m * n, dimension) sparse matrices: coefficients to the x, y, z parts of the surface gradient."""
        gradients = self.geometry.gradients(points, self.element.gradients(points))
        return [self._scatter(np.swapaxes(gradients[..., c], 1, 2)) for c in range(3)]

    def surface_curl(self, points: NDArray[np.float64]) -> list[sp.csr_array]:
        """Sparse matrices of the vector surface curl n x grad_Gamma; arguments and result as in `surface_gradient`."""
        geometry = self.geometry
        gradients = geometry.gradients(points, self.element.gradients(points))
        curls = np.cross(geometry.normals_at(points)[:, None], gradients)
        return [self._scatter(np.swapaxes(curls[..., c], 1, 2)) for c in range(3)]

    def _quadrature(self, degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Reference points (n, 2) and weights (m, n) on the surface of a rule of that degree, of 4 more on curved
        triangles, whose Jacobian is no polynomial."""
        rule = triangle_rule(degree if self.mesh.is_flat else degree + 4)
        return rule.points, self.geometry.weights(rule)

    def mass_matrix(self, test: "Space | None" = None) -> sp.csr_array:
        """(test.dimension, dimension) sparse matrix int phi_i psi_j, exact."""
        test = self if test is None else test
        if test.mesh is not self.mesh:
            raise ValueError("a mass matrix couples two spaces on the same mesh object: build both from one mesh")
        points, weights = self._quadrature(max(1, self.element.degree + test.element.degree))
        own, others = common_places(self.triangles, test.triangles)
        # (m, test.element.size, element.size) of each triangle
        pairs = test.element.values(points)[:, None] * self.element.values(points)
        local = np.tensordot(weights[own], pairs, axes=(1, 2))
        kind = np.int32 if local.size < 2**31 else np.int64
        tests, trials = test.dofs[others].astype(kind), self.dofs[own].astype(kind)
        rows, columns = np.broadcast_arrays(tests[:, :, None], trials[:, None])
        kept = (rows >= 0) & (columns >= 0)
        shape = (test.dimension, self.dimension)
        return sp.coo_array((local[kept], (rows[kept], columns[kept])), shape=shape).tocsr()

    def laplace_beltrami_matrix(self) -> sp.csr_array:
        """(dimension, dimension) sparse matrix int grad phi_i . grad phi_j over the surface."""
        if not self.is_continuous:
            raise ValueError(
                f"Laplace-Beltrami needs continuous functions, {self.name} jumps across edges: try P1 or P2"
            )
        points, weights = self._quadrature(max(1, 2 * self.element.degree - 2))
        scale = sp.diags_array(weights.ravel())
        return sum(part.T @ scale @ part for part in self.surface_gradient(points)).tocsr()

    def load_vector(self, data: Data, degree: int | None = None) -> NDArray[Any]:
        """(dimension,) integrals int data phi_i. `data` is a number, f(x) or f(x, n) with points and normals (n, 3).

        degree: of the quadrature rule, default 4 plus that of the space. Raises ValueError for values of a wrong shape
        or not finite. A function is called for the points of 250,000 triangles at a time.
        """
        return self.load_table(data, degree)

    def load_table(self, data: Any, degree: int | None = None, components: tuple[int, ...] = ()) -> NDArray[Any]:
        """(dimension, *components): the load vectors of data with values of that shape; data are evaluated for some
        triangles at a time."""
        total: Any = 0
        bounds = range(250_000, len(self.triangles), 250_000)
        for triangles, dofs in zip(np.split(self.triangles, bounds), np.split(self.dofs, bounds), strict=True):
            loads = replace(self, triangles=triangles, dofs=dofs).loads(degree)
            total = total + loads.tested[0] @ evaluate_data(data, loads.points, loads.normals, components)
        return np.asarray(total)

    def loads(self, degree: int | None = None) -> Loads:
        """The quadrature of `load_vector`, for many functions."""
        degree = 4 + self.element.degree if degree is None else degree
        return tabulated_loads(self.mesh, self.triangles, degree, lambda points: [self.expansion(points)])

    def interpolation(self, data: Data) -> Any:
        """The `Function` that equals `data` at the nodes; `data` as in `load_vector`."""
        return function_in(self, self.node_values(data))

    def node_values(self, data: Any, components: tuple[int, ...] = (), infinite: bool = False) -> NDArray[Any]:
        """(dimension, *components) values of data at the nodes; infinite: whether they may be so."""
        return evaluate_data(data, self.nodes, self.node_normals, components, infinite)


def common_places(one: NDArray[np.int64], other: NDArray[np.int64]) -> tuple[Any, Any]:
    """The places in both of numbers that are in both lists, each of different ones."""
    if one is other or np.array_equal(one, other):
        return slice(None), slice(None)
    return np.intersect1d(one, other, assume_unique=True, return_indices=True)[1:]


def evaluate_data(
    data: Any,
    points: NDArray[np.float64],
    normals: NDArray[np.float64],
    components: tuple[int, ...] = (),
    infinite: bool = False,
) -> NDArray[Any]:
    """Values (n, *components) of a constant, f(x) or f(x, n) at points (n, 3) with unit normals (n, 3), checked for
    shape and finiteness; components: () for numbers, (3,) for vectors; infinite: whether values may be so.
    """
    values = data
    if callable(data):
        values = called(data, points, normals)
    values = unmasked(values, "values")
    if values.dtype.kind not in "biufc":
        raise TypeError(f"numbers, or a function of points, are needed, got {data!r}")
    wanted = (len(points), *components)
    if values.shape == components:
        values = np.broadcast_to(values, wanted)
    if values.shape != wanted:
        raise ValueError(
            f"{'the function returned' if callable(data) else 'got data of'} shape {values.shape} for points of shape "
            f"{points.shape}: it must be vectorised, f(x, n) with x and n of shape (points, 3) and values of shape "
            f"{('points', *components)}".replace("'", "")
        )
    # values that are no numbers, or too large
    sizes = np.abs(values)
    wrong = ~(sizes <= np.float64(LARGEST)) & ~(infinite & np.isinf(sizes))
    if wrong.any():
        bad = np.unique(np.nonzero(wrong)[0])
        kind = f"beyond {LARGEST:g}" if np.isfinite(sizes[wrong]).all() else "NaN or infinite"
        raise ValueError(f"{len(bad)} of {len(values)} values are {kind}, the first at {points[bad[0]]}")
    return values


def called(function: Callable[..., Any], points: NDArray[np.float64], normals: NDArray[np.float64]) -> Any:
    """The values of a function f(x) or f(x, n) at points (n, 3) with unit normals (n, 3), unchecked; what it raises for
    arrays comes with the advice to vectorise it."""
    try:
        return function(points, normals) if _takes_normals(function) else function(points)
    except Exception as error:
        error.add_note(
            f"the function of points is called once for all of them, here with x of shape {points.shape}: it must be "
            "vectorised, with x[:, 0] for the first coordinates, numpy.sin instead of math.sin and numpy.where instead "
            "of if"
        )
        raise


def _takes_normals(function: Callable[..., Any]) -> bool:
    """Whether `function` requires a second positional argument; one with another default than None is left alone."""
    try:
        signature = inspect.signature(function)
        signature.bind(None, None)
    except (TypeError, ValueError):  # one argument, or a built-in without signature
        return False
    second = list(signature.parameters.values())[:2][-1]
    return second.default is second.empty or second.default is None


def supported_triangles(mesh: TriangleMesh, tags: Tags) -> NDArray[np.int64]:
    """Numbers of the triangles that carry one of the tags (numbers or names); all for None. TypeError for what is no
    triangle mesh, MeshError for unknown tags.
    """
    if not isinstance(mesh, TriangleMesh):
        raise TypeError(f"a space stands on a TriangleMesh, got {type(mesh).__name__}: see cal.mesh")
    if tags is None:
        return np.arange(mesh.number_of_triangles)
    return np.flatnonzero(np.isin(mesh.tags, mesh.tag_numbers(tags)))


@kernel
def _is_one_at_each_vertex(triangles, chosen, dofs, at_vertex):
    """Whether the local functions, dofs (n, 3) of the chosen (n,) of the triangles (T, 3), are the same at each vertex
    for all triangles there. at_vertex (V,): -2, overwritten."""
    for n in range(len(chosen)):
        for a in range(3):
            vertex = triangles[chosen[n], a]
            if at_vertex[vertex] == -2:
                at_vertex[vertex] = dofs[n, a]
            elif at_vertex[vertex] != dofs[n, a]:
                return False
    return True
