"""A coil in a shield of iron: the stray field around it, against the exact solution.

A circular coil lies in the middle of a spherical shell of relative permeability 1000. Around the coil its potential is
a sum of A_n P_n(cos theta) / r^(n+1) over odd n; the shell adds r^n P_n(cos theta) inside, and lets a part of each term
through, by the continuity of the potential and of the normal component of B at both spheres: a matrix 2 x 2 for each.
Inside of the iron the field is found by finite elements, around and in the room by boundary elements.
"""

import sys
from pathlib import Path

import numpy as np
import scipy

import calderon as cal

COIL, INNER, OUTER, PERMEABILITY, CURRENT = 0.5, 0.8, 1.0, 1000.0, 1.0  # m, m, m, 1, A
TERMS = 2 * np.arange(30) + 1


def series(z: np.ndarray) -> np.ndarray:
    """H_z in A/m on the axis at places z > 0 out of the iron, without that of the coil alone in the room."""
    binomial = scipy.special.binom(-1.5, (TERMS - 1) / 2)
    amplitude = CURRENT * COIL ** (TERMS + 1) * binomial / (2 * (TERMS + 1))
    found = np.zeros_like(z)
    for n, a in zip(TERMS.tolist(), amplitude, strict=True):
        # b r^n in the room, c r^n + d r^-(n+1) in the iron, e r^-(n+1) outside, in units of a
        rows, mu = np.zeros((4, 4)), PERMEABILITY
        for row, (r, inner, outer) in enumerate(((INNER, 1.0, mu), (OUTER, mu, 1.0))):
            up, down = r**n, r ** -(n + 1.0)
            slope, fall = n * up / r, -(n + 1) * down / r
            terms = ([up, -up, -down, 0], [inner * slope, -outer * slope, -outer * fall, 0])
            if row:
                terms = ([0, up, down, -down], [0, inner * slope, inner * fall, -outer * fall])
            rows[2 * row : 2 * row + 2] = terms
        down = INNER ** -(n + 1.0)
        room, _, _, outside = np.linalg.solve(rows, [-down, (n + 1) * down / INNER, 0, 0])
        found += np.where(z < INNER, -n * a * room * z ** (n - 1.0), (n + 1) * a * outside / z ** (n + 2.0))
    return found


def main(folder: Path, h: float = 0.2, layers: int = 2, points: int = 181) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shell = cal.mesh.thickened(cal.mesh.sphere(OUTER, h), OUTER - INNER, layers)
    coil = cal.CurrentPath.loop(COIL, CURRENT)
    problem = cal.InhomogeneousPotential(shell, permeability=PERMEABILITY)
    solution = problem.solve(coil, rtol=1e-8)
    print(problem, solution.info, sep="\n")

    places = {"room": np.linspace(0.01, 0.78, 45), "outside": np.linspace(1.02, 3.0, 90)}
    z, error = np.concatenate(list(places.values())), {}
    alone = coil.magnetic_field(z[:, None] * [0, 0, 1])[:, 2]
    found = solution.strength(z[:, None] * [0, 0, 1])[:, 2]
    exact = series(z) + np.where(z < INNER, alone, 0.0)
    for name, own in places.items():
        part = np.isin(z, own) & ((z < 0.75) | (z > 1.1))
        error[name] = float(np.abs(found[part] / exact[part] - 1).max())
    print(f"largest error on the axis: {error['room']:.2%} in the room, {error['outside']:.1%} of what is left outside")
    print(f"at 2 m the shield leaves {np.interp(2.0, z, exact / alone):.4f} of the field of the coil")
    middle = np.searchsorted(z, INNER)  # curves end at the iron
    places, found, exact = (
        np.insert(each, middle, value) for each, value in ((z, 0.9), (found, np.nan), (exact, np.nan))
    )
    curves = {
        "coil in its shield": found,
        "coil alone": np.insert(alone, middle, coil.magnetic_field([0, 0, 0.9])[0, 2]),
    }
    figure = cal.plots.cartesian(
        places, curves, "place z on the axis (m)", "|H| (A/m)", yscale="log", exact=exact, limits=(1e-5, 3.0)
    )
    axes = figure.axes[0]
    axes.axvspan(INNER, OUTER, color="0.85", zorder=0)
    axes.text((INNER + OUTER) / 2, 1.5e-5, "iron", ha="center", va="bottom")
    figure.savefig(folder / "axis.png", dpi=200)

    places = cal.plots.slice_points([0, 0, 0], [3.6, 0, 0], [0, 0, 3.6], (points, points))
    iron = cal.plots.inside(shell.surface(), places)  # where H is far smaller than its two parts
    field = np.full(places.shape, np.nan)
    field[~iron] = solution.strength(places[~iron])
    figure = cal.plots.field_slice(
        places, np.linalg.norm(field, axis=2), shell.surface(), "db", name="|H|", unit="A/m", limits=(-80.0, 10.0)
    )
    axes, x, y = figure.axes[0], places[0, :, 0], places[:, 0, 2]
    axes.streamplot(x, y, field[..., 0], field[..., 2], color="white", linewidth=0.6, density=1.3, arrowsize=0.7)
    axes.plot([-COIL, COIL], [0, 0], "o", color="#c1121f", markeredgecolor="white", markersize=7, zorder=5)
    axes.text(0, (INNER + OUTER) / 2, "iron", ha="center", va="center")
    axes.text(
        COIL,
        -0.1,
        "coil",
        ha="center",
        va="top",
        bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.5},
    )
    figure.savefig(folder / "shield.png", dpi=200)
    assert error["room"] < 5e-3
    assert error["outside"] < 0.04 * (h / 0.2) ** 2


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
