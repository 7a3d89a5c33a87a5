"""Tables of both sides of a matrix as rows and columns on devices read them (entries.h)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.records import Record
from calderon.galerkin.device.forms import FIELD
from calderon.galerkin.regular.element_tables import Surface, points_of
from calderon.quadrature import TriangleRule, triangle_rule

Tables = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def records_of(direct: bool, points: int) -> tuple[Record, ...]:
    """Of a triangle with scalar functions (`Form.direct`; curls only where they are read). Of edge functions: of a
    triangle, and of each of its functions, values at the points times weight and Jacobian, and the field times the
    Jacobian."""
    if direct:
        return (Record("ROW", points=3 * points, normal=3, jacobian=1, curls=None),)
    triangle = Record("ROW", points=3 * points, functions=None)
    return triangle, Record("FUNCTION", nodes=3 * points, field=FIELD.length)


def device_tables(pairs: Any, test: bool, order: NDArray[np.int64]) -> Tables:
    """The table of a side, records of its triangles in that order, and nothing for their part in a chunk."""
    rule = triangle_rule(pairs.quadrature.regular)
    surface = pairs.test_surface if test else pairs.trial_surface
    ordered = Surface(*(each[order] if len(each) else each for each in surface))
    make = _scalar_tables if pairs.form.direct else _edge_tables
    table, records = make(pairs, test, order, ordered, rule)
    return table, records, records[:, :0]


def _scalar_tables(
    pairs: Any, test: bool, order: NDArray[np.int64], surface: Surface, rule: TriangleRule
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The table: weights times local functions (L, P), weights (P,)."""
    (record,), space = records_of(True, rule.number_of_points), pairs.test_space if test else pairs.trial_space
    table = np.concatenate([(space.element.values(rule.points) * rule.weights).ravel(), rule.weights])
    curls = surface.curls if pairs.integrand.curls else np.zeros((len(order), 0))
    points, jacobian = points_of(surface, rule), surface.jacobian[:, None]
    return table, record.packed(points=points, normal=surface.normals, jacobian=jacobian, curls=curls)


def _edge_tables(
    pairs: Any, test: bool, order: NDArray[np.int64], surface: Surface, rule: TriangleRule
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The table: weights (P,), barycentric coordinates (3, P)."""
    triangle, function = records_of(False, rule.number_of_points)
    values, divergences = (each[order] for each in pairs.fields(test))
    values = values * surface.jacobian[:, None, None, None]
    divergences = divergences * surface.jacobian[:, None]
    nodes = np.einsum("nfmc,pm->nfpc", values, rule.barycentric * rule.weights[:, None])
    fields = FIELD.packed(values=values.reshape(-1, 9), divergence=divergences.reshape(-1, 1))
    functions = function.packed(nodes=nodes.reshape(len(fields), -1), field=fields)
    records = triangle.packed(points=points_of(surface, rule), functions=functions.reshape(len(order), -1))
    return np.concatenate([rule.weights, rule.barycentric.T.ravel()]), records
