"""Jerusalem crosses on a grounded board: the phase of their reflection, and a reflectarray lens of them.

Crosses of 8 mm, one in each square of 12.5 mm, reflect a wave at normal incidence like a magnetic conductor at 9.5
GHz. At a fixed frequency the phase follows from the size of the crosses, so that an array of different ones focuses a
plane wave. Checked are the phase at 12 and 14 GHz and the frequency of zero phase against two other methods (-156.1 and
-140.0 degrees, 9.51 GHz), that all power comes back, and that the sizes of a lens of 33 x 33 crosses meet the required
phase to 10 degrees rms.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

PERIOD = 12.5e-3


FREQUENCIES = 1e9 * np.array([8, 9, 9.4, 9.5, 9.6, 10, 11, 12, 13, 14, 16])
SIZES = 1e-3 * np.array([3, 5, 6, 6.5, 7, 8, 12])


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    thin = cal.Stack([cal.Layer(1.575e-3, eps_r=2.2)], below="pec")
    print(thin)
    cell = cal.PeriodicCell(cal.planar.jerusalem_cross(8e-3, 1e-3, 3.2e-3, z=thin.top), PERIOD, thin)
    print(cell.mesh)
    sweep = cell.sweep(FREQUENCIES)
    phase = np.degrees(np.angle(sweep.reflection[:, 0, 0]))
    cal.plots.cartesian(
        sweep.frequency / 1e9, {"crosses of 8 mm": phase}, "frequency (GHz)", "phase of the reflection (degrees)",
        folder / "phase_over_frequency.png",
    )  # fmt: skip
    zero = float(np.interp(0.0, phase[2:5], FREQUENCIES[2:5]))
    at = dict(zip(sweep.frequency / 1e9, phase, strict=True))
    print(f"zero phase at {zero / 1e9:.3f} GHz; {at[12.0]:.1f}° at 12 GHz, {at[14.0]:.1f}° at 14 GHz")
    assert abs(sweep.power - 1).max() < 1e-8
    assert abs(at[12.0] + 156.1) < 1 and abs(at[14.0] + 140.0) < 1
    assert abs(zero / 9.51e9 - 1) < 0.005

    lens = design()
    print(lens)
    cal.plots.cartesian(
        1e3 * np.asarray(lens.sizes), {"12 GHz": np.degrees(lens.phases)}, "size of the crosses (mm)",
        "phase of the reflection (degrees)", folder / "phase_over_size.png",
    )  # fmt: skip
    assert np.degrees(lens.phase_error) < 10


def design() -> cal.ReflectArray:
    """A lens for 12 GHz with its focus 0.3 m above it, of crosses with three cells across their arms."""
    board = cal.Stack([cal.Layer(3.175e-3, eps_r=2.2)], below="pec")

    def cross(size: float) -> cal.TriangleMesh:
        ends = max(1e-3, min(0.4 * size, size - 2.1e-3))  # those of small crosses would meet
        return cal.planar.jerusalem_cross(size, 1e-3, ends, cells=3, z=board.top)

    return cal.ReflectArray(
        cross, SIZES, period=PERIOD, count=(33, 33), stack=board, frequency=12e9, focus=0.3,
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
