"""A touch sensor: how a finger over the glass changes the capacitance between two pads.

Two pads lie between a board and a cover of glass, over an earthed plane, and an earthed ball, the finger, comes
nearer. It takes charge that one pad induces on the other, so that the mutual capacitance falls. A finger that is not
earthed takes none of it, and the capacitance rises: without charge there it is the Schur complement
C_12 - C_1f C_f2 / C_ff of the same matrix, which the field of a floating ball has to give, too.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

MM = 1e-3
PADS = {"drive": -4.0, "sense": 4.0}  # centres along x in mm, of squares of 6 mm


def sensor(gap: float, h: float = 2.4) -> cal.StaticProblem:
    """Board of 1.6 mm, pads of 6 mm, glass of 1.1 mm, and a ball of 4 mm at a distance (in mm) over the glass."""
    cuboid = cal.mesh.Solid.cuboid
    bodies = {
        "board": cuboid([-10 * MM, -6 * MM, -1.6 * MM], [10 * MM, 6 * MM, 0]),
        "glass": cuboid([-10 * MM, -6 * MM, 0], [10 * MM, 6 * MM, 1.1 * MM]),
        "plane": cuboid([-10 * MM, -6 * MM, -1.9 * MM], [10 * MM, 6 * MM, -1.6 * MM]),
        **{name: cuboid([(x - 3) * MM, -3 * MM, 0], [(x + 3) * MM, 3 * MM, 0.2 * MM]) for name, x in PADS.items()},
    }
    mesh = cal.mesh.solids(bodies, h * MM)
    finger = cal.mesh.sphere(4 * MM, 0.7 * h * MM).translated([0, 0, (1.1 + gap + 4) * MM])
    finger = cal.TriangleMesh(finger.vertices, finger.triangles, mesh.tags.max() + 1 + 0 * finger.tags)
    both = cal.mesh.merge([mesh, finger])
    names = {**mesh.names, "finger": int(both.tags.max())}
    both = cal.TriangleMesh(both.vertices, both.triangles, both.tags, names)
    regions = {"board": cal.Region("board", permittivity=4.4), "glass": cal.Region("glass", permittivity=7.0)}
    return cal.StaticProblem(both, regions, {name: name for name in ("plane", *PADS, "finger")})


def main(folder: Path, gaps: tuple[float, ...] = (0.3, 1.0, 4.0, 20.0), points: int = 192) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    earthed, floating = [], []
    for gap in gaps:
        problem = sensor(gap)
        c = problem.capacitance_matrix()
        one, two, f = (list(problem.electrodes).index(name) for name in (*PADS, "finger"))
        earthed.append(-c.values[one, two])
        floating.append(-(c.values[one, two] - c.values[one, f] * c.values[f, two] / c.values[f, f]))
        last = f"{1e15 * earthed[-1]:.2f} fF, floating {1e15 * floating[-1]:.2f} fF"
        print(f"{problem.unknowns} unknowns, gap {gap} mm: {last}")
    cal.plots.cartesian(
        gaps,
        {"earthed finger": 1e15 * np.array(earthed), "floating": 1e15 * np.array(floating)},
        "distance from the glass (mm)",
        "mutual capacitance (fF)",
        folder / "capacitance.png",
    )
    problem = sensor(gaps[1])
    volts = {"plane": 0.0, "drive": 1.0, "sense": 0.0}
    alone = problem.solve(voltages=volts, charges={"finger": 0.0})
    solution = problem.solve(voltages={**volts, "finger": 0.0})
    cut = cal.plots.slice_points([0, 0, 4.02e-3], [24e-3, 0, 0], [0, 0, 14e-3], (points * 7 // 12, points))
    cal.plots.field_slice(
        cut / MM,
        solution.field(cut),
        problem.mesh.scaled(1 / MM),
        "real",
        folder / "finger.png",
        name="u",
        unit="V",
        blank="none",
        contours=solution.field(cut),
        levels=24,
        field_lines=solution.field_strength(cut),
        length="mm",
    )
    assert abs(-alone.totals["sense"] / floating[1] - 1) < 1e-6
    assert earthed == sorted(earthed) and floating[0] > floating[-1]
    assert abs(earthed[-1] / floating[-1] - 1) < 0.02


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
