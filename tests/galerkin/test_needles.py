"""Triangles that are much longer than high: integrated with little memory, or refused with a message."""

import warnings

import numpy as np
import pytest

import calderon as cal
from calderon.operators.memory_estimate import preparation_bytes
from catalogue import cases

FORMS = {
    "laplace": lambda mesh: cal.single_layer(cal.Laplace(), cal.P0(mesh)),
    "helmholtz": lambda mesh: cal.double_layer(cal.Helmholtz(2.0), cal.P1(mesh)),
    "maxwell": lambda mesh: cal.electric_field(2.0, cal.RWG(mesh)),
}
SPHERE = cal.mesh.sphere(1.0, 0.6)


def with_needle(part: float, close: bool) -> cal.TriangleMesh:
    """A vertex at that part of its way to another one, or to the middle of an edge."""
    vertices, (a, b, c) = SPHERE.vertices.copy(), SPHERE.triangles[7]
    goal = vertices[b] if close else (vertices[a] + vertices[b]) / 2
    vertices[c] = goal + part * (vertices[c] - goal)
    return cal.TriangleMesh(vertices, SPHERE.triangles)


@pytest.mark.parametrize(
    ("form", "method", "precision"),
    [("laplace", "dense", "double"), ("helmholtz", "matrix-free", "double"), ("maxwell", "hmatrix", "single")],
)
def test_needles_are_refused_by_number_with_a_remedy(form, method, precision):
    options = {} if method == "dense" else {"method": method}
    for part, close, remedy in ((1e-7, False, "opposite edge"), (1e-9, True, "merged_vertices")):
        mesh = with_needle(part, close)
        with pytest.raises(cal.mesh.MeshError, match=rf"thinnest is number \d+, .* high.*{remedy}") as caught:
            FORMS[form](mesh).assemble(precision=precision, **options)
        number = int(str(caught.value).split("is number ")[1].split(",")[0])
        assert np.argmin(mesh.areas / mesh.diameters**2) == number


def test_the_remedy_helps():
    mesh = with_needle(1e-9, True)
    with pytest.raises(cal.mesh.MeshError) as caught:
        FORMS["laplace"](mesh).assemble()
    tolerance = float(str(caught.value).split("merged_vertices(")[1].split(")")[0])
    with pytest.warns(cal.mesh.MeshWarning, match="2 triangles lost their area"):
        repaired = mesh.merged_vertices(tolerance)
    assert np.isfinite(FORMS["laplace"](repaired).assemble() @ np.ones(repaired.number_of_triangles)).all()


@pytest.mark.parametrize("form", cases(list(FORMS), kept=["laplace"]))
def test_what_a_needle_takes_is_less_than_predicted_and_little(form, peak_of):
    operator = FORMS[form](with_needle(1e-5, False))
    assert preparation_bytes(operator) < 1e9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cal.AccuracyWarning)
        operator.assemble()  # what compiling takes is not meant
        matrix, peak = peak_of(operator)
    assert peak - matrix.nbytes < preparation_bytes(operator)
    assert np.isfinite(matrix @ np.ones(matrix.shape[1])).all()
