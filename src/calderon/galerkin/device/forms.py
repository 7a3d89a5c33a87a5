"""What the device sources of blocks are given of each form: its header, functions on both sides, data of triangles."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Defines
from calderon.backends.records import Record
from calderon.galerkin.regular.element_tables import Surface, barycentric_functions
from calderon.integrands import ELECTRIC_FIELD, Integrand
from calderon.quadrature import TriangleRule
from calderon.spaces import DualTests, EdgeSpace, Space

SCALAR_DATA = Record("DATA", normal=3, jacobian=1, curls=9)
"""Of a triangle of either side (scalar.h)."""
EDGE_DATA = Record("DATA", jacobian=1, centroid=3, vertices=9, functions=None)
"""Of a triangle of either side (edge_fields.h); vertices from the centroid. At the end are fields of the functions
of a test triangle, scales of a trial triangle."""
FIELD = Record("FIELD", values=9, divergence=1)
"""Of a test function that is affine on a triangle: values at the vertices."""
COMPONENTS = {"none": 0, "test": 2, "trial": 3}
"""Numbers of components of the Green's function (component.h), by the normal of an integrand."""
Data = tuple[NDArray[np.float64], NDArray[np.float64]]


class DeviceForm(NamedTuple):
    """defines: of the sources tile.c, touching_pairs.c, scatter.c. functions(rule): (TESTS, P) and (TRIALS, P) values
    of the functions whose moments the regular part sums. data(block): (n, numbers) of test and trial triangles. sizes:
    local test and trial functions. numbers: of the data of a triangle at most. components: kernels of touching and near
    pairs."""

    defines: Defines
    functions: Callable[[TriangleRule], Data]
    data: Callable[[Any], Data]
    sizes: tuple[int, int]
    numbers: int
    components: int = 1


def device_form(integrand: Integrand, test: Space | EdgeSpace | DualTests, trial: Space | EdgeSpace) -> DeviceForm:
    """The form of an operator."""
    if isinstance(test, Space):
        return _scalar(integrand, test, trial)
    electric, sizes = integrand is ELECTRIC_FIELD, (test.dofs.shape[1], 3)
    name, tests = ("electric", 3) if electric else ("magnetic", 6)
    defines = ("FORM", f'"galerkin/forms/{name}.h"'), *EDGE_DATA.defines, *FIELD.defines
    numbers = EDGE_DATA.length + FIELD.length * sizes[0]

    def functions(rule: TriangleRule) -> Data:
        return barycentric_functions(rule, tests), barycentric_functions(rule, 3)

    return DeviceForm(defines, functions, _edge_data, sizes, numbers, 1 if electric else 3)


def _scalar(integrand: Integrand, test: Space, trial: Any) -> DeviceForm:
    sizes = test.element.size, trial.element.size
    local = ("TESTS", sizes[0]), ("TRIALS", sizes[1]), ("CURLS", int(integrand.curls))
    component = ("COMPONENT", COMPONENTS[integrand.normal])
    defines = ("FORM", '"galerkin/forms/scalar.h"'), *local, component, *SCALAR_DATA.defines

    def functions(rule: TriangleRule) -> Data:
        return test.element.values(rule.points), trial.element.values(rule.points)

    def data(block: Any) -> Data:
        sides = (block.test_surface, block.trial_surface)
        records = [SCALAR_DATA.packed(normal=s.normals, jacobian=s.jacobian[:, None], curls=s.curls) for s in sides]
        return records[0], records[1]

    return DeviceForm(defines, functions, data, sizes, SCALAR_DATA.length)


def _edge_data(block: Any) -> Data:
    values, divergences = block.fields(True)
    fields = FIELD.packed(values=values.reshape(-1, 9), divergence=divergences.reshape(-1, 1))
    test = _edge_records(block.test_surface, fields.reshape(len(values), -1))
    return test, _edge_records(block.trial_surface, block.trial_scales)


def _edge_records(surface: Surface, last: NDArray[np.float64]) -> NDArray[np.float64]:
    centroids = surface.corners.mean(axis=1)
    vertices = surface.corners - centroids[:, None]
    return EDGE_DATA.packed(jacobian=surface.jacobian[:, None], centroid=centroids, vertices=vertices, functions=last)
