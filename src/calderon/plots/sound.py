"""Pictures of sound: directivities, levels on a plane, spectra and third octaves."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator
from numpy.typing import ArrayLike, NDArray

from calderon.plots.curves import Curves, cartesian, polar
from calderon.plots.pattern import Pattern, directions, levels_on_planes, pattern_body
from calderon.plots.quantity import Shown
from calderon.plots.slices import continued, drawn_slice, slice_sides, visible
from calderon.plots.style import CURVES, new_figure, picture, plain_axes
from calderon.validation import one_of

OCTAVES = (16, 31.5, 63, 125, 250, 500, 1000, 2000, 4000, 8000, 16000)
"""Nominal frequencies of octaves in Hz (IEC 61260-1)."""
HALF_SPACES = ("", "+x", "-x", "+y", "-y", "+z", "-z")


def directivity(
    pattern: Any,
    file: str | os.PathLike[str] | None = None,
    *,
    planes: Sequence[str] = ("xz", "yz"),
    normalised: bool = True,
    half_space: str = "",
    points: int = 721,
    title: str = "",
    span: float = 40.0,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Polar curves of the directivity of sound on planes of coordinates, in dB; the figure is returned and, with file=,
    written.

    pattern: a solution, a function of theta and phi in radians (n,) with linear values (n,), or several by label, as of
    several frequencies. planes: as for `radiation_pattern`. normalised: each curve relative to its largest value, else
    to that of a source of the same power that is alike in all directions. half_space: "+z" for directions with z >= 0
    alone, and so on; that of a solution by default. span: decibels below the loudest direction that are drawn. limits:
    (floor, top) of the radius.
    """
    patterns = pattern if isinstance(pattern, Mapping) else {"": pattern}
    half_spaces = [half_space, *(getattr(each, "half_space", "") for each in patterns.values())]
    half_space = one_of(max(half_spaces, key=bool), HALF_SPACES, "half_space")
    # begun where the directions of a half space follow one another
    first = -np.pi if planes and half_space in (f"+{planes[0][:1]}", f"-{planes[0][1:]}") else 0.0
    angles = np.linspace(first, first + 2 * np.pi, points)
    functions = {label: _function(each, half_space) for label, each in patterns.items()}
    curves = levels_on_planes(functions, planes, angles)
    seen = np.any(np.isfinite([*curves.values()]), axis=0)
    seen[-1] &= seen.all()  # the first direction again, which closes a curve
    curves = {label: each[seen] for label, each in curves.items()}
    quantity = "directivity"
    if normalised:
        quantity = "level re that of the loudest direction"
        curves = {label: each - np.nanmax(each) for label, each in curves.items()}
        limits = limits or (-span, 0.0)
    return polar(angles[seen], curves, "dB", file, quantity=quantity, title=title, span=span, limits=limits)


def balloon(
    pattern: Any,
    file: str | os.PathLike[str] | None = None,
    *,
    half_space: str = "",
    title: str = "",
    span: float = 30.0,
    view: str | ArrayLike = "iso",
    renderer: str = "auto",
) -> Figure:
    """The directivity of sound in all directions as a body: colours and radius are decibels, from zero `span` decibels
    below the largest. The figure is returned and, with file=, written.

    pattern, half_space: as one of `directivity`. view, renderer: as for `surface`.
    """
    half_space = one_of(half_space or getattr(pattern, "half_space", ""), HALF_SPACES, "half_space")
    shown, options = _function(pattern, ""), {"title": title, "view": view, "renderer": renderer}
    return pattern_body(shown, directions(half_space), "directivity", file, span, unit="", **options)


def _function(pattern: Any, half_space: str) -> Pattern:
    """The directivity of a solution or a function, NaN in directions beyond the plane of a half space."""
    found: Pattern = getattr(pattern, "directivity", pattern)
    if not half_space:
        return found
    axis, side = "xyz".index(half_space[1]), 1.0 if half_space[0] == "+" else -1.0

    def within(theta: NDArray[np.float64], phi: NDArray[np.float64]) -> NDArray[np.float64]:
        height = (np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta))[axis]
        return np.where(side * height >= -1e-9, np.asarray(found(theta, phi), float), np.nan)

    return within


