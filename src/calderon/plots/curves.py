"""Curves: polar patterns, quantities over frequency or angle, convergence of a solver."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.projections.polar import PolarAxes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import ArrayLike, NDArray

from calderon.plots.arrow import direction_arrow
from calderon.plots.style import HAIRLINE, INK, MUTED, ground, new_figure, pen, picture, plain_axes
from calderon.validation import unmasked

Curves = Mapping[str, ArrayLike]
References = Mapping[str, tuple[ArrayLike, ArrayLike]]


@picture
def polar(
    angles: ArrayLike,
    curves: Curves,
    unit: str = "dB",
    file: str | os.PathLike[str] | None = None,
    *,
    exact: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    references: References | None = None,
    quantity: str = "",
    title: str = "",
    span: float = 50.0,
    limits: tuple[float, float] | None = None,
    incident: float | None = None,
) -> Figure:
    """Patterns over angles in radians, counter-clockwise from the right; the figure is returned and, with file=,
    written.

    curves: {label: values (n,)}. exact: values at the same angles, or (angles, values), a fine dark line with circles.
    references: {label: (angles, values)}, points drawn with the curves, such as measurements.
    Units that begin with "dB" get a floor `span` decibels below the largest value (limits=(floor, top) sets both);
    values below the floor are drawn on it. incident: the angle, in radians, along which the incident wave travels; an
    arrow in the corner shows it. Angles from 0 to pi, or pi / 2, are drawn on a half or a quarter of a disc.
    """
    angles, lines = _checked(angles, curves)
    reference, others = _reference(angles, exact), _points(references)
    shown = [*((angles, values) for values in lines.values()), *([reference] if reference else []), *others.values()]
    everything = [values for _, values in shown]
    # range of radii and sector of angles that hold all values
    low, high, step = _radial_range(everything, unit, span, limits)
    sector = _sector([x for x, _ in shown])
    figure, axes = _disc(sector, len(shown), f"{quantity} ({unit})" if quantity else unit, title)
    # values below the floor are drawn on it
    clipped = {label: np.clip(values, low, None) for label, values in lines.items()}
    exact_line = (reference[0], np.clip(reference[1], low, None)) if reference else None
    points = {label: (x, np.clip(y, low, None)) for label, (x, y) in others.items()}
    _plot(axes, angles, clipped, exact_line, points)
    axes.set_rlim(low, high)
    # rings, with their numbers where no curve passes
    rings = np.arange(step * np.floor(low / step + 1e-9) + step, high + 0.01 * step, step)
    axes.set_yticks(rings)
    if sector == 360:
        axes.set_rlabel_position(_quiet_angle(angles, everything, rings, (high - low) / 10))
    for text in axes.get_yticklabels():
        text.set_bbox(ground())
    if incident is not None:
        corner = (0.42, figure.get_figheight() - 0.36)
        direction_arrow(figure, corner, (np.cos(incident), np.sin(incident)), "incident wave")
    if len(shown) > 1:
        axes.legend(
            loc="lower center", bbox_to_anchor=(0.5, 0.02), bbox_transform=figure.transFigure, ncols=LEGEND_COLUMNS,
            borderaxespad=0, columnspacing=1.4,
        )  # fmt: skip
    return figure


def _disc(sector: int, entries: int, label: str, title: str) -> tuple[Figure, PolarAxes]:
    """A figure with a disc or a part of it in degrees, room for the entries of a legend, a label and a title."""
    legend = 0.22 * -(-entries // LEGEND_COLUMNS) if entries > 1 else 0.0  # inches
    side = 3.55 if title else 3.7
    tall = (1.25 + side / 2 if sector == 180 else 4.8) + legend
    # half of a disc is drawn in the middle of its square; the numbers of the rings stand below an edge
    bottom = 0.62 + legend + {360: 0.0, 180: 0.2 - side / 4, 90: 0.1}[sector]
    figure = new_figure(4.6, tall)
    axes = figure.add_axes(((4.6 - side) / 9.2, bottom / tall, side / 4.6, side / tall), projection="polar")
    assert isinstance(axes, PolarAxes)
    if sector < 360:
        axes.set_thetamin(0)
        axes.set_thetamax(sector)
    axes.set_thetagrids(np.arange(0, 360 if sector == 360 else sector + 1, 30))
    axes.tick_params(axis="y", labelsize=7.5, labelcolor=MUTED)
    axes.spines["polar"].set_color(HAIRLINE)
    figure.text(0.5, (0.2 + legend) / tall, label, ha="center", va="center", color=INK)
    if title:
        figure.text(0.5, 0.985, title, ha="center", va="top", fontsize=10)
    return figure, axes


def _sector(angles: list[NDArray[np.float64]]) -> int:
    """The part of the circle in degrees, from 0 to 90, 180 or 360, in which all the angles in radians lie."""
    every = np.concatenate(angles)
    if every.min() < -1e-9:
        return 360
    return next((part for part in (90, 180) if every.max() <= np.radians(part) + 1e-9), 360)


@picture
def cartesian(
    x: ArrayLike,
    curves: Curves,
    xlabel: str = "",
    ylabel: str = "",
    file: str | os.PathLike[str] | None = None,
    *,
    exact: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    references: References | None = None,
    title: str = "",
    xscale: str = "linear",
    yscale: str = "linear",
    limits: tuple[float | None, float | None] | None = None,
    marks: Mapping[str, float] | None = None,
) -> Figure:
    """Curves {label: values (n,)} over x (n,); xlabel and ylabel carry the units, e.g. "angle (degrees)".

    exact: values at the same x, or (x, values), a fine dark line with circles. references: {label: (x,
    values)}, points drawn with the curves, such as measurements. xscale, yscale: "linear" or "log". limits: the least
    and the largest value that are drawn, None for those of the curves; what lies beyond is left out, such as the nulls
    of a pattern with limits=(-25, None). marks: {label: x}, upright lines, such as resonances.
    """
    for scale in (xscale, yscale):
        if scale not in ("linear", "log"):
            raise ValueError(f"unknown scale {scale!r}: choose 'linear' or 'log'")
    x, lines = _checked(x, curves)
    reference, others = _reference(x, exact), _points(references)
    figure = new_figure(6.0, 4.1, fitted=True)
    axes = figure.add_subplot()
    # curves, with markers where there are few values
    markers: dict[str, Any] = {"marker": "o", "markersize": 3.5, "clip_on": False} if len(x) < 25 else {}
    _plot(axes, x, lines, reference, others, zorder=3, **markers)
    # axes: whole parts of 90 for angles in degrees
    axes.set(xscale=xscale, yscale=yscale, xlabel=xlabel, ylabel=ylabel)
    if xscale == "linear" and len(x) > 1:
        axes.set_xlim(x.min(), x.max())
        if "degree" in xlabel or "°" in xlabel:
            axes.xaxis.set_major_locator(MaxNLocator(nbins=9, steps=[1, 1.5, 3, 4.5, 6, 9, 10]))
    if limits is not None:
        every = [*lines.values(), *([reference[1]] if reference else []), *(y for _, y in others.values())]
        axes.set_ylim(*_completed(limits, np.concatenate(every)))
    for label, at in (marks or {}).items():
        axes.axvline(at, color=MUTED, linewidth=0.9, linestyle=(0, (4, 2)), zorder=2)
        axes.annotate(
            label, (at, 1), xycoords=("data", "axes fraction"), xytext=(3, -3), textcoords="offset points",
            va="top", color=MUTED, fontsize=8,
        )  # fmt: skip
    plain_axes(axes)
    for axis in (axes.xaxis, axes.yaxis):
        _plain_decades(axis)
    axes.set_title(title, loc="left", pad=10)
    _legend(axes, len(lines) + bool(reference) + len(others))
    return figure


@picture
def convergence(
    residuals: Any,
    file: str | os.PathLike[str] | None = None,
    *,
    rtol: float | None = None,
    title: str = "",
) -> Figure:
    """Relative residuals of iterative solutions, logarithmic: a solver's info, a list of residuals or {label: either
    of the two}.

    rtol: the requested tolerance, drawn as a line.
    """
    histories = residuals if isinstance(residuals, Mapping) else {"": residuals}
    lines = {
        str(label): np.ravel(getattr(history, "residuals", history)).astype(float)
        for label, history in histories.items()
    }
    if not lines or any(len(history) == 0 for history in lines.values()):
        raise ValueError("no residuals to draw: a direct solver has no history")
    figure = new_figure(5.4, 3.5, fitted=True)
    axes = figure.add_subplot()
    # one curve for each history; markers only where there are few
    for number, (label, history) in enumerate(lines.items()):
        marker = "o" if len(history) < 60 else None
        positive = np.where(history > 0, history, np.nan)
        axes.semilogy(
            np.arange(len(history)), positive, label=label, marker=marker, markersize=3.2, clip_on=False,
            zorder=3, **pen(number),
        )  # fmt: skip
    # the tolerance
    if rtol is not None:
        axes.axhline(rtol, color=MUTED, linewidth=0.9, linestyle=(0, (4, 2)))
        axes.annotate(
            f"tolerance {rtol:g}", (0, rtol), xycoords=("axes fraction", "data"), xytext=(4, 3),
            textcoords="offset points", color=MUTED, fontsize=8,
        )  # fmt: skip
    axes.set(xlabel="iteration", ylabel="relative residual")
    axes.set_xlim(0, max(1, *(len(history) - 1 for history in lines.values())))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _plain_decades(axes.yaxis)
    plain_axes(axes)
    axes.set_title(title, loc="left", pad=10)
    _legend(axes, len(lines) if "" not in lines else 0)
    return figure


LEGEND_COLUMNS = 3
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
EXACT: dict[str, Any] = {
    "color": INK,
    "linewidth": 0.8,
    "linestyle": (0, (4, 1.6)),
    "marker": "o",  # a line alone would vanish on a curve that agrees with it
    "markersize": 3.0,
    "markerfacecolor": "white",
    "markeredgewidth": 0.7,
    "zorder": 5,
}


MARKERS = ("o", "s", "x", "+", "D", "^")


def _points(references: References | None) -> dict[str, tuple[NDArray, NDArray]]:
    """Abscissae and values of each reference as arrays; ValueError for those that do not fit each other."""
    points = {}
    for label, (x, y) in (references or {}).items():
        pair = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        if pair[0].ndim != 1 or pair[0].shape != pair[1].shape or len(pair[0]) == 0:
            raise ValueError(f"reference {label!r} has shapes {pair[0].shape} and {pair[1].shape}: they must agree")
        points[str(label)] = pair
    return points


def _plot(
    axes: Axes,
    x: NDArray,
    lines: Mapping[str, NDArray],
    exact: tuple[NDArray, NDArray] | None,
    references: Mapping[str, tuple[NDArray, NDArray]],
    **look: Any,
) -> None:
    """Curves, the exact one, and references as points, filled white so that they stand out of the curves."""
    for number, (label, values) in enumerate(lines.items()):
        axes.plot(x, values, label=label, **look, **pen(number))
    if exact:
        axes.plot(*exact, label="exact", markevery=max(1, len(exact[0]) // 48), **EXACT)
    for number, (label, (x, y)) in enumerate(references.items()):
        marker = MARKERS[number % len(MARKERS)]
        axes.plot(
            x, y, label=label, linestyle="none", marker=marker, markersize=3.4, markeredgewidth=0.8, color=INK,
            markerfacecolor="white", markevery=max(1, len(x) // 60), zorder=4, clip_on=False,
        )  # fmt: skip


def _completed(limits: tuple[float | None, float | None], values: NDArray) -> tuple[float, float]:
    """Limits of an axis: an end without one (None) lies beyond the values by a twentieth of what is shown of them."""
    low = -np.inf if limits[0] is None else limits[0]
    high = np.inf if limits[1] is None else limits[1]
    within = values[np.isfinite(values) & (values >= low) & (values <= high)]
    if not len(within):
        raise ValueError(f"no value lies between the limits {limits}: nothing would be drawn")
    bottom = within.min() if limits[0] is None else low
    top = within.max() if limits[1] is None else high
    beyond = 0.05 * (top - bottom)
    return bottom - beyond * (limits[0] is None), top + beyond * (limits[1] is None)


def _plain_decades(axis: Axis) -> None:
    """Powers of ten on a logarithmic axis, numbers where it has less than two decades. As plain text: the grammar of
    Matplotlib's formulas takes longer than the rest of a picture."""
    low, high = sorted(axis.get_view_interval())
    if axis.get_scale() != "log":
        return
    if high >= 100 * low:
        axis.set_major_formatter(FuncFormatter(_power_of_ten))
        axis.set_minor_formatter(NullFormatter())
    else:
        labelled = (1, 2, 5) if high > 10 * low else (1, 2, 3, 5, 7)

        def text(value: float, position: int | None = None) -> str:
            digit = round(value / 10.0 ** np.floor(np.log10(value) + 1e-9))
            return f"{value:g}" if digit in labelled else ""

        axis.set_major_formatter(FuncFormatter(text))
        axis.set_minor_formatter(FuncFormatter(text))


