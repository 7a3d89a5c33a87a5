"""A plate capacitor that draws a slab of glass into its gap: the force by the field on the slab, and by the energy.

Half of the gap between square plates is filled. Moving the slab by dx changes the capacitance, and at a voltage U the
force is U^2/2 dC/dx; far from all edges it is that of the textbook, eps0 (eps - 1) b U^2 / (2 d) for plates of width b
at a distance d. It acts on the end of the slab within the gap, where the field is even, so that a coarse mesh gives it;
the opposite force on the plates acts on their sharp edges, which this mesh does not resolve. `forces` warns of edges at
which metal meets the slab; those at its end, where plates go on straight, have no singular field.
"""

import sys
import warnings
from pathlib import Path

import calderon as cal

SIDE, GAP, METAL, GLASS = 1.0, 0.2, 0.05, 4.0  # lengths in m
VOLTAGE = 1000.0


def capacitor(inserted: float, h: float) -> cal.StaticProblem:
    """Two plates, and a slab whose end is at x = -inserted."""
    cuboid, half = cal.mesh.Solid.cuboid, SIDE / 2
    bodies = {
        "slab": cuboid([-inserted, -half, 0], [1.2 * SIDE - inserted, half, GAP]),
        "low": cuboid([-half, -half, -METAL], [half, half, 0]),
        "high": cuboid([-half, -half, GAP], [half, half, GAP + METAL]),
    }
    glass = {"slab": cal.Region("slab", permittivity=GLASS)}
    return cal.StaticProblem(cal.mesh.solids(bodies, h), glass, {"low": "low", "high": "high"})


def main(folder: Path, h: float = 0.14, points: int = 260) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    middle, step = capacitor(0.0, h), 0.1
    solution = middle.solve(voltages={"low": -VOLTAGE / 2, "high": VOLTAGE / 2})
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", cal.AccuracyWarning
        )  # of the sharp edges of the plates, whose forces are unused
        force = -solution.forces()["slab|outside"][0]
    mutual = [-capacitor(x, h).capacitance_matrix().values[0, 1] for x in (-step, step)]
    by_energy = VOLTAGE**2 / 2 * (mutual[1] - mutual[0]) / (2 * step)
    textbook = cal.exact.VACUUM_PERMITTIVITY * (GLASS - 1) * SIDE * VOLTAGE**2 / (2 * GAP)
    print(f"{middle.unknowns} unknowns: force into the gap {1e6 * force:.2f} uN by the field,")
    print(f"{1e6 * by_energy:.2f} uN by the energy, {1e6 * textbook:.2f} uN without edges")
    cut = cal.plots.slice_points([0.11, 0, GAP / 2], [2.0, 0, 0], [0, 0, 1.0], (points // 2, points))
    potential, strength = solution.field(cut), solution.field_strength(cut)
    cal.plots.field_slice(
        cut, potential, middle.mesh, "real", folder / "slab.png", name="u", unit="V", blank="none",
        contours=potential, levels=19, field_lines=strength,
    )  # fmt: skip
    assert abs(force / textbook - 1) < 5e-3
    assert abs(by_energy / textbook - 1) < 0.02


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
