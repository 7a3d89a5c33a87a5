"""Sums over points, by whichever method: their arguments, their result, and its check.

The sums are u(x) = sum_j (q_j + d_j . grad_y) G(x, y_j) over charges q_j and dipoles d_j at sources y_j.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import format_bytes
from calderon.products.check import Check
from calderon.products.direct_sums import Kinds
from calderon.products.operator import units_of
from calderon.validation import points_in_space, unmasked

Array = NDArray[np.float64]
NAMES = {"fmm": "fast multipole", "mlfmm": "multilevel fast multipole"}


class SumsInfo(NamedTuple):
    """The record of a sum over points.

    method: "fmm", "mlfmm" or "direct". rtol: the tolerance. error, gradient_error: relative errors in the 2-norm at
    `checked` random targets (0 for direct sums, None where there is no gradient). seconds: wall-clock. levels: of the
    octree, with plane waves those that have some. degree: of harmonics, or of translations of plane waves, the highest
    one; combinations: of harmonics. nbytes: of expansions or plane waves, lists and tables. low_levels: of boxes with
    equivalent sources; edge_points: how many of these an edge of a cube has. backend: where all was summed.
    """

    method: str
    rtol: float
    error: float
    gradient_error: float | None
    seconds: float
    checked: int = 0
    levels: int = 0
    degree: int = 0
    combinations: int = 0
    nbytes: int = 0
    low_levels: int = 0
    edge_points: int = 0
    backend: str = "numba"

    @staticmethod
    def direct(rtol: float, gradient: bool, seconds: float, backend: str = "numba") -> "SumsInfo":
        """The record of direct sums, which have no error."""
        return SumsInfo("direct", rtol, 0.0, 0.0 if gradient else None, seconds, backend=backend)

    def __str__(self) -> str:
        where = "" if self.backend == "numba" else f", backend {self.backend}"
        if self.method == "direct":
            return f"direct sums, {self.seconds:.2f} s{where}"
        slope = "" if self.gradient_error is None else f", of the gradient {self.gradient_error:.1e}"
        low = f", {self.low_levels} low-frequency levels, {self.edge_points} points an edge" if self.low_levels else ""
        terms = f"degree {self.degree} with {self.combinations} combinations"
        return (
            f"{NAMES[self.method]} sums, rtol {self.rtol:g}: error {self.error:.1e}{slope} at {self.checked} points, "
            f"{self.levels} levels, {terms if self.combinations else f'degrees to {self.degree}'}{low}, "
            f"{format_bytes(self.nbytes)}, {self.seconds:.2f} s{where}"
        )


@dataclass(frozen=True, eq=False)
class PointSums:
    """potential (m,), gradient (m, 3) or None, and `info`; of c columns of charges (m, c) and (m, c, 3)."""

    potential: NDArray[Any]
    gradient: NDArray[Any] | None
    info: SumsInfo


class Arguments(NamedTuple):
    """Sources (n, 3); targets (m, 3), None for the sources themselves; numbers (n, c, 1, 3 or 4), of each source and
    column the charge and the three components of the dipole, in units (c,) of the columns; kinds: which of them there
    are; alone: whether they were given without columns."""

    sources: Array
    targets: Array | None
    numbers: NDArray[Any]
    units: Array
    kinds: Kinds
    alone: bool

    @staticmethod
    def of(
        points: ArrayLike, charges: Any, dipoles: Any, targets: ArrayLike | None, gradient: bool, real: bool
    ) -> "Arguments":
        """The checked arguments of a sum. real: whether numbers must be real, in one column. Raises ValueError for
        other shapes and for numbers that are not finite, TypeError for other types."""
        sources = points_in_space(points)
        places = None if targets is None else points_in_space(targets, "targets")
        kinds = Kinds(charges is not None, dipoles is not None, bool(gradient))
        if charges is None and dipoles is None:
            raise ValueError("no charges and no dipoles: give at least one of them")
        parts = [_numbers(values, name, (len(sources), *last), real)
                 for values, name, last in ((charges, "charges", ()), (dipoles, "dipoles", (3,)))
                 if values is not None]  # fmt: skip
        first, last = parts[0][0].shape[1], parts[-1][0].shape[1]
        if first != last:
            raise ValueError(f"{first} columns of charges and {last} of dipoles: give as many")
        numbers = np.concatenate([each for each, _ in parts], axis=2)
        units = units_of(numbers.transpose(0, 2, 1).reshape(-1, numbers.shape[1]))
        numbers = numbers if (units == 1).all() else numbers / units[:, None]
        return Arguments(sources, places, numbers, units, kinds, parts[-1][1])

    @property
    def at(self) -> Array:
        """(m, 3) the targets, or the sources instead."""
        return self.sources if self.targets is None else self.targets

    @property
    def pairs(self) -> int:
        """Terms of all sums: sources times targets times columns."""
        return len(self.sources) * len(self.at) * self.numbers.shape[1]

    def result(self, fields: NDArray[Any], info: SumsInfo) -> PointSums:
        """The result of sums (m, c, 1 or 4) of potentials and gradients."""
        own = 0 if self.alone else slice(None)
        potential, gradient = fields[..., 0] * self.units, fields[..., 1:] * self.units[:, None]
        gradient = np.ascontiguousarray(gradient[:, own])
        return PointSums(potential[:, own], gradient if self.kinds.gradient else None, info)


class PointCheck(NamedTuple):
    """Exact sums at `check.rows`, random targets.

    cancelled: parts of the sums of absolute values of the terms of charges and of dipoles with which errors of smaller
    sums are compared, as what cancels further is not resolved; k: absolute wavenumber; enough: errors that need no such
    comparison.
    """

    given: Arguments
    check: Check
    cancelled: tuple[float, float]
    k: float
    enough: float

    @staticmethod
    def of(
        given: Arguments, direct: Callable[[Array], NDArray[Any]], count: int, cancelled: tuple[float, float],
        enough: float, k: float = 0.0,
    ) -> "PointCheck":  # fmt: skip
        """The check at so many targets, drawn with repetition; direct(targets): exact sums (count, c, 1 or 4). All
        potentials have one error, and all gradients."""
        chosen = np.random.default_rng(0).integers(len(given.at), size=count)
        exact = direct(given.at[chosen])
        groups = np.minimum(np.arange(exact[0].size) % exact.shape[2], 1)
        check = Check(chosen, given.numbers, exact.reshape(count, -1), groups)
        return PointCheck(given, check, cancelled, k, enough)

    def errors(self, fields: NDArray[Any]) -> list[float]:
        """Relative errors of sums (m, c, 1 or 4): of potentials, and of gradients if there are some."""
        found = fields[self.check.rows].reshape(len(self.check.rows), -1)
        return [float(each) for each in self.check.errors(found, self.least, enough=self.enough)]

    def least(self) -> Array:
        """(groups,) norms of sums below which terms cancel too far: the parts `cancelled` of sums of |q| / r and of
        |d| s / r with s = |k| + 1 / r, for gradients times s once more. With waves they are at most the root of the sum
        of squares of the terms."""
        chosen = self.check.rows[:8]  # sums of absolute values differ little from target to target
        given, found = self.given, np.zeros((2, 8))
        numbers, kinds, none = given.numbers, given.kinds, np.zeros(len(given.sources))
        charge = np.linalg.norm(numbers[:, :, 0], axis=1) if kinds.charges else none
        dipole = np.linalg.norm(numbers[:, :, -3:], axis=(1, 2)) if kinds.dipoles else none
        for n, x in enumerate(given.at[chosen]):
            r = np.linalg.norm(given.sources - x, axis=1)
            inverse = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
            slope = inverse + self.k * (r > 0)
            for row, power in enumerate((inverse, inverse * slope)):
                terms = charge * power, dipole * slope * power
                size = sum(part * float(each.sum()) for part, each in zip(self.cancelled, terms, strict=True))
                found[row, n] = min(size, float(np.linalg.norm(terms[0] + terms[1]))) if self.k else size
        groups = int(self.check.groups.max()) + 1
        return np.asarray(np.linalg.norm(found, axis=1) * np.sqrt(len(self.check.rows) / 8) / (4 * np.pi))[:groups]


def _numbers(values: Any, name: str, shape: tuple[int, ...], real: bool) -> tuple[NDArray[Any], bool]:
    """(n, c, 1 or 3) numbers, and whether they were given without columns; shape: of one column."""
    array = unmasked(values, name)
    if array.dtype.kind not in ("fiu" if real else "fiuc"):
        kind, advice = ("real numbers", ": sum the two parts of complex ones") if real else ("numbers", "")
        raise TypeError(f"{name} must be {kind}, got an array of {array.dtype}{advice}")
    alone = array.ndim != len(shape) + 1
    columns = () if real or alone else array.shape[1:2]
    if array.shape != (shape[0], *columns, *shape[1:]) or columns == (0,):
        more = "" if real else f", or {(shape[0], 'c', *shape[1:])}".replace("'", "")
        raise ValueError(f"{name} of {shape[0]} points must have shape {shape}{more}, got {array.shape}")
    if bad := int(np.count_nonzero(~np.isfinite(array))):
        raise ValueError(f"{bad} of the {name} are NaN or infinite")
    whole = shape[0], columns[0] if columns else 1, *(shape[1:] or (1,))
    return np.asarray(array, float if real else complex).reshape(whole), not columns
