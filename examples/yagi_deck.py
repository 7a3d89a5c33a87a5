"""A Yagi antenna of six wires from a deck of NEC-2: impedance and gain over a band, pattern, near field.

The deck has a reflector, a driven dipole and four directors. Checked are the impedance and the gain that NEC-2 prints
for the same deck, 45.6 - 0.8j ohm and 11.14 dBi, and that the antenna radiates what its port delivers. The band follows
from about ten solved frequencies, between which rational functions give the reflection.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

WAVELENGTH = 1.0
FREQUENCY = cal.exact.SPEED_OF_LIGHT / WAVELENGTH
LENGTHS = (0.495, 0.47, 0.44, 0.43, 0.43, 0.43)
PLACES = (-0.2, 0.0, 0.2, 0.45, 0.7, 0.95)
DRIVEN = 1


def write_deck(path: Path) -> None:
    """The antenna along x, its elements along y, radius 1 mm, as cards."""
    wires = [
        f"GW {number + 1} 41 {x} {-length / 2} 0 {x} {length / 2} 0 1e-3"
        for number, (length, x) in enumerate(zip(LENGTHS, PLACES, strict=True))
    ]
    rest = ["GE 0", f"EX 0 {DRIVEN + 1} 21 0 1 0", f"FR 0 1 0 0 {FREQUENCY / 1e6} 0", "EN"]
    path.write_text("\n".join(["CM Yagi, six elements", "CE", *wires, *rest]) + "\n")


def main(folder: Path, points: int = 301) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_deck(folder / "yagi.nec")
    antenna = cal.read_nec(folder / "yagi.nec").antenna()
    solution = antenna.solve()
    print(antenna)
    print(solution)
    z, gain = solution.input_impedance.conjugate(), float(solution.gain(np.pi / 2, 0.0, decibels=True))
    behind = float(solution.gain(np.pi / 2, np.pi, decibels=True))
    balance = solution.radiated_power() / solution.input_power - 1
    print(f"Z = {z:.1f} ohm, gain {gain:.2f} dBi, front to back {gain - behind:.1f} dB, powers differ by {balance:.1e}")

    sweep = antenna.sweep(0.9 * FREQUENCY, 1.1 * FREQUENCY, points)
    sweep.write_touchstone(folder / "yagi.s1p")
    draw_band(folder, antenna, sweep)
    cal.plots.radiation_pattern(
        solution.gain, folder / "pattern.png", planes=("xy", "xz"), title="Yagi antenna of six elements, gain"
    )
    draw_field(folder, solution)
    solution.to_html(folder / "currents.html")
    assert abs(z - (45.6 - 0.8j)) < 0.08 * abs(z), z
    assert abs(gain - 11.14) < 0.15, gain
    assert abs(balance) < 1e-4, balance


def draw_band(folder: Path, antenna: cal.WireAntenna, sweep: "cal.formulations.PortSweep") -> None:
    """R and X, and the gain ahead, over the frequency."""
    megahertz, z = sweep.frequencies / 1e6, sweep.z[:, 0, 0].conj()
    curves = {"R": z.real, "X": z.imag}
    cal.plots.cartesian(
        megahertz, curves, "frequency (MHz)", "input resistance R and reactance X (ohm)", folder / "z.png"
    )
    some = np.linspace(sweep.frequencies[0], sweep.frequencies[-1], 21)
    solved = [antenna.at(f).solve() for f in some]
    ahead = [float(each.gain(np.pi / 2, 0.0, decibels=True)) for each in solved]
    behind = [float(each.gain(np.pi / 2, np.pi, decibels=True)) for each in solved]
    gains = {"ahead": np.array(ahead), "behind": np.array(behind)}
    cal.plots.cartesian(some / 1e6, gains, "frequency (MHz)", "gain (dBi)", folder / "gain.png")


def draw_field(folder: Path, solution: "cal.formulations.WireSolution") -> None:
    """|E| in dB re 1 V/m, for 1 V, on a plane just above the elements."""
    points = cal.plots.slice_points([0.4, 0, 0.02], [2.4, 0, 0], [0, 1.6, 0], (160, 110))
    field = np.linalg.norm(solution.electric(points.reshape(-1, 3)), axis=1).reshape(points.shape[:2])
    cal.plots.field_slice(
        points, field, None, "db", folder / "field.png", name="|E|", unit="V/m", title="Electric field of a Yagi, 1 V"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
