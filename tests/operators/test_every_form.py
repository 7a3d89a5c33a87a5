"""Every form of the catalogue: entries, methods and devices give its dense matrix."""

import functools

import numpy as np
import pytest

import calderon as cal
from calderon.hmatrix import Admissibility, Choices, assemble_hmatrix
from calderon.operators.methods import table
from catalogue import FORMS, GREENS, LAYERS, METHODS, OWN, OWN_FORMS, PRECISIONS, cases, form_cases, operator_of

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


BALLS = cal.mesh.merge([FEW.translated(place) for place in ([0, 0, 0], [7.0, 0.5, 0.3], [-3.0, 8.0, 0.3])])
"""Three distant bodies: far fields carry most of a product."""
OF_METHODS = form_cases() + [(form, "laplace") for form in LAYERS]
COMPARED = METHODS.keys() - {"dense"}
OFTEN = [("matrix-free", *case) for case in WAVES + STATIC]
OFTEN += [("fmm", *STATIC[0]), ("fmm", "elastic_double_layer", OWN), ("fft", "layered_electric_field", OWN)]
OFTEN += [("mlfmm", form, "helmholtz") for form in ("double_layer", "electric_field")]
EACH_METHOD = OFTEN + [
    (name, "double_layer", green)
    for name in ("matrix-free", "hmatrix", "mlfmm")
    for green in GREENS
    if (name, "double_layer", green) not in OFTEN and METHODS[name].takes("double_layer", green)
]
EACH_METHOD += [("matrix-free", "elastic_double_layer", OWN), ("hmatrix", "layered_electric_field", OWN)]
"""Products of other forms: hmatrix/test_operators.py, fmm/test_fast_operators.py, mlfmm/test_wave_operators.py."""


def body_of(form):
    return FEW if form.startswith("layered") else BALLS


@pytest.mark.parametrize(("name", "form", "green"), cases(EACH_METHOD, OFTEN))
def test_products_of_every_method_are_those_of_the_dense_matrix(name, form, green):
    method, random, mesh = METHODS[name], np.random.default_rng(1), body_of(form)
    matrix, product = dense(form, green, mesh), operator(form, green, mesh).assemble(name, **method.options)
    for exact, apply in ((matrix, product.matmat), (matrix.conj().T, product.rmatmat)):
        x = random.standard_normal((exact.shape[1], 2)) + 1j * random.standard_normal((exact.shape[1], 2))
        x[:, 1] *= 1e-60  # beyond single precision, in which expansions may be
        error, size = (np.linalg.norm(each, axis=0) for each in (apply(x) - exact @ x, exact @ x))
        assert (error <= method.bound * size).all()


@pytest.mark.parametrize("name", sorted(COMPARED - {"hmatrix"}))
def test_a_method_refuses_what_it_does_not_take(name):
    left = [case for case in OF_METHODS if not METHODS[name].takes(*case)]
    assert left
    for form, green in left:
        with pytest.raises(ValueError, match="method"):
            operator(form, green, body_of(form)).assemble(name, **METHODS[name].options)


def test_the_catalogue_has_every_method():
    assert METHODS.keys() == table().keys()


@every_form
def test_h_matrices_hold_the_dense_one(form, green):
    """With small clusters: blocks of low rank come from compiled rows and columns, the others from compiled blocks."""
    choices = Choices(rtol=2e-2, leaf=8, admissibility=Admissibility(eta=8.0))
    matrix = assemble_hmatrix(operator(form, green), choices=choices)
    assert matrix.statistics.total.low_rank > 0
    assert np.linalg.norm(matrix.to_array() - dense(form, green)) < 2e-2 * np.linalg.norm(dense(form, green))


KEPT = [(*each, "double") for each in WAVES] + [
    (form, "helmholtz", "single") for form in ("double_layer", "electric_field")
]
ON_DEVICES = [(*each, "double") for each in form_cases()] + KEPT[-2:]


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