@picture
def sound_levels(
    points: ArrayLike,
    levels: ArrayLike,
    mesh: Any = None,
    file: str | os.PathLike[str] | None = None,
    *,
    unit: str = "dB re 20 µPa",
    quantity: str = "sound pressure level",
    title: str = "",
    limits: tuple[float, float] | None = None,
    step: float = 5.0,
    blank: str = "inside",
    length: str = "m",
) -> Figure:
    """A map of levels (rows, columns) at the points (rows, columns, 3) of a rectangle, with lines of equal level every
    `step` decibels; the figure is returned and, with file=, written.

    Colours reach from 40 dB below the largest level, or the least one, up to it, in whole steps; limits sets both.
    mesh, blank, length: as for `field_slice`; points without sound (minus infinity) have the lowest colour.

        plots.sound_levels(points, solution.spl(points), solution.mesh)
    """
    if not 0 < step < np.inf:
        raise ValueError(f"step is a positive number of decibels, got {step!r}")
    points, values, hidden = visible(points, levels, mesh, blank)
    if np.iscomplexobj(values):
        raise ValueError("levels are real, in dB: of pressures, solution.spl(points)")
    shown = np.where(hidden, np.nan, values)
    finite = shown[np.isfinite(shown)]
    if not finite.size:
        raise ValueError("nothing to draw: no level is finite")
    top = step * np.ceil(finite.max() / step)
    low, high = limits or (max(top - 40.0, min(step * np.floor(finite.min() / step), top - step)), top)
    shown = np.where(np.isneginf(shown), low, shown)
    drawn = Shown(shown, low, high, mpl.colormaps["viridis"], f"{quantity} ({unit})")
    figure = drawn_slice(points, drawn, hidden, mesh, blank, length)
    axes = figure.axes[0]
    x, y = slice_sides(points)
    between = np.arange(step * np.ceil(low / step), high + 0.5 * step, step)
    filled = np.where(hidden, continued(shown), shown)  # up to the outline, under the blank side
    lines = axes.contour(
        x, y, filled, between, colors="white", linewidths=0.6, linestyles="solid", alpha=0.8, zorder=0.5
    )
    axes.clabel(lines, fmt="%g", fontsize=7, zorder=0.6)
    axes.set_title(title, loc="left", pad=8)
    return figure


