"""Incident plane waves at the open faces."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.boundary import FacesOf
from calderon.dg.operator.medium import Medium
from calderon.waves import TransientPlaneWave
from calderon.waves.signals import RAMP_PERIODS, smooth


class Amplitudes(NamedTuple):
    """One wave at the open faces: tangential components (f, 2, m) of E and Z0 H, for the time factor exp(-i w c t),
    frequency w; ramp: the reciprocal of the time in which it is switched on."""

    frequency: float
    ramp: float
    electric: NDArray[np.complex128]
    magnetic: NDArray[np.complex128]


class IncidentWaves:
    """Tangential components of E and Z0 H of all waves at the open faces, as a function of c t."""

    def __init__(self, waves: Sequence[TransientPlaneWave], faces: FacesOf, medium: Medium) -> None:
        def tangential(values: NDArray[Any]) -> NDArray[np.complex128]:
            return faces.tangential(values.reshape(faces.points.shape))

        points = faces.points.reshape(-1, 3)
        self.waves = [
            Amplitudes(
                wave.angular_frequency / medium.speed,
                wave.frequency / medium.speed / RAMP_PERIODS,
                tangential(wave.amplitudes.electric(points)),
                tangential(medium.impedance * wave.amplitudes.magnetic(points)),
            )
            for wave in waves
        ]

    def phases(self, time: float) -> NDArray[np.complex128]:
        """(waves,) factors of the amplitudes, before the real part is taken."""
        return np.array([smooth(wave.ramp * time) * np.exp(-1j * wave.frequency * time) for wave in self.waves])

    def __call__(self, time: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        pairs = list(zip(self.phases(time), self.waves, strict=True))
        electric = sum(np.real(factor * wave.electric) for factor, wave in pairs)
        magnetic = sum(np.real(factor * wave.magnetic) for factor, wave in pairs)
        return np.asarray(electric), np.asarray(magnetic)