def _power_of_ten(value: float, position: int | None = None) -> str:
    return "10" + f"{np.log10(value):.0f}".translate(RAISED)


def _legend(axes: Axes, entries: int) -> None:
    """A legend where there is something to tell apart."""
    if entries < 2:
        return
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=entries if entries <= 5 else LEGEND_COLUMNS,
        borderaxespad=0.2,
        columnspacing=1.2,
    )


def _checked(x: ArrayLike, curves: Curves) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """x (n,) and each curve (n,) as float arrays; ValueError says which does not fit."""
    x = unmasked(x, "abscissae").astype(float)
    if x.ndim != 1 or len(x) == 0:
        raise ValueError(f"abscissae of shape {x.shape}: a list of numbers is needed")
    if not isinstance(curves, Mapping) or not curves:
        raise ValueError('curves are given as {"label": values}, at least one')
    lines = {}
    for label, values in curves.items():
        y = unmasked(values, f"curve {label!r}")
        if np.iscomplexobj(y):
            raise ValueError(f"curve {label!r} is complex: draw its magnitude, a level in dB or its real part")
        if y.shape != x.shape:
            raise ValueError(f"curve {label!r} has shape {y.shape}, the abscissae {x.shape}: they must agree")
        lines[str(label)] = y.astype(float)
    if not any(np.isfinite(y).any() for y in lines.values()):
        raise ValueError("nothing to draw: no value is finite")
    return x, lines


