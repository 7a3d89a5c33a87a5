"""Functions of a space: coefficients with a meaning."""

import os
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.data import LabelledArrays, Quantity
from calderon.data.labelled import column_name
from calderon.data.paraview import named_fields
from calderon.data.places import labelled_points
from calderon.quadrature import triangle_rule
from calderon.spaces.coefficients import Coefficients
from calderon.spaces.element import Element, reference_points
from calderon.spaces.field_file import write_fields
from calderon.spaces.nodal_vector_space import NodalVectorSpace
from calderon.spaces.space import Space, Tags, evaluate_data, supported_triangles
from calderon.view import Field, Scene, Surface, Viewable


@dataclass(frozen=True, eq=False)
class Function(Coefficients[Space | NodalVectorSpace], Viewable):
    """u = sum_j coefficients[j] phi_j on the space's surface, with numbers as values or, of a space with components,
    vectors (..., components).

    label and unit go into files and pictures. Raises ValueError when the number of coefficients is not the dimension.
    """

    kind: ClassVar[type | tuple[type, ...]] = (Space, NodalVectorSpace)
    example: ClassVar[str] = "P1"

    @property
    def at_nodes(self) -> NDArray[Any]:
        """(nodes,) coefficients by nodes of the space, vectors (nodes, components) of a space with components."""
        return self.coefficients.reshape(-1, *self.space.value_shape)

    def values(self, points: NDArray[np.float64]) -> NDArray[Any]:
        """(m, n) values, or vectors (m, n, components), at reference points (n, 2) of each supporting triangle."""
        return self._by_triangle(self.space.scalar.expansion(reference_points(points)) @ self.at_nodes)

    def surface_gradient(self, points: NDArray[np.float64]) -> NDArray[Any]:
        """(m, n, 3) surface gradients at reference points (n, 2) of each supporting triangle; of vectors
        (m, n, components, 3), the gradient of each component."""
        parts = self.space.scalar.surface_gradient(reference_points(points))
        return self._by_triangle(np.stack([part @ self.at_nodes for part in parts], axis=-1))

    def surface_curl(self, points: NDArray[np.float64]) -> NDArray[Any]:
        """(m, n, 3) vector surface curls n x grad u at reference points (n, 2) of each supporting triangle; of vectors
        (m, n, components, 3), that of each component."""
        parts = self.space.scalar.surface_curl(reference_points(points))
        return self._by_triangle(np.stack([part @ self.at_nodes for part in parts], axis=-1))

    def _by_triangle(self, rows: NDArray[Any]) -> NDArray[Any]:
        """(m, n, ...) from the rows (m * n, ...) of an expansion."""
        triangles = len(self.space.triangles)
        return rows.reshape(triangles, len(rows) // triangles, *rows.shape[1:])

    def integral(self, tags: Tags = None) -> Any:
        """The integral over the surface, or over the triangles with these tags (numbers or names); of vectors
        (components,)."""
        scalar = self.space.scalar
        if tags is not None:
            own = np.isin(scalar.triangles, supported_triangles(scalar.mesh, tags))
            scalar = replace(scalar, triangles=scalar.triangles[own], dofs=scalar.dofs[own])
        total = scalar.load_vector(1.0, degree=max(1, scalar.element.degree)) @ self.at_nodes
        return total if self.space.value_shape else total.item()

    def l2_error(self, exact: Any, degree: int = 8) -> float:
        """|| u - exact || in L2 over the surface; `exact` as in the load_vector of the space."""
        rule = triangle_rule(degree)
        geometry = self.space.scalar.geometry
        x, normals = geometry.points(rule.points), geometry.normals_at(rule.points)
        reference = evaluate_data(exact, x.reshape(-1, 3), normals.reshape(-1, 3), self.space.value_shape)
        squares = np.abs(self.values(rule.points) - reference.reshape(*x.shape[:2], *self.space.value_shape)) ** 2
        squares = squares.sum(axis=tuple(range(2, squares.ndim)))
        return float(np.sqrt((squares * geometry.weights(rule)).sum()))

    def plot_data(self) -> tuple[str, NDArray[Any]]:
        """("triangles", values (nt,)) for P0, else ("vertices", values (nv,)); NaN outside the support. Of vectors the
        magnitudes, the square root of the sum of |components|^2.

        Discontinuous functions are averaged at vertices.
        """
        location, values = self.on_mesh()
        return location, np.linalg.norm(values, axis=1) if self.space.value_shape else values

    def on_mesh(self) -> tuple[str, NDArray[Any]]:
        """Where values lie ("triangles" or "vertices"), and the vectors (nt, components) or (nv, components)
        themselves."""
        space, shape = self.space, self.space.value_shape
        missing = complex(np.nan, np.nan) if np.iscomplexobj(self.coefficients) else np.nan
        if space.element.degree == 0:
            values = np.full((space.mesh.number_of_triangles, *shape), missing)
            values[space.triangles] = self.at_nodes[space.scalar.dofs[:, 0]]
            return "triangles", values
        corners = self.values(Element(1).nodes)
        index = space.mesh.triangles[space.triangles].ravel()
        ones = sp.coo_array((np.ones(index.size), (index, np.arange(index.size)))).tocsr()
        count = np.bincount(index, minlength=space.mesh.number_of_vertices)
        values = np.full((space.mesh.number_of_vertices, *shape), missing)
        used = np.flatnonzero(count)
        values[used] = ((ones @ corners.reshape(-1, *shape))[used].T / count[used]).T
        return "vertices", values

    def scene(self) -> Scene:
        """The surface with the values, those on triangles smoothed; of quadratic and higher functions also those in the
        middle of edges."""
        mesh, first = self.space.mesh, "abs" if np.iscomplexobj(self.coefficients) else "real"
        named = self.label, self.label, self.unit
        if self.space.element.degree < 2:
            location, values = self.on_mesh()
            body = Surface("surface", mesh.vertices, mesh.triangles, (Field(*named, [values], location, first),))
        else:
            vertices, triangles, values = self._quartered()
            shown = Field(*named, [values], "corners", first)
            body = Surface("surface", vertices, triangles, (shown,), numbers=np.repeat(self.space.triangles, 4))
        return self._scene_of(body)

    def _quartered(self) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[Any]]:
        """Vertices, the four parts (4 m, 3) of each triangle and the values (12 m, ...) at their corners."""
        mesh, support = self.space.mesh, self.space.triangles
        vertices = np.concatenate([mesh.vertices, mesh.vertices[mesh.edges].mean(axis=1)])
        middles = mesh.number_of_vertices + mesh.triangle_edges[support]  # opposite each vertex
        nodes = np.concatenate([mesh.triangles[support], middles], axis=1)
        parts = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2], [3, 4, 5]])
        values = self.values(Element(2).nodes)[:, parts]
        return vertices, nodes[:, parts].reshape(-1, 3), values.reshape(-1, *self.space.value_shape)

    def arrays(self) -> LabelledArrays:
        """Coefficients at the nodes with their coordinates, as `data.LabelledArrays` (to_xarray(), to_pandas(),
        write_csv(path))."""
        if self.space.value_shape not in ((), (3,)):
            raise ValueError(f"tables are of numbers or of vectors with three components, not of {self.space!r}")
        vector, nodes = bool(self.space.value_shape), self.space.scalar.nodes
        quantity = Quantity(column_name(self.label, ""), self.at_nodes, self.unit, self.label, vector=vector)
        return labelled_points("node", nodes, [quantity])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write mesh and values for ParaView (.vtu): real, imaginary, magnitude and phase in rad of complex functions;
        vectors, or their real and imaginary parts, and the magnitude.

        Atomic: the file appears whole or not at all.
        """
        location, values = self.on_mesh()
        fields = named_fields(self.label, self.unit, values)
        at_vertices, on_triangles = (fields, {}) if location == "vertices" else ({}, fields)
        write_fields(path, self.space.mesh, at_vertices, on_triangles)
