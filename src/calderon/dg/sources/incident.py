"""Incident plane waves at the open faces."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.boundary import FacesOf
from calderon.dg.operator.medium import Medium
from calderon.waves import TransientPlaneWave
from calderon.waves.currents import RAMP_PERIODS, smooth


class IncidentWaves:
    """Plane waves at the open faces. amplitudes: tangential components (waves, f, 2, m) of E and of Z0 H."""

    def __init__(self, waves: Sequence[TransientPlaneWave], faces: FacesOf, medium: Medium) -> None:
        self.waves, speed = waves, medium.speed
        self._rates = [(each.frequency / speed / RAMP_PERIODS, each.angular_frequency / speed) for each in waves]
        # amplitudes in space, whose tangential components enter
        fields = [each.amplitudes for each in waves]
        points = faces.points.reshape(-1, 3)

        def tangential(values: list[NDArray[Any]]) -> NDArray[np.complex128]:
            traces = [faces.tangential(each.reshape(faces.points.shape)) for each in values]
            return np.array(traces, complex).reshape(len(waves), faces.number, 2, faces.points.shape[1])

        self.amplitudes = (
            tangential([each.electric(points) for each in fields]),
            tangential([medium.impedance * each.magnetic(points) for each in fields]),
        )

    def phases(self, time: float) -> NDArray[np.complex128]:
        """(waves,) factors of the amplitudes at c t, before the real part is taken."""
        return np.array([smooth(ramp * time) * np.exp(-1j * rate * time) for ramp, rate in self._rates])
