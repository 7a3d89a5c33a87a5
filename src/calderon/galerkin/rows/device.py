"""Rows and columns of matrices on a device (entries.h): what sources are given, and the touching and near pairs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Defines, Device, Execution
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.device.forms import component_defines
from calderon.galerkin.device.nodes import Nodes
from calderon.galerkin.device.special_pairs import DeviceSpecialPairs
from calderon.galerkin.device.triangles import DeviceTriangles
from calderon.galerkin.forms.form import SCALARS
from calderon.galerkin.regular.distant import Zones
from calderon.galerkin.rows.cluster_tables import SIDE, positions, row_integers, triangle_order
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.greens.green import green_defines


class DeviceRows(NamedTuple):
    """The rows and columns of a matrix for sources that include ROWS: definitions for these, and arguments of their
    kernels on the device: numbers and integers of the row side, of the column side, scalars.

    special: the touching and near pairs, as special.h reads them. room (clusters,) of either side: numbers of working
    memory that the entries of a cluster take. work (clusters,) of either side: values of the Green's function that the
    entries of a cluster with one function take, on average.
    """

    device: Device
    defines: Defines
    arguments: tuple[Any, ...]
    special: tuple[Any, ...]
    row_room: NDArray[np.int64]
    column_room: NDArray[np.int64]
    row_work: NDArray[np.float64]
    column_work: NDArray[np.float64]


def device_rows(
    operator: BilinearForm,
    rows: Clusters,
    columns: Clusters,
    execution: Execution,
    device: Device,
) -> DeviceRows:
    """The rows of an operator on a device, and its touching and near pairs; rows, columns: clusters of test and trial
    functions."""
    kind = execution.dtype(operator.is_complex)
    pairs = DeviceSpecialPairs.on(device, operator, execution, None, 1.0, kind)
    zones = Zones.common([pairs])
    nodes = Nodes.of(pairs, zones)
    # both sides in cluster order, once where they are the same
    same = pairs.form.direct and pairs.test_space is pairs.trial_space and rows is columns
    clusters = [rows] if same else [rows, columns]
    chosen = zip((pairs.test, pairs.trial), clusters, operator.shape, strict=False)
    places = [positions(each.places, own, unknowns) for each, own, unknowns in chosen]
    orders = [triangle_order(each) for each in places]
    sides, sent = [], []
    for test, own, place, order in zip((True, False), clusters, places, orders, strict=False):
        reach = zones.reached[0 if test else 1][order]
        surface, table, records = pairs.device_form.row_tables(pairs, test, order, nodes, reach)
        numbers = DeviceTriangles(device, surface).packed(*records, pairs.real, before=table)
        length = (numbers.shape[0] - table.size) // max(1, len(order))
        sides.append(row_integers(place.take(order, axis=0), own, table.size, length, 0))
        sent.append((numbers, device.array(sides[-1])))
    arguments = (*sent[0], *sent[-1], device.array(pairs._scalars()))
    sizes = operator.test.dofs.shape[1], operator.trial.dofs.shape[1]
    triangles = [_triangles(side) for side in (sides[0], sides[-1])]
    row_room, column_room = (2 * size * each for each, size in zip(triangles, sizes, strict=True))
    counts = int(np.prod(pairs.local_shape)), max(1, len(pairs.trial.triangles)), pairs.specials
    special = *pairs.there.listed(orders[0], orders[-1]), *pairs.matrices, *counts
    # triangles of a function of the other side, on average, and pairs of points of two triangles
    supports = (space.dofs.size / max(1, space.dimension) for space in (operator.trial, operator.test))
    row_work, column_work = (nodes.usual**2 * support * each for each, support in zip(triangles, supports, strict=True))
    defines = row_defines(operator, nodes)
    given = device, defines, arguments, special, row_room, column_room
    return DeviceRows(*given, row_work, column_work)


def row_defines(operator: BilinearForm, nodes: Nodes) -> Defines:
    """Definitions of an operator with these points of triangles for a source that includes ROWS."""
    form = operator.block.device_form_of(operator.integrand, operator.test, operator.trial)
    places: Defines = tuple(each for record in form.row_records(nodes) for each in record.defines)
    header = ((f"SIDE_{name.upper()}", place) for name, place in SIDE._asdict().items())
    rows: Defines = ("ROWS", '"galerkin/rows/entries.h"'), *nodes.defines, *places, *header
    components = component_defines(form.rows, form.regular)
    return (*form.defines, *components, *green_defines(operator.green), *SCALARS.defines, *rows)


def _triangles(index: NDArray[np.int32]) -> NDArray[np.int64]:
    """Triangles of each cluster of a side with these integers."""
    begin = int(index[SIDE.list_starts])
    lists = index[begin : int(index[SIDE.list_starts + 1])]
    if len(lists) > 1:
        return np.asarray(lists[1:] - lists[:-1], np.int64)
    clusters = int(index[SIDE.sizes + 1]) - int(index[SIDE.sizes])
    return index[int(index[SIDE.sizes]) :][:clusters].astype(np.int64)
