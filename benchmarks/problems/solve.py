"""A rigid sphere by Burton and Miller, end to end, against the series: k a = 10, 4098 unknowns by default."""

import time
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor
from benchmarks.common.spheres import octahedral_sphere

WAVENUMBER, RTOL = 10.0, 1e-5


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Assembly, GMRES and far field, in seconds, with the relative error of the far field."""
    mesh = octahedral_sphere(options.triangles or 8192)
    k = min(WAVENUMBER, 0.6 / mesh.mean_edge_length)  # limited to what a coarse mesh resolves
    began = time.perf_counter()
    space, green, eta = cal.P1(mesh), cal.Helmholtz(k), 1j / k
    wave = cal.PlaneWave(direction=[0, 0, 1], wavenumber=k)
    double_layer, hypersingular = cal.double_layer(green, space), cal.hypersingular(green, space)
    matrix = (0.5 * cal.identity(space) - double_layer + eta * hypersingular).assemble()
    assembled = time.perf_counter()
    rhs = space.load_vector(lambda x, n: wave(x) + eta * wave.normal_derivative(x, n))
    solution, info = cal.gmres(matrix, rhs, rtol=RTOL)
    solved = time.perf_counter()
    theta = np.linspace(0, np.pi, 181)
    directions = np.stack([np.sin(theta), 0 * theta, np.cos(theta)], axis=1)
    far = cal.double_layer_potential(green, cal.Function(space, solution)).far_field(directions)
    finished = time.perf_counter()
    exact = cal.exact.rigid_sphere(k, 1.0).far_field(directions)
    record = {
        "triangles": mesh.number_of_triangles,
        "unknowns": space.dimension,
        "wavenumber": k,
        "iterations": info.iterations,
        "assembly_seconds": assembled - began,
        "gmres_seconds": solved - assembled,
        "far_field_seconds": finished - solved,
        "seconds": finished - began,
        "far_field_error": float(np.linalg.norm(far - exact) / np.linalg.norm(exact)),
        "matrix_bytes": matrix.nbytes,
    }
    title = f"rigid sphere, k a = {k:.3g}, {space.dimension} unknowns, compilation included where it is the first run"
    table = results.table(title, ["", "value"])
    for name, value in record.items():
        table.add_row(name.replace("_", " "), f"{value:.4g}")
    screen.print(table)
    return record
