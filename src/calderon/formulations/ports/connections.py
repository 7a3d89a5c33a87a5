"""Gaps of an antenna at which generators, loads and circuits lie, each counted once."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.options import SolveChoices, named_options
from calderon.formulations.ports.circuits import Circuit
from calderon.formulations.ports.embedded import EmbeddedPatterns, embedded_patterns
from calderon.formulations.ports.feeds import reference_resistance
from calderon.formulations.ports.power_waves import Complex
from calderon.validation import describe


@dataclass(frozen=True, eq=False)
class Connections:
    """gaps: all different ones, those of the `feeds` generators first; weights (unknowns, gaps): the current through
    each of every function. places, signs (n,): of the further gaps that were named, the number among these, and -1
    where current counts the other way."""

    gaps: tuple[Any, ...]
    weights: NDArray[np.float64]
    feeds: int
    places: NDArray[np.int64]
    signs: NDArray[np.float64]

    @staticmethod
    def of(
        feeds: Sequence[Any], further: Sequence[Any], weights: Callable[[tuple[Any, ...]], NDArray[np.float64]]
    ) -> "Connections":
        """weights: (unknowns, n) of n gaps. ValueError for ends of coaxial lines at further gaps."""
        named = (*feeds, *further)
        every = weights(named).T
        places, signs, kept = list[int](), list[float](), list(range(len(feeds)))
        for number in range(len(feeds), len(every)):
            own = every[number]
            same = [n for n, k in enumerate(kept) if np.allclose(abs(every[k]), abs(own), 1e-9, 1e-9 * abs(own).max())]
            places.append(same[0] if same else len(kept))
            kept += [] if same else [number]
            signs.append(float(np.sign(every[kept[places[-1]]] @ own)))
        gaps = tuple(named[each] for each in kept)
        for gap in gaps[len(feeds) :]:
            if getattr(gap, "outer_radius", None) is not None:
                raise ValueError(
                    f"outer_radius={gap.outer_radius:g} m of the {gap} of a circuit: coaxial lines end at ports: give "
                    "this gap among the ports, or leave outer_radius out"
                )
        return Connections(gaps, every[kept].T, len(feeds), np.array(places, np.int64), np.array(signs))

    def admittance(self, circuits: Sequence[Circuit], frequency: float, first: int = 0) -> Complex:
        """Y (gaps, gaps) in S of all circuits at a frequency in Hz; first: the number of further gaps before theirs."""
        found = np.zeros((len(self.gaps), len(self.gaps)), np.complex128)
        for circuit in circuits:
            own = slice(first, first + len(circuit.ports))
            both = self.signs[own, None] * self.signs[own]
            np.add.at(found, np.ix_(self.places[own], self.places[own]), both * circuit.admittance_at(frequency))
            first += len(circuit.ports)
        return found

    def free(self, first: int = 0) -> NDArray[np.int64]:
        """Gaps of circuits without a generator; first: as of `admittance`."""
        return np.setdiff1d(self.places[first:], np.arange(self.feeds))


def checked_circuits(circuits: object, kinds: Any) -> tuple[Circuit, ...]:
    """Circuits as a tuple, TypeError for others; kinds: the classes of their gaps."""
    if not isinstance(circuits, tuple | list) or not all(isinstance(each, Circuit) for each in circuits):
        raise TypeError(f"circuits are a tuple of Circuit, got {describe(circuits)}: take connected()")
    for gap in (gap for each in circuits for gap in each.ports):
        if not isinstance(gap, kinds):
            raise TypeError(f"a circuit of this antenna has no port in a {type(gap).__name__}, got {describe(gap)}")
    return tuple(circuits)


class Connectable(ABC):
    """An antenna with `circuits` between its gaps, and with patterns of its ports."""

    circuits: tuple[Circuit, ...]
    loads: Any

    @abstractmethod
    def _combination(self, options: Any) -> Callable[[Complex], Sequence[Any]]:
        """Solutions for voltages (p, m) at the ports, all from those for 1 V at one port that are solved here."""

    @property
    @abstractmethod
    def _places(self) -> NDArray[np.float64]:
        """(n, 3) points that the antenna is between."""

    @property
    @abstractmethod
    def _ports(self) -> int:
        """The number of ports."""

    def _require_covered(self, hertz: NDArray[np.float64]) -> None:
        """ValueError, before a sweep, for loads and circuits that are not known at both ends of its frequencies."""
        for frequency in (float(hertz.min()), float(hertz.max())):
            for load in self.loads:
                load.impedance_at(frequency)
            for circuit in self.circuits:
                circuit.admittance_at(frequency)

    @named_options
    def embedded(self, reference: float = 50.0, **options: Unpack[SolveChoices]) -> EmbeddedPatterns:
        """The patterns of all ports, from one matrix and its factors: beams, active reflection, correlation, reception,
        see `EmbeddedPatterns`. reference: resistance of generators and lines in ohm; options as in `solve`."""
        r = reference_resistance(reference)
        return embedded_patterns(self._combination(options), self._ports, r, self._places)

    def connected(self, network: Any, ports: Any) -> Self:
        """This antenna with one more passive circuit between gaps, which may be those of feeds: a `Line`, a network of
        scikit-rf, a sweep of another antenna, or admittances in S, see `Circuit`. ports: a gap, or a list of them, for
        the ports of the circuit. A gap that is no feed has the voltage that the circuits give it.

            array = PECAntenna(dipoles, k, first).connected(cal.Line(75.0, length=0.3), [first, second])
        """
        changed: Any = replace(self, circuits=(*self.circuits, Circuit(network, ports)))  # type: ignore[type-var]
        return changed
