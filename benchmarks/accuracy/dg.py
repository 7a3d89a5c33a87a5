"""Plane waves on spheres in time against their series: scattering, and absorption in four layers of a head."""

import time
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor

IMPEDANCE, SPEED = cal.exact.VACUUM_IMPEDANCE, cal.exact.SPEED_OF_LIGHT
PLACES = 12
BODIES = (("conductor", 2), ("conductor", 3), ("dielectric", 2), ("dielectric", 3))
SCATTERING = 3e8
PERMITTIVITY = 2.0
HEAD = (0.080, 0.083, 0.090, 0.095)
TISSUES = {
    "grey matter": cal.Material(permittivity=52.725, conductivity=0.9423),
    "csf": cal.Material(permittivity=68.638, conductivity=2.4126),
    "bone": cal.Material(permittivity=12.454, conductivity=0.1433),
    "skin": cal.Material(permittivity=41.405, conductivity=0.8666),
}
"""At 900 MHz."""
HEAD_FREQUENCY = 900e6
HEADS = ((1, 0.012, 0.05), (1, 0.009, 0.04), (2, 0.018, 0.06), (2, 0.012, 0.06), (3, 0.018, 0.07))
"""Order, edges in tissue, edges in air, in m."""


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Both tables; about six minutes on one thread."""
    return {"spheres": _spheres(screen, options.only), "heads": _heads(screen, options.only)}


def _spheres(screen: Console, only: str) -> list[dict[str, Any]]:
    columns = ("", "tetrahedra", "field at 12 points", "far field", "scattered power", "processor s")
    shown = results.table("spheres of a quarter wavelength, air to 1.25 wavelengths, upwind: errors", columns)
    rows = [_sphere(body, order) for body, order in BODIES if only in f"{body} P{order}"]
    for row in rows:
        errors = (f"{100 * row[name]:.2f} %" for name in ("field", "far_field", "power"))
        shown.add_row(row["name"], f"{row['tetrahedra']:,}", *errors, f"{row['seconds']:.1f}")
    screen.print(shown)
    return rows


def _sphere(body: str, order: int) -> dict[str, Any]:
    length = SPEED / SCATTERING
    radius, k = length / 4, 2 * np.pi / length
    mesh = cal.mesh.layered_ball([radius], [body], 1.25 * length, [length / 10, length / 4])
    boundaries, materials = {"outer": "absorbing"}, {}
    if body == "conductor":
        mesh = cal.mesh.without_part(mesh, body, "metal")
        boundaries["metal"] = "pec"
        exact = cal.exact.mie_pec_sphere(k, radius, impedance=IMPEDANCE)
    else:
        materials[body] = cal.Material(permittivity=PERMITTIVITY)
        exact = cal.exact.mie_dielectric_sphere(k, radius, PERMITTIVITY, impedance=IMPEDANCE)
    wave = cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], SCATTERING)
    simulation = cal.MaxwellDG(mesh, order, "upwind", materials=materials, boundaries=boundaries, sources=[wave])
    began = time.process_time()
    result = simulation.run_until_periodic(SCATTERING, periods=10)
    seconds = time.process_time() - began
    directions = np.random.default_rng(0).standard_normal((PLACES, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    points = 1.4 * radius * directions
    power = exact.scattering_cross_section() / (2 * IMPEDANCE)
    return {
        "name": f"{body} P{order}", "tetrahedra": mesh.number_of_tetrahedra, "seconds": seconds,
        "field": _error(result.electric(points), exact.electric(points)),
        "far_field": _error(result.far_field(directions), exact.far_field(directions)),
        "power": result.radiated_power() / power - 1,
    }  # fmt: skip


def _heads(screen: Console, only: str) -> list[dict[str, Any]]:
    columns = ("", "h, air h (mm)", "tetrahedra", *TISSUES, "sum", "field inside", "processor s")
    shown = results.table(
        "head of four layers, 900 MHz, air to 0.4 m, centred, single: errors of absorbed power", columns
    )
    rows = [_head(order, h, air) for order, h, air in HEADS if only in f"head P{order}"]
    for row in rows:
        errors = (f"{100 * each:.2f} %" for each in (*row["powers"], row["sum"], row["field"]))
        sizes = f"{1e3 * row['h']:.0f}, {1e3 * row['air_h']:.0f}"
        shown.add_row(f"head P{row['order']}", sizes, f"{row['tetrahedra']:,}", *errors, f"{row['seconds']:.0f}")
    screen.print(shown)
    return rows


def _head(order: int, h: float, air: float) -> dict[str, Any]:
    mesh = cal.mesh.layered_ball(HEAD, list(TISSUES), 0.4, [*len(HEAD) * [h], air])
    simulation = cal.MaxwellDG(
        mesh, order, materials=TISSUES, boundaries={"outer": "absorbing"}, precision="single",
        sources=[cal.TransientPlaneWave([0, 0, 1], [1, 0, 0], HEAD_FREQUENCY)],
    )  # fmt: skip
    began = time.process_time()
    result = simulation.run_until_periodic(HEAD_FREQUENCY, periods=8)
    seconds = time.process_time() - began
    exact = cal.exact.layered_sphere(HEAD, TISSUES, HEAD_FREQUENCY)
    absorbed, power = result.absorbed_power(), exact.absorbed_power_by_layer()
    along = np.linspace(-0.07, 0.07, 5)
    points = np.concatenate([np.outer(along, axis) for axis in np.eye(3)])
    return {
        "order": order, "h": h, "air_h": air, "tetrahedra": mesh.number_of_tetrahedra, "seconds": seconds,
        "powers": [absorbed[name] / each - 1 for name, each in zip(TISSUES, power, strict=True)],
        "sum": sum(absorbed.values()) / power.sum() - 1,
        "field": _error(result.electric(points), exact.electric(points)),
    }  # fmt: skip


def _error(found: Any, exact: Any) -> float:
    """Root of the mean square, relative."""
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
