"""A silencer: transmission loss of an expansion chamber, between two square pipes.

Pipes of 4 cm, a chamber of 8 cm that is 16 cm long. A piston drives one end, the other does not reflect. From the mean
pressure at the piston follows the wave that goes in, (p + rho c v) / 2, and from the power that the end takes the one
that comes out. Both planes of symmetry are mirrors, so that a quarter of the surface is meshed. The closed form of
plane waves, 10 log10(1 + (m - 1/m)^2 sin(kL)^2 / 4) with the ratio m = 4 of areas, leaves out the waves that stay at
the jumps of the area; they make the chamber a little longer.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

AIR = cal.Fluid.air(20.0)
PIPE, CHAMBER, LENGTH = 0.04, 0.08, 0.16


def chamber(cell: float = 0.02) -> cal.TriangleMesh:
    """The quarter y > 0, z > 0 of the walls of pipe, chamber and pipe, of cubes; the ends by name."""
    pipe, across, along = (round(each / cell) for each in (PIPE / 2, CHAMBER / 2, LENGTH))
    before = 2 * round(PIPE / cell)
    filled = np.zeros((2 * before + along + 2, across + 2, across + 2), bool)
    filled[1:-1, 1 : pipe + 1, 1 : pipe + 1] = True
    filled[1 + before : 1 + before + along, 1:-1, 1:-1] = True
    filled[:, 0], filled[:, :, 0] = filled[:, 1], filled[:, :, 1]  # behind the mirrors, where no wall is
    corners, tags = [], []
    for axis in range(3):
        for side in (-1, 1):
            empty = ~np.roll(filled, -side, axis)
            cubes = np.argwhere(filled & empty)
            cubes = cubes[(cubes[:, 1:] > 0).all(axis=1)]
            first, second = (axis + 1) % 3, (axis + 2) % 3
            square = np.zeros((4, 3), int)
            square[:, axis], square[[1, 2], first], square[[2, 3], second] = side > 0, 1, 1
            corners.append(cubes[:, None] + (square if side > 0 else square[::-1]))
            ends = (cubes[:, 0] == 1, cubes[:, 0] == len(filled) - 2)
            tags.append((1 if side < 0 else 2) * ends[side > 0] if axis == 0 else np.zeros(len(cubes), int))
    quads = np.concatenate(corners).reshape(-1, 3)
    points, numbers = np.unique(quads, axis=0, return_inverse=True)
    a, b, c, d = numbers.reshape(-1, 4).T
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    names = {"wall": 0, "inlet": 1, "outlet": 2}
    return cal.TriangleMesh(cell * (points - 1.0), triangles, np.tile(np.concatenate(tags), 2), names)


def main(folder: Path, count: int = 15) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mesh, speed = chamber(), 1e-3
    problem = cal.AcousticProblem(
        mesh, frequency=500.0, fluid=AIR, side="interior", space="P2", mirrors={"y": "even", "z": "even"},
        conditions={"inlet": cal.Velocity(speed), "outlet": cal.Impedance(AIR.impedance)},
    )  # fmt: skip
    print(problem)
    kl = np.append(np.linspace(0.15, 3.0, count), [0.5, 1.0, np.pi / 2, 2.0, 2.5])
    loss = []
    for k in kl / LENGTH:
        solution = problem.at(k).solve(solver="lu", method="dense")
        wave = (solution.radiation_impedance("inlet") + AIR.impedance) * speed / 2
        out = np.sqrt(2 * AIR.impedance * solution.absorbed_power("outlet") / PIPE**2)
        loss.append(20 * np.log10(abs(wave) / out))
    ratio = (CHAMBER / PIPE) ** 2
    plane = 10 * np.log10(1 + (ratio - 1 / ratio) ** 2 * np.sin(kl) ** 2 / 4)
    known = np.array([2.50, 5.35, 6.57, 6.08, 3.92])  # of the same chamber with quadratic functions on 448 triangles
    for x, computed, other in zip(kl[count:], loss[count:], known, strict=True):
        print(f"kL = {x:.3f}: {computed:.2f} dB, expected {other:.2f} dB")
    frequencies = kl[:count] / LENGTH * AIR.speed_of_sound / (2 * np.pi)
    curves = {"boundary elements": np.array(loss[:count]), "plane waves": plane[:count]}
    cal.plots.cartesian(frequencies, curves, "frequency (Hz)", "transmission loss (dB)", folder / "loss.png")

    solution = problem.at(np.pi / 2 / LENGTH).solve(solver="lu", method="dense")
    points = cal.plots.slice_points([LENGTH, 0, 0], [0.318, 0, 0], [0, 0.078, 0], (40, 160))
    field = np.full(points.shape[:2], np.nan, complex)
    visible = cal.plots.inside(solution.mesh, points + [0, 0, 1e-4])
    field[visible] = solution.field(points[visible])
    cal.plots.field_slice(
        points, field, solution.mesh, "abs", folder / "chamber.png", unit="Pa", blank="outside",
        title=f"{np.pi / 2 / LENGTH * AIR.speed_of_sound / 2 / np.pi:.0f} Hz, a quarter of a wavelength long",
    )  # fmt: skip
    assert np.abs(np.array(loss[count:]) - known).max() < 0.1
    assert np.abs(np.array(loss) - plane).max() < 0.5


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
