"""The pictures of a reflectarray, each with its caption in the report."""

from dataclasses import replace
from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.report.folder import BestEffort
from calderon.report.reflectarray.results import ReflectarrayResults
from calderon.spaces import P0, Function


def draw(results: ReflectarrayResults, files: BestEffort) -> None:
    """The curve of phases, the map of phases, the field across the focus, and the current."""
    array, mesh = results.array, results.array.mesh
    with files.at("phases.png", "Phase of the reflection of equal elements over their size.") as path:
        curve = {"": np.degrees(array.phases)}
        label = "phase of the reflection (degrees)"
        files.chart(path, plots.cartesian(1e3 * np.asarray(array.sizes), curve, "size (mm)", label, path))
    with files.at("phase_map.png", "Phases of the elements of the array.") as path:
        waves = np.exp(1j * np.radians(results.phases.ravel()[mesh.tags]))
        shown: Any = Function(P0(mesh), waves, "reflection", "")
        plots.surface(shown, "phase", path, view="top")
    with files.at("focus.png", "Field across the focus, over that of the wave.") as path:
        lines = dict(zip(("along x", "along y"), results.levels, strict=True))
        label = "|E| over that of the wave"
        files.chart(path, plots.cartesian(1e3 * results.across, lines, "distance from the focus (mm)", label, path))
    caption = "Current for a wave of 1 V/m."
    scene = results.echo.surface.scene()
    body: Any = scene.layers[0]
    # few elements are near their resonance and carry most of the current
    body = replace(body, fields=(replace(body.fields[0], symbol="J", quantity="db"),))
    files.view(lambda: replace(scene, layers=(body,), caption=caption), "current.png")
    with files.at("current.png", caption) as path:
        plots.surface(results.echo.surface, "db", path, view="top")  # type: ignore[arg-type]
