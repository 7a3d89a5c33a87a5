"""Pairs of triangles that are much closer to each other than their size."""

import numpy as np
import pytest
from wilton import uniform_triangle_potential

import calderon as cal
from calderon.galerkin.special import close_moments
from calderon.mesh import AccuracyWarning
from calderon.pairs import rules as pair_rules
from calderon.pairs.near import RULES as NEAR
from calderon.quadrature import triangle_rule

BASE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, 0.9, 0.0]])


def solid_angle(corners, points):
    """int (y - x) . n / |x - y|^3 dS(y) (van Oosterom and Strackee 1983)."""
    a, b, c = (corner - points for corner in corners)
    la, lb, lc = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    below = la * lb * lc + (a * b).sum(1) * lc + (a * c).sum(1) * lb + (b * c).sum(1) * la
    return 2 * np.arctan2((a * np.cross(b, c)).sum(1), below)


def adaptive(function, corners, tolerance):
    """The integral over a triangle: rules of degree 20, on ever smaller parts where these change something."""
    rule = triangle_rule(20)

    def values(parts):
        points = np.einsum("pk,nkc->npc", rule.barycentric, parts)
        areas = np.linalg.norm(np.cross(parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0]), axis=1)
        return areas * (function(points.reshape(-1, 3)).reshape(len(parts), rule.number_of_points) @ rule.weights)

    parts, total = corners[None], 0.0
    old = values(parts)
    for _ in range(16):
        middles = (parts + np.roll(parts, -1, axis=1)) / 2
        (a, b, c), (ab, bc, ca) = (np.moveaxis(each, 1, 0) for each in (parts, middles))
        children = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1)
        new = values(children.reshape(-1, 3, 3)).reshape(-1, 4)
        done = np.abs(new.sum(axis=1) - old) < tolerance
        total += new[done].sum()
        parts, old = children[~done].reshape(-1, 3, 3), new[~done].ravel()
    return total + old.sum()


def complex_product(corners, axis, angle):
    """Turned about an axis through the origin (Rodrigues)."""
    axis = np.array(axis) / np.linalg.norm(axis)
    return (
        corners * np.cos(angle) + np.cross(axis, corners) * np.sin(angle)
        + np.outer(corners @ axis, axis) * (1 - np.cos(angle))
    )  # fmt: skip


def cases(d):
    """Second triangles at a distance of about d from the first."""
    centre = BASE.mean(axis=0)
    return {
        "above": BASE + [0, 0, d],
        "shifted": BASE + [0.21, 0.13, d],
        "shifted a little": BASE + [0.01, 0.004, d],
        "turned": complex_product(BASE - centre, [0, 0, 1], 2.5) + centre + [0.05, 0.1, d],
        "tilted": complex_product(BASE, [0, -1, 0], 0.3) + [-0.1, 0.2, d],
        "upright": complex_product(BASE - centre, [1, 0.4, 0], np.pi / 2) + [0.4, 0.3, 0.5 + d],
        "small": 0.15 * BASE + [0.3, 0.2, d],
        "large": 7 * BASE + [-3, -2, d],
        "needle": complex_product(BASE * [1, 0.05, 1], [0, 0, 1], 0.7) + [0.1, 0.1, d],
        "lateral": BASE + [-0.75, 0.2, d],
    }


USUAL = {"above", "turned", "tilted", "small", "needle"}


