"""Solutions of a fed antenna: currents, impedance, power, gain and fields."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import LabelledArrays, Quantity
from calderon.data.far_fields import Directions, decibels
from calderon.formulations.electromagnetic.radiating_currents import RadiatedField, RadiatingCurrents
from calderon.formulations.ports.feeds import Feeds, reference_resistance
from calderon.formulations.ports.power_waves import Reference
from calderon.formulations.scenes import currents_scene, directional_scene
from calderon.formulations.solution_info import SolutionInfo
from calderon.spaces import VectorFunction
from calderon.view import Described, Scene, Viewable


@dataclass(frozen=True, eq=False)
class AntennaSolution(RadiatedField, Feeds, Viewable, Described):
    """The field of an antenna with given voltages at its feeds; peak values, time factor exp(-i omega t).

    voltages, feed_currents (p,): of each feed, in V and A, the current positive as the feed says. feeds: their names.
    info: the record of the solver. currents: the surface currents that radiate. power: in W, of antennas so small that
    resistances are less than the error of the solution and follow from what is radiated. load_currents (n,): in A
    through the loads, which absorb load_resistances |I|^2 / 2, in ohm. circuit_power: in W, what circuits between
    feeds absorb. backend and precision of fields: as for
    `Potential.evaluate`.
    """

    voltages: NDArray[np.complex128]
    feed_currents: NDArray[np.complex128]
    feeds: tuple[str, ...]
    info: SolutionInfo
    currents: RadiatingCurrents
    power: float | None = None
    load_currents: NDArray[np.complex128] = field(default_factory=lambda: np.zeros(0, np.complex128))
    load_resistances: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    circuit_power: float = 0.0

    saved_classes: ClassVar[Sequence[type]] = (RadiatingCurrents,)

    @property
    def wavenumber(self) -> complex:
        """k of the medium around, in 1/m."""
        return self.currents.wavenumber

    @property
    def surface(self) -> VectorFunction:
        """The surface current J in A/m; of a thin sheet the sum of both faces; with what flows out of wires."""
        return self.currents.shown[0]

    @property
    def input_impedance(self) -> complex:
        """Z = U / I = R - iX in ohm of the only feed (an inductive reactance X > 0 has a negative imaginary part);
        ValueError for several, which have `input_impedances`."""
        if len(self.voltages) != 1:
            raise ValueError(
                f"this antenna has {len(self.voltages)} feeds: take input_impedances for these voltages, or the "
                "antenna's impedance_matrix()"
            )
        return complex(self.input_impedances[0])

    @property
    def input_impedances(self) -> NDArray[np.complex128]:
        """(p,) U / I in ohm of each feed while the others have their voltages too. ValueError where I is zero."""
        found = super().input_impedances
        if self.power is None or len(found) > 1:
            return found
        return 2 * self.power / np.abs(self.feed_currents) ** 2 + 1j * found.imag

    @property
    def input_power(self) -> float:
        """Time-averaged power in W that the feeds deliver, sum Re(U conj(I)) / 2, or `power`."""
        return super().input_power if self.power is None else self.power

    def radiated_power(self) -> float:
        """Time-averaged power in W through a large sphere, int |F|^2 / (2 eta). A perfect conductor loses
        nothing: it is the input power less that of loads, as far as the solution is exact."""
        return self.currents.far_field_square() / (2 * self._eta)

    def load_powers(self) -> NDArray[np.float64]:
        """(n,) time-averaged power in W that each load absorbs."""
        return np.asarray(self.load_resistances * np.abs(self.load_currents) ** 2 / 2)

    def efficiency(self) -> float:
        """Radiated power over input power."""
        return self.radiated_power() / self.input_power

    def reflection_coefficient(self, reference: float = 50.0) -> complex:
        """(Z - R) / (Z + R) of the only feed with a line of impedance R = `reference` in ohm, for exp(-i omega t)."""
        z, r = self.input_impedance, reference_resistance(reference)
        return (z - r) / (z + r)

    def far_field_data(self, theta: ArrayLike, phi: ArrayLike | None = None, *, reference: Reference = 50.0) -> Any:
        """The far field as an `xarray.Dataset`; see `far_field_arrays`."""
        return self.far_field_arrays(theta, phi, reference=reference).to_xarray()

    def far_field_arrays(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, reference: Reference = 50.0
    ) -> LabelledArrays:
        """The far field by theta and phi in radians (1-D arrays, all pairs), or by vectors (n, 3), as
        `data.LabelledArrays`: amplitudes in V and phases in rad along theta-hat and phi-hat, `directivity`, `gain` and,
        of generators of `reference` ohm, `realized_gain` in dBi."""
        toward = Directions.of(theta, phi)
        found = toward.components(toward.evaluated(self.far_field))
        intensity = (np.abs(found[0].values) ** 2 + np.abs(found[1].values) ** 2) / (2 * self._eta)
        powers = self.radiated_power(), self.input_power, self.available_power(reference)
        for name, power in zip(("directivity", "gain", "realized_gain"), powers, strict=True):
            found.append(Quantity(name, decibels(4 * np.pi * intensity / power), "dBi", name))
        return toward.labelled(found, self._attributes)

    def _require_consistent(self) -> None:
        super()._require_consistent()
        if not self.voltages.shape == self.feed_currents.shape == (len(self.feeds),):
            raise ValueError("voltages and currents of another number of feeds")
        if self.load_currents.shape != self.load_resistances.shape or self.load_currents.ndim != 1:
            raise ValueError("currents and resistances of another number of loads")

    @property
    def _eta(self) -> float:
        return float(np.real(self.currents.impedance))

    def _scene(self, rows: int) -> Scene:
        """The surface currents, and the gain in all directions."""
        fed = ", ".join(f"{name}: {u:.4g} V" for name, u in zip(self.feeds, self.voltages, strict=True))
        shown = currents_scene(self.currents.shown, "Surface currents", fed)
        return replace(shown, parts=(directional_scene(self.gain, rows, "gain", "dBi"),))

    @property
    def brief(self) -> str:
        """The solution as a record: what was solved, and how well."""
        return f"{len(self.feeds)} feed(s) at {self.frequency:.4g} Hz; {self.info.brief}"

    def __str__(self) -> str:
        lines: list[str] = []
        ohm, ampere, watt = ("ohm", "A", "W") if self.currents.impedance != 1 else ("eta", "V/eta", "V^2/eta")
        for name, u, i in zip(self.feeds, self.voltages, self.feed_currents, strict=True):
            z = self.input_impedance if i and len(self.feeds) == 1 else u / i if i else 0
            impedance = f", Z = {_complex(z)} {ohm}" if i else ""
            lines.append(f"{name}: U = {_complex(u)} V, I = {_complex(i)} {ampere}{impedance}")
        return "\n".join([*lines, f"input power {self.input_power:.5g} {watt}", str(self.info)])


def _complex(value: complex) -> str:
    return f"{value.real:.5g} {'+' if value.imag >= 0 else '-'} {abs(value.imag):.5g}i"
