"""Patches on one board: coupling of two, and an array of four whose beam is steered.

Patches of 57 x 38 mm on 3.175 mm with eps 2.33, with probes 8 mm from their middles, 66 mm (half a wavelength) apart.
Checked are reciprocity, that coupling falls with the distance, the balance of power, that the four together are four
times as strong as one, less what coupling takes, and that their beam follows the phases of the voltages.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

BOARD = cal.Stack([cal.Layer(3.175e-3, eps_r=2.33)], below="pec")
FREQUENCY, PITCH = 2.36e9, 66e-3


def patches(places: list[tuple[float, float]], h: float = 8e-3) -> cal.PlanarProblem:
    """Equal patches with their middles at places in m."""
    one = cal.planar.patch(57e-3, 38e-3, h=h, z=BOARD.top)
    mesh = cal.mesh.merge([one.translated([x, y, 0]) for x, y in places])
    return cal.PlanarProblem(BOARD, mesh, ports=[cal.ProbePort((x - 8e-3, y), radius=0.5e-3) for x, y in places])


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    coupling = {}
    for name, along in (("E plane", (1.0, 0.0)), ("H plane", (0.0, 1.0))):
        for distance in (PITCH, 1.5 * PITCH):
            s = patches([(0.0, 0.0), (along[0] * distance, along[1] * distance)]).scattering_matrix(FREQUENCY)
            assert abs(s[0, 1] - s[1, 0]) < 1e-9
            coupling[name, distance] = float(20 * np.log10(abs(s[1, 0])))
            print(f"{name}, {1e3 * distance:.0f} mm apart: S21 {coupling[name, distance]:.1f} dB")
    assert all(-45 < coupling[name, 1.5 * PITCH] < coupling[name, PITCH] < -15 for name in ("E plane", "H plane"))

    alone = patches([(0.0, 0.0)]).solve(FREQUENCY)
    row = patches([(n * PITCH, 0.0) for n in range(4)])
    y = row.admittance_matrix(FREQUENCY)
    theta, cuts = np.radians(np.linspace(-90, 90, 181)), {}
    for steered in (0, 20):
        phases = 2 * np.pi * FREQUENCY / 299792458.0 * PITCH * np.sin(np.radians(steered)) * np.arange(4)
        solution = row.solve(FREQUENCY, np.linalg.solve(y, np.exp(1j * phases)))  # equal currents at the probes
        gain = solution.gain(np.abs(theta), np.where(theta < 0, np.pi, 0.0), decibels=True)
        cuts[f"toward {steered}°"] = gain
        strongest = float(np.degrees(theta[gain.argmax()]))
        print(f"phases for {steered}°: strongest at {strongest:.0f}°, {gain.max():.2f} dBi, {solution.power}")
        assert abs(strongest - steered) <= 4
        assert abs(solution.power.lost) < 1e-3 * solution.power.accepted
        if not steered:
            assert 5.0 < gain.max() - float(alone.gain(0.0, 0.0, decibels=True)) < 7.0
    cal.plots.cartesian(np.degrees(theta), cuts, "angle from the normal (degrees)", "gain (dBi)", folder / "array.png",
                        limits=(-20, None))  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
