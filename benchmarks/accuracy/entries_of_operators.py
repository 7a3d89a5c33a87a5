"""Entries of every integral operator on six small meshes, saved and compared: what a restructuring must not change.

    python benchmarks/accuracy/entries_of_operators.py save FILE [WORD ...]      with the package of the state before
    python benchmarks/accuracy/entries_of_operators.py compare FILE [WORD ...]   with that of the state after

FILE is an archive of matrices by "mesh, operator, precision"; with WORDs those alone whose names hold one of them. The
meshes have touching, near and close pairs, needles, open edges and triangles of different sizes. The largest
differences, relative to the largest entry of a matrix, should be below 1e-13 in double and 1e-6 in single precision;
matrices with larger ones are printed, and the exit status is 1.
"""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import calderon as cal
from calderon.mesh.errors import AccuracyWarning

LIMITS = {"double": 1e-13, "single": 1e-6}
"""The largest difference relative to the largest entry, by precision."""
STEEL = cal.Elastostatic(2.6, 0.3)
BOARD = cal.Stack([cal.Layer(0.3, 2.2 + 0.01j), cal.Layer(0.2, 4.0)], below="pec")


def two_plates() -> Any:
    """Two parallel plates at 1/25 of an edge, of different triangles."""
    lower, upper = cal.mesh.plate((1.0, 1.0), 0.5), cal.mesh.plate((1.0, 1.0), 0.34).translated([0.05, 0.03, 0.02])
    count = lower.number_of_vertices
    return cal.TriangleMesh(
        np.concatenate([lower.vertices, upper.vertices]), np.concatenate([lower.triangles, upper.triangles + count])
    )


def bent(plate: Any) -> Any:
    """A plate with an edge in its middle: integrals with normals do not vanish."""
    return cal.TriangleMesh(plate.vertices + np.abs(plate.vertices[:, :1]) * [0.0, 0.0, 0.4], plate.triangles)


def graded_plate() -> Any:
    """A plate whose triangles shrink toward its middle."""
    plate = cal.mesh.plate((1.0, 1.0), 0.25)
    x, y, z = plate.vertices.T
    return cal.TriangleMesh(np.column_stack([x * np.abs(2 * x) ** 2, y, z]), plate.triangles)


MESHES: dict[str, Callable[[], Any]] = {
    "sphere": lambda: cal.mesh.sphere(1.0, h=0.6),
    "cube": lambda: cal.mesh.cube(1.0, 0.5),
    "plate": lambda: bent(cal.mesh.plate((1.0, 0.6), 0.25)),
    "slender": lambda: bent(cal.mesh.plate((1.0, 0.02), 0.2)),
    "two plates": two_plates,
    "graded": graded_plate,
}


def operators(mesh: Any) -> Iterator[tuple[str, Any]]:
    """(name, operator) of every form with its usual spaces."""
    p0, p1, waves = cal.P0(mesh), cal.P1(mesh), cal.Helmholtz(2.0)
    layers = {"V": cal.single_layer, "K": cal.double_layer, "K'": cal.adjoint_double_layer}
    for name, green in (("laplace", cal.Laplace()), ("helmholtz", waves)):
        for layer, build in layers.items():
            yield f"{name} {layer} P0", build(green, p0)
            yield f"{name} {layer} P1", build(green, p1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)  # terms along the boundary are not the question
            yield f"{name} W P1", cal.hypersingular(green, p1)
    for layer, build in layers.items():
        yield f"helmholtz {layer} P1 P0", build(waves, p1, p0)
    yield "modified helmholtz K P1", cal.double_layer(cal.ModifiedHelmholtz(2.0), p1)
    yield "lossy helmholtz K P1", cal.double_layer(cal.Helmholtz(2.0 + 0.5j), p1)
    rwg = cal.RWG(mesh)
    yield "electric", cal.electric_field(2.0, rwg)
    yield "vector potential", cal.electric_field(2.0, rwg, charges=False)
    yield "magnetic", cal.magnetic_field(2.0, rwg)
    yield "magnetic SNC", cal.magnetic_field(2.0, rwg, cal.SNC(mesh))
    vectors0, vectors1 = cal.P0(mesh, components=3), cal.P1(mesh, components=3)
    for layer, build in layers.items():
        yield f"elastic {layer} P0", build(STEEL, vectors0)
        yield f"elastic {layer} P1", build(STEEL, vectors1)
        yield f"elastic {layer} P1 P0", build(STEEL, vectors1, vectors0)
    if np.ptp(mesh.vertices[:, 2]) == 0:
        flat = cal.TriangleMesh(mesh.vertices * [1, 1, 0] + [0, 0, 0.3], mesh.triangles)
        yield "layered", cal.layered_electric_field(BOARD, 3e8, cal.RWG(flat))
        if mesh.number_of_triangles < 40:
            upright = cal.TriangleMesh(flat.vertices[:, [0, 2, 1]] * [1, 1, 0.2] + [0, 0, 0.15], flat.triangles)
            yield "layered vertical", cal.layered_electric_field(BOARD, 3e8, cal.RWG(upright))


def matrices(chosen: list[str]) -> Iterator[tuple[str, Any]]:
    """(name, matrix) of all of them whose name holds one of the given texts, all for none."""
    for mesh_name, build in MESHES.items():
        mesh = build()
        for name, operator in operators(mesh):
            for precision in ("double",) if "layered" in name else LIMITS:
                label = f"{mesh_name}, {name}, {precision}"
                if not chosen or any(word in label for word in chosen):
                    start = time.process_time()
                    yield label, operator.assemble(precision=precision).to_array()
                    if (spent := time.process_time() - start) > 5.0:
                        print(f"{label}: {spent:.1f} CPU s", flush=True)


def compare(path: str, chosen: list[str]) -> int:
    """Print the largest difference by precision and what is above its limit; how many are."""
    worst, failed, count = dict.fromkeys(LIMITS, 0.0), 0, 0
    with np.load(path) as saved:
        for label, matrix in matrices(chosen):
            if label not in saved:
                print(f"{label}: not saved")
                continue
            precision, expected = label.rsplit(", ", 1)[1], saved[label]
            difference = float(np.abs(matrix - expected).max() / (np.abs(expected).max() or 1.0))
            worst[precision], count = max(worst[precision], difference), count + 1
            if not difference <= LIMITS[precision]:
                failed += 1
                print(f"{label}: {difference:.2e}", flush=True)
    print(f"{count} matrices, {failed} above the limit; largest difference", worst)
    return failed


def main(command: str, path: str, *wanted: str) -> int:
    """Save or compare."""
    print(cal.__file__)
    if command == "compare":
        return min(1, compare(path, list(wanted)))
    np.savez(path, **dict(matrices(list(wanted))))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
