"""The pictures of a result on surfaces, each with its caption in the report."""

import numpy as np

import calderon.plots as plots
from calderon.report.folder import BestEffort
from calderon.report.formatting import decibels_of_power, frequency_unit, plane_equation
from calderon.report.reflection import LINE, accepted, reflection
from calderon.report.surface.results import Results, Step
from calderon.report.surface.scenes import has_pattern, pattern_scene, surface_scene
from calderon.spaces import VectorFunction

CURVES = 5


def draw(results: Results, files: BestEffort) -> None:
    """Draw the requested pictures; a sweep shows fields at its last frequency and patterns at up to five. What cannot
    be drawn is left out."""
    files.view(lambda: surface_scene(results), *(f"surface_{each}.png" for each in results.file.case.output.surface))
    if has_pattern(results):
        files.view(lambda: pattern_scene(results))
    _patterns(results, files)
    _sweeps(results, files)
    last, case = results.steps[-1], results.file.case
    at = f" at {last.name}" if last.name else ""
    for quantity in case.output.surface:
        what = f"{_part(quantity, case.physics.wave)}{last.surface.label}"
        with files.at(f"surface_{quantity}.png", f"{what} on the surface{at}.") as path:
            # the same picture on every machine, and no graphics driver during a run
            if isinstance(last.surface, VectorFunction):
                plots.currents(last.surface, path, quantity=quantity, renderer="matplotlib")
            else:
                plots.surface(last.surface, quantity, path, renderer="matplotlib")
    cut, requested, words = last.slice, case.output.slice, results.words
    if cut is not None and requested is not None:
        what = f"{_part(requested.quantity, case.physics.wave)}{words.field} in the plane {plane_equation(cut.points)}"
        with files.at("slice.png", f"{what}{at}.") as path:
            plots.field_slice(
                cut.points, cut.values, results.mesh, requested.quantity, path, name=words.symbol, unit=words.unit,
                blank=_blank(results), incident=None if case.incident is None else case.incident.travel,
            )  # fmt: skip
    histories = {step.name or "residual": step.info.residuals for step in results.steps if len(step.info.residuals)}
    if histories:
        shown = histories if len(histories) > 1 else next(iter(histories.values()))
        with files.at("convergence.png", "Relative residual of GMRES over its iterations.") as path:
            files.chart(path, plots.convergence(shown, path, rtol=case.solver.rtol))


PART = {
    "abs": "Magnitude of the ",
    "real": "Real part of the ",
    "imag": "Imaginary part of the ",
    "phase": "Phase of the ",
    "db": "Level of the ",
}


def _part(quantity: str, wave: bool) -> str:
    """Begin of a caption; a static field is real and is shown as a whole."""
    return "The " if quantity == "real" and not wave else PART[quantity]


def _patterns(results: Results, files: BestEffort) -> None:
    """Bistatic levels (of an antenna its gain) and monostatic ones, polar and over the angle."""
    output, steps, level = results.file.case.output, _spread(results.steps), results.level
    fed = steps[0].impedance is not None
    if output.far_field is not None:
        curves = {step.name: step.strength for step in steps if step.strength is not None}
        curves = {"calderon": next(iter(curves.values()))} if len(steps) == 1 else curves
        exact = steps[0].exact_strength if len(steps) == 1 else None
        plane = output.far_field.plane
        what = level.name.capitalize() if fed else f"Bistatic {level.name}"
        away = output.far_field.distance
        where = f"the {plane} plane" if away is None else f"the {plane} plane, {away:.6g} m from the origin"
        turning = f"{what} in {where}, angles from +{plane[0]} toward +{plane[1]}."
        _pair(results, files, "far_field", level.name, curves, turning, exact)
    if output.monostatic is not None:
        curves = {
            ", ".join(filter(None, ["" if len(steps) == 1 else step.name, pair])): levels
            for step in steps
            for pair, levels in step.monostatic.items()
        }
        caption = f"Monostatic {level.name}, by the direction toward the {results.words.device}."
        _pair(results, files, "monostatic", f"monostatic {level.name}", curves, caption)


