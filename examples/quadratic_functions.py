"""Linear and quadratic functions on the same coarse mesh.

Sound meets a rigid sphere that is described by few triangles. With P2, quadratic on each triangle, the pressure has
four times as many unknowns as with P1, and the error of the far field against the series of partial waves is several
times smaller. P1 on a finer mesh with as many unknowns is about as good here, where flat triangles describe a sphere.

"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

WAVENUMBER = 2.5


def main(folder: Path, h: float = 0.4) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    wave = cal.PlaneWave(direction=[1, 0, 0], wavenumber=WAVENUMBER)
    angles = np.linspace(0, 2 * np.pi, 181)
    directions = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    exact = cal.exact.rigid_sphere(WAVENUMBER, 1.0, [1, 0, 0]).far_field(directions)
    curves, errors = {}, {}
    for name, space, size in (("P1", "P1", h), ("P2", "P2", h), ("P1, finer mesh", "P1", h / 2)):
        problem = cal.SoundHardScattering(cal.mesh.sphere(1.0, size), WAVENUMBER, space=space)
        far = problem.solve(wave, rtol=1e-6).far_field(directions)
        errors[name] = np.linalg.norm(far - exact) / np.linalg.norm(exact)
        curves[name] = 20 * np.log10(np.abs(far - exact) / np.abs(exact).max())
        print(f"{name}: {problem.function_space.dimension} unknowns, error of the far field {errors[name]:.2e}")
    cal.plots.cartesian(
        np.degrees(angles),
        curves,
        "angle (degrees)",
        "error of the far field (dB of its largest)",
        folder / "error.png",
    )
    assert errors["P2"] < errors["P1"] / 3, errors
    assert errors["P2"] < 0.01, errors


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
