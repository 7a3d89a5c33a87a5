"""Results of a run: arrays and functions, ready to be written."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.case import Case, CaseFile
from calderon.mesh import TriangleMesh
from calderon.report.formatting import frequency_text
from calderon.spaces import Function, VectorFunction

FarFields = dict[tuple[str, str], NDArray[np.complex128]]  # {(name, unit): values at the far-field angles}
Curve = tuple[NDArray[np.float64], NDArray[np.float64]]  # angles in degrees, levels in decibels


@dataclass(frozen=True)
class Level:
    """A quantity in decibels: its name, unit, and the name of its column or key in files."""

    name: str
    unit: str
    key: str

    def column(self, polarization: str = "") -> str:
        """The name of the column, of one polarisation if given."""
        unit = self.unit.replace("1 m", "1m").replace("²", "2").replace(" ", "_")
        return "_".join(filter(None, [self.key, polarization, unit]))


TARGET_STRENGTH = Level("target strength", "dB re 1 m", "target_strength")
CROSS_SECTION = Level("radar cross-section", "dB re 1 m²", "rcs")
GAIN = Level("gain", "dBi", "gain")


def decibels_of_power(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """10 log10 of values, at least -300 dB: zeros must not become infinities in files."""
    return 10 * np.log10(np.maximum(values, 1e-30))


@dataclass(frozen=True)
class Moment:
    """One frequency of a case: its wavenumber in 1/m, the frequency in Hz if the case gives one, its text in
    a sweep (empty without one), and whether it is the last.
    """

    wavenumber: float
    frequency: float | None
    at: str
    last: bool


@dataclass(frozen=True)
class Slice:
    """A field at the points (rows, columns, 3) of a rectangle; NaN where it was not evaluated."""

    points: NDArray[np.float64]
    values: NDArray[Any]


@dataclass(frozen=True)
class Step:
    """One solution: of a static problem, or of one with waves at a frequency.

    far_field: amplitudes F (n,), the scattered field is F exp(ikr) / r, by name and unit. strength, monostatic (by
    polarisation, "" for sound): in decibels, see `Results.level`; backward: the level back toward the source of a plane
    wave. deviations: {backend: relative difference of its far field}. impedance: of a fed antenna, in ohm, R - iX.
    """

    wavenumber: float | None
    frequency: float | None
    surface: Function | VectorFunction
    unknowns: int
    equation: str
    matrix: str
    solver: str
    iterations: int
    residuals: NDArray[np.float64]
    residual: float
    assembly_seconds: float
    solution_seconds: float
    elements_per_wavelength: float | None = None
    far_field: FarFields = field(default_factory=dict)
    strength: NDArray[np.float64] | None = None
    exact_strength: NDArray[np.float64] | None = None
    exact_error: float | None = None
    backward: float | None = None
    deviations: dict[str, float] = field(default_factory=dict)
    monostatic: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    slice: Slice | None = None  # of a sweep, only the last step has one
    total_flux: float | None = None
    impedance: complex | None = None

    @property
    def name(self) -> str:
        """Frequency or wavenumber with its unit; empty for a static problem."""
        if self.frequency is not None:
            return frequency_text(self.frequency)
        return "" if self.wavenumber is None else f"k = {self.wavenumber:.6g} 1/m"


@dataclass(frozen=True)
class Results:
    """All requested results of a case; several steps where it sweeps the frequency."""

    file: CaseFile[Case]
    mesh: TriangleMesh
    steps: tuple[Step, ...]
    seconds: dict[str, float]
    warnings: tuple[str, ...] = field(default=())
    references: dict[str, dict[str, Curve]] = field(default_factory=dict)  # {"monostatic": {label: curve}}

    @property
    def unknowns(self) -> int:
        return self.steps[0].unknowns

    @property
    def level(self) -> Level:
        """The kind of levels of the far field."""
        physics = self.file.case.physics
        if physics.electromagnetic:
            return CROSS_SECTION
        return GAIN if physics.problem == "antenna" else TARGET_STRENGTH

    @property
    def title(self) -> str:
        return self.file.case.title or self.file.name.removesuffix(".toml")
