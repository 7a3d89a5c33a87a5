"""Potentials of a current dipole on a head of three shells, toward the skull, against their series.

Brain, skull and scalp are spheres with conductivities of 0.33, 0.0042 and 0.33 S/m, insulated outside. Potentials on
the scalp, less their mean, are compared by two numbers: RDM = |u/|u| - v/|v||, of their shape, and MAG = |u|/|v|, of
their size, for a dipole that is oblique to the radius.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

RADII, SIGMA = [0.87, 0.92, 1.0], [0.33, 0.0042, 0.33]
MOMENT = np.array([0.5, 0.0, 1.0])


def head(h: float) -> cal.StaticProblem:
    """The three shells on meshes with edges h."""
    names = ["brain", "skull", "scalp"]
    mesh = cal.mesh.joined({name: cal.mesh.sphere(r, h) for name, r in zip(names, RADII, strict=True)})
    regions = {
        name: cal.Region(names[max(0, n - 1) : n + 1], conductivity=sigma)
        for n, (name, sigma) in enumerate(zip(names, SIGMA, strict=True))
    }
    return cal.StaticProblem(mesh, regions, outside=None)


def main(folder: Path, h: float = 0.25) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    problem = head(h)
    points = problem.mesh.restricted("scalp").vertices
    depths = np.array([0.1, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8])
    places = depths[:, None] * [0.0, 0.0, 1.0]
    leads = problem.lead_field(points, places)
    rdm, mag = [], []
    for n, place in enumerate(places):
        u = leads[:, n] @ MOMENT
        v = cal.exact.layered_head(RADII, SIGMA, place, MOMENT, points)
        u, v = u - u.mean(), v - v.mean()
        rdm.append(np.linalg.norm(u / np.linalg.norm(u) - v / np.linalg.norm(v)))
        mag.append(np.linalg.norm(u) / np.linalg.norm(v))
    print("radius", depths, "RDM", np.round(rdm, 4), "MAG", np.round(mag, 4), sep="\n")
    errors = {"RDM": 100 * np.array(rdm), "|MAG - 1|": 100 * np.abs(np.array(mag) - 1)}
    cal.plots.cartesian(depths, errors, "radius of the dipole over that of the head", "%", folder / "errors.png")
    solution = problem.solve(sources=[cal.StaticDipole(places[2], MOMENT)])
    cut = cal.plots.slice_points([0, 0, 0], [2.1, 0, 0], [0, 0, 2.1], (160, 160))
    potential = solution.field(cut.reshape(-1, 3)).reshape(cut.shape[:2])
    limit = float(np.abs(solution.surface.coefficients).max())
    cal.plots.field_slice(
        cut, potential, problem.mesh, "real", folder / "potential.png", name="u", unit="V", blank="none",
        limits=(-limit, limit), contours=np.clip(potential, -limit, limit), levels=24,
    )  # fmt: skip
    assert max(rdm[:3]) < 0.01 and max(rdm) < 0.06
    assert max(np.abs(np.array(mag) - 1)) < 0.03


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
