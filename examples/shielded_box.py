"""A box of metal with a slot, hit by a pulse: the voltage in time at the foot of a wire inside, and what is kept out.

The box has 0.3 x 0.2 x 0.12 m and a slot of 0.16 x 0.024 m in its front, onto which the wave travels. A wire of 0.07 m
stands on the floor, with 50 ohm at its foot. The voltage there follows by reciprocity from the pattern that the wire
has as an antenna, between few solved frequencies by rational functions, and in time from the spectrum of the pulse.
Checked are reciprocity, that the box rings at a resonance below that of the closed empty one, 0.901 GHz, since the slot
and the wire make it larger, and what it keeps out below and at its resonance.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import calderon as cal
from calderon.formulations.ports.port_sweep import adaptive_sweep

SIZE, H = (0.3, 0.2, 0.12), 0.024
FOOT, RESISTANCE = np.array([0.0115, 0.0, -0.06]), 50.0
CENTRE, WIDTH = 0.75e9, 2.2e-9
"""The constants of the pulse exp(-(t / width)^2) cos(2 pi centre t), in Hz and s."""
CLOSED = cal.exact.SPEED_OF_LIGHT / 2 * float(np.hypot(1 / SIZE[0], 1 / SIZE[1]))


def box() -> cal.TriangleMesh:
    """All walls but the middle seven cells of the front, x = -0.15 m."""
    whole = cal.mesh.cuboid(SIZE, H)
    x, y, z = whole.centroids.T
    slot = (x < 1e-6 - SIZE[0] / 2) & (abs(y) < 0.079) & (abs(z) < H / 2)
    tagged = cal.TriangleMesh(whole.vertices, whole.triangles, slot.astype(int), {"walls": 0, "slot": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cal.MeshWarning)
        return tagged.restricted("walls")


def problem(mesh: cal.TriangleMesh, frequency: float, load: bool = False) -> cal.MaxwellProblem:
    """The box with the wire on the vertex of its floor that is next to the middle, with or without the resistor."""
    floor = mesh.vertices[abs(mesh.vertices[:, 2] - FOOT[2]) < 1e-9]
    foot = floor[np.linalg.norm(floor - FOOT, axis=1).argmin()]
    wire, gap = cal.Wire([foot, foot + [0, 0, 0.07]], 5e-4, 7), cal.WireGap(foot)
    given = {"regions": {"air": cal.Material()}, "surfaces": {"walls": cal.Sheet("air")}, "wires": wire}
    loads = [cal.Lumped(gap, resistance=RESISTANCE)] if load else []
    return cal.MaxwellProblem(mesh, ports=gap, loads=loads, frequency=frequency, **given)


def received(mesh: cal.TriangleMesh, frequency: float) -> np.ndarray:
    """(1, 1) the voltage in V for 1 V/m along z of a wave that travels along x."""
    return -problem(mesh, frequency).embedded(RESISTANCE).received(np.pi / 2, np.pi, "V").reshape(1, 1)


def main(folder: Path, points: int = 361) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mesh = box()
    band = np.linspace(0.3e9, 1.2e9, points)
    found = adaptive_sweep(lambda f: received(mesh, f), band, RESISTANCE, 1e-3)
    volts = found.s[:, 0, 0]
    ringing = band[abs(volts).argmax()]
    print(f"{found.solves} frequencies solved; largest {abs(volts).max():.3f} V for 1 V/m at {ringing / 1e9:.3f} GHz")

    kept = {}
    for name, frequency in (("below resonance", 0.4e9), ("at resonance", ringing)):
        k = 2 * np.pi * frequency / cal.exact.SPEED_OF_LIGHT
        case = problem(mesh, frequency, load=True)
        wave = cal.ElectromagneticPlaneWave([1, 0, 0], [0, 0, 1], k, impedance=case.impedance)
        solution = case.solve(wave)
        at_foot = -RESISTANCE * solution.currents.wires.currents[0, 0]
        reciprocal = received(mesh, frequency)[0, 0]
        difference = abs(at_foot / reciprocal - 1)
        kept[name] = float(solution.shielding_effectiveness([[-0.05, 0.05, 0.02]])[0])
        print(f"{name}: {kept[name]:.1f} dB kept out, reciprocity holds to {difference:.1e}")
        assert difference < 1e-3, difference
        draw_field(folder / f"field_{name.replace(' ', '_')}.png", solution, name)

    t = np.linspace(-5e-9, 60e-9, 2601)
    pulse, voltage = draw_time(folder, band, volts, t)
    late = t > 20e-9
    spectrum = abs(np.fft.rfft(voltage[late]))
    tone = np.fft.rfftfreq(late.sum(), t[1] - t[0])[spectrum.argmax()]
    print(f"largest {abs(voltage).max():.3f} V for a pulse of {abs(pulse).max():.0f} V/m, then {tone / 1e9:.3f} GHz")
    cal.plots.cartesian(band / 1e9, {"50 ohm": 20 * np.log10(abs(volts))}, "frequency (GHz)",
                        "voltage (dB re 1 V for 1 V/m)", folder / "voltage.png")  # fmt: skip
    assert 0.8 * CLOSED < ringing < CLOSED, ringing
    assert abs(tone / ringing - 1) < 0.03, tone
    assert kept["below resonance"] > 10 > kept["at resonance"], kept


def draw_time(folder: Path, band: np.ndarray, volts: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pulse in V/m at the origin and the voltage in V at times t (n,), exp(-i omega t)."""
    spectrum = np.sqrt(np.pi) * WIDTH / 2 * np.exp(-((np.pi * WIDTH * (band - CENTRE)) ** 2))
    kernel = np.exp(-2j * np.pi * np.outer(t, band)) * (2 * (band[1] - band[0]))
    pulse, voltage = ((kernel @ (spectrum * each)).real for each in (np.ones(len(band)), volts))
    curves = {"field of the pulse (V/m)": pulse, "voltage at the wire (10 mV)": 100 * voltage}
    cal.plots.cartesian(t * 1e9, curves, "time (ns)", "pulse, voltage", folder / "time.png")
    return pulse, voltage


def draw_field(path: Path, solution: "cal.formulations.CompositeSolution", name: str) -> None:
    """|E| in dB re 1 V/m in the plane y = 0.01 m."""
    points = cal.plots.slice_points([0, 0.01, 0], [0.5, 0, 0], [0, 0, 0.28], (100, 56))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cal.AccuracyWarning)
        field = np.linalg.norm(solution.electric(points.reshape(-1, 3)), axis=1).reshape(points.shape[:2])
    cal.plots.field_slice(points, field, None, "db", path, name="|E|", unit="V/m", title=f"Box with a slot, {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
