"""A case of a reflectarray is run: phases of cells, sizes, all elements together, the field at the focus."""

from pathlib import Path

import numpy as np

from calderon.case import CaseFile, ReflectarrayCase
from calderon.exact.vacuum import SPEED_OF_LIGHT
from calderon.formulations import ReflectArray
from calderon.report.reflectarray.results import ReflectarrayResults
from calderon.report.stages import Stages

ACROSS, POINTS = 2.5, 81
"""Wavelengths on each side of the focus, and points of a line."""


def built(file: CaseFile[ReflectarrayCase], stages: Stages) -> ReflectArray:
    """The array with its sizes; CaseError for elements that cannot be made or overlap."""
    case, given = file.case, file.case.reflectarray
    with stages.stage("compute the phases of elements"), file.blamed("reflectarray", "period"):
        sizes = np.linspace(given.smallest, given.largest, given.sizes)
        array = ReflectArray(
            case.mesh, sizes, given.period, given.count, case.stack, given.frequency, given.focus,
            polarisation=given.polarisation,
        )  # fmt: skip
        assert array.phases is not None
    return array


def compute_reflectarray(
    file: CaseFile[ReflectarrayCase], stages: Stages, scratch: Path | None = None
) -> ReflectarrayResults:
    """The design, its currents and the focus. Errors: CaseError, ValueError, MemoryError."""
    case, array = file.case, built(file, stages)
    with stages.stage("solve"):
        echo = array.scatter(method=case.solver.method, rtol=case.solver.rtol)
    with stages.stage("compute the field at the focus"):
        across = ACROSS * SPEED_OF_LIGHT / case.reflectarray.frequency * np.linspace(-1, 1, POINTS)
        z = np.full(POINTS, float(array.mesh.vertices[:, 2].max()) + case.reflectarray.focus)
        lines = [np.stack([across, 0 * z, z], axis=1), np.stack([0 * z, across, z], axis=1)]
        levels = np.linalg.norm(echo.electric(np.concatenate(lines)), axis=1).reshape(2, -1)
    return ReflectarrayResults(file, array, echo, across, levels)
