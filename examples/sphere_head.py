"""A head: transfer functions of a rigid sphere to its left ear up to 10 kHz, against the series, and a SOFA file.

A sphere of 8.75 cm stands for a head, with ears on the left and on the right. Sources are at 72 places around it, 1.5 m
away in the horizontal plane. By reciprocity each ear speaks once at a frequency, and the pressure at a place is that at
the ear for a source there. Levels are re the pressure at the centre without the head. Responses in time have 44,100
samples a second; the difference of arrivals at both ears is compared with Woodworth's a (phi + sin phi) / c.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

AIR = cal.Fluid.air(20.0)
RADIUS, DISTANCE, RATE, STEP = 0.0875, 1.5, 44100.0, 210.0
EARS = {"left": [0, RADIUS, 0], "right": [0, -RADIUS, 0]}


def series(frequencies: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(f, n) the transfer functions to the left ear by the series of a rigid sphere."""
    found = np.zeros((len(frequencies), len(places)), complex)
    for row, k in zip(found, 2 * np.pi * frequencies / AIR.speed_of_sound, strict=True):
        free = np.exp(1j * k * DISTANCE) / (4 * np.pi * DISTANCE)
        for n, place in enumerate(places):
            sphere = cal.exact.rigid_sphere(k, RADIUS, source=place)
            row[n] = sphere.surface_pressure(np.array([[0, 1.0, 0]]))[0] / free
    return found


def main(folder: Path, h: float = 0.0055, highest: float = 10080.0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    azimuth = np.radians(np.arange(0, 360, 5))
    places = DISTANCE * np.stack([np.cos(azimuth), np.sin(azimuth), 0 * azimuth], axis=1)
    frequencies = np.arange(STEP, highest + 1, STEP)
    head = cal.AcousticProblem(cal.mesh.sphere(RADIUS, h), frequency=highest, fluid=AIR)
    transfer = cal.hrtf(head, EARS, frequencies, places, interpolate=1e-3)
    print(transfer)
    shown = {"90°": 18, "0°": 0, "300°": 60, "270°": 54}
    exact = 20 * np.log10(np.abs(series(frequencies, places[list(shown.values())])))
    levels = transfer.levels[:, list(shown.values()), 0]
    errors = np.abs(levels - exact)
    print(f"levels differ from the series by {errors.mean():.3f} dB in the mean, {errors.max():.2f} dB at most")
    references = {"series": (np.tile(frequencies, len(shown)), exact.T.ravel())}
    cal.plots.cartesian(
        frequencies, dict(zip(shown, levels.T, strict=True)), "frequency (Hz)",
        "level at the left ear (dB re free field)", folder / "levels.png", references=references,
    )  # fmt: skip
    response = transfer.impulse_response(RATE)
    samples = response.samples[:, 9]  # from 45 degrees, ahead on the left
    time = 1e3 * np.arange(len(samples)) / RATE
    curves = {"left ear": samples[:, 0], "right ear": samples[:, 1]}
    cal.plots.cartesian(time, curves, "time (ms)", "response to a unit sample", folder / "response.png")
    energy = np.cumsum(samples**2, axis=0) / np.sum(samples**2, axis=0)
    arrivals = [np.interp(0.5, energy[:, ear], time) for ear in (0, 1)]
    late, turn = arrivals[1] - arrivals[0], np.pi / 4
    woodworth = 1e3 * RADIUS / AIR.speed_of_sound * (turn + np.sin(turn))
    print(f"sound from 45 degrees reaches the right ear {late:.3f} ms later, by Woodworth's formula {woodworth:.3f} ms")
    try:
        transfer.write_sofa(folder / "head.sofa", RATE)
    except RuntimeError as missing:
        print(missing)
    assert errors.mean() < 0.1 and errors.max() < 0.5  # the mesh has six edges in the shortest wavelength
    assert abs(late - woodworth) < 0.1


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
