"""What a run has computed: arrays and functions, ready to be written."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.case import CaseFile
from calderon.mesh import TriangleMesh
from calderon.spaces import Function


@dataclass(frozen=True)
class Slice:
    """A field at the points (rows, columns, 3) of a rectangle; NaN where it was not evaluated."""

    points: NDArray[np.float64]
    values: NDArray[Any]


@dataclass(frozen=True)
class Step:
    """One solution: of a static problem, or of an acoustic one at a frequency.

    far_field: amplitudes F (n,) in Pa m, scattered pressure F exp(ikr) / r; strength, monostatic: dB re 1 m; backward:
    the level back toward the source of a plane wave, dB re 1 m.
    """

    wavenumber: float | None
    frequency: float | None
    surface: Function
    equation: str
    matrix: str
    solver: str
    iterations: int
    residuals: NDArray[np.float64]
    residual: float
    assembly_seconds: float
    solution_seconds: float
    elements_per_wavelength: float | None = None
    far_field: NDArray[np.complex128] | None = None
    strength: NDArray[np.float64] | None = None
    exact_strength: NDArray[np.float64] | None = None
    exact_error: float | None = None
    backward: float | None = None
    monostatic: NDArray[np.float64] | None = None
    slice: Slice | None = None  # of a sweep, only the last step has one
    total_flux: float | None = None

    @property
    def name(self) -> str:
        """Frequency or wavenumber with its unit; empty for a static problem."""
        if self.frequency is not None:
            return f"{self.frequency:.6g} Hz"
        return "" if self.wavenumber is None else f"k = {self.wavenumber:.6g} 1/m"


@dataclass(frozen=True)
class Results:
    """All that a case asked for; several steps where it sweeps the frequency."""

    file: CaseFile
    mesh: TriangleMesh
    unknowns: int
    steps: tuple[Step, ...]
    seconds: dict[str, float]
    warnings: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        return self.file.case.title or self.file.name.removesuffix(".toml")
