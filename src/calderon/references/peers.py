"""References that another program computes in addition to calderon, where it is installed."""

import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from calderon.formulations import Wire, WireAntenna, WireGap
from calderon.references.reference import Reference

LENGTH, RADIUS, SEGMENTS = 0.5, 1e-3, 41
FREQUENCY = 250e6
"""A sixth below resonance, where the reactance is large."""
DECK = f"""CE
GW 1 {SEGMENTS} 0 0 {-LENGTH / 2} 0 0 {LENGTH / 2} {RADIUS}
GE 0
EX 0 1 {SEGMENTS // 2 + 1} 0 1.0 0.0
FR 0 1 0 0 {FREQUENCY / 1e6} 0
XQ
EN
"""
NUMBER = r"(-?\d\.\d+E[-+]\d+)"
SECONDS = 60
"""Seconds that the other program may take."""


def nec_impedance() -> complex:
    """The input impedance in ohm by nec2c, under exp(+j omega t); ValueError where its output has none."""
    with TemporaryDirectory() as folder:
        deck, output = Path(folder, "dipole.nec"), Path(folder, "dipole.out")
        deck.write_text(DECK, encoding="ascii")
        subprocess.run(["nec2c", "-i", deck, "-o", output], check=False, timeout=SECONDS, capture_output=True)
        text = output.read_text(encoding="ascii", errors="replace") if output.is_file() else ""
    found = re.search(r"INPUT PARAMETERS(?:.*\n){3}\s+\d+\s+\d+" + 6 * rf"\s+{NUMBER}", text)
    if found is None:
        raise ValueError("the output of nec2c has no input impedance")
    return complex(float(found[5]), float(found[6]))


def _dipole() -> float:
    wire = Wire([[0, 0, -LENGTH / 2], [0, 0, LENGTH / 2]], RADIUS, SEGMENTS)
    found = np.ravel(WireAntenna([wire], [WireGap([0, 0, 0])], frequency=FREQUENCY).solve().input_impedance)[0]
    known = nec_impedance().conjugate()
    return float(abs(found - known) / abs(known))


NEC_DIPOLE = Reference(
    "dipole-by-nec2c",
    "impedance of a short dipole",
    "NEC-2, run next to it (nec2c)",
    0.05,
    _dipole,
    programs=("nec2c",),
)
