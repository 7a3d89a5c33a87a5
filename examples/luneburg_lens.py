"""A Luneburg lens for sound: a ball whose speed of sound falls toward its centre collects a plane wave on its far side.

With the square n = 2 - r^2 / a^2 of the index of refraction, rays of a plane wave meet in one point of the surface. A
lens of a few wavelengths, k a = 6, has a focus as wide as half a wavelength, a little inside. Quadratic finite elements
in the ball and boundary elements around it are compared with partial waves of 60 layers of constant speed.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

K, RADIUS = 6.0, 1.0


def index(x: np.ndarray) -> np.ndarray:
    """The speed of sound outside over that at points (n, 3)."""
    return np.sqrt(np.maximum(2 - (x**2).sum(axis=1) / RADIUS**2, 1.0))


def main(folder: Path, h: float = 0.15) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    volume = cal.mesh.ball(RADIUS, h)
    lens = cal.InhomogeneousScattering(volume, K, density_ratio=1.0, interior_wavenumber=lambda x: K * index(x))
    solution = lens.solve(cal.PlaneWave([0, 0, 1]))
    print(lens, solution.info, sep="\n")

    faces = np.linspace(0, RADIUS, 61)
    middles = (faces[1:] + faces[:-1]) / 2
    layers = K * index(middles[:, None] * [0, 0, 1])
    series = cal.exact.layered_fluid_sphere(K, faces[1:], layers, np.ones(60))
    z = np.linspace(-2, 3, 201)
    axis = z[:, None] * [0, 0, 1]
    found, exact = solution.field(axis), series.total(axis)
    error = np.abs(found - exact).max() / np.abs(exact).max()
    peak = int(np.abs(found).argmax())
    print(f"on the axis: up to {error:.2%} of the peak apart from the series, which is {np.abs(exact).max():.3f}")
    print(f"the peak lies at z = {z[peak]:.2f} m")
    figure = cal.plots.cartesian(
        z, {"calderon": np.abs(found)}, "z (m)", "|pressure| over that of the incident wave",
        exact=np.abs(exact), title=f"Luneburg lens, k a = {K:g}: on the axis",
    )  # fmt: skip
    axes = figure.axes[0]
    axes.axvspan(-RADIUS, RADIUS, color="0.92", zorder=0)
    axes.text(0, axes.get_ylim()[1] * 0.96, "in the lens", ha="center", va="top")
    figure.savefig(folder / "axis.png", dpi=200)

    plane = cal.plots.slice_points([0, 0, 0.5], [4.2, 0, 0], [0, 0, 5.0], (125, 105))
    field = solution.field(plane.reshape(-1, 3)).reshape(plane.shape[:2])
    for quantity, name in (("abs", "focus"), ("real", "wave")):
        cal.plots.field_slice(
            plane, field, lens.mesh, quantity, folder / f"{name}.png", blank="none", incident=[0, 0, 1],
            name="p", unit="Pa",
        )  # fmt: skip
    assert error < 0.035 * (h / 0.15) ** 3  # third order
    assert 0.7 < z[peak] < 1.0


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
