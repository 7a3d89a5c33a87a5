"""The solution of a static problem whose potential is known at the nodes of tetrahedra."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import Quantity
from calderon.data.samples import SampledField
from calderon.formulations.saving.solution_file import SavedSolution
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Laplace
from calderon.potentials import Potential
from calderon.spaces import Function
from calderon.spaces.volume_function import VolumeFunction
from calderon.validation import of_any_shape, one_of, one_or_more_points
from calderon.view import Described, Scene, Viewable
from calderon.waves import CurrentPath, UniformField

UNITS = {"electric": ("V", "V/m"), "magnetic": ("A", "A/m")}


@dataclass(frozen=True, eq=False)
class VolumePotentialSolution(SampledField, SavedSolution, Viewable, Described):
    """A static potential u in a body and around it; the field is -grad u, and of a current path its own added.

    data: what excites it, None for charges alone. kind: "electric" or "magnetic". info: the record of the solver.
    surface: u on the boundary, derivative: du/dn on its outside. layers: potentials whose sum is u outside without that
    of the data. interior: u in the tetrahedra. voltages, charges: of electrodes by name, in V and C.
    """

    data: Any
    kind: str
    info: SolutionInfo
    surface: Function
    derivative: Function
    layers: tuple[Potential, ...]
    interior: VolumeFunction
    voltages: Mapping[str, float] = field(default_factory=dict)
    charges: Mapping[str, float] = field(default_factory=dict)

    saved_classes: ClassVar[Sequence[type]] = (Laplace, Potential, CurrentPath, UniformField, VolumeFunction)

    @of_any_shape
    def field(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """The potential (n,) at points (n, 3), in V or A: with a current path that of the body alone."""

        def outside(x: NDArray[np.float64]) -> NDArray[Any]:
            own = np.sum([layer.evaluate(x, backend, precision) for layer in self.layers], axis=0)
            return np.asarray(own if self._path or self.data is None else own + self.data.potential(x))

        return self.interior.or_else(one_or_more_points(points), (), self.interior.values, outside)

    @of_any_shape
    def gradient(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """The gradient (n, 3) of `field`."""

        def outside(x: NDArray[np.float64]) -> NDArray[Any]:
            own = np.sum([layer.gradient(x, backend, precision) for layer in self.layers], axis=0)
            return np.asarray(own if self._path or self.data is None else own + self.data.gradient(x))

        return self.interior.or_else(one_or_more_points(points), (3,), self.interior.gradients, outside)

    @of_any_shape
    def strength(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """The field E in V/m or H in A/m (n, 3) at points (n, 3): -grad u, and that of a current path."""
        x = one_or_more_points(points)
        own = -self.gradient(x, backend, precision)
        return np.asarray(own + self.data.magnetic_field(x) if self._path else own)

    @property
    def _path(self) -> bool:
        return isinstance(self.data, CurrentPath)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the tetrahedra and their potential in V or A for ParaView (.vtu); `surface.write` writes those on the
        boundary."""
        self.interior.write(path)

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.ones(len(points), dtype=bool)

    def _fields_at(self, points: NDArray[np.float64]) -> list[Quantity]:
        potential, field = UNITS[self.kind]
        return [
            Quantity("potential", self.field(points), potential, "potential"),
            Quantity("field", self.strength(points), field, f"{self.kind} field", vector=True),
        ]

    def _require_consistent(self) -> None:
        one_of(self.kind, tuple(UNITS), "kind")

    def scene(self) -> Scene:
        """The potential on the surface."""
        return replace(self.surface.scene(), subtitle=f"{self.kind} potential")

    @property
    def brief(self) -> str:
        """The solution as a record: what was solved, and how well."""
        return f"{self.kind} potential, {self.info.brief}"

    def __str__(self) -> str:
        return f"{self.kind} potential in a body and around it\n{self.info}"
