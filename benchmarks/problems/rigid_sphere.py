"""A rigid sphere of k a = 30, 40,806 unknowns: Burton-Miller by H-matrix, preconditioned on the surface, end to end."""

import resource
import time
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor
from benchmarks.common.spheres import octahedral_sphere

WAVENUMBER, RTOL = 30.0, 1e-4
TRIANGLES = 81_608
"""11 elements per wavelength at k a = 30."""


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Seconds, processor seconds, peak memory, iterations, and the relative error of the far field in the 2-norm."""
    mesh = octahedral_sphere(options.triangles or TRIANGLES)
    mesh = mesh.scaled((4 * np.pi / 3 / mesh.volume) ** (1 / 3))  # the volume of the unit sphere
    k = WAVENUMBER * min(1.0, float(np.sqrt(mesh.number_of_triangles / TRIANGLES)))
    began, used = time.perf_counter(), time.process_time()
    problem = cal.SoundHardScattering(mesh, k)
    wave = cal.PlaneWave(direction=[0, 0, 1], wavenumber=k)
    solution = problem.solve(wave, method="hmatrix", rtol=RTOL, progress=screen.is_terminal)
    theta = np.linspace(0, np.pi, 361)
    directions = np.stack([np.sin(theta), 0 * theta, np.cos(theta)], axis=1)
    far = solution.far_field(directions)
    finished, processor = time.perf_counter(), time.process_time()
    exact = cal.exact.rigid_sphere(k, 1.0).far_field(directions)
    matrix = problem.system.matrix
    record = {
        "triangles": mesh.number_of_triangles,
        "unknowns": problem.unknowns,
        "wavenumber": k,
        "elements_per_wavelength": problem.elements_per_wavelength,
        "rtol": RTOL,
        "iterations": solution.info.iterations,
        "assembly_seconds": solution.info.assembly_seconds,
        "gmres_seconds": solution.info.solve_seconds,
        "seconds": finished - began,
        "processor_seconds": processor - used,
        "far_field_error": float(np.linalg.norm(far - exact) / np.linalg.norm(exact)),
        "matrix_bytes": matrix.nbytes,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "full_blocks": sum(part.full for part in matrix.parts),
    }
    table = results.table(f"rigid sphere, k a = {k:.3g}, H-matrix and OSRC, rtol {RTOL:g}", ["", "value"])
    for name, value in record.items():
        table.add_row(name.replace("_", " "), f"{value:.4g}")
    screen.print(table)
    screen.print(str(matrix), style="dim")
    return record
