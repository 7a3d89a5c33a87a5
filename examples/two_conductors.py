"""Charges of two spheres from a system of blocks.

Each conductor has a space of its own, and `cal.blocks` joins the four single layers: V sigma = potential on both. The
solutions for the potentials (1, 0) and (0, 1) are the coefficients of Maxwell's capacitance matrix. For equal spheres
of radius a at the distance d they are series of image charges, with cosh(beta) = d / (2 a),

  C11 = a sinh(beta) sum 1 / sinh((2 n - 1) beta),   C12 = -a sinh(beta) sum 1 / sinh(2 n beta),   n = 1, 2, ...

(W. R. Smythe, Static and Dynamic Electricity, section 5.082), in metres, over 4 pi eps0.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

DISTANCE = 3.0


def coefficients(h: float) -> tuple[np.ndarray, list[cal.Function]]:
    """The capacitance matrix (2, 2) over 4 pi eps0, and the charges for the potentials 1 and 0."""
    spaces = [cal.P0(cal.mesh.sphere(1.0, h).translated([x, 0, 0])) for x in (0.0, DISTANCE)]
    laplace = cal.Laplace()
    table = [[cal.single_layer(laplace, trial, test) for trial in spaces] for test in spaces]
    matrix = cal.blocks(table).assemble()
    found, first = np.zeros((2, 2)), list[cal.Function]()
    for number in range(2):
        loads = [space.load_vector(float(number == each)) for each, space in enumerate(spaces)]
        solution, _ = cal.gmres(matrix, np.concatenate(loads), rtol=1e-10)
        parts = np.split(solution, [spaces[0].dimension])
        charges = [cal.Function(*pair, "charge density over eps0", "V/m") for pair in zip(spaces, parts, strict=True)]
        found[:, number] = [charge.integral() / (4 * np.pi) for charge in charges]
        first = first or charges
    return found, first


def main(folder: Path, h: float = 0.25) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    beta, n = np.arccosh(DISTANCE / 2), np.arange(1, 60)
    exact = np.sinh(beta) * np.array([(1 / np.sinh((2 * n - 1) * beta)).sum(), -(1 / np.sinh(2 * n * beta)).sum()])
    found, charges = coefficients(h)
    errors = np.abs(found[0] / exact - 1)
    print(f"C / (4 pi eps0) = {found[0]} m, exact {exact}, errors {errors}")
    cal.plots.surface(
        charges[1], "real", folder / "induced.png", title="Charge on the earthed sphere, the other at 1 V"
    )
    assert np.all(errors < 2e-3), errors
    assert abs(found[0, 1] - found[1, 0]) < 1e-6


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
