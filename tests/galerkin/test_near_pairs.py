"""Triangles that are near but do not touch, against a closed form."""

import numpy as np
import pytest
from wilton import uniform_triangle_potential

import calderon as cal
from calderon.pairs import rules as pair_rules
from calderon.pairs.classes import closest_points, distances, near_pairs, touching_pairs
from calderon.quadrature import triangle_rule
from catalogue import cases


def reference_entry(test, trial, cuts=3):
    """int int 1/(4 pi r): the inner integral in closed form, the outer by a composite rule of degree 20."""
    pieces = [test]
    for _ in range(cuts):
        new = []
        for a, b, c in pieces:
            ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
            new += [np.array(t) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        pieces = new
    rule = triangle_rule(20)
    u, v = rule.points.T
    total = 0.0
    for corners in pieces:
        x = np.outer(1 - u - v, corners[0]) + np.outer(u, corners[1]) + np.outer(v, corners[2])
        area = np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0]))
        total += area * (rule.weights @ uniform_triangle_potential(trial, x))
    return total / (4 * np.pi)


def test_two_plates_a_fifth_of_the_mesh_size_apart():
    lower = cal.mesh.plate([1.0, 1.0], h=0.05)
    upper = lower.translated([0.0, 0.0, 0.01])
    test, trial = cal.P0(upper), cal.P0(lower)
    operator = cal.single_layer(cal.Laplace(), trial, test)
    row = 333
    centre = upper.centroids[row]
    order = np.argsort(np.linalg.norm(lower.centroids - centre, axis=1))
    columns = np.concatenate([order[:24], order[30:200:34], [order[-1]]])
    computed = operator.entries([row], columns)[0]
    corners = upper.vertices[upper.triangles[row]]
    expected = np.array([reference_entry(corners, lower.vertices[lower.triangles[j]]) for j in columns])
    assert np.abs(computed - expected).max() < 1e-5 * np.abs(expected).max()
    assert (np.abs(computed - expected) / np.abs(expected)).max() < 1e-4


@pytest.mark.parametrize("stretch", [1.0, 4.0])
def test_all_pair_classes_against_the_closed_form(stretch):
    """Coincident, common edge, common vertex, near and far entries of one row, also with stretched triangles."""
    vertices = cal.mesh.plate([1.0, 1.0], h=0.34)
    mesh = cal.TriangleMesh(vertices.vertices * [stretch, 1.0, 1.0], vertices.triangles)
    space = cal.P0(mesh)
    computed = cal.single_layer(cal.Laplace(), space).entries([8], np.arange(space.dimension))[0]
    corners = mesh.vertices[mesh.triangles]
    expected = np.array([reference_entry(corners[8], corners[j] + [0, 0, 1e-9]) for j in range(len(corners))])
    assert np.abs(computed - expected).max() < 2e-5 * expected.max()


@pytest.mark.parametrize("shape", cases(["flat box", "long box", "almond"], ["long box"]))
def test_single_precision_holds_five_digits_of_the_largest_entry(shape):
    """Also on coarse meshes with sharp edges, where many pairs are near."""
    shapes = {
        "flat box": lambda: cal.mesh.cuboid([1.0, 0.7, 0.4], 0.4),
        "long box": lambda: cal.mesh.cuboid([1.0, 0.37, 0.23], 0.15),
        "almond": lambda: cal.mesh.almond(0.25, h=0.02),
    }
    functions = cal.P1(shapes[shape]())
    for layer in (cal.single_layer, cal.double_layer):
        operator = layer(cal.Laplace(), functions)
        double, single = (operator.assemble(precision=each).to_array() for each in ("double", "single"))
        assert np.abs(single - double).max() < 1e-5 * np.abs(double).max()


def test_surfaces_that_almost_touch_warn():
    lower = cal.mesh.plate([1.0, 1.0], h=0.5)
    upper = lower.translated([0.1, 0.05, 1e-6])
    operator = cal.single_layer(cal.Laplace(), cal.P0(lower), cal.P0(upper))
    with pytest.warns(cal.AccuracyWarning, match="without touching"):
        operator.entries([0], [0])


@pytest.mark.parametrize("layer", [cal.single_layer, cal.double_layer])
def test_walls_of_a_thin_slab_touch_and_do_not_warn(layer, recwarn):
    cube = cal.mesh.cube(1.0, 0.25)
    slab = cal.TriangleMesh(cube.vertices * [1, 1, 0.05], cube.triangles)
    layer(cal.Laplace(), cal.P0(slab)).assemble()
    assert not [each for each in recwarn if issubclass(each.category, cal.AccuracyWarning)]


