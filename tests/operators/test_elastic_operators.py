"""Integral operators of elastostatics: theorems on closed surfaces, all spaces, every method."""

import numpy as np
import pytest

import calderon as cal

GREEN = cal.Elastostatic(2.6, 0.3)
STRAIN = np.array([[0.3, -0.5, 0.8], [0.1, 0.4, -0.2], [0.6, 0.9, -0.7]])


@pytest.fixture(scope="module")
def cube():
    return cal.mesh.cube(1.0, 0.5)


def vectors(name, mesh):
    return getattr(cal, name)(mesh, components=3)


def matrix(build, trial, test, mesh, **options):
    return build(GREEN, vectors(trial, mesh), vectors(test, mesh), **options).assemble().to_array()


def rigid_motions(nodes):
    """(3 n, 6) translations and rotations at nodes (n, 3)."""
    turned = [np.cross(axis, nodes) for axis in np.eye(3)]
    return np.stack([*(np.tile(axis, (len(nodes), 1)) for axis in np.eye(3)), *turned]).reshape(6, -1).T


def tractions(mesh):
    """(n, 3) tractions of the displacement STRAIN @ x on the triangles."""
    strain = (STRAIN + STRAIN.T) / 2
    return mesh.normals @ (GREEN.lame * np.trace(strain) * np.eye(3) + 2 * GREEN.shear_modulus * strain)


QUADRATIC = pytest.param("P2", "P2", 5e-5, marks=pytest.mark.variant)


@pytest.mark.parametrize("space, test, bound", [("P1", "P0", 1e-5), QUADRATIC])
def test_rigid_motions_have_no_traction(cube, space, test, bound):
    """(1/2 + K) e = 0."""
    trial = vectors(space, cube)
    half = 0.5 * cal.identity(trial, vectors(test, cube)).assemble().to_array()
    motions = rigid_motions(trial.scalar.nodes)
    defect = np.abs((matrix(cal.double_layer, space, test, cube) + half) @ motions).max(axis=0)
    assert (defect < bound * np.abs(half @ motions).max(axis=0)).all()


def test_rigid_motions_of_a_needle_have_no_traction(cube):
    """Its integral with itself is a principal value however thin it is: rows tested on the needle alone."""
    ratio, vertices, (a, b, c) = (
        300,
        cube.vertices.copy(),
        cube.triangles[(np.abs(cube.normals[:, 2]) > 0.9).nonzero()[0][0]],
    )
    middle = next(each for each in (a, b, c) if np.isclose(vertices[each, :2], vertices[:, :2].mean(axis=0)).all())
    one, two = (each for each in (a, b, c) if each != middle)
    foot = vertices[one] + 0.8 * (vertices[two] - vertices[one])
    vertices[middle] = foot + (vertices[middle] - (vertices[one] + vertices[two]) / 2) / ratio
    mesh = cal.TriangleMesh(vertices, cube.triangles)
    needle = int(np.argmin(mesh.areas))
    assert mesh.diameters[needle] ** 2 / (2 * mesh.areas[needle]) > 0.9 * ratio
    trial, test = vectors("P1", mesh), vectors("P0", mesh)
    half = 0.5 * cal.identity(trial, test).assemble().to_array()
    left = (matrix(cal.double_layer, "P1", "P0", mesh) + half) @ rigid_motions(trial.scalar.nodes)
    assert np.abs(left[3 * needle : 3 * needle + 3]).max() < 2e-4 * 0.5 * mesh.areas[needle]


def test_a_linear_displacement_solves_the_equation(cube):
    """(1/2 + K) u = V t."""
    space = vectors("P1", cube)
    half = 0.5 * cal.identity(space, vectors("P0", cube)).assemble().to_array()
    u, t = (space.scalar.nodes @ STRAIN.T).ravel(), tractions(cube).ravel()
    left = (matrix(cal.double_layer, "P1", "P0", cube) + half) @ u
    right = matrix(cal.single_layer, "P0", "P0", cube) @ t
    assert np.abs(left - right).max() < 1e-5 * np.abs(right).max()


