"""The solution of a Laplace problem."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import Quantity
from calderon.data.samples import SampledField
from calderon.formulations.saving.solution_file import (
    LAYER_CLASSES,
    Record,
    SavedSolution,
    layer_functions,
    layer_values,
    layers_of,
)
from calderon.formulations.solution_info import SolutionInfo
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

    saved_classes: ClassVar[Sequence[type]] = (SolutionInfo, *LAYER_CLASSES)

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

    def _record(self) -> Record:
        values = {"side": self.side, "info": self.info, "layers": layer_values(self.layers)}
        values |= {"data": self.data if isinstance(self.data, Number) else None}
        functions = {"surface": self.surface} | layer_functions("layer", self.layers)
        return Record(values, functions | ({"data": self.data} if isinstance(self.data, Function) else {}))

    @classmethod
    def _restored(cls, record: Record) -> Self:
        values, functions = record.values, record.functions
        one_of(values["side"], ("exterior", "interior"), "side")
        if not (isinstance(values["info"], SolutionInfo) and isinstance(functions["surface"], Function)):
            raise TypeError("no record of a solver, or no function on the surface")
        layers = layers_of("layer", values["layers"], functions)
        data = functions.get("data", values["data"])
        return cls(data, values["side"], values["info"], functions["surface"], layers)

    @property
    def brief(self) -> str:
        """The solution as a record: what was solved, and how well."""
        return f"{self.side} potential, {self.info.brief}"

    def __str__(self) -> str:
        return f"{self.side} potential: {self.surface.label} [{self.surface.unit}] on the surface\n{self.info}"
