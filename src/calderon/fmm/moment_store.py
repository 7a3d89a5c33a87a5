"""Moments of elastic functions in memory: runs of r numbers, as floats or in 16 bits (products/packed.py).

The first combinations of harmonics matter most: all distant boxes depend on them, and their rounding is a field that
decays like 1/r, where that of dislocations decays like 1/r^3. In 16 bits the first PER_EXPONENT numbers of a run
therefore have a second integer for what the first one leaves.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vectors import aligned, jitable, lanes, load, store
from calderon.products.packed import PER_EXPONENT, POWERS, ZERO_POWER, groups_of, load_numbers, pack_kernel


class Moments(NamedTuple):
    """Runs of `rank` numbers, one after the other.

    numbers (runs rank,): floats, or integers with exponents (runs groups,). finer (runs PER_EXPONENT,), finer_exponents
    (runs,): where there are integers, the second ones of the first PER_EXPONENT numbers of each run. powers (256,):
    POWERS in the type of products.
    """

    numbers: NDArray[Any]
    exponents: NDArray[np.int8]
    finer: NDArray[np.int16]
    finer_exponents: NDArray[np.int8]
    powers: NDArray[np.floating]
    rank: int

    @staticmethod
    def empty(runs: int, rank: int, real: Any, work: Any = np.float64) -> "Moments":
        """Zeros; real: the type of numbers, None for 16 bits; work: that of products with them."""
        many = runs if real is None else 0
        numbers = aligned(runs * rank, np.int16 if real is None else real)
        exponents, others = (np.zeros(many * each, np.int8) for each in (groups_of(rank), 1))
        return Moments(numbers, exponents, np.zeros(many * PER_EXPONENT, np.int16), others, POWERS.astype(work), rank)

    @property
    def is_packed(self) -> bool:
        """Whether numbers are kept in 16 bits."""
        return self.numbers.dtype == np.int16

    @property
    def stored(self) -> tuple[NDArray[Any], ...]:
        """Numbers and tables, as compiled loops read them."""
        return self[:5]

    @property
    def nbytes(self) -> int:
        """Bytes of numbers and exponents."""
        return sum(each.nbytes for each in self[:4])

    def enter(self, values: NDArray[Any], first: int) -> None:
        """Write the runs values (n, rank), from run `first` on."""
        count, rank = values.shape
        if not self.is_packed:
            self.numbers[first * rank : (first + count) * rank] = values.ravel()
            return
        _pack(values, first, self.numbers, self.exponents)
        given = self.numbers.reshape(-1, rank)[first : first + count, :PER_EXPONENT]
        unit = POWERS[self.exponents.reshape(-1, groups_of(rank))[first : first + count, :1].astype(int) + ZERO_POWER]
        _pack(values[:, :PER_EXPONENT] - given * unit, first, self.finer, self.finer_exponents)

    def runs(self, low: int, high: int) -> NDArray[Any]:
        """(high - low, rank) runs as floats."""
        numbers, groups = self.numbers.reshape(-1, self.rank)[low:high], groups_of(self.rank)
        if not self.is_packed:
            return numbers
        units = POWERS[self.exponents.reshape(-1, groups)[low:high].astype(int) + ZERO_POWER]
        out = np.asarray(numbers * np.repeat(units, PER_EXPONENT, axis=1)[:, : self.rank], np.float32)
        units = POWERS[self.finer_exponents[low:high, None].astype(int) + ZERO_POWER]
        out[:, :PER_EXPONENT] += self.finer.reshape(-1, PER_EXPONENT)[low:high] * units
        return out


def _pack(values: NDArray[Any], first: int, integers: NDArray[np.int16], exponents: NDArray[np.int8]) -> None:
    """Write the rows values (n, w) to integers and exponents, which have rows of w, too, from row `first` on."""
    count, width = values.shape
    zero, ends = np.zeros(1, np.int64), np.array([first + count])
    starts, tops = ((np.append(first, ends) * each).astype(np.int64) for each in (width, groups_of(width)))
    pack = pack_kernel(0)
    flat = np.ascontiguousarray(values).ravel()
    pack(flat, zero, zero, zero + count, zero + width, starts, tops, integers, exponents, 0, 1)


@jitable
def run_at(stored, packed, rank, run, k, like):
    """Return the vector of the numbers k, k + 1, ... of a run; k >= PER_EXPONENT where they have one integer.

    stored: the first five fields of `Moments`, with runs of `rank` numbers; packed: whether these are integers, a
    constant; like (n,): an array with the type of the vector.
    """
    numbers, exponents, _, _, powers = stored
    group = run * -(-rank // PER_EXPONENT) + k // PER_EXPONENT
    return load_numbers(numbers, exponents, powers, packed, run * rank + k, group, like)


@jitable
def first_of_run(stored, packed, rank, run, k, like):
    """Return the vector of the numbers k, k + 1, ... of a run, k < PER_EXPONENT; stored, packed, rank, like: as in
    `run_at`."""
    _, _, finer, finer_exponents, powers = stored
    found = run_at(stored, packed, rank, run, k, like)
    if packed:
        found = found + load_numbers(finer, finer_exponents, powers, packed, run * PER_EXPONENT + k, run, like)
    return found


@jitable
def add_run(stored, packed, rank, run, f, sums, at):
    """Add f times a run to sums[at : at + rank]; stored, packed: as in `run_at`."""
    step = lanes(sums)
    for k in range(0, PER_EXPONENT, step):
        store(sums, at + k, load(sums, at + k) + first_of_run(stored, packed, rank, run, k, sums) * f)
    for k in range(PER_EXPONENT, rank, step):
        store(sums, at + k, load(sums, at + k) + run_at(stored, packed, rank, run, k, sums) * f)


@jitable
def with_run(stored, packed, rank, run, t, sums, at):
    """Return the vector t plus the products of the numbers of a run and sums[at : at + rank]; stored, packed: as in
    `run_at`."""
    step = lanes(sums)
    for k in range(0, PER_EXPONENT, step):
        t = t + first_of_run(stored, packed, rank, run, k, sums) * load(sums, at + k)
    for k in range(PER_EXPONENT, rank, step):
        t = t + run_at(stored, packed, rank, run, k, sums) * load(sums, at + k)
    return t
