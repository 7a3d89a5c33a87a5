"""A kind of case: the potentials of charged drops that are far from each other."""

from pathlib import Path

import numpy as np

from calderon.case import CaseFile
from calderon.exact import VACUUM_PERMITTIVITY
from calderon.report import Kind, Stages
from calderon.report.formatting import Row
from rain.drops.model import DropCase
from rain.drops.panels import PANELS, DropResults


class ChargedDrops(Kind[DropCase, np.ndarray, DropResults]):
    """Each drop is a point charge for the others."""

    def build(self, file: CaseFile[DropCase], stages: Stages) -> np.ndarray:
        """Distances (n, n), and on the diagonal the radius."""
        x, drops = np.array(file.case.drops.places), file.case.drops
        found = np.linalg.norm(x[:, None] - x, axis=2) + drops.radius * np.eye(len(x))
        if found.min() < drops.radius:
            raise file.mistake("drops", "radius", "the drops touch each other")
        return found

    def compute(self, file: CaseFile[DropCase], posed: np.ndarray, stages: Stages, scratch: Path | None) -> DropResults:
        with stages.stage("add the potentials"):
            return DropResults(
                file, file.case.drops.charge / (4 * np.pi * VACUUM_PERMITTIVITY) * (1 / posed).sum(axis=1)
            )

    def plan(self, file: CaseFile[DropCase], stages: Stages) -> list[Row]:
        return [("drops", str(len(self.build(file, stages))), "")]

    def subtitle(self, results: DropResults) -> str:
        return f"{results.unknowns} drops."


KIND = ChargedDrops("drops", "Charged drops", DropCase, PANELS)