@pytest.mark.parametrize(
    ("name", "d"),
    [
        pytest.param(name, (1e-2, 1e-3)[n % 2], marks=[] if name in USUAL else pytest.mark.variant)
        for n, name in enumerate(cases(1.0))
    ]
    + [("shifted", 2e-5)],
)
def test_closed_forms_of_the_inner_integral(name, d):
    second = cases(d)[name]
    space = cal.P0(cal.TriangleMesh(np.concatenate([second, BASE]), [[0, 1, 2], [3, 4, 5]]))
    single = cal.single_layer(cal.Laplace(), space).entries([0], [1])[0, 0] * 4 * np.pi
    double = cal.double_layer(cal.Laplace(), space).entries([0], [1])[0, 0] * 4 * np.pi
    area = np.linalg.norm(np.cross(second[1] - second[0], second[2] - second[0])) / 2
    tolerance = 1e-8 * min(area, 1)
    expected = adaptive(lambda x: uniform_triangle_potential(BASE, x), second, tolerance)
    assert abs(single - expected) < 5e-6 * expected
    expected = adaptive(lambda x: solid_angle(BASE, x), second, tolerance)
    assert abs(double + expected) < 1e-6 * 2 * np.pi * min(area, 0.45) + 1e-5 * abs(expected)


@pytest.fixture(scope="module")
def sails():
    """Two plates, one inclined by a small angle and shifted, as one mesh; they are some 0.06 of an edge apart."""
    lower, upper = cal.mesh.plate([1.0, 1.0], h=1 / 3), cal.mesh.plate([0.8, 0.9], h=1 / 3)
    upper = complex_product(upper.vertices, [0, 1, 0], 0.02) + [0.05, 0.03, 0.03], upper.triangles
    count = lower.number_of_vertices
    return cal.TriangleMesh(
        np.concatenate([lower.vertices, upper[0]]), np.concatenate([lower.triangles, upper[1] + count])
    )


WAVE = cal.Helmholtz(2.0)
FORMS = {
    "double": lambda mesh: cal.double_layer(WAVE, cal.P1(mesh)),
    "adjoint": lambda mesh: cal.adjoint_double_layer(WAVE, cal.P1(mesh)),
    "hypersingular": lambda mesh: cal.hypersingular(WAVE, cal.P1(mesh)),
    "electric": lambda mesh: cal.electric_field(2.0, cal.RWG(mesh)),
    "magnetic": lambda mesh: cal.magnetic_field(2.0, cal.RWG(mesh)),
}


@pytest.mark.parametrize(
    "form", [pytest.param(each, marks=[pytest.mark.variant] * (each == "adjoint")) for each in FORMS]
)
def test_against_cutting_both_triangles(form, sails, monkeypatch):
    """At distances that both ways of integration can cope with."""
    operator = FORMS[form](sails)
    monkeypatch.setattr(pair_rules, "CLOSE", 0.2)
    close = operator.assemble().to_array()
    monkeypatch.setattr(pair_rules, "CLOSE", 0.0)
    cut = operator.assemble().to_array()
    assert np.abs(close - cut).max() < 5e-6 * np.abs(cut).max()
    assert (close != cut).any()


@pytest.mark.parametrize("form", ["double", "magnetic"])
def test_entries_rows_and_products_agree_with_dense_matrices(form, sails, monkeypatch):
    monkeypatch.setattr(pair_rules, "CLOSE", 0.2)
    operator = FORMS[form](sails)
    matrix = operator.assemble().to_array()
    numbers = np.random.default_rng(3).permutation(len(matrix))
    rows = numbers[:20]
    entries = operator.entries(rows, numbers)
    assert np.abs(entries - matrix[rows][:, numbers]).max() < 1e-12 * np.abs(matrix).max()
    vector = np.random.default_rng(4).normal(size=len(matrix))
    for method in ("hmatrix", "matrix-free"):
        product = operator.assemble(method) @ vector
        assert np.abs(product - matrix @ vector).max() < 1e-9 * np.abs(product).max()


@pytest.mark.variant
def test_many_radians_against_more_points(monkeypatch):
    test, trial = (cal.P1(cal.TriangleMesh(each, [[0, 1, 2]])) for each in (BASE + [0.2, 0.1, 0.02], BASE))

    def entry(layer, green):
        return layer(green, trial, test).entries([0], [0])[0, 0]

    for layer in (cal.single_layer, cal.double_layer):
        monkeypatch.setattr(close_moments, "RULES", close_moments.RULES._replace(radians=0.4))
        few = entry(layer, cal.Helmholtz(12.0))
        monkeypatch.setattr(close_moments, "RULES", close_moments.RULES._replace(radians=1.2))
        many = entry(layer, cal.Helmholtz(12.0))
        assert few != many
        assert abs(few - many) < 1e-6 * abs(entry(layer, cal.Laplace()))


