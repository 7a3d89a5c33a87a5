"""An engine block: sound power in third octaves of velocities that a structural computation gives at vertices.

The velocities of the surface stand for those of a finite element code: vectors at all vertices and at each of twelve
frequencies, here waves of bending on the walls, which grow at their resonances, on a block that rocks. The normal part
counts. Levels of power, the radiation efficiency and the total with A-weighting follow; powers by the surface and by
the far field are compared.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

AIR = cal.Fluid.air(60.0)
BANDS = np.array([100, 125, 160, 200, 250, 315, 400, 500, 630, 800, 1000, 1250.0])  # Hz, middles of third octaves
RESONANCES = ((310.0, (1, 1)), (640.0, (2, 1)), (1050.0, (2, 2)))


def block(h: float) -> cal.TriangleMesh:
    """A block of 50 x 36 x 44 cm that is narrower below, as an oil pan is."""
    mesh = cal.mesh.cuboid([0.50, 0.36, 0.44], h)
    x, y, z = mesh.vertices.T
    narrow = 1 - 0.45 * np.clip(-z / 0.22, 0, 1) ** 2
    return cal.TriangleMesh(np.stack([x, narrow * y, z], axis=1), mesh.triangles)


def velocities(mesh: cal.TriangleMesh, frequency: float) -> np.ndarray:
    """Vectors (vertices, 3) in m/s: the block rocks about x, and its side walls bend."""
    x, y, z = mesh.vertices.T
    omega = 2 * np.pi * frequency
    rocking = 0.3 / omega * np.stack([0 * x, -z, y], axis=1) / 0.22
    bending = np.zeros(len(x), complex)
    for resonance, (m, n) in RESONANCES:
        ratio = frequency / resonance
        growth = 1 / (1 - ratio**2 - 0.05j * ratio)
        bending += growth * np.sin(m * np.pi * (x / 0.50 + 0.5)) * np.sin(n * np.pi * (z / 0.44 + 0.5))
    return rocking + 2.0 / omega * (bending * np.sign(y))[:, None] * [0, 1, 0]


def main(folder: Path, h: float = 0.055, bands: np.ndarray = BANDS) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mesh, powers, efficiencies, errors = block(h), [], [], []
    for frequency in bands:
        moving = cal.Velocity(velocities(mesh, frequency))
        solution = cal.AcousticProblem(mesh, frequency=frequency, fluid=AIR, conditions=moving).solve()
        powers.append(solution.sound_power)
        efficiencies.append(solution.radiation_efficiency)
        errors.append(solution.power_error)
        print(
            f"{frequency:6g} Hz: {solution.sound_power_level:.1f} dB re 1 pW, efficiency {efficiencies[-1]:.4f}", end=""
        )
        print(f", powers {errors[-1]:.1e} apart")
    octaves = cal.third_octaves(bands, powers, "tones", bands=bands)
    print(f"A-weighted sound power level {octaves.total_a_weighted_level:.1f} dB")
    label = "sound power level (dB re 1 pW)"
    curves = {"by third octaves": octaves.levels, "with A-weighting": octaves.a_weighted_levels}
    cal.plots.cartesian(bands, curves, "frequency (Hz)", label, folder / "power.png", xscale="log")
    cal.plots.surface(solution.surface, "abs", folder / "pressure.png")
    points = cal.plots.slice_points([0, 0, 0], [0, 1.6, 0], [0, 0, 1.2], (72, 96))
    seen = ~cal.plots.inside(mesh, points)
    level = np.full(points.shape[:2], np.nan)
    level[seen] = solution.spl(points[seen])
    top = round(float(np.nanmax(level)))
    cal.plots.field_slice(
        points, level, mesh, "level", folder / "around.png", name="level", unit="dB re 20 µPa", limits=(top - 40, top),
        title=f"{bands[-1]:g} Hz",
    )  # fmt: skip
    assert max(errors) < 0.01 * h / 0.055
    assert 0 < min(efficiencies) and efficiencies[0] < 0.1 * max(efficiencies)  # small bodies are silent


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