def test_compiled_searches_against_all_pairs():
    """Triangles of four octaves of size, some of them with vertices in common; both orders of a pair alike."""
    random = np.random.default_rng(5)
    mesh = cal.mesh.sphere(1.0, 0.4)
    sizes = 2.0 ** random.integers(-3, 1, 150)
    loose = random.normal(size=(150, 1, 3)) + 0.3 * sizes[:, None, None] * random.normal(size=(150, 3, 3))
    corners = np.concatenate([mesh.vertices[mesh.triangles], loose])
    numbers = np.concatenate([mesh.triangles, np.arange(450).reshape(150, 3) + mesh.number_of_vertices])
    i, j = (each.ravel().astype(np.int32) for each in np.indices((len(corners), len(corners))))
    common = (numbers[i][:, :, None] == numbers[j][:, None, :]).any(axis=2).sum(axis=1)
    size = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    ratio = distances(corners, corners, np.stack([i, j], axis=1)) / np.maximum(size[i], size[j])
    for upper in (False, True):
        found, given = near_pairs(corners, corners, (numbers, numbers), 1.5, upper)
        expected = (common == 0) & (ratio < 1.5) & ((j > i) | (not upper))
        assert 1000 < expected.sum() < 0.5 * expected.size
        key = np.argsort(found[:, 0].astype(int) * len(corners) + found[:, 1])
        assert np.array_equal(found[key], np.stack([i, j], axis=1)[expected])
        assert np.abs(given[key] - ratio[expected]).max() < 1e-8
        touching = touching_pairs(numbers, numbers, upper)
        expected = (common > 0) & ((j >= i) | (not upper))
        key = np.argsort(touching.pairs[:, 0].astype(int) * len(corners) + touching.pairs[:, 1])
        assert np.array_equal(touching.pairs[key], np.stack([i, j], axis=1)[expected])
        assert np.array_equal(touching.shared[key], common[expected])
        for pair, shared, left, right in zip(*touching, strict=True):
            assert np.array_equal(numbers[pair[0]][left][:shared], numbers[pair[1]][right][:shared])
            assert sorted(left) == sorted(right) == [0, 1, 2]


@pytest.mark.parametrize("kind", ["any", "parallel planes", "parallel edges", "needles"])
def test_no_points_are_closer_than_the_closest(kind):
    """21 pairs, which fill no whole number of vectors, against all points of a fine grid; on both sides in turn."""
    rng = np.random.default_rng(5)
    x, y = rng.random((21, 3, 3)), rng.random((21, 3, 3)) + 2.0 * rng.random((21, 1, 3))
    if kind == "parallel planes":
        x[:, :, 2], y[:, :, 2] = 0.0, 0.3
    elif kind == "parallel edges":
        y[:, 1] = y[:, 0] + 0.7 * (x[:, 2] - x[:, 1])
    elif kind == "needles":
        x[:, 2] = x[:, 1] + 1e-3 * (x[:, 2] - x[:, 1])
    if kind != "parallel planes":
        y += [1.0, 0.0, 0.0]  # triangles that cross are none of its business
    u, v = (each.ravel() for each in np.meshgrid(*[np.linspace(0, 1, 21)] * 2))
    weights = np.stack([1 - u - v, u, v], axis=1)[u + v < 1 + 1e-9]
    among = (weights @ x)[:, :, None] - (weights @ y)[:, None]
    least = np.sqrt((among**2).sum(axis=3)).min(axis=(1, 2))
    found, places = distances(x, y), closest_points(x, y)
    assert (found < least + 1e-14).all() and (found > least - 0.06).all()
    ends = [
        np.einsum("nc,ncd->nd", np.column_stack([1 - p.sum(axis=1), p]), corners)
        for p, corners in ((places[:, :2], x), (places[:, 2:], y))
    ]
    assert np.abs(np.linalg.norm(ends[0] - ends[1], axis=1) - found).max() < 1e-14
    assert places.min() >= 0 and max(places[:, :2].sum(axis=1).max(), places[:, 2:].sum(axis=1).max()) <= 1 + 1e-12
    assert np.abs(distances(y, x) - found).max() < 1e-14


@pytest.mark.parametrize("phase", [3.0, 16.0])
@pytest.mark.parametrize("layer", [cal.single_layer, cal.double_layer])
def test_touching_triangles_of_many_radians_against_more_points_on_each_fibre(phase, layer, monkeypatch):
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0.3, 0.9, 0], [0.8, 0.6, 0.7], [-0.4, -0.8, 0.3]])
    mesh = cal.TriangleMesh(vertices, [[0, 1, 2], [1, 3, 2], [0, 4, 3]])

    def entries():
        return layer(cal.Helmholtz(phase), cal.P1(mesh)).entries(range(5), range(5))

    few, usual = entries(), pair_rules.fibre_points
    monkeypatch.setattr(pair_rules, "fibre_points", lambda *given: usual(*given) + 6)
    many = entries()
    assert np.abs(few - many).max() < 1e-7 * np.abs(many).max()
    assert (few != many).any()
