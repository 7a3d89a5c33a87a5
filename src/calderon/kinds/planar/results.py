"""Results of a printed circuit or antenna, and their live views."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.formulations import PlanarProblem, PlanarSolution, PortSweep, Resonance
from calderon.formulations.scenes import level_values, pattern_layer
from calderon.kinds.planar.board import board_layers, feed_arrows
from calderon.kinds.planar.model import PlanarCase
from calderon.mesh import TriangleMesh
from calderon.report import Result
from calderon.report.formatting import decibels_of_power, frequency_text
from calderon.report.panels import ShownCurrent
from calderon.report.port_panels import PortResults, Radiation
from calderon.report.scenes import stepped_currents
from calderon.report.second_mesh import SecondMesh
from calderon.view import Scene, Steps


def resonances_of(sweep: PortSweep) -> list[Resonance]:
    """The resonances of a sweep. A single frequency has none, nor have lines: their impedance has poles that depend on
    their length."""
    return sweep.resonances() if sweep.solves > 1 and not sweep.of_lines else []


@dataclass(frozen=True)
class PlanarResults(PortResults, Result[PlanarCase]):
    """S over the band of a case, or at its frequency, and the solution at one frequency; by_port: of several ports, the
    solutions for 1 V at each alone. radiations: for the voltages of the case, at the solved frequencies of a band."""

    problem: PlanarProblem
    sweep: PortSweep
    solution: PlanarSolution
    second_mesh: SecondMesh | None = None
    by_port: tuple[PlanarSolution, ...] = ()
    radiations: tuple[Radiation, ...] = ()

    equation = "<f, E> = Z_s <f, J> for all RWG functions f; E of J by the Green's functions of the layers"

    @property
    def unknowns(self) -> int:
        return self.problem.function_space.dimension

    @property
    def reference(self) -> float:
        return self.file.case.planar.reference

    @property
    def accepted_over_band(self) -> NDArray[np.float64] | None:
        """None with lines, whose waves are not those of a generator at a gap."""
        return None if self.sweep.of_lines else super().accepted_over_band

    @property
    def metal(self) -> TriangleMesh:
        return self.problem.mesh

    @property
    def is_unestimated(self) -> bool:
        """Whether a second sweep would estimate the error."""
        return self.second_mesh is None and self.file.case.metal.h is not None

    @property
    def at(self) -> str:
        """The frequency of pattern, power and current."""
        return frequency_text(self.solution.frequency)

    @property
    def current(self) -> ShownCurrent:
        shown, caption = self.solution.surface, f"Surface current for the voltages of the ports, at {self.at}."
        steps, sources = _steps([*self.sources]), [*self.sources.values()]
        return ShownCurrent(
            shown,
            caption,  # in decibels, since edges and contacts carry most of the current
            lambda: self._on_board(stepped_currents(sources, caption, steps, quantity="db")),
            lambda path: plots.currents(shown, path, view="top"),
        )

    def _on_board(self, scene: Scene) -> Scene:
        """The scene of the current with the board, the ground and the ports."""
        case = self.file.case
        board = board_layers(case.stack, self.metal, case.port, case.height)
        feeds = feed_arrows(self.metal, case.port, case.height)
        return replace(scene, layers=(*scene.layers, *board), arrows=() if feeds is None else (feeds,))

    @property
    def sources(self) -> dict[str, PlanarSolution]:
        """The solution for the voltages of the case, and those for each of several ports with 1 V alone, by name."""
        ports = [port.name or f"port {n}" for n, port in enumerate(self.file.case.port, 1)]
        found = {"voltages of the case": self.solution}
        for n, each in enumerate(self.by_port):
            found[f"{n + 1}: 1 V at {ports[n]}"] = each
        return found

    @cached_property
    def resonances(self) -> list[Resonance]:
        return resonances_of(self.sweep)

    @cached_property
    def cuts(self) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """Angles in radians from the x or the y axis toward z, and gains in dBi in the planes of these axes."""
        stop = 2 * np.pi if self.file.case.planar.below == "vacuum" else np.pi
        angles = np.linspace(0, stop, 361 if stop > 4 else 181)
        x, z = np.cos(angles), np.sin(angles)
        theta = np.arctan2(np.abs(x), z)
        found = {}
        for name, phi in (("xz plane", 0.0), ("yz plane", np.pi / 2)):
            gain = self.solution.gain(theta, np.where(x < 0, phi + np.pi, phi))
            found[name] = decibels_of_power(gain)
        return angles, found

    @property
    def radiates(self) -> bool:
        """Whether there is an open half-space."""
        return self.file.case.radiates

    @cached_property
    def largest_gain(self) -> float:
        """The largest gain in both planes, in dBi."""
        return float(max(each.max() for each in self.cuts[1].values()))


def _steps(names: Sequence[str]) -> Steps | None:
    """The slider over ports; what they feed differs much in strength."""
    return Steps("source", [*names], 0, own=True) if len(names) > 1 else None


def gain_scene(solutions: dict[str, PlanarSolution]) -> Scene:
    """The gain in all directions, of the case and of each of several ports alone."""
    shape = (61, 120)  # a direction every three degrees
    values = [level_values(each.gain, shape) for each in solutions.values()]
    return Scene((pattern_layer(shape, values, "gain", "dBi"),), length="", title="gain", steps=_steps([*solutions]))
