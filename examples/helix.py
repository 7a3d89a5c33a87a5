"""A helix above metal that radiates along its axis: gain and circular polarization over frequency.

Eight turns of a circumference of a wavelength, with a pitch of 13 degrees, are fed between their beginning and the
ground. Checked are the gain against the formula that King and Wong fitted to measurements (IEEE Trans. Antennas Propag.
28 (1980) 291), the axial ratio on the axis, and the balance of power.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

FREQUENCY = cal.exact.SPEED_OF_LIGHT  # wavelength 1 m
TURNS, PITCH, RISE = 8, np.radians(13), 0.03
RADIUS = 1 / (2 * np.pi)
SPACING = np.tan(PITCH)


def helix(frequency: float = FREQUENCY) -> cal.WireAntenna:
    """Right-handed about z, its first part upright from the ground."""
    angle = np.linspace(0, 2 * np.pi * TURNS, 20 * TURNS + 1)
    turns = np.stack([RADIUS * np.cos(angle), RADIUS * np.sin(angle), RISE + SPACING * angle / (2 * np.pi)], axis=1)
    points = np.concatenate([[[RADIUS, 0, 0]], turns])
    wire = cal.Wire(points, 2e-3, len(points) - 1)
    return cal.WireAntenna(wire, cal.WireGap([RADIUS, 0, 0]), frequency, ground="pec")


def expected() -> float:
    """The gain in dBi of King and Wong."""
    gain = 8.3 * 1.0 ** (np.sqrt(TURNS + 2) - 1) * (TURNS * SPACING) ** 0.8
    return float(10 * np.log10(gain * (np.tan(np.radians(12.5)) / np.tan(PITCH)) ** (np.sqrt(TURNS) / 2)))


def main(folder: Path, points: int = 15) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    solution = helix().solve()
    theta = np.radians(np.linspace(-90, 90, 181))
    cut = solution.gain(np.abs(theta), np.where(theta < 0, np.pi, 0.0), decibels=True)
    on_axis, ratio = float(solution.gain(0.0, 0.0, decibels=True)), float(solution.axial_ratio(0.0, 0.0))
    spent = solution.radiated_power() / solution.input_power
    print(f"Z = {solution.input_impedance.conjugate():.1f} ohm, {on_axis:.2f} dBi on the axis, by measurements "
          f"{expected():.2f} dBi; axial ratio {ratio:.3f}, power {spent:.5f}")  # fmt: skip
    cal.plots.cartesian(
        np.degrees(theta), {"helix": cut}, "angle from the axis (degrees)", "gain (dBi)",
        folder / "pattern.png", limits=(-25, None),
    )  # fmt: skip
    band = np.linspace(0.7, 1.3, points)
    made = [helix(each * FREQUENCY).solve() for each in band]
    gains = np.array([float(each.gain(0.0, 0.0, decibels=True)) for each in made])
    cal.plots.cartesian(band, {"on the axis": gains}, "circumference (wavelengths)", "gain (dBi)", folder / "band.png")
    assert abs(on_axis - expected()) < 1.5, on_axis
    assert ratio < 1.2, ratio
    assert abs(spent - 1) < 5e-3, spent


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
