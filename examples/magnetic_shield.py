"""A shield of two shells of iron in a uniform magnetic field: what is left inside, against the exact solution.

Each shell has a relative permeability of 1000. In every layer the potential is (A r + B / r^2) cos(theta); with the
potential and the normal component of B continuous at each sphere, the field inside follows from products of 2 x 2
matrices. Two thin shells with air between them shield more than one that is as thick as both.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

RADII, PERMEABILITY = [0.7, 0.75, 0.95, 1.0], 1000.0


def left_inside(radii: list[float], constants: list[float]) -> float:
    """The field inside of spheres over that far away; constants: permeabilities of layers, from inside to outside."""
    coefficients = np.array([1.0, 0.0])  # A and B inside
    for r, inner, outer in zip(radii, constants[:-1], constants[1:], strict=True):
        rows = [np.array([[r, r**-2], [mu, -2 * mu * r**-3]]) for mu in (inner, outer)]
        coefficients = np.linalg.solve(rows[1], rows[0] @ coefficients)
    return float(1 / coefficients[0])


def main(folder: Path, h: float = 0.3) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mesh = cal.mesh.joined({f"r{n}": cal.mesh.sphere(r, h * r) for n, r in enumerate(RADII)})
    regions = {
        "room": cal.Region("r0", permeability=1.0),
        "inner shell": cal.Region(["r0", "r1"], permeability=PERMEABILITY),
        "gap": cal.Region(["r1", "r2"], permeability=1.0),
        "outer shell": cal.Region(["r2", "r3"], permeability=PERMEABILITY),
    }
    problem = cal.StaticProblem(mesh, regions)
    solution = problem.solve(sources=[cal.UniformField([0, 0, 1.0])])
    found = float(solution.field_strength([[0, 0, 0.0]])[0, 2])
    exact = left_inside(RADII, [1.0, PERMEABILITY, 1.0, PERMEABILITY, 1.0])
    single = left_inside([0.9, 1.0], [1.0, PERMEABILITY, 1.0])
    print(f"{problem.unknowns} unknowns: {found:.6f} of the field is left, exactly {exact:.6f}")
    print(f"one shell as thick as both leaves {single:.5f}")
    points = cal.plots.slice_points([0, 0, 0], [3.0, 0, 0], [0, 0, 3.0], (160, 160))
    flat = points.reshape(-1, 3)
    strength = np.linalg.norm(solution.field_strength(flat), axis=1).reshape(160, 160)
    cal.plots.field_slice(
        points, strength, mesh, "db", folder / "shield.png", name="|H|", unit="A/m", blank="none",
        limits=(-70.0, 10.0), contours=solution.field(flat).reshape(160, 160), levels=24,
    )  # fmt: skip
    assert abs(found / exact - 1) < 2e-3
    assert exact < 0.5 * single


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
