"""A patch on a finite board, fed by a probe: its resonance, and what the edges of the board do to the pattern.

The patch of 57 x 38 mm of `patch_antenna` is on a board of 80 x 99 mm instead of an infinite one, of 3.175 mm with the
permittivity 2.33 (Rogers RT/duroid 5870). The probe is a wire in the board, from the ground to the patch. Checked are
the resonance against that of the infinite board and of another moment method, 2.358 GHz, and that what the port accepts
is radiated or heats the board.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

HEIGHT, PROBE, RADIUS = 3.175e-3, -8e-3, 0.2e-3
RESONANCE = 2.358e9
X = np.array([19.0, 18.3, 16.0, 8.0, 0.0]) * 1e-3
"""Lines of half of the mesh along the patch, narrow cells at its edge, one line through the probe."""
Y = np.array([28.5, 26.5, 14.0, 0.0]) * 1e-3
BORDERS = np.array([21.0, 8.0, 1.5]) * 1e-3, np.array([21.0, 7.0]) * 1e-3
"""Further lines along x and y, from the edge of the patch."""


def board() -> cal.TriangleMesh:
    """The surface of the board on lines along x and y, with the tags of its metal."""
    lines = []
    for half, border in zip((X, Y), BORDERS, strict=True):
        outer = np.concatenate([half[0] + border, half])
        lines.append(np.concatenate([-outer, outer[-2::-1]]))
    cells = [len(each) - 1 for each in lines]
    mesh = cal.mesh.cuboid((*cells, 1), 1.0)
    places = [
        np.interp(mesh.vertices[:, axis] + cells[axis] / 2, np.arange(cells[axis] + 1), lines[axis])
        for axis in range(2)
    ]
    vertices = np.stack([*places, HEIGHT * (mesh.vertices[:, 2] + 0.5)], axis=1)
    x, y, z = vertices[mesh.triangles].mean(axis=1).T
    patch = (z > 0.99 * HEIGHT) & (abs(x) < X[0]) & (abs(y) < Y[0])
    tags = np.where(patch, 1, np.where(z < 0.01 * HEIGHT, 2, 0))
    return cal.TriangleMesh(vertices, mesh.triangles, tags, {"board": 0, "patch": 1, "ground": 2})


def antenna(frequency: float = RESONANCE) -> cal.MaxwellProblem:
    """The patch, fed between the ground and the probe."""
    metal = cal.Metal("air", "substrate")
    return cal.MaxwellProblem(
        board(),
        regions={"air": cal.Material(), "substrate": cal.Material(2.33, loss_tangent=0.0012)},
        surfaces={"board": cal.Interface("air", "substrate"), "patch": metal, "ground": metal},
        wires=cal.Wire([[PROBE, 0, 0], [PROBE, 0, HEIGHT]], RADIUS),
        ports=cal.WireGap([PROBE, 0, 0], [0, 0, 1]),
        frequency=frequency,
    )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    problem = antenna()
    print(problem)
    sweep = problem.sweep(2.2e9, 2.5e9, points=121)
    (resonance,) = sweep.resonances()
    infinite = cal.Stack([cal.Layer(HEIGHT, eps_r=2.33, tan_delta=0.0012)], below="pec")
    other = cal.PlanarProblem(
        infinite, cal.planar.patch(57e-3, 38e-3, h=7e-3, z=HEIGHT), ports=[cal.ProbePort((PROBE, 0.0), radius=RADIUS)]
    ).sweep(2.2e9, 2.5e9, points=121)
    (expected,) = other.resonances()
    print(f"resonance {resonance}, of the infinite board {expected}; {sweep.solves} solves")
    gigahertz = sweep.frequencies / 1e9
    curves = {name: 20 * np.log10(abs(each.s[:, 0, 0])) for name, each in (("80 x 99 mm", sweep), ("infinite", other))}
    cal.plots.cartesian(gigahertz, curves, "frequency (GHz)", "|S11| (dB)", folder / "reflection.png")

    solution = antenna(resonance.frequency).solve()
    spent = solution.radiated_power() + sum(solution.absorbed_power().values())
    print(solution)
    print(f"efficiency {solution.efficiency():.3f}, radiated and absorbed {spent / solution.input_power:.5f}")
    theta = np.linspace(-np.pi, np.pi, 181)
    cuts = {
        name: solution.gain(abs(theta), np.where(theta < 0, phi + np.pi, phi), decibels=True)
        for name, phi in (("E plane", 0.0), ("H plane", np.pi / 2))
    }
    cal.plots.cartesian(np.degrees(theta), cuts, "angle from the normal (degrees)", "gain (dBi)", folder / "gain.png",
                        limits=(-25, None))  # fmt: skip
    assert abs(resonance.frequency / expected.frequency - 1) < 0.02, resonance
    assert abs(resonance.frequency / RESONANCE - 1) < 0.02, resonance
    assert abs(spent / solution.input_power - 1) < 1e-3, spent


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
