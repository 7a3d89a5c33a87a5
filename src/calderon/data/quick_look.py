"""A small picture of fields at places, which notebooks show: the first field on a line, or on a plane or a sphere."""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.data.labelled import Axis, LabelledArrays, Quantity
from calderon.files.formats import figures

LARGEST = 1_000_000
"""Values of a field that is drawn, at most."""


def quick_look(arrays: LabelledArrays) -> bytes | None:
    """The magnitude of the first field as PNG, over one axis or two; None for other numbers of axes, for few or very
    many values, and for those without one that is finite."""
    if not arrays.quantities or not 1 <= len(arrays.axes) <= 2:
        return None
    first, axes = arrays.quantities[0], arrays.axes
    values = np.linalg.norm(first.values, axis=-1) if first.vector else np.abs(first.values)
    regular = values.shape == tuple(len(each.values) for each in axes) and min(values.shape) > 1
    numbers = all(each.values.dtype.kind in "fiu" for each in axes)
    if not (regular and numbers and values.size <= LARGEST and np.isfinite(values).any()):
        return None
    figure = figures.Figure(figsize=(4.6, 3.6), dpi=110, layout="constrained")
    _draw(figure, first, axes, values)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    return drawn.getvalue()


def _draw(figure: Any, field: Quantity, axes: tuple[Axis, ...], values: NDArray[np.float64]) -> None:
    """A curve, or colours of which the last axis runs to the right."""
    plot = figure.add_subplot()
    is_signed = field.values.dtype.kind != "c" and not field.vector
    shown, name = (field.values, "{}") if is_signed else (values, "|{}|")
    label = _labelled(name.format(field.label or field.name), field.unit)
    names = [_labelled(each.label or each.name, each.unit) for each in axes]
    if len(axes) == 1:
        plot.plot(axes[0].values, shown)
        plot.set_xlabel(names[0])
        plot.set_ylabel(label)
        plot.grid(True, linewidth=0.4)
        return
    colours = plot.pcolormesh(axes[1].values, axes[0].values, shown, shading="nearest", rasterized=True)
    plot.set_xlabel(names[1])
    plot.set_ylabel(names[0])
    if axes[0].unit == axes[1].unit == "m":
        plot.set_aspect("equal")
    figure.colorbar(colours, label=label)


def _labelled(name: str, unit: str) -> str:
    """A name with its unit."""
    return f"{name} ({unit})" if unit else name
