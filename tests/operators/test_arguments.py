"""Arguments of operators, their entries and potentials: read as NumPy would, or refused with a message."""

import inspect
import warnings

import numpy as np
import pytest

import calderon as cal
from calderon.validation import index_array


@pytest.fixture(scope="module")
def space():
    return cal.P0(cal.mesh.sphere(radius=1.0, h=1.0))


@pytest.fixture(scope="module")
def operator(space):
    return cal.single_layer(cal.Laplace(), space)


@pytest.fixture(scope="module")
def matrix(operator):
    return operator.assemble().to_array()


@pytest.mark.parametrize("few", [slice(3, 20, 4), slice(None), slice(5, 5), [], 7, [-1, 2, 2], np.uint8([4, 1])])
def test_entries_are_chosen_as_those_of_an_array(operator, matrix, few):
    columns = np.arange(len(matrix)) % 3 == 0
    chosen = matrix[np.atleast_1d(np.arange(len(matrix))[few]) if np.size(few) or isinstance(few, slice) else []]
    assert np.allclose(operator.entries(few, columns), chosen[:, columns], rtol=1e-12, atol=0)
    assert np.allclose(operator.entries(columns, few), chosen[:, columns].T, rtol=1e-12, atol=0)  # symmetric


def test_a_mask_chooses_where_it_is_true_and_nowhere_else():
    numbers, places = index_array([False, True, False, True], 4, "row")
    assert numbers[places].tolist() == [1, 3]
    assert index_array(np.zeros(4, bool), 4, "row")[1].size == 0


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ([0.0, 1.0], TypeError, "integers, a slice or a mask, got an array of float64"),
        (0.5, TypeError, "float64"),
        (["1"], TypeError, "<U1"),
        (None, TypeError, "object"),
        ([[0, 1]], TypeError, r"shape \(1, 2\)"),
        ([True, False], IndexError, r"a mask of the 5 rows has shape \(5,\), got \(2,\)"),
        (np.ones((5, 5), bool), IndexError, r"got \(5, 5\)"),
        ([0, 5], IndexError, "row 5 is outside of the 5 rows: 0 to 4"),
        (-6, IndexError, "row -6 is outside"),
        (np.array([2**63], np.uint64), IndexError, "row 9223372036854775808 is outside"),
    ],
)
def test_other_numbers_of_entries_are_refused(asked, error, message):
    with pytest.raises(error, match=message):
        index_array(asked, 5, "row")


@pytest.mark.parametrize("factor", ["2", True, None, np.ones(3), [1.0]])
def test_factors_that_are_no_numbers_are_refused(operator, factor):
    for product in (lambda: operator * factor, lambda: factor * operator, lambda: operator / factor):
        with pytest.raises(TypeError, match="an operator is multiplied by numbers, got"):
            product()


def test_factors_must_be_finite(operator):
    for factor in (np.nan, np.inf, complex(0, np.nan), np.float32("nan")):
        with pytest.raises(ValueError, match="must be finite"):
            operator * factor
    assert (np.float32(2) * operator).parts[0][0] == 2


def test_factors_of_any_type_are_multiplied_in_double_precision(operator):
    """Products and quotients of short NumPy types round, or overflow."""
    plane = cal.PlaneWave(wavenumber=1.0, direction=[0, 0, 1])
    assert (operator / np.float32(3)).parts[0][0] == 1 / 3
    assert (np.float32(0.5) * (operator / np.float32(3))).parts[0][0] == 0.5 / 3
    assert (np.int8(100) * (np.int8(100) * operator)).parts[0][0] == 1e4
    assert (np.int8(100) * (np.int8(100) * plane)).terms[0][0] == 1e4
    assert (np.complex128(2j) * operator).is_complex


@pytest.mark.parametrize("zero", [0, 0j, np.float64(0)])
def test_nothing_is_divided_by_zero(operator, zero):
    function = cal.Function(operator.trial, np.ones(operator.trial.dimension))
    for divided in (operator, function):
        with pytest.raises(ValueError, match="the divisor of an? .* must not be 0, got"):
            divided / zero


def test_operators_take_operators(operator, space):
    with pytest.raises(TypeError, match=r"got ndarray: A.assemble\(\) @ x multiplies"):
        operator @ np.ones(space.dimension)
    with pytest.raises(TypeError):
        np.ones(space.dimension) @ operator
    with pytest.raises(TypeError, match=r"got 0.5: a number c stands for c \* identity"):
        operator + 0.5
    with pytest.raises(TypeError, match=r"got 0.5: a number c stands for c \* identity"):
        cal.blocks([[operator, 0.5]])
    with pytest.raises(TypeError, match="identity needs a space of scalar functions, got TriangleMesh"):
        cal.identity(space.mesh)
    with pytest.raises(TypeError, match="identity needs a space of scalar functions, got EdgeSpace"):
        cal.identity(space, cal.RWG(space.mesh))


