"""A short dipole with coils in its arms: the coils that make it resonate, and what their resistance costs.

A dipole of 0.3 wavelengths at 300 MHz has a reactance of some -400 ohm. Coils of a quality of 200 in the middles of its
arms, found by interpolation between ports, cancel it. Checked are the impedance of the half-wave dipole with 100 + 50j
ohm in its feed against NEC-2, 185.7 + 98.7j ohm, that the reactance with coils is zero, and the balance of power.
"""

import sys
from pathlib import Path

import numpy as np
import scipy

import calderon as cal

FREQUENCY = cal.exact.SPEED_OF_LIGHT  # wavelength 1 m
OMEGA, QUALITY, HALF = 2 * np.pi * FREQUENCY, 200.0, 0.15
FEED = cal.WireGap([0, 0, 0])
ARMS = [cal.WireGap([0, 0, z], [0, 0, 1]) for z in (-HALF / 2, HALF / 2)]


def dipole(half: float, loads: list[cal.Lumped], frequency: float = FREQUENCY) -> cal.WireAntenna:
    """Along z, fed in its middle."""
    wire = cal.Wire([[0, 0, -half], [0, 0, half]], radius=1e-3, segments=44)
    return cal.WireAntenna(wire, FEED, frequency, loads=loads)


def coils(reactance: float) -> list[cal.Lumped]:
    """One in each arm, of that reactance in ohm at FREQUENCY."""
    return [cal.Lumped(gap, resistance=reactance / QUALITY, inductance=reactance / OMEGA) for gap in ARMS]


def main(folder: Path, points: int = 61) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    element = cal.Lumped(FEED, resistance=100.0, inductance=50 / OMEGA)
    known = dipole(0.25, [element]).solve().input_impedance.conjugate()
    print(f"half-wave dipole with a load in its feed: {known:.1f} ohm")

    ports = cal.WireAntenna(dipole(HALF, []).wires, [FEED, *ARMS], FREQUENCY).impedance_matrix()

    def left(reactance: float) -> float:
        """The reactance at the feed with coils, by the matrix of three ports."""
        load = reactance / QUALITY - 1j * reactance
        return float(
            (ports[0, 0] - ports[0, 1:] @ np.linalg.solve(ports[1:, 1:] + load * np.eye(2), ports[1:, 0])).imag
        )

    reactance = scipy.optimize.brentq(left, 10.0, 450.0)
    solution = dipole(HALF, coils(reactance)).solve()
    z = solution.input_impedance.conjugate()
    spent = (solution.radiated_power() + solution.lost) / solution.input_power
    print(f"coils of {reactance:.0f} ohm: {z:.2f} ohm, efficiency {solution.efficiency():.3f}, power {spent:.5f}")
    band = np.linspace(0.85, 1.15, points) * FREQUENCY
    curves = {
        name: np.array([-dipole(HALF, loads, each).solve().input_impedance.imag for each in band])
        for name, loads in (("with coils", coils(reactance)), ("without", []))
    }
    cal.plots.cartesian(band / 1e6, curves, "frequency (MHz)", "reactance at the feed (ohm)", folder / "reactance.png")
    assert abs(known - (185.72 + 98.7j)) < 0.05 * abs(known), known
    assert abs(z.imag) < 1e-6 * abs(z), z
    assert abs(spent - 1) < 1e-3, spent


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
