"""Bands, lumped elements in gaps, and lines between them, of case files of boards and of antennas."""

from typing import Any, ClassVar, Self

from pydantic import model_validator

from calderon.case.quantities import Capacitance, Frequency, Inductance, Resistance, Size
from calderon.case.table import Table, key
from calderon.formulations import Line, Lumped


class Band(Table):
    """A band of frequencies: so many points from start to stop."""

    start: Frequency = key("lowest frequency", ...)
    stop: Frequency = key("highest frequency", ...)
    points: int = key("number of frequencies", 201, ge=2, le=100_000)

    @model_validator(mode="after")
    def _rises(self) -> "Band":
        if self.stop <= self.start:
            raise ValueError("the stop of a band lies above its start")
        return self


class LinePart(Table):
    """A transmission line without loss."""

    impedance: Resistance | None = key("characteristic, of the line", gt=0)
    length: Size | None = key("of the line")
    velocity: float | None = key("in the line, in units of that of light; 1 unless given", gt=0, le=1)
    crossed: bool | None = key("whether the conductors of the line change sides")

    @property
    def line(self) -> Line:
        """It, where its impedance and length are given."""
        return Line(self.impedance or 0.0, self.length or 0.0, self.velocity or 1.0, bool(self.crossed))


class Elements(Table):
    """A resistor, a coil and a capacitor, in series unless parallel."""

    ELEMENTS: ClassVar = ("resistance", "inductance", "capacitance", "parallel")
    resistance: Resistance | None = key("of the resistor; at least one of the three is given")
    inductance: Inductance | None = key("of the coil")
    capacitance: Capacitance | None = key("of the capacitor")
    parallel: bool = key("whether they are in parallel", False)

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if self.resistance is None and self.inductance is None and self.capacitance is None:
            raise ValueError('a load needs a resistance = "50 ohm", an inductance = "1 nH" or a capacitance = "1 pF"')
        return self

    def element(self, gap: Any) -> Lumped:
        """They in a gap."""
        return Lumped(gap, self.resistance, self.inductance, self.capacitance, self.parallel)
