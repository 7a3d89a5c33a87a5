"""Currents without charges: the null space of the divergence of edge functions, and the projection onto it.

A function of an edge of length l with coefficient c carries the flow l c out of its + triangle into its - triangle, so
that edge functions are the arcs of a graph whose nodes are triangles, and a node more, "outside", where half functions
end. Charges are what flows out of the nodes; currents without charges are the circulations of the graph, of which there
are as many independent ones as arcs - nodes + parts.

G. Vecchi, IEEE Trans. Antennas Propag. 47 (1999) 339 (loops and stars); F. P. Andriulli, K. Cools, I. Bogaert,
E. Michielssen, ibid. 61 (2013) 2077 (projections); D. Eppstein, Proc. 14th ACM-SIAM Symp. Discrete Algorithms (2003)
599 (tree and cotree).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree
from scipy.sparse.linalg import splu

from calderon.spaces.edge.edge_space import EdgeSpace

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FlowGraph:
    """The graph of a space of edge functions.

    ends (dimension, 2): the nodes from which and into which the flow of each function goes. nodes: how many, the
    triangles of the support in order, then, where half functions are, the outside. lengths (dimension,): of the edges,
    in m: the flow of a coefficient c is l c.
    """

    space: EdgeSpace
    ends: Integers
    nodes: int
    lengths: NDArray[np.float64]

    @classmethod
    def of(cls, space: EdgeSpace) -> "FlowGraph":
        """The graph; ValueError for rotated functions, whose flow is none."""
        if space.rotated:
            raise ValueError(f"{space.name} has no flow across its edges: ask its perpendicular() space for loops")
        number = np.searchsorted(space.support, np.maximum(space.pairs, 0))
        halves = space.pairs < 0
        ends = np.where(halves, len(space.support), number)
        return cls(space, ends, len(space.support) + bool(halves.any()), space.mesh.edge_lengths[space.edges])

    @cached_property
    def outflow(self) -> sp.csr_array:
        """(nodes, dimension): what flows out of each node for unit flows, +1 and -1 of edge functions."""
        space, count = self.space, len(self.ends)
        rows, local = np.nonzero(space.dofs >= 0)
        number, triangle = space.dofs[rows, local], space.triangles[rows]
        lengths = space.mesh.edge_lengths[space.mesh.triangle_edges[triangle, local]]
        values = space.signs[rows, local] * (lengths / self.lengths[number])
        node = np.searchsorted(space.support, triangle)
        inside = sp.coo_array((values, (node, number)), (len(space.support), count)).tocsr()
        if self.nodes == len(space.support):
            return inside
        halves = space.pairs[:, 1] < 0
        return sp.vstack([inside, sp.csr_array(np.where(halves, -inside.sum(axis=0), 0.0)[None])], format="csr")

    @cached_property
    def parts(self) -> Integers:
        """(nodes,) number of the connected part of each node."""
        return np.asarray(connected_components(abs(self.outflow) @ abs(self.outflow).T)[1], np.int64)

    @property
    def number_of_loops(self) -> int:
        """Independent currents without charges."""
        return len(self.ends) - self.nodes + int(self.parts.max()) + 1

    @cached_property
    def _tree(self) -> tuple[Integers, Integers, Integers]:
        """By nodes: the parent in a spanning tree of short branches, -1 of roots; the function between both; steps to
        the root."""
        ends = self.ends.astype(np.int32)  # as searches in SciPy before 1.17 require
        adjacency = sp.coo_array((np.ones(len(ends)), tuple(ends.T)), (self.nodes, self.nodes)).tocsr()
        parent = np.full(self.nodes, -1)
        depth, order = np.zeros(self.nodes, np.int64), []
        for root in np.unique(self.parts, return_index=True)[1]:
            found, before = breadth_first_order(adjacency, root, directed=False)
            parent[found[1:]] = before[found[1:]]
            order.append(found[1:])
        for node in np.concatenate(order):
            depth[node] = depth[parent[node]] + 1
        children = np.flatnonzero(parent >= 0)
        across = np.full(self.nodes, -1)
        across[children] = first_between(self.ends, np.stack([children, parent[children]], axis=1), self.nodes)
        return parent, across, depth

    def loops(self) -> sp.csr_array:
        """(dimension, number_of_loops) coefficients of a basis of the currents without charges; times `lengths` they
        are whole numbers, by which all that flows into a triangle flows out.

        Around each vertex that edges with two triangles surround flows one loop, on closed surfaces around all but one.
        The others, around holes, handles and the outside and along edges of several triangles, run through a spanning
        tree of the triangles and back across an edge that the tree and a spanning tree of those vertices leave.
        ValueError for functions that are not of one edge, such as those of probes.
        """
        return self._coefficients(sp.hstack(self._flows, format="csr"))

    def long_loops(self) -> sp.csr_array:
        """(dimension, m) those of `loops` that are not around a vertex: on closed surfaces two for each handle."""
        return self._coefficients(self._flows[1])

    def _coefficients(self, flows: sp.csr_array) -> sp.csr_array:
        return (sp.diags_array(1 / self.lengths) @ flows).tocsr()

    @cached_property
    def _flows(self) -> tuple[sp.csc_array, sp.csc_array]:
        """Loops around vertices, and the others."""
        if np.diff(self.outflow.tocsc().indptr).max() > 2:
            raise ValueError("loops are those of edge functions, and some functions here have several edges")
        around, starts, stops, free = self._vertex_loops()
        # arcs between vertices whose loops are free, others through the ground, by edges outside of the tree
        in_tree = np.zeros(len(self.ends), bool)
        across = self._tree[1]
        in_tree[across[across >= 0]] = True
        ground = len(free)
        nodes = np.where(free, np.arange(ground), ground)
        arcs = np.stack([nodes[starts], nodes[stops]], axis=1)
        others = np.flatnonzero(~in_tree & (arcs[:, 0] != arcs[:, 1]))
        ones = np.ones(len(others))
        graph = sp.coo_array((ones, tuple(arcs[others].astype(np.int32).T)), (ground + 1, ground + 1)).tocsr()
        forest = minimum_spanning_tree(graph + graph.T).tocoo()
        pairs = np.stack(forest.coords, axis=1)
        kept = others[first_between(arcs[others], pairs, ground + 1)] if len(pairs) else others[:0]
        # closed parts: the sum of the loops around all vertices is zero, so one of them is left out
        part = connected_components(graph, directed=False)[1]
        roots = np.unique(part[:-1][free], return_index=True)
        closed = np.flatnonzero(free)[roots[1][roots[0] != part[ground]]]
        chosen = np.setdiff1d(np.flatnonzero(free), closed)
        left = np.setdiff1d(np.flatnonzero(~in_tree), kept)
        return around[:, chosen], self._through_tree(left)

    def _vertex_loops(self) -> tuple[sp.csc_array, Integers, Integers, NDArray[np.bool_]]:
        """Flows (dimension, vertices) around each vertex, the vertices at which edges start and stop, seen from the +
        triangle, and the vertices whose edges have two triangles and one function each."""
        space, mesh = self.space, self.space.mesh
        (plus, minus), whole = space.sides.T, space.sides[:, 1] >= 0
        starts, stops = (mesh.triangles[plus // 3, (plus % 3 + step) % 3] for step in (1, 2))
        back = mesh.triangles[minus // 3, (minus % 3 + 1) % 3]
        count = np.bincount(mesh.triangle_edges[space.support].ravel(), minlength=mesh.number_of_edges)
        regular = np.zeros(mesh.number_of_edges, bool)
        regular[space.edges[whole & (back == stops)]] = True
        regular &= count == 2
        free = np.zeros(len(mesh.vertices), bool)
        free[mesh.triangles[space.support].ravel()] = True
        free[mesh.edges[(count > 0) & ~regular].ravel()] = False
        number = np.arange(len(plus))
        signs = np.repeat([-1.0, 1.0], len(plus))
        coords = np.tile(number, 2), np.concatenate([starts, stops])
        return sp.coo_array((signs, coords), (len(plus), len(free))).tocsc(), starts, stops, free

    def _through_tree(self, functions: Integers) -> sp.csc_array:
        """Flows (dimension, n) through each of these functions and back through the tree."""
        parent, across, depth = self._tree
        rows, columns, values = [functions], [np.arange(len(functions))], [np.ones(len(functions))]
        start, stop = self.ends[functions].T
        node, other, column = stop.copy(), start.copy(), np.arange(len(functions))
        while len(column):  # up from the deeper of both ends, until they meet
            deeper = depth[node] >= depth[other]
            climber = np.where(deeper, node, other)
            step = across[climber]
            upward = np.where(self.ends[step, 0] == climber, 1.0, -1.0)
            meet = node == other
            rows.append(step[~meet])
            columns.append(column[~meet])
            values.append(np.where(deeper, upward, -upward)[~meet])
            node, other = np.where(deeper, parent[node], node), np.where(deeper, other, parent[other])
            node, other, column = node[~meet], other[~meet], column[~meet]
        coords = np.concatenate(rows), np.concatenate(columns)
        return sp.coo_array((np.concatenate(values), coords), (len(self.ends), len(functions))).tocsc()

    @cached_property
    def _inverse(self) -> Any:
        """LU factors of outflow outflow^T without the first node of each part, and the others."""
        kept = np.setdiff1d(np.arange(self.nodes), np.unique(self.parts, return_index=True)[1])
        part = self.outflow[kept]
        return splu((part @ part.T).tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0), kept

    def charging(self, coefficients: NDArray[Any]) -> NDArray[Any]:
        """(dimension, m) Q c: the part of currents with coefficients (dimension, m) that carries their charges, of the
        least sum of squared flows. c - Q c is without charges."""
        return self._scaled(1 / self.lengths, self._projected(self._scaled(self.lengths, coefficients)))

    def charging_transposed(self, tested: NDArray[Any]) -> NDArray[Any]:
        """(dimension, m) Q^T v of integrals v against the functions."""
        return self._scaled(self.lengths, self._projected(self._scaled(1 / self.lengths, tested)))

    @staticmethod
    def _scaled(factors: NDArray[np.float64], values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(factors.reshape(-1, *[1] * (values.ndim - 1)) * values)

    def _projected(self, flows: NDArray[Any]) -> NDArray[Any]:
        """outflow^T (outflow outflow^T)^+ outflow."""
        factors, kept = self._inverse
        if not len(kept):
            return np.zeros_like(flows)
        rhs = (self.outflow @ flows)[kept]
        if np.iscomplexobj(rhs):
            rhs = np.ascontiguousarray(rhs)
            found = factors.solve(rhs.real.copy()) + 1j * factors.solve(rhs.imag.copy())
        else:
            found = factors.solve(rhs)
        return np.asarray(self.outflow[kept].T @ found)


def first_between(arcs: Integers, pairs: Integers, nodes: int) -> Integers:
    """(m,) the first of the arcs (n, 2) that joins each of the pairs (m, 2) of nodes, in either sense."""
    keys, wanted = (np.sort(each, axis=1) @ np.array([nodes, 1]) for each in (arcs, pairs))
    known, first = np.unique(keys, return_index=True)
    return np.asarray(first[np.searchsorted(known, wanted)], np.int64)
