"""Curves of a picture as data for `templates/charts.js`: what Matplotlib draws is also shown alive in the report."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.projections.polar import PolarAxes

from calderon.plots.style import CURVES, INK
from calderon.view import embedded


def chart(figure: Figure, incident: float | None = None) -> str:
    """The lines of the first axes of a figure as JSON. incident: the angle along which a wave travels, in radians."""
    axes = figure.axes[0]
    lines = [line for line in axes.lines if len(np.atleast_1d(np.asarray(line.get_xdata()))) > 0]
    levels = [line for line in lines if len(line.get_xdata()) == 2 and line.get_transform() != axes.transData]  # type: ignore[arg-type]
    named = [line for line in lines if line not in levels]
    data: dict[str, Any] = {"kind": "xy", "series": [_series(line) for line in named]}
    if isinstance(axes, PolarAxes):
        data |= {"kind": "polar", "yLabel": figure.texts[0].get_text(), "yLim": _limits(axes.get_ylim())}
        data["sector"] = round(float(axes.get_thetamax() - axes.get_thetamin()))
        data["rings"] = _numbers(axes.get_yticks())
        data["quiet"] = float(axes.get_rlabel_position())
        if incident is not None:
            data["incident"] = incident
    else:
        data |= {"xLabel": axes.get_xlabel(), "yLabel": axes.get_ylabel()}
        data |= {"xLim": _limits(axes.get_xlim()), "yLim": _limits(axes.get_ylim())}
        data |= {"xLog": axes.get_xscale() == "log", "yLog": axes.get_yscale() == "log"}
        data["lines"] = _levels(axes, levels)
        data["marks"] = _marks(axes, levels)
    return embedded(data)


def _series(line: Line2D) -> dict[str, Any]:
    """Points and look of a line."""
    colour, label = str(line.get_color()), str(line.get_label())
    marker, every = line.get_marker(), line.get_markevery()
    dashes: Any = line.get_linestyle()
    pattern = getattr(line, "_unscaled_dash_pattern", (0, None))[1]
    return {
        "label": "" if label.startswith("_") else label,
        "x": _numbers(line.get_xdata()),
        "y": _numbers(line.get_ydata()),
        "colour": f"var(--curve-{CURVES.index(colour)})"
        if colour in CURVES
        else "currentColor"
        if colour == INK
        else colour,
        "line": dashes not in ("None", "none", " ", ""),
        "thin": line.get_linewidth() < 1,
        "dash": None if pattern is None else [2 * float(each) for each in pattern],
        "marker": None if marker in (None, "None", "none", "") else str(marker),
        "every": every if isinstance(every, int) else 1,
    }


def _levels(axes: Axes, lines: list[Line2D]) -> list[dict[str, Any]]:
    """Horizontal lines, each with the text that stands at it."""
    texts = {float(text.xy[1]): text.get_text() for text in axes.texts if hasattr(text, "xy")}
    found = []
    for line in lines:
        heights = np.unique(np.asarray(line.get_ydata(), dtype=float))
        if len(heights) == 1 and line.get_transform() != axes.get_xaxis_transform():
            found.append({"at": float(heights[0]), "label": texts.get(float(heights[0]), "")})
    return found


def _marks(axes: Axes, lines: list[Line2D]) -> list[dict[str, Any]]:
    """Upright lines, each with the text that stands at it."""
    texts = {float(text.xy[0]): text.get_text() for text in axes.texts if hasattr(text, "xy")}
    upright = [line for line in lines if line.get_transform() == axes.get_xaxis_transform()]
    places = [float(np.asarray(line.get_xdata(), dtype=float)[0]) for line in upright]
    return [{"at": at, "label": texts.get(at, "")} for at in places]


def _limits(values: tuple[float, float]) -> list[float]:
    """The ends of an axis, apart where a curve is constant but for rounding errors."""
    low, high = map(float, values)
    size = max(abs(low), abs(high))
    return [low - 0.1 * size, high + 0.1 * size] if high - low < 1e-4 * size else [low, high]


def _numbers(values: Any) -> list[float | None]:
    """Six digits; None for what is not finite."""
    array = np.atleast_1d(np.asarray(values, dtype=float))
    return [float(f"{each:.6g}") if np.isfinite(each) else None for each in array]
