"""Results as data: values at labelled places with units, as arrays, tables and files that others read."""

from calderon.data.labelled import Axis, LabelledArrays, Quantity
from calderon.data.places import (
    Places,
    grid_places,
    line_places,
    plane_places,
    point_places,
    rectangle_places,
    sphere_places,
)
from calderon.data.samples import SampledField, Samples

__all__ = [
    "Axis",
    "LabelledArrays",
    "Places",
    "Quantity",
    "SampledField",
    "Samples",
    "grid_places",
    "line_places",
    "plane_places",
    "point_places",
    "rectangle_places",
    "sphere_places",
]
