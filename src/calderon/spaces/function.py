"""Functions of a space: coefficients with a meaning."""

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.quadrature import triangle_rule
from calderon.spaces.coefficients import Coefficients
from calderon.spaces.field_file import named_fields, write_fields
from calderon.spaces.geometry import reference_points, reference_to_surface
from calderon.spaces.space import Data, Space, evaluate_data


@dataclass(frozen=True, eq=False)
class Function(Coefficients[Space]):
    """u = sum_j coefficients[j] phi_j on the space's surface.

    label and unit go into files and pictures. Raises ValueError when the number of coefficients is not the dimension.
    """

    kind: ClassVar[type] = Space
    example: ClassVar[str] = "P1"

    def values(self, points: NDArray[np.float64]) -> NDArray[Any]:
        """(m, n) values at reference points (n, 2) of each supporting triangle."""
        return (self.space.expansion(reference_points(points)) @ self.coefficients).reshape(
            len(self.space.triangles), -1
        )

    def surface_gradient(self, points: NDArray[np.float64]) -> NDArray[Any]:
        """(m, n, 3) surface gradients at reference points (n, 2) of each supporting triangle."""
        parts = [part @ self.coefficients for part in self.space.surface_gradient(reference_points(points))]
        return np.stack(parts, axis=-1).reshape(len(self.space.triangles), -1, 3)

    def surface_curl(self, points: NDArray[np.float64]) -> NDArray[Any]:
        """(m, n, 3) vector surface curls n x grad u at reference points (n, 2) of each supporting triangle."""
        parts = [part @ self.coefficients for part in self.space.surface_curl(reference_points(points))]
        return np.stack(parts, axis=-1).reshape(len(self.space.triangles), -1, 3)

    def integral(self) -> Any:
        """The integral over the surface."""
        return (self.space.load_vector(1.0, degree=max(1, self.space.element.degree)) @ self.coefficients).item()

    def l2_error(self, exact: Data, degree: int = 8) -> float:
        """|| u - exact || in L2 over the surface; `exact` as in Space.load_vector."""
        rule = triangle_rule(degree)
        mesh, triangles = self.space.mesh, self.space.triangles
        x = reference_to_surface(mesh, triangles, rule.points)
        normals = np.repeat(mesh.normals[triangles][:, None], rule.number_of_points, axis=1)
        reference = evaluate_data(exact, x.reshape(-1, 3), normals.reshape(-1, 3)).reshape(x.shape[:2])
        squares = np.abs(self.values(rule.points) - reference) ** 2
        return float(np.sqrt((squares @ rule.weights) @ (2 * mesh.areas[triangles])))

    def plot_data(self) -> tuple[str, NDArray[Any]]:
        """("triangles", values (nt,)) for P0, else ("vertices", values (nv,)); NaN outside the support.

        Discontinuous functions are averaged at vertices.
        """
        space = self.space
        missing = complex(np.nan, np.nan) if np.iscomplexobj(self.coefficients) else np.nan
        if space.element.degree == 0:
            values = np.full(space.mesh.number_of_triangles, missing)
            values[space.triangles] = self.coefficients[space.dofs[:, 0]]
            return "triangles", values
        corners = self.values(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
        index = space.mesh.triangles[space.triangles].ravel()
        ones = sp.coo_array((np.ones(index.size), (index, np.arange(index.size)))).tocsr()
        count = np.bincount(index, minlength=space.mesh.number_of_vertices)
        values = np.full(space.mesh.number_of_vertices, missing)
        used = np.flatnonzero(count)
        values[used] = (ones @ corners.ravel())[used] / count[used]
        return "vertices", values

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write mesh and values for ParaView (.vtu): real, imaginary, magnitude and phase in rad of complex functions.

        Atomic: the file appears whole or not at all.
        """
        location, values = self.plot_data()
        fields = named_fields(self.label, self.unit, values)
        at_vertices, on_triangles = (fields, {}) if location == "vertices" else ({}, fields)
        write_fields(path, self.space.mesh, at_vertices, on_triangles)
