"""Spaces: dimensions, exactness, mass matrices, surface derivatives, functions and files."""

import meshio
import numpy as np
import pytest

import calderon as cal


@pytest.fixture(scope="module")
def sphere():
    return cal.mesh.sphere(radius=1.0, h=0.3)


@pytest.fixture(scope="module")
def plate():
    return cal.mesh.plate([1.0, 1.0], h=0.25)


def test_dimensions(sphere, plate):
    assert cal.P0(sphere).dimension == sphere.number_of_triangles
    assert cal.DP1(sphere).dimension == 3 * sphere.number_of_triangles
    assert cal.P1(sphere).dimension == sphere.number_of_vertices
    assert cal.P2(sphere).dimension == sphere.number_of_vertices + len(sphere.edges)
    assert cal.P1(plate).dimension - cal.P1(plate, boundary=False).dimension == len(plate.boundary_vertices)


@pytest.mark.parametrize("make", [cal.P0, cal.DP1, cal.P1, cal.P2])
def test_mass_load_and_interpolation_of_a_constant(sphere, make):
    space = make(sphere)
    one = space.interpolation(1.0)
    area = sphere.areas.sum()
    assert one @ space.mass_matrix() @ one == pytest.approx(area, rel=1e-12)
    assert space.load_vector(1.0).sum() == pytest.approx(area, rel=1e-12)
    assert cal.Function(space, one).integral() == pytest.approx(area, rel=1e-12)


@pytest.mark.parametrize("make, degree", [(cal.P0, 0), (cal.DP1, 1), (cal.P1, 1), (cal.P2, 2)])
def test_projection_reproduces_polynomials_and_converges_at_the_rate_of_its_degree(make, degree):
    errors = []
    for h in (0.25, 0.125):
        space = make(cal.mesh.plate([1.0, 1.0], h=h))
        exact = cal.Function.project(space, lambda x: x[:, 0] ** degree)
        assert exact.l2_error(lambda x: x[:, 0] ** degree) < 1e-12
        smooth = lambda x: np.sin(2 * x[:, 0]) * np.cos(x[:, 1])  # noqa: E731
        errors.append(cal.Function.project(space, smooth).l2_error(smooth))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(degree + 1, abs=0.3)


@pytest.mark.parametrize("make", [cal.P1, cal.P2])
def test_laplace_beltrami_and_gradients_of_a_linear_function(plate, make):
    space = make(plate)
    u = cal.Function.interpolate(space, lambda x: 2 * x[:, 0] - x[:, 1])
    inside = np.array([[0.2, 0.3], [0.5, 0.25]])
    assert np.abs(u.surface_gradient(inside) - [2, -1, 0]).max() < 1e-12
    normal = plate.normals[0]
    assert np.abs(u.surface_curl(inside) - np.cross(normal, [2, -1, 0])).max() < 1e-12
    assert u.coefficients @ space.laplace_beltrami_matrix() @ u.coefficients == pytest.approx(5.0, rel=1e-12)


def test_laplace_beltrami_eigenvalue_on_the_sphere():
    """x is an eigenfunction with eigenvalue 2."""
    errors = []
    for h in (0.3, 0.15):
        space = cal.P1(cal.mesh.sphere(radius=1.0, h=h))
        u = space.interpolation(lambda x: x[:, 0])
        errors.append(abs(u @ space.laplace_beltrami_matrix() @ u / (u @ space.mass_matrix() @ u) - 2))
    assert np.log2(errors[0] / errors[1]) > 1.6


def test_bad_data_is_refused(sphere):
    space = cal.P1(sphere)
    with pytest.raises(ValueError, match="vectorised"):
        space.load_vector(lambda x: np.zeros((2, 2)))
    with pytest.raises(ValueError, match="NaN or infinite"):
        space.load_vector(lambda x: np.full(len(x), np.nan))
    with pytest.raises(ValueError, match=r"unknown tags \['wing'\]"):
        cal.P0(sphere, tags="wing")
    with pytest.raises(ValueError, match="coefficients of shape"):
        cal.Function(space, np.zeros(3))


