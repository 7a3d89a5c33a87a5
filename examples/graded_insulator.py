"""A graded insulator: a permittivity that falls outward makes the field in an insulator the same everywhere.

A ball of metal of radius a at a high voltage has a coat of radius b. With one material the field is largest on the
metal, where discharges begin. A permittivity eps(r) = eps_b (b/r)^2 makes eps r^2 constant, and the field of the charge
Q,

    E = Q / (4 pi eps_0 eps(r) r^2),     U = Q / (4 pi eps_0) ((b - a) / (eps_b b^2) + 1/b),

too. Quadratic finite elements in the coat and boundary elements around it are compared with both closed forms.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

METAL, COAT, LOWEST, VOLTAGE = 0.05, 0.1, 2.5, 100e3  # m, m, eps_b, V
EPSILON = cal.exact.VACUUM_PERMITTIVITY


def graded(x: np.ndarray) -> np.ndarray:
    """The relative permittivity at points (n, 3)."""
    return LOWEST * COAT**2 / (x**2).sum(axis=1)


def closed_form(r: np.ndarray, is_graded: bool) -> tuple[np.ndarray, float]:
    """The field in V/m at distances r from the centre, and the capacitance in F."""
    mean = LOWEST * COAT / METAL  # of one material, that of the graded one at the geometric mean of both radii
    fall = (COAT - METAL) / (LOWEST * COAT**2) if is_graded else (1 / METAL - 1 / COAT) / mean
    capacitance = 4 * np.pi * EPSILON / (fall + 1 / COAT)
    epsilon = np.where(r > COAT, 1.0, LOWEST * (COAT / r) ** 2 if is_graded else mean)
    return capacitance * VOLTAGE / (4 * np.pi * EPSILON * epsilon * r**2), float(capacitance)


def main(folder: Path, h: float = 0.025, layers: int = 3, points: int = 151) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    coat = cal.mesh.thickened(cal.mesh.sphere(COAT, h), COAT - METAL, layers)
    r = np.concatenate([np.linspace(1.03 * METAL, 0.97 * COAT, 30), np.linspace(1.03 * COAT, 2 * COAT, 30)])
    directions = cal.mesh.sphere(1.0, 1.0, volume=False).vertices  # over which fields are averaged
    across = cal.plots.slice_points([0, 0, 0], [0.36, 0, 0], [0, 0, 0.3], (points, points * 6 // 5))
    curves, exact = {}, {}
    for name, permittivity in {"graded": graded, "one material": LOWEST * COAT / METAL}.items():
        problem = cal.InhomogeneousPotential(coat, permittivity, electrodes={"metal": "inner"})
        solution = problem.solve(voltages={"metal": VOLTAGE})
        exact[name], capacitance = closed_form(r, name == "graded")
        found = solution.charges["metal"] / VOLTAGE
        print(f"{name}: {problem.unknowns} unknowns, {found * 1e12:.3f} pF, exactly {capacitance * 1e12:.3f} pF")
        field = solution.strength((r[:, None, None] * directions).reshape(-1, 3)).reshape(len(r), -1, 3)
        curves[name] = np.einsum("nid,id->n", field, directions) / len(directions) / 1e6
        error = float(np.abs(curves[name] * 1e6 / exact[name] - 1).max())
        print(f"the field over the radius: up to {error:.2%} apart from the closed form")
        flat = across.reshape(-1, 3)
        strength = np.linalg.norm(solution.strength(flat), axis=1).reshape(across.shape[:2])
        cal.plots.field_slice(
            across, strength / 1e6, coat.surface(), "abs", folder / f"{name.replace(' ', '_')}.png", name="E",
            unit="kV/mm", blank="none", limits=(0, 0.8), contours=solution.field(flat).reshape(across.shape[:2]),
            title=f"Insulator, {name}, 100 kV", levels=20,
        )  # fmt: skip
        assert abs(found / capacitance - 1) < 2e-3 * (3 / layers) ** 3
        assert error < 0.05 * (3 / layers) ** 2
    outside = int((r < COAT).sum())  # curves are cut at the surface, where the field jumps
    closed = np.tile(1e3 * r[::2], 2), np.concatenate([each[::2] / 1e6 for each in exact.values()])
    figure = cal.plots.cartesian(
        1e3 * np.insert(r, outside, COAT), {name: np.insert(each, outside, np.nan) for name, each in curves.items()},
        "distance from the centre (mm)", "field (kV/mm)", references={"closed forms": closed}, limits=(0, 0.9),
    )  # fmt: skip
    axes = figure.axes[0]
    axes.axvspan(1e3 * METAL, 1e3 * COAT, color="0.92", zorder=0)
    axes.text(75, 0.03, "insulator", ha="center", va="bottom")
    axes.text(150, 0.03, "air", ha="center", va="bottom")
    figure.savefig(folder / "field.png", dpi=200)
    inside = r < COAT
    peak, level = curves["one material"][inside].max(), curves["graded"][inside]
    print(f"largest field: {peak:.2f} kV/mm with one material, {level.max():.2f} kV/mm graded")
    assert level.max() / level.min() < 1.05 and peak > 1.3 * level.max()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
