"""A monopole on infinite metal and on square plates: how much a ground of a finite size changes.

A quarter of a wavelength stands on a ground of metal, and on plates with sides of 0.5 and 0.8 wavelengths. Checked are
the impedance on the ground against NEC-2, 42.9 + 24.8j ohm, and against half of the dipole, that all power that goes in
is radiated, and that the edges of a plate raise the beam.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

K, HEIGHT, RADIUS = 2 * np.pi, 0.25, 1e-3
FOOT = cal.WireGap([0, 0, 0], [0, 0, 1])


def on_plate(side: float) -> cal.MaxwellProblem:
    """On a plate of that side in wavelengths, in z = 0."""
    mesh = cal.mesh.plate([side, side], side / 6)
    wire = cal.Wire([[0, 0, 0], [0, 0, HEIGHT]], RADIUS, 10)
    return cal.MaxwellProblem(
        mesh, regions={"air": cal.Material()}, surfaces={0: cal.Sheet("air")}, wires=wire, ports=FOOT, wavenumber=K
    )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    wire = cal.Wire([[0, 0, 0], [0, 0, HEIGHT]], RADIUS, 20)
    both = cal.Wire([[0, 0, -HEIGHT], [0, 0, HEIGHT]], RADIUS, 40)
    dipole = cal.WireAntenna(both, FOOT, wavenumber=K).solve()
    solutions = {"infinite ground": cal.WireAntenna(wire, FOOT, wavenumber=K, ground="pec").solve()}
    solutions |= {f"plate of {side} wavelengths": on_plate(side).solve() for side in (0.5, 0.8)}
    theta = np.linspace(0, np.pi, 181)
    gains = {}
    for name, each in solutions.items():
        z = each.input_impedance.conjugate()
        gain = each.gain(theta, 0.0, decibels=True)
        gains[name] = np.where((theta > np.pi / 2) & (name == "infinite ground"), np.nan, gain)
        spent = each.radiated_power() / each.input_power
        print(
            f"{name}: {z:.1f} ohm, largest gain {gain.max():.2f} dBi at {np.degrees(theta[gain.argmax()]):.0f} degrees"
        )
        assert abs(spent - 1) < 1e-3, spent
    cal.plots.cartesian(np.degrees(theta), gains, "angle from the wire (degrees)", "gain (dBi)", folder / "gain.png",
                        limits=(-25, None))  # fmt: skip
    ground = solutions["infinite ground"].input_impedance.conjugate()
    assert abs(ground - (42.9 + 24.8j)) < 0.05 * abs(ground), ground
    assert abs(ground - dipole.input_impedance.conjugate() / 2) < 1e-6 * abs(ground), ground
    top = np.degrees(theta[np.nanargmax(gains["plate of 0.8 wavelengths"])])
    assert 30 < top < 60, top


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
