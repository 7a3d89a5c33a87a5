"""Results of a case of antennas."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.formulations import PortSweep, Resonance
from calderon.formulations.ports.port_arrows import port_arrows
from calderon.kinds.antennas.model import AntennaCase
from calderon.report import Result
from calderon.report.formatting import decibels_of_power, frequency_text
from calderon.report.panels import ShownCurrent
from calderon.report.port_panels import PortResults, Radiation, largest_gain
from calderon.view import Scene


@dataclass(frozen=True)
class AntennaResults(PortResults, Result[AntennaCase]):
    """S over the band of a case, or at its frequency, and the solution for the voltages at one frequency. problem: at
    that frequency. radiations: for the voltages, at the solved frequencies of a band."""

    problem: Any
    sweep: PortSweep
    solution: Any
    radiations: tuple[Radiation, ...] = ()

    @property
    def unknowns(self) -> int:
        return int(self.problem.unknowns)

    @property
    def modes(self) -> int:  # type: ignore[override]
        return self.file.case.modes

    @property
    def reference(self) -> float:
        return self.file.case.antennas.reference

    @property
    def at(self) -> str:
        """The frequency of pattern, power and currents."""
        return frequency_text(self.solution.frequency)

    @property
    def solver_record(self) -> str:
        return str(self.solution.info)

    @property
    def metal(self) -> Any:
        """The mesh of all surfaces; None of wires alone."""
        return getattr(self.problem, "mesh", None)

    @property
    def current(self) -> ShownCurrent | None:
        """The current on surfaces; None of wires alone."""
        if self.metal is None:
            return None
        shown, caption = self.solution.surface, f"Surface current for the voltages of the ports, at {self.at}."
        return ShownCurrent(shown, caption, lambda: self.scene, lambda path: plots.currents(shown, path))

    @property
    def scene(self) -> Scene:
        """The currents, and where the ports are."""
        arrows = port_arrows(self.problem, self.solution.feeds)
        return replace(self.solution.scene(), arrows=() if arrows is None else (arrows,))

    @cached_property
    def resonances(self) -> list[Resonance]:
        return self.sweep.resonances() if self.sweep.solves > 1 and not self.sweep.of_lines else []

    @cached_property
    def absorbed(self) -> dict[str, float]:
        """Power in W that is not radiated, by what absorbs it."""
        solution, found = self.solution, {"in circuits": float(self.solution.circuit_power)}
        if self.metal is None:
            return {"in metal and loads": float(solution.lost), **found}
        absorbed = solution.absorbed_power() if solution.is_lossy else {}
        losses = {f"in {name}": power for name, power in absorbed.items()}
        return {**losses, "in metal": solution.metal_power, "in loads": float(solution.load_powers().sum()), **found}

    @cached_property
    def cuts(self) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """Angles in radians from the first axis of each plane, and gains in dBi in the three planes of the axes."""
        angles = np.linspace(0, 2 * np.pi, 361)
        first, second, found = np.cos(angles), np.sin(angles), {}
        for name in ("xz plane", "yz plane", "xy plane"):
            directions = np.zeros((len(angles), 3))
            directions[:, "xyz".index(name[0])], directions[:, "xyz".index(name[1])] = first, second
            found[name] = np.maximum(decibels_of_power(self.solution.gain(directions)), -60.0)
        return angles, found

    @cached_property
    def largest_gain(self) -> float:
        """In dBi."""
        return largest_gain(self.solution)
