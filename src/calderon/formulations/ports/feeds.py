"""Power and files of a fed antenna, in space or on a board, from voltages, currents and the far field."""

import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data.far_fields import Directions
from calderon.data.lobes import Lobe, strongest_lobe
from calderon.data.pattern_files import Pattern, write_patterns
from calderon.exact.angular import line_of_sight, radar_cross_section
from calderon.formulations.ports.power_waves import Reference, reference_impedances
from calderon.validation import positive_length, real_number, truth


class Feeds:
    """Voltages (p,) in V and currents (p,) in A at the feeds of an antenna, with its far field.

    Directions are those of `far_field`: angles in radians, or vectors (n, 3). polarization: "V" or "H" counts what a
    receiver along theta-hat or phi-hat sees; None counts both. decibels: 10 log10 of a gain, in dBi.
    """

    frequency: Any
    voltages: NDArray[np.complex128]
    feed_currents: NDArray[np.complex128]

    @abstractmethod
    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> NDArray[np.complex128]: ...

    def _over_all(self, directions: NDArray[np.float64]) -> NDArray[np.complex128]:
        """The far field toward unit vectors (n, 3), below a ground that of the images."""
        return self.far_field(directions)

    @abstractmethod
    def radiated_power(self) -> float: ...

    @property
    @abstractmethod
    def _eta(self) -> float:
        """Wave impedance in ohm of the medium around; ValueError for two media."""

    def _eta_toward(self, radial: NDArray[np.float64]) -> Any:
        """Wave impedance in ohm of the medium in directions (..., 3)."""
        return self._eta

    @property
    def input_impedances(self) -> NDArray[np.complex128]:
        """(p,) U / I in ohm of each feed while the others have their voltages too. ValueError where I is zero."""
        if len(still := np.flatnonzero(self.feed_currents == 0)):
            raise ValueError(
                f"no current flows through feed {still[0] + 1}, and an impedance U / I is that of a feed with current, "
                f"here at {self.voltages[still[0]]:g} V: solve with another voltage than zero"
            )
        return self.voltages / self.feed_currents

    @property
    def input_power(self) -> float:
        """Time-averaged power in W that the feeds deliver, sum Re(U conj(I)) / 2."""
        return float(np.sum(self.voltages * self.feed_currents.conj()).real / 2)

    def available_power(self, reference: Reference = 50.0) -> float:
        """Power in W that generators of the internal impedances `reference` (ohm, one resistance or one impedance for
        each feed) could deliver which give the feeds these voltages: sum |U + Z I|^2 / (8 Re Z)."""
        return available_power(self.voltages, self.feed_currents, reference)

    def directivity(
        self, theta: ArrayLike, phi: ArrayLike | None = None, polarization: str | None = None, *, decibels: bool = False
    ) -> NDArray[np.float64]:
        """4 pi U / (radiated power) in directions, U = |F|^2 / (2 eta): 1 for an isotropic radiator."""
        return self._relative(theta, phi, polarization, self.radiated_power(), decibels)

    def gain(
        self, theta: ArrayLike, phi: ArrayLike | None = None, polarization: str | None = None, *, decibels: bool = False
    ) -> NDArray[np.float64]:
        """4 pi U / (input power); arguments as for `directivity`."""
        return self._relative(theta, phi, polarization, self.input_power, decibels)

    def realized_gain(
        self,
        theta: ArrayLike,
        phi: ArrayLike | None = None,
        polarization: str | None = None,
        *,
        reference: Reference = 50.0,
        decibels: bool = False,
    ) -> NDArray[np.float64]:
        """4 pi U / (available power): the gain less what is reflected at feeds of `reference` ohm; arguments as for
        `directivity`."""
        return self._relative(theta, phi, polarization, self.available_power(reference), decibels)

    def _relative(
        self, theta: ArrayLike, phi: ArrayLike | None, polarization: str | None, power: float, decibels: bool
    ) -> NDArray[np.float64]:
        """4 pi U over a power in W."""
        if not power > 0:
            raise ValueError(f"a gain needs a positive power, this antenna has {power:g} W: are all voltages zero?")
        eta = self._eta_toward(line_of_sight(theta, phi)[0])
        value = radar_cross_section(self.far_field, 1.0, theta, phi, polarization) / (2 * eta * power)
        if not truth(decibels, "decibels"):
            return np.asarray(value)
        with np.errstate(divide="ignore"):
            return np.asarray(10 * np.log10(value))

    def axial_ratio(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, decibels: bool = False
    ) -> NDArray[np.float64]:
        """Axial ratio of the polarisation, from 1 (circular) to infinity (linear); decibels: 20 log10 of it."""
        _, theta_hat, phi_hat = line_of_sight(theta, phi)
        field = self.far_field(theta, phi)
        value = ellipse_ratio((field * theta_hat).sum(axis=-1), (field * phi_hat).sum(axis=-1))
        return np.asarray(20 * np.log10(value) if truth(decibels, "decibels") else value)

    def beam_width(self, phi: float, level: float = 0.5) -> float:
        """Angle in radians around the strongest direction of the upper half-space in the plane of the azimuth phi,
        within which the gain is above `level` of the largest there."""
        phi, level = real_number(phi, "phi in radians"), positive_length(level, "level")
        theta = np.linspace(-np.pi / 2, np.pi / 2, 721)
        gain = self.gain(np.abs(theta), np.where(theta < 0, phi + np.pi, phi))
        top = int(gain.argmax())
        below = np.flatnonzero(gain < level * gain[top])
        left, right = below[below < top].max(initial=-1), below[below > top].min(initial=len(theta))
        return float(theta[min(right, len(theta) - 1)] - theta[max(left, 0)])

    def main_lobe(self, normal: ArrayLike) -> Lobe:
        """The strongest lobe of the gain in the plane across `normal` (3,): its direction, of equal ones the first from
        x toward y or z, or from y toward z; level in dBi, width between directions of half of the gain, and the ratios
        in dB to the opposite direction and to the next lobe."""
        return strongest_lobe(lambda directions: self.gain(directions, decibels=True), normal)

    def pattern(self, theta: Any = None, phi: Any = None, reference: Reference = 50.0) -> Pattern:
        """The far field by theta and phi in radians, 1-D arrays, by default every 5 degrees."""
        angles = [(theta, 180), (phi, 360)]
        toward = Directions.of(*(np.radians(np.arange(0, end + 1, 5.0)) if a is None else a for a, end in angles))
        along = [each.values for each in toward.components(toward.evaluated(self.far_field))[:2]]
        powers = self.radiated_power(), self.input_power, self.available_power(reference)
        axes = [each.values for each in toward.axes]
        return Pattern(float(self.frequency), axes[0], axes[1], along[0], along[1], *powers, self._eta)

    def write_far_field(
        self, path: str | os.PathLike[str], theta: Any = None, phi: Any = None, reference: Reference = 50.0
    ) -> None:
        """Write the far field to a .ffe file (FEKO) or a .ffs file (CST), for exp(+j omega t) as these require; angles
        in radians, by default every 5 degrees. reference: of the lines, for the available power."""
        write_patterns(path, [self.pattern(theta, phi, reference)])


def available_power(voltages: NDArray[np.complex128], currents: NDArray[np.complex128], reference: Reference) -> float:
    """Power in W of generators with internal impedances Z = `reference` in ohm that give feeds these voltages (p,) and
    currents (p,), sum |U + Z I|^2 / (8 Re Z)."""
    if isinstance(reference, complex | Sequence | np.ndarray):
        z: Any = np.asarray(reference_impedances(reference, len(voltages)))
    else:
        z = reference_resistance(reference)
    return float(np.sum(np.abs(voltages + z * currents) ** 2 / (8 * np.real(z))))


def reference_resistance(value: float) -> float:
    """The impedance in ohm of the lines at the feeds, positive; ValueError otherwise."""
    return positive_length(value, "the reference impedance in ohm, a positive resistance such as 50,")


def ellipse_ratio(first: NDArray[np.complex128], second: NDArray[np.complex128]) -> NDArray[np.float64]:
    """Large over small axis of the ellipse that two orthogonal components draw: (|L| + |R|) / ||L| - |R|| of circular
    ones."""
    left, right = np.abs(first + 1j * second), np.abs(first - 1j * second)
    with np.errstate(divide="ignore"):
        return np.asarray((left + right) / np.abs(left - right))
