"""Echoes of a radar over frequency and angle: labelled data, cross-sections, and profiles over range."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.data import Axis, LabelledArrays, Quantity
from calderon.exact import SPEED_OF_LIGHT
from calderon.validation import one_of, whole_number
from calderon.view import Described

Complex = NDArray[np.complex128]
WINDOWS: dict[str, Callable[[int], Any]] = {
    "none": np.ones, "hann": lambda n: np.hanning(n + 2)[1:-1], "hamming": np.hamming,
}  # fmt: skip
"""Weights of n frequencies, which lower the sidelobes of profiles."""
EVEN = 1e-6
"""Largest deviation of a step between frequencies from their mean, as a part of it."""


@dataclass(frozen=True, eq=False)
class RadarSweep(Described):
    """Backscattered amplitudes F (n, m, p) in m at frequencies (n,) in Hz, seen from theta, phi (m,) in radians with
    polarisations (p,), receiver first; the cross-section is 4 pi |F|^2."""

    frequencies: NDArray[np.float64]
    theta: NDArray[np.float64]
    phi: NDArray[np.float64]
    polarizations: tuple[str, ...]
    amplitudes: Complex

    @property
    def rcs(self) -> NDArray[np.float64]:
        """(n, m, p) radar cross-sections in m^2."""
        return 4 * np.pi * np.abs(self.amplitudes) ** 2

    def arrays(self) -> LabelledArrays:
        """Amplitudes and cross-sections by frequency, direction and polarisation; theta and phi of the directions."""
        rcs = Quantity("rcs", self.rcs, "m2", "radar cross-section")
        amplitude = Quantity("amplitude", self.amplitudes, "m", "backscattered amplitude")
        return self._labelled(Axis("frequency", self.frequencies, "Hz", "frequency"), (amplitude, rcs))

    def to_xarray(self) -> Any:
        """`arrays` as an `xarray.Dataset`."""
        return self.arrays().to_xarray()

    def range_profile(self, window: str = "hann", points: int | None = None) -> LabelledArrays:
        """The profile over range: amplitudes (s, m, p) in m by the distance s in m behind the origin as the radar sees
        it, negative in front of it,

            P(s) = sum_f w_f F(f) exp(-2i k s) / sum_f w_f,

        by FFT: a scatterer that echoes with A at every frequency gives A at its place. Its width is about c / (2 B) of
        the band B, more with a window ("none", "hann", "hamming"); profiles repeat after c / (2 df). points: of the
        profile, four times the frequencies unless given. ValueError for fewer than two frequencies and uneven steps.
        """
        n = len(self.frequencies)
        one_of(window, WINDOWS, "window")
        steps = np.diff(self.frequencies)
        if n < 2 or np.abs(steps - steps.mean()).max() > EVEN * abs(steps.mean()):
            raise ValueError("a range profile needs two frequencies or more in equal steps, np.linspace(low, high, n)")
        size = 4 * n if points is None else whole_number(points, "points", n)
        weights = np.asarray(WINDOWS[window](n))
        spectrum = (weights / weights.sum())[:, None, None] * self.amplitudes
        places = np.fft.fftshift(np.fft.fftfreq(size)) * SPEED_OF_LIGHT / (2 * steps.mean())
        phases = np.exp(-4j * np.pi * self.frequencies[0] / SPEED_OF_LIGHT * places)
        profile = phases[:, None, None] * np.fft.fftshift(np.fft.fft(spectrum, size, axis=0), axes=0)
        quantity = Quantity("profile", profile, "m", "backscattered amplitude")
        return self._labelled(Axis("range", places, "m", "distance behind the origin"), (quantity,))

    def _labelled(self, first: Axis, quantities: tuple[Quantity, ...]) -> LabelledArrays:
        axes = (
            first, Axis("direction", np.arange(len(self.theta))),
            Axis("polarization", np.array(self.polarizations), label="receiver, transmitter"),
        )  # fmt: skip
        angles = tuple(
            Quantity(name, values, "rad", along=("direction",))
            for name, values in (("theta", self.theta), ("phi", self.phi))
        )
        return LabelledArrays(axes, quantities, angles, {"time_factor": "exp(-i omega t)"})

    @property
    def brief(self) -> str:
        """Frequencies, directions, polarisations."""
        low, high = self.frequencies.min() / 1e9, self.frequencies.max() / 1e9
        band = f"{len(self.frequencies)} frequencies from {low:g} to {high:g} GHz"
        return f"{band}, {len(self.theta)} directions, {', '.join(self.polarizations)}"
