"""bempp-cl compared with calderon, on the same mesh with the same number of points, where it is installed.

Its regular order 4 is the rule of 6 points that calderon uses; its singular order is left at its default. The first
call, which compiles, is not counted. Returns None for everything where bempp-cl is not installed.
"""

import importlib
import importlib.util
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Any

import numpy as np

import calderon as cal
from benchmarks.common.machine import best_of

NAME = "bempp-cl"
MODULES = ("bempp_cl.api", "bempp.api")
SPACES = {"P0": ("DP", 0), "P1": ("P", 1), "RWG": ("RWG", 0)}


def version() -> str | None:
    """The installed version, or None."""
    try:
        return installed_version(NAME)
    except PackageNotFoundError:
        return None


def _api() -> Any | None:
    """Its `api` module, or None; imported here because it is an optional driver that takes seconds to load."""
    for name in MODULES:
        if importlib.util.find_spec(name.split(".")[0]) is not None:
            api = importlib.import_module(name)
            api.GLOBAL_PARAMETERS.quadrature.regular = 4
            return api
    return None


def _space(api: Any, mesh: cal.TriangleMesh, space: str) -> Any:
    grid = api.Grid(np.ascontiguousarray(mesh.vertices.T), np.ascontiguousarray(mesh.triangles.T.astype(np.uint32)))
    return api.function_space(grid, *SPACES[space])


def assembly_seconds(
    equation: str, layer: str, space: str, precision: str, mesh: cal.TriangleMesh, wavenumber: float
) -> float | None:
    """Seconds of one dense assembly, the best of two after the first."""
    api = _api()
    if api is None:
        return None
    functions = _space(api, mesh, space)
    tests = api.function_space(functions.grid, "SNC", 0) if space == "RWG" else functions
    parameters = [] if equation == "laplace" else [wavenumber]
    build = getattr(getattr(api.operators.boundary, "maxwell" if space == "RWG" else equation), layer)

    def run() -> None:
        build(functions, functions, tests, *parameters, assembler="dense", precision=precision).weak_form()

    run()
    return best_of(2, run)


def potential_seconds(mesh: cal.TriangleMesh, points: np.ndarray, wavenumber: float) -> float | None:
    """Seconds of a Helmholtz single-layer potential of a P1 function, the best of two after the first."""
    api = _api()
    if api is None:
        return None
    functions = _space(api, mesh, "P1")
    density = api.GridFunction(functions, coefficients=np.ones(functions.global_dof_count, complex))
    build = api.operators.potential.helmholtz.single_layer
    columns = np.ascontiguousarray(points.T)

    def run() -> None:
        build(functions, columns, wavenumber).evaluate(density)

    run()
    return best_of(2, run)
