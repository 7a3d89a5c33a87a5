"""Far fields of antennas as files: .ffe of FEKO and .ffs, far-field sources of CST Studio.

Both list phasors of exp(+j omega t): the conjugates of those here, peak values of r E exp(ikr) in V.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calderon.data.far_fields import decibels
from calderon.files import file_path, whole_file
from calderon.processes import package_version

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
LOWEST = -1000.0
"""Level in dB that stands for zero."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """The far field of an antenna at one frequency in Hz: amplitudes (theta, phi) in V along theta-hat and phi-hat by
    angles in radians, powers in W, impedance of the medium in ohm."""

    frequency: float
    theta: Array
    phi: Array
    along_theta: Complex
    along_phi: Complex
    radiated: float
    accepted: float
    available: float
    impedance: float

    @property
    def rows(self) -> Array:
        """(n, 6) theta, phi in degrees, real and imaginary parts along theta and phi for exp(+j omega t); theta runs
        first."""
        t, p = np.meshgrid(np.degrees(self.theta), np.degrees(self.phi), indexing="ij")
        parts = [part for e in (self.along_theta, self.along_phi) for part in (e.real, -e.imag)]
        return np.stack([each.T.ravel() for each in (t, p, *parts)], axis=1)

    @property
    def gains(self) -> Array:
        """(n, 3) gain in dBi along theta, along phi and of both, in the order of the rows."""
        parts = [2 * np.pi * np.abs(e.T.ravel()) ** 2 for e in (self.along_theta, self.along_phi)]
        levels = decibels(np.stack([*parts, parts[0] + parts[1]], axis=1) / (self.impedance * self.accepted))
        return np.maximum(levels, LOWEST)


def write_patterns(path: str | os.PathLike[str], patterns: Sequence[Pattern]) -> None:
    """Write patterns of one or more frequencies to a .ffe or .ffs file. Atomic. ValueError for another ending."""
    writers = {".ffe": _ffe, ".ffs": _ffs}
    ending = file_path(path, "a far field", "antenna.ffe").suffix.lower()
    if ending not in writers:
        raise ValueError(f"far fields of antennas are written to .ffe or .ffs files, got {str(path)!r}")
    text = writers[ending](patterns)
    with whole_file(path) as scratch:
        Path(scratch).write_text(text, encoding="ascii")


def _ffe(patterns: Sequence[Pattern]) -> str:
    names = "Theta Phi Re(Etheta) Im(Etheta) Re(Ephi) Im(Ephi) Gain(Theta) Gain(Phi) Gain(Total)".split()
    lines = ["##File Type: Far field", "##File Format: 8", f"##Source: calderon {package_version()}", ""]
    for each in patterns:
        lines += [
            "#Configuration Name: calderon",
            "#Request Name: FarField",
            f"#Frequency: {each.frequency:.12g}",
            "#Coordinate System: Spherical",
            f"#No. of Theta Samples: {len(each.theta)}",
            f"#No. of Phi Samples: {len(each.phi)}",
            "#Result Type: Gain",
            "#No. of Header Lines: 1",
            "# " + " ".join(f'"{name}"' for name in names),
        ]
        lines += _lines(np.concatenate([each.rows, each.gains], axis=1)) + [""]
    return "\n".join(lines) + "\n"


def _ffs(patterns: Sequence[Pattern]) -> str:
    lines = ["// CST Farfield Source File", "", "// Version:", "3.0", "", "// Data Type", "Farfield", ""]
    lines += ["// #Frequencies", str(len(patterns)), "", "// Position", "0 0 0", "", "// zAxis", "0 0 1", ""]
    lines += ["// xAxis", "1 0 0", "", "// Radiated/Accepted/Stimulated Power , Frequency"]
    for each in patterns:
        lines += [f"{value:.10e}" for value in (each.radiated, each.accepted, each.available, each.frequency)] + [""]
    for each in patterns:
        lines += ["", "// >> Total #phi samples, total #theta samples", f"{len(each.phi)} {len(each.theta)}", ""]
        lines.append("// >> Phi, Theta, Re(E_Theta), Im(E_Theta), Re(E_Phi), Im(E_Phi):")
        lines += _lines(each.rows[:, [1, 0, 2, 3, 4, 5]])
    return "\n".join(lines) + "\n"


def _lines(rows: Array) -> list[str]:
    return [" " + " ".join(f"{value:.10e}" for value in row) for row in rows.tolist()]
