"""Every form of the catalogue: entries, methods and devices give its dense matrix."""

import functools

import numpy as np
import pytest

import calderon as cal
from calderon.hmatrix import Admissibility, Choices, assemble_hmatrix
from catalogue import FORMS, NOT_MATRIX_FREE, OWN, OWN_FORMS, PRECISIONS, cases, form_cases, operator_of

MESH, FEW = (cal.mesh.sphere(radius=1.0, h=h) for h in (0.3, 0.55))
WAVES = [(form, "helmholtz") for form in FORMS]
STATIC = [("double_layer", "laplace")]

every_form = pytest.mark.parametrize(("form", "green"), cases(form_cases(), WAVES + STATIC))


@functools.cache
def operator(form, green, mesh=MESH):
    return operator_of(form, green, mesh)


@functools.cache
def dense(form, green, mesh=MESH):
    return operator(form, green, mesh).assemble().to_array()


def close(found, exact, bound):
    return np.abs(found - exact).max() < bound * np.abs(exact).max()


@every_form
def test_entries_are_those_of_the_dense_matrix(form, green):
    """Entries take each pair in its order, dense matrices may take both orders from one evaluation: of touching pairs
    tested with rotated functions the rule has other points then, and its error is left."""
    matrix, random = dense(form, green), np.random.default_rng(0)
    rows, columns = (random.integers(0, size, 30) for size in matrix.shape)
    bound = 2e-6 if form == "magnetic_field SNC" else 1e-12
    assert close(operator(form, green).entries(rows, columns), matrix[np.ix_(rows, columns)], bound)


WITHOUT_A_MATRIX = [each for each in form_cases() if each[0] not in NOT_MATRIX_FREE]


@pytest.mark.parametrize(("form", "green"), cases(WITHOUT_A_MATRIX, WAVES + STATIC))
def test_products_without_a_matrix_are_those_of_the_dense_one(form, green):
    matrix, random = dense(form, green), np.random.default_rng(1)
    product = operator(form, green).assemble("matrix-free")
    for exact, apply in ((matrix, product.matmat), (matrix.conj().T, product.rmatmat)):
        x = random.standard_normal((exact.shape[1], 2)) + 1j * random.standard_normal((exact.shape[1], 2))
        assert close(apply(x), exact @ x, 1e-11)


@every_form
def test_h_matrices_hold_the_dense_one(form, green):
    """With small clusters: blocks of low rank come from compiled rows and columns, the others from compiled blocks."""
    choices = Choices(rtol=2e-2, leaf=8, admissibility=Admissibility(eta=8.0))
    matrix = assemble_hmatrix(operator(form, green), choices=choices)
    assert matrix.statistics.total.low_rank > 0
    assert np.linalg.norm(matrix.to_array() - dense(form, green)) < 2e-2 * np.linalg.norm(dense(form, green))


ON_DEVICES = [(*each, "double") for each in form_cases()] + [(*each, "single") for each in WAVES]
KEPT = [(*each, "double") for each in WAVES] + [
    (form, "helmholtz", "single") for form in ("double_layer", "electric_field")
]


@pytest.mark.parametrize(("form", "green", "precision"), cases(ON_DEVICES, KEPT))
def test_devices_hold_the_dense_matrix(opencl, form, green, precision):
    matrix = operator(form, green, FEW).assemble(backend="opencl", precision=precision).to_array()
    assert matrix.dtype == operator(form, green, FEW).dtype(precision)
    assert close(matrix, dense(form, green, FEW), PRECISIONS[precision])


TRANSPOSED = {
    "single_layer": "single_layer",
    "double_layer": "adjoint_double_layer",
    "hypersingular": "hypersingular",
    "electric_field": "electric_field",
    "elastic_single_layer": "elastic_single_layer",
    "elastic_double_layer": "elastic_adjoint_double_layer",
    "layered_electric_field": "layered_electric_field",
}
KNOWN = [each for each in WAVES + [(form, OWN) for form in OWN_FORMS] if each[0] in TRANSPOSED]


@pytest.mark.parametrize(("form", "green"), cases(KNOWN, WAVES))
def test_forms_are_symmetric_or_transposed_to_another(form, green):
    """To the accuracy of the quadrature, by entries, which make no use of it."""
    random = np.random.default_rng(2)
    rows, columns = (random.integers(0, size, 40) for size in operator(form, green).shape)
    found = operator(form, green).entries(rows, columns)
    assert close(operator(TRANSPOSED[form], green).entries(columns, rows).T, found, 1e-5)
