"""Potentials on the fly: source points times evaluation points per second, nothing stored."""

from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import peer, results
from benchmarks.common.machine import Floor, best_of
from benchmarks.common.spheres import octahedral_sphere
from calderon.quadrature import triangle_rule

WAVENUMBER = 5.0


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Single and double layer, values and far field, of a P1 function, and the fields of a current (RWG, k = 1),
    at points on the sphere of radius 2."""
    mesh = octahedral_sphere(options.triangles or 32_768)
    space = cal.P1(mesh)
    density = cal.Function(space, np.ones(space.dimension))
    directions = np.random.default_rng(0).standard_normal((options.points, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    points, green = 2 * directions, cal.Helmholtz(WAVENUMBER)
    edges = cal.RWG(mesh)
    current = cal.VectorFunction(edges, np.ones(edges.dimension))
    cases = {
        "laplace single layer": lambda: cal.single_layer_potential(cal.Laplace(), density).evaluate(points),
        "helmholtz single layer": lambda: cal.single_layer_potential(green, density).evaluate(points),
        "helmholtz double layer": lambda: cal.double_layer_potential(green, density).evaluate(points),
        "helmholtz double layer gradient": lambda: cal.double_layer_potential(green, density).gradient(points),
        "helmholtz double layer far field": lambda: cal.double_layer_potential(green, density).far_field(directions),
        "electric potential": lambda: cal.electric_field_potential(1.0, current).evaluate(points),
        "magnetic potential": lambda: cal.magnetic_field_potential(1.0, current).evaluate(points),
    }
    sources = mesh.number_of_triangles * triangle_rule(cal.Quadrature().regular).number_of_points
    title = f"potentials, {mesh.number_of_triangles} P1 triangles ({sources} sources) at {options.points} points"
    table = results.table(title, ["", "s", "10^9 pairs/s", "first call s", f"{peer.NAME} s"])
    rows = []
    for name, run in cases.items():
        if options.only not in name:
            continue
        first = best_of(1, run)
        seconds = best_of(options.repeat, run)
        other = peer.potential_seconds(mesh, points, WAVENUMBER) if name == "helmholtz single layer" else None
        rate = sources * options.points / seconds
        rows.append(
            {
                "name": name,
                "seconds": seconds,
                "pairs_per_second": rate,
                "first_call_seconds": first,
                "peer_seconds": other,
            }
        )
        table.add_row(
            name, results.seconds(seconds), f"{rate / 1e9:.3g}", results.seconds(first), results.seconds(other)
        )
    screen.print(table)
    return {"triangles": mesh.number_of_triangles, "points": options.points, "peer": peer.version(), "rows": rows}