def _reference(x: NDArray, exact: Any) -> tuple[NDArray, NDArray] | None:
    if exact is None:
        return None
    if isinstance(exact, tuple):
        abscissae, values = exact
        return np.asarray(abscissae, dtype=float), np.asarray(values, dtype=float)
    return x, _checked(x, {"exact": exact})[1]["exact"]


def _radial_range(
    values: Sequence[NDArray], unit: str, span: float, limits: tuple[float, float] | None
) -> tuple[float, float, float]:
    """Floor, top and distance of the circles: multiples of 10 dB, or zero to a round number for linear units."""
    finite = np.concatenate([v[np.isfinite(v)] for v in values])
    if unit.lower().startswith("db"):
        if limits is not None:
            return limits[0], limits[1], 10.0
        high = 5 * np.ceil((finite.max() + 0.5) / 5)
        low = max(high - span, 5 * np.floor(finite.min() / 5))
        return (low, high, 10.0) if high - low > 10 else (high - 20, high, 10.0)
    low, high = limits or (min(0.0, float(finite.min())), float(finite.max()) * 1.05 or 1.0)
    step = MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return low, high, float(step[1] - step[0])


def _quiet_angle(angles: NDArray, values: Sequence[NDArray], rings: NDArray, height: float) -> float:
    """The direction, in degrees between the 30-degree rays, in which the fewest labels of rings touch a curve.

    height: of a label, in the unit of the values; its angular width grows toward the centre.
    """
    candidates = np.arange(15, 360, 30)
    curves = [v for v in values if len(v) == len(angles)]
    touched = []
    for candidate in candidates:
        away = np.abs(np.angle(np.exp(1j * (angles - np.radians(candidate)))))
        count = 0.0
        for number, ring in enumerate(rings, start=1):
            near = away < np.radians(min(45, 6 + 20 / number))
            count += sum(bool(np.any(np.abs(v[near] - ring) < height / 2)) for v in curves)
        # of equally free directions, the one in which the curves stay lowest
        levels = [np.nanmax(v[away < 0.2]) for v in curves if np.isfinite(v[away < 0.2]).any()]
        touched.append((count, max(levels, default=-np.inf)))
    return float(candidates[min(range(len(candidates)), key=touched.__getitem__)])
