"""Rows and columns of matrices on a device (entries.h): what sources are given."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Defines, Device
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.device.forms import component_defines
from calderon.galerkin.forms.form import SCALARS
from calderon.galerkin.rows.cluster_tables import SIDE, RowSide
from calderon.galerkin.rows.entry_kernels import CompiledRows
from calderon.greens.green import green_defines
from calderon.quadrature import triangle_rule


class DeviceRows(NamedTuple):
    """The rows and columns of a matrix for sources that include ROWS: definitions for these, and arguments of their
    kernels on the device: numbers and integers of the row side, of the column side, scalars. room (clusters,) of
    either side: numbers of working memory that the entries of a cluster take."""

    device: Device
    defines: Defines
    arguments: tuple[Any, ...]
    row_room: NDArray[np.int64]
    column_room: NDArray[np.int64]


def device_rows(operator: BilinearForm, rows: CompiledRows, device: Device) -> DeviceRows:
    """The rows of an operator on a device; rows: those on the processor, whose tables are sent."""
    assert rows.device_data is not None
    row_side, column_side, scalars = rows.device_data()
    sides = [row_side] if row_side is column_side else [row_side, column_side]
    sent = [(device.array(each.numbers), device.array(each.integers)) for each in sides]
    arguments = (*sent[0], *sent[-1], device.array(scalars))
    sizes = operator.test.dofs.shape[1], operator.trial.dofs.shape[1]
    room = [2 * size * _triangles(side) for side, size in zip((row_side, column_side), sizes, strict=True)]
    return DeviceRows(device, row_defines(operator), arguments, *room)


def row_defines(operator: BilinearForm) -> Defines:
    """Definitions of an operator for a source that includes ROWS."""
    points = triangle_rule(operator.quadrature.regular).number_of_points
    form = operator.block.device_form_of(operator.integrand, operator.test, operator.trial)
    places: Defines = tuple(each for record in form.row_records(points) for each in record.defines)
    header = ((f"SIDE_{name.upper()}", place) for name, place in SIDE._asdict().items())
    rows: Defines = ("ROWS", '"galerkin/rows/entries.h"'), ("POINTS", points), *places, *header
    components = component_defines(form.rows, form.regular)
    return (*form.defines, *components, *green_defines(operator.green), *SCALARS.defines, *rows)


def _triangles(side: RowSide) -> NDArray[np.int64]:
    """Triangles of each cluster of a side."""
    index = side.integers
    begin = int(index[SIDE.list_starts])
    lists = index[begin : int(index[SIDE.list_starts + 1])]
    if len(lists) > 1:
        return np.asarray(lists[1:] - lists[:-1], np.int64)
    clusters = int(index[SIDE.sizes + 1]) - int(index[SIDE.sizes])
    return index[int(index[SIDE.sizes]) :][:clusters].astype(np.int64)
