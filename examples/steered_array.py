"""An array of 8 x 8 dipoles above metal, steered by the phases of its 64 generators, from one factorisation.

Half-wave dipoles are half a wavelength apart, a quarter of a wavelength above a ground of metal, each with a generator
of 75 ohm. Checked are that a beam from embedded patterns is the solution of other wires, which have the resistances of
the generators in their gaps, that fields of all elements add up toward the beam, where it points, and that what the
generators lose by active reflection is what is not radiated.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

K = 2 * np.pi
PITCH, HEIGHT, LENGTH, RESISTANCE = 0.5, 0.25, 0.46, 75.0
SCAN = 45.0
"""The beam that is checked, in degrees from the normal, in the plane across the dipoles."""


def antenna(rows: int, resistance: float = 0.0) -> cal.WireAntenna:
    """Dipoles along y, their gaps in their middles, with a resistance in ohm in series with each port."""
    places = PITCH * (np.arange(rows) - (rows - 1) / 2)
    middles = [(x, y, HEIGHT) for x in places for y in places]
    half = np.array([0, LENGTH / 2, 0])
    rods = [cal.Wire([np.array(at) - half, np.array(at) + half], 1e-3, 10) for at in middles]
    gaps = [cal.WireGap(at) for at in middles]
    loads = [cal.Lumped(gap, resistance=resistance) for gap in gaps] if resistance else []
    return cal.WireAntenna(rods, gaps, wavenumber=K, ground="pec", loads=loads)


def main(folder: Path, rows: int = 8) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    problem = antenna(rows)
    array = problem.embedded(RESISTANCE)
    print(problem.brief, repr(array), sep="\n")
    toward = np.radians(SCAN), 0.0
    generators = array.generators(*toward)
    beam = array.fed(generators)
    again = antenna(rows, RESISTANCE).solve(generators)
    theta = np.radians(np.linspace(-90, 90, 181))
    cut = np.abs(theta), np.where(theta < 0, np.pi, 0.0)
    difference = abs(beam.far_field(*cut) - again.far_field(*cut)).max() / abs(again.far_field(*cut)).max()
    gain = beam.gain(*cut, decibels=True)
    pointing = np.degrees(theta[gain.argmax()])
    sum_of_all = abs(array.far_fields(*toward)[..., 1]).sum() / abs(beam.far_field(*toward)[1])
    reflected = array.active_reflection(generators)
    accepted = float(np.sum(1 - abs(reflected) ** 2)) / (8 * RESISTANCE)
    balance = beam.radiated_power() / accepted - 1
    print(f"beam at {pointing:.1f} degrees, {gain.max():.2f} dBi, of a new solution by {difference:.1e}")
    print(
        f"radiated {balance:.1e} more than accepted; {100 * (1 - accepted * 8 * RESISTANCE / rows**2):.1f} % reflected"
    )
    draw(folder, array, cut, theta)
    assert difference < 1e-8, difference
    assert abs(sum_of_all - 1) < 1e-9, sum_of_all
    assert abs(pointing - SCAN) < 3, pointing
    assert abs(balance) < 1e-3, balance


def draw(folder: Path, array: "cal.formulations.EmbeddedPatterns", cut: tuple, theta: np.ndarray) -> None:
    """Gains of beams in the plane across the dipoles, and active reflection of all ports by the scan angle."""
    beams = {f"{angle} degrees": array.steered(np.radians(angle), 0.0) for angle in (0, 20, 45, 60)}
    gains = {name: each.realized_gain(*cut, reference=array.reference, decibels=True)
             for name, each in beams.items()}  # fmt: skip
    cal.plots.cartesian(np.degrees(theta), gains, "angle from the normal (degrees)", "realized gain (dBi)",
                        folder / "beams.png", limits=(-25, None))  # fmt: skip
    scan = np.linspace(0, 75, 16)
    largest, mean = [], []
    for angle in np.radians(scan):
        reflected = abs(array.active_reflection(array.generators(angle, 0.0)))
        largest.append(20 * np.log10(reflected.max()))
        mean.append(10 * np.log10(np.mean(reflected**2)))
    curves = {"worst port": np.array(largest), "mean power": np.array(mean)}
    cal.plots.cartesian(scan, curves, "scan angle (degrees)", "active reflection (dB)", folder / "reflection.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
