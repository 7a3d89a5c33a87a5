"""The solution of a Laplace problem."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Number
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
from calderon.validation import of_any_shape, one_of
from calderon.view import Described, Scene, Viewable


@dataclass(frozen=True, eq=False)
class PotentialSolution(SampledField, SavedSolution, Viewable, Described):
    """A harmonic function on one side of a surface.

    side: "exterior" or "interior". info: the record of the solver. surface: what was solved for, a Function with label
    and unit. layers: potentials whose sum is the field on that side. data: the boundary values it was solved for; None
    in a saved solution whose values are a function of points.
    """

    data: Any
    side: str
    info: SolutionInfo
    surface: Function
    layers: tuple[Potential, ...]

    saved_classes: ClassVar[Sequence[type]] = (Laplace, Potential)

    @of_any_shape
    def field(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """The potential (n,) at points (n, 3) on the side of the problem; backend and precision as for
        `Potential.evaluate`."""
        return np.sum([layer.evaluate(points, backend, precision) for layer in self.layers], axis=0)

    @of_any_shape
    def gradient(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """Its gradient (n, 3) at points (n, 3)."""
        return np.sum([layer.gradient(points, backend, precision) for layer in self.layers], axis=0)

    def scene(self) -> Scene:
        """The unknown of the equation, on the surface."""
        return replace(self.surface.scene(), subtitle=f"{self.side} potential")

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        mesh = self.surface.space.mesh
        if not mesh.is_closed:
            return np.ones(len(points), dtype=bool)
        return mesh.contains(points) == (self.side == "interior")

    def _fields_at(self, points: NDArray[np.float64]) -> list[Quantity]:
        return [Quantity("potential", self.field(points), "V", "potential")]

    def _record(self) -> dict[str, Any]:
        given = self.data if isinstance(self.data, Number | Function) else None
        return super()._record() | {"data": given}

    def _require_consistent(self) -> None:
        one_of(self.side, ("exterior", "interior"), "side")

    @property
    def brief(self) -> str:
        """The solution as a record: what was solved, and how well."""
        return f"{self.side} potential, {self.info.brief}"

    def __str__(self) -> str:
        return f"{self.side} potential: {self.surface.label} [{self.surface.unit}] on the surface\n{self.info}"
