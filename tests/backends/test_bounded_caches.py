"""Caches are bounded by bytes."""

from typing import NamedTuple

import numpy as np

from calderon.backends.memory import array_bytes, bounded_cache


class Table(NamedTuple):
    points: np.ndarray
    pair: tuple[np.ndarray, int]


def test_what_was_not_used_for_the_longest_time_goes_first():
    made = []

    @bounded_cache(limit=80 * 3)
    def table(number, size=10):
        made.append(number)
        return Table(np.zeros(size - 1), (np.full(1, number), 3))

    first = [table(number) for number in (0, 1, 2)]
    assert [array_bytes(each) for each in first] == [80, 80, 80]
    assert all(table(number) is first[number] for number in (1, 2, 0)) and made == [0, 1, 2]
    table(3)  # 1 goes
    assert table(2) is first[2] and table(0) is first[0] and made == [0, 1, 2, 3]
    assert table(1) is not first[1] and made == [0, 1, 2, 3, 1]
    table.clear()
    again = [table(number) for number in (1, 2, 3)]
    assert made == [0, 1, 2, 3, 1, 1, 2, 3] and all(
        table(number) is each for number, each in zip((1, 2, 3), again, strict=True)
    )


def test_what_is_larger_than_the_limit_is_not_kept():
    made = []

    @bounded_cache(limit=100)
    def zeros(count):
        made.append(count)
        return np.zeros(count)

    small = zeros(5)
    assert zeros(50).size == zeros(50).size == 50
    assert zeros(5) is small and made == [5, 50, 50]