@pytest.mark.parametrize("make", [cal.P0, cal.DP1, cal.P1, cal.P2, cal.RWG, cal.SNC, cal.BC, cal.RBC])
def test_spaces_stand_on_triangle_meshes(sphere, make):
    for mesh in (None, "sphere.msh", sphere.vertices):
        with pytest.raises(TypeError, match="a space stands on a TriangleMesh, got"):
            make(mesh)


@pytest.mark.parametrize("make", [cal.P1, cal.P2])
def test_the_rim_has_functions_or_none(plate, make):
    for boundary in ("no", 0, None):
        with pytest.raises(TypeError, match="boundary=.*: choose True, .* or False"):
            make(plate, boundary=boundary)
    assert make(plate, boundary=np.bool_(False)).dimension < make(plate).dimension


def test_functions_have_finite_coefficients_of_a_space(sphere):
    space, currents = cal.P1(sphere), cal.RWG(sphere)
    ones = np.ones(space.dimension)
    for other in (sphere, currents, None):
        with pytest.raises(TypeError, match=r"a Function belongs to a space such as P1\(mesh\), got"):
            cal.Function(other, ones)
    with pytest.raises(TypeError, match=r"a VectorFunction belongs to a space such as RWG\(mesh\), got Space"):
        cal.VectorFunction(space, ones)
    with pytest.raises(TypeError, match="must be numbers, got an array of <U1"):
        cal.Function(space, ["1"] * space.dimension)
    ones[[2, 5]] = np.nan, np.inf
    with pytest.raises(ValueError, match="2 of .* coefficients are NaN or infinite, the first is number 2"):
        cal.Function(space, ones)


def test_functions_of_one_space_are_added_and_multiplied_by_numbers(sphere):
    u = cal.Function.interpolate(cal.P1(sphere), lambda x: x[:, 0])
    v = np.float64(2) * u - u / 4 + -u
    assert isinstance(v, cal.Function) and np.allclose(v.coefficients, 0.75 * u.coefficients, rtol=1e-15)
    for factor in ("2", np.nan, True, np.ones(u.space.dimension)):
        with pytest.raises(ValueError, match="the factor of a function must be a finite number"):
            u * factor
    elsewhere = cal.P1(cal.TriangleMesh(sphere.vertices, sphere.triangles))
    for other in (1.0, cal.Function.interpolate(elsewhere, 1.0)):
        for combined in (lambda other: u + other, lambda other: u - other):
            with pytest.raises(ValueError, match="of the same space, on one mesh object, can be added, got"):
                combined(other)


def test_files_carry_complex_fields_with_units(sphere, tmp_path):
    function = cal.Function.interpolate(cal.P1(sphere), lambda x: np.exp(2j * x[:, 2]), "p", "Pa")
    function.write(tmp_path / "p.vtu")
    data = meshio.read(tmp_path / "p.vtu").point_data
    assert set(data) == {"p [Pa] real", "p [Pa] imaginary", "p [Pa] magnitude", "p phase [rad]"}
    assert np.allclose(data["p [Pa] real"] + 1j * data["p [Pa] imaginary"], function.coefficients)
    with pytest.raises(ValueError, match="written to .vtu files, got .*p.png"):
        function.write(tmp_path / "p.png")
    assert list(tmp_path.iterdir()) == [tmp_path / "p.vtu"]


