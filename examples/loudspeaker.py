"""A loudspeaker in its box: level over frequency, directivity, and the sound in front of it in time.

A square cone of 15 cm in the front of a box of 20 x 25 x 35 cm, which is else rigid; half of it is meshed, on a mirror.
The level at 1 m is that of a cone whose acceleration does not depend on the frequency, as above the resonance of a
driver: far away it is that of a point source at low frequencies, rho a S / (4 pi r), and rises by up to 6 dB where the
front becomes larger than the wavelength. Some thirty solutions give 80 frequencies, and these the response to a pulse,
which arrives after r / c and is followed by waves from the edges.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import calderon as cal

AIR = cal.Fluid.air(20.0)
STEP = 25.0  # Hz
ACCELERATION, DISTANCE = 10.0, 1.0


def box(h: float) -> cal.TriangleMesh:
    """The half y > 0 of the box, its front at x = 0.1 m, with the cone by name."""
    whole = cal.mesh.cuboid([0.2, 0.125, 0.35], h).translated([0, 0.0625, 0])
    x, y, z = np.abs(whole.centroids + [0, 0, 0.025]).T
    tags = (whole.normals[:, 0] > 0.9) & (y < 0.075) & (z < 0.075) & (x > 0.09)
    tags = np.where(y < 1e-6, 2, tags)
    named = cal.TriangleMesh(whole.vertices, whole.triangles, tags, {"box": 0, "cone": 1, "mirror": 2})
    return named.restricted(["box", "cone"])


def main(folder: Path, h: float = 0.025, highest: float = 2000.0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    velocity = {"cone": cal.Velocity(1.0)}
    problem = cal.AcousticProblem(box(h), frequency=highest, fluid=AIR, conditions=velocity, mirrors={"y": "even"})
    area = 2 * problem.mesh.areas[problem.mesh.tags == problem.mesh.names["cone"]].sum()  # 0.15^2, with its image
    frequencies = np.arange(STEP, highest + 1, STEP)
    ears = [[DISTANCE + 0.1, 0, 0], [0.1 + DISTANCE / np.sqrt(2), DISTANCE / np.sqrt(2), 0]]
    sweep = problem.sweep(frequencies, points=ears, interpolate=1e-3)
    print(sweep)

    constant = sweep.values * (ACCELERATION / (-2j * np.pi * frequencies))[:, None]
    levels = 20 * np.log10(np.abs(constant) / np.sqrt(2) / 20e-6)
    monopole = 20 * np.log10(AIR.density * ACCELERATION * area / (4 * np.pi * DISTANCE) / np.sqrt(2) / 20e-6)
    curves = {
        "on the axis": levels[:, 0],
        "45 degrees off it": levels[:, 1],
        "point source": 0 * frequencies + monopole,
    }
    label = "level at 1 m (dB re 20 µPa)"
    cal.plots.cartesian(frequencies, curves, "frequency (Hz)", label, folder / "level.png", xscale="log")
    low = problem.at(2 * np.pi * STEP / AIR.speed_of_sound).solve().far_field([[1, 0, 0]])[0]
    ratio = 4 * np.pi * abs(low) / (2 * np.pi * STEP * AIR.density * area)
    near = levels[0, 0] - monopole
    print(f"{STEP:g} Hz: {20 * np.log10(ratio):.3f} dB above a point source far away, {near:.2f} dB at 1 m")

    angles, patterns = np.linspace(0, 2 * np.pi, 181), {}
    directions = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    for frequency in (highest / 8, highest / 2, highest):
        solution = problem.at(2 * np.pi * frequency / AIR.speed_of_sound).solve()
        index = solution.directivity_index([1, 0, 0])
        print(f"{frequency:g} Hz: directivity index {index:.2f} dB, powers {solution.power_error:.1e} apart")
        assert solution.power_error < 0.01 * h / 0.025
        patterns[f"{frequency:g} Hz"] = 10 * np.log10(solution.directivity(directions))
    cal.plots.polar(angles, patterns, "dB", folder / "directivity.png", quantity="directivity", span=35.0)
    plane = solution.on_plane(origin=[0.35, 0, 0], size=[1.5, 1.1], points=[100, 74])
    pressure = np.abs(plane.arrays["pressure"]) * ACCELERATION / (2 * np.pi * highest)
    level = 20 * np.log10(pressure / np.sqrt(2) / 20e-6)
    top = round(float(np.nanmax(level)))
    cal.plots.field_slice(
        plane.points, level, solution.mesh, "level", folder / "field.png", name="level", unit="dB re 20 µPa",
        limits=(top - 50, top), title=f"{highest:g} Hz",
    )  # fmt: skip

    # a driver: no bass below 100 Hz, and a soft end of the band, which is what the ear hears of a pulse
    driver = 1 / (1 - (100.0 / frequencies) ** 2 + 1.4j * 100.0 / frequencies)
    end = np.cos(np.pi / 2 * np.clip(2 * frequencies / highest - 1, 0, 1)) ** 2
    response = replace(sweep, values=constant * (driver * end)[:, None]).impulse_response(8 * highest)
    first = response.times[np.abs(response.samples[:, 0]).argmax()]
    print(f"the pulse arrives after {1e3 * first:.2f} ms, r / c is {1e3 * DISTANCE / AIR.speed_of_sound:.2f} ms")
    shown = response.times < 0.01
    pulses = {"on the axis": response.samples[shown, 0], "45 degrees off it": response.samples[shown, 1]}
    cal.plots.cartesian(1e3 * response.times[shown], pulses, "time (ms)", "pressure (Pa)", folder / "pulse.png")
    response.write_wav(folder / "pulse.wav")
    assert abs(ratio - 1) < 0.01
    assert abs(first - DISTANCE / AIR.speed_of_sound) < 0.25 / highest


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
