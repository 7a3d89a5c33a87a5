"""Values over a band of frequencies from few solved ones, by rational functions, for every physics.

The AAA algorithm fits each value by a rational function of the frequency. Y. Nakatsukasa, O. Sete and L. N. Trefethen,
SIAM J. Sci. Comput. 40 (2018) A1494.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.errors import warn_of_accuracy

Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class RationalSweep:
    """Values (n, ...) at frequencies (n,) in Hz by rational functions through solved ones.

    solved (m,): the frequencies that were solved, in the order in which they were; solved_values (m, ...). error: the
    largest difference between the last two sets of rational functions, as `Agreement` measures it; 0 where all wanted
    frequencies were solved, which are then the solved ones themselves.
    """

    frequencies: NDArray[np.float64]
    values: Complex
    solved: NDArray[np.float64]
    solved_values: Complex
    error: float


@dataclass(frozen=True)
class Agreement:
    """When rational functions are accepted, and how closely they follow what was solved.

    rtol: the accepted difference. name: of the values, in a warning. follows: accuracy of the fit, relative to the
    largest value of the band. times: how often in turn the difference has to be below rtol. floor: differences are
    relative to the value itself, or to this part of the median of all values where that is more; None: they are not
    relative. most: the largest number of solved frequencies.
    """

    rtol: float
    name: str
    follows: float
    times: int = 1
    floor: float | None = None
    most: int = 40

    def difference(self, fitted: Complex, other: Complex) -> NDArray[np.float64]:
        """The largest difference (n,) of values (n, m) at each frequency."""
        found = np.abs(fitted - other)
        if self.floor is not None:
            size = np.abs(fitted)
            least = np.maximum(self.floor * np.median(size, axis=0), np.finfo(float).tiny)
            found = found / np.maximum(size, least)
        return np.asarray(found.max(axis=1, initial=0.0))


def rational_sweep(
    value_at: Callable[[float], Any], frequencies: NDArray[np.float64], agreement: Agreement
) -> RationalSweep:
    """Solve where the rational functions through the solved frequencies differ most from those without the last one,
    until both agree. value_at: values (...) of any shape at a frequency in Hz. AccuracyWarning where the largest number
    of frequencies does not suffice.

    Never more are solved than are wanted: of no more than the largest number, the nearest wanted ones are solved, until
    both agree or all are."""
    low, high = float(frequencies.min()), float(frequencies.max())
    wanted, places_of = np.unique(frequencies, return_inverse=True)
    few, limit = len(wanted) <= agreement.most, min(len(wanted), agreement.most)
    # two functions are compared between round numbers, where simple bodies without loss may have resonances
    compared = low + (high - low) * (np.arange(401) + 0.618) / 401
    # the first ones are those of Chebyshev, dense at the ends of the band
    places = 0.5 * (low + high) - 0.5 * (high - low) * np.cos(np.linspace(0, np.pi, 5))
    if few:
        places = wanted[np.abs(wanted[:, None] - places).argmin(axis=0)]
    solved = [float(f) for f in np.unique(places)] if high > low else [low]
    values = [np.asarray(value_at(f), np.complex128) for f in solved]
    other = _fitted(solved[:-1] or solved, values[:-1] or values, compared, agreement.follows)
    error, agreed = 0.0, 0
    while high > low:
        fitted = _fitted(solved, values, compared, agreement.follows)
        difference = agreement.difference(fitted, other)
        error, other = float(difference.max()), fitted
        agreed = agreed + 1 if error < agreement.rtol else 0
        if agreed >= agreement.times or len(solved) >= limit:
            break
        # frequencies within a thousandth of the band of a solved one tell nothing new
        distance = np.abs(compared[:, None] - np.array(solved)).min(axis=1)
        chosen = float(compared[np.argmax(difference * np.minimum(1.0, distance / (1e-3 * (high - low))))])
        if few:
            open_ones = wanted[~np.isin(wanted, solved)]
            chosen = float(open_ones[np.abs(open_ones - chosen).argmin()])
        solved.append(chosen)
        values.append(np.asarray(value_at(chosen), np.complex128))
    if len(solved) == len(wanted):
        order = np.argsort(solved)
        return RationalSweep(frequencies, np.array(values)[order][places_of], np.array(solved), np.array(values), 0.0)
    if error >= agreement.rtol:
        warn_of_accuracy(
            f"{len(solved)} solved frequencies leave an error of {error:.1e} of {agreement.name} between them: sweep a "
            "narrower band"
        )
    found = _fitted(solved, values, frequencies, agreement.follows).reshape(len(frequencies), *values[0].shape)
    return RationalSweep(frequencies, found, np.array(solved), np.array(values), error)


def _fitted(solved: list[float], values: list[Complex], wanted: NDArray[np.float64], follows: float) -> Complex:
    """Values (n, m) at the wanted frequencies by one rational function for each of the m values."""
    f, columns = np.array(solved), np.array(values).reshape(len(solved), -1)
    if len(f) == 1:
        return np.tile(columns, (len(wanted), 1))
    out = np.empty((len(wanted), columns.shape[1]), np.complex128)
    for number, column in enumerate(columns.T):
        out[:, number] = scipy.interpolate.AAA(f / f.max(), column, rtol=follows)(wanted / f.max())
    return out
