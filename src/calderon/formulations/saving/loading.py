"""Saved solutions are read back."""

import os
from typing import Any

from calderon.formulations.elastic.saved import elastic_solution
from calderon.formulations.elastic.solution import ElasticSolution
from calderon.formulations.electromagnetic.antenna_solution import AntennaSolution
from calderon.formulations.electromagnetic.dielectric_solution import DielectricSolution
from calderon.formulations.electromagnetic.pec import PECSolution
from calderon.formulations.potential_solution import PotentialSolution
from calderon.formulations.saving.solution_file import Restorer, restored
from calderon.formulations.scattering_solution import ScatteringSolution

RESTORED = AntennaSolution, DielectricSolution, PECSolution, PotentialSolution, ScatteringSolution
SOLUTIONS: dict[str, Restorer] = {
    each.__name__: Restorer(each.saved_classes, each._restored)  # type: ignore[attr-defined]
    for each in RESTORED
} | {ElasticSolution.__name__: Restorer(ElasticSolution.saved_classes, elastic_solution)}


def load(path: str | os.PathLike[str]) -> Any:
    """The solution that `solution.save(path)` has written: of scattering of sound, of conductors and penetrable bodies,
    of antennas, of Laplace's equation or of an elastic solid. Fields and far fields are the same to the last bit.

    A file need not be trusted: it holds numbers and texts only, under checksums, and everything is checked before it is
    used. FileNotFoundError; ValueError for a file of another kind or version; DamagedFile, a ValueError, for one that
    is damaged; MemoryError for one that does not fit.
    """
    return restored(path, SOLUTIONS)
