"""Quantities over many frequencies, of solutions that are not kept: solved one by one, or few of them with rational
functions between, and saved to a file from which a sweep goes on.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data import Axis, LabelledArrays, Quantity
from calderon.data.labelled import Labelled
from calderon.files import FileKind, Pieces, put
from calderon.formulations.impulse_response import ImpulseResponse, impulse_response
from calderon.formulations.rational_sweep import Agreement, RationalSweep, rational_sweep
from calderon.operators.fingerprint import digest, fingerprint_of_all
from calderon.solvers.iteration import tolerance
from calderon.validation import finite_numbers, one_or_more_points

VALUES = FileKind("calderon sweep", "values of a sweep", "remove it and solve again", version=1, former=1)
SAME = 1e-6
"""Difference up to which the values of the first frequency, solved again, are those of a file."""


@dataclass(frozen=True, eq=False)
class SweptValues(Labelled):
    """Values of quantities by frequency: `frequencies` (n,) in Hz and `values` (n, ...), complex.

    solved (m,): the frequencies at which the equations were solved, with `solved_values`; between them rational
    functions give the values. error: the largest difference of the last two sets of such functions, relative to the
    value, or to 1 % of the median where that is more; 0 where all frequencies were solved. points: (k, 3) in m, of
    which these are the fields, or None. name, unit: of the values.
    """

    frequencies: NDArray[np.float64]
    values: NDArray[np.complex128]
    solved: NDArray[np.float64]
    solved_values: NDArray[np.complex128]
    error: float = 0.0
    points: NDArray[np.float64] | None = None
    name: str = "value"
    unit: str = ""

    @property
    def solves(self) -> int:
        """How many frequencies were solved."""
        return len(self.solved)

    def impulse_response(self, rate: float) -> ImpulseResponse:
        """The response in time, `rate` samples per second, to a unit sample of what the sweep has with amplitude 1; see
        `ImpulseResponse`. The frequencies are df, 2 df, 3 df, ...; rate / df is a whole number. ValueError where the
        band ends before the spectrum does, or the time 1 / df before the response does."""
        return impulse_response(self.frequencies, self.values, rate, self.name, self.unit)

    def arrays(self) -> LabelledArrays:
        """The values by frequency and point, as `data.LabelledArrays`."""
        axes = [Axis("frequency", self.frequencies, "Hz", "frequency")]
        axes += [Axis(f"index_{n}", np.arange(size)) for n, size in enumerate(self.values.shape[1:])]
        places: tuple[Quantity, ...] = ()
        if self.points is not None:
            axes[1] = Axis("point", np.arange(len(self.points)))
            places = tuple(Quantity(each, self.points[:, n], "m", along=("point",)) for n, each in enumerate("xyz"))
        return LabelledArrays(
            tuple(axes), (Quantity(self.name, self.values, self.unit, self.name),), places,
            {"time_factor": "exp(-i omega t)", "solves": self.solves, "error": self.error},
        )  # fmt: skip

    @property
    def brief(self) -> str:
        """Band, solves and error."""
        band = f"{self.name} at {len(self.frequencies)} frequencies from {self.frequencies.min():g} to "
        solved = f"{self.solves} solved, to {self.error:.1e}" if self.error else "all of them solved"
        return f"{band}{self.frequencies.max():g} Hz, {solved}"


@dataclass(frozen=True, eq=False)
class Measured:
    """Numbers that a sweep keeps of each solution: fields at points (k, 3), or quantities(solution), an array.
    name, unit: of the fields."""

    points: NDArray[np.float64] | None
    quantities: Callable[[Any], Any] | None
    name: str
    unit: str

    @classmethod
    def of(cls, points: ArrayLike | None, quantities: Any, name: str, unit: str) -> "Measured":
        """Checked; ValueError for both or none, TypeError for quantities that are no function."""
        if (points is None) == (quantities is None):
            raise ValueError(
                "interpolate= and sweep_file= are of numbers: give points= (n, 3) of the fields, or "
                "quantities=f(solution) with an array of numbers, one of the two"
            )
        if quantities is not None and not callable(quantities):
            raise TypeError(f"quantities is a function of a solution, got {type(quantities).__name__}")
        return cls(None if points is None else one_or_more_points(points), quantities, name, unit)

    def __call__(self, solution: Any) -> NDArray[np.complex128]:
        """The values (...) of one solution; ValueError for what is no array of finite numbers."""
        given = solution.field(self.points) if self.quantities is None else self.quantities(solution)
        values = np.asarray(given)
        rule = "quantities(solution) gives finite numbers"
        flat = finite_numbers(values.ravel(), values.size, "quantities", rule)
        return flat.astype(np.complex128).reshape(values.shape)


def swept_values(
    problem_at: Callable[[float], Any],
    solved_at: Callable[[float], Any],
    frequencies: NDArray[np.float64],
    measured: Measured,
    interpolate: float | None,
    file: str | os.PathLike[str] | None,
    options: dict[str, Any],
) -> SweptValues:
    """Values by frequency in Hz that are measured of solutions.

    problem_at, solved_at: the problem and its solution at a frequency. interpolate: accepted error of rational
    functions between few solved frequencies; None: all are solved. file: in which values are saved. options: of the
    solutions, by which a file is known.
    """
    first = float(frequencies.min())
    with _kept(file, lambda: _identity(problem_at(first), measured, options)) as pieces:
        saved = SavedValues(lambda f: measured(solved_at(f)), pieces)
        if interpolate is None:
            found = np.array([saved(float(f)) for f in frequencies])
            result = RationalSweep(frequencies, found, frequencies, found, 0.0)
        else:
            # fits to 1e-9: AAA's own tolerance is relative to the largest value of the band, and what is looked for
            # between peaks is a thousandth of it; the number of peaks is not known, so that many are accepted
            rule = Agreement(
                tolerance(interpolate, "interpolate", "1e-3"), "the values", 1e-9, times=2, floor=1e-2, most=200
            )
            result = rational_sweep(saved, frequencies, rule)
        saved.finish()
    return SweptValues(
        result.frequencies, result.values, result.solved, result.solved_values, result.error, measured.points,
        measured.name if measured.quantities is None else "value", measured.unit if measured.quantities is None else "",
    )  # fmt: skip


class SavedValues:
    """Values at frequencies, taken from a file where it has them. The first one is always solved, and compared.

    value_at: values (...) at a frequency. pieces: of the file, or None without one.
    """

    def __init__(self, value_at: Callable[[float], NDArray[np.complex128]], pieces: Pieces | None) -> None:
        self.value_at, self.pieces = value_at, pieces
        self.known: dict[float, NDArray[np.complex128]] = {}
        self.shape: tuple[int, ...] | None = None

    def __call__(self, frequency: float) -> NDArray[np.complex128]:
        """The values at a frequency in Hz; ValueError where those of the first one are not those of the file."""
        if self.pieces is None:
            return self.value_at(frequency)
        if self.shape is None:
            return self._first(self.pieces, frequency)
        found = self.known.get(frequency)
        if found is None:
            found = self.pieces.piece(_name(frequency), self.shape, np.complex128)
        if found is None:
            found = self.value_at(frequency)
            self.pieces.keep(_name(frequency), found)
        self.known[frequency] = found
        return found

    def _first(self, pieces: Pieces, frequency: float) -> NDArray[np.complex128]:
        """The values at the first frequency, which are compared with those of the file."""
        value = self.value_at(frequency)
        self.shape = value.shape
        if pieces.is_complete:
            with pieces.result() as file:
                hertz = file.array("frequencies", np.float64, (None,))
                values = file.array("values", np.complex128, (len(hertz), *value.shape))
            self.known = dict(zip(hertz.tolist(), values, strict=True))
        there = self.known.get(frequency)
        if there is None:
            there = pieces.piece(_name(frequency), value.shape, np.complex128)
        if there is None:
            pieces.keep(_name(frequency), value)
        elif np.abs(there - value).max(initial=0.0) > SAME * np.abs(value).max(initial=0.0):
            raise ValueError(
                f"{str(pieces.path)!r} holds values of another sweep: at {frequency:g} Hz they differ from those that "
                "are solved now, as by other conditions or sources. Name another file, or remove this one"
            )
        self.known[frequency] = value
        return value

    def finish(self) -> None:
        """Write all values to the file itself, which replaces those of single frequencies."""
        if self.pieces is not None and self.known:
            hertz = np.array(sorted(self.known))
            with self.pieces.finish() as file:
                put(file, "frequencies", hertz)
                put(file, "values", np.array([self.known[f] for f in hertz.tolist()]))


def _name(frequency: float) -> str:
    """The name of the piece of a frequency: all digits of its binary form."""
    return np.float64(frequency).tobytes().hex()


@contextmanager
def _kept(file: str | os.PathLike[str] | None, identity: Callable[[], dict[str, str]]) -> Iterator[Pieces | None]:
    """The pieces of a file, None without one."""
    if file is None:
        yield None
        return
    with Pieces(file, VALUES, identity()) as pieces:
        yield pieces


def _identity(problem: Any, measured: Measured, options: dict[str, Any]) -> dict[str, str]:
    """Names of the problem, points and options that the values of a sweep belong to."""
    where = "quantities" if measured.points is None else f"points {digest(measured.points)}"
    plain = {n: v if isinstance(v, str | float | int | None) else type(v).__name__ for n, v in options.items()}
    named = ", ".join(f"{name}={value}" for name, value in sorted(plain.items()) if name != "progress")
    return fingerprint_of_all(problem.system.operator) | {"measured": where, "options": named}
