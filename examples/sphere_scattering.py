"""Target strength of a hard and a soft sphere.

A plane wave along +z meets a sphere of radius 1 m at k a = 4. The hard sphere is solved by the equation of Burton and
Miller for the total pressure, the soft one by the combined-field equation for its normal derivative; both are compared
with the series of partial waves. Angle 0 is forward.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

K, RADIUS = 4.0, 1.0


def main(folder: Path, h: float = 0.12) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mesh = cal.mesh.sphere(RADIUS, h)
    wave = cal.PlaneWave(direction=[0, 0, 1], wavenumber=K)
    angles = np.linspace(0, 2 * np.pi, 361)
    directions = np.stack([np.sin(angles), 0 * angles, np.cos(angles)], axis=1)
    cases = {
        "hard": (cal.SoundHardScattering(mesh, K), cal.exact.rigid_sphere(K, RADIUS)),
        "soft": (cal.SoundSoftScattering(mesh, K), cal.exact.soft_sphere(K, RADIUS)),
    }
    errors = {}
    for name, (problem, series) in cases.items():
        solution = problem.solve(wave, rtol=1e-6)
        far, exact = solution.far_field(directions), series.far_field(directions)
        errors[name] = np.linalg.norm(far - exact) / np.linalg.norm(exact)
        print(solution.info)
        print(f"{name} sphere, far field: relative error {errors[name]:.2e}")
        cal.plots.polar(
            angles,
            {"calderon": solution.target_strength(directions)},
            "dB re 1 m",
            folder / f"{name}.png",
            exact=series.target_strength(directions),
            quantity="target strength",
            incident=0.0,
            title=f"Sound-{name} sphere, k a = {K * RADIUS:g}",
        )
        cal.plots.surface(solution.surface, "abs", folder / f"{name}_surface.png")
    assert max(errors.values()) < 2e-3, errors


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
