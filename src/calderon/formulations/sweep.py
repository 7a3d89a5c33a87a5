"""One problem at many frequencies."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from calderon.formulations.scattering import ScatteringProblem
from calderon.formulations.scattering_solution import ScatteringSolution
from calderon.waves import PlaneWave, PointSource


def frequency_sweep(
    problem: ScatteringProblem, wave: PlaneWave | PointSource, wavenumbers: Iterable[complex], **options: Any
) -> Iterator[ScatteringSolution]:
    """Solve at each wavenumber in turn; the wave keeps its direction or position and its amplitude.

    A generator: one matrix is in memory at a time. options: those of `Problem.solve`. Of a transmission problem the
    ratio of the wavenumbers is kept. Each solution knows its `wavenumber`.

        strengths = [s.target_strength(directions) for s in frequency_sweep(problem, wave, 2 * np.pi * frequencies / c)]
    """
    if not isinstance(wave, (PlaneWave, PointSource)):
        raise TypeError(
            f"a sweep needs a PlaneWave or PointSource, whose wavenumber can be changed, got {type(wave).__name__}"
        )
    for wavenumber in wavenumbers:
        yield problem.at(wavenumber).solve(replace(wave, wavenumber=wavenumber), **options)
