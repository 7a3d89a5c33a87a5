"""Results of a run on surfaces: arrays and functions, ready to be written."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.data import Samples
from calderon.formulations import SolutionInfo
from calderon.kinds.surface.model import Case
from calderon.mesh import TriangleMesh
from calderon.mlfmm import Multipole
from calderon.mlfmm.operator import LevelInfo
from calderon.report import Result
from calderon.report.formatting import Column, Level, frequency_unit
from calderon.report.second_mesh import SecondMesh
from calderon.spaces import Function, VectorFunction

FarFields = dict[tuple[str, str], NDArray[np.complex128]]  # {(name, unit): values at the far-field angles}
Curve = tuple[NDArray[np.float64], NDArray[np.float64]]  # angles in degrees, levels in decibels


@dataclass(frozen=True)
class Words:
    """How a kind of problem calls its quantities: the level of its far field, symbol, unit and name of its field, the
    device toward which a monostatic level is observed."""

    level: Level
    symbol: str
    unit: str
    field: str
    device: str = "radar"


@dataclass(frozen=True)
class Moment:
    """One frequency of a case: its wavenumber in 1/m (0 for a static problem), the frequency in Hz if the case gives
    one; name: frequency or wavenumber with its unit, unlike all others of the case, empty for a static problem; whether
    it is one of several, and the last; in_plane: whether the field in the plane is computed at it.
    """

    wavenumber: float
    frequency: float | None
    name: str
    of_several: bool
    last: bool
    in_plane: bool

    @property
    def at(self) -> str:
        """The name in a sweep; empty without one."""
        return self.name if self.of_several else ""


@dataclass(frozen=True)
class Slice:
    """A field at the points (rows, columns, 3) of a rectangle; NaN where it was not evaluated. vectors: of which the
    values are magnitudes or a component."""

    points: NDArray[np.float64]
    values: NDArray[Any]
    vectors: NDArray[Any] | None = None


@dataclass(frozen=True)
class Source:
    """The function on the surface and the field in the plane for one of several incident waves."""

    name: str
    surface: Function | VectorFunction
    slice: Slice | None


@dataclass(frozen=True)
class PlaneWaves:
    """The record of a matrix by plane waves.

    levels: of each medium, the coarsest first, with its wavenumber; nbytes, near_nbytes: of all and of near blocks;
    error: relative, of products on so many checked rows; rtol: that was requested of them.
    """

    levels: tuple[tuple[complex, tuple[LevelInfo, ...]], ...]
    nbytes: int
    near_nbytes: int
    error: float | None
    checked: int
    rtol: float | None

    @staticmethod
    def of(matrix: Multipole) -> "PlaneWaves":
        """The record of a matrix."""
        levels = zip(matrix.media, matrix.levels, strict=True)
        found = tuple((complex(medium.k), tuple(each)) for medium, each in levels)
        return PlaneWaves(found, matrix.nbytes, matrix.near_nbytes, matrix.error, matrix.checked, matrix.rtol)


@dataclass(frozen=True)
class Step:
    """One solution: of a static problem, or of one with waves at a frequency; name: that of its moment; info: the
    record of the solver; plane_waves: of a matrix by plane waves.

    far_field: amplitudes F (n,), the scattered field is F exp(ikr) / r, by name and unit. strength, monostatic (by
    polarisation, "" for sound): in decibels, see `Results.level`; backward: the level back toward the source of a plane
    wave. deviations: {backend: relative difference of its far field}. impedance: of a fed antenna, in ohm, R - iX.
    pattern (rows, columns): the level in all directions of a `Pattern`, in decibels. left_inside: see `null_field`.
    sources: one for each incident wave, that of [incident] first.
    """

    wavenumber: float | None
    frequency: float | None
    name: str
    sources: tuple[Source, ...]
    info: SolutionInfo
    plane_waves: PlaneWaves | None = None
    elements_per_wavelength: float | None = None
    far_field: FarFields = field(default_factory=dict)
    strength: NDArray[np.float64] | None = None
    exact_strength: NDArray[np.float64] | None = None
    exact_error: float | None = None
    backward: float | None = None
    deviations: dict[str, float] = field(default_factory=dict)
    monostatic: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    near_fields: dict[str, Samples] = field(default_factory=dict)
    total_flux: float | None = None
    impedance: complex | None = None
    pattern: NDArray[np.float64] | None = None
    left_inside: float | None = None
    second_mesh: SecondMesh | None = None  # of a sweep, up to five steps have one, the last among them

    @property
    def surface(self) -> Function | VectorFunction:
        """The function on the surface, of the first source."""
        return self.sources[0].surface

    @property
    def slice(self) -> Slice | None:
        """The field in the plane, of the first source; up to five steps of a sweep have one, the last among them."""
        return self.sources[0].slice


@dataclass(frozen=True)
class Results(Result[Case]):
    """All requested results of a case; several steps where it sweeps the frequency."""

    mesh: TriangleMesh
    words: Words
    steps: tuple[Step, ...]
    references: dict[str, dict[str, Curve]] = field(default_factory=dict)  # {"monostatic": {label: curve}}

    @property
    def unknowns(self) -> int:
        return self.steps[0].info.unknowns

    @property
    def level(self) -> Level:
        """The kind of levels of the far field."""
        return self.words.level

    @property
    def equation(self) -> str:
        return self.steps[-1].info.equation

    @property
    def is_sweep(self) -> bool:
        return len(self.steps) > 1

    @property
    def at(self) -> str:
        """The last frequency as a clause, empty for a static problem."""
        return f" at {self.steps[-1].name}" if self.steps[-1].name else ""

    @property
    def impedances(self) -> NDArray[np.complex128]:
        """(steps,) in ohm, of a fed antenna; empty of other problems."""
        return np.array([step.impedance for step in self.steps if step.impedance is not None])

    @cached_property
    def resonance(self) -> tuple[float, float] | None:
        """Where in a sweep the reactance of a fed antenna first rises through zero, on a straight line between two
        steps: the frequency in Hz, and the resistance there in ohm."""
        known = [
            (each.frequency, each.impedance) for each in self.steps if each.frequency and each.impedance is not None
        ]
        for (low, before), (high, after) in pairwise(known):
            if -before.imag < 0 <= -after.imag:
                part = before.imag / (before.imag - after.imag)
                return low + part * (high - low), before.real + part * (after.real - before.real)
        return None

    @property
    def marks(self) -> dict[str, float]:
        """The resonance of an antenna as a mark of curves, in the unit of `frequency_axis`."""
        hertz = self.moments[1]
        return (
            {} if self.resonance is None else {"resonance": self.resonance[0] / frequency_unit(float(hertz.max()))[0]}
        )

    def shown_first(self, names: list[str]) -> int:
        """The number among the names of steps of that which is shown first: the last one, of an antenna that nearest to
        its resonance."""
        if self.resonance is None:
            return -1
        at = self.resonance[0]
        away = {step.name: abs((step.frequency or 0.0) - at) for step in self.steps}
        return min(range(len(names)), key=lambda n: away[names[n]])

    @property
    def second_mesh(self) -> SecondMesh | None:
        """The estimate of the last step, whose frequency is named in a sweep."""
        found, name = self.steps[-1].second_mesh, self.steps[-1].name
        return found if found is None or not self.is_sweep else replace(found, at=f" at {name}")

    @property
    def is_unestimated(self) -> bool:
        """Whether nothing tells the error."""
        known = (step.left_inside if step.left_inside is not None else step.exact_error for step in self.steps)
        return self.second_mesh is None and all(each is None for each in known)

    @property
    def moments(self) -> tuple[str, NDArray[np.float64]]:
        """The column of frequencies, or of wavenumbers where there are none."""
        if self.steps[0].frequency is None:
            return "wavenumber_per_m", np.array([step.wavenumber for step in self.steps], dtype=float)
        return "frequency_Hz", np.array([step.frequency for step in self.steps], dtype=float)

    @property
    def frequency_axis(self) -> tuple[NDArray[np.float64], str]:
        """Frequencies (n,) in a unit that suits the largest, and the label of their axis."""
        hertz = self.moments[1]
        factor, unit = frequency_unit(float(hertz.max()))
        return hertz / factor, f"frequency ({unit})"

    def columns(self, columns_of: Callable[[Step], list[Column]]) -> list[Column]:
        """The columns of a step, or of a sweep those of all steps below each other, after their frequencies with all
        digits: one row an observation."""
        tables = [columns_of(step) for step in self.steps]
        if len(tables) == 1:
            return tables[0]
        name, values = self.moments
        shown = [repr(x) for x, table in zip(values.tolist(), tables, strict=True) for _ in table[0][1]]
        below = [(each, np.concatenate([table[k][1] for table in tables])) for k, (each, _) in enumerate(tables[0])]
        return [(name, shown), *below]