def slab(cells, thickness):
    """A closed plate of 1 by 1, one triangle high at its boundary."""
    plate = cal.mesh.plate([1.0, 1.0], h=1 / cells)
    count, triangles = plate.number_of_vertices, plate.triangles
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    _, place, times = np.unique(np.sort(sides, axis=1), axis=0, return_index=True, return_counts=True)
    a, b = sides[place[times == 1]].T
    boundary = np.concatenate([np.stack([a, b, b + count], axis=1), np.stack([a, b + count, a + count], axis=1)])
    vertices = np.concatenate([plate.vertices, plate.vertices + [0, 0, thickness]])
    return cal.TriangleMesh(vertices, np.concatenate([triangles[:, ::-1], triangles + count, boundary]))


@pytest.mark.parametrize("ratio", [1e-1, 1e-2, 1e-3])
def test_gauss_law_on_thin_slabs(ratio, recwarn):
    """Walls and boundary, triangles stretched up to a thousand times: the double layer of 1 is -1/2 on each of them."""
    mesh = slab(4, ratio / 4)
    rows = cal.double_layer(cal.Laplace(), cal.P0(mesh)).assemble().to_array().sum(axis=1)
    assert np.abs(rows + mesh.areas / 2).max() < 3e-6 * mesh.areas.max()
    assert not [each for each in recwarn if issubclass(each.category, Warning)]


def flat_tetrahedra(height, count, generator):
    """Bodies of four triangles whose corners have nothing in common, in a box of that height."""
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    corners = generator.uniform(0.0, 1.0, (count, 4, 3)) * [1.0, 1.0, height]
    outward = np.linalg.det(corners[:, 1:] - corners[:, :1]) > 0
    places = np.stack([10.0 * np.arange(count), np.zeros(count), np.zeros(count)], axis=1)
    triangles = np.where(outward[:, None, None], faces, faces[:, ::-1]) + 4 * np.arange(count)[:, None, None]
    return cal.TriangleMesh((corners + places[:, None]).reshape(-1, 3), triangles.reshape(-1, 3))


@pytest.mark.parametrize("height", [0.005, 0.05, 0.4])
def test_triangles_with_sharp_angles_between_them(height):
    """Gauss's law and a positive single layer on bodies folded in edges of any angle, unlike on both sides of them:
    the points that almost meet lie anywhere."""
    mesh = flat_tetrahedra(height, 12, np.random.default_rng(5))
    space = cal.P0(mesh)
    matrix = cal.double_layer(cal.Laplace(), space).assemble().to_array()
    own = [slice(4 * n, 4 * n + 4) for n in range(12)]
    found = np.concatenate([matrix[part, part].sum(axis=1) for part in own])
    assert np.abs(found / mesh.areas + 0.5).max() < 1.5e-5
    matrix = cal.single_layer(cal.Laplace(), space).assemble().to_array()
    assert all(np.linalg.eigvalsh(matrix[part, part]).min() > 0 for part in own)


def test_double_layer_of_long_needles():
    """Touching triangles a hundred times as long as wide, next to each other and at right angles."""
    cube = cal.mesh.cube(1.0, 0.6)
    mesh = cal.TriangleMesh(cube.vertices * [1.0, 1.0, 100.0], cube.triangles)
    matrix = cal.double_layer(cal.Laplace(), cal.P0(mesh)).assemble().to_array()
    assert np.abs(matrix.sum(axis=1) / mesh.areas + 0.5).max() < 2e-6


