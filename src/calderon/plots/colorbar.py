"""The bar that says what the colours mean."""

import textwrap

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from calderon.plots.quantity import Shown


def color_bar(figure: Figure, box: tuple[float, float, float, float], drawn: Shown) -> Axes:
    """Draw the bar into a box (left, bottom, width, height) of the figure; pointed ends where values go beyond it."""
    bar = figure.add_axes(box)
    scale = ScalarMappable(norm=Normalize(drawn.low, drawn.high), cmap=drawn.colors)
    colorbar = figure.colorbar(scale, cax=bar, extend=drawn.beyond)
    colorbar.outline.set_visible(False)
    # on several lines where it is longer than the bar; a letter takes about 0.075 inches
    room = max(14, int(box[3] * figure.get_figheight() / 0.075))
    colorbar.set_label(textwrap.fill(drawn.label, room), labelpad=6)
    bar.tick_params(length=2.5)
    bar.locator_params(nbins=max(3, min(7, int(2.4 * box[3] * figure.get_figheight()) + 1)))
    if drawn.ticks:
        colorbar.set_ticks([value for value, _ in drawn.ticks], labels=[text for _, text in drawn.ticks])
    return bar
