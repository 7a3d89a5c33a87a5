"""Errors of fast multipole products compared with dense ones: operators of Laplace's equation and of elastostatics and
spaces on four bodies, rtol 1e-3 to 1e-8.

Each figure is the relative error in the 2-norm of products with a random vector, of the matrix and of its transposed,
the larger one. It should lie between rtol / 300 (a cheaper order would do below) and rtol, but where there is no far
field. Rows are named by body, equation, operator, trial and test space; `--only "cube elastic K"` takes those with all
three words.
"""

import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common.machine import Floor
from calderon.mesh.shapes.gmsh_volumes import MeshedModel, gmsh_model

UNKNOWNS = 3000
TOLERANCES = 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8
WASTED = 300
TRIANGLES = {"P0": 1.0, "P1": 2.0, "DP1": 1 / 3, "P2": 0.5}
"""For each unknown."""


def graded_bracket(triangles: float) -> cal.TriangleMesh:
    """An angle bracket whose triangles are eight times smaller at the re-entrant edge than far from it (by gmsh)."""
    size = 1.07 / np.sqrt(triangles / 1000)
    with gmsh_model("angle bracket") as gmsh:
        make, fields = gmsh.model.occ, gmsh.model.mesh.field
        make.cut([(3, make.addBox(0, 0, 0, 1.5, 1, 1.5))], [(3, make.addBox(0.5, 0, 0.5, 1, 1, 1))])
        make.synchronize()
        edge = [tag for _, tag in gmsh.model.getEntitiesInBoundingBox(0.49, -1, 0.49, 0.51, 2, 0.51, 1)]
        distance, limits = fields.add("Distance"), fields.add("Threshold")
        fields.setNumbers(distance, "CurvesList", edge)
        fields.setNumber(distance, "Sampling", 200)
        for name, value in {"InField": distance, "SizeMin": size / 8, "SizeMax": size, "DistMax": 1.2}.items():
            fields.setNumber(limits, name, value)
        fields.setAsBackgroundMesh(limits)
        gmsh.option.setNumber("Mesh.MeshSizeExtendFromBoundary", 0)
        gmsh.model.mesh.generate(2)
        meshed = MeshedModel(gmsh)
        used, corners = np.unique(meshed.elements(3, -1), return_inverse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cal.MeshWarning)  # gmsh orients faces, not bodies
        return cal.TriangleMesh(meshed.vertices[used], corners.reshape(-1, 3)).merged_vertices()


def edge_of(area: float, triangles: float) -> float:
    """Edge of equilateral triangles, so many on an area."""
    return float(np.sqrt(area / triangles * 4 / np.sqrt(3)))


BODIES: dict[str, Callable[[float], cal.TriangleMesh]] = {
    "sphere": lambda triangles: cal.mesh.sphere(1.0, edge_of(4 * np.pi, triangles)),
    "cube": lambda triangles: cal.mesh.cube(1.0, float(np.sqrt(12 / triangles))),
    "bracket": graded_bracket,
    "plate": lambda triangles: cal.mesh.plate([1.0, 1.0], float(np.sqrt(2 / triangles))),
}
LAYERS = {"V": cal.single_layer, "K": cal.double_layer, "K'": cal.adjoint_double_layer, "W": cal.hypersingular}
EQUATIONS = {"Laplace": cal.Laplace(), "elastic": cal.Elastostatic(2.5, 0.3)}
Cases = Sequence[tuple[str, str, str]]
CASES = [("V", name, name) for name in TRIANGLES] + [("K", name, name) for name in TRIANGLES]
CASES += [("K'", "P0", "P0"), ("K'", "P1", "P1"), ("W", "P1", "P1"), ("W", "P2", "P2")]
CASES += [("V", "P0", "P1"), ("V", "DP1", "P2"), ("K", "P1", "P0"), ("K'", "P2", "DP1")]


def operators(
    body: str, equation: str, unknowns: int, cases: Cases = CASES,
    green_of: Callable[[str, str, cal.TriangleMesh], Any] = lambda equation, trial, mesh: EQUATIONS[equation],
) -> dict[str, Any]:  # fmt: skip
    """By name: all cases on a body, with about so many unknowns; a plate has no double layers of Laplace's equation.
    green_of: Green's function of an equation for a trial space and its mesh."""
    fields = {"components": 3} if equation == "elastic" else {}
    functions = unknowns // fields.get("components", 1)
    meshes = {name: BODIES[body](functions * share) for name, share in TRIANGLES.items()}
    found = {}
    for layer, trial, test in cases:
        if body == "plate" and layer.startswith("K") and not fields:
            continue
        mesh = meshes[trial]
        inside = {"boundary": False} if layer == "W" and body == "plate" else {}
        space = getattr(cal, trial)(mesh, **fields, **inside)
        other = space if test == trial else getattr(cal, test)(mesh, **fields)
        green = green_of(equation, trial, mesh)
        found[f"{body} {equation} {layer} {trial} {test}"] = LAYERS[layer](green, space, other)
    return found


def error_of(fast: Any, dense: Any) -> float:
    """The larger one of products with the matrix and with its transposed."""
    random, errors = np.random.default_rng(7), []
    for each, exact in ((fast, dense), (fast.T, dense.T)):
        x = random.standard_normal(each.shape[1])
        wanted = exact @ x
        errors.append(float(np.linalg.norm(each @ x - wanted) / np.linalg.norm(wanted)))
    return max(errors)


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """All bodies, equations, operators and tolerances."""
    found: dict[str, Any] = {}
    for body, equation in product(BODIES, EQUATIONS):
        for name, operator in operators(body, equation, options.unknowns or UNKNOWNS).items():
            if is_wanted(name, options.only):
                found[name] = row_of(screen, name, operator, "fmm", TOLERANCES, order_of)
    return found


def is_wanted(name: str, only: str) -> bool:
    """Whether a row has all words."""
    return set(only.split()) <= set(name.split())


def order_of(fast: Any) -> str:
    """Orders of expansions; none where there is no far field."""
    orders = max(each.order for each in fast.info)
    return f"{orders[0]}, {orders[1]}" if any(orders) else ""


def row_of(
    screen: Console, name: str, operator: Any, method: str, tolerances: Sequence[float], note: Callable[[Any], str]
) -> dict[str, Any]:
    """Errors of an operator for all tolerances, printed; note: what to say of a matrix, nothing if there is no far
    field."""
    dense = operator.assemble("dense").to_array()
    row: dict[str, Any] = {"shape": dense.shape}
    for rtol in tolerances:
        started = time.process_time()
        try:
            fast = operator.assemble(method, rtol=rtol)
        except (ValueError, RuntimeError) as refused:
            row[f"{rtol:g}"] = str(refused)
            continue
        row[f"{rtol:g}"] = {
            "error": error_of(fast, dense), "checked": fast.error, "note": note(fast),
            "cpu": time.process_time() - started,
        }  # fmt: skip
    screen.print(f"{name} {dense.shape}: " + " ".join(map(_shown, tolerances, list(row.values())[1:])))
    return row


def _shown(rtol: float, result: Any) -> str:
    """The error, with its note; marked where it is outside of the bounds."""
    if isinstance(result, str):
        return f"[red]{rtol:g} refused[/red]"
    if not result["note"]:
        return "near"
    error = result["error"]
    colour = "red" if error > rtol else "yellow" if error < rtol / WASTED else "green"
    return f"[{colour}]{error:.1e}[/{colour}] ({result['note']})"
