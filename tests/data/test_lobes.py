"""Directions of lobes that are equally strong."""

import numpy as np
import pytest

from calderon.data.lobes import strongest_lobe

X, Y, Z = np.eye(3)


@pytest.mark.parametrize("normal, along, wanted", [
    (Y, 0 * Z, X), (-Y, 0 * Z, X), (Z, 0 * Z, X), (X, 0 * Z, Y), (Y, Z, X), (Y, X, Z), (-X, Y, Z), (Z, X, Y),
])  # fmt: skip
def test_of_equal_lobes_the_first_is_taken_whatever_rounding_does(normal, along, wanted):
    """Isotropic levels, and those of a dipole along an axis."""
    for seed in range(3):
        rounding = 1e-12 * np.random.default_rng(seed).normal(size=2000)

        def level(x, rounding=rounding):
            return 10 * np.log10(1 - np.minimum((x @ along) ** 2, 1 - 1e-15)) + rounding[: len(x)]

        np.testing.assert_allclose(strongest_lobe(level, normal).direction, wanted, atol=1e-12)
