"""The pictures of a periodic surface, each with its caption in the report."""

from dataclasses import replace
from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.formulations.periodic.floquet_orders import POLARISATIONS
from calderon.report.folder import BestEffort
from calderon.report.formatting import frequency_text, frequency_texts, frequency_unit
from calderon.report.periodic.results import PeriodicResults
from calderon.view import Scene, Steps


def currents_scene(results: PeriodicResults) -> Scene:
    """The currents of TM and TE waves at all frequencies."""
    scenes = [each.scene() for each in results.solutions]
    body: Any = scenes[0].layers[0]
    fields = [
        replace(one, symbol="J", values=[each.layers[0].fields[k].values[0] for each in scenes], short=len(scenes) > 4)
        for k, one in enumerate(body.fields)
    ]
    middle = len(scenes) // 2
    labels = frequency_texts(results.frequencies.tolist())
    steps = Steps("frequency", labels, middle, own=True) if len(scenes) > 1 else None
    caption = "Currents for waves of 1 V/m across the surface."
    return Scene((replace(body, fields=tuple(fields)),), steps=steps, caption=caption)


def draw(results: PeriodicResults, files: BestEffort) -> None:
    """Phases and magnitudes over frequency, and the current at the first one."""
    frequencies = results.frequencies
    if len(frequencies) > 1:
        factor, unit = frequency_unit(float(frequencies.min()))
        for name, values in results.waves.items():
            both = {each: values[:, place, place] for place, each in enumerate(POLARISATIONS)}
            phases = {each: np.degrees(np.unwrap(np.angle(value))) for each, value in both.items()}
            axes = frequencies / factor, f"frequency ({unit})"
            with files.at(f"{name}_phase.png", f"Phase of the {name} of TM and TE waves.") as path:
                files.chart(path, plots.cartesian(axes[0], phases, axes[1], f"phase of the {name} (degrees)", path))
            sizes = {each: np.abs(value) for each, value in both.items()}
            with files.at(f"{name}.png", f"Magnitude of the {name} of TM and TE waves.") as path:
                files.chart(path, plots.cartesian(axes[0], sizes, axes[1], f"magnitude of the {name}", path))
    files.view(lambda: currents_scene(results), "current.png")
    first = frequency_text(float(frequencies[0]))
    with files.at("current.png", f"Current for a TM wave of 1 V/m across the surface, at {first}.") as path:
        current: Any = results.solutions[0].current()
        plots.surface(current, "abs", path, view="top")
