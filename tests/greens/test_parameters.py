"""Which numbers Green's functions take."""

from fractions import Fraction

import numpy as np
import pytest

import calderon as cal

NONE = ["3", True, None, [1.0], np.array(3.0), np.nan, np.inf, complex(1, np.nan), complex(np.inf, 1)]


@pytest.mark.parametrize("given", NONE)
@pytest.mark.parametrize("green", [cal.Helmholtz, cal.ModifiedHelmholtz])
def test_what_is_no_finite_number_is_refused(green, given):
    with pytest.raises(ValueError, match="must be a finite number, got"):
        green(given)


@pytest.mark.parametrize("given", [2, 2.0, np.float32(2), np.int64(2), 2 + 0j, Fraction(2)])
def test_numbers_of_all_kinds_are_one_wavenumber(given):
    assert cal.Helmholtz(given) == cal.Helmholtz(2.0) and isinstance(cal.Helmholtz(given).wavenumber, float)
    assert cal.ModifiedHelmholtz(given) == cal.ModifiedHelmholtz(2.0)


def test_growth_is_refused():
    with pytest.raises(ValueError, match=r"positive imaginary part; try \(2\+1j\)"):
        cal.Helmholtz(2 - 1j)
    for decay in (-1.0, 1 + 1j):
        with pytest.raises(ValueError, match="a real number >= 0, .*Helmholtz"):
            cal.ModifiedHelmholtz(decay)
