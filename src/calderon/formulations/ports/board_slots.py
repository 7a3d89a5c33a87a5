"""Slots of boards: generators at the ground, and resistors, coils and capacitors in slots."""

import os
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.ports.circuits import MeasuredImpedance, read_network
from calderon.formulations.ports.finite_gap import FiniteGap
from calderon.formulations.ports.gaps import OFF_LINE, DeltaGap, WireGap, check_line, on_line
from calderon.spaces import EdgeSpace
from calderon.validation import describe, finite_complex, positive_length, real_numbers, truth, unmasked


@dataclass(frozen=True, eq=False)
class EdgePort:
    """A generator in an infinitely narrow slot between the ground and vertical metal that stands on it.

    The edges on the ground, by one of two names. line: end points (2, 2), x and y in m, of a straight line of them, as
    below a `planar.ribbon`. around: (x, y, radius) in m, all within that distance, as those of a `planar.via` of that
    radius. name: for reports. Positive current flows from the ground into the metal. Other metal on the ground is
    joined to it.
    """

    line: ArrayLike | None = None
    around: ArrayLike | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if (self.line is None) == (self.around is None):
            raise ValueError("an edge port is named by one of line=((x, y), (x, y)) and around=(x, y, radius)")
        if self.line is not None:
            check_line(self.line, 2, "a pair of different points (x, y) in m on the ground")
        else:
            numbers = real_numbers(self.around, (3,), "around", "(x, y, radius) in m")  # type: ignore[arg-type]
            positive_length(float(numbers[2]), "the radius around an edge port in m")

    def weights(self, space: EdgeSpace) -> NDArray[np.float64]:
        """(dimension,): weights @ coefficients is the current in A, of functions that flow into the ground.

        Raises ValueError where the metal has no edge on the ground there, or not on the whole line.
        """
        mesh, feet = space.mesh, np.flatnonzero(space.sides[:, 1] < 0)
        ends = mesh.vertices[mesh.edges[space.edges[feet]], :2]
        if self.around is not None:
            x, y, radius = unmasked(self.around, "around").astype(float)
            # corners of a via lie on a circle of a little more than its radius
            on = (np.linalg.norm(ends - [x, y], axis=2) < 1.05 * radius).all(axis=1)
            where = f"within {1e3 * radius:g} mm of ({1e3 * x:g}, {1e3 * y:g}) mm"
        else:
            start, end = unmasked(self.line, "line").astype(float)
            length, close = float(np.linalg.norm(end - start)), OFF_LINE * mesh.diameter
            on = on_line(ends, start, end, close)
            where = f"on the line of {1e3 * length:g} mm from ({1e3 * start[0]:g}, {1e3 * start[1]:g}) mm"
            covered = mesh.edge_lengths[space.edges[feet[on]]].sum()
            if on.any() and abs(covered - length) > 2 * close:
                raise ValueError(
                    f"feet of vertical metal cover {1e3 * covered:g} mm {where}: name the line that they cover"
                )
        if not on.any():
            raise ValueError(
                f"no vertical metal stands on the ground {where}: join the metal to it by planar.ribbon or planar.via "
                "down to a wall of the stack"
            )
        out = np.zeros(space.dimension)
        out[feet[on]] = -mesh.edge_lengths[space.edges[feet[on]]]
        return out


UNITS = {"resistance": "ohm", "inductance": "H", "capacitance": "F"}


@dataclass(frozen=True, eq=False)
class Lumped:
    """A resistor, a coil and a capacitor in a slot, in series, or in parallel; or any impedance there.

    gap: the slot, as of a port: a `DeltaGap` or `FiniteGap`, an `EdgePort` at the ground, or the `WireGap` of a
    wire, without outer_radius. resistance in ohm, inductance in H, capacitance in F: positive, None for what is
    missing; at least one is given. parallel: False (default) for in series. Or impedance= alone: a number in ohm, a
    function of the frequency in Hz, a network of scikit-rf with one port, or the path of a Touchstone file (.s1p), both
    of which are for exp(+j omega t).

    With exp(-i omega t) the impedance in series is R - i omega L + i / (omega C), the admittance in parallel
    1 / R + i / (omega L) - i omega C. The current through the slot lowers its voltage by Z I. An impedance has
    Re Z >= 0; that of a textbook with exp(j omega t) is its conjugate. ValueError for one that delivers power.
    """

    gap: DeltaGap | EdgePort | WireGap | FiniteGap
    resistance: float | None = None
    inductance: float | None = None
    capacitance: float | None = None
    parallel: bool = False
    impedance: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.gap, DeltaGap | EdgePort | WireGap | FiniteGap):
            raise TypeError(
                f"a lumped element lies in a DeltaGap, an EdgePort, a FiniteGap or a WireGap, got {describe(self.gap)}"
            )
        if isinstance(self.gap, WireGap) and self.gap.outer_radius is not None:
            raise ValueError(
                f"outer_radius={self.gap.outer_radius:g} m: a lumped element lies in a gap without width, not at the "
                "end of a coaxial line: leave outer_radius out"
            )
        given = {name: getattr(self, name) for name in UNITS if getattr(self, name) is not None}
        if not given and self.impedance is None:
            raise ValueError(
                "a lumped element needs a resistance in ohm, an inductance in H or a capacitance in F, or an impedance"
            )
        if self.impedance is not None:
            if given or self.parallel:
                raise ValueError(f"a lumped element with an impedance has no {', '.join(given) or 'parallel=True'}")
            if isinstance(self.impedance, str | os.PathLike):
                object.__setattr__(self, "impedance", MeasuredImpedance(read_network(self.impedance, 1)))
            elif hasattr(self.impedance, "s") and hasattr(self.impedance, "z0"):
                object.__setattr__(self, "impedance", MeasuredImpedance(self.impedance))
            if not callable(self.impedance):
                _passive(self.impedance)
        for name, value in given.items():
            positive_length(value, f"the {name} of a lumped element in {UNITS[name]}")
        truth(self.parallel, "parallel")

    def impedance_at(self, frequency: float) -> complex:
        """Z in ohm at `frequency` in Hz."""
        omega = 2 * np.pi * positive_length(frequency, "frequency")
        if self.impedance is not None:
            given = self.impedance(frequency) if callable(self.impedance) else self.impedance
            return _passive(given, f" at {frequency:g} Hz")
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


def _passive(value: object, where: str = "") -> complex:
    """The impedance of an element, in ohm."""
    found = finite_complex(value, f"the impedance of a lumped element in ohm{where}")
    if found.real < 0:
        raise ValueError(
            f"the impedance of a lumped element is {found:g} ohm{where}: its real part is 0 or positive, or it would "
            "deliver power; with exp(-i omega t) an inductance has a negative imaginary part"
        )
    return found


def checked_slots(ports: object, loads: object, slots: Any = DeltaGap) -> tuple[tuple[Any, ...], tuple[Lumped, ...]]:
    """Ports and loads as tuples; TypeError for other kinds. slots: the classes of both."""
    names = " or ".join(each.__name__ for each in get_args(slots) or (slots,))
    given = []
    for name, value, kind in (("ports", ports, slots), ("loads", loads, Lumped)):
        listed = tuple(value) if isinstance(value, list | tuple) else (value,)
        for each in listed:
            slot = each.gap if isinstance(each, Lumped) else each
            if not isinstance(each, kind) or not isinstance(slot, slots):
                what = "Lumped" if kind is Lumped else names
                raise TypeError(f"{name} is a list of {what} in slots that are a {names}, got {describe(each)}")
        given.append(listed)
    return given[0], given[1]
