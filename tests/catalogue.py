"""Catalogue of what the package offers: a line added here inherits the theorems of the tests that read the list."""

import zlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest

import calderon as cal
from calderon.spaces import dual_tests

GREENS = {
    "laplace": cal.Laplace(),
    "helmholtz": cal.Helmholtz(2.0),
    "lossy helmholtz": cal.Helmholtz(2.0 + 0.5j),
    "modified helmholtz": cal.ModifiedHelmholtz(2.0),
}
"""Green's functions: their equation (tests/greens/test_equations.py), operators, potentials and device sources."""

NODAL_SPACES = {"P0": cal.P0, "DP1": cal.DP1, "DP2": cal.DP2, "P1": cal.P1, "P2": cal.P2}
EDGE_SPACES = {
    "RWG": cal.RWG,
    "SNC": cal.SNC,
    "BC": cal.BC,
    "RBC": cal.RBC,
    "dual tests": lambda mesh: dual_tests(cal.RWG(mesh)),
}
SPACES = NODAL_SPACES | EDGE_SPACES
"""Spaces by name: mesh -> space."""


class Form(NamedTuple):
    """A bilinear form on its usual spaces. waves: the form exists for Green's functions of waves only."""

    build: Callable[..., Any]
    trial: str
    test: str
    waves: bool = False

    def on(self, green: Any, mesh: Any) -> Any:
        """The operator of this form on a mesh."""
        trial = SPACES[self.trial](mesh)
        return self.build(green, trial, trial if self.test == self.trial else SPACES[self.test](mesh))


FORMS = {
    "single_layer": Form(cal.single_layer, "P1", "P1"),
    "double_layer": Form(cal.double_layer, "P1", "P1"),
    "adjoint_double_layer": Form(cal.adjoint_double_layer, "P1", "P1"),
    "hypersingular": Form(cal.hypersingular, "P1", "P1"),
    "electric_field": Form(cal.electric_field, "RWG", "RWG", waves=True),
    "magnetic_field": Form(cal.magnetic_field, "RWG", "RWG", waves=True),
    "magnetic_field SNC": Form(cal.magnetic_field, "RWG", "SNC", waves=True),
    "magnetic_field dual tests": Form(cal.magnetic_field, "RWG", "dual tests", waves=True),
}
"""Bilinear forms: every method and every backend holds their dense matrix (tests/operators/test_every_form.py)."""

STEEL = cal.Elastostatic(youngs_modulus=2.6, poissons_ratio=0.3)
BOARD = cal.Stack([cal.Layer(0.03, 2.2 + 0.01j), cal.Layer(0.02, 4.0)], below="pec")


def metal(mesh: Any) -> Any:
    """Functions on a plate between the layers of BOARD, of about as many triangles as a mesh."""
    plate = cal.mesh.plate((0.2, 0.1), 0.2 / np.sqrt(mesh.number_of_triangles))
    return cal.RWG(cal.TriangleMesh(plate.vertices + [0.0, 0.0, 0.03], plate.triangles))


OWN_FORMS: dict[str, Callable[[Any], Any]] = {
    "elastic_single_layer": lambda mesh: cal.single_layer(STEEL, cal.P1(mesh, components=3)),
    "elastic_double_layer": lambda mesh: cal.double_layer(STEEL, cal.P1(mesh, components=3)),
    "elastic_adjoint_double_layer": lambda mesh: cal.adjoint_double_layer(STEEL, cal.P1(mesh, components=3)),
    "layered_electric_field": lambda mesh: cal.layered_electric_field(BOARD, 3e8, metal(mesh)),
}
"""Forms with a Green's function of their own, on a mesh: they inherit the same theorems as FORMS."""
OWN = "own"
"""Stands for that function among the cases of forms."""
LAYERS = [name for name, form in FORMS.items() if not form.waves]
LAYER_POTENTIALS = {"single": cal.single_layer_potential, "double": cal.double_layer_potential}
CURRENT_POTENTIALS = {"electric": cal.electric_field_potential, "magnetic": cal.magnetic_field_potential}


class Accuracy(NamedTuple):
    """A method of `assemble`: its options, the largest relative difference of its products from those of the dense
    matrix, and whether it takes a form with a Green's function, both by name."""

    options: dict[str, Any]
    bound: float
    takes: Callable[[str, str], bool]


def layered(form: str, green: str) -> bool:
    """Whether a form is one of metal between layers."""
    return form.startswith("layered")


def static(form: str, green: str) -> bool:
    """Whether a form is one of Laplace's equation or of elastostatics."""
    return green == "laplace" or form.startswith("elastic")


METHODS = {
    "dense": Accuracy({}, 1e-14, lambda form, green: True),
    "matrix-free": Accuracy({}, 1e-11, lambda form, green: not layered(form, green)),
    "hmatrix": Accuracy({"rtol": 1e-4}, 1e-4, lambda form, green: True),
    "fmm": Accuracy({"rtol": 1e-4}, 1e-4, static),
    "mlfmm": Accuracy({"rtol": 1e-4}, 1e-4, lambda form, green: not layered(form, green) and not static(form, green)),
    "fft": Accuracy({}, 2e-5, layered),
}
"""Every method that assembles an operator; the seventh, Floquet's, multiplies the cell of a periodic structure alone
(tests/floquet)."""
BACKENDS = ["numba", "opencl"]
PRECISIONS = {"double": 1e-12, "single": 1e-5}
"""Precisions, and the largest relative difference between numbers of two backends."""


def form_cases() -> list[tuple[str, str]]:
    """(form, Green's function) by name: all forms with one function, all functions with the double layer, which reads
    values and slopes, those of waves with currents, and forms with functions of their own."""
    pairs = [(form, "helmholtz") for form in FORMS] + [("double_layer", green) for green in GREENS]
    pairs += [("electric_field", green) for green in GREENS if GREENS[green].is_complex]
    return list(dict.fromkeys(pairs + [(form, OWN) for form in OWN_FORMS]))


def operator_of(form: str, green: str, mesh: Any) -> Any:
    """The operator of a case on a mesh."""
    return OWN_FORMS[form](mesh) if green == OWN else FORMS[form].on(GREENS[green], mesh)


def in_share(name: str, share: str) -> bool:
    """Whether a name is in a share "k/n", the k-th of n parts of about equal size that have no name in common."""
    number, shares = map(int, share.split("/"))
    return zlib.crc32(name.encode()) % shares == number % shares


def cases(values: Iterable[Any], kept: Iterable[Any]) -> list[Any]:
    """Parameters of a test: the `kept` of the values run always, the others are variants (see conftest.py)."""
    always = list(kept)
    return [each if each in always else parameter(each, pytest.mark.variant) for each in values]


def parameter(value: Any, *marks: Any) -> Any:
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=marks)


def graded(mesh, factor):
    """A sphere with smaller triangles towards a pole, of the same shapes."""
    theta = np.arccos(np.clip(mesh.vertices[:, 2], -1, 1))
    new = np.pi * np.expm1(np.log(factor) * theta / np.pi) / (factor - 1)
    across = mesh.vertices[:, :2] / np.maximum(np.linalg.norm(mesh.vertices[:, :2], axis=1), 1e-9)[:, None]
    places = np.column_stack([np.sin(new)[:, None] * across, np.cos(new)])
    return cal.TriangleMesh(places, mesh.triangles)
