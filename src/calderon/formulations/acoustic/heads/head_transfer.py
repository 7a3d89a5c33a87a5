"""Head-related transfer functions by frequency, their responses in time and their files."""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.data import Axis, LabelledArrays, Quantity
from calderon.data.far_fields import decibels
from calderon.data.labelled import Labelled
from calderon.formulations.acoustic.heads.sofa_files import write_sofa
from calderon.formulations.impulse_response import ImpulseResponse, impulse_response
from calderon.validation import positive_length, real_number

RINGING = 4.0
"""Periods of the highest frequency by which responses begin later than sound can arrive: a band that ends rings
before."""


@dataclass(frozen=True, eq=False)
class HeadTransfer(Labelled):
    """Pressures at the ears of a head over that of the free field at its centre, for exp(-i omega t).

    frequencies: (f,) in Hz. values: (f, n, e) of n sources and e ears. ears: their names. ear_points: (e, 3) in m.
    sources: (n, 3) in m, or unit vectors where `far` is True: plane waves from there. centre: (3,) in m.
    speed_of_sound: in m/s. solves, error: of a sweep by few solutions, see `SweptValues`.
    """

    frequencies: NDArray[np.float64]
    values: NDArray[np.complex128]
    ears: tuple[str, ...]
    ear_points: NDArray[np.float64]
    sources: NDArray[np.float64]
    far: bool
    centre: NDArray[np.float64]
    speed_of_sound: float
    solves: int
    error: float

    @property
    def levels(self) -> NDArray[np.float64]:
        """20 log10 of the magnitudes (f, n, e), in dB re the free field at the centre."""
        return decibels(np.abs(self.values) ** 2)

    @property
    def usual_delay(self) -> float:
        """The time in s from the beginning of responses to the arrival at the centre: that of sound from the farthest
        ear, and four periods of the highest frequency."""
        farthest = float(np.linalg.norm(self.ear_points - self.centre, axis=1).max())
        return farthest / self.speed_of_sound + RINGING / float(self.frequencies.max())

    def impulse_response(
        self, rate: float = 44100.0, delay: float | None = None, taper: float = 0.2
    ) -> ImpulseResponse:
        """The responses in time (samples, n, e), `rate` samples a second, to a unit sample in the free field.

        The frequencies are df, 2 df, 3 df, ..., rate / df a whole number. delay: of all responses in s, since an ear on
        the side of a source hears it before the centre would; `usual_delay` by default. taper: the part of the band,
        below rate / 2, over which the spectrum is brought to 0 as half a cosine; 0 cuts it off. ValueError for other
        frequencies, and where responses are longer than 1 / df.
        """
        late = self.usual_delay if delay is None else real_number(delay, "delay")
        part = real_number(taper, "taper")
        if not 0 <= part <= 1:
            raise ValueError(f"taper is a part of the band, from 0 to 1, got {taper!r}")
        rate = positive_length(rate, "rate")
        top = float(self.frequencies.max())
        spectrum = np.exp(2j * np.pi * self.frequencies * late)
        if part > 0 and top + float(self.frequencies.min()) < rate / 2:
            place = np.clip((self.frequencies - (1 - part) * top) / (part * top), 0.0, 1.0)
            spectrum = spectrum * (0.5 + 0.5 * np.cos(np.pi * place))
        delayed = self.values * spectrum[:, None, None]
        return impulse_response(self.frequencies, delayed, rate, "head-related response", "", band_ends=True)

    def write_sofa(
        self, path: str | os.PathLike[str], rate: float | None = None, delay: float | None = None, taper: float = 0.2
    ) -> None:
        """Write a SOFA file (.sofa): transfer functions, or with `rate` responses in time; other arguments as in
        `impulse_response`. Of two ears the one named "left" is the first. x leads to the front, y to the left, z up.
        RuntimeError without the package sofar, pip install 'calderon[sofa]'."""
        order = sorted(range(len(self.ears)), key=lambda number: self.ears[number] != "left")
        places = self.sources if self.far else self.sources - self.centre
        about = "re the free field at the centre of the head"
        if self.far:
            about += "; plane waves, the radius has no meaning"
        receivers = (self.ear_points - self.centre)[order]
        if rate is None:
            spectra = self.frequencies, self.values[:, :, order]
            write_sofa(path, places, receivers, spectra=spectra, comment=about)
            return
        response = self.impulse_response(rate, delay, taper)
        late = self.usual_delay if delay is None else delay
        samples = response.rate, response.samples[:, :, order]
        write_sofa(path, places, receivers, samples=samples, comment=f"{about}; delayed by {late:.6g} s")

    def arrays(self) -> LabelledArrays:
        """The values and levels by frequency, source and ear, as `data.LabelledArrays`."""
        axes = (
            Axis("frequency", self.frequencies, "Hz", "frequency"),
            Axis("source", np.arange(len(self.sources))),
            Axis("ear", np.array(self.ears)),
        )
        unit = "" if self.far else "m"
        places = tuple(Quantity(each, self.sources[:, n], unit, along=("source",)) for n, each in enumerate("xyz"))
        found = (
            Quantity("transfer", self.values, "", "head-related transfer function"),
            Quantity("level", self.levels, "dB", "level re the free field"),
        )
        return LabelledArrays(axes, found, places, {"time_factor": "exp(-i omega t)", "solves": self.solves})

    @property
    def brief(self) -> str:
        """Ears, sources and band."""
        band = f"{self.frequencies.min():g} to {self.frequencies.max():g} Hz"
        what = "directions" if self.far else "sources"
        return f"transfer to {len(self.ears)} ears from {len(self.sources)} {what}, {band}, {self.solves} solved"
