"""A submarine 10 m below the surface of the sea, whose engine room vibrates.

The hull of 62 m moves with 1 mm/s over 8 m of its length, at 60 Hz. The surface of the sea gives way, p = 0, so that
the image of the hull sounds with the opposite sign: levels fall toward the surface, and between the waves that go down
and those that come back from above there are beams and shadows. Far away the sound is nearly F(d) - F(Rd), F that of
the free hull in the direction d and Rd its image; the hull also scatters the sound of its image, which this leaves out.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import calderon as cal

DEPTH, FREQUENCY = 10.0, 60.0
SEA = cal.Fluid.sea_water(10.0, salinity=35.0, depth=DEPTH)


def hull() -> cal.TriangleMesh:
    """The sample, its middle in the depth, with the engine room by name."""
    mesh = cal.mesh.sample("submarine").translated([0, 0, -DEPTH])
    x = mesh.centroids[:, 0]
    middle = mesh.bounds.mean(axis=0)[0]
    engine = (x < middle - 8.0) & (x > middle - 16.0)
    return cal.TriangleMesh(mesh.vertices, mesh.triangles, engine.astype(int), {"hull": 0, "engine room": 1})


def main(folder: Path, points: int = 160) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", cal.MeshWarning)  # of thin rudders
    mesh, moving = hull(), {"engine room": cal.Velocity([0, 0, 1e-3])}
    given = {"frequency": FREQUENCY, "fluid": SEA, "conditions": moving}
    below = cal.AcousticProblem(mesh, mirrors=cal.HalfSpace("z", rigid=False), **given).solve()
    free = cal.AcousticProblem(mesh, **given).solve()
    print(below)
    print(free)
    middle = mesh.bounds.mean(axis=0)
    surface = np.stack([np.linspace(-60, 60, 25), 0 * np.arange(25), 0 * np.arange(25)], axis=1)
    silent = np.abs(below.field(surface)).max() / np.abs(below.field(surface - [0, 0, 40.0])).max()
    print(f"pressure at the surface, over that 40 m below it: {silent:.1e}")

    line = np.linspace([middle[0] - 150, 0, -60.0], [middle[0] + 150, 0, -60.0], 151)
    levels = {"10 m below the surface": below.spl(line), "without a surface": free.spl(line)}
    label = "level in 60 m depth (dB re 1 µPa)"
    cal.plots.cartesian(line[:, 0] - middle[0], levels, "distance from midships (m)", label, folder / "levels.png")

    rows = round(points * 100 / 220)
    plane = cal.plots.slice_points([middle[0], 0, -50.0], [220.0, 0, 0], [0, 0, 100.0], (rows, points))
    flat = plane.reshape(-1, 3)
    hidden = mesh.contains(flat)
    level = np.full(len(flat), np.nan)
    level[~hidden] = below.spl(np.minimum(flat[~hidden], [np.inf, np.inf, -1e-3]))
    top = round(float(np.nanmax(level)))
    cal.plots.field_slice(
        plane, level.reshape(plane.shape[:2]), mesh, "level", folder / "sea.png", name="level", unit="dB re 1 µPa",
        limits=(top - 50, top), title=f"{FREQUENCY:g} Hz, the surface of the sea at z = 0",
    )  # fmt: skip
    angles = np.linspace(1.02 * np.pi, 1.98 * np.pi, 97)
    directions = np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=1)
    far = np.abs(below.far_field(directions))
    expected = np.abs(free.far_field(directions) - free.far_field(directions * [1, 1, -1]))
    error = np.abs(far - expected).max() / far.max()
    print(f"far field: up to {error:.1%} of the largest apart from the free hull and its image")
    assert silent < 1e-9
    assert below.power_error < 0.01 and free.power_error < 0.01
    assert error < 0.2


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
