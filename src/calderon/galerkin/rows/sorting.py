"""Sorting of short lists within kernels."""

from calderon.backends.numba import jitable_part

GAPS = 132, 57, 23, 10, 4, 1
"""Distances of the entries that Shell's method compares, one pass after the other."""


@jitable_part
def sort(keys, data, start, stop):
    """Sort keys[start:stop], and data with them, by Shell's method: rows of constant functions come in order, others
    have at most some hundred entries."""
    for gap in GAPS:
        for k in range(start + gap, stop):
            key, value, at = keys[k], data[k], k
            while at >= start + gap and keys[at - gap] > key:
                keys[at], data[at] = keys[at - gap], data[at - gap]
                at -= gap
            keys[at], data[at] = key, value
