"""Static fields whose bodies meet in junctions, heads and ions, with known answers: rows of static_checks.py."""

import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import eval_legendre

import calderon as cal
from benchmarks.common.spheres import octahedral_sphere

EPS0 = cal.exact.VACUUM_PERMITTIVITY
HEAD = [0.87, 0.92, 1.0], [0.33, 0.0042, 0.33]
"""Radii and conductivities of brain, skull and scalp."""
DEPTHS = 0.5, 0.7, 0.84
FINE = 0.115
"""Mean edge of the head that OpenMEEG solves, too."""
CHARGES = [([0, 0, 1.0], 1e-9), ([0, 0, -1.0], -1e-9), ([0.5, 0.8, 0], 1e-9)]
Measured = tuple[int, float]


def half_filled(folder: Path) -> Measured:
    """A spherical capacitor, 1 and 2, of permittivity 1 in its upper and 8 in its lower half: capacitance."""
    n, regions, parts = 12, {}, {}
    ball = octahedral_sphere(8 * n * n)
    ball = ball.scaled((4 * np.pi / 3 / ball.volume) ** (1 / 3))
    equator = ball.vertices[np.abs(ball.vertices[:, 2]) < 1e-9]
    equator = equator[np.argsort(np.arctan2(equator[:, 1], equator[:, 0]))]
    rings, count = n // 2, len(equator)
    points = np.concatenate([equator * r for r in np.linspace(1, 2, rings + 1)])
    quads = [(k * count + i, k * count + (i + 1) % count) for k in range(rings) for i in range(count)]
    parts["disc"] = cal.TriangleMesh(
        points, [t for a, b in quads for t in ((a, b, a + count), (b, b + count, a + count))]
    )
    for half, sign, eps in (("upper", 1, 1.0), ("lower", -1, 8.0)):
        own = ball.triangles[sign * ball.centroids[:, 2] > 0]
        for name, radius in (("inner", 1.0), ("outer", 2.0)):
            parts[f"{half} {name}"] = cal.TriangleMesh(radius * ball.vertices, own)
        regions[half] = cal.Region([f"{half} inner", f"{half} outer", "disc"], permittivity=eps)
    metal = {name: [f"upper {name}", f"lower {name}"] for name in ("inner", "outer")}
    problem = cal.StaticProblem(cal.mesh.joined(parts), regions, metal, outside=None)
    found = problem.capacitance_matrix().sel(row="inner", column="inner").item()
    return problem.unknowns, abs(found / (2 * np.pi * EPS0 * 9.0 * 2.0) - 1)


def _graded(low: float, high: float, cells: int) -> Any:
    """Points (cells + 1,) of an interval, closer to its ends with the square of their number."""
    t = np.linspace(-1, 1, cells + 1)
    return low + (high - low) * (1 + np.sign(t) * (1 - (1 - np.abs(t)) ** 2)) / 2


def _face(u: Any, v: Any, axis: int, level: float) -> cal.TriangleMesh:
    """A rectangle across an axis with vertices at coordinates u and v."""
    rows, columns = np.meshgrid(u, v, indexing="ij")
    vertices = np.insert(np.stack([rows.ravel(), columns.ravel()], axis=1), axis, level, axis=1)
    k = np.arange(rows.size).reshape(rows.shape)
    a, b, c, d = (each.ravel() for each in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
    return cal.TriangleMesh(vertices, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]))


