"""Echoes of a solid steel sphere and of a steel shell in water, over frequency.

A plane wave meets a sphere of radius a = 1 m, solid or a shell of 2 % of the radius with vacuum inside. Both ring at
resonances of the steel, which change the echo between one frequency and the next. Quadratic tetrahedra and boundary
elements are compared with the series of J. J. Faran (1951), and of R. R. Goodman and R. Stern (1962). The resonances of
the order n that are marked are the peaks of the delay of its partial wave, d arg(1 + 2 c_n) / d(ka). Elements of the
shell are too stiff for narrow resonances of higher orders, which lie some percent too high: single points stand out.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.special import spherical_jn, spherical_yn

import calderon as cal

STEEL = cal.ElasticMaterial.from_wave_speeds(7700.0, longitudinal=5950.0, shear=3240.0)
WATER = cal.Fluid(1000.0, 1500.0)
THICKNESS = 0.02


def sphere(k: float) -> cal.exact.SphereScattering:
    return cal.exact.elastic_sphere(k, 1.0, STEEL, WATER)


def shell(k: float) -> cal.exact.SphereScattering:
    return cal.exact.elastic_shell(k, 1.0, 1.0 - THICKNESS, STEEL, WATER)


def resonances(series: list[cal.exact.SphereScattering], orders: range) -> dict[int, float]:
    """ka of the resonance of each order, the largest delay of its partial wave."""
    ka = np.array([each.wavenumber for each in series])
    waves = np.ones((len(ka), len(orders)), complex)
    for row, each in enumerate(series):
        for column, n in enumerate(orders):
            if n < each.number_of_terms:
                outgoing = spherical_jn(n, ka[row]) + 1j * spherical_yn(n, ka[row])
                waves[row, column] += 2 * each.outgoing_terms[n] / ((2 * n + 1) * 1j**n * outgoing)
    delays = np.gradient(np.unwrap(np.angle(waves), axis=0), ka, axis=0)
    return dict(zip(orders, ka[delays.argmax(axis=0)].tolist(), strict=True))


def main(folder: Path, count: int = 45, h: float = 0.3, fine: int = 1700) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", cal.AccuracyWarning)  # of few elements at the highest frequencies of the sphere
    wave = cal.PlaneWave([0, 0, 1])
    solid, wall = cal.mesh.ball(1.0, h), cal.mesh.thickened(cal.mesh.sphere(1.0, h), THICKNESS)
    bodies = {"sphere": (sphere, solid, range(1, 4), 9.0), "shell": (shell, wall, range(2, 5), 3.0)}
    ringing = {}
    for name, (exact, volume, orders, highest) in bodies.items():
        ka = np.linspace(0.5, highest, count)
        body = cal.ElasticScattering(volume, highest, material=STEEL, fluid=WATER)
        echoes = np.array([body.at(k).solve(wave).target_strength(np.pi, 0.0) for k in ka])
        errors = np.abs(echoes - [exact(k).target_strength(np.pi, 0.0) for k in ka])
        print(f"{name}: {body.structure.unknowns} displacements, echo {np.median(errors):.2f} dB off in the middle")
        dense = np.linspace(0.5, highest, fine)
        series = [exact(k) for k in dense]
        figure = cal.plots.cartesian(
            dense, {"series": [each.target_strength(np.pi, 0.0) for each in series]}, "k a",
            "target strength toward the source (dB re 1 m)", references={"calderon": (ka, echoes)},
            title=f"Steel {name}, a = 1 m, in water",
        )  # fmt: skip
        axes, ringing[name] = figure.axes[0], resonances(series, orders)
        for n, place in ringing[name].items():
            axes.axvline(place, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
            axes.annotate(
                f"n = {n}", (place, 0.02), xycoords=("data", "axes fraction"), rotation=90, ha="right", va="bottom",
                color="0.35", fontsize=8,
            )  # fmt: skip
            print(f"  resonance n = {n} at k a = {place:.3f}")
        figure.savefig(folder / f"{name}.png", dpi=200)
        assert np.median(errors) < 0.5 * (h / 0.3) ** 2
    at = ringing["sphere"][2]
    loud = cal.ElasticScattering(solid, at, material=STEEL, fluid=WATER).solve(wave)
    plane = cal.plots.slice_points([0, 0, 0], [4.0, 0, 0], [0, 0, 4.0], (100, 100))
    moved = loud.displacement(plane.reshape(-1, 3)).reshape(plane.shape)
    cal.plots.cut(
        plane, 1e12 * np.linalg.norm(moved, axis=2), "abs", folder / "motion.png", name="u", unit="pm",
        outlines={"steel": cal.plots.section(loud.mesh, plane)}, title=f"k a = {at:.2f}: displacement for 1 Pa",
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
