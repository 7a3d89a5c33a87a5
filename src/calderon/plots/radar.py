"""Heat maps of what a radar sees, over frequency or range and direction."""

import os
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from calderon.plots.style import INK, new_figure, picture
from calderon.validation import one_of, positive_length

LEAST = 1e-30
"""Least value in decibels."""


@picture
def radar_map(
    sweep: Any,
    file: str | os.PathLike[str] | None = None,
    *,
    polarization: str | None = None,
    profile: bool = False,
    window: str = "hann",
    span: float = 50.0,
    title: str = "",
) -> Figure:
    """Radar cross-section in dB re 1 m^2 over direction and frequency; the figure is returned and, with file=, written.

    sweep: of `monostatic_sweep`. polarization: one of it, the first unless given. profile: the profile over range
    instead, 20 log10 of its amplitudes in m, with that window. span: decibels below the largest value that are drawn.
    Directions are in degrees of the angle that changes, by number where both do. ValueError for one direction alone.
    """
    chosen = one_of(polarization or sweep.polarizations[0], sweep.polarizations, "polarization")
    span, which = positive_length(span, "span"), sweep.polarizations.index(chosen)
    angles = {name: np.degrees(getattr(sweep, name)) for name in ("theta", "phi")}
    if len(angles["phi"]) < 2:
        raise ValueError("a map needs two directions or more: draw sweep.rcs of one by plots.cartesian")
    moving = [name for name, values in angles.items() if np.ptp(values)]
    across = angles[moving[0]] if len(moving) == 1 else np.arange(len(angles["phi"]))
    if profile:
        data = sweep.range_profile(window)
        up, values = data.axes[0].values, np.abs(data["profile"][..., which]) ** 2
        label, unit = "distance behind the origin (m)", "echo (dB re 1 m)"
    else:
        up, values = sweep.frequencies / 1e9, sweep.rcs[..., which]
        label, unit = "frequency (GHz)", "radar cross-section (dB re 1 m²)"
    levels = 10 * np.log10(np.maximum(values, LEAST))
    figure = new_figure(4.8, 3.6)
    axes = figure.add_axes((0.12, 0.13, 0.68, 0.77))
    order = np.argsort(across, kind="stable")
    top = float(levels.max())
    mesh = axes.pcolormesh(
        across[order], up, levels[:, order], cmap=colormaps["viridis"], vmin=top - span, vmax=top, shading="nearest"
    )
    figure.colorbar(mesh, cax=figure.add_axes((0.83, 0.13, 0.03, 0.77)), label=unit)
    axes.set(xlabel=f"{moving[0]} (degrees)" if len(moving) == 1 else "number of the direction", ylabel=label)
    axes.set_title(title or f"{chosen}, receiver and transmitter", loc="left", pad=8, color=INK)
    return figure
