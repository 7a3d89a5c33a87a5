"""One problem at many frequencies."""

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from calderon.formulations.problem import Problem


def frequency_sweep(problem: Any, wave: Any, wavenumbers: Iterable[complex], **options: Any) -> Iterator[Any]:
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
    if not isinstance(problem, Problem) or not hasattr(problem, "at"):
        raise TypeError(
            f"a sweep needs a problem with at(wavenumber), as for scattering and antennas, got {type(problem).__name__}"
        )
    if hasattr(wave, "wavenumber") and not _has_own_wavenumber(wave):
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
        data = replace(wave, wavenumber=wavenumber) if _has_own_wavenumber(wave) else wave
        yield problem.at(wavenumber).solve(data, **options)


def _has_own_wavenumber(wave: Any) -> bool:
    return is_dataclass(wave) and any(each.name == "wavenumber" and each.init for each in fields(wave))
