"""A steel foundation plate that a machine drives: how easily it moves, in air and under water.

A force of 1 N acts at right angles on a plate of 0.8 x 0.5 x 0.03 m, near a corner. Its input mobility, the velocity
over the force, falls below the first resonance as that of a rigid plate, and above goes up and down around that of a
plate without end, 1 / (8 sqrt(B m)), with the bending stiffness B = E d^3 / (12 (1 - nu^2)) and the mass m of an area
(L. Cremer, M. Heckl and B. A. T. Petersson, Structure-Borne Sound (2005), chapter 5). Water moves with the plate: its
resonances fall. Those in vacuo are marked.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

LENGTH, WIDTH, DEPTH = 0.8, 0.5, 0.03
STEEL = cal.ElasticMaterial(210e9, 0.3, 7850.0, loss_factor=0.02)
POINT = np.array([0.3, 0.15, DEPTH / 2])


def main(folder: Path, count: int = 60, cells: tuple[int, int, int] = (8, 5, 1)) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    corner = np.array([LENGTH, WIDTH, DEPTH]) / 2
    plate = cal.mesh.box(-corner, corner, cells)
    hertz = np.linspace(20.0, 800.0, count)
    mobilities, solutions = {}, {}
    for name, fluid in {"in air": cal.Fluid.air(), "in water": cal.Fluid.water()}.items():
        driven = cal.ElasticScattering(
            plate, frequency=hertz[-1], material=STEEL, fluid=fluid, point_forces=[(POINT, [0, 0, 1.0])]
        )
        solutions[name] = [driven.at(2 * np.pi * f / fluid.speed_of_sound).solve() for f in hertz.tolist()]
        velocity = [-1j * each.omega * each.displacement(POINT)[0, 2] for each in solutions[name]]
        mobilities[name] = np.array(velocity)
    vacuum = driven.structure.modes(12, shift=(2 * np.pi * 100.0) ** 2)[0]
    vacuum = vacuum[(vacuum > 10) & (vacuum < hertz[-1])]  # without the six motions of a rigid body
    print("resonances in vacuo:", np.round(vacuum), "Hz")

    mass = STEEL.density * LENGTH * WIDTH * DEPTH
    arms = mass / 12 * np.array([WIDTH**2, LENGTH**2]) + mass / 12 * DEPTH**2
    rigid = (1 / mass + POINT[1] ** 2 / arms[0] + POINT[0] ** 2 / arms[1]) / (2 * np.pi * hertz)
    bending = STEEL.youngs_modulus * DEPTH**3 / (12 * (1 - STEEL.poissons_ratio**2))
    endless = 1 / (8 * np.sqrt(bending * STEEL.density * DEPTH))
    curves = {name: np.abs(each) for name, each in mobilities.items()}
    figure = cal.plots.cartesian(
        hertz, {**curves, "rigid plate": rigid, "plate without end": np.full(count, endless)}, "frequency (Hz)",
        "input mobility (m/(N s))", yscale="log",
        limits=(0.1 * endless, 40 * endless),
    )  # fmt: skip
    axes = figure.axes[0]
    for each in vacuum:
        axes.axvline(each, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    figure.savefig(folder / "mobility.png", dpi=200)

    powers = {name: [10 * np.log10(each.radiated_power() / 1e-12) for each in solutions[name]] for name in solutions}
    cal.plots.cartesian(
        hertz, powers, "frequency (Hz)", "sound power level (dB re 1 pW)", folder / "power.png",
        title="Steel plate, driven by 1 N near a corner",
    )  # fmt: skip
    loudest = solutions["in water"][int(np.argmax(powers["in water"]))]
    plane = cal.plots.slice_points([0.004, 0.01, 0.002], [2.0, 0, 0], [0, 0, 1.4], (92, 131))
    field = loudest.field(plane.reshape(-1, 3)).reshape(plane.shape[:2])
    level = 20 * np.log10(np.maximum(np.abs(field), 1e-12) / np.sqrt(2) / 1e-6)
    top = round(float(level.max()))
    cal.plots.field_slice(
        plane, level, loudest.mesh, "level", folder / "water.png", name="level", unit="dB re 1 µPa",
        limits=(top - 40, top), title=f"In water at {loudest.frequency:.0f} Hz",
    )  # fmt: skip
    # at the lowest frequency, a tenth of the first resonance, the plate moves as a rigid body, and gives way a little
    error = abs(curves["in air"][0] / rigid[0] - 1)
    print(f"mobility at {hertz[0]:.0f} Hz: {error:.1%} apart from that of a rigid plate")
    assert error < 0.05
    assert all(each.real.min() > 0 for each in mobilities.values())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
