"""Costs of bodies that vibrate, next to rigid ones, and of mirror planes, next to the whole: spheres by Burton-Miller.

A sphere that vibrates along z against the rigid one of a plane wave, whole solutions of k a = 10 and 4098 unknowns; and
an eighth of a sphere with three planes against the whole of 10,002 unknowns, matrices of k a = 15 or 10.
Each is a process of its own, which has solved a coarse problem of the same kind before: nothing is compiled meanwhile.
"""

import time
from argparse import Namespace
from typing import Any

from rich.console import Console

import calderon as cal
from benchmarks.common.machine import Floor
from benchmarks.common.processes import apart, peak_bytes
from benchmarks.common.spheres import octahedral_sphere

WAVENUMBER, TRIANGLES = 10.0, 8192
"""The sphere that vibrates."""
MIRRORED_WAVENUMBERS, MIRRORED_TRIANGLES, RTOL = {"dense": 15.0, "mlfmm": 10.0}, 20_000, 1e-3
"""The whole of the sphere with planes, and the tolerance of its compressed matrix."""
COARSE, METHODS = 512, ("dense", "mlfmm")
AIR = cal.Fluid(1.2, 343.0)


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Both comparisons by each method; processor seconds are the least of --repeat runs."""
    rows = []
    for function, name in ((vibrating, "vibrating"), (mirrored, "mirrors")):
        for method in METHODS:
            if options.only and options.only not in f"{name} {method}":
                continue
            pair = [apart(function, each, method, options.repeat) for each in (False, True)]
            rows += pair
            for each in pair:
                ratios = {key: each[key] / pair[0][key] for key in ("cpu", "bytes", "peak")}
                screen.print(
                    f"{each['what']}, {method}: {each['unknowns']} unknowns, {each['cpu']:.2f} CPU s "
                    f"({ratios['cpu']:.2f}), matrix {each['bytes'] / 1e6:.1f} MB ({ratios['bytes']:.3f}), "
                    f"peak {each['peak'] / 1e6:.0f} MB ({ratios['peak']:.2f})"
                )
    return {"rows": rows}


def vibrating(moves: bool, method: str, repeat: int) -> dict[str, Any]:
    """Figures of the whole solution of a sphere, with the wave that a rigid one scatters or with a velocity."""

    def solved(triangles: int) -> Any:
        mesh, k = octahedral_sphere(triangles), WAVENUMBER * min(1.0, (triangles / TRIANGLES) ** 0.5)
        conditions = cal.Velocity.rigid([0, 0, 1.0]) if moves else cal.Rigid()
        problem = cal.AcousticProblem(mesh, k, fluid=AIR, conditions=conditions)
        problem.solve(None if moves else cal.PlaneWave([0, 0, 1.0], k), method=method, progress=False)
        return problem

    what = "sphere that vibrates" if moves else "rigid sphere"
    return _figures(what, method, repeat, solved, TRIANGLES, lambda problem: problem.system.matrix.nbytes)


def mirrored(by_part: bool, method: str, repeat: int) -> dict[str, Any]:
    """Figures of the matrix of a sphere, of the whole or of an eighth with three even planes."""
    given: dict[str, Any] = {"rtol": RTOL} if method == "mlfmm" else {}
    matrices, wavenumber = list[Any](), MIRRORED_WAVENUMBERS[method]

    def assembled(triangles: int) -> Any:
        whole, k = octahedral_sphere(triangles), wavenumber * (triangles / MIRRORED_TRIANGLES) ** 0.5
        part = cal.TriangleMesh(whole.vertices, whole.triangles[(whole.centroids > 0).all(axis=1)])
        mesh, mirrors = (part, dict.fromkeys("xyz", "even")) if by_part else (part.mirrored("xyz"), None)
        problem = cal.AcousticProblem(mesh, k, fluid=AIR, conditions=cal.Velocity(1.0), mirrors=mirrors)
        matrices.clear()
        matrices.append(problem.system.operator.assemble(method, progress=False, **given))
        return problem

    what = "an eighth of a sphere with three planes" if by_part else "the whole sphere"
    return _figures(what, method, repeat, assembled, MIRRORED_TRIANGLES, lambda problem: matrices[0].nbytes)


def _figures(what: str, method: str, repeat: int, run: Any, triangles: int, nbytes: Any) -> dict[str, Any]:
    """Unknowns, the least processor seconds, bytes of the matrix, and what the first run added to the largest memory of
    the process."""
    run(COARSE)
    before, peak, cpu = peak_bytes(), 0, []
    for _ in range(repeat):
        began = time.process_time()
        problem = run(triangles)
        cpu.append(time.process_time() - began)
        peak = peak or peak_bytes() - before
    found = {"unknowns": problem.unknowns, "cpu": min(cpu), "bytes": int(nbytes(problem)), "peak": peak}
    return {"what": what, "method": method, **found}
