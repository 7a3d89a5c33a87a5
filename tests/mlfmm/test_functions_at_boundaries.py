"""Hypersingular operators with functions that do not vanish at the boundary of an open surface: integrals by parts, of
which dense matrices are made, leave out line charges that normal derivatives of such functions have."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.errors import AccuracyWarning
from calderon.mlfmm import preparation

GREEN = cal.Helmholtz(12.0)
MESH = cal.mesh.plate((2.0, 1.0), 0.06)


@pytest.mark.filterwarnings("ignore:functions that do not vanish")
@pytest.mark.parametrize("transposed", [False, True])
def test_products_hold_the_tolerance_by_waves(transposed, recwarn):
    inner, all_functions = cal.P1(MESH, boundary=False), cal.P1(MESH)
    operator = cal.hypersingular(GREEN, inner, all_functions)
    operator = operator.T if transposed else operator
    assert "levels" in str(operator.plan("mlfmm", 1e-3))
    matrix = operator.assemble("mlfmm", rtol=1e-3)
    assert any(matrix.levels) and matrix.error <= 1e-3
    assert not [each for each in recwarn if "all its entries" in str(each.message)]
    x = np.random.default_rng(0).standard_normal(operator.shape[1])
    exact = operator.assemble("dense") @ x
    assert np.linalg.norm(matrix @ x - exact) < 1e-3 * np.linalg.norm(exact)


def test_waves_that_do_not_hold_are_told(monkeypatch):
    """All entries are computed then, with the rules of a dense matrix, and a warning says so."""
    monkeypatch.setattr(preparation.Parts, "better", lambda self, error: None)
    monkeypatch.setattr(preparation, "parts_of", _without_waves(preparation.parts_of))
    operator = cal.single_layer(GREEN, cal.P1(MESH))
    with pytest.warns(AccuracyWarning, match="plane waves do not hold rtol=0.001 .* all its entries are computed"):
        matrix = operator.assemble("mlfmm", rtol=1e-3)
    assert "all entries are near ones" in str(matrix)


def _without_waves(of):
    """Attempts whose waves do not hold."""
    return lambda operator, setting, *rest: of(operator, setting, *rest) if setting.attempt.edge == 0 else None
