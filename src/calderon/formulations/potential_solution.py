"""The solution of a Laplace problem."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.linear_system import SolutionInfo
from calderon.potentials import Potential
from calderon.spaces import Function
from calderon.view import Scene, Viewable


@dataclass(frozen=True, eq=False)
class PotentialSolution(Viewable):
    """A harmonic function on one side of a surface.

    side: "exterior" or "interior". info: the record of the solver. surface: what was solved for, a Function with label
    and unit. layers: potentials whose sum is the field on that side. data: the boundary values it was solved for.
    """

    data: Any
    side: str
    info: SolutionInfo
    surface: Function
    layers: tuple[Potential, ...]

    def field(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """The potential (n,) at points (n, 3) on the side of the problem; backend and precision as for
        `Potential.evaluate`."""
        return np.sum([layer.evaluate(points, backend, precision) for layer in self.layers], axis=0)

    def gradient(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[Any]:
        """Its gradient (n, 3) at points (n, 3)."""
        return np.sum([layer.gradient(points, backend, precision) for layer in self.layers], axis=0)

    def scene(self) -> Scene:
        """What was solved for, on the surface."""
        return replace(self.surface.scene(), subtitle=f"{self.side} potential")

    def __str__(self) -> str:
        return f"{self.side} potential: {self.surface.label} [{self.surface.unit}] on the surface\n{self.info}"
