"""A patch antenna on a board, fed by a coaxial probe: reflection, impedance, pattern and power.

A patch of 57 x 38 mm on 3.175 mm with eps 2.33 over a conductor, with a probe 8 mm from its middle. Only the patch is
meshed. Checked are the resonance against another moment method (2.358 GHz), the frequency of least reflection against
finite differences (2.383 GHz), the gain, and that all accepted power is radiated or travels along the board.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal


def main(folder: Path, h: float = 7e-3) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    board = cal.Stack([cal.Layer(3.175e-3, eps_r=2.33)], below="pec")
    patch = cal.planar.patch(57e-3, 38e-3, h=h, z=board.top)
    antenna = cal.PlanarProblem(board, patch, ports=[cal.ProbePort((-8e-3, 0.0), radius=0.5e-3)])
    print(antenna)
    sweep = antenna.sweep(2.2e9, 2.5e9, points=121)
    print(sweep)
    best = float(sweep.frequencies[np.abs(sweep.s[:, 0, 0]).argmin()])
    solution = antenna.solve(best)
    print(solution)
    gain = float(solution.gain(0.0, 0.0, decibels=True))
    print(f"least reflection at {best / 1e9:.3f} GHz, gain {gain:.2f} dBi")

    gigahertz, z = sweep.frequencies / 1e9, sweep.z[:, 0, 0]
    reflection = 20 * np.log10(np.abs(sweep.s[:, 0, 0]))
    cal.plots.cartesian(
        gigahertz, {"probe, 50 ohm": reflection}, "frequency (GHz)", "|S11| (dB)", folder / "reflection.png"
    )
    cal.plots.cartesian(
        gigahertz, {"R": z.real, "X": -z.imag}, "frequency (GHz)", "input resistance R and reactance X (ohm)",
        folder / "impedance.png",
    )  # fmt: skip
    theta = np.linspace(-np.pi / 2, np.pi / 2, 181)
    cuts = {name: solution.gain(np.abs(theta), np.where(theta < 0, phi + np.pi, phi), decibels=True)
            for name, phi in (("E plane", 0.0), ("H plane", np.pi / 2))}  # fmt: skip
    cal.plots.cartesian(np.degrees(theta), cuts, "angle from the normal (degrees)", "gain (dBi)", folder / "gain.png",
                        limits=(-20, None))  # fmt: skip
    sweep.write_touchstone(folder / "patch.s1p")
    (resonance,) = sweep.resonances()
    assert abs(resonance.frequency / 2.358e9 - 1) < 0.005, resonance
    assert abs(best / 2.383e9 - 1) < 0.01, best
    assert 7.0 < gain < 7.7, gain
    assert abs(solution.power.lost) < 1e-3 * solution.power.accepted, solution.power


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
