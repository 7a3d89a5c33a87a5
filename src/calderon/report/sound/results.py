"""Results of sound over frequency, which several kinds of cases have: solutions, and values over the whole band."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from calderon.case import CaseModel
from calderon.data import Samples
from calderon.formulations import SolutionInfo
from calderon.formulations.acoustic.results.a_weighting import a_weighting
from calderon.report.formatting import frequency_unit
from calderon.report.kind import Result
from calderon.spaces import Function

C = TypeVar("C", bound=CaseModel)


@dataclass(frozen=True)
class SoundStep:
    """One solution. frequency: in Hz; name: with its unit. fluid_impedance: rho c in Pa s/m. surface: the pressure.

    pressures (points,): in Pa at output.points. plane, near: fields there. power: in W that goes away or that walls
    give, None where nothing moves; power_error: the relative difference of two powers that are equal, None where there
    are none; pattern (rows, columns): directivity in all directions in dB.
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
    pattern: NDArray[np.float64] | None = None


def power_levels(powers: Any) -> NDArray[np.float64]:
    """Levels in dB re 1 pW of powers in W."""
    return np.asarray(10 * np.log10(np.maximum(powers, 1e-30) / 1e-12))


@dataclass(frozen=True)
class SoundBand(Result[C], Generic[C]):
    """Sound at the frequencies of a case.

    steps: the solved frequencies, ascending, none where nothing sounds. frequencies (n,): of the case, in Hz; pressures
    (n, points) in Pa and powers (n,) in W at these, empty where there are none; band_error: of values between solved
    frequencies, None where all are solved.
    """

    problem: Any
    steps: Sequence[Any]
    frequencies: NDArray[np.float64]
    pressures: NDArray[np.complex128]
    powers: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    band_error: float | None = None

    @property
    def fluid(self) -> Any:
        """The fluid at the highest frequency."""
        return self.problem.fluid

    @property
    def last(self) -> Any:
        """The solution at the highest frequency."""
        return self.steps[-1]

    @property
    def mesh(self) -> Any:
        """The whole surface."""
        return self.problem.mesh

    @property
    def outline(self) -> Any:
        """The surface whose outline is drawn in planes, with the walls of holes where there is sound in these."""
        return self.mesh

    def at(self, step: SoundStep) -> str:
        """The frequency of a solution as a clause, of a sweep."""
        return f" at {step.name}" if self.is_sweep else ""

    @property
    def is_room(self) -> bool:
        """Whether the fluid is inside of the surface."""
        return False

    @property
    def blank(self) -> str:
        """The side of the surface on which there is no sound: "inside", "outside" or "none"."""
        return "outside" if self.is_room else "inside"

    @property
    def is_sheet(self) -> bool:
        """Whether the surface is a thin sheet, on which the pressure jumps."""
        return False

    @property
    def is_weighted(self) -> bool:
        """Whether levels by frequency and band are A-weighted."""
        return False

    @property
    def equation(self) -> str:
        return self.last.info.equation if self.steps else ""

    @property
    def solver_record(self) -> str:
        """The record of the solver at the highest frequency."""
        return str(self.last.info) if self.steps else ""

    @property
    def is_sweep(self) -> bool:
        return len(self.frequencies) > 1

    @property
    def reference_pressure(self) -> float:
        """The pressure in Pa to which levels refer."""
        return self.fluid.reference_pressure

    @property
    def level_unit(self) -> str:
        """The unit of sound pressure levels."""
        return "dB re 1 µPa" if self.fluid.is_liquid else "dB re 20 µPa"

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
