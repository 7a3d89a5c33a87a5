"""A dipole for short waves above real earth: impedance and gain over its height, pattern, and the field next to it.

A half-wave dipole for 14 MHz hangs above earth of the permittivity 13 and the conductivity 5 mS/m, above sea water, and
above metal. Real earth keeps two thirds of the power where the dipole is low, and fills the null that the image in
metal makes overhead. Checked are the impedances and gains of NEC-2 with its ground by Sommerfeld's integrals, at 0.1
and 0.5 wavelengths, 60.56 + 59.41j ohm, 3.96 dBi, and 74.08 + 35.07j ohm, 7.45 dBi.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import calderon as cal

FREQUENCY = 14e6
WAVELENGTH = cal.exact.SPEED_OF_LIGHT / FREQUENCY
GROUNDS = {
    "average earth": cal.mesh.Material(13.0, conductivity=5e-3),
    "sea water": cal.material("sea water"),
    "metal": "pec",
}
NEC = {0.1: (60.56 + 59.41j, 3.96), 0.5: (74.08 + 35.07j, 7.45)}
THETA = np.radians(np.linspace(-90, 90, 181))


def dipole(height: float, ground: Any) -> cal.WireAntenna:
    """Along y at so many wavelengths above the ground, fed in its middle."""
    z, half = height * WAVELENGTH, 0.25 * WAVELENGTH
    wire = cal.Wire([[0, -half, z], [0, half, z]], radius=1e-4 * WAVELENGTH, segments=42)
    return cal.WireAntenna(wire, cal.WireGap([0, 0, z]), FREQUENCY, ground=ground)


def across(solution: Any) -> np.ndarray:
    """The gain in dBi in the plane across the wire."""
    return np.asarray(solution.gain(np.abs(THETA), np.where(THETA < 0, np.pi, 0.0), decibels=True))


def main(folder: Path, heights: int = 25) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    earth = GROUNDS["average earth"]
    for height, (z, gain) in NEC.items():
        solution = dipole(height, earth).solve()
        found, largest = solution.input_impedance.conjugate(), across(solution).max()
        radiated = solution.radiated_power() / solution.input_power
        print(f"{height} wavelengths: Z = {found:.2f} ohm, gain {largest:.2f} dBi, {100 * radiated:.0f} % radiated")
        assert abs(found - z) < 0.05 * abs(z), found
        assert abs(largest - gain) < 0.2, largest

    places = np.linspace(0.05, 1.0, heights)
    resistances = {
        name: np.array([dipole(each, ground).solve().input_impedance.real for each in places])
        for name, ground in GROUNDS.items()
    }
    cal.plots.cartesian(
        places, resistances, "height (wavelengths)", "input resistance (ohm)", folder / "resistance.png"
    )
    patterns = {name: across(dipole(0.5, ground).solve()) for name, ground in GROUNDS.items()}
    cal.plots.cartesian(
        np.degrees(THETA), patterns, "angle from the zenith (degrees)", "gain (dBi)", folder / "pattern.png",
        limits=(-20, None),
    )  # fmt: skip
    draw_field(folder, dipole(0.5, earth).solve())


def draw_field(folder: Path, solution: Any) -> None:
    """|E| in dB re 1 V/m, for 1 V, in the plane across the wire."""
    points = cal.plots.slice_points([0, 0, 0.501 * WAVELENGTH], [3 * WAVELENGTH, 0, 0], [0, 0, WAVELENGTH], (180, 60))
    field = np.linalg.norm(solution.electric(points.reshape(-1, 3)), axis=1).reshape(points.shape[:2])
    cal.plots.field_slice(
        points, field, None, "db", folder / "field.png", name="|E|", unit="V/m",
        title="Electric field of a dipole above earth, 1 V",
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