@lru_cache(maxsize=2)
def _on_silicon(cells: int, around: int) -> tuple[int, Any]:
    """Unknowns, and the capacitances of a pad of 0.5 by 0.5 on a block of silicon of 2 by 2 by 0.5 with metal all over
    its lower face, over eps0; cells along the pad and the height, and around the pad, graded toward all edges."""
    pieces = [_graded(-1, -0.25, around), _graded(-0.25, 0.25, cells), _graded(0.25, 1, around)]
    x = np.concatenate([pieces[0], pieces[1][1:], pieces[2][1:]])
    z = _graded(0, 0.5, cells)
    faces = {"upper": _face(x, x, 2, 0.5), "ground": _face(x, x, 2, 0.0)}
    faces |= {f"{axis} {side}": _face(x, z, axis, side) for axis in (0, 1) for side in (-1, 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cal.MeshWarning)  # of faces that are turned
        whole = cal.mesh.joined(faces)
    pad = (whole.tags == whole.names["upper"]) & (np.abs(whole.centroids[:, :2]) < 0.25).all(axis=1)
    tags = pad + 2 * (whole.tags == whole.names["ground"])
    mesh = cal.TriangleMesh(whole.vertices, whole.triangles, tags, {"free": 0, "pad": 1, "ground": 2})
    silicon = {"silicon": cal.Region(["free", "pad", "ground"], permittivity=11.7)}
    problem = cal.StaticProblem(mesh, silicon, {"pad": "pad", "ground": "ground"})
    return problem.unknowns, problem.capacitance_matrix().values / EPS0


def silicon_meshes(folder: Path) -> Measured:
    """The capacitance of the pad by two meshes from each other."""
    _on_silicon.cache_clear()  # the time of the first row is that of both
    (_, coarse), (unknowns, fine) = (_on_silicon(*cells) for cells in ((4, 6), (6, 8)))
    return unknowns, float(abs(coarse[0, 0] / fine[0, 0] - 1))


def silicon_symmetry(folder: Path) -> Measured:
    """C_12 from C_21."""
    unknowns, found = _on_silicon(4, 6)
    return unknowns, float(abs(found[0, 1] / found[1, 0] - 1))


def kirkwood(kappa: float, given: list[Any]) -> Callable[[Path], Measured]:
    """Charges in a ball of permittivity 4 in salt water: energy of what the water reflects, by the series of J. G.
    Kirkwood, J. Chem. Phys. 2 (1934), 351."""

    def solve(folder: Path) -> Measured:
        radius, inner, outer = 2.0, 4.0, 80.0
        water = cal.Region(permittivity=outer, debye_length=1 / kappa if kappa else None)
        problem = cal.StaticProblem(
            cal.mesh.sphere(radius, 0.4), {"ball": cal.Region("all", permittivity=inner)}, outside=water
        )
        found = problem.solve(sources=[cal.PointCharge(*each) for each in given]).solvation_energy
        x, ratio, total = kappa * radius, 1.0, 0.0
        places, charges = (np.array(each) for each in zip(*given, strict=True))
        sizes = np.linalg.norm(places, axis=1)
        cosines = np.clip(places @ places.T / np.maximum(np.outer(sizes, sizes), 1e-300), -1, 1)
        for n in range(60):
            slope = -(x * ratio + n + 1)  # r k_n' / k_n of modified spherical Bessel functions
            factor = (outer * slope + inner * (n + 1)) / (inner * n - outer * slope)
            powers = np.outer(sizes, sizes) ** n / radius ** (2 * n + 1)
            total += factor * charges @ (powers * eval_legendre(n, cosines)) @ charges
            ratio = 1 / (ratio + (2 * n + 1) / x) if x else 0.0
        return problem.unknowns, abs(found / (total / (8 * np.pi * EPS0 * inner)) - 1)

    return solve


def head_meshes(h: float) -> list[cal.TriangleMesh]:
    """Brain, skull and scalp."""
    return [cal.mesh.sphere(r, h) for r in HEAD[0]]


@lru_cache(maxsize=1)
def solved_head(h: float) -> tuple[int, list[Any], Any]:
    """Unknowns, the potentials of the scalp for dipoles at DEPTHS, and the points there."""
    meshes, names = head_meshes(h), ["brain", "skull", "scalp"]
    mesh = cal.mesh.joined(dict(zip(names, meshes, strict=True)))
    regions = {name: cal.Region(names[max(0, n - 1) : n + 1], conductivity=HEAD[1][n]) for n, name in enumerate(names)}
    problem = cal.StaticProblem(mesh, regions, outside=None)
    given = [{"sources": [cal.StaticDipole([0, 0, z], [0, 0, 1.0])]} for z in DEPTHS]
    nodes = problem.function_space.nodes
    scalp = np.flatnonzero(np.linalg.norm(nodes, axis=1) > 0.96)
    return problem.unknowns, [each.surface.coefficients[scalp] for each in problem.solve_all(given)], nodes[scalp]


def head(h: float, depth: float, what: str) -> Callable[[Path], Measured]:
    """Three shells with a dipole: RDM, or MAG - 1, of the potentials of the scalp."""

    def solve(folder: Path) -> Measured:
        if what == "RDM" and depth == DEPTHS[0]:
            solved_head.cache_clear()  # the time of the first row is that of all of them
        unknowns, found, points = solved_head(h)
        exact = cal.exact.layered_head(*HEAD, [0, 0, depth], [0, 0, 1.0], points)
        u, v = (each - each.mean() for each in (found[DEPTHS.index(depth)], exact))
        sizes = np.linalg.norm(u), np.linalg.norm(v)
        error = np.linalg.norm(u / sizes[0] - v / sizes[1]) if what == "RDM" else abs(sizes[0] / sizes[1] - 1)
        return unknowns, float(error)

    return solve


def openmeeg_head(folder: Path) -> Measured:
    """The head that OpenMEEG solves, too: RDM at half of the radius."""
    meshes = head_meshes(FINE)
    points = meshes[2].vertices
    arrays = {f"v{n}": each.vertices for n, each in enumerate(meshes)}
    arrays |= {f"t{n}": each.triangles for n, each in enumerate(meshes)}
    exact = cal.exact.layered_head(*HEAD, [0, 0, DEPTHS[0]], [0, 0, 1.0], points)
    np.savez(folder / "head.npz", exact=exact, **arrays)
    return head(FINE, DEPTHS[0], "RDM")(folder)


def steps(eps: float) -> Callable[[Path], Measured]:
    """GMRES steps to 1e-6 of a coated ball."""

    def solve(folder: Path) -> Measured:
        mesh = cal.mesh.joined({"ball": cal.mesh.sphere(1.0, 0.2), "coat": cal.mesh.sphere(1.5, 0.3)})
        problem = cal.StaticProblem(mesh, {"coat": cal.Region(["ball", "coat"], permittivity=eps)}, {"ball": "ball"})
        info = problem.solve({"ball": 1.0}, method="dense", solver="gmres", rtol=1e-6, progress=False).info
        return problem.unknowns, float(info.iterations)

    return solve


ROWS: dict[str, tuple[Callable[[Path], Measured], str]] = {
    "half-filled capacitor, 2,880 triangles": (half_filled, ""),
    "pad on silicon, grading 2, two meshes": (silicon_meshes, ""),
    "pad on silicon, C_12 and C_21": (silicon_symmetry, ""),
    **{f"Kirkwood, kappa {kappa:g}": (kirkwood(kappa, CHARGES), "") for kappa in (0.0, 0.125, 1.0)},
    **{f"Born, kappa {kappa:g}": (kirkwood(kappa, [([0, 0, 0], 1e-9)]), "") for kappa in (0.0, 0.125, 1.0)},
    **{
        f"head, h = 0.16, {what} at {depth:g}": (head(0.16, depth, what), "")
        for what in ("RDM", "MAG") for depth in DEPTHS
    },
    **{f"GMRES steps, coat of permittivity {eps:g}": (steps(eps), "") for eps in (1e-3, 1.0, 1e6)},
    "fine head, RDM at half of the radius": (openmeeg_head, "openmeeg"),
    "fine head, MAG at half of the radius": (head(FINE, DEPTHS[0], "MAG"), "openmeeg-magnitude"),
}  # fmt: skip
