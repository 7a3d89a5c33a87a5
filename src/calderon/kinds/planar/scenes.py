"""Live views of a printed circuit: the current and the gain, for the voltages of the case and for each port alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from calderon.formulations import PlanarSolution
from calderon.formulations.scenes import level_values, pattern_layer
from calderon.view import Scene, Steps

ROWS = 61
"""Rows of directions of the gain: one every three degrees."""


def current_scene(
    caption: str, solution: PlanarSolution, others: Sequence[PlanarSolution], names: Sequence[str]
) -> Scene:
    """The current in decibels, since edges and contacts carry most of it; names: of the solution and the others."""
    shown = solution.scene()
    body: Any = shown.layers[0]
    values = [_body(each).fields[0].values[0] for each in (solution, *others)]
    fields = (replace(body.fields[0], symbol="J", quantity="db", values=values, short=len(values) > 4),)
    return replace(shown, layers=(replace(body, fields=fields),), caption=caption, steps=_steps(names))


def _body(solution: PlanarSolution) -> Any:
    return solution.scene().layers[0]


def _steps(names: Sequence[str]) -> Steps | None:
    """The slider over ports; what they feed differs much in strength."""
    return Steps("source", [*names], 0, own=True) if len(names) > 1 else None


def gain_scene(solutions: dict[str, PlanarSolution]) -> Scene:
    """The gain in all directions, of the case and of each of several ports alone."""
    shape = (ROWS, 2 * (ROWS - 1))
    values = [level_values(each.gain, shape) for each in solutions.values()]
    return Scene((pattern_layer(shape, values, "gain", "dBi"),), length="", title="gain", steps=_steps([*solutions]))
