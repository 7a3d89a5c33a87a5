"""Wavenumbers, or frequencies with a speed of waves: k = 2 pi f / c."""

from typing import Any

import numpy as np

from calderon.validation import positive_length, wavenumber_of_a_wave

AGREEMENT = 1e-9
"""Relative difference up to which a wavenumber and a frequency are the same."""


def wavenumber_and_frequency(
    wavenumber: complex | None,
    frequency: float | None,
    speed: float | None,
    name: str = "speed_of_sound",
    of: str = "wavenumber",
) -> tuple[complex | float, float | None]:
    """k in 1/m and the frequency in Hz, None where no speed is known.

    speed: of the waves in m/s; name, of: of this and of the wavenumber, in errors. TypeError where neither a wavenumber
    nor a frequency with a speed is given, ValueError where they contradict each other.
    """
    if speed is not None:
        speed = positive_length(speed, name)
    if frequency is None:
        if wavenumber is None:
            speeds = f" with {name}= in m/s (air 343, water 1500)" if speed is None else ""
            raise TypeError(f"a problem needs {of}=k in 1/m, or frequency= in Hz{speeds}")
        k = wavenumber_of_a_wave(wavenumber, "the wavenumber" if of == "wavenumber" else of)
        return k, None if speed is None else float(np.real(k)) * speed / (2 * np.pi)
    frequency = positive_length(frequency, "frequency")
    if speed is None:
        raise TypeError(f"frequency={frequency:g} Hz needs {name}= in m/s (air 343, water 1500), or give {of}=k in 1/m")
    k = 2 * np.pi * frequency / speed
    if wavenumber is not None and not np.isclose(complex(wavenumber), k, rtol=AGREEMENT, atol=0):
        raise ValueError(
            f"{of}={wavenumber:g} 1/m, and 2 pi frequency / {name} is {k:.6g} 1/m: give one of the two; "
            "problem.at(k) is the same problem at another wavenumber"
        )
    return k, frequency


def wave_attributes(wavenumber: complex, frequency: float | None) -> dict[str, Any]:
    """Facts of a wave that labelled data state."""
    k = complex(wavenumber)
    found: dict[str, Any] = {"time_factor": "exp(-i omega t)", "wavenumber_per_m": k.real if k.imag == 0 else str(k)}
    return found if frequency is None else {**found, "frequency_Hz": frequency}
