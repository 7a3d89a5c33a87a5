"""The pictures of a result, each with its caption in the report."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import calderon.plots as plots
from calderon.case import Physics
from calderon.report.best_effort import BestEffort
from calderon.report.formatting import frequency_unit
from calderon.report.results import Results, Slice, Step
from calderon.spaces import VectorFunction

CURVES = 5


@dataclass(frozen=True)
class Picture:
    """A file in the result folder and its caption."""

    file: str
    caption: str


def draw_surfaces(results: Results, attempts: BestEffort) -> list[Picture]:
    """Draw the requested pictures; a sweep shows fields at its last frequency and patterns at up to five. What cannot
    be drawn is left out."""
    pictures = [*_patterns(results, attempts), *_sweeps(results, attempts)]
    last, physics = results.steps[-1], results.file.case.physics
    at = f" at {last.name}" if last.name else ""
    for quantity in results.file.case.output.surface:
        name = f"surface_{quantity}.png"
        with attempts.at(name) as path:
            # the same picture on every machine, and no graphics driver during a run
            if isinstance(last.surface, VectorFunction):
                plots.currents(last.surface, path, quantity=quantity, renderer="matplotlib")
            else:
                plots.surface(last.surface, quantity, path, renderer="matplotlib")
            pictures.append(Picture(name, f"{_part(quantity, physics.wave)}{last.surface.label} on the surface{at}."))
    if last.slice is not None:
        with attempts.at("slice.png") as path:
            pictures.append(Picture("slice.png", _draw_slice(results, last.slice, path) + f"{at}."))
    histories = {step.name or "residual": step.residuals for step in results.steps if len(step.residuals)}
    if histories:
        rtol = results.file.case.solver.rtol
        shown = histories if len(histories) > 1 else next(iter(histories.values()))
        with attempts.at("convergence.png") as path:
            plots.convergence(shown, path, rtol=rtol)
            pictures.append(Picture("convergence.png", "Relative residual of GMRES over its iterations."))
    return pictures


def _draw_slice(results: Results, cut: Slice, path: Path) -> str:
    """The field in a plane; its description, for a caption."""
    asked, physics = results.file.case.output.slice, results.file.case.physics
    assert asked is not None
    name, unit, text = _slice_words(physics)
    plots.field_slice(
        cut.points,
        cut.values,
        results.mesh,
        asked.quantity,
        path,
        name=name,
        unit=unit,
        blank=_blank(results),
        incident=_travel(results),
    )
    return f"{_part(asked.quantity, physics.wave)}{text} in the plane {plane_equation(cut.points)}"


def _slice_words(physics: Physics) -> tuple[str, str, str]:
    """Symbol, unit and name of the field in a plane."""
    if physics.acoustic:
        return "p", "Pa", "total pressure"
    return ("E", "V/m", "total electric field") if physics.wave else ("potential", "V", "potential")


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


def _patterns(results: Results, attempts: BestEffort) -> list[Picture]:
    """Bistatic levels (of an antenna its gain) and monostatic ones, polar and over the angle."""
    output, steps, level = results.file.case.output, _spread(results.steps), results.level
    fed = steps[0].impedance is not None
    pictures = []
    if output.far_field is not None:
        curves = {step.name: step.strength for step in steps if step.strength is not None}
        curves = {"calderon": next(iter(curves.values()))} if len(steps) == 1 else curves
        exact = steps[0].exact_strength if len(steps) == 1 else None
        plane = output.far_field.plane
        what = level.name.capitalize() if fed else f"Bistatic {level.name}"
        away = output.far_field.distance
        where = f"the {plane} plane" if away is None else f"the {plane} plane, {away:.6g} m from the origin"
        turning = f"{what} in {where}, angles from +{plane[0]} toward +{plane[1]}."
        pictures += _pair(results, attempts, "far_field", level.name, curves, turning, exact)
    if output.monostatic is not None:
        curves = {
            ", ".join(filter(None, ["" if len(steps) == 1 else step.name, pair])): levels
            for step in steps
            for pair, levels in step.monostatic.items()
        }
        device = "sonar" if results.file.case.physics.acoustic else "radar"
        caption = f"Monostatic {level.name}, by the direction toward the {device}."
        pictures += _pair(results, attempts, "monostatic", f"monostatic {level.name}", curves, caption)
    return pictures


def _pair(
    results: Results,
    attempts: BestEffort,
    curve: str,
    quantity: str,
    curves: dict[str, np.ndarray],
    caption: str,
    exact: np.ndarray | None = None,
) -> list[Picture]:
    """The polar and the Cartesian picture of "far_field" or "monostatic" levels, with their references."""
    asked = getattr(results.file.case.output, curve)
    if results.references.get(curve) and len(results.steps) == 1:
        curves = {f"calderon, {label}" if label != "calderon" else label: values for label, values in curves.items()}
    references, unit = results.references.get(curve, {}), results.level.unit
    names = {"far_field": "observation", "monostatic": "aspect"}
    along = _travel_angle(results, asked.plane) if curve == "far_field" else None
    pictures = []
    with attempts.at(f"{curve}_polar.png") as path:
        plots.polar(
            asked.values,
            curves,
            unit,
            path,
            exact=exact,
            references={label: (np.radians(x), y) for label, (x, y) in references.items()},
            quantity=quantity,
            incident=along,
        )
        pictures.append(Picture(path.name, caption))
    with attempts.at(f"{curve}.png") as path:
        plots.cartesian(
            np.degrees(asked.values),
            curves,
            f"{names[curve]} angle in the {asked.plane} plane (degrees)",
            f"{quantity} ({unit})",
            path,
            exact=exact,
            references=references,
            limits=_levels(curves),
        )
        over = "angle of observation" if curve == "far_field" else "aspect angle"
        compared = f" For comparison: {'; '.join(references)}." if references else ""
        pictures.append(Picture(path.name, f"The same over the {over}.{compared}"))
    return pictures


def _sweeps(results: Results, attempts: BestEffort) -> list[Picture]:
    """Quantities over frequency."""
    steps, level = results.steps, results.level
    if len(steps) == 1:
        return []
    hertz = np.array([step.frequency for step in steps], dtype=float)
    factor, unit = frequency_unit(float(hertz.max()))
    frequencies, axis = hertz / factor, f"frequency ({unit})"
    pictures = []
    largest = [np.max(step.strength) for step in steps if step.strength is not None]
    backward = [step.backward for step in steps if step.backward is not None]
    if largest:
        curves = {"largest": largest} | ({"back toward the source": backward} if backward else {})
        what = level.name.capitalize() if steps[0].impedance is not None else f"Bistatic {level.name}"
        with attempts.at("sweep.png") as path:
            plots.cartesian(frequencies, curves, axis, f"{level.name} ({level.unit})", path)
            pictures.append(Picture(path.name, f"{what} over frequency: {' and '.join(curves)}."))
    impedances = np.array([step.impedance for step in steps if step.impedance is not None])
    if len(impedances):
        parts = {"resistance": impedances.real, "reactance": -impedances.imag}
        with attempts.at("impedance.png") as path:
            plots.cartesian(frequencies, parts, axis, "input impedance (ohm)", path)
            pictures.append(Picture(path.name, "Input impedance over frequency."))
    return pictures


def _travel(results: Results) -> np.ndarray | None:
    """The direction (3,) along which a plane wave travels; None for other sources."""
    incident = results.file.case.incident
    return None if incident is None or incident.position is not None else incident.unit_direction


def _travel_angle(results: Results, plane: str) -> float | None:
    """The angle in a plane along which a plane wave travels; None where it leaves the plane by more than a degree."""
    along = _travel(results)
    if along is None:
        return None
    first, second = along["xyz".index(plane[0])], along["xyz".index(plane[1])]
    return float(np.arctan2(second, first)) if np.hypot(first, second) > np.cos(np.radians(1)) else None


def plane_equation(points: np.ndarray) -> str:
    """A slice's plane by its equation, such as z = 0 m."""
    flat = np.ptp(points.reshape(-1, 3), axis=0)
    axis = int(np.argmin(flat))
    return f"{'xyz'[axis]} = {round(float(points[0, 0, axis]), 6) + 0.0:.4g} m"


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
    if physics.problem in ("transmission", "dielectric") or not results.mesh.is_closed:
        return "none"
    return "outside" if physics.side == "interior" else "inside"
