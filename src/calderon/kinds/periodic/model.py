"""Case files of periodic surfaces: [periodic], [element], and the [[layer]] tables of a board, from below."""

from collections.abc import Sequence
from typing import Literal

from pydantic import model_validator

from calderon.case.board import VACUUM, Boarded, BoardSolver, Element, Wall
from calderon.case.quantities import Angle, Frequencies, Size
from calderon.case.table import Table, key
from calderon.formulations.options import DEFAULTS


class Periodic(Table):
    """[periodic]: the period (one length, or two along x and y), one or several frequencies, the direction from which
    the wave comes, and what is below and above the layers."""

    period: Size | tuple[Size, Size] = key("one length, or two along x and y", ...)
    frequency: Frequencies = key("one, a list, or { start, stop, count } with both ends", ...)
    theta: Angle = key("of the direction from which the wave comes, from the normal", 0.0)
    phi: Angle = key("of this direction, from x", 0.0)
    side: Literal["above", "below"] = key("from which the wave comes", "above")
    below: Wall = key("what is below the layers", "pec")
    above: Wall = key("what is above the layers", "vacuum")


class PeriodicSolver(BoardSolver):
    """[solver]: rtol of reflections; Floquet waves that are smaller than a tenth of that are left out."""

    rtol: float = key("relative accuracy", DEFAULTS["rtol"], gt=0, lt=1)


class PeriodicCase(Boarded):
    """A whole case file of a periodic surface."""

    periodic: Periodic
    element: Element
    solver: PeriodicSolver = PeriodicSolver()

    @property
    def frequencies(self) -> Sequence[float]:
        return self.periodic.frequency

    @property
    def ends(self) -> tuple[str, str]:
        return self.periodic.below, self.periodic.above

    @model_validator(mode="after")
    def _fits_together(self) -> "PeriodicCase":
        if getattr(self.periodic, self.periodic.side) != VACUUM:
            raise ValueError(f"periodic.side = {self.periodic.side!r}: no wave comes from there, through a wall")
        self.interface  # noqa: B018
        return self

    @property
    def height(self) -> float:
        """z of the element in m."""
        return float(self.stack.interfaces[self.interface])
