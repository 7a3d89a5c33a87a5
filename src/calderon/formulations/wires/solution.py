"""Solutions of wires: currents, impedances, powers and fields."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import Quantity
from calderon.data.samples import SampledField
from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE, unit_directions
from calderon.formulations.electromagnetic.extinction import CrossSections
from calderon.formulations.ports.feeds import Feeds, reference_resistance
from calderon.formulations.saving.solution_file import SavedSolution
from calderon.formulations.solution_info import SolutionInfo
from calderon.formulations.wires.earth import Earth
from calderon.formulations.wires.network import WireNetwork
from calderon.formulations.wires.radiation import far_fields, near_fields, with_images
from calderon.formulations.wires.tubes import tubes
from calderon.formulations.wires.wire import Wire
from calderon.layers import Conductor, Sections
from calderon.quadrature.sphere import far_field_square
from calderon.validation import of_any_shape, one_or_more_points
from calderon.view import Described, Scene, Viewable
from calderon.waves import ElectromagneticPlaneWave


def illumination(
    wave: ElectromagneticPlaneWave, x: NDArray[np.float64], ground: bool | Earth
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """E and H (n, 3) of a wave at points (n, 3), with its reflection by earth, or by a ground of metal in z = 0: the
    image of E, with horizontal parts of the opposite sign, and that of H, with the vertical one."""
    if isinstance(ground, Earth):
        return ground.illumination(wave, x)
    electric, magnetic = wave.electric(x), wave.magnetic(x)
    if ground:
        image = x * [1.0, 1.0, -1.0]
        electric = electric + wave.electric(image) * [-1.0, -1.0, 1.0]
        magnetic = magnetic + wave.magnetic(image) * [1.0, 1.0, -1.0]
    return np.asarray(electric), np.asarray(magnetic)


@dataclass(frozen=True, eq=False)
class WireSolution(Feeds, CrossSections, SampledField, SavedSolution, Viewable, Described):
    """Currents on wires and their field; peak values, time factor exp(-i omega t).

    currents (n, 2): in A at both ends of each segment, along it. voltages, feed_currents (p,): at the ports, in V and
    A. lost: time-averaged power in W that metal and loads take. incident: the wave, or None. info: the record of the
    solver. circuit_power: in W, what circuits between ports absorb. earth: the ground below, if it is not metal.
    """

    network: WireNetwork
    wavenumber: float
    currents: NDArray[np.complex128]
    voltages: NDArray[np.complex128]
    feed_currents: NDArray[np.complex128]
    feeds: tuple[str, ...]
    lost: float
    info: SolutionInfo
    incident: ElectromagneticPlaneWave | None = None
    circuit_power: float = 0.0
    earth: Earth | None = None

    saved_classes: ClassVar[Sequence[type]] = (
        WireNetwork, Wire, Conductor, ElectromagneticPlaneWave, Earth, Sections,
    )  # fmt: skip

    @property
    def frequency(self) -> float:
        """In Hz."""
        return self.wavenumber * SPEED_OF_LIGHT / (2 * np.pi)

    @property
    def input_impedance(self) -> complex:
        """Z = U / I = R - iX in ohm of the only port; ValueError for several, which have `input_impedances`."""
        if len(self.voltages) != 1:
            raise ValueError(f"these wires have {len(self.voltages)} ports: take input_impedances")
        return complex(self.input_impedances[0])

    def reflection_coefficient(self, reference: float = 50.0) -> complex:
        """(Z - R) / (Z + R) of the only port with a line of impedance R = `reference` in ohm, for exp(-i omega t)."""
        z, r = self.input_impedance, reference_resistance(reference)
        return (z - r) / (z + r)

    def efficiency(self) -> float:
        """The radiated part of the power that the ports deliver."""
        return self.radiated_power() / self.input_power

    def radiated_power(self) -> float:
        """Time-averaged power in W through a large sphere, above a ground through half of it: int |F|^2 / (2 eta)."""
        if self.earth is not None:
            return far_field_square(self._over_all, self.network.segments[:, :3], self.wavenumber, upper=True) / (
                2 * VACUUM_IMPEDANCE
            )
        whole = far_field_square(self._over_all, self._sources[0][:, :3], self.wavenumber)
        return (0.5 if self.network.ground else 1.0) * whole / (2 * VACUUM_IMPEDANCE)

    @property
    def is_lossless(self) -> bool:  # type: ignore[override]
        """Whether metal, loads and circuits take nothing."""
        return self.lost == 0 and self.circuit_power == 0 and self.earth is None

    def scattering_cross_section(self) -> float:
        """Scattered power over incident intensity, int |F|^2 / |E_inc|^2 over all directions above a ground, in m^2."""
        return self.radiated_power() * self._per_intensity

    def absorption_cross_section(self) -> float:
        """Power that metal, loads and circuits take, over the incident intensity |E_inc|^2 / (2 eta), in m^2."""
        return (self.lost + self.circuit_power) * self._per_intensity

    def extinction_cross_section(self) -> float:
        """Power taken from the wave over its intensity in m^2, by the optical theorem; ValueError above a ground, which
        reflects the wave into other directions."""
        if self._lowest is not None:
            raise ValueError(
                "a ground reflects the wave, so that its forward direction says nothing of extinction: add "
                "scattering_cross_section() and absorption_cross_section()"
            )
        return super().extinction_cross_section()

    @property
    def _per_intensity(self) -> float:
        return 2 * VACUUM_IMPEDANCE / self.incident_amplitude**2

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> NDArray[np.complex128]:
        """F (..., 3) in V: E ~ F exp(ikr) / r about the origin, without the incident wave; zero below a ground. theta,
        phi: angles in radians, broadcast; or, without phi, vectors (n, 3). See `exact.unit_directions`."""
        directions = np.asarray(theta, float) if phi is None else unit_directions(theta, phi)
        directions = unit_directions(directions) if phi is None else directions
        flat = directions.reshape(-1, 3)
        found = self._over_all(flat)
        if self._lowest is not None:
            found[flat[:, 2] < 0] = 0
        return np.asarray(found.reshape(directions.shape))

    @of_any_shape
    def electric(self, points: ArrayLike) -> NDArray[np.complex128]:
        """The total E (n, 3) in V/m at points (n, 3); on the axis of a wire it is infinite."""
        return self._fields(one_or_more_points(points))[0]

    @of_any_shape
    def field(self, points: ArrayLike) -> NDArray[np.complex128]:
        """The total electric field E (n, 3) in V/m at points (n, 3): `electric`."""
        return np.asarray(self.electric(points))

    @of_any_shape
    def magnetic(self, points: ArrayLike) -> NDArray[np.complex128]:
        """The total H (n, 3) in A/m at points (n, 3)."""
        return self._fields(one_or_more_points(points))[1]

    @property
    def _sources(self) -> tuple[NDArray[np.float64], NDArray[np.complex128]]:
        given = self.network.segments, self.currents
        return with_images(*given) if self.network.ground else given

    def _over_all(self, directions: NDArray[np.float64]) -> NDArray[np.complex128]:
        found = far_fields(*self._sources, self.wavenumber, VACUUM_IMPEDANCE, directions)
        if self.earth is not None:
            found += self.earth.far_fields(*self._sources, self.wavenumber, directions)
        return found

    @property
    def _lowest(self) -> float | None:
        """z of the ground in m."""
        return 0.0 if self.network.ground else None if self.earth is None else self.earth.face

    def _fields(self, x: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
        electric, magnetic = near_fields(*self._sources, self.wavenumber, VACUUM_IMPEDANCE, x)
        if self.earth is not None:
            if (below := x[:, 2] < self.earth.face).any():
                raise ValueError(
                    f"{below.sum()} of {len(x)} points are in the ground, below z = {self.earth.face:g} m: fields are "
                    "computed above it"
                )
            reflected = self.earth.near_fields(*self._sources, self.wavenumber, x)
            electric, magnetic = electric + reflected[0], magnetic + reflected[1]
        if self.incident is None:
            return electric, magnetic
        incident = illumination(self.incident, x, self.earth or self.network.ground)
        return electric + incident[0], magnetic + incident[1]

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        found = np.ones(len(points), bool)
        for begin, along, length, radius in zip(*np.split(self.network.segments, [3, 6, 7], axis=1), strict=True):
            offset = points - begin
            s = np.clip(offset @ along, 0, length)
            found &= np.linalg.norm(offset - s[:, None] * along, axis=1) > radius
        return found if self._lowest is None else found & (points[:, 2] >= self._lowest)

    def _fields_at(self, points: NDArray[np.float64]) -> list[Quantity]:
        electric, magnetic = self._fields(points)
        return [
            Quantity("electric", electric, "V/m", "E", vector=True),
            Quantity("magnetic", magnetic, "A/m", "H", vector=True),
        ]

    @property
    def _attributes(self) -> dict[str, Any]:
        return {"wavenumber_per_m": self.wavenumber, "frequency_Hz": self.frequency}

    def _require_consistent(self) -> None:
        if self.currents.shape != (len(self.network.segments), 2):
            raise ValueError("currents of another number of segments")
        if self.earth is not None:
            self.earth.require_consistent()
        if not self.voltages.shape == self.feed_currents.shape == (len(self.feeds),):
            raise ValueError("voltages and currents of another number of ports")

    @property
    def _eta(self) -> float:
        return VACUUM_IMPEDANCE

    def scene(self) -> Scene:
        """Tubes along the wires, wide enough to be seen, with the current."""
        return Scene((tubes(self.network.segments, self.currents),), title=f"Wires at {self.frequency:.4g} Hz")

    @property
    def brief(self) -> str:
        """Ports, frequency and size."""
        return f"{len(self.feeds)} port(s) at {self.frequency:.4g} Hz; {self.info.brief}"

    def __str__(self) -> str:
        lines = []
        for name, u, i in zip(self.feeds, self.voltages, self.feed_currents, strict=True):
            z = f", Z = {u / i:.5g} ohm" if i else ""
            lines.append(f"{name}: U = {u:.5g} V, I = {i:.5g} A{z}")
        return "\n".join([*lines, f"input power {self.input_power:.5g} W, lost {self.lost:.3g} W", str(self.info)])
