"""Waves that leave a periodic surface after a plane wave has come in, and tables of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.saving.solution_file import SavedSolution
from calderon.formulations.solution_info import SolutionInfo
from calderon.spaces import EdgeSpace, VectorFunction
from calderon.validation import one_of, positive_length
from calderon.view import Described, Scene, Surface, Viewable

POLARISATIONS = ("TM", "TE")


@dataclass(frozen=True, eq=False)
class FloquetOrders:
    """Waves of the orders m that propagate in a half-space, (0, 0) first.

    orders (n, 2). theta, phi (n,): where they travel to, theta from +z, in radians. amplitudes (n, 2, 2) without unit:
    [m, p, q] of the polarisation p (0: TM, 1: TE) for incident waves of the polarisation q, of which the squared
    magnitude is the part of the incident power.
    """

    orders: NDArray[np.int64]
    theta: NDArray[np.float64]
    phi: NDArray[np.float64]
    amplitudes: NDArray[np.complex128]

    @property
    def specular(self) -> NDArray[np.complex128]:
        """(2, 2) amplitudes of the order (0, 0)."""
        return self.amplitudes[0]

    @property
    def power(self) -> NDArray[np.float64]:
        """(n, 2) parts of the power of incident TM and TE waves that each order carries away."""
        return np.asarray((np.abs(self.amplitudes) ** 2).sum(axis=1))

    def __str__(self) -> str:
        lines = ["order     theta      phi   of TM power   of TE power"]
        for (first, second), theta, phi, power in zip(
            self.orders, np.degrees(self.theta), np.degrees(self.phi), self.power, strict=True
        ):
            lines.append(f"{first:3d}{second:3d} {theta:7.2f}° {phi:7.2f}°  {power[0]:12.6f}  {power[1]:12.6f}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class CellSolution(Viewable, SavedSolution, Described):
    """Currents and waves for incident TM and TE waves of one frequency and direction.

    reflected: orders on the side of the incident wave; transmitted: on the other side, None if that is a wall. space,
    coefficients (n, 2): of the current for each polarisation, in A/m; info: the record of the less accurate one.
    """

    frequency: float
    theta: float
    phi: float
    reflected: FloquetOrders
    transmitted: FloquetOrders | None
    space: EdgeSpace
    coefficients: NDArray[np.complex128]
    info: SolutionInfo

    saved_classes: ClassVar[Sequence[type]] = (FloquetOrders,)

    def _record(self) -> dict[str, Any]:
        whole, currents = super()._record(), [self.current(each) for each in POLARISATIONS]
        return {name: value for name, value in whole.items() if name not in ("space", "coefficients")} | {
            "currents": currents
        }

    @classmethod
    def _restored(cls, values: dict[str, Any]) -> Self:
        currents = values.pop("currents")
        coefficients = np.stack([each.coefficients for each in currents], axis=1)
        return super()._restored({**values, "space": currents[0].space, "coefficients": coefficients})

    def _require_consistent(self) -> None:
        for waves in filter(None, (self.reflected, self.transmitted)):
            n, arrays = len(waves.theta), (waves.orders, waves.theta, waves.phi, waves.amplitudes)
            if [each.shape for each in arrays] != [(n, 2), (n,), (n,), (n, 2, 2)]:
                raise ValueError("waves of another number of orders")
        positive_length(self.frequency, "frequency")

    @property
    def unknowns(self) -> int:
        """Number of unknowns of the equation."""
        return self.info.unknowns

    @property
    def reflection(self) -> NDArray[np.complex128]:
        """(2, 2) of the order (0, 0); see `PeriodicCell.reflection`."""
        return self.reflected.specular

    @property
    def transmission(self) -> NDArray[np.complex128]:
        """(2, 2) of the order (0, 0); ValueError for a surface over a wall."""
        if self.transmitted is None:
            raise ValueError("nothing is transmitted through a wall: the other end of the stack is no half-space")
        return self.transmitted.specular

    @property
    def power(self) -> NDArray[np.float64]:
        """(2,) parts of the power of incident TM and TE waves that all orders carry away: 1 without losses."""
        sides = [each for each in (self.reflected, self.transmitted) if each is not None]
        return np.asarray(sum(each.power.sum(axis=0) for each in sides))

    def current(self, polarisation: str = "TM") -> VectorFunction:
        """The surface current in A/m on the mesh, for a wave whose transverse electric field is 1 V/m."""
        column = POLARISATIONS.index(one_of(polarisation, POLARISATIONS, "polarisation"))
        return VectorFunction(self.space, self.coefficients[:, column], "surface current", "A/m")

    def scene(self) -> Scene:
        """The current for the TM wave, and that for the TE wave."""
        shown = self.current("TM").scene()
        fields = tuple(
            replace(layer.fields[0], name=f"surface current, {each} wave")
            for each in POLARISATIONS
            for layer in self.current(each).scene().layers
            if isinstance(layer, Surface)
        )
        title = f"{self.frequency / 1e9:g} GHz, {self.unknowns} unknowns"
        return replace(shown, layers=(replace(shown.layers[0], fields=fields),), title=title, subtitle="")

    @property
    def brief(self) -> str:
        """Frequency, direction and unknowns."""
        direction = f"theta {np.degrees(self.theta):g}°, phi {np.degrees(self.phi):g}°"
        return f"{self.frequency / 1e9:g} GHz, {direction}, {self.unknowns} unknowns"

    def __str__(self) -> str:
        lines = [self.brief, *_table("reflection", self.reflection)]
        if self.transmitted is not None:
            lines += _table("transmission", self.transmission)
        power = "power of all orders over that of the incident wave: TM {:.8f}, TE {:.8f}".format(*self.power)
        return "\n".join([*lines, power])


def _table(name: str, matrix: NDArray[np.complex128]) -> list[str]:
    """Magnitudes and phases of a matrix (2, 2)."""
    return [
        f"{name} {out} to {into}: {abs(value):.6f}"
        + (f", {np.degrees(np.angle(value)):.2f}°" if abs(value) > 1e-6 else "")
        for q, out in enumerate(POLARISATIONS)
        for p, into in enumerate(POLARISATIONS)
        for value in [matrix[p, q]]
    ]


@dataclass(frozen=True, eq=False)
class CellSweep:
    """Reflection at several frequencies or directions, arrays of one shape s: frequency in Hz, angles in radians.

    reflection, transmission (*s, 2, 2); transmission is None over a wall. power (*s, 2): of all orders, over the
    incident one.
    """

    frequency: NDArray[np.float64]
    theta: NDArray[np.float64]
    phi: NDArray[np.float64]
    reflection: NDArray[np.complex128]
    transmission: NDArray[np.complex128] | None
    power: NDArray[np.float64]

    def phase(self, polarisation: str = "TM") -> NDArray[np.float64]:
        """Phase in radians of the reflected wave for an incident one of that polarisation, continuous along the last
        axis."""
        place = POLARISATIONS.index(one_of(polarisation, POLARISATIONS, "polarisation"))
        return np.unwrap(np.angle(self.reflection[..., place, place]))
