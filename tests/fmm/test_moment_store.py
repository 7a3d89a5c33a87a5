"""Moments of elastic functions in 16 bits."""

import numpy as np

from calderon.fmm.moment_store import Moments
from calderon.products.packed import PER_EXPONENT


def test_first_moments_of_a_run_have_two_integers():
    values = np.random.default_rng(0).standard_normal((5, 40)) * np.array([[1e-12], [1.0], [1e12], [0.0], [3.0]])
    moments = Moments.empty(7, 40, None)
    moments.enter(values, 2)
    change = np.abs(moments.runs(2, 7) - values) / np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300)
    assert change[:, :PER_EXPONENT].max() < 2.0**-23 and 2.0**-18 < change[:, PER_EXPONENT:].max() < 2.0**-14
    assert not moments.runs(0, 2).any() and moments.nbytes < 3.1 * 7 * 40
