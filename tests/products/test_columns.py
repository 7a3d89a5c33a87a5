"""Columns of any size are multiplied in units of their own."""

import numpy as np
import pytest

from calderon.products.operator import in_units


@pytest.mark.parametrize(
    "kind, sizes",
    [
        (np.float64, [1e-320, 1e-310, 1.0, 1e308]),
        (np.complex128, [1e-320, 1e-310, 1.0, 1e307]),
        (np.float32, [1e-44, 1.0, 3e38]),
        (np.complex64, [1e-44, 1.0, 1e38]),
        (np.float16, [6e-8, 6e4]),
    ],
)
def test_products_are_those_of_the_columns(kind, sizes):
    x = np.array([[1.0], [-0.5], [0.25]]) * np.array(sizes)
    x = (x if np.dtype(kind).kind == "f" else x * (1 + 0.5j)).astype(kind)
    seen = []

    def itself(columns):
        seen.append(np.abs(columns).max(axis=0))
        return columns

    with np.errstate(all="raise", under="ignore"):
        found = in_units(itself, x)
    assert np.array_equal(found, x) and found.dtype == x.dtype
    # such that single precision holds what is multiplied
    size = seen[0].astype(float)
    assert np.all((size < 1e16) & (size > 1e-16))


@pytest.mark.parametrize("x", [[[1, 3 * 10**17], [2, 5]], [[True], [False]], np.array([[100], [-3]], np.int8)])
def test_columns_of_integers(x):
    found = in_units(lambda columns: 2.0 * columns, np.array(x))
    assert np.array_equal(found, 2.0 * np.array(x)) and found.dtype == np.float64


def test_zero_and_not_a_number_stay_as_they_are():
    x = np.array([[0.0, np.nan, np.inf, 1e-200], [0.0, 1.0, 1.0, 1.0]])
    assert np.array_equal(in_units(lambda columns: 1 * columns, x), x, equal_nan=True)
