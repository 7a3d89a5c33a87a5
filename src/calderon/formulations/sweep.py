"""One problem at many frequencies."""

from collections.abc import Iterable, Iterator
from typing import Any, Unpack

import numpy as np

from calderon.formulations.options import SolveChoices, named_options
from calderon.formulations.sweep_results import Sweep, frequencies_of


@named_options
def frequency_sweep(
    problem: Any, wave: Any, wavenumbers: Iterable[complex], **options: Unpack[SolveChoices]
) -> Iterator[Any]:
    """Solve at each wavenumber in turn; yields the solutions.

    problem: any with `at(wavenumber)`: acoustic, conductors, penetrable bodies, antennas. wave: what `problem.solve`
    takes; a plane wave, point source or dipole keeps its direction or position and its amplitude and gets the new
    wavenumber, voltages of an antenna do not change. A generator: one matrix is in memory at a time. options:
    those of `Problem.solve`. What `problem.at` keeps (the ratio of wavenumbers, permittivities) is kept.
    Raises TypeError for a problem without a wavenumber, a wave whose wavenumber cannot be changed, and wavenumbers that
    are not a list.

        strengths = [s.target_strength(directions) for s in frequency_sweep(problem, wave, 2 * np.pi * frequencies / c)]
        impedances = [s.input_impedance for s in frequency_sweep(antenna, 1.0, wavenumbers)]
    """
    if not hasattr(problem, "at") or not hasattr(problem, "solve"):
        raise TypeError(
            f"a sweep needs a problem with at(wavenumber), as for scattering and antennas, got {type(problem).__name__}"
        )
    if hasattr(wave, "wavenumber") and not hasattr(wave, "at"):
        raise TypeError(
            "a sweep needs a wave whose wavenumber can be changed, a PlaneWave or PointSource or dipole, "
            f"got {type(wave).__name__}"
        )
    try:
        each = iter(wavenumbers)
    except TypeError:
        raise TypeError(
            f"a sweep needs the wavenumbers in 1/m, a list or an array, got {wavenumbers!r}: one of them is [k]"
        ) from None
    for wavenumber in each:
        yield problem.at(wavenumber).solve(wave_at(wave, wavenumber), **options)


def wave_at(wave: Any, wavenumber: complex) -> Any:
    """A wave at another wavenumber; data without one as they are."""
    return wave.at(wavenumber) if hasattr(wave, "at") and hasattr(wave, "wavenumber") else wave


def sweep_of(
    problem: Any, frequencies: Iterable[float], wave: Any, speed: float, **options: Unpack[SolveChoices]
) -> Sweep:
    """The solutions of a problem at frequencies in Hz, its waves of that speed in m/s."""
    hertz = frequencies_of(frequencies)
    solutions = frequency_sweep(problem, wave, 2 * np.pi * hertz / speed, **options)
    return Sweep(hertz, tuple(solutions))
