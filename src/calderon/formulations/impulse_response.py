"""Responses in time from values by frequency, for the time factor exp(-i omega t), and their sound files."""

import os
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.backends import require_memory
from calderon.files.whole_file import file_path, whole_file
from calderon.validation import positive_length, unmasked
from calderon.view import Described

CUT = 1e-3
"""Part of the energy in the last tenth of a band, or of a time, above which the band or the time is too short."""


@dataclass(frozen=True, eq=False)
class ImpulseResponse(Described):
    """Samples h (n, ...) in time of responses to a unit sample at the time 0: what a signal s causes is sum_m h_m
    s_(j-m), in the unit of the values that a unit amplitude causes.

    rate: samples per second. name, unit: of the values.

        response = problem.sweep(np.arange(1, 400) * 5.0, source, points=ears).impulse_response(4000.0)
        response.response(music), response.write_wav("room.wav")
    """

    samples: NDArray[np.float64]
    rate: float
    name: str = "value"
    unit: str = ""

    @property
    def times(self) -> NDArray[np.float64]:
        """The times (n,) of the samples in s, from 0."""
        return np.arange(len(self.samples)) / self.rate

    def response(self, signal: ArrayLike) -> NDArray[np.float64]:
        """The response (m + n - 1, ...) to a signal (m,), real numbers at the same rate; ValueError for others."""
        given = unmasked(signal, "signal")
        if given.ndim != 1 or given.dtype.kind not in "fiu" or not given.size or not np.isfinite(given).all():
            raise ValueError(
                f"a signal is a list of real numbers, {self.rate:g} a second, got an array {given.shape} of "
                f"{given.dtype}"
            )
        column = given.astype(np.float64).reshape(-1, *[1] * (self.samples.ndim - 1))
        return np.asarray(scipy.signal.fftconvolve(self.samples, column, axes=0))

    def write_wav(self, path: str | os.PathLike[str], peak: float | None = 0.9) -> None:
        """Write a sound file (.wav, 32-bit floats), a channel for each value, its largest number `peak`; None: the
        numbers themselves. ValueError for another ending and for a rate that is no whole number."""
        write_wav(path, self.samples, self.rate, peak)

    @property
    def brief(self) -> str:
        """Length and rate."""
        return f"{len(self.samples)} samples of {self.name}, {self.rate:g} a second"

    def __str__(self) -> str:
        return self.brief


def write_wav(
    path: str | os.PathLike[str], samples: NDArray[np.float64], rate: float, peak: float | None = 0.9
) -> None:
    """Write samples (n, ...) to a file as `ImpulseResponse.write_wav` says."""
    place = file_path(path, "a sound", "room.wav")
    if place.suffix.lower() != ".wav":
        raise ValueError(f"sounds are written to files that end in .wav, got {str(path)!r}")
    if rate != round(rate):
        raise ValueError(f"sound files have a whole number of samples per second, got {rate!r}: choose another rate")
    largest = float(np.abs(samples).max(initial=0.0))
    scale = 1.0 if peak is None or largest == 0 else positive_length(peak, "peak") / largest
    content = (scale * samples).reshape(len(samples), -1).astype(np.float32)
    with whole_file(place) as scratch:
        scipy.io.wavfile.write(scratch, round(rate), content)


def impulse_response(
    frequencies: NDArray[np.float64],
    values: NDArray[np.complex128],
    rate: float,
    name: str,
    unit: str,
    band_ends: bool = False,
) -> ImpulseResponse:
    """The response in time of values (m, ...) at the frequencies df, 2 df, ..., m df in Hz, as a real inverse Fourier
    transform of n = rate / df samples.

    Values are conjugated, since the transform has exp(+i omega t). Frequencies between the band and rate / 2 count as
    silent. That of 0 Hz is what lets the response end with 0: one that is over after 1 / df has the mean 0
    in the last tenth of that time. band_ends: whether the band may end where the spectrum has not. ValueError for
    frequencies that are no such list, a rate without a whole number of samples, and where the band or the time cuts
    something off.
    """
    rate = positive_length(rate, "rate")
    order = np.argsort(frequencies)
    hertz, spectrum = frequencies[order], values[order].conj()
    step, count = float(hertz[0]), len(hertz)
    if np.abs(hertz / step - np.arange(1, count + 1)).max() > 1e-6:
        raise ValueError(
            "an impulse response needs the frequencies df, 2 df, 3 df, ... without gaps, as np.arange(1, n + 1) * df; "
            f"these are {count} from {hertz[0]:g} to {hertz[-1]:g} Hz"
        )
    samples = round(rate / step)
    if abs(rate / step - samples) > 1e-6 * samples or samples < 4:
        raise ValueError(
            f"rate / df is a whole number of samples, and {rate:g} / {step:g} is {rate / step:.6g}: take rate="
            f"{max(samples, 4) * step:.12g}"
        )
    require_memory(16 * samples * values[0].size, "a response in time", "take a lower rate")
    whole = (samples - 1) // 2  # the highest frequency below half the rate
    energy = np.abs(spectrum.reshape(count, -1)) ** 2
    last = energy[-max(1, count // 10) :].sum() / max(energy.sum(), np.finfo(float).tiny)
    if count < whole and last > CUT and not band_ends:
        raise ValueError(
            f"the band ends at {hertz[-1]:g} Hz, where the spectrum has not ended: its last tenth has {last:.1e} of "
            f"the energy, {CUT:g} is accepted. Sweep up to rate / 2 = {rate / 2:g} Hz, or take rate={2 * hertz[-1]:g}"
        )
    padded = np.zeros((samples // 2 + 1, *spectrum.shape[1:]), np.complex128)
    padded[1 : count + 1] = spectrum[: len(padded) - 1]
    found = np.fft.irfft(padded, samples, axis=0)
    end = max(1, samples // 10)
    found = found - found[-end:].mean(axis=0)  # 0 Hz adds a constant
    power, rest = float((found**2).sum()), float((found[-end:] ** 2).sum() + end * (_remaining(found, end) ** 2).sum())
    last = rest / max(power, np.finfo(float).tiny)
    if last > CUT:
        raise ValueError(
            f"the response is longer than 1 / df = {1 / step:g} s: the last tenth of that time has {last:.1e} of its "
            f"energy, {CUT:g} is accepted. Sweep with a smaller step, or add absorption"
        )
    return ImpulseResponse(found, rate, name, unit)


def _remaining(samples: NDArray[np.float64], end: int) -> NDArray[np.float64]:
    """The mean (...) of the last `end` samples of responses (n, ...) that decay steadily, which their constant hides:
    that of a geometric series, by its last two steps."""
    means = [samples[len(samples) - (n + 1) * end : len(samples) - n * end].mean(axis=0) for n in range(3)]
    step, before = np.abs(means[1] - means[0]), np.abs(means[2] - means[1])
    slowest = np.maximum(0.1 * step, np.finfo(float).tiny)
    return np.asarray(step**2 / np.maximum(before - step, slowest))
