"""The parts of a form that device sources are given: its header, functions on both sides, data of triangles, tables
of rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Defines
from calderon.backends.records import Record
from calderon.galerkin.device.nodes import Nodes
from calderon.galerkin.device.triangles import CENTROID, CURLS, NO_CURLS, NONE, OFFSETS, DeviceTriangles, Nested
from calderon.galerkin.forms.elastic import elastic_form
from calderon.galerkin.forms.form import Form
from calderon.galerkin.regular.element_tables import barycentric_functions
from calderon.integrands import Component, Components, Integrand
from calderon.mesh.geometry import FlatTriangles
from calderon.quadrature import TriangleRule
from calderon.spaces import NodalVectorSpace, Space

SCALAR_DATA = Record("DATA", normal=3, jacobian=1, curls=9)
"""The numbers of a triangle of either side (scalar.h)."""
EDGE_DATA = Record("DATA", jacobian=1, centroid=3, vertices=9, functions=None)
"""The numbers of a triangle of either side (edge_fields.h); vertices from the centroid. At the end are fields of the
functions of a test triangle, scales of a trial triangle."""
FIELD = Record("FIELD", values=9, divergence=1)
"""The numbers of a test function that is affine on a triangle: values at the vertices, divergence."""
Array = NDArray[np.float64]
Data = tuple[Array, Array]
RowTables = tuple[FlatTriangles, Array, Nested]


class DeviceForm(NamedTuple):
    """The part of a form that device sources are given.

    defines: those of all sources, with FORM, the header of the form. functions(rule): (TESTS, P) and (TRIALS, P) values
    of the functions whose moments the regular part sums. data(block, test): the record of the triangles of a side with
    its parts. numbers: of the data of a triangle at most. row_records(nodes): in rows and columns, the record of a
    triangle, and of each of its functions if these have one. row_tables(block, test, order, nodes, reach): the
    triangles of a side in that order, which have these squares of distances, the table of the side, and the record of
    its triangles with its parts. regular: components of regular pairs. rows: the one component that rows and columns
    sum, times numbers of the form (`node_of`).
    """

    defines: Defines
    functions: Callable[[TriangleRule], Data]
    data: Callable[[Any, bool], Nested]
    numbers: int
    row_records: Callable[[Nodes], tuple[Record, ...]]
    row_tables: Callable[..., RowTables]
    regular: Components
    rows: Components


def scalar_device_form(
    integrand: Integrand, test: Space | NodalVectorSpace, trial: Space | NodalVectorSpace
) -> DeviceForm:
    """Products of local functions, or integrated by parts (scalar.h)."""
    local = ("TESTS", test.element.size), ("TRIALS", trial.element.size), ("CURLS", int(integrand.curls))
    defines: Defines = ("FORM", '"galerkin/forms/scalar.h"'), *local, *SCALAR_DATA.defines

    def functions(rule: TriangleRule) -> Data:
        """Values of the local functions of both sides at the points of a rule."""
        return test.element.values(rule.points), trial.element.values(rule.points)

    given = defines, functions, _scalar_data, SCALAR_DATA.length, scalar_row_records, _scalar_row_tables
    return DeviceForm(*given, (integrand.component,), (integrand.component,))


def elastic_device_form(integrand: Integrand, test: NodalVectorSpace, trial: NodalVectorSpace) -> DeviceForm:
    """Vectors with three components (elastic.h)."""
    scalar, normal = scalar_device_form(integrand, test, trial), integrand.normal
    sizes = test.element.size, trial.element.size
    local = ("TESTS", sizes[0]), ("TRIALS", sizes[1]), ("ELASTIC_NORMAL", ("none", "test", "trial").index(normal))
    defines: Defines = ("FORM", '"galerkin/forms/elastic.h"'), *local, *SCALAR_DATA.defines
    in_rows = (Component(1 if normal == "none" else 2),)
    return scalar._replace(defines=defines, regular=elastic_form(normal, *sizes).regular, rows=in_rows)


def component_defines(components: Components, others: Components = ()) -> Defines:
    """The components for component.h, and whether the normals of the test and of the trial triangle are read, by these
    or by the others."""
    listed = (
        f"PUT({number}, {each.radial}, {', '.join(map(str, each.monomial))}, {each.normal.upper()})"
        for number, each in enumerate(components)
    )
    sides = {each.normal for each in (*components, *others)}
    reads = (("READS_TEST", int("test" in sides)), ("READS_TRIAL", int("trial" in sides)))
    return ("COMPONENTS", len(components)), ("COMPONENT_LIST", " ".join(listed)), *reads


def _scalar_data(block: Any, test: bool) -> Nested:
    """The record of the test or of the trial triangles of a block, as scalar.h reads it."""
    side: DeviceTriangles = block.test_there if test else block.trial_there
    curls = CURLS if block.integrand.curls else NO_CURLS
    return Nested(SCALAR_DATA, {"normal": side.normals, "jacobian": side.jacobian, "curls": curls})


def scalar_row_records(nodes: Nodes) -> tuple[Record, ...]:
    """The record of a triangle; curls only where they are read."""
    return (Record("ROW", nodes=nodes.record.length, normal=3, jacobian=1, curls=None),)


def _scalar_row_tables(block: Any, test: bool, order: NDArray[np.int64], nodes: Nodes, reach: Array) -> RowTables:
    """The table: weights times local functions (L, P), weights (P,)."""
    (record,), space, rule = scalar_row_records(nodes), block.test_space if test else block.trial_space, nodes.rule
    surface = (block.test_surface if test else block.trial_surface).take(order)
    table = np.concatenate([(space.element.values(rule.points) * rule.weights).ravel(), rule.weights])
    own = {"nodes": nodes.of_triangles(surface, reach), "normal": surface.normals}
    own |= {"jacobian": surface.jacobian[:, None], "curls": CURLS if block.integrand.curls else NONE}
    return surface, table, Nested(record, own)


def edge_device_form(form: Form, functions: int) -> DeviceForm:
    """Edge functions, with the header of that form; functions: test functions of a triangle."""
    defines = ("FORM", f'"galerkin/forms/{form.name}.h"'), *EDGE_DATA.defines, *FIELD.defines
    numbers = EDGE_DATA.length + FIELD.length * functions

    def moment_functions(rule: TriangleRule) -> Data:
        """Values of the functions of the moments of both sides at the points of a rule."""
        return barycentric_functions(rule, form.tests), barycentric_functions(rule, 3)

    given = defines, moment_functions, _edge_data, numbers, _edge_row_records, _edge_row_tables
    return DeviceForm(*given, form.regular, form.regular)


def _edge_data(block: Any, test: bool) -> Nested:
    """The record of the test or of the trial triangles of a block, as edge_fields.h reads it."""
    side, functions = (block.test_there, None) if test else (block.trial_there, block.trial_scales)
    if test:
        values, divergences = block.fields(True)
        fields = FIELD.packed(values=values.reshape(-1, 9), divergence=divergences.reshape(-1, 1))
        functions = fields.reshape(len(values), -1)
    own = {"jacobian": side.jacobian, "centroid": CENTROID, "vertices": OFFSETS, "functions": functions}
    return Nested(EDGE_DATA, own)


def _edge_row_records(nodes: Nodes) -> tuple[Record, ...]:
    """The records of a triangle, and of each of its functions: values at the points times weight and Jacobian, and the
    field times the Jacobian."""
    triangle = Record("ROW", nodes=nodes.record.length, functions=None)
    return triangle, Record("FUNCTION", nodes=3 * nodes.rule.number_of_points, field=FIELD.length)


def _edge_row_tables(block: Any, test: bool, order: NDArray[np.int64], nodes: Nodes, reach: Array) -> RowTables:
    """The table: weights (P,), and these times the barycentric coordinates (3, P)."""
    (triangle, function), rule = _edge_row_records(nodes), nodes.rule
    surface = (block.test_surface if test else block.trial_surface).take(order)
    values, divergences = (each[order] for each in block.fields(test))
    values = values * surface.jacobian[:, None, None, None]
    divergences = divergences * surface.jacobian[:, None]
    at_points = np.einsum("nfmc,nmp->nfpc", values, nodes.linear(surface))
    fields = FIELD.packed(values=values.reshape(-1, 9), divergence=divergences.reshape(-1, 1))
    functions = function.packed(nodes=at_points.reshape(len(fields), -1), field=fields).reshape(len(order), -1)
    table = np.concatenate([rule.weights, (rule.weights * rule.barycentric.T).ravel()])
    return surface, table, Nested(triangle, {"nodes": nodes.of_triangles(surface, reach), "functions": functions})
