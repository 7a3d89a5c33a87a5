"""Real quantities of a complex field p to show: |p|, Re p, Im p, arg p or 20 log10 |p|, or levels that are given, each
with the colours that suit it.

Magnitudes take a sequential map (viridis), signed values a diverging one symmetric about zero (real ones of a
single sign a sequential one from zero), phases a cyclic one. The
diverging map is built here in Oklab (B. Ottosson, 2020): straight lines of lightness from both ends to a white middle,
so equal steps of the value look equal; blue and orange stay apart for every common colour vision.
"""

import textwrap
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from calderon.validation import unmasked

QUANTITIES = ("abs", "real", "imag", "phase", "db", "level")


@dataclass(frozen=True)
class Shown:
    """Real values to be coloured, their range, colours and the text of the colour bar."""

    values: NDArray[np.float64]
    low: float
    high: float
    colors: Colormap
    label: str
    ticks: tuple[tuple[float, str], ...] = ()

    @property
    def extend(self) -> str:
        """Which ends of the range values go beyond, in Matplotlib's words."""
        low = bool(np.nanmin(self.values) < self.low - 1e-9 * (self.high - self.low))
        high = bool(np.nanmax(self.values) > self.high + 1e-9 * (self.high - self.low))
        return {(True, True): "both", (True, False): "min", (False, True): "max"}.get((low, high), "neither")


def show(
    values: ArrayLike,
    quantity: str,
    name: str = "",
    unit: str = "",
    limits: tuple[float, float] | None = None,
    floor: float = 40.0,
) -> Shown:
    """Values of a field turned into what is drawn; NaN means "not drawn".

    floor: decibels shown below the largest value with quantity "db" (relative to one unit), and with "level", of values
    that are decibels already. ValueError for an unknown
    quantity, for limits out of order and for values without a finite one.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"unknown quantity {quantity!r}: choose one of {', '.join(map(repr, QUANTITIES))}")
    field = unmasked(values, "values")
    if not np.isfinite(field).any():
        raise ValueError("nothing to draw: no value is finite")
    if limits is not None and not (np.asarray(limits).dtype.kind in "fiu" and limits[0] < limits[1]):
        raise ValueError(f"limits {limits}: give them as (lower, upper)")
    # phase, decibels, absolute values
    symbol = name or "u"
    bracket = f" ({unit})" if unit else ""
    if quantity == "phase":
        ticks = tuple((x * np.pi, text) for x, text in [(-1, "−π"), (-0.5, "−π/2"), (0, "0"), (0.5, "π/2"), (1, "π")])
        low, high = limits or (-np.pi, np.pi)
        return Shown(np.angle(field), low, high, mpl.colormaps["twilight"], f"phase of {symbol} (rad)", ticks)
    if quantity == "db":
        with np.errstate(divide="ignore"):
            shown = 20 * np.log10(np.abs(field))
        top = float(np.max(shown[np.isfinite(shown)], initial=-300.0))
        low, high = limits or (top - floor, top)
        text = f"{symbol} (dB re 1{' ' + unit if unit else ''})"
        return Shown(np.where(np.isneginf(shown), low, shown), low, high, mpl.colormaps["viridis"], text)
    if quantity == "level":
        top = float(np.nanmax(np.real(field)))
        low, high = limits or (top - floor, top)
        return Shown(np.real(field).astype(float), low, high, mpl.colormaps["viridis"], f"{symbol}{bracket}")
    if quantity == "abs":
        shown = np.abs(field)
        low, high = limits or _span(0.0, float(np.nanmax(shown)))
        return Shown(shown, low, high, mpl.colormaps["viridis"], f"|{symbol}|{bracket}")
    # real or imaginary parts: symmetric about zero, unless values have one sign
    shown = np.real(field) if quantity == "real" else np.imag(field)
    largest = float(np.nanmax(np.abs(shown)))
    minimum, maximum = float(np.nanmin(shown)), float(np.nanmax(shown))
    colors: Colormap = DIVERGING
    span = (-largest, largest)
    if not np.iscomplexobj(field) and limits is None and max(-minimum, maximum) >= 50 * min(-minimum, maximum):
        # of one sign, but for a fiftieth: from zero on
        upward = maximum >= -minimum
        span = (min(minimum, 0.0), maximum) if upward else (minimum, max(maximum, 0.0))
        colors = mpl.colormaps["viridis" if upward else "viridis_r"]
    low, high = limits or _span(*span)
    part = {"real": "Re ", "imag": "Im "}[quantity] if np.iscomplexobj(field) else ""
    return Shown(np.asarray(shown, dtype=float), low, high, colors, f"{part}{symbol}{bracket}")


def _span(low: float, high: float) -> tuple[float, float]:
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def diverging_map(steps: int = 257) -> ListedColormap:
    """Blue - white - vermilion: lightness rises linearly to the middle and falls linearly after it, in Oklab."""
    # lightness, chroma, hue (degrees) of the ends and of the points half way; the middle is a warm-neutral white
    anchors = [
        (0.34, 0.115, 262.0),
        (0.665, 0.105, 245.0),
        (0.975, 0.003, 90.0),
        (0.665, 0.145, 52.0),
        (0.34, 0.095, 36.0),
    ]
    lab = np.array([[L, c * np.cos(np.radians(h)), c * np.sin(np.radians(h))] for L, c, h in anchors])
    s = np.linspace(0, 1, steps)
    path = np.stack([np.interp(s, [0, 0.25, 0.5, 0.75, 1], lab[:, i]) for i in range(3)], axis=1)
    cone = path @ np.array(
        [[1, 1, 1], [0.3963377774, -0.1055613458, -0.0894841775], [0.2158037573, -0.0638541728, -1.2914855480]]
    )
    linear = cone**3 @ np.array(
        [
            [4.0767416621, -1.2684380046, -0.0041960863],
            [-3.3077115913, 2.6097574011, -0.7034186147],
            [0.2309699292, -0.3413193965, 1.7076147010],
        ]
    )
    linear = np.clip(linear, 0, 1)
    srgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return ListedColormap(srgb.tolist(), name="calderon_diverging")


DIVERGING = diverging_map()
LOWER, UPPER = (ListedColormap(DIVERGING(np.linspace(a, a + 0.5, 257)).tolist(), name=f"half_{a}") for a in (0.0, 0.5))
"""The halves of the diverging map, light at zero, for values of one sign below dark lines."""


def color_bar(figure: Figure, box: tuple[float, float, float, float], drawn: Shown) -> Axes:
    """Draw the bar into a box (left, bottom, width, height) of the figure; pointed ends where values go beyond it."""
    bar = figure.add_axes(box)
    scale = ScalarMappable(norm=Normalize(drawn.low, drawn.high), cmap=drawn.colors)
    colorbar = figure.colorbar(scale, cax=bar, extend=drawn.extend)
    colorbar.outline.set_visible(False)
    # on several lines where it is longer than the bar; a letter takes about 0.075 inches
    room = max(14, int(box[3] * figure.get_figheight() / 0.075))
    colorbar.set_label(textwrap.fill(drawn.label, room), labelpad=6)
    bar.tick_params(length=2.5)
    bar.locator_params(nbins=max(3, min(7, int(2.4 * box[3] * figure.get_figheight()) + 1)))
    if drawn.ticks:
        colorbar.set_ticks([value for value, _ in drawn.ticks], labels=[text for _, text in drawn.ticks])
    return bar
