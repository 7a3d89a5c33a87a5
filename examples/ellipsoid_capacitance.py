"""Capacitance of an ellipsoid on three meshes.

A conductor at potential 1 carries the charge density sigma with V sigma = 1, V the single layer of Laplace's equation.
Its capacitance C / (4 pi eps0) is the integral of sigma over 4 pi; exact is 1 / R_F(a^2, b^2, c^2) with Carlson's
elliptic integral. With a density that is constant on each triangle the Galerkin error of the capacitance, an energy, is
of third order; flat triangles with their corners on the surface would add an error of second order, triangles that
enclose the volume of the ellipsoid, as those of `cal.mesh.ellipsoid` do, add next to nothing. The density gathers at
the sharp ends of the long axis: the exact one is proportional to the distance of the tangent plane from the centre.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import calderon as cal

SEMI_AXES = (1.0, 0.7, 0.5)


def charge_density(h: float) -> cal.Function:
    """sigma for the potential 1, on a mesh of mean edge length h."""
    space = cal.P0(cal.mesh.ellipsoid(SEMI_AXES, h))
    matrix = cal.single_layer(cal.Laplace(), space).assemble()
    coefficients, _ = cal.cg(matrix, space.load_vector(1.0), rtol=1e-10)
    return cal.Function(space, coefficients, label="charge density over eps0", unit="V/m")


def main(folder: Path, sizes: Sequence[float] = (0.32, 0.22, 0.15)) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    exact = cal.exact.ellipsoid_capacitance(SEMI_AXES)
    errors = []
    for h in sizes:
        density = charge_density(h)
        capacitance = density.integral() / (4 * np.pi)
        errors.append(abs(capacitance - exact) / exact)
        count = density.space.dimension
        print(f"h = {h:.2f} m  {count:5d} triangles  C/(4 pi eps0) = {capacitance:.6f} m  error {errors[-1]:.2e}")
    order = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    print(f"exact {exact:.6f} m, order of convergence {order:.2f}")

    mesh, axes = density.space.mesh, np.array(SEMI_AXES)
    shape = 1 / np.linalg.norm(mesh.centroids / axes**2, axis=1)  # sigma = C / (a b c) times this, C as above
    deviation = density.coefficients / (exact / axes.prod() * shape) - 1
    print(f"density against the exact one: {np.sqrt(np.mean(deviation**2)):.1%} rms")

    reference = errors[0] * (np.array(sizes) / sizes[0]) ** 3  # of an energy, by constants on each triangle
    cal.plots.cartesian(
        sizes,
        {"computed": errors, "third order": reference},
        "mean edge length (m)",
        "relative error of the capacitance",
        folder / "convergence.png",
        xscale="log",
        yscale="log",
    )
    cal.plots.surface(density, "real", folder / "charge.png", title="Charge of an ellipsoid at 1 V")
    assert errors[-1] < 1e-3, errors
    assert order > 2.5, order
    assert np.sqrt(np.mean(deviation**2)) < 0.03


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
