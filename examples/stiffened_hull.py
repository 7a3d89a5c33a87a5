"""A section of a hull of 8 mm steel, stiffened by rings and closed by bulkheads: its echo, and that of a rigid twin.

A plane wave of 400 Hz hits the section from the side. Planes x = 0 and z = 0 are mirrors, so that a quarter is meshed:
a wall of one layer of quadratic tetrahedra, rings of 40 x 30 mm inside of it, bulkheads of 20 mm, and nothing in it.
The hull gives way to the wave, and its echo is another than that of a rigid body of the same shape; a mode in vacuo
shows how it bends between its rings.

Two checks: the power that is scattered and lost is that which the wave loses, by the far field ahead (optical theorem);
and a hull that is 10^5 times as stiff and as heavy scatters as the rigid body, which boundary elements alone compute.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

RADIUS, HALF, WALL, BULKHEAD = 0.5, 0.8, 0.008, 0.02  # m, HALF of the length
RINGS, WIDTH, HEIGHT = (0.2, 0.6), 0.04, 0.03
STEEL = cal.ElasticMaterial(210e9, 0.3, 7850.0, loss_factor=0.02)
WATER = cal.Fluid.water()
MIRRORS = {"x": "even", "z": "even"}


def hull(around: int, along: float) -> cal.TetrahedralMesh:
    """The quarter x > 0, z > 0 of the section: prisms behind the triangles of its surface, and the rings behind these.

    around: edges in half a turn; along: the largest length of triangles of the wall."""
    turn = np.pi / around
    radius = RADIUS * np.sqrt(turn / np.sin(turn))  # the polygon has the area of the circle
    angles = turn * np.arange(around + 1)
    x = [0.0]
    for end in (*(r + s * WIDTH / 2 for r in RINGS for s in (-1, 1)), HALF):
        x += list(np.linspace(x[-1], end, int(np.ceil((end - x[-1]) / along - 1e-9)) + 1)[1:])
    # rows of vertices: along the wall, then the end toward its centre
    rows = [(each, 1.0) for each in x] + [(HALF, 0.5)]
    across = np.stack([0 * angles, np.cos(angles), np.sin(angles)], axis=1)
    outer = np.concatenate([each * np.array([1.0, 0, 0]) + part * radius * across for each, part in rows])
    outer = np.vstack([outer, [HALF, 0, 0]])
    number = np.arange(len(rows) * (around + 1)).reshape(len(rows), -1)
    triangles, ring = [], []
    for n, (low, high) in enumerate(zip(number[:-1], number[1:], strict=True)):
        found = [*zip(low, high, low[1:]), *zip(low[1:], high, high[1:])]  # noqa: B905
        triangles += found
        middle = sum(rows[k][0] for k in (n, n + 1)) / 2
        ring += [rows[n + 1][1] == 1 and bool((np.abs(middle - np.array(RINGS)) < WIDTH / 2).any())] * len(found)
    triangles += [(a, b, len(outer) - 1) for a, b in zip(number[-1], number[-1, 1:])]  # noqa: B905
    ring += [False] * around
    radial = outer * [0, 1, 1] / np.maximum(np.linalg.norm(outer[:, 1:], axis=1), 1e-9)[:, None]
    on_wall = np.isclose(np.linalg.norm(outer[:, 1:], axis=1), radius)
    inner = outer - WALL * np.where(on_wall[:, None], radial, 0) - BULKHEAD * np.isclose(outer[:, :1], HALF) * [1, 0, 0]
    faces, size = np.sort(np.array(triangles), axis=1), len(outer)
    low = np.concatenate([faces, faces[np.array(ring)] + size])
    high = low + size
    # the lower corner of each side of a prism starts its diagonal
    cells = np.concatenate(
        [
            np.column_stack([low, high[:, 2]]),
            np.column_stack([low[:, :2], high[:, 1:]]),
            np.column_stack([low[:, 0], high]),
        ]
    )
    vertices = np.concatenate([outer, inner, inner - HEIGHT * radial])
    used, index = np.unique(cells, return_inverse=True)
    return cal.TetrahedralMesh(vertices[used], index.reshape(-1, 4))


def main(folder: Path, around: int = 10, along: float = 0.18, points: int = 110, frames: int = 12) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    volume, wave = hull(around, along), cal.PlaneWave([0, -1, 0])
    given = {"frequency": 400.0, "fluid": WATER, "mirrors": MIRRORS}
    problem = cal.ElasticScattering(volume, material=STEEL, **given)
    solution = problem.solve(wave)
    print(problem, solution.info, sep="\n")
    twin = cal.SoundHardScattering(problem.mesh, problem.wavenumber, space="P2", mirrors=MIRRORS).solve(wave)
    stiff = cal.ElasticMaterial(1e5 * STEEL.youngs_modulus, STEEL.poissons_ratio, 1e5 * STEEL.density)
    heavy = cal.ElasticScattering(volume, material=stiff, **given).solve(wave)

    angles = np.linspace(-np.pi, np.pi, 361)
    toward = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    far = {name: each.far_field(toward) for name, each in (("hull", solution), ("rigid", twin), ("heavy", heavy))}
    difference = np.abs(far["heavy"] - far["rigid"]).max() / np.abs(far["rigid"]).max()
    intensity = 1 / (2 * WATER.impedance)
    (ahead,) = solution.far_field([[0, -1, 0]])
    lost = 4 * np.pi / problem.wavenumber.real * ahead.imag
    found = solution.scattering_cross_section() + solution.lost_power / intensity
    levels = {name: 20 * np.log10(np.abs(far[name])) for name in ("hull", "rigid")}
    back = {name: float(level[270]) for name, level in levels.items()}
    print(f"echo: {back['hull']:.1f} dB re 1 m, of the rigid body {back['rigid']:.1f} dB")
    print(f"power scattered and lost over that which the wave loses: {found / lost:.4f}")
    print(f"heavy hull: {difference:.1e} apart from the rigid body")
    cal.plots.polar(
        angles, {"steel hull": levels["hull"], "rigid twin": levels["rigid"]}, "dB re 1 m", folder / "echoes.png",
        quantity="target strength",
    )  # fmt: skip

    plane = cal.plots.slice_points([0, 0, 1e-3], [4.4, 0, 0], [0, 3.4, 0], (points * 3 // 4, points))
    walls = cal.plots.section(solution.displacements[0].mesh.surface(), plane)
    for name, each in (("hull", solution), ("rigid_twin", twin)):
        field = each.field(plane.reshape(-1, 3)).reshape(plane.shape[:2])
        figure = cal.plots.field_slice(
            plane, field, each.mesh, "abs", name="p", unit="Pa", incident=[0, -1, 0], limits=(0.0, 2.0)
        )
        if each is solution:
            axes = figure.axes[0]
            lines = np.asarray(walls) + plane[0, 0, :2]
            axes.plot(*lines.transpose(2, 1, 0), color="#1f2933", linewidth=1.0)
        figure.savefig(folder / f"{name}.png", dpi=200)
    solution.write(folder / "hull.vtu")
    solution.surface.write(folder / "surface.vtu")
    mode = next(each for each in problem.modes(6) if each.frequency.real > 250.0)
    title = f"{mode.frequency.real:.0f} Hz, in vacuo"
    cal.plots.vibration(mode.displacements, folder / "mode.gif", title=title, frames=frames)
    assert difference < 1e-3
    assert abs(found / lost - 1) < 0.02
    assert abs(back["hull"] - back["rigid"]) > 3


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
