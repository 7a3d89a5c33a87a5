"""An inverted-F antenna on a finite board: its match and pattern, and what the board does to them.

A wire stands on the ground of an FR4 board of 100 x 40 x 1.6 mm, 8 mm high, and goes on along the short edge; 5 mm from
its foot a second wire goes down to the feed. Checked are the impedance on infinite metal against NEC-2, that the board
matches the antenna to 50 ohm near the frequency at which infinite metal reflects least, and that what the port accepts
is radiated or heats the board.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

LENGTH, WIDTH, THICKNESS = 100e-3, 40e-3, 1.6e-3
HEIGHT, TAP, ARM, RADIUS = 8e-3, 5e-3, 30e-3, 0.2e-3
X, Y = 95e-3, 5e-3
"""Where the wire that is a short circuit stands."""
BAND = 2.1e9, 2.8e9
"""In Hz."""
NEC = 15.29 + 23.01j
"""Impedance in ohm on infinite metal at 2.45 GHz, textbook sign, nec2c 1.3 with segments of 1 mm."""


def wires(z: float) -> list[cal.Wire]:
    """The short circuit and the arm up to the tap, the rest of the arm, and the feed, on metal at that z."""
    foot, top = np.array([X, Y, z]), np.array([X, Y, z + HEIGHT])
    tap, end = top + [0, TAP, 0], top + [0, ARM, 0]
    return [
        cal.Wire([foot, top, tap], RADIUS, 7),
        cal.Wire([tap, end], RADIUS, 12),
        cal.Wire([foot + [0, TAP, 0], tap], RADIUS, 4),
    ]


def gap(z: float) -> cal.WireGap:
    """Between the ground and the feed."""
    return cal.WireGap([X, Y + TAP, z], [0, 0, 1])


def board(h: float) -> cal.TriangleMesh:
    """The surface of the board of square cells of the side h, with its ground on top."""
    sides = np.array([LENGTH, WIDTH])
    mesh = cal.mesh.cuboid((*np.rint(sides / h).astype(int), 1), 1.0)
    vertices = (mesh.vertices - mesh.vertices.min(axis=0)) * [h, h, THICKNESS]
    top = vertices[mesh.triangles][:, :, 2].min(axis=1) > 0
    return cal.TriangleMesh(vertices, mesh.triangles, top.astype(int), {"board": 0, "ground": 1})


def antenna(frequency: float, h: float = 5e-3) -> cal.MaxwellProblem:
    """The antenna on the board."""
    return cal.MaxwellProblem(
        board(h),
        regions={"air": cal.Material(), "substrate": cal.material("FR4")},
        surfaces={"board": cal.Interface("air", "substrate"), "ground": cal.Metal("air", "substrate")},
        wires=wires(THICKNESS),
        ports=gap(THICKNESS),
        frequency=frequency,
    )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    problem = antenna(2.45e9)
    print(problem)
    sweep = problem.sweep(*BAND, points=141)
    infinite = cal.WireAntenna(wires(0.0), gap(0.0), 2.45e9, ground="pec")
    other = infinite.sweep(*BAND, points=141)
    gigahertz = sweep.frequencies / 1e9
    curves = {name: 20 * np.log10(abs(each.s[:, 0, 0])) for name, each in (("100 x 40 mm", sweep), ("infinite", other))}
    cal.plots.cartesian(gigahertz, curves, "frequency (GHz)", "|S11| (dB)", folder / "reflection.png")

    matched, expected = (each.frequencies[abs(each.s[:, 0, 0]).argmin()] for each in (sweep, other))
    least = 20 * np.log10(abs(sweep.s[:, 0, 0]).min())
    print(f"matched at {matched:.4g} Hz, {least:.1f} dB, on infinite metal {expected:.4g} Hz; {sweep.solves} solves")

    solution = antenna(float(matched)).solve()
    spent = solution.radiated_power() + sum(solution.absorbed_power().values())
    print(solution)
    print(f"efficiency {solution.efficiency():.3f}, radiated and absorbed {spent / solution.input_power:.5f}")
    cal.plots.radiation_pattern(
        solution.gain, folder / "pattern.png", planes=("xz", "yz"), title="Inverted F on a board of 100 x 40 mm"
    )
    z = infinite.solve().input_impedance.conjugate()
    assert abs(z - NEC) < 0.05 * abs(NEC), z
    assert abs(matched / expected - 1) < 0.05, (matched, expected)
    assert least < -10, least
    assert abs(spent / solution.input_power - 1) < 1e-3, spent


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