@pytest.mark.parametrize("make", [cal.P0, cal.P1])
def test_files_say_where_a_complex_field_is_not(sphere, tmp_path, make):
    mesh = cal.TriangleMesh(sphere.vertices, sphere.triangles, (sphere.centroids[:, 2] > 0).astype(int))
    function = cal.Function.interpolate(make(mesh, tags=1), 1 + 2j, 'p<"1" & q', "Pa")
    function.write(tmp_path / "p.vtu")
    content = meshio.read(tmp_path / "p.vtu")
    data = content.point_data or {name: values[0] for name, values in content.cell_data.items() if name != "tag"}
    assert set(data) == {f'p<"1" & q {end}' for end in ("[Pa] real", "[Pa] imaginary", "[Pa] magnitude", "phase [rad]")}
    outside = [np.isnan(values) for values in data.values()]
    assert outside[0].any() and not outside[0].all() and all((each == outside[0]).all() for each in outside)


def test_reference_points_are_pairs(sphere):
    functions = (
        cal.Function.interpolate(cal.P1(sphere), 1.0),
        cal.VectorFunction.interpolate(cal.RWG(sphere), [0, 0, 1.0]),
    )
    for function in functions:
        for points in ([0.1, 0.2], [[0.1, 0.2, 0.7]], 0.3):
            with pytest.raises(ValueError, match=r"reference points need shape \(n, 2\)"):
                function.values(points)
        with pytest.raises(TypeError, match="reference points must be real numbers"):
            function.values([["a", "b"]])


def test_functions_get_normals_only_where_they_ask_for_them(sphere):
    space = cal.P1(sphere)
    doubled = space.interpolation(lambda x, factor=2.0: factor * x[:, 2])
    assert np.array_equal(doubled, 2 * space.nodes[:, 2])
    for along in (lambda x, n: n[:, 2], lambda x, n=None: n[:, 2], lambda *both: both[1][:, 2]):
        assert np.array_equal(space.interpolation(along), space.node_normals[:, 2])


@pytest.mark.parametrize(
    "make, kind, data",
    [
        (cal.P0, cal.Function, 2.0),
        (cal.P2, cal.Function, lambda x: x[:, 0] + 1j),
        (lambda mesh: cal.P1(mesh, components=3), cal.Function, lambda x: 2.0 * x),
        (cal.RWG, cal.VectorFunction, lambda x: np.cross(x, [0.0, 0.0, 1.0])),
        (cal.BC, cal.VectorFunction, lambda x: np.cross(x, [0.0, 0.0, 1.0])),
    ],
)
def test_interpolation_and_projection_are_functions_and_vectors_of_coefficients(sphere, make, kind, data):
    space = make(sphere)
    for u in (space.interpolation(data), space.projection(data)):
        assert type(u) is kind and u.space is space
        c, mass = u.coefficients, space.mass_matrix()
        assert np.array_equal(np.asarray(u), c)
        assert np.array_equal(np.asarray(u, np.complex128), c.astype(complex))
        assert np.array_equal(kind(space, u).coefficients, c)
        assert np.array_equal(mass @ u, mass @ c) and np.array_equal(mass.toarray() @ u, mass.toarray() @ c)
        assert u @ mass @ u == pytest.approx(c @ mass @ c, rel=1e-14)
        assert u @ u == pytest.approx(c @ c, rel=1e-14)
    field = cal.VectorFunction if kind is cal.VectorFunction else cal.Function
    assert np.array_equal(field.project(space, data, "w", "m").coefficients, space.projection(data).coefficients)


def test_a_projection_solves_as_a_right_hand_side_and_a_start(sphere):
    space = cal.P1(sphere)
    mass = cal.identity(space).assemble()
    f = space.interpolation(lambda x: x[:, 2])
    found, info = cal.gmres(mass, f, rtol=1e-10)
    assert info.converged and np.allclose(mass @ found, f.coefficients, atol=1e-8)
    assert np.allclose(mass @ f, mass @ f.coefficients, rtol=1e-14)


def test_labels_are_texts(sphere):
    space = cal.P0(sphere)
    for text in ({"label": 3}, {"unit": None}):
        with pytest.raises(TypeError, match="label and unit are texts"):
            cal.Function(space, np.ones(space.dimension), **text)