@pytest.mark.variant
def test_the_adjoint_is_transposed(cube):
    double = matrix(cal.double_layer, "P1", "P0", cube)
    adjoint = matrix(cal.adjoint_double_layer, "P0", "P1", cube)
    assert np.abs(double.T - adjoint).max() < 1e-13 * np.abs(double).max()


def test_the_single_layer_is_symmetric_and_positive(cube):
    single = matrix(cal.single_layer, "P0", "P0", cube)
    assert np.abs(single - single.T).max() < 1e-13 * np.abs(single).max()
    assert np.linalg.eigvalsh((single + single.T) / 2).min() > 0


def test_complex_multiples_keep_their_imaginary_part(cube):
    space = vectors("P0", cube)
    exact = cal.single_layer(GREEN, space).assemble().to_array()
    found = ((1 + 2j) * cal.single_layer(GREEN, space)).assemble().to_array()
    assert np.abs(found - (1 + 2j) * exact).max() < 1e-13 * np.abs(exact).max()


@pytest.mark.variant
def test_tractions_of_close_plates_converge():
    """Between plates at 1/50 of an edge, where the inner triangle is the trial or the test triangle, against more
    points."""
    lower, upper = cal.mesh.plate([1.0, 1.0], h=0.5), cal.mesh.plate([1.0, 1.0], h=0.25).translated([0.05, 0.03, 0.01])
    for one, two in ((lower, upper), (upper, lower)):
        spaces = vectors("P0", one), vectors("P0", two)
        found, better = (
            cal.double_layer(GREEN, *spaces, quadrature=each).assemble().to_array()
            for each in (None, cal.Quadrature(singular=12))
        )
        assert np.abs(found - better).max() < 2e-6 * np.abs(better).max()


@pytest.mark.variant
def test_compressed_and_parts_are_the_dense_matrix():
    mesh = cal.mesh.sphere(1.0, h=0.4)
    operator = cal.double_layer(GREEN, vectors("P1", mesh), vectors("P0", mesh))
    dense = operator.assemble().to_array()
    x = np.random.default_rng(0).standard_normal(dense.shape[1])
    assert np.linalg.norm(operator.assemble("hmatrix", rtol=1e-6) @ x - dense @ x) < 3e-6 * np.linalg.norm(dense @ x)
    assert np.linalg.norm(operator.assemble("matrix-free") @ x - dense @ x) < 1e-12 * np.linalg.norm(dense @ x)
    rows, columns = [0, 7, 4], [5, 1]
    assert np.abs(operator.entries(rows, columns) - dense[np.ix_(rows, columns)]).max() < 1e-13 * np.abs(dense).max()


def test_single_precision_has_the_numbers_of_double(cube):
    """Also where points coincide, whose fifth powers of 1/r exceed its range."""
    operator = cal.double_layer(GREEN, vectors("P1", cube), vectors("P0", cube))
    dense, single = operator.assemble().to_array(), operator.assemble(precision="single").to_array()
    assert np.abs(single - dense).max() < 1e-5 * np.abs(dense).max()


FORMS = [(cal.single_layer, "P0", "P0"), (cal.double_layer, "P1", "P0"), (cal.adjoint_double_layer, "P0", "P2")]


@pytest.mark.parametrize("build, trial, test, precision", [(*FORMS[0], "double"), (*FORMS[1], "single")])
def test_devices_have_the_numbers_of_the_processor(opencl, cube, build, trial, test, precision):
    operator = build(GREEN, vectors(trial, cube), vectors(test, cube))
    dense = operator.assemble().to_array()
    found = operator.assemble(backend="opencl", precision=precision).to_array()
    assert np.abs(found - dense).max() < {"double": 1e-12, "single": 1e-5}[precision] * np.abs(dense).max()


