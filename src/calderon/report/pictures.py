"""The pictures of a result, each with the caption that stands under it in the report."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import calderon.plots as plots
from calderon.report.results import Results, Step

CURVES = 5
LEVEL = "target strength"


@dataclass(frozen=True)
class Picture:
    """A file in the result folder and its caption."""

    file: str
    caption: str


def draw(results: Results, folder: Path) -> list[Picture]:
    """Draw what the case asked for; a sweep shows fields at its last frequency and patterns at up to five."""
    pictures = [*_patterns(results, folder)]
    last, acoustic = results.steps[-1], results.file.case.physics.acoustic
    at = f" at {last.name}" if last.name else ""
    for quantity in results.file.case.output.surface:
        name = f"surface_{quantity}.png"
        # the same picture on every machine, and no graphics driver in the middle of a run
        plots.surface(last.surface, quantity, folder / name, renderer="matplotlib")
        pictures.append(Picture(name, f"{_part(quantity, acoustic)}{last.surface.label} on the surface{at}."))
    asked = results.file.case.output.slice
    if last.slice is not None and asked is not None:
        cut = last.slice
        name, unit, text = ("p", "Pa", "total pressure") if acoustic else ("potential", "V", "potential")
        plots.field_slice(
            cut.points,
            cut.values,
            results.mesh,
            asked.quantity,
            folder / "slice.png",
            name=name,
            unit=unit,
            blank=_blank(results),
            incident=_travel(results),
        )
        pictures.append(
            Picture("slice.png", f"{_part(asked.quantity, acoustic)}{text} in the plane {_plane(cut.points)}{at}.")
        )
    histories = {step.name or "residual": step.residuals for step in results.steps if len(step.residuals)}
    if histories:
        rtol = results.file.case.solver.rtol
        shown = histories if len(histories) > 1 else next(iter(histories.values()))
        plots.convergence(shown, folder / "convergence.png", rtol=rtol)
        pictures.append(Picture("convergence.png", "Relative residual of GMRES over its iterations."))
    return pictures


PART = {
    "abs": "Magnitude of the ",
    "real": "Real part of the ",
    "imag": "Imaginary part of the ",
    "phase": "Phase of the ",
    "db": "Level of the ",
}


def _part(quantity: str, acoustic: bool) -> str:
    """How a caption begins; a static field is real, and the whole of it is shown."""
    return "The " if quantity == "real" and not acoustic else PART[quantity]


def _patterns(results: Results, folder: Path) -> list[Picture]:
    output, steps = results.file.case.output, _spread(results.steps)
    pictures = []
    if output.far_field is not None:
        angles, plane = output.far_field.values, output.far_field.plane
        curves = {step.name: step.strength for step in steps if step.strength is not None}
        exact = steps[0].exact_strength if len(steps) == 1 else None
        curves = {"calderon": next(iter(curves.values()))} if len(steps) == 1 else curves
        file, along = folder / "far_field_polar.png", _travel_angle(results, plane)
        plots.polar(angles, curves, "dB re 1 m", file, exact=exact, quantity=LEVEL, incident=along)
        plots.cartesian(
            np.degrees(angles),
            curves,
            f"observation angle in the {plane} plane (degrees)",
            f"{LEVEL} (dB re 1 m)",
            folder / "far_field.png",
            exact=exact,
            limits=_levels(curves),
        )
        turning = f"angles from +{plane[0]} toward +{plane[1]}"
        pictures.append(Picture("far_field_polar.png", f"Bistatic target strength in the {plane} plane, {turning}."))
        pictures.append(Picture("far_field.png", "The same over the angle of observation."))
    if output.monostatic is not None:
        angles, plane = output.monostatic.values, output.monostatic.plane
        curves = {step.name: step.monostatic for step in steps if step.monostatic is not None}
        plots.polar(angles, curves, "dB re 1 m", folder / "monostatic_polar.png", quantity=f"monostatic {LEVEL}")
        plots.cartesian(
            np.degrees(angles),
            curves,
            f"aspect angle in the {plane} plane (degrees)",
            f"monostatic {LEVEL} (dB re 1 m)",
            folder / "monostatic.png",
            limits=_levels(curves),
        )
        pictures.append(
            Picture("monostatic_polar.png", "Monostatic target strength, by the direction toward the sonar.")
        )
        pictures.append(Picture("monostatic.png", "The same over the aspect angle."))
    if output.far_field is not None and len(results.steps) > 1:
        frequencies = np.array([step.frequency for step in results.steps], dtype=float)
        largest = [np.max(step.strength) for step in results.steps if step.strength is not None]
        plots.cartesian(
            frequencies,
            {"largest": largest},
            "frequency (Hz)",
            f"largest {LEVEL} (dB re 1 m)",
            folder / "sweep.png",
        )
        pictures.append(Picture("sweep.png", "Largest bistatic target strength over frequency."))
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


def _plane(points: np.ndarray) -> str:
    """A slice's plane by its equation, such as z = 0 m."""
    flat = np.ptp(points.reshape(-1, 3), axis=0)
    axis = int(np.argmin(flat))
    return f"{'xyz'[axis]} = {round(float(points[0, 0, axis]), 6) + 0.0:.4g} m"


def _spread(steps: tuple[Step, ...]) -> list[Step]:
    """At most five steps, evenly over the sweep, first and last included."""
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
    if physics.problem == "transmission":
        return "none"
    return "outside" if physics.side == "interior" else "inside"