@pytest.mark.parametrize("solve", [cal.gmres, cal.cg, lambda operator, b: cal.lu(operator), lambda A, b: cal.hlu(A)])
def test_solvers_need_an_assembled_operator(operator, space, solve):
    with pytest.raises(TypeError, match="got IntegralOperator.*assemble"):
        solve(operator, np.ones(space.dimension))


@pytest.mark.parametrize("layer", [cal.single_layer, cal.double_layer, cal.adjoint_double_layer, cal.hypersingular])
def test_layers_need_a_green_function_spaces_and_a_quadrature(space, layer):
    nodal = cal.P1(space.mesh)
    for green in ("laplace", cal.Laplace, 3.0, None):
        with pytest.raises(TypeError, match=f"{layer.__name__} needs a Green's function, got"):
            layer(green, nodal)
    with pytest.raises(TypeError, match="needs a space of scalar functions, got TriangleMesh"):
        layer(cal.Laplace(), space.mesh)
    with pytest.raises(TypeError, match=r"needs a Quadrature or None, got 4: try Quadrature\(regular=6\)"):
        layer(cal.Laplace(), nodal, quadrature=4)


@pytest.mark.parametrize(
    "layer",
    [
        cal.single_layer,
        cal.double_layer,
        cal.adjoint_double_layer,
        cal.hypersingular,
        cal.electric_field,
        cal.magnetic_field,
    ],
)
def test_green_trial_and_test_are_the_positional_arguments_and_options_are_named(layer):
    parameters = inspect.signature(layer).parameters
    positional = [name for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    named = [name for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY]
    assert positional == ["green", "trial", "test"]
    further = {cal.hypersingular: ["form", "quadrature"], cal.electric_field: ["quadrature", "charges"]}
    assert named == further.get(layer, ["quadrature"])


def test_electromagnetic_operators_need_a_quadrature(space):
    currents = cal.RWG(space.mesh)
    density = cal.VectorFunction(currents, np.ones(currents.dimension))
    for made in (cal.electric_field, cal.magnetic_field):
        with pytest.raises(TypeError, match="needs a Quadrature or None, got 4"):
            made(1.0, currents, quadrature=4)
    for made in (cal.electric_field_potential, cal.magnetic_field_potential):
        with pytest.raises(TypeError, match="needs a Quadrature or None, got 4"):
            made(1.0, density, quadrature=4)


@pytest.mark.parametrize("name", ["regular", "singular", "near", "accuracy"])
@pytest.mark.parametrize("value", ["6", True, None, [4], 4.5])
def test_the_numbers_of_a_quadrature(name, value):
    if (name, value) == ("near", 4.5):
        assert cal.Quadrature(near=value).near == value
        return
    if (name, value) == ("accuracy", 4.5):
        with pytest.raises(ValueError, match="quadrature accuracy=4.5 is out of range: choose 0.0 to 0.1"):
            cal.Quadrature(accuracy=value)
        return
    with pytest.raises(TypeError, match=f"quadrature {name}=.* is not a"):
        cal.Quadrature(**{name: value})


@pytest.mark.parametrize("layer", [cal.single_layer_potential, cal.double_layer_potential])
def test_potentials_need_a_density_and_real_points_within_reach(space, layer):
    density = cal.Function(space, np.ones(space.dimension))
    with pytest.raises(TypeError, match="layer potential is that of a Function, got ndarray"):
        layer(cal.Laplace(), density.coefficients)
    with pytest.raises(TypeError, match="layer potential needs a Green's function, got 'laplace'"):
        layer("laplace", density)
    potential = layer(cal.Helmholtz(1.0), density)
    for values in (potential.evaluate, potential.gradient, potential.far_field):
        with pytest.raises(TypeError, match="must be real numbers, got an array of complex128"):
            values([[0, 0, 2 + 1j]])
        with pytest.raises(ValueError, match=r"must have shape \(n, 3\), got \((1, 2|2,)\)"):
            values([0, 1])
    for values in (potential.evaluate, potential.gradient):
        with pytest.raises(ValueError, match="1 of 2 points are farther than 1e.15 diameters .* the first is number 1"):
            values([[0, 0, 2], [0, 1e90, 0]])
        with pytest.raises(ValueError, match=r"1 of 2 points are beyond 1e\+100, the first is number 1"):
            values([[0, 0, 2], [0, 1e300, 0]])
    assert np.allclose(potential.far_field([[0, 0, 1e90]]), potential.far_field([[0, 0, 1]]))
    with pytest.raises(ValueError, match="1 of 2 directions have length zero, the first is number 1"):
        potential.far_field([[0, 0, 1], [0, 0, 0]])


def test_far_away_a_charge_is_a_point():
    space = cal.P0(cal.mesh.cube(size=1e-3, h=1e-3))
    potential = cal.single_layer_potential(cal.Laplace(), cal.Function(space, np.ones(space.dimension)))
    for distance in (1.0, 1e6, 1e12):
        assert np.isclose(potential.evaluate([[0, distance, 0]])[0], 6e-6 / (4 * np.pi * distance), rtol=1e-3)


def test_triangles_of_too_many_wavelengths_are_refused(monkeypatch):
    space = cal.P0(cal.mesh.cube(size=1.0, h=0.5))
    for green in (cal.Helmholtz(200.0), cal.Helmholtz(200j), cal.ModifiedHelmholtz(1e6)):
        operator, message = (
            cal.single_layer(green, space),
            "radians along the longest edge of 0.707, .* up to 50: refine",
        )
        for method in ("dense", "hmatrix", "matrix-free"):
            with pytest.raises(ValueError, match=message):
                operator.assemble(method)
        with pytest.raises(ValueError, match=message):
            operator.entries([0], [1])
    monkeypatch.setattr("calderon.backends.memory.free_memory", lambda: 10**8)
    with pytest.raises(MemoryError, match="the rules of triangles of 28.3 radians needs? 251.* are free"):
        cal.single_layer(cal.ModifiedHelmholtz(40.0), space).entries([0], [1])


@pytest.mark.parametrize("decay", [20.0])
def test_skin_depths_shorter_than_triangles(decay):
    """Over a unit square pairs of points at the distance r < 1 have the density 2 pi r (1 - 4 r / pi + r^2 / pi), which
    makes of exp(-w r) / (4 pi r) the integral 1 / (2 w) - 2 / (pi w^2) + 1 / (pi w^3) but for exp(-w)."""
    square = cal.P0(cal.mesh.plate([1.0, 1.0], h=0.5))
    total = cal.single_layer(cal.ModifiedHelmholtz(decay), square).assemble().to_array().sum()
    assert total == pytest.approx(1 / (2 * decay) - 2 / (np.pi * decay**2) + 1 / (np.pi * decay**3), rel=1e-4)


def test_phases_that_double_precision_does_not_keep_are_told():
    space = cal.P0(cal.mesh.cube(size=1.0, h=1.0))
    potential = cal.single_layer_potential(cal.Helmholtz(1.0), cal.Function(space, np.ones(space.dimension)))
    amplitude = potential.far_field([[0, 0, 1]])[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = potential.evaluate([[0, 0, 1e8]])[0]
    assert abs(near * 1e8 * np.exp(-1e8j) / amplitude - 1) < 1e-5
    with pytest.warns(cal.AccuracyWarning, match="k r reaches 1e.12, and double precision .* take far_field"):
        potential.evaluate([[0, 0, 1e12]])


@pytest.mark.parametrize("make", [cal.P1, cal.P2])
def test_functions_on_a_rim_are_told(make):
    plate, cube = cal.mesh.plate([1.0, 1.0], h=0.5), cal.mesh.cube(size=1.0, h=0.5)
    parts = cal.TriangleMesh(cube.vertices, cube.triangles, (cube.centroids[:, 2] > 0.49).astype(int))
    for space in (make(plate), make(parts, tags=1)):
        with pytest.warns(cal.AccuracyWarning, match=r"do not vanish on the boundary of .*boundary=False"):
            cal.hypersingular(cal.Laplace(), space)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for space in (make(plate, boundary=False), make(parts, tags=1, boundary=False), make(cube)):
            cal.hypersingular(cal.Laplace(), space)


def test_factors_beyond_double_precision_are_refused(operator):
    for factor in (10**400, -(10**5000)):  # Python does not even print the second
        with pytest.raises(
            ValueError, match="the factor of an operator must be a finite number, got an integer beyond"
        ):
            operator * factor
        with pytest.raises(ValueError, match="the wavenumber must be a finite number, got an integer beyond"):
            cal.Helmholtz(factor)
    with pytest.raises(ValueError, match="the factor of an operator must be finite, got inf"):
        operator * 1e308 * 1e10


def test_far_fields_of_waves_that_come_in(space):
    density = cal.Function(space, np.linspace(1, 2, space.dimension))
    layers = [cal.single_layer_potential(cal.Helmholtz(k), density) for k in (2.0, -2.0)]
    out, back = (layer.far_field([[0, 0, 1], [1, 0, 0]]) for layer in layers)
    assert np.allclose(back, out.conj(), rtol=1e-12)
    for green in (cal.Laplace(), cal.Helmholtz(1 + 1j)):
        with pytest.raises(ValueError, match="exists for a real wavenumber other than zero only"):
            cal.single_layer_potential(green, density).far_field([0, 0, 1])
