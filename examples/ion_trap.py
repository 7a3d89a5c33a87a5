"""A linear ion trap of twelve electrodes: unit potentials of all by one factorisation, and the two fields that trap.

Four round rods, each cut into three, around an axis. Opposite rods at U/2, the others at -U/2, have the potential
kappa U (x^2 - y^2) / (2 r0^2) next to the axis; kappa is almost 1 for rods of the radius 1.1468 r0, at which the next
term vanishes. This voltage changes fast, and a steady one on all end pieces keeps ions in the middle: along the axis
its potential rises by c z^2, and across by -c x^2 / 2, as Laplace's equation says. Any voltages are sums of the twelve.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

R0, RATIO = 1e-3, 1.1468  # distance of the rods from the axis in m, and their radius over it
PIECE, SLIT = 4e-3, 0.2e-3
CORNERS = {"right": (1, 0), "up": (0, 1), "left": (-1, 0), "down": (0, -1)}


def trap(h: float) -> cal.StaticProblem:
    """Twelve pieces, named by the side of their rod and their place along it."""
    radius = RATIO * R0
    rod = cal.mesh.cylinder(radius, PIECE, h)
    wider = np.sqrt(np.pi * radius**2 * PIECE / rod.volume)  # polygons of the area of the circle
    rod = cal.TriangleMesh(rod.vertices * [wider, wider, 1], rod.triangles)
    parts = {
        f"{side} {place}": rod.translated([x * (R0 + radius), y * (R0 + radius), z * (PIECE + SLIT)])
        for side, (x, y) in CORNERS.items()
        for place, z in (("low", -1), ("middle", 0), ("high", 1))
    }
    return cal.StaticProblem(cal.mesh.joined(parts), electrodes={name: name for name in parts})


def curvature(values: np.ndarray, places: np.ndarray) -> float:
    """c of values + c (x / r0)^2 + d (x / r0)^4 around the middle."""
    return float(np.polyfit((places / R0) ** 2, values, 2)[1])


def main(folder: Path, h: float = 0.6e-3, points: int = 150) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    problem = trap(h)
    names = list(problem.electrodes)
    fast = {name: 0.5 if name.split()[0] in ("left", "right") else -0.5 for name in names}
    slow = {name: 0.0 if "middle" in name else 1.0 for name in names}
    units = [{one: float(one == name) for one in names} for name in names]
    *each, quick, steady = problem.solve_all([{"voltages": volts} for volts in (*units, fast, slow)])
    print(f"{problem.unknowns} unknowns, {len(names)} electrodes")

    x = np.linspace(-0.4, 0.4, 17) * R0
    across = np.stack([x, 0 * x, 0 * x], axis=1)
    kappa = 2 * curvature(quick.field(across), x)
    sides = [curvature(steady.field(np.roll(across, n, axis=1)), x) for n in range(3)]
    print(f"kappa = {kappa:.4f}; 1 V on the ends: {sides[2]:.4f} (z / r0)^2, {sides[0]:.4f} (x / r0)^2")
    z = np.linspace(-5, 5, 101) * R0
    axis = np.stack([0 * z, 0 * z, z], axis=1)
    every = {name: one.field(axis) for name, one in zip(names, each, strict=True)}
    well = steady.field(axis)
    cal.plots.cartesian(
        1e3 * z,
        {"all ends": well, "right, low": every["right low"], "right, middle": every["right middle"]},
        "z (mm)", "potential on the axis for 1 V (V)", folder / "axis.png",
    )  # fmt: skip
    cut = cal.plots.slice_points([0, 0, 0], [6.8e-3, 0, 0], [0, 6.8e-3, 0], (points, points))
    potential = quick.field(cut)
    cal.plots.field_slice(
        1e3 * cut, potential, problem.mesh.scaled(1e3), "real", folder / "trap.png", name="u", unit="U",
        blank="inside", length="mm", contours=potential, levels=19, field_lines=quick.field_strength(cut),
    )  # fmt: skip
    assert abs(kappa - 1) < 0.01
    assert abs(sum(sides)) < 0.01 * sides[2]
    assert np.allclose(sum(slow[name] * u for name, u in every.items()), well, rtol=0, atol=1e-6)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
