"""A patch that a microstrip line feeds: reflection, impedance of the line, waves on it.

The patch of Sheen et al. (1990): 12.45 x 16 mm on 0.794 mm with eps 2.2, fed by a line of 2.46 mm that meets its edge
2.09 mm from a corner. Checked are the frequencies of least reflection, 7.58 and 10.12 GHz by finite differences, and
the line against the formulae of Hammerstad and Jensen (49.8 ohm, effective permittivity 1.88 at low frequency).
"""

import sys
from pathlib import Path

import numpy as np

import calderon as cal

WIDTH, OFFSET = 2.46e-3, -12.45e-3 / 2 + 2.09e-3 + 1.23e-3


def main(folder: Path, h: float = 2e-3) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    board = cal.Stack([cal.Layer(0.794e-3, eps_r=2.2)], below="pec")
    slow = cal.planar.line_parameters(board, WIDTH, 1e8)
    print(f"the line at 0.1 GHz: {slow}")
    assert abs(slow.impedance - 49.8) < 0.3 and abs(slow.permittivity - 1.88) < 0.01

    patch = cal.planar.line_fed_patch(16e-3, 12.45e-3, WIDTH, 22e-3, h=h, offset=OFFSET, z=board.top)
    port = cal.planar.LinePort((-30e-3, OFFSET), (1, 0), WIDTH, 20e-3)
    antenna = cal.PlanarProblem(board, patch, ports=[port])
    print(antenna)
    sweep = antenna.sweep(6.5e9, 11.5e9, points=251, interpolate=3e-3)
    print(sweep)
    level = 20 * np.log10(np.abs(sweep.s[:, 0, 0]))
    cal.plots.cartesian(
        sweep.frequencies / 1e9, {"line": level}, "frequency (GHz)", "|S11| (dB)", folder / "line_fed_patch.png"
    )
    inner = np.flatnonzero((level[1:-1] < level[:-2]) & (level[1:-1] < level[2:])) + 1
    dips = sweep.frequencies[inner[np.argsort(level[inner])[:2]]]
    print("least reflection at", ", ".join(f"{f / 1e9:.2f} GHz" for f in np.sort(dips)))
    assert np.all(np.abs(np.sort(dips) / [7.58e9, 10.12e9] - 1) < 0.015), dips

    (wave,) = antenna.line_waves(7.6e9)
    effective = (wave.beta / antenna.stack.at(7.6e9).k0) ** 2
    (line,) = antenna.line_parameters(7.6e9)
    print(f"effective permittivity at 7.6 GHz: {effective:.3f} of the waves, {line.permittivity.real:.3f} of the line")
    assert abs(effective / line.permittivity.real - 1) < 0.02


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pictures"))
