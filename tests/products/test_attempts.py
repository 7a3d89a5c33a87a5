"""Checks of products by random rows, and the loop of attempts that they end."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from calderon.products.attempts import first_that_holds
from calderon.products.check import (
    ACCEPT_FINE_WAVES,
    ACCEPT_FUNCTIONS,
    ACCEPT_WAVES,
    Acceptance,
    Check,
    confidence,
    random_rows,
)
from calderon.solvers.iteration import ToleranceError

RANDOM = np.random.default_rng(7)


def refused(error):
    return f"an error of {error:.1e}"


def test_errors_of_groups_are_norms_over_their_vectors():
    """With weights, of rows that stand for several; what cancels is compared with given sizes."""
    exact, change = RANDOM.normal(size=(5, 3)), 1e-3 * RANDOM.normal(size=(5, 3))
    weights, groups = np.array([1.0, 1.0, 4.0, 4.0, 4.0]), np.array([0, 0, 1])
    check = Check(np.arange(5), np.zeros((9, 3)), exact, groups, weights)
    scaled = [np.sqrt(weights)[:, None] * each for each in (change, exact)]
    wanted = [np.linalg.norm(scaled[0][:, own]) / np.linalg.norm(scaled[1][:, own]) for own in ([0, 1], [2])]
    assert check.errors(exact + change) == pytest.approx(wanted, rel=1e-12)
    sizes = 2 * np.array([np.linalg.norm(scaled[1][:, :2]), 0.0])
    assert check.errors(exact + change, lambda: sizes) == pytest.approx([wanted[0] / 2, wanted[1]], rel=1e-12)
    assert check.errors(exact + change, lambda: sizes, resolved=0.4) == pytest.approx(wanted, rel=1e-12)
    assert check.errors(exact + change, lambda: 1 / 0, enough=1.0) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("transposed", [False, True])
def test_a_product_is_compared_at_the_rows_or_columns(transposed):
    matrix = RANDOM.normal(size=(30, 20))
    whole = matrix.T if transposed else matrix
    rows, vectors = random_rows(np.random.default_rng(0), len(whole), 6), RANDOM.normal(size=(whole.shape[1], 2))
    check = Check(rows, vectors, whole[rows] @ vectors, np.zeros(2, int), transposed=transposed)
    assert check.error(aslinearoperator(matrix)) < 1e-14
    assert check.error(aslinearoperator(1.01 * matrix)) == pytest.approx(0.01, rel=1e-10)
    assert check.place == f"6 random {'columns' if transposed else 'rows'}"
    assert len(random_rows(np.random.default_rng(0), 4)) == 4


def test_factors_of_the_table_hold_the_tolerance_as_often_as_they_say():
    """Errors of normal distribution: 64 rows of a single vector, or with three random complex ones."""
    assert confidence(1.4 * ACCEPT_FUNCTIONS.wished, 64) == pytest.approx(0.96, abs=0.01)
    assert confidence(ACCEPT_WAVES.allowed, 384) == pytest.approx(0.997, abs=0.001)
    assert confidence(ACCEPT_FINE_WAVES.allowed, 192) > 0.999
    draws = np.random.default_rng(3).normal(size=(20_000, 64))
    assert (np.sqrt((draws**2).mean(axis=1)) > 0.84).mean() == pytest.approx(confidence(0.84, 64), abs=0.005)


ACCEPT = Acceptance(wished=0.5, allowed=0.9, improvements=2)


def test_the_first_setting_that_holds_is_taken_and_none_is_refused():
    tried = []

    def prepare(setting):
        tried.append(setting)
        return None if setting == "none" else setting

    held = first_that_holds(["none", 1e-2, 8e-4, 1e-9], prepare, float, 1e-3, ACCEPT, refused)
    assert held == (8e-4, 8e-4, 8e-4) and tried == ["none", 1e-2, 8e-4]  # 0.8 is above the wish, and allowed
    with pytest.raises(ToleranceError, match="an error of 9.5e-04"):
        first_that_holds([9.5e-4], prepare, float, 1e-3, ACCEPT, refused)
    with pytest.raises(ToleranceError, match="an error of inf"):
        first_that_holds(["none"], prepare, float, 1e-3, ACCEPT, refused)


def test_products_are_improved_up_to_the_wish_and_so_many_times():
    def half(product, error):
        assert product == error
        return product / 2

    def run(error, better, rtol=1e-3):
        return first_that_holds([error], lambda setting: setting, float, rtol, ACCEPT, refused, better).error

    assert run(9e-4, half) == 4.5e-4 and run(4e-4, half) == 4e-4
    assert run(3.2e-3, half) == 8e-4  # twice, and then it is allowed
    assert run(7e-4, lambda product, error: None) == 7e-4
    with pytest.raises(ToleranceError):
        run(4e-3, half)


def test_settings_may_follow_from_what_attempts_found():
    errors = []

    def settings():
        yield 1.0
        while errors:
            yield 0.1 * errors[-1]

    def error_of(product):
        errors.append(product)
        return product

    assert first_that_holds(settings(), float, error_of, 1e-3, ACCEPT, refused).error == pytest.approx(1e-4)
    assert len(errors) == 5
