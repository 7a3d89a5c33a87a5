"""Plane-wave products: sums over points next to fmm3dpy where it is installed, operators of spheres next to H-matrices.

Sums are timed whole, with tree, degrees, lists and the check at 64 points, in seconds of processor time; errors are
those at 100 points. Operators: set-up, a product, eight columns, bytes, measured error.
"""

import importlib
import time
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common.machine import Floor
from benchmarks.fmm import COLUMNS, least
from calderon.mlfmm.sums import direct_sums
from calderon.products.direct_sums import Kinds

POINTS = 100_000
SUMS = (
    (1.0, 1e-4), (20.0, 1e-3), (20.0, 5e-4), (20.0, 2e-4), (20.0, 1e-5), (60.0, 1e-3), (60.0, 2e-4), (60.0, 1e-5),
    (200.0, 1e-3), (354.0, 1e-3),
)  # fmt: skip
"""Wavenumber times the diameter of the sphere, and tolerance."""
PEER = 1e-3
"""eps of fmm3dpy, which gives errors of 1e-4."""
WAVENUMBERS = 12.6, 20.0, 37.7
"""Wavenumbers of unit spheres with ten elements a wavelength."""
RTOL = 1e-3


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Sums over points, then operators of sound-hard and of conducting spheres."""
    found: dict[str, Any] = {}
    for size, rtol in SUMS:
        name = f"sums kD {size:g} {rtol:g}"
        if not options.only or options.only in name:
            found[name] = _sums(screen, name, size, rtol, options.repeat)
    for wavenumber in WAVENUMBERS:
        for kind in ("sound-hard", "conductor"):
            for method in ("mlfmm", "hmatrix"):
                name = f"{kind} ka {wavenumber:g} {method}"
                if not options.only or options.only in name:
                    found[name] = _operator(screen, name, kind, wavenumber, method, options.repeat)
    return found


def _sums(screen: Console, name: str, size: float, rtol: float, repeat: int) -> dict[str, Any]:
    random = np.random.default_rng(5)
    points = random.standard_normal((POINTS, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    charges, k = random.standard_normal(POINTS) + 1j * random.standard_normal(POINTS), size / 2
    chosen = random.choice(POINTS, 100, replace=False)
    alone = Kinds(charges=True, dipoles=False, gradient=False)
    exact = direct_sums(points, points[chosen], charges[:, None, None], complex(k), alone)[:, 0, 0]
    sums = cal.helmholtz_sums(points, charges, k, rtol=rtol)
    error = float(np.linalg.norm(sums.potential[chosen] - exact) / np.linalg.norm(exact))
    cpu, wall = least(lambda: cal.helmholtz_sums(points, charges, k, rtol=rtol), repeat)
    row = {"points": POINTS, "cpu": cpu, "wall": wall, "error": error, "levels": sums.info.levels}
    text = f"{name}: {cpu:.2f} CPU s, error {error:.1e}, {sums.info.levels} levels"
    try:
        peer = importlib.import_module("fmm3dpy")
    except ImportError:
        peer = None
    if peer is not None:
        places = np.ascontiguousarray(points.T)
        other = peer.hfmm3d(eps=PEER, zk=k + 0j, sources=places, charges=charges, pg=1).pot
        error = min(float(np.linalg.norm(other[chosen] * f - exact) / np.linalg.norm(exact))
                    for f in (1.0, 1 / (4 * np.pi)))  # fmt: skip
        seconds, _ = least(lambda: peer.hfmm3d(eps=PEER, zk=k + 0j, sources=places, charges=charges, pg=1), repeat)
        row["peer"] = {"cpu": seconds, "error": error}
        text += f"; fmm3dpy {seconds:.2f} CPU s, error {error:.1e}: {seconds / cpu:.1f} times"
    screen.print(text)
    return row


def _operator(screen: Console, name: str, kind: str, k: float, method: str, repeat: int) -> dict[str, Any]:
    mesh, green = cal.mesh.sphere(radius=1.0, h=2 * np.pi / k / 10), cal.Helmholtz(k)
    if kind == "sound-hard":
        space = cal.P1(mesh)
        operator = 0.5 * cal.identity(space) - cal.double_layer(green, space)
        operator = operator + (1j / k) * cal.hypersingular(green, space)
    else:
        edges = cal.RWG(mesh)
        operator = -0.5 * cal.electric_field(green, edges)
        operator = operator - 0.5 * cal.magnetic_field(green, edges, cal.dual_tests(edges))
    started = time.process_time()
    matrix = operator.assemble(method, rtol=RTOL, precision="single")
    setup = time.process_time() - started
    size = operator.shape[1]
    x = np.random.default_rng(0).standard_normal((size, COLUMNS)).astype(np.complex64)
    one, _ = least(lambda: matrix @ x[:, 0], repeat)
    several, _ = least(lambda: matrix @ x, repeat)
    each = matrix.nbytes / size
    screen.print(
        f"{name}: {size} unknowns, set-up {setup:.1f} CPU s, product {one:.3f} CPU s, {COLUMNS} columns "
        f"{several / one:.1f} times, {each / 1000:.1f} KB an unknown"
    )
    return {"unknowns": size, "setup": setup, "product": one, "columns": several / one, "bytes": each,
            "error": getattr(matrix, "error", None)}  # fmt: skip