def _pair(
    results: Results,
    files: BestEffort,
    curve: str,
    quantity: str,
    curves: dict[str, np.ndarray],
    caption: str,
    exact: np.ndarray | None = None,
) -> None:
    """The polar and the Cartesian picture of "far_field" or "monostatic" levels, with their references."""
    requested = getattr(results.file.case.output, curve)
    if results.references.get(curve) and len(results.steps) == 1:
        curves = {f"calderon, {label}" if label != "calderon" else label: values for label, values in curves.items()}
    references, unit = results.references.get(curve, {}), results.level.unit
    names = {"far_field": "observation", "monostatic": "aspect"}
    along = _travel_angle(results, requested.plane) if curve == "far_field" else None
    with files.at(f"{curve}_polar.png", caption) as path:
        figure = plots.polar(
            requested.values, curves, unit, path, exact=exact, quantity=quantity, incident=along,
            references={label: (np.radians(x), y) for label, (x, y) in references.items()},
        )  # fmt: skip
        files.chart(path, figure, along)
    over = "angle of observation" if curve == "far_field" else "aspect angle"
    compared = f" For comparison: {'; '.join(references)}." if references else ""
    with files.at(f"{curve}.png", f"The same over the {over}.{compared}") as path:
        figure = plots.cartesian(
            np.degrees(requested.values), curves, f"{names[curve]} angle in the {requested.plane} plane (degrees)",
            f"{quantity} ({unit})", path, exact=exact, references=references, limits=_levels(curves),
        )  # fmt: skip
        files.chart(path, figure)


def _sweeps(results: Results, files: BestEffort) -> None:
    """Quantities over frequency."""
    steps, level = results.steps, results.level
    if len(steps) == 1:
        return
    hertz = np.array([step.frequency for step in steps], dtype=float)
    factor, unit = frequency_unit(float(hertz.max()))
    frequencies, axis = hertz / factor, f"frequency ({unit})"
    largest = np.array([np.max(step.strength) for step in steps if step.strength is not None])
    impedances = np.array([step.impedance for step in steps if step.impedance is not None])
    backward = [step.backward for step in steps if step.backward is not None]
    if len(largest):
        curves = {"largest": largest} | ({"back toward the source": np.array(backward)} if backward else {})
        if len(impedances):
            curves["largest realised"] = largest + decibels_of_power(accepted(reflection(impedances)))
        what = level.name.capitalize() if steps[0].impedance is not None else f"Bistatic {level.name}"
        with files.at("sweep.png", f"{what} over frequency: {' and '.join(curves)}.") as path:
            files.chart(path, plots.cartesian(frequencies, curves, axis, f"{level.name} ({level.unit})", path))
    if len(impedances):
        parts = {"resistance": impedances.real, "reactance": -impedances.imag}
        with files.at("impedance.png", "Input impedance over frequency.") as path:
            files.chart(path, plots.cartesian(frequencies, parts, axis, "input impedance (ohm)", path))
        _reflection(frequencies, reflection(impedances), axis, (steps[0].name, steps[-1].name), files)


def _reflection(frequencies: np.ndarray, s: np.ndarray, axis: str, ends: tuple[str, str], files: BestEffort) -> None:
    """S11 of a fed antenna on a line."""
    line = f"a line of {LINE:g} ohm"
    with files.at("reflection.png", f"Magnitude of S11, the reflection on {line}.") as path:
        levels = {"": decibels_of_power(np.abs(s) ** 2)}
        files.chart(path, plots.cartesian(frequencies, levels, axis, "magnitude of S11 (dB)", path))
    caption = f"Reflection on {line}, with the resistance and reactance in parts of that, inductive ones above."
    with files.at("smith.png", caption) as path:
        plots.smith({"S11": s}, path, ends=ends)


def _travel_angle(results: Results, plane: str) -> float | None:
    """The angle in a plane along which a plane wave travels; None where it leaves the plane by more than a degree."""
    incident = results.file.case.incident
    along = None if incident is None else incident.travel
    if along is None:
        return None
    first, second = along["xyz".index(plane[0])], along["xyz".index(plane[1])]
    return float(np.arctan2(second, first)) if np.hypot(first, second) > np.cos(np.radians(1)) else None


def _spread(steps: tuple[Step, ...]) -> list[Step]:
    """At most five steps, evenly over the sweep, including the first and last."""
    numbers = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), CURVES)).round().astype(int))
    return [steps[n] for n in numbers]


def _levels(curves: dict[str, np.ndarray]) -> tuple[float, float]:
    """A range of decibels that shows the lobes: deep nulls are cut at 60 dB below the largest value."""
    values = np.concatenate([np.asarray(curve) for curve in curves.values()])
    high = float(np.max(values))
    low = max(float(np.min(values)), high - 60)
    return low - 2, high + 2


def _blank(results: Results) -> str:
    """The side of the surface on which the case has no field."""
    physics = results.file.case.physics
    if physics.definition.penetrable or not results.mesh.is_closed:
        return "none"
    return "outside" if physics.side == "interior" else "inside"
