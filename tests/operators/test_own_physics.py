"""Green's functions and forms of a user: those of the package, written anew, give the same matrices."""

import cmath
import math

import numpy as np
import pytest

import calderon as cal


def screened(r, decay):
    value = math.exp(-decay * r) / (4 * math.pi * r)
    return value, -value * (decay + 1 / r)


def wave(r):
    value = cmath.exp(2j * r) / (4 * math.pi * r)
    return value, value * (2j - 1 / r)


GRADIENT = [cal.Component(1, each) for each in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
NORMALS = [lambda centroids, normals, axis=axis: normals[:, axis] for axis in range(3)]


@pytest.fixture(scope="module")
def space():
    return cal.P0(cal.mesh.sphere(1.3, h=0.7))


def deviation(found, known):
    return np.abs(found - known).max() / np.abs(known).max()


@pytest.mark.variant
def test_a_function_in_python_is_that_of_the_package(space):
    green = cal.Green(screened, 1.5j, constants=(1.5,))
    assert not green.is_complex and repr(green) == "Green(screened with 1.5, wavenumber=0+1.5j)"
    found, known = (cal.single_layer(each, space).assemble() for each in (green, cal.ModifiedHelmholtz(1.5)))
    assert deviation(found.to_array(), known.to_array()) < 1e-12


def test_functions_that_decay_within_a_micrometre_are_accepted():
    """They are examined at distances of their own wavenumber, without which they seem too singular."""
    green = cal.Green(screened, 2e9j, constants=(2e9,))
    assert not green.is_complex
    with pytest.raises(ValueError, match=r"grows faster than 1 / r\^1 from r = .* m: .* wavenumber 1j \* w of a decay"):
        cal.Green(screened, constants=(2e6,))


@pytest.mark.variant
@pytest.mark.parametrize("method", ["hmatrix", "mlfmm"])
@pytest.mark.parametrize("layer", [cal.single_layer, cal.double_layer])
def test_complex_functions_and_methods(space, layer, method):
    green, known = cal.Green(wave, 2.0), layer(cal.Helmholtz(2.0), space).assemble().to_array()
    assert green.is_complex and deviation(layer(green, space).assemble().to_array(), known) < 1e-12
    assert deviation(layer(green, space).assemble(method, rtol=1e-5) @ np.eye(space.dimension), known) < 1e-4


@pytest.mark.variant
def test_a_form_is_the_layer_that_has_its_kernel(space):
    """d/dn_x G = n_x . d G'/r: a sum over coordinates, each with its own weight."""
    form = cal.Form(GRADIENT, test=NORMALS, name="flux")
    found = form(cal.Laplace(), space)
    known = cal.adjoint_double_layer(cal.Laplace(), space).assemble().to_array()
    assert deviation(found.assemble().to_array(), known) < 1e-6


@pytest.mark.variant
def test_a_form_as_an_h_matrix(space):
    found, known = (
        cal.Form(GRADIENT, test=NORMALS)(cal.Laplace(), space),
        cal.adjoint_double_layer(cal.Laplace(), space),
    )
    assert deviation(found.assemble("hmatrix").to_array(), known.assemble().to_array()) < 1e-4


@pytest.mark.parametrize(
    "given, words",
    [
        ({"function": 3}, "needs a function of the distance"),
        ({"function": math.exp}, "needs a function of the distance"),
        ({"function": lambda r: 1 / r}, "has to return G and dG/dr"),
        ({"function": lambda r: (1 / r, 1 / r**2)}, "gives the slope .* differences of its values"),
        ({"function": lambda r: (1 / r**2, -2 / r**3)}, "grows faster than"),
        ({"function": lambda r: (math.nan, 0.0)}, "not finite"),
        ({"function": screened, "constants": ("a",)}, "the constants of Green are real numbers"),
        ({"function": screened, "constants": (1.0,), "singularity": 2.0}, "from 0 to 1"),
        ({"function": screened, "constants": (1.0,), "wavenumber": -1j}, "negative imaginary part"),
    ],
)
def test_functions_that_cannot_be_used_are_refused(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        cal.Green(**given)


def test_forms_that_cannot_be_integrated_are_refused(space):
    for method, words in (("fmm", "is for operators of Laplace's equation"), ("mlfmm", "a form of yours")):
        with pytest.raises(ValueError, match=words):
            cal.Form(GRADIENT, test=NORMALS)(cal.Laplace(), space).assemble(method)
    with pytest.raises(ValueError, match="at least one component"):
        cal.Form([])
    with pytest.raises(ValueError, match="a weight for each of the 3 components, got 1"):
        cal.Form(GRADIENT, trial=[1.0])
    with pytest.raises(ValueError, match="one power of the distance"):
        cal.Form([cal.Component(0), cal.Component(1)])(cal.Laplace(), space)
    with pytest.raises(ValueError, match=r"singular like 1 / r\^3"):
        cal.Form([cal.Component(1)])(cal.Laplace(), space)
    with pytest.raises(ValueError, match="one finite real number for each of the"):
        cal.Form([cal.Component(0)], test=[lambda centroids, normals: normals])(cal.Laplace(), space).assemble()


def test_devices_refuse_both(space, opencl):
    green = cal.Green(screened, 1.5j, constants=(1.5,))
    with pytest.raises(NotImplementedError, match="a function in Python, which the processor alone computes"):
        cal.single_layer(green, space).assemble(backend="opencl")
    with pytest.raises(NotImplementedError, match="has no form for devices"):
        cal.Form([cal.Component(0)])(cal.Laplace(), space).assemble(backend="opencl")