def test_capacitance_of_close_plates():
    """Area over distance, and less and less next to it: what the boundary adds is of the order d log(1 / d)."""
    excess = []
    for d in (2e-3, 1e-3, 5e-4):
        lower = cal.mesh.plate([1.0, 1.0], h=1 / 6)
        upper = lower.translated([0.0, 0.0, d])
        spaces = cal.P0(lower), cal.P0(upper)
        own = cal.single_layer(cal.Laplace(), spaces[0]).assemble().to_array()
        mutual = cal.single_layer(cal.Laplace(), spaces[1], spaces[0]).assemble().to_array()
        charge = np.linalg.solve(own - mutual, lower.areas / 2)
        excess.append((charge @ lower.areas - 1 / d) * d)
    assert all(0 < each < 0.02 for each in excess)
    assert excess[0] > excess[1] > excess[2]


def test_devices_have_the_same_close_pairs(sails, opencl, monkeypatch):
    monkeypatch.setattr(pair_rules, "CLOSE", 0.2)
    exact = FORMS["double"](sails).assemble().to_array()
    matrix = FORMS["double"](sails).assemble(backend="opencl").to_array()
    assert np.abs(matrix - exact).max() < 1e-12 * np.abs(exact).max()


def test_a_thin_rigid_slab_scatters_what_it_takes_from_the_wave():
    """Burton-Miller with walls at a twenty-fifth of an edge: the optical theorem, which the matrix does not know."""
    wave = cal.PlaneWave([0, 0.6, 0.8], 3.0)
    with pytest.warns(AccuracyWarning, match="thinner than half an element"):
        problem = cal.SoundHardScattering(slab(4, 0.01), 3.0)
    solution = problem.solve(wave, rtol=1e-6)
    taken = 4 * np.pi / 3.0 * solution.far_field(np.array([[0, 0.6, 0.8]]))[0].imag
    assert taken == pytest.approx(solution.scattering_cross_section(), rel=3e-3)


def test_the_double_layer_of_a_thin_box_is_the_same_by_all_methods():
    """The sides are needles; of a triangle with itself the integrals vanish, whatever rounding leaves of d.n."""
    operator = cal.double_layer(cal.Laplace(), cal.P1(cal.mesh.cuboid((1.0, 1.0, 1e-4), 0.5)))
    matrix, everything = operator.assemble().to_array(), np.arange(operator.shape[0])
    assert np.abs(operator.entries(everything, everything) - matrix).max() < 1e-13 * np.abs(matrix).max()
    x = np.sin(1.0 + everything)
    products = [operator.assemble(method) @ x for method in ("matrix-free", "hmatrix")]
    for product in products:
        assert np.linalg.norm(product - matrix @ x) < 1e-13 * np.linalg.norm(matrix @ x)


def test_devices_have_the_same_double_layer_of_a_thin_box(opencl):
    operator = cal.double_layer(cal.Laplace(), cal.P1(cal.mesh.cuboid((1.0, 1.0, 1e-4), 0.5)))
    exact = operator.assemble().to_array()
    matrix = operator.assemble(backend="opencl").to_array()
    assert np.abs(matrix - exact).max() < 1e-12 * np.abs(exact).max()


def test_errors_where_rules_of_near_pairs_begin():
    """The rule of degree 10 errs less where it begins than the one of degree 8 does, between parallel triangles."""
    size = max(np.linalg.norm(BASE[a] - BASE[a - 1]) for a in range(3))

    def potential(distance, degree):
        rule = triangle_rule(degree)
        points = rule.barycentric @ BASE
        apart = np.linalg.norm(points[:, None] - points - [0.0, 0.0, distance], axis=2)
        return rule.weights @ (1 / apart) @ rule.weights

    last = NEAR.degrees[6][-2:]
    errors = [abs(potential(ratio * size, degree) / potential(ratio * size, 20) - 1) for ratio, degree in last]
    assert errors[1] < errors[0] < 1e-5
