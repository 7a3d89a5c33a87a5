"""Smith charts of reflections."""

import os
from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from calderon.plots.style import HAIRLINE, INK, MUTED, ground, new_figure, pen, picture
from calderon.validation import unmasked


@picture
def smith(
    reflections: Mapping[str, ArrayLike],
    file: str | os.PathLike[str] | None = None,
    *,
    ends: tuple[str, str] = ("", ""),
    title: str = "",
) -> Figure:
    """Reflections {label: complex values (n,)} of the time factor exp(-i omega t) in the plane of their conjugates, as
    usual, so that inductive impedances are above; the figure is returned and, with file=, written.

    Circles have a constant resistance r or reactance x in parts of the line's impedance. ends: texts at the first and
    the last value, such as frequencies.
    """
    figure = new_figure(4.6, 4.8)
    axes = figure.add_axes((0.06, 0.08, 0.88, 0.88 * 4.6 / 4.8))
    # circles of constant resistance and reactance, with their numbers
    t = np.tan(np.linspace(-np.pi / 2, np.pi / 2, 401)[1:-1])
    sweep = np.sign(t) * t**2
    for part in (0.2, 0.5, 1.0, 2.0, 5.0):
        for z in (part + 1j * sweep, np.abs(sweep) + 1j * part, np.abs(sweep) - 1j * part):
            w = (z - 1) / (z + 1)
            axes.plot(w.real, w.imag, color=HAIRLINE, linewidth=0.7, zorder=1)
        place = (part - 1) / (part + 1)
        axes.text(place + 0.01, 0.012, f"{part:g}", color=MUTED, fontsize=7)
        for sign in (1, -1):
            w = (sign * 1j * part - 1) / (sign * 1j * part + 1)
            text = f"{'+' if sign > 0 else chr(0x2212)}j{part:g}"
            axes.text(1.07 * w.real, 1.07 * w.imag, text, color=MUTED, fontsize=7, ha="center", va="center")
    # the real axis and the unit circle
    axes.plot([-1, 1], [0, 0], color=HAIRLINE, linewidth=0.7, zorder=1)
    angle = np.linspace(0, 2 * np.pi, 361)
    axes.plot(np.cos(angle), np.sin(angle), color=MUTED, linewidth=0.8, zorder=1)
    # reflections, with the texts at their ends
    for number, (label, values) in enumerate(reflections.items()):
        w = unmasked(values, f"reflection {label!r}").astype(complex).conj()
        if w.ndim != 1 or not np.isfinite(w).all():
            raise ValueError(f"reflection {label!r} of shape {w.shape}: a list of finite numbers is needed")
        line = pen(number)
        axes.plot(w.real, w.imag, label=label, zorder=3, **line)
        for point, text, up in zip(w[[0, -1]], ends, (5, -12), strict=True):
            axes.plot(point.real, point.imag, "o", color=line["color"], markersize=4, zorder=6)
            axes.annotate(
                text, (point.real, point.imag), xytext=(5, up), textcoords="offset points", color=INK, fontsize=8,
                zorder=5, bbox=ground(),
            )  # fmt: skip
    axes.set(xlim=(-1.16, 1.16), ylim=(-1.16, 1.16), aspect="equal")
    axes.set_axis_off()
    figure.text(0.5, 0.045, "impedance / impedance of the line", ha="center", va="center", color=INK)
    if title:
        figure.text(0.5, 0.985, title, ha="center", va="top", fontsize=10)
    axes.legend(loc="upper left", bbox_to_anchor=(-0.04, 1.02))
    return figure