def test_compressed_matrices_on_devices(opencl):
    build, trial, test = FORMS[2]
    mesh = cal.mesh.sphere(1.0, h=0.4)
    operator = build(GREEN, vectors(trial, mesh), vectors(test, mesh))
    x = np.random.default_rng(0).standard_normal(operator.shape[1])
    expected = operator.assemble("hmatrix", rtol=1e-6) @ x
    found = operator.assemble("hmatrix", rtol=1e-6, backend="opencl") @ x
    assert np.linalg.norm(found - expected) < 3e-6 * np.linalg.norm(expected)


def test_cuda_builds_the_forms(cube, cuda_builds):
    def assemble():
        for build in (cal.single_layer, cal.double_layer):
            build(GREEN, vectors("P1", cube), vectors("P0", cube)).assemble(backend="cuda")

    found = cuda_builds(assemble, "elastic.h")
    assert len(found) >= 6
    for source, used in found:
        assert all(each.spilled == 0 for each in used.values()), f"{source}: {used}"


@pytest.mark.parametrize("constants", [(0.0, 0.3), (-1.0, 0.3), (1.0, 0.5), (1.0, -1.0), (np.nan, 0.3), (1.0, 0.1j)])
def test_meaningless_constants_are_refused(constants):
    with pytest.raises(ValueError, match="youngs_modulus must be|poissons_ratio must be"):
        cal.Elastostatic(*constants)


def test_spaces_of_scalars_are_refused(cube):
    with pytest.raises(TypeError, match=r"P1\(mesh, components=3\)"):
        cal.single_layer(GREEN, cal.P1(cube))
    with pytest.raises(TypeError, match="3 components"):
        cal.double_layer(GREEN, cal.P1(cube, components=2))


@pytest.mark.parametrize("space, test", [("P1", "P1"), pytest.param("P2", "P1", marks=pytest.mark.variant)])
def test_the_hypersingular_operator_makes_tractions(cube, space, test):
    """D u = (1/2 - K') t of a linear displacement; D is symmetric, not negative, and 0 for rigid motions only."""
    trial, tested, constants = vectors(space, cube), vectors(test, cube), vectors("P0", cube)
    found = matrix(cal.hypersingular, space, test, cube)
    t = tractions(cube).ravel()
    exact = 0.5 * constants.mass_matrix(tested) @ t - matrix(cal.double_layer, test, "P0", cube).T @ t
    nodes = trial.scalar.nodes
    assert np.linalg.norm(found @ (nodes @ STRAIN.T).ravel() - exact) < 3e-5 * np.linalg.norm(exact)
    assert np.abs(found @ rigid_motions(nodes)).max() < 1e-5 * np.abs(exact).max()
    if space == test:
        assert np.abs(found - found.T).max() < 1e-12 * np.abs(found).max()
        sizes = np.linalg.eigvalsh(found)
        assert (sizes[:6] > -1e-6 * sizes[-1]).all() and (sizes[6:] > 1e-4 * sizes[-1]).all()


def test_the_hypersingular_operator_is_computed_without_its_matrix(cube):
    trial = vectors("P1", cube)
    operator = cal.hypersingular(GREEN, trial)
    x = np.random.default_rng(0).standard_normal(trial.dimension)
    exact = operator.assemble().to_array() @ x
    assert np.linalg.norm(operator.assemble("matrix-free") @ x - exact) < 1e-12 * np.linalg.norm(exact)
    with pytest.raises(ValueError, match="elastostatics has form='transformed' only"):
        cal.hypersingular(GREEN, trial, form="direct")
    with pytest.raises(ValueError, match="needs continuous functions, P0 jumps"):
        cal.hypersingular(GREEN, vectors("P0", cube))
    with pytest.raises(TypeError, match="vectors at nodes"):
        cal.hypersingular(GREEN, cal.P1(cube))
