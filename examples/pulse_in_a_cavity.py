"""Resonances of a metal box from one pulse in time.

A short current pulse excites a box with the sides a, b, d between perfectly conducting walls; a probe records the field
that rings. Its spectrum has peaks at the resonances f = (c / 2) sqrt((l/a)^2 + (m/b)^2 + (n/d)^2), here with c = 1.
The centred flux loses no energy: what the pulse leaves changes by the difference of E and H at times half a step apart.
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

SIDES = np.array([1.0, 0.8, 0.55])
END = 60.0


def main(folder: Path, cells: tuple[int, int, int] = (4, 3, 2)) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pulse = cal.GaussianPulse(0.35, frequency=0.9)
    source = cal.CurrentDipole([0.3, 0.3, 0.25], [0, 0, 1.0], pulse, radius=0.2)
    simulation = cal.MaxwellDG(cal.mesh.box([0, 0, 0], SIDES, cells), order=3, sources=[source])
    probe = simulation.add_probe([[0.65, 0.55, 0.3]])
    simulation.run(until=8.0)  # the pulse is over
    energy = simulation.energy()
    simulation.run(until=END)
    drift = abs(simulation.energy() / energy - 1)

    times, field = np.array(probe.times), np.array(probe.electric)[:, 0, 2]
    late = times > 8.0
    window = np.hanning(np.count_nonzero(late))
    frequencies = np.linspace(0.6, 1.3, 1401)
    spectrum = np.abs(np.exp(2j * np.pi * np.outer(frequencies, times[late])) @ (window * field[late]))
    exact = [np.hypot(l / SIDES[0], m / SIDES[1]) / 2 for l, m in ((1, 1), (2, 1))]  # of E along z, n = 0
    peaks = [frequencies[near][np.argmax(spectrum[near])] for near in (abs(frequencies - f) < 0.06 for f in exact)]
    print(f"peaks {np.round(peaks, 4)}, exact {np.round(exact, 4)}, change of the energy {drift:.1e}")
    level = 20 * np.log10(spectrum / spectrum.max())
    cal.plots.cartesian(
        frequencies, {"probe": level}, "frequency (c / m)", "spectrum (dB)", folder / "spectrum.png",
        limits=(-60, None),
    )  # fmt: skip
    assert np.allclose(peaks, exact, rtol=5e-3), (peaks, exact)
    assert drift < 1e-3, drift


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
