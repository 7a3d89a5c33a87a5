"""Sound around a rigid sphere, down to its surface.

The total pressure of a plane wave and a rigid sphere (k a = 4) on a plane through its centre, by Green's representation
from the pressure on the surface, against the series of partial waves. Points next to the triangles are integrated
adaptively, so the picture and the check go right down to a hundredth of the radius; the error there is that of the
flat triangles.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

K, RADIUS = 4.0, 1.0


def main(folder: Path, h: float = 0.15, rows: int = 100) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mesh = cal.mesh.sphere(RADIUS, h)
    wave = cal.PlaneWave(direction=[1, 0, 0], wavenumber=K)
    solution = cal.SoundHardScattering(mesh, K).solve(wave, rtol=1e-6)
    series = cal.exact.rigid_sphere(K, RADIUS, direction=[1, 0, 0])
    print(solution.info)

    points = cal.plots.slice_points([0.5, 0, 0], [6.0, 0, 0], [0, 4.0, 0], (rows, rows * 3 // 2))
    flat = points.reshape(-1, 3)
    visible = ~cal.plots.inside(mesh, points).ravel()
    field = np.full(len(flat), np.nan, dtype=complex)
    field[visible] = solution.field(flat[visible])
    compared = np.linalg.norm(flat, axis=1) > 1.01 * RADIUS
    exact = series.total(flat[compared])
    error = np.abs(field[compared] - exact).max() / np.abs(exact).max()
    print(f"on the plane: largest error {error:.2e} of the largest pressure")

    angles = np.linspace(0, 2 * np.pi, 73)
    ring = 1.01 * RADIUS * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    near, reference = solution.field(ring), series.total(ring)
    ring_error = np.abs(near - reference).max() / np.abs(reference).max()
    print(f"a hundredth of the radius above the surface: {ring_error:.2e}")

    picture = field.reshape(points.shape[:2])
    title = f"Plane wave and rigid sphere, k a = {K * RADIUS:g}"
    for quantity, name in (("real", "real"), ("abs", "magnitude")):
        file = folder / f"{name}.png"
        cal.plots.field_slice(
            points, picture, mesh, quantity, file, name="p", unit="Pa", title=title, incident=[1, 0, 0]
        )
    cal.plots.cartesian(
        np.degrees(angles),
        {"calderon": np.abs(near)},
        "angle (degrees)",
        "pressure at 1.01 a (Pa)",
        folder / "ring.png",
        exact=np.abs(reference),
    )
    assert error < 1e-2, error
    assert ring_error < 1e-2, ring_error


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
