"""Results of a case of sound that bodies make: solutions by frequency, and values over the whole band."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.data import Samples
from calderon.formulations import FourPole, SolutionInfo
from calderon.formulations.acoustic.results.a_weighting import a_weighting
from calderon.formulations.acoustic.room_modes import RoomMode
from calderon.formulations.impulse_response import ImpulseResponse
from calderon.kinds.acoustics.model import SoundCase
from calderon.mesh import TriangleMesh
from calderon.report import Result
from calderon.report.formatting import frequency_unit
from calderon.report.second_mesh import SecondMesh
from calderon.spaces import Function


@dataclass(frozen=True)
class Part:
    """A part of the surface at one frequency. name: of its tag. impedance: radiation impedance in Pa s/m, None where it
    does not move; absorbed: power in W, None where nothing absorbs."""

    name: str
    impedance: complex | None
    absorbed: float | None


@dataclass(frozen=True)
class Step:
    """One solution. frequency: in Hz; name: with its unit. fluid_impedance: rho c in Pa s/m. surface: the pressure.

    pressures (points,): in Pa at output.points. plane, near: fields there. power: in W that walls give, None where none
    do; power_error: the relative difference of the power by surface and by far field, in a room of that given and that
    absorbed, None where there is none; absorbed: in W. efficiency: of radiation. far (n,): far field in Pa m at the
    angles of output.directivity, directivity (n,) in dB; beam: the loudest of these angles and the beamwidth about it,
    in rad; pattern (rows, columns): directivity in all directions in dB. parts: of the surface.
    """

    frequency: float
    name: str
    fluid_impedance: float
    surface: Function
    info: SolutionInfo
    elements_per_wavelength: float
    pressures: NDArray[np.complex128]
    plane: Samples | None
    near: dict[str, Samples]
    power: float | None = None
    power_error: float | None = None
    absorbed: float = 0.0
    efficiency: float | None = None
    far: NDArray[np.complex128] | None = None
    directivity: NDArray[np.float64] | None = None
    beam: tuple[float, float] | None = None
    pattern: NDArray[np.float64] | None = None
    parts: tuple[Part, ...] = ()


def power_levels(powers: Any) -> NDArray[np.float64]:
    """Levels in dB re 1 pW of powers in W."""
    return np.asarray(10 * np.log10(np.maximum(powers, 1e-30) / 1e-12))


@dataclass(frozen=True)
class SoundResults(Result[SoundCase]):
    """All requested results of a case.

    steps: the solved frequencies, ascending, none where nothing sounds. frequencies (n,): of the case, in Hz; pressures
    (n, points) in Pa and powers (n,) in W at these, empty where no wall gives any; band_error: of values between solved
    frequencies, None where all are solved. without_sheet (n, points): pressures of the sources alone, None of bodies.
    four_poles: of a duct at the frequencies, those at `solved` (m,) from solutions. modes: of a room.
    """

    problem: Any
    steps: tuple[Step, ...]
    frequencies: NDArray[np.float64]
    pressures: NDArray[np.complex128]
    powers: NDArray[np.float64]
    band_error: float | None = None
    response: ImpulseResponse | None = None
    second_mesh: SecondMesh | None = None
    unknowns: int = field(default=0)
    without_sheet: NDArray[np.complex128] | None = None
    four_poles: tuple[FourPole, ...] = ()
    modes: tuple[RoomMode, ...] = ()
    solved: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @property
    def mesh(self) -> TriangleMesh:
        """The whole surface, with its images in mirrors."""
        return self.problem.surface.whole

    @property
    def last(self) -> Step:
        """The solution at the highest frequency."""
        return self.steps[-1]

    @property
    def equation(self) -> str:
        return self.last.info.equation if self.steps else ""

    @property
    def solver_record(self) -> str:
        """The record of the solver at the highest frequency."""
        return str(self.last.info) if self.steps else ""

    @property
    def is_sheet(self) -> bool:
        """Whether the surface is a thin sheet, on which the pressure jumps."""
        return self.file.case.acoustics.side == "both"

    @property
    def is_sweep(self) -> bool:
        return len(self.frequencies) > 1

    @property
    def is_unestimated(self) -> bool:
        """Whether nothing tells the error."""
        return bool(self.steps) and self.second_mesh is None and all(s.power_error is None for s in self.steps)

    @property
    def reference_pressure(self) -> float:
        """The pressure in Pa to which levels refer."""
        return self.problem.fluid.reference_pressure

    @property
    def level_unit(self) -> str:
        """The unit of sound pressure levels."""
        return "dB re 1 µPa" if self.problem.fluid.is_liquid else "dB re 20 µPa"

    @property
    def is_weighted(self) -> bool:
        """Whether levels by frequency and band are A-weighted."""
        return self.file.case.output.a_weighted

    def weighted_unit(self, unit: str) -> str:
        """The unit of levels by frequency: "dB(A) re 20 µPa" where they are weighted."""
        return unit.replace("dB", "dB(A)", 1) if self.is_weighted else unit

    def weights(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        """The A-weighting (n,) in dB that is added to levels at frequencies (n,) in Hz, 0 where none is requested."""
        return a_weighting(frequencies) if self.is_weighted else np.zeros(len(frequencies))

    def levels(self, pressures: NDArray[Any]) -> NDArray[np.float64]:
        """Sound pressure levels of root mean squares, of peak values in Pa; NaN stays."""
        return 20 * np.log10(np.maximum(np.abs(pressures) / np.sqrt(2) / self.reference_pressure, 1e-30))

    @property
    def power_levels(self) -> NDArray[np.float64]:
        """(n,) sound power levels in dB re 1 pW, weighted where that is requested."""
        return power_levels(self.powers) + self.weights(self.frequencies)[: len(self.powers)]

    @property
    def frequency_axis(self) -> tuple[float, str]:
        """The unit of frequencies in Hz, and the label of their axis."""
        factor, unit = frequency_unit(float(self.frequencies.max()))
        return factor, f"frequency ({unit})"
