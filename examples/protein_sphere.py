"""Twenty charges in a ball of low permittivity in salt water, as a protein has: solvation energy against the series.

A ball of 20 Angstrom with a permittivity of 4 lies in water of 78.5 with a Debye length of 8 Angstrom (150 mmol/l of
salt). The potential that polarised water and ions give back is, at a charge q' with the angle gamma to another one q,

    q / (4 pi eps0 eps_1 a) sum_n b_n (r r' / a^2)^n P_n(cos gamma),

    b_n = (eps_1 (n + 1) + eps_2 L_n) / (eps_1 n - eps_2 L_n),   L_n = x k_n'(x) / k_n(x), x = a over the Debye length

(J. G. Kirkwood, J. Chem. Phys. 2 (1934), 351), k_n the modified spherical Bessel functions that decay.
"""

import sys
from pathlib import Path

import numpy as np
import scipy

import calderon as cal

ANGSTROM, CHARGE, MOLE = scipy.constants.angstrom, scipy.constants.e, scipy.constants.N_A
RADIUS, DEBYE = 20.0 * ANGSTROM, 8.0 * ANGSTROM
INSIDE, WATER = 4.0, 78.5


def charges(count: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Places up to 17 Angstrom from the centre, and elementary charges of both signs; four lie at y = 0."""
    random = np.random.default_rng(3)
    places = random.normal(size=(count, 3))
    places *= (17 * ANGSTROM * random.random(count) ** (1 / 3) / np.linalg.norm(places, axis=1))[:, None]
    places[:4] = ANGSTROM * np.array([[12.0, 0, 8], [-9, 0, 9], [-4, 0, -14], [10, 0, -8]])
    signs = np.where(np.arange(count) % 2, -1.0, 1.0)
    return places, CHARGE * signs


def series(places: np.ndarray, q: np.ndarray, terms: int = 120) -> float:
    """The solvation energy in J."""
    n, x = np.arange(terms), RADIUS / DEBYE
    steps = -x * scipy.special.kve(n - 0.5, x) / scipy.special.kve(n + 0.5, x) - (n + 1)
    b = (INSIDE * (n + 1) + WATER * steps) / (INSIDE * n - WATER * steps)
    r = np.linalg.norm(places, axis=1)
    cosines = places @ places.T / np.outer(r, r)
    pairs = sum(b[k] * (np.outer(r, r) / RADIUS**2) ** k * scipy.special.eval_legendre(k, cosines) for k in n.tolist())
    return float(q @ pairs @ q / (8 * np.pi * cal.exact.VACUUM_PERMITTIVITY * INSIDE * RADIUS))


def main(folder: Path, h: float = 3.6) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    places, q = charges()
    mesh = cal.mesh.sphere(RADIUS, h * ANGSTROM)
    water = cal.Region(permittivity=WATER, debye_length=DEBYE)
    problem = cal.StaticProblem(mesh, {"protein": cal.Region("all", permittivity=INSIDE)}, outside=water)
    sources = [cal.PointCharge(x, each) for x, each in zip(places, q.tolist(), strict=True)]
    solution = problem.solve(sources=sources)
    found, exact = solution.solvation_energy, series(places, q)
    print(
        f"{problem.unknowns} unknowns: {found * MOLE / 1e3:.3f} kJ/mol, by the series {exact * MOLE / 1e3:.3f} kJ/mol"
    )

    points = cal.plots.slice_points([0, 0, 0], [6.4e-9, 0, 0], [0, 0, 6.4e-9], (180, 180))
    volts = solution.field(points)
    in_water = np.where(np.linalg.norm(points, axis=2) > RADIUS, 1e3 * volts, np.nan)
    cal.plots.field_slice(
        points / ANGSTROM, 1e3 * volts, mesh.scaled(1 / ANGSTROM), "real", folder / "potential.png", name="u",
        unit="mV",
        blank="none", limits=(-100, 100), contours=in_water, levels=23, length="Å",
    )  # fmt: skip
    cal.plots.surface(solution.surface, "real", folder / "surface.png", renderer="matplotlib")
    assert abs(found / exact - 1) < 5e-3


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
