"""A pyramidal horn fed by its waveguide: reflection, pattern, and the field in the horn and ahead of it.

The plane that cuts the guide is a port with the modes of its cross-section: the wave TE10 comes in, what the horn
reflects goes out again, and no gap or probe has to be invented. Checked are the gain by the theory of the aperture (a
mode TE10 with a quadratic phase; C. A. Balanis, Antenna Theory, section 13.4), and that the horn radiates the power
that the guide brings.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import fresnel

import calderon as cal

FREQUENCY = 10e9
WAVELENGTH = cal.exact.SPEED_OF_LIGHT / FREQUENCY
GUIDE, APERTURE = (22.86e-3, 10.16e-3), (60e-3, 45e-3)  # WR-90
SECTION, FLARE = 12e-3, 55e-3


def horn_mesh(h: float) -> cal.TriangleMesh:
    """A box without its top, widened; tags of the walls and of the plane in the guide."""
    middle = [(small + large) / 2 for small, large in zip(GUIDE, APERTURE, strict=True)]
    box = cal.mesh.cuboid([*middle, SECTION + FLARE], h)
    vertices = box.vertices - [0, 0, box.vertices[:, 2].min()]
    part = np.clip((vertices[:, 2] - SECTION) / FLARE, 0, 1)
    for axis in range(2):
        vertices[:, axis] *= (GUIDE[axis] + (APERTURE[axis] - GUIDE[axis]) * part) / middle[axis]
    z = vertices[box.triangles, 2].mean(axis=1)
    kept = z < SECTION + FLARE - 1e-9
    return cal.TriangleMesh(vertices, box.triangles[kept], (z < 1e-9).astype(int)[kept], {"walls": 0, "guide": 1})


def aperture_gain() -> float:
    """In dBi, of TE10 with the phases of both flares."""
    (a, b), (a1, b1) = GUIDE, APERTURE
    in_e, in_h = FLARE * b1 / (b1 - b), FLARE * a1 / (a1 - a)
    s, c = fresnel(b1 / np.sqrt(2 * WAVELENGTH * in_e))
    of_e = 64 * a * in_e / (np.pi * WAVELENGTH * b1) * (c**2 + s**2)
    ratio = np.sqrt(WAVELENGTH * in_h) / a1
    (su, sv), (cu, cv) = fresnel(np.array([ratio + 1 / ratio, ratio - 1 / ratio]) / np.sqrt(2))
    of_h = 4 * np.pi * b * in_h / (a1 * WAVELENGTH) * ((cu - cv) ** 2 + (su - sv) ** 2)
    return float(10 * np.log10(np.pi * WAVELENGTH**2 / (32 * a * b) * of_e * of_h))


def main(folder: Path, h: float = 4.5e-3) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    surfaces = {"walls": cal.Sheet("air"), "guide": cal.WaveguidePort("air", "air", into=(0, 0, 1))}
    horn = cal.MaxwellProblem(horn_mesh(h), regions={"air": cal.Material()}, surfaces=surfaces, frequency=FREQUENCY)
    solution = horn.solve(method="dense")
    reflection = 20 * np.log10(abs(horn.scattering_matrix(method="dense")[0, 0]))
    gain, theory = float(solution.gain(0.0, 0.0, decibels=True)), aperture_gain()
    balance = solution.radiated_power() / solution.input_power - 1
    print(horn)
    print(f"S11 {reflection:.1f} dB, gain {gain:.2f} dBi, by the theory of the aperture {theory:.2f} dBi")
    print(f"powers differ by {balance:.1e}")
    cal.plots.radiation_pattern(
        solution.gain, folder / "pattern.png", planes=("xz", "yz"), title="Horn at 10 GHz, gain"
    )
    draw_field(folder, solution)
    assert abs(gain - theory) < 0.4, (gain, theory)
    assert reflection < -20, reflection
    assert abs(balance) < 1e-4, balance


def draw_field(folder: Path, solution: Any) -> None:
    """|E| in dB re 1 V/m, for 1/2 W, in the plane of the electric field."""
    points = cal.plots.slice_points([0, 0, 0.0752], [0, 0.11, 0], [0, 0, 0.15], (110, 150))
    field = np.linalg.norm(solution.electric(points.reshape(-1, 3)), axis=1).reshape(points.shape[:2])
    cal.plots.field_slice(
        points, field, None, "db", folder / "field.png", name="|E|", unit="V/m", title="Electric field of a horn, 0.5 W"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
