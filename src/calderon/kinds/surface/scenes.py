"""Live views of a result on surfaces: what was solved for with the field in the plane, and the pattern."""

from dataclasses import replace
from typing import Any

import numpy as np

from calderon.formulations.scenes import pattern_layer
from calderon.kinds.surface.results import Results, Slice, Source, Step
from calderon.report.scenes import facing, grid, opening, thinned_steps
from calderon.spaces import Function, VectorFunction
from calderon.view import Field, Scene, Steps, Surface


def surface_scene(results: Results) -> Scene:
    """The surface at all frequencies and for all incident waves, and the plane where it is known."""
    steps, case, words = results.steps, results.file.case, results.words
    pairs = [(step, source) for step in steps for source in step.sources]
    layer: Any = steps[-1].surface.scene().layers[0]
    shown: Field = layer.fields[0]
    last = np.asarray(shown.values[0])
    kept = [pairs[n] for n in thinned_steps(len(pairs), last.size * 2)]
    values = [_values(source.surface) for _, source in kept]
    wanted = case.output.surface[0] if case.output.surface else shown.quantity
    cut = steps[-1].slice
    if cut is not None and case.output.slice is not None and cut.vectors is None and np.iscomplexobj(cut.values):
        wanted = case.output.slice.quantity  # waves are seen best in the plane
    symbol = words.symbol if shown.name == words.field else {"surface current": "J"}.get(shown.name, shown.name)
    first = wanted if np.iscomplexobj(last) else "real"
    shown = replace(shown, symbol=symbol, values=values, quantity=first, short=len(kept) > 4)
    layer = replace(layer, fields=(shown,))
    layers: list[Any] = [layer]
    eye = None
    if cut is not None and case.output.slice is not None:
        given = [_in_plane(source.slice) for _, source in kept]
        several = sum(each is not None for each in given) > 1
        solid = not (case.physics.side == "interior" or case.physics.definition.penetrable)
        drawn = Field(words.field, words.symbol, words.unit, given, short=several)
        if not solid:
            layers = _opened(results, layer, opening(cut.points))
        layers.append(grid(cut.points, [drawn], filled=solid or len(layers) > 1))
        eye = facing(opening(cut.points)[0])
    return Scene(
        tuple(layers), steps=_steps(results, kept), eye=eye, caption=_caption(results, shown.name, cut is not None)
    )


def _opened(results: Results, layer: Surface, plane: tuple[Any, float]) -> list[Any]:
    """The surface, opened at the plane, and whole rigid bodies, within which there is no field."""
    mesh, tags = results.mesh, results.file.case.physics.rigid
    if not tags or layer.fields[0].on != "vertices" or not mesh.restricted(tags).is_closed:
        return [replace(layer, open=plane)]
    rigid = np.isin(mesh.tags, mesh.tag_numbers(tags))
    parts = [
        replace(layer, name=name, triangles=layer.triangles[own], numbers=np.flatnonzero(own))
        for name, own in (("fluid", ~rigid), ("rigid", rigid))
    ]
    return [replace(parts[0], open=plane), parts[1]]


def _in_plane(cut: Slice | None) -> Any:
    if cut is None:
        return None
    return cut.values.ravel() if cut.vectors is None else cut.vectors.reshape(-1, 3)


def _values(shown: Function | VectorFunction) -> Any:
    layer: Any = shown.scene().layers[0]
    return layer.fields[0].values[0]


def _steps(results: Results, kept: list[tuple[Step, Source]]) -> Steps | None:
    """The slider: over frequencies, the last one first; over incident waves, that of [incident] first; or over both."""
    if len(kept) == 1:
        return None
    if not results.steps[-1].further:
        return Steps("frequency", [step.name for step, _ in kept])
    if len(results.steps) == 1:
        return Steps("source", [source.name for _, source in kept], 0, own=True)
    first = next((n for n, (step, _) in enumerate(kept) if step is results.steps[-1]), -1)
    return Steps("frequency, source", [f"{step.name}, {source.name}" for step, source in kept], first, own=True)


def _caption(results: Results, name: str, plane: bool) -> str:
    where = f"{name[:1].upper()}{name[1:]} on the surface"
    if plane:
        where += f", and {results.words.field} in the plane"
    steps = results.steps
    at = "" if not steps[-1].name else f" at {steps[-1].name}" if len(steps) == 1 else " over frequency"
    if steps[-1].further:
        at += " for each incident wave"
    return f"{where}{at}. Drag to turn, point at the surface for values."


def pattern_scene(results: Results) -> Scene:
    """The level in all directions at all frequencies."""
    steps, level = results.steps, results.level
    shape = next(step.pattern.shape for step in steps if step.pattern is not None)
    kept = thinned_steps(len(steps), shape[0] * shape[1])
    frequencies = Steps("frequency", [steps[n].name for n in kept]) if len(kept) > 1 else None
    values = [each.ravel() if (each := steps[n].pattern) is not None else None for n in kept]
    name = level.name if steps[0].impedance is not None else f"bistatic {level.name}"
    layer = pattern_layer(shape, values, name, level.unit)
    caption = f"{name[:1].upper()}{name[1:]} in all directions: colour and radius, from 40 dB below the largest on."
    return Scene((layer,), length="", steps=frequencies, caption=caption)
