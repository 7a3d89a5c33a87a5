"""Resistors, coils and capacitors in slots of the metal."""

from dataclasses import dataclass

import numpy as np

from calderon.formulations.ports.delta_gap import DeltaGap
from calderon.formulations.ports.edge_port import EdgePort
from calderon.validation import describe, positive_length, truth

UNITS = {"resistance": "ohm", "inductance": "H", "capacitance": "F"}


@dataclass(frozen=True, eq=False)
class Lumped:
    """A resistor, a coil and a capacitor in a slot, in series, or in parallel.

    gap: the slot, as of a port: a `DeltaGap`, or an `EdgePort` at the ground. resistance in ohm, inductance in H,
    capacitance in F: positive, None for what is missing; at least one is given. parallel: False (default) for in
    series.

    With exp(-i omega t) the impedance in series is R - i omega L + i / (omega C), the admittance in parallel
    1 / R + i / (omega L) - i omega C. The current through the slot lowers its voltage by Z I.
    """

    gap: DeltaGap | EdgePort
    resistance: float | None = None
    inductance: float | None = None
    capacitance: float | None = None
    parallel: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.gap, DeltaGap | EdgePort):
            raise TypeError(f"a lumped element lies in a DeltaGap or an EdgePort, got {describe(self.gap)}")
        given = {name: getattr(self, name) for name in UNITS if getattr(self, name) is not None}
        if not given:
            raise ValueError("a lumped element needs a resistance in ohm, an inductance in H or a capacitance in F")
        for name, value in given.items():
            positive_length(value, f"the {name} of a lumped element in {UNITS[name]}")
        truth(self.parallel, "parallel")

    def impedance(self, frequency: float) -> complex:
        """Z in ohm at `frequency` in Hz."""
        omega = 2 * np.pi * positive_length(frequency, "frequency")
        parts = []
        if self.resistance is not None:
            parts.append(complex(self.resistance))
        if self.inductance is not None:
            parts.append(-1j * omega * self.inductance)
        if self.capacitance is not None:
            parts.append(1j / (omega * self.capacitance))
        if self.parallel and (total := sum(1 / each for each in parts)) == 0:
            raise ValueError(
                f"the coil and the capacitor of a lumped element resonate at {frequency:g} Hz, where no current flows: "
                "change the frequency a little, or give a resistance"
            )
        return 1 / total if self.parallel else sum(parts)
