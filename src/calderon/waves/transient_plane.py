"""A plane wave in vacuum as a function of time."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.vacuum import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.validation import positive_length
from calderon.waves.electromagnetic_plane import ElectromagneticPlaneWave


@dataclass(frozen=True, eq=False)
class TransientPlaneWave:
    """A plane wave of one frequency as a function of points and time, for `MaxwellDG`:

    E = Re amplitude e exp(i(k d . x - w t)), H = d x E / Z0 in vacuum, w = 2 pi frequency, k = w / c.

    direction: d (3,), normalised. polarization: e (3,), real or complex, orthogonal to d, normalised. frequency: in Hz.
    amplitude: peak value of E in V/m. Points in m, times in s. Errors as for ElectromagneticPlaneWave.
    """

    direction: ArrayLike
    polarization: ArrayLike
    frequency: float
    amplitude: complex = 1.0

    def __post_init__(self) -> None:
        positive_length(self.frequency, "frequency")
        assert self.amplitudes is not None

    @property
    def angular_frequency(self) -> float:
        """w in 1/s."""
        return 2 * np.pi * self.frequency

    @cached_property
    def amplitudes(self) -> ElectromagneticPlaneWave:
        """The complex amplitudes of E and H as functions of points."""
        wavenumber = self.angular_frequency / SPEED_OF_LIGHT
        given = np.asarray(self.direction), np.asarray(self.polarization), wavenumber, self.amplitude
        return ElectromagneticPlaneWave(*given, impedance=VACUUM_IMPEDANCE)

    def electric(self, points: ArrayLike, time: float) -> NDArray[np.float64]:
        """(n, 3) E in V/m at points (n, 3) and a time."""
        return np.real(self.amplitudes.electric(points) * np.exp(-1j * self.angular_frequency * time))

    def magnetic(self, points: ArrayLike, time: float) -> NDArray[np.float64]:
        """(n, 3) H in A/m at points (n, 3) and a time."""
        return np.real(self.amplitudes.magnetic(points) * np.exp(-1j * self.angular_frequency * time))
