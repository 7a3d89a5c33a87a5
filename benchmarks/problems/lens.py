"""A lens of 33 x 33 Jerusalem crosses for 12 GHz on a grounded board, by pre-corrected FFT: about 90,000 unknowns.

Crosses of 3 to 12 mm in squares of 12.5 mm, arms of 1 mm, caps 0.4 of the length, eps_r 2.2, 3.175 mm. The mesh has one
cell across the arms, as those of the published lens (85,849 unknowns), for which phases are computed with the same one.
"""

import resource
import time
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor, best_of
from calderon.floquet import voltages
from calderon.mesh.planar.grid import cells_of, cells_within

BOARD = cal.Stack([cal.Layer(3.175e-3, eps_r=2.2)], below="pec")
FREQUENCY, PITCH, FOCUS, ARM, COUNT = 12e9, 12.5e-3, 0.3, 1e-3, 33
RTOL = 1e-5


def cross(size: float) -> cal.TriangleMesh:
    """One cell across arms and caps, at most two millimetres along them; sizes are whole micrometres, so that lines
    of the mesh coincide or are apart."""
    size = round(size, 6)
    caps = max(ARM, min(0.4 * size, size - 2 * ARM - 1e-9))
    marks = [ARM / 2, size / 2 - ARM, size / 2] + ([caps / 2] if caps > ARM else [])
    places = np.unique(np.round([*marks, *(-each for each in marks)], 8))
    lines = [places[:1]]
    for low, high in zip(places[:-1], places[1:], strict=True):
        lines.append(np.linspace(low, high, 1 + (1 if high - low <= ARM else cells_of(high - low, 2e-3)))[1:])
    metal = [(-size / 2, size / 2, -ARM / 2, ARM / 2)]
    if caps > ARM:
        metal += [(size / 2 - ARM, size / 2, -caps / 2, caps / 2), (-size / 2, ARM - size / 2, -caps / 2, caps / 2)]
    along = np.concatenate(lines)
    return cells_within(metal + [(*each[2:], *each[:2]) for each in metal], along, along, BOARD.top)


def lens_of(count: int) -> cal.ReflectArray:
    """The lens of so many crosses a side, three at least."""
    count = max(3, count)
    return cal.ReflectArray(cross, np.linspace(3e-3, 12e-3, 19), PITCH, (count, count), BOARD, FREQUENCY, FOCUS)


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Set-up, product, solution and focus; --triangles: of about so many triangles."""
    lens = lens_of(COUNT if options.triangles is None else round((options.triangles / 60) ** 0.5))
    screen.print(str(lens))
    space = cal.RWG(lens.mesh)
    operator = cal.layered_electric_field(BOARD, FREQUENCY, space)
    began, processor = time.perf_counter(), time.process_time()
    matrix = operator.assemble("fft", spacing=PITCH / 12, near=PITCH / 2)
    record = {
        "unknowns": space.dimension,
        "phase_error_degrees": float(np.degrees(lens.phase_error)),
        "set_up_seconds": time.perf_counter() - began,
        "set_up_processor_seconds": time.process_time() - processor,
        "near_entries_a_row": matrix.near.nnz / space.dimension,
        "matrix_bytes": matrix.nbytes,
        "product_error": matrix.error,
    }
    x = np.random.default_rng(0).standard_normal(space.dimension) + 0j
    record["product_seconds"] = best_of(options.repeat, lambda: matrix @ x)
    began = time.perf_counter()
    blocks = cal.fft.cell_inverse(matrix)
    record["blocks_seconds"] = time.perf_counter() - began
    sections = BOARD.at(FREQUENCY)
    line = voltages(sections, np.zeros(1), BOARD.top, BOARD.top)[0, 0]  # reflection of the board 2 V - 1
    began = time.perf_counter()
    current, info = cal.gmres(matrix, -2 * line * space.load_vector([1.0, 0.0, 0.0]), rtol=RTOL, preconditioner=blocks)
    record["gmres_seconds"], record["iterations"] = time.perf_counter() - began, info.iterations
    record["peak_bytes"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    moments = matrix.grid.weights.sum(axis=2)[:, :2] * current[:, None]
    record |= focus(matrix.grid.middles, moments, sections, 2 * line - 1)
    table = results.table(f"{lens}, compilation included where it is the first run", ["", ""])
    for name, value in record.items():
        table.add_row(name.replace("_", " "), f"{value:.4g}")
    screen.print(table)
    return record


def focus(places: np.ndarray, moments: np.ndarray, sections: Any, board: complex) -> dict[str, float]:
    """|E| over that of the incident wave at the focus, and widths at half the power in m along x and y."""
    across = np.arange(-0.04, 0.0401, 5e-4)
    at = [
        np.stack([across * (axis == 0), across * (axis == 1), np.full_like(across, FOCUS)], axis=1) for axis in (0, 1)
    ]
    widths, middle = [], len(across) // 2
    for points in at:
        size = np.linalg.norm([field(point, places, moments, sections, board) for point in points], axis=1)
        wide = across[size > size.max() / 2**0.5]
        widths.append(float(np.ptp(wide)))
    return {"focus_over_incident": float(size[middle]), "width_x": widths[0], "width_y": widths[1]}


def field(point: np.ndarray, places: np.ndarray, moments: np.ndarray, sections: Any, board: complex) -> np.ndarray:
    """(3,) E at a point far from each function, by the stationary phase of its waves, and that of the board."""
    d = point[:2] - places
    rho = np.hypot(*d.T) + 1e-12
    R, k0 = np.hypot(rho, point[2]), sections.k0
    e, h = voltages(sections, k0 * rho / R, BOARD.top, BOARD.top)
    wave = 1j * k0 * point[2] / R * np.exp(1j * k0 * R) / (2 * np.pi * R)
    radial, around = (
        wave * e * (moments * d).sum(axis=1) / rho,
        wave * h * (moments[:, 1] * d[:, 0] - moments[:, 0] * d[:, 1]) / rho,
    )
    x, y = (radial * d[:, 0] - around * d[:, 1]) / rho, (radial * d[:, 1] + around * d[:, 0]) / rho
    total = np.array([x.sum(), y.sum(), -(radial * rho / point[2]).sum()])
    return total + [board * np.exp(1j * k0 * point[2]), 0, 0]
