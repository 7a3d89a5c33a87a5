"""Plate capacitors: one thin disc, and two facing each other.

The charge of a thin disc of radius a at potential 1 is 8 eps0 a, that is C / (4 pi eps0) = 2 a / pi. Two discs at
distance d with potentials 1/2 and -1/2 have, by Kirchhoff (1877), up to terms that vanish with d / a,

    C / (4 pi eps0) = a^2 / (4 d) + a / (4 pi) (ln(16 pi a / d) - 1).

The first term is the textbook's; at d = a / 5 the edge adds more than a quarter to it. Both surfaces are open: the
density is the sum over the two faces, with an inverse square root at the edge, where constant functions converge slowly
from below.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

RADIUS, DISTANCE = 1.0, 0.2


def charge_density(mesh: cal.TriangleMesh, potential) -> cal.Function:
    """sigma with V sigma = potential (a number or a function of points)."""
    space = cal.P0(mesh)
    matrix = cal.single_layer(cal.Laplace(), space).assemble()
    coefficients, _ = cal.cg(matrix, space.load_vector(potential), rtol=1e-8)
    return cal.Function(space, coefficients, label="charge density over eps0", unit="V/m")


def main(folder: Path, h: float = 0.1) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    disc = cal.mesh.disc(RADIUS, h)
    single = charge_density(disc, 1.0).integral() / (4 * np.pi)
    exact = cal.exact.disc_capacitance(RADIUS)
    print(f"disc: {single:.4f} m, exact {exact:.4f} m")

    up, down = disc.translated([0, 0, DISTANCE / 2]), disc.translated([0, 0, -DISTANCE / 2])
    mesh = cal.mesh.merge([up, down])
    density = charge_density(mesh, lambda x: 0.5 * np.sign(x[:, 2]))
    charges = density.coefficients * mesh.areas
    upper, lower = charges[mesh.centroids[:, 2] > 0].sum(), charges[mesh.centroids[:, 2] < 0].sum()
    capacitance = (upper - lower) / 2 / (4 * np.pi)
    edge = RADIUS / (4 * np.pi) * (np.log(16 * np.pi * RADIUS / DISTANCE) - 1)
    kirchhoff = RADIUS**2 / (4 * DISTANCE) + edge
    print(f"two discs: {capacitance:.4f} m, Kirchhoff {kirchhoff:.4f} m, without the edge {kirchhoff - edge:.4f} m")

    points = cal.plots.slice_points([0, 0, 0], [3.0, 0, 0], [0, 0, 1.6], (81, 151))
    potential = cal.single_layer_potential(cal.Laplace(), density).evaluate(points.reshape(-1, 3))
    cal.plots.field_slice(
        points,
        potential.reshape(points.shape[:2]),
        mesh,
        "real",
        folder / "potential.png",
        name="potential",
        unit="V",
        title="Two discs at +0.5 V and −0.5 V",
    )
    assert abs(single / exact - 1) < 0.03, single
    assert abs(capacitance / kirchhoff - 1) < 0.05, capacitance
    assert abs(upper + lower) < 1e-5 * upper, (upper, lower)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
