"""An array of 4 x 4 patches with its feed: microstrip lines from one probe to all patches, in one plane.

Patches of 9.4 x 16 mm on 0.787 mm with eps 2.2, 26 mm apart along x and 24 mm along y. Lines of 100 ohm join patches
two by two; each junction of two has 50 ohm, from where a quarter of a wavelength of 71 ohm leads to 100 ohm again.
Checked are the reflection at 10 GHz, the balance of power, and the pattern against four equal sources in each plane: a
beam along the normal, its width, and a gain below that of an aperture with equal fields.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import calderon as cal

BOARD = cal.Stack([cal.Layer(0.787e-3, eps_r=2.2)], below="pec")
PITCH = 26e-3, 24e-3
LENGTH, WIDTH, ASIDE = 9.4e-3, 16e-3, 2.2e-3  # patches, and their distance to lines along y
LINE, MATCHING, FEED = 0.71e-3, 1.35e-3, 0.5e-3  # widths of 100, 71 and 117 ohm
QUARTER, FROM_PATCH, PAD = 5.5e-3, 5.8e-3, 2.4e-3
Rectangle = tuple[float, float, float, float]


def strip(start: tuple[float, float], end: tuple[float, float], width: float) -> Rectangle:
    """A line along x or y between two points."""
    (x0, x1), (y0, y1) = (sorted(each) for each in zip(start, end, strict=True))
    half = width / 2
    return (x0, x1, y0 - half, y1 + half) if y0 == y1 else (x0 - half, x1 + half, y0, y1)


def junction(start: tuple[float, float], end: tuple[float, float]) -> list[Rectangle]:
    """Two junctions of 50 ohm, transformed to 100 ohm and joined by a line of that."""
    a, b = np.array(start), np.array(end)
    along = (b - a) / np.linalg.norm(b - a)
    near, far = a + QUARTER * along, b - QUARTER * along
    pieces = [(a - LINE / 2 * along, near, MATCHING), (near, far, LINE), (far, b + LINE / 2 * along, MATCHING)]
    return [strip(tuple(p), tuple(q), width) for p, q, width in pieces]


def layout() -> tuple[list[Rectangle], tuple[float, float]]:
    """All metal, and the place of the probe."""
    (dx, dy), metal = PITCH, []
    columns, rows = (pitch * (np.arange(4) - 1.5) for pitch in PITCH)
    lines = columns - LENGTH / 2 - ASIDE
    turn = FROM_PATCH - ASIDE
    for x, line in zip(columns, lines, strict=True):
        for y in rows:
            metal.append((x - LENGTH / 2, x + LENGTH / 2, y - WIDTH / 2, y + WIDTH / 2))
            metal.append(strip((line - FEED / 2, y), (x - LENGTH / 2, y), FEED))
        for low, high in (rows[:2], rows[2:]):
            metal.append(strip((line, low - FEED / 2), (line, low + turn), FEED))
            metal.append(strip((line, low + turn), (line, high - turn), LINE))
            metal.append(strip((line, high - turn), (line, high + FEED / 2), FEED))
    for y in (-dy, dy):
        metal += junction((lines[0], y), (lines[1], y)) + junction((lines[2], y), (lines[3], y))
    west, east = lines[0] + dx / 2, lines[2] + dx / 2
    metal += junction((west, -dy), (west, dy)) + junction((east, -dy), (east, dy)) + junction((west, 0), (east, 0))
    middle = (west + east) / 2
    metal.append((middle - PAD / 2, middle + PAD / 2, -PAD / 2, PAD / 2))
    return metal, (middle, 0.0)


def main(folder: Path, h: float = 6e-3, cells: int = 1) -> None:
    """One cell across lines is coarse: three, of 13,996 unknowns, change the gain at 9.8 GHz by 0.2 dB."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in (cal.AccuracyWarning, cal.MeshWarning):
        warnings.simplefilter("ignore", kind)
    metal, place = layout()
    mesh = cal.planar.rectangles(metal, h, cells, z=BOARD.top)
    array = cal.PlanarProblem(BOARD, mesh, ports=[cal.ProbePort(place, radius=0.3e-3)])
    print(array)
    sweep = array.sweep(9.9e9, 10.3e9, points=81, interpolate=3e-2)
    print(sweep)
    best = int(np.abs(sweep.s[:, 0, 0]).argmin())
    frequency, level = float(sweep.frequencies[best]), 20 * np.log10(np.abs(sweep.s[:, 0, 0]))
    print(f"least S11 {level[best]:.1f} dB at {frequency / 1e9:.3f} GHz")
    assert abs(frequency / 1e10 - 1) < 0.02 and level[best] < -15

    solution = array.solve(frequency)
    print(solution)
    assert abs(solution.power.lost) < 1e-3 * solution.power.accepted
    theta, cuts = np.radians(np.linspace(-90, 90, 361)), {}
    wavelength = 299792458.0 / frequency
    aperture = 10 * np.log10(4 * np.pi * 16 * PITCH[0] * PITCH[1] / wavelength**2)
    for name, phi, pitch in (("E plane", 0.0, PITCH[0]), ("H plane", np.pi / 2, PITCH[1])):
        gain = solution.gain(np.abs(theta), np.where(theta < 0, phi + np.pi, phi), decibels=True)
        cuts[name] = gain
        strongest, width = float(np.degrees(theta[gain.argmax()])), np.degrees(solution.beam_width(phi))
        angle = np.linspace(0, 0.3, 3001)[1:]
        phase = np.pi * pitch / wavelength * np.sin(angle)
        factor = (np.sin(4 * phase) / (4 * np.sin(phase))) ** 2
        expected = 2 * np.degrees(angle[np.argmax(factor < 0.5)])
        text = f"{width:.1f} degrees wide, four equal sources {expected:.1f}"
        print(f"{name}: strongest at {strongest:.1f} degrees, {gain.max():.2f} dBi, {text}")
        assert abs(strongest) <= 1 and abs(width / expected - 1) < 0.05
        assert aperture - 2 < gain.max() < aperture
    print(f"an aperture with equal fields: {aperture:.2f} dBi")
    cal.plots.cartesian(np.degrees(theta), cuts, "angle from the normal (degrees)", "gain (dBi)", folder / "gain.png",
                        limits=(-20, None))  # fmt: skip
    cal.plots.currents(solution.surface, folder / "fed_array.png", view="top")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
