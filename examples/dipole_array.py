"""An array of four dipoles whose beam is turned by the phases of its feeds.

Four half-wave strips lie side by side, 0.45 wavelengths apart. With feeds of the same phase the beam is broadside; with
phases exp(-i k x sin(angle)) it turns by the angle. Checked are the direction of the beam, the balance of power with
all couplings, and the symmetry of the scattering matrix of the ports.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

LENGTH, WIDTH, SPACING, COUNT = 0.46, 0.01, 0.45, 4  # in wavelengths
ANGLE = np.radians(25)


def main(folder: Path, cells: int = 16) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    k, places = 2 * np.pi, SPACING * (np.arange(COUNT) - (COUNT - 1) / 2)
    strips = [cal.mesh.plate([WIDTH, LENGTH], LENGTH / cells).translated([x, 0, 0]) for x in places]
    ends = [[[x - WIDTH / 2, 0, 0], [x + WIDTH / 2, 0, 0]] for x in places]
    feeds = [cal.DeltaGap(line=line, name=f"dipole {number}") for number, line in enumerate(ends, 1)]
    array = cal.PECAntenna(cal.mesh.merge(strips), k, feeds)
    solution = array.solve(np.exp(-1j * k * places * np.sin(ANGLE)))
    print(solution)

    directions = np.linspace(-np.pi / 2, np.pi / 2, 361)  # in the xz plane, from z toward x
    gain = solution.gain(np.abs(directions), np.where(directions < 0, np.pi, 0.0), decibels=True)
    beam = directions[np.argmax(gain)]
    balance = solution.radiated_power() / solution.input_power - 1
    scattering = array.scattering_matrix(73.0)
    print(f"beam at {np.degrees(beam):.1f} degrees, {gain.max():.2f} dBi, power balance {balance:.1e}")
    cal.plots.cartesian(
        np.degrees(directions),
        {"four dipoles": gain},
        "angle (degrees)",
        "gain (dBi)",
        folder / "beam.png",
        limits=(-20, None),
    )
    assert abs(np.degrees(abs(beam) - ANGLE)) < 4, beam
    assert gain.max() > 6 and abs(balance) < 1e-4, (gain.max(), balance)
    assert np.abs(scattering - scattering.T).max() < 1e-8
    assert np.linalg.norm(scattering, 2) < 1  # a passive array


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
