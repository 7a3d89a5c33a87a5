"""Impedance, pattern and near field of a dipole cut from a thin strip of metal.

A strip of length L and width L / 250 is fed in its middle by one volt across a gap. It resonates a little below half a
wavelength, where its impedance is real, and radiates like a thin wire there: checked are the resonant length, the
resistance and the gain (2.15 dBi for the sinusoidal current of a half-wave dipole). The curve drawn with the impedance
is the theory of induced electromotive force for a wire of the radius L / 1000, to which such a strip is equivalent.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import calderon as cal

LENGTH, WIDTH = 1.0, 1.0 / 250
FEED = cal.DeltaGap(line=[[-WIDTH / 2, 0, 0], [WIDTH / 2, 0, 0]])


def dipole(mesh: cal.TriangleMesh, wavelengths: float) -> cal.PECAntenna:
    """The strip at the frequency at which its length is so many wavelengths."""
    return cal.PECAntenna(mesh, 2 * np.pi * wavelengths / LENGTH, FEED)


def main(folder: Path, cells: int = 60) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mesh = cal.mesh.plate([WIDTH, LENGTH], LENGTH / cells)
    resonant = float(brentq(lambda x: dipole(mesh, x).solve().input_impedance.imag, 0.46, 0.49, xtol=1e-5))
    antenna = dipole(mesh, resonant)
    solution = antenna.solve()
    print(antenna)
    print(solution)
    resistance, gain = solution.input_impedance.real, float(solution.gain(np.pi / 2, 0.0, decibels=True))
    print(f"resonance at {resonant:.4f} wavelengths, {resistance:.1f} ohm, gain {gain:.2f} dBi broadside")
    balance = solution.radiated_power() / solution.input_power - 1
    print(f"radiated less input power: {balance:.1e} of it")

    draw_impedance(folder, mesh)
    cal.plots.radiation_pattern(
        solution.gain, folder / "pattern.png", planes=("xy", "xz"), title="Strip dipole along y at resonance"
    )
    draw_current(folder, solution)
    draw_near_field(folder, mesh, solution)
    solution.surface.write(folder / "current.vtu")
    assert 0.47 < resonant < 0.485, resonant
    assert 66 < resistance < 76, resistance
    assert abs(gain - 2.15) < 0.05, gain
    assert abs(balance) < 1e-6, balance


def draw_impedance(folder: Path, mesh: cal.TriangleMesh) -> None:
    """R and X over the length in wavelengths, against a thin wire."""
    lengths = np.linspace(0.4, 0.56, 17)
    strip = np.array([dipole(mesh, x).solve().input_impedance for x in lengths])
    wire = np.array(
        [
            cal.exact.thin_dipole_impedance(2 * np.pi * x / LENGTH, LENGTH, WIDTH / 4, cal.exact.VACUUM_IMPEDANCE)
            for x in lengths
        ]
    )
    curves = {"R, strip": strip.real, "X, strip": -strip.imag, "R, thin wire": wire.real, "X, thin wire": -wire.imag}
    cal.plots.cartesian(
        lengths, curves, "length (wavelengths)", "input resistance R and reactance X (ohm)", folder / "impedance.png"
    )


def draw_current(folder: Path, solution: "cal.formulations.AntennaSolution") -> None:
    """The current along the strip in mA, against a sinusoid: the mean of the two triangles of each cell."""
    mesh, k = solution.surface.space.mesh, solution.currents.wavenumber
    order = np.argsort(mesh.centroids[:, 1]).reshape(-1, 2)
    y = mesh.centroids[order, 1].mean(axis=1)
    current = WIDTH * np.abs(solution.surface.at_centroids()[order, 1].mean(axis=1))
    sinusoid = np.sin(k * (LENGTH / 2 - np.abs(y))) / np.sin(k * LENGTH / 2) * abs(solution.feed_currents[0])
    cal.plots.cartesian(
        y, {"strip": 1e3 * current, "sinusoid": 1e3 * sinusoid}, "y (m)", "current for 1 V (mA)", folder / "current.png"
    )


def draw_near_field(folder: Path, mesh: cal.TriangleMesh, solution: "cal.formulations.AntennaSolution") -> None:
    """|E| in dB re 1 V/m on the plane x = 0.02 m next to the strip, peak values for 1 V."""
    points = cal.plots.slice_points([0.02, 0, 0], [0, 0, 1.2], [0, 1.6, 0], (80, 60))
    field = np.linalg.norm(solution.electric(points.reshape(-1, 3)), axis=1).reshape(points.shape[:2])
    cal.plots.field_slice(
        points, field, mesh, "db", folder / "near_field.png", name="|E|", unit="V/m", title="Electric field, 1 V"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
