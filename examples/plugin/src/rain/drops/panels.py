"""Results of charged drops, and what a report shows of them."""

from dataclasses import dataclass

import numpy as np

from calderon.report import Result, Sheet, panel
from rain.drops.model import DropCase


@dataclass(frozen=True)
class DropResults(Result[DropCase]):
    """Potentials of the drops in V."""

    potentials: np.ndarray
    equation = "u = q / (4 pi eps0 r)"

    @property
    def unknowns(self) -> int:
        return len(self.potentials)


@panel("potentials")
def potentials(results: DropResults, sheet: Sheet) -> None:
    found = results.potentials
    sheet.headline("largest potential", f"{found.max():.4g}", "V")
    sheet.numbers["potentials_V"] = found.tolist()
    sheet.columns("potentials.csv", [("potential_V", found)])
    sheet.cartesian("potentials.png", "Potentials.", np.arange(len(found)), {"": found}, "drop", "potential (V)")


PANELS = (potentials,)
