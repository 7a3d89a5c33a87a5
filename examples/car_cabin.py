"""A car cabin with an absorbing ceiling: sound at the driver's head from a vibrating bulkhead.

A cabin 2.6 m long whose windscreen and rear window slope, closed, at 40 to 160 Hz. The bulkhead vibrates with 0.1 mm/s,
glass and trim absorb 5 % of what comes along their normal, and the ceiling is as they are, or has 6 cm of a porous
lining (Miki's formulas). One plane of symmetry is a mirror, and some thirty solutions give two spectra of 121
frequencies. The lining is a spring at these frequencies: it shifts the resonances down and damps them a little. What
walls absorb is what the bulkhead gives, to the accuracy of quadratic functions at the loudest frequency.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

AIR = cal.Fluid.air(20.0)
LENGTH, HALF, HEIGHT = 2.6, 0.7, 1.2
HEAD = [[0.1, 0.35, 0.85]]


def cabin(h: float) -> cal.TriangleMesh:
    """The half y > 0 of the cabin, its parts by name."""
    mesh = cal.mesh.cuboid([LENGTH, HALF, HEIGHT], h).translated([0, HALF / 2, HEIGHT / 2])
    x, y, z = mesh.vertices.T
    above = np.clip(z / HEIGHT - 0.5, 0, None) / 0.5  # windows slope in the upper half
    x = np.where(x < 0, x * (1 - 0.35 * above), x * (1 - 0.15 * above))
    side = np.rint(mesh.normals @ [1, 2, 3]).astype(int)
    tags = np.select([side == -2, side == 3, (side == -1) & (mesh.centroids[:, 2] < HEIGHT / 2)], [3, 1, 2], 0)
    names = {"body": 0, "ceiling": 1, "bulkhead": 2, "mirror": 3}
    whole = cal.TriangleMesh(np.stack([x, y, z], axis=1), mesh.triangles, tags, names)
    return whole.restricted(["body", "ceiling", "bulkhead"])


def main(folder: Path, h: float = 0.2, step: float = 1.0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mesh, frequencies, levels, fields = cabin(h), np.arange(40.0, 160.0 + step / 2, step), {}, {}
    trim = cal.Impedance.from_absorption(0.05)
    moving = {"bulkhead": cal.Velocity([1e-4, 0, 0]), "body": trim}
    lining = cal.Impedance.porous(flow_resistivity=1e4, thickness=0.06)
    points = cal.plots.slice_points([0, 0.35, HEIGHT / 2], [0.998 * LENGTH, 0, 0], [0, 0, 0.998 * HEIGHT], (48, 104))
    for name, ceiling in (("hard ceiling", trim), ("absorbing ceiling", lining)):
        given = {
            "fluid": AIR,
            "side": "interior",
            "mirrors": {"y": "even"},
            "conditions": moving | {"ceiling": ceiling},
        }
        problem = cal.AcousticProblem(mesh, frequency=160.0, **given)
        sweep = problem.sweep(frequencies, points=HEAD, interpolate=1e-2)
        print(name, sweep)
        levels[name] = 20 * np.log10(np.abs(sweep.values[:, 0]) / np.sqrt(2) / 20e-6)
        loudest = float(frequencies[levels["hard ceiling"].argmax()])
        fine = cal.AcousticProblem(cabin(0.3), frequency=loudest, space="P2", **given)
        solution = fine.solve(solver="lu", method="dense")
        field = np.full(points.shape[:2], np.nan, complex)
        visible = cal.plots.inside(solution.mesh, points + [0, 1e-4, 0])
        field[visible] = solution.field(points[visible])
        fields[name] = solution.mesh, 20 * np.log10(np.abs(field) / np.sqrt(2) / 20e-6)
    given_power = solution.complex_power.real
    print(f"at {loudest:g} Hz the bulkhead gives {given_power:.3e} W,", end=" ")
    print(f"walls take {solution.absorbed_power():.3e} W,", end=" ")
    print(f"the ceiling {solution.absorbed_power('ceiling'):.3e} W of these")
    solved = (sweep.solved, 20 * np.log10(np.abs(sweep.solved_values[:, 0]) / np.sqrt(2) / 20e-6))
    cal.plots.cartesian(
        frequencies, levels, "frequency (Hz)", "level at the driver's head (dB re 20 µPa)", folder / "spectrum.png",
        references={"solved": solved},
    )  # fmt: skip
    for name, (whole, level) in fields.items():
        file, top = folder / f"{name.split()[0]}.png", round(float(np.nanmax(level)))
        cal.plots.field_slice(
            points, level, whole, "level", file, name="level", unit="dB re 20 µPa", blank="outside",
            limits=(top - 40, top), title=f"{name}, {loudest:g} Hz",
        )  # fmt: skip
    at = levels["hard ceiling"].argmax()
    quieter = levels["hard ceiling"][at] - levels["absorbing ceiling"][at]
    print(f"at the loudest resonance of the hard cabin the level falls by {quieter:.1f} dB")
    assert abs(solution.absorbed_power() / given_power - 1) < 0.01
    assert quieter > 5


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
