"""Modes of rooms: sound that stays without sources."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.acoustic.acoustic_problem import AcousticProblem
from calderon.formulations.acoustic.sound_equation import SoundEquation
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.source_free import Mode, SourceFree
from calderon.potentials import Potential
from calderon.spaces import Function
from calderon.validation import of_any_shape, one_or_more_points


@dataclass(frozen=True, eq=False)
class RoomMode(Mode):
    """Sound that stays in a room without sources.

    wavenumber, frequency: as of `Mode`. surface: the pressure on the walls, its largest coefficient 1 Pa. layers:
    potentials whose sum is the pressure in the room.
    """

    surface: Function
    layers: tuple[Potential, ...]

    @of_any_shape
    def field(self, points: ArrayLike) -> NDArray[np.complex128]:
        """The pressure (n,) in Pa at points (n, 3) in the room."""
        x = one_or_more_points(points)
        return np.asarray(np.sum([each.evaluate(x) for each in self.layers], axis=0))


class SilentRoom(SourceFree[RoomMode]):
    """The equation of a room without sources. problem: of the room; ValueError for one of the outside."""

    def __init__(self, problem: AcousticProblem) -> None:
        if problem.side != "interior":
            raise ValueError(
                "resonances are those of rooms, side='interior': outside sound goes away, and the equation has none"
            )
        self.mesh, self.images = problem.surface.whole, len(problem.surface.parities)
        self.unknowns, self.speed = problem.unknowns, problem.fluid.speed_of_sound
        self.absorbs = problem.equation.reaction is not None or problem.equation.losses is not None
        k, thin = complex(problem.wavenumber), problem.system.thin
        self._given, self._fluid = problem.equation, replace(problem.fluid, loss=k.imag / k.real)
        self._thin = None if thin is None else thin()

    def system(self, wavenumber: complex) -> LinearSystem:
        found, thin = self._equation(wavenumber), self._thin
        text = "(I/2 + K) p + V r = 0"
        return LinearSystem(text, found.operator(), found.unknowns, None if thin is None else (lambda: thin))

    def mode(self, wavenumber: complex, coefficients: NDArray[Any]) -> RoomMode:
        """The mode of a null vector (n,), its largest pressure 1, or r where no pressure is unknown."""
        equation = self._equation(wavenumber)
        values = equation.fields(coefficients)[0].coefficients
        values = values if values.any() else coefficients
        pressure, yielding, released = equation.fields(coefficients / values[np.abs(values).argmax()])
        layers = equation.layers(pressure, yielding, released)
        return RoomMode(wavenumber, complex(equation.omega / (2 * np.pi)), pressure, layers)

    def sizes(self, mode: RoomMode, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(mode.field(points))

    def expected(self, wavenumber: float) -> float:
        """V k^3 / (6 pi^2) + S k^2 / (16 pi)."""
        volume, area = abs(self.mesh.volume), self.mesh.area
        return float(volume * wavenumber**3 / (6 * np.pi**2) + area * wavenumber**2 / (16 * np.pi))

    def _equation(self, wavenumber: complex) -> SoundEquation:
        return self._given.homogeneous(wavenumber, self._fluid)
