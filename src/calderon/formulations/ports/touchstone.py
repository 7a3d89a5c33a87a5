"""Scattering matrices in Touchstone files (version 1.1), which circuit simulators and scikit-rf read."""

import os

import numpy as np
from numpy.typing import NDArray

from calderon.files.whole_file import file_path, whole_file
from calderon.validation import describe


def write_touchstone(
    path: str | os.PathLike[str],
    frequencies: NDArray[np.float64],
    s: NDArray[np.complex128],
    reference: float,
    of_lines: bool = False,
) -> None:
    """Write S (n, p, p), of the time factor exp(-i omega t), at frequencies (n,) in Hz to a file NAME.sPp.

    Numbers are real and imaginary parts for exp(+j omega t), as the format requires: conjugates. reference: impedance
    of all ports in ohm, real. of_lines: S is relative to the impedance of the lines instead, as a comment then says.
    Raises ValueError for another ending and for a complex reference.
    """
    place, ports = file_path(path, "a scattering matrix", "patch.s1p"), s.shape[1]
    if place.suffix.lower() != f".s{ports}p":
        raise ValueError(f"a Touchstone file of {ports} port(s) ends with .s{ports}p, got {str(path)!r}")
    if np.imag(reference) != 0 or not np.real(reference) > 0:
        raise ValueError(
            f"Touchstone files have one positive resistance as the reference, got {describe(reference)} ohm: sweep "
            "with reference=50"
        )
    lines = ["! S-parameters by calderon, exp(+j omega t)"]
    if of_lines:
        lines.append("! relative to the impedance of the microstrip lines at the ports, which R does not state")
    lines.append(f"# Hz S RI R {float(np.real(reference)):.10g}")
    for f, matrix in zip(frequencies, s.conj(), strict=True):
        rows = matrix.T.reshape(1, -1) if ports <= 2 else matrix  # S11 S21 S12 S22, else row by row
        text = [f"{float(f):.12g}"]
        for number, row in enumerate(rows):
            for start in range(0, len(row), 4):
                pairs = " ".join(f"{value.real:.12g} {value.imag:.12g}" for value in row[start : start + 4])
                text.append(pairs if number == 0 and start == 0 else "\n  " + pairs)
        lines.append(" ".join(text))
    with whole_file(place) as scratch:
        scratch.write_text("\n".join(lines) + "\n", encoding="ascii")
