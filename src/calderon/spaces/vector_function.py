"""Tangential vector fields of a space, such as surface currents."""

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calderon.data import LabelledArrays, Quantity
from calderon.data.labelled import column_name
from calderon.data.paraview import named_fields
from calderon.data.places import labelled_points
from calderon.quadrature import triangle_rule
from calderon.spaces.coefficients import Coefficients
from calderon.spaces.element import Element, reference_points
from calderon.spaces.field_file import write_fields
from calderon.spaces.space import Tags, evaluate_data, supported_triangles
from calderon.spaces.vector_space import VectorData, VectorSpace
from calderon.view import Field, Scene, Surface, Viewable

SYMBOLS = {"surface current": "J", "electric surface current": "J", "magnetic surface current": "M"}
"""Letters of currents on colour bars."""


@dataclass(frozen=True, eq=False)
class VectorFunction(Coefficients[VectorSpace], Viewable):
    """J = sum_j coefficients[j] f_j on the surface of an RWG, SNC, BC or RBC space.

    The functions f_j have no unit, so the coefficients have that of the field (A/m for a surface current): for RWG
    they are its components across the edges. label and unit go into files and pictures. Raises ValueError when the
    number of coefficients is not the dimension.
    """

    label: str = "J"

    kind: ClassVar[type | tuple[type, ...]] = VectorSpace
    example: ClassVar[str] = "RWG"

    def values(self, points: NDArray[np.float64]) -> NDArray[Any]:
        """(m, q, 3) vectors at reference points (q, 2) of each triangle of space.support on space.base.mesh."""
        parts = [part @ self.coefficients for part in self.space.expansion(reference_points(points))]
        return np.stack(parts, axis=-1).reshape(len(self.space.support), -1, 3)

    def at_centroids(self) -> NDArray[Any]:
        """(nt, 3) vectors at the centroids of space.mesh, zero outside the support; of dual functions, which are not
        continuous there, the mean over each triangle.
        """
        return self._on_triangles(self.values(Element(0).nodes)[:, 0])

    def divergence(self) -> NDArray[Any]:
        """(nt,) surface divergence (unit of J per metre) on the triangles of space.mesh, zero outside the support;
        of dual functions the mean over each triangle. With exp(-i omega t) the charge is div J / (i omega).

        Raises ValueError for rotated spaces (SNC, RBC): there it is a distribution on the edges.
        """
        return self._on_triangles(self.space.divergence_matrix() @ self.coefficients)

    def _on_triangles(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values (m, ...) of the support on every triangle of space.mesh; the six parts of a refined one have equal
        areas.
        """
        space = self.space
        everywhere = np.zeros((space.base.mesh.number_of_triangles, *values.shape[1:]), dtype=values.dtype)
        everywhere[space.support] = values
        if space.base.mesh is space.mesh:
            return everywhere
        return everywhere[space.mesh.barycentric_refinement.children.reshape(-1, 6)].mean(axis=1)

    def perpendicular(self) -> "VectorFunction":
        """n x J, in the rotated space: RWG to SNC and back (with the other sign, for n x n x J = -J)."""
        sign = -1 if self.space.rotated else 1
        return VectorFunction(self.space.perpendicular(), sign * self.coefficients, f"n x {self.label}", self.unit)

    def integral(self, tags: Tags = None) -> NDArray[Any]:
        """(3,) the integral over the surface, or over the triangles with these tags: the current moment."""
        mesh, support = self.space.base.mesh, self.space.support
        areas = mesh.areas[support] * np.isin(support, supported_triangles(mesh, tags))
        return areas @ self.values(Element(0).nodes)[:, 0]  # the field is linear on each triangle

    def l2_error(self, exact: VectorData, degree: int = 8) -> float:
        """|| J - exact || in L2 over the surface; `exact` as in VectorSpace.load_vector."""
        rule, geometry = triangle_rule(degree), self.space.base.mesh.geometry(self.space.support)
        x, normals = geometry.points(rule.points), geometry.normals_at(rule.points)
        reference = evaluate_data(exact, x.reshape(-1, 3), normals.reshape(-1, 3), (3,)).reshape(x.shape)
        squares = (np.abs(self.values(rule.points) - reference) ** 2).sum(axis=2)
        return float(np.sqrt((squares * geometry.weights(rule)).sum()))

    def plot_data(self) -> tuple[str, NDArray[Any]]:
        """("triangles", magnitudes (nt,) at the centroids): the square root of the sum of |components|^2."""
        return "triangles", np.linalg.norm(self.at_centroids(), axis=1)

    def scene(self) -> Scene:
        """The surface with the field at centroids, smoothed between them."""
        mesh = self.space.mesh
        symbol = SYMBOLS.get(self.label, self.label)
        shown = Field(self.label, symbol, self.unit, [self.at_centroids()], "triangles")
        return self._scene_of(Surface("surface", mesh.vertices, mesh.triangles, (shown,)))

    def arrays(self) -> LabelledArrays:
        """Vectors at the centroids of triangles with their coordinates, as `data.LabelledArrays` (to_xarray(),
        to_pandas(), write_csv(path))."""
        quantity = Quantity(column_name(self.label, ""), self.at_centroids(), self.unit, self.label, vector=True)
        return labelled_points("triangle", self.space.mesh.centroids, [quantity])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write mesh and field on triangles for ParaView (.vtu): vectors, or their real and imaginary parts, the
        magnitude and, of div-conforming functions, the divergence.

        Atomic: the file appears whole or not at all.
        """
        fields = named_fields(self.label, self.unit, self.at_centroids())
        if not self.space.rotated:
            unit = f"{self.unit}^2" if self.unit.endswith("/m") else f"{self.unit or 1}/m"
            fields |= named_fields(f"div {self.label}", unit, self.divergence())
        write_fields(path, self.space.mesh, {}, fields)
