"""Thin sheets of case files of sound: their problem, and the sound of the sources without them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations import AcousticSheet
from calderon.formulations.acoustic.fluid import wave_constants
from calderon.kinds.acoustics.model import SoundCase
from calderon.mesh import TriangleMesh


def posed_sheet(case: SoundCase, mesh: TriangleMesh, conditions: dict[Any, list[Any]], frequency: float) -> Any:
    """The problem of a sheet at a frequency in Hz; conditions: by tags, an impedance each."""
    impedance: Any = {tags: several[0] for tags, several in conditions.items()} or np.inf
    return AcousticSheet(
        mesh, frequency=frequency, fluid=case.fluid_at(frequency), impedance=impedance, mirrors=case.acoustics.plane,
        space=case.acoustics.space,
    )  # fmt: skip


def without_sheet(case: SoundCase, problem: AcousticSheet, frequencies: NDArray[np.float64]) -> NDArray[np.complex128]:
    """The pressures (n, points) of the sources alone, with their reflections, at the points of a case."""
    points, found = np.array(case.output.points).reshape(-1, 3), []
    for frequency in frequencies.tolist():
        k, _ = wave_constants(None, frequency, case.fluid_at(frequency))
        found.append(problem.surface.with_images(case.sources.at(k))(points))
    return np.array(found, np.complex128).reshape(len(frequencies), len(points))