@picture
def spectrum(
    frequencies: ArrayLike,
    curves: Curves,
    ylabel: str = "sound pressure level (dB re 20 µPa)",
    file: str | os.PathLike[str] | None = None,
    *,
    solved: tuple[ArrayLike, Mapping[str, ArrayLike]] | None = None,
    references: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    title: str = "",
    xscale: str = "log",
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Curves {label: values (n,)} over frequencies (n,) in Hz, with the nominal frequencies of octaves on a logarithmic
    axis; the figure is returned and, with file=, written.

    solved: of a sweep that interpolates, the frequencies (m,) that were solved and the values {label: (m,)} there,
    which are marked. references, limits: as for `cartesian`.

        plots.spectrum(f, {"ear": level(sweep.values)}, solved=(sweep.solved, {"ear": level(sweep.solved_values)}))
    """
    f = np.asarray(frequencies, float)
    figure = cartesian(
        f, curves, "frequency (Hz)", ylabel, references=references, title=title, xscale=xscale, limits=limits
    )
    axes = figure.axes[0]
    if xscale == "log":
        low, high = f.min(), f.max()
        axes.set_xlim(low, high)
        named = [each for each in OCTAVES if low <= each <= high]
        if len(named) >= 3:
            axes.xaxis.set_major_locator(FixedLocator(named))
            axes.xaxis.set_major_formatter(FixedFormatter([f"{each:g}" for each in named]))
            axes.xaxis.set_minor_locator(NullLocator())
    if solved is not None:
        _mark(axes, solved, list(curves))
    return figure


def _mark(axes: Any, solved: tuple[ArrayLike, Mapping[str, ArrayLike]], labels: list[str]) -> None:
    """Circles at the solved frequencies of curves, in their colours; ValueError for values that do not fit."""
    at = np.asarray(solved[0], float)
    legend = bool(axes.get_legend())
    for label, values in solved[1].items():
        y = np.asarray(values, float)
        if label not in labels or y.shape != at.shape:
            raise ValueError(
                f"solved values {label!r} of shape {y.shape} at {at.shape} frequencies: give those of curves, "
                f"{labels}, one for each solved frequency"
            )
        color = CURVES[labels.index(label) % len(CURVES)]
        axes.plot(
            at, y, linestyle="none", marker="o", markersize=3.6, markeredgewidth=0.9, color=color,
            markerfacecolor="white", zorder=5, clip_on=False,
            label="solved" if label == next(iter(solved[1])) else "_",
        )  # fmt: skip
    handles, names = axes.get_legend_handles_labels()
    shown = [number for number, name in enumerate(names) if legend or name == "solved" or len(labels) > 1]
    axes.legend(
        [handles[number] for number in shown], [names[number] for number in shown], loc="lower right",
        bbox_to_anchor=(1.0, 1.0), ncols=min(5, len(shown)), borderaxespad=0.2, columnspacing=1.2,
    )  # fmt: skip


@picture
def third_octaves(
    bands: Any,
    file: str | os.PathLike[str] | None = None,
    *,
    quantity: str = "sound power level",
    weighted: bool = False,
    title: str = "",
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Bars of levels in third octaves, named by their nominal frequencies, and of their sums; the figure is returned
    and, with file=, written.

    bands: what `calderon.third_octaves` gives for one spectrum, or several by label with the same bands. weighted:
    whether the levels are A-weighted; without, the A-weighted sum follows the other one. Bars begin at the lower
    one of the limits, by default 10 dB or more below the least level.
    """
    several = bands if isinstance(bands, Mapping) else {"": bands}
    first = next(iter(several.values()), None)
    if first is None or any(each.levels.ndim != 1 for each in several.values()):
        raise ValueError("third octaves of one spectrum, or several by label {label: bands}, are drawn")
    if any(not np.array_equal(each.numbers, first.numbers) or each.unit != first.unit for each in several.values()):
        raise ValueError("spectra in one picture have the same bands and units: give bands= to third_octaves")
    heights = {label: _heights(each, weighted) for label, each in several.items()}
    names = [f"{each:g}" for each in first.nominal] + (["A"] if weighted else ["sum", "A"])
    sums = np.arange(len(names)) >= len(first.numbers)
    places = np.arange(len(names)) + 0.6 * sums
    finite = np.concatenate([each[np.isfinite(each)] for each in heights.values()])
    if not finite.size:
        raise ValueError("nothing to draw: no level is finite")
    low, high = limits or (10 * np.floor(finite.min() / 10 - 1), 10 * np.ceil(finite.max() / 10 + 0.2))
    figure = new_figure(max(4.2, min(9.0, 1.3 + 0.27 * len(names))), 3.6, fitted=True)
    axes = figure.add_subplot()
    width = 0.8 / len(several)
    for number, (label, levels) in enumerate(heights.items()):
        offset = (number - (len(several) - 1) / 2) * width
        tops = np.clip(np.where(np.isfinite(levels), levels, low), low, None)
        color = np.array(to_rgb(CURVES[number % len(CURVES)]))
        colors = [0.6 * color + 0.4 if each else color for each in sums]
        axes.bar(places + offset, tops - low, 0.94 * width, low, color=colors, label=label)
    axes.set(ylim=(low, high), xlim=(places[0] - 0.7, places[-1] + 0.7))
    axes.xaxis.set_major_locator(FixedLocator(list(places)))
    axes.xaxis.set_major_formatter(FixedFormatter(names))
    axes.tick_params(axis="x", rotation=90, length=0)
    unit = first.level_unit + (", A-weighted" if weighted else "")
    axes.set(xlabel="third octave (Hz)", ylabel=f"{quantity} ({unit})")
    plain_axes(axes)
    axes.grid(False, axis="x")
    axes.set_title(title, loc="left", pad=10)
    if len(several) > 1:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=min(5, len(several)), borderaxespad=0.2)
    return figure


def _heights(bands: Any, weighted: bool) -> NDArray[np.float64]:
    """Levels of bands and of their sums in dB."""
    levels = bands.a_weighted_levels if weighted else bands.levels
    sums = [bands.total_a_weighted_level] if weighted else [bands.total_level, bands.total_a_weighted_level]
    return np.concatenate([levels, sums])
