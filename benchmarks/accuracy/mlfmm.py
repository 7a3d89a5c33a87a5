"""Errors of plane-wave products compared with dense ones: operators, spaces and losses on a sphere, rtol 1e-2 to 1e-6.

Each figure is the relative error in the 2-norm of products with a random vector, of the matrix and of its transposed,
the larger one. Wavelengths are ten mean edges, six of quadratic functions; losses are Im k / Re k. Rows are named by
body, loss, operator, trial and test space; `--only "10% K P1"` takes those with all three words.
"""

import math
from argparse import Namespace
from typing import Any

from rich.console import Console

import calderon as cal
from benchmarks.accuracy.fmm import BODIES, CASES, is_wanted, operators, row_of
from benchmarks.common.machine import Floor
from benchmarks.common.results import table

UNKNOWNS = 5000
TOLERANCES = 1e-2, 1e-3, 1e-4, 1e-5, 1e-6
LOSSES = {"real": 0.0, "10%": 0.1, "30%": 0.3}
"""Im k / Re k by name."""
SHORTEST = {"P2": 6.0}
"""Mean edges of a wavelength, where they are not ten."""
CURRENTS = (
    ("E", "RWG", "RWG"), ("E", "RWG", "BC"), ("E", "BC", "BC"), ("H", "RWG", "RWG"), ("H", "RWG", "SNC"),
    ("H", "RWG", "dual"), ("H", "RWG", "RBC"), ("H", "BC", "SNC"),
)  # fmt: skip
"""Electric or magnetic field, trial and test functions."""


def wave(loss: str, trial: str, mesh: cal.TriangleMesh) -> cal.Helmholtz:
    """Green's function of the shortest wave for functions on a mesh."""
    k = 2 * math.pi / (SHORTEST.get(trial, 10.0) * mesh.mean_edge_length)
    return cal.Helmholtz(complex(k, LOSSES[loss] * k) if LOSSES[loss] else k)


def currents(body: str, loss: str, unknowns: int) -> dict[str, Any]:
    """Electric and magnetic fields of currents, by name."""
    mesh, found = BODIES[body](unknowns / 1.5), {}
    rwg = cal.RWG(mesh)
    spaces = {"RWG": rwg, "SNC": cal.SNC(mesh), "BC": cal.BC(mesh), "RBC": cal.RBC(mesh), "dual": cal.dual_tests(rwg)}
    fields = {"E": cal.electric_field, "H": cal.magnetic_field}
    for letter, trial, test in CURRENTS:
        operator = fields[letter](wave(loss, trial, mesh), spaces[trial], spaces[test])
        found[f"{body} {loss} {letter} {trial} {test}"] = operator
    return found


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """All operators and tolerances for each loss, and the smallest and largest errors of their classes."""
    found: dict[str, Any] = {}
    cases, unknowns = [*CASES, ("K'", "DP1", "DP1"), ("K'", "P2", "P2")], options.unknowns or UNKNOWNS
    for loss in LOSSES:
        every = operators("sphere", loss, unknowns, cases, wave) | currents("sphere", loss, unknowns)
        for name, operator in every.items():
            if is_wanted(name, options.only):
                found[name] = row_of(screen, name, operator, "mlfmm", TOLERANCES, levels_of)
    shown = table("error / rtol", ["body, loss, operator", *map("{:g}".format, TOLERANCES)])
    kinds = [name.rsplit(maxsplit=2)[0] for name in found]
    for kind in dict.fromkeys(kinds):
        rows = [row for row, each in zip(found.values(), kinds, strict=True) if each == kind]
        shown.add_row(kind, *(_span(rtol, [row[f"{rtol:g}"] for row in rows]) for rtol in TOLERANCES))
    screen.print(shown)
    return found


def levels_of(fast: Any) -> str:
    """How many levels, of which how many have equivalent sources; none where there is no far field."""
    levels = [level for each in fast.levels for level in each]
    return f"{len(levels)}, {sum(level.points > 0 for level in levels)}" if levels else ""


def _span(rtol: float, results: list[Any]) -> str:
    errors = [each["error"] / rtol for each in results if not isinstance(each, str)]
    refused = len(results) - len(errors)
    text = f"{min(errors):.2g} - {max(errors):.2g}" if errors else ""
    return f"{text}, {refused} refused" if refused else text
