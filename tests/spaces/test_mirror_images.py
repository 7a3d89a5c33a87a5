"""Fields that are even or odd in mirrors, as combinations of the functions of a part with their images."""

import numpy as np
import pytest

import calderon as cal
from calderon.spaces.mirror_images import MirroredFunctions

K = 1.3
PARITIES = [{"z": 1}, {"z": -1}, {"x": 1, "y": -1, "z": 1}, {"x": -1, "z": -1}]


def mirrored_ball(parity, h=1.0):
    """The images of a part of a cube that is pushed out to a ball, and the parity (m,) of each."""
    cube = cal.mesh.cube(2.0, h)
    vertices = cube.vertices / np.linalg.norm(cube.vertices, axis=1)[:, None]
    axes = ["xyz".index(plane) for plane in parity]
    part = cal.TriangleMesh(vertices, cube.triangles[(cube.centroids[:, axes] > 0).all(axis=1)])
    images = part.mirror_images(parity)
    values = [np.where(images.signs[:, axis] < 0, sign, 1) for axis, sign in zip(axes, parity.values(), strict=True)]
    return images, np.prod(values, axis=0)


@pytest.mark.parametrize("parity", PARITIES, ids=str)
@pytest.mark.parametrize("make", [cal.P0, cal.DP1, cal.P1, cal.P2])
def test_combinations_of_images_are_even_or_odd(make, parity):
    """u(R x) = p u(x) at points of triangles and of their images, and all such fields are found: as many unknowns as
    functions of the part, less those in odd mirrors, where continuous fields vanish."""
    images, signs = mirrored_ball(parity)
    space = make(images.whole)
    found = MirroredFunctions.of(space, images, signs)
    x = np.random.default_rng(0).standard_normal(len(found.functions))
    u = cal.Function(space, found.images @ x)
    points = np.array([[0.2, 0.3], [0.5, 0.1]])
    count = images.part.number_of_triangles
    values, exchanged = u.values(points), u.values(points[:, ::-1])
    for k, sign in enumerate(signs):
        image = (exchanged if images.odd[k] else values)[k * count : (k + 1) * count]
        np.testing.assert_allclose(image, sign * values[:count], atol=1e-14)
    assert np.array_equal(u.coefficients[found.functions], x)
    nodes = np.unique(space.dofs[:count])
    if make in (cal.P1, cal.P2):
        odd = ["xyz".index(plane) for plane, sign in parity.items() if sign < 0]
        nodes = nodes[(space.nodes[nodes][:, odd] != 0).all(axis=1)]
    assert np.array_equal(found.functions, nodes)


@pytest.mark.parametrize("parity", PARITIES, ids=str)
def test_currents_are_reflected_and_stay_or_go_at_the_edges_of_a_mirror(parity):
    """f(R x) = p R f(x); functions across a mirror are their own images with -1, so that they stay where the current's
    image is -R J alone."""
    images, signs = mirrored_ball(parity)
    space = cal.RWG(images.whole)
    found = MirroredFunctions.of(space, images, signs)
    x = np.random.default_rng(0).standard_normal(len(found.functions))
    current = cal.VectorFunction(space, found.images @ x)
    points = np.array([[0.2, 0.3], [0.5, 0.1]])
    count = images.part.number_of_triangles
    values, exchanged = current.values(points), current.values(points[:, ::-1])
    for k, (sign, reflection) in enumerate(zip(signs, images.signs, strict=True)):
        image = (exchanged if images.odd[k] else values)[k * count : (k + 1) * count]
        np.testing.assert_allclose(image, sign * reflection * values[:count], atol=1e-13)
    edges = space.mesh.edges[space.edges]
    for plane, sign in parity.items():
        within = (space.mesh.vertices[edges][:, :, "xyz".index(plane)] == 0).all(axis=1)
        assert not within[found.functions].any() or sign < 0


@pytest.mark.parametrize("parity", PARITIES, ids=str)
@pytest.mark.parametrize("form", ["single", "double", "adjoint", "hypersingular"])
def test_rows_of_the_part_are_those_of_the_whole(form, parity):
    """(I/2 + A)(S, Q) E x are the rows of (I/2 + A)(Q, Q) E x, whose other rows are their images."""
    images, signs = mirrored_ball(parity, 0.5)
    space, green = cal.P1(images.whole), cal.Helmholtz(K)
    found = MirroredFunctions.of(space, images, signs)
    make = {
        "single": cal.single_layer,
        "double": cal.double_layer,
        "adjoint": cal.adjoint_double_layer,
        "hypersingular": cal.hypersingular,
    }[form]
    x = np.random.default_rng(0).standard_normal(len(found.functions))
    whole = (make(green, space) + 0.5 * cal.identity(space)).assemble("dense") @ (found.images @ x)
    rows = make(green, space, found.part) + 0.5 * cal.identity(space, found.part)
    part = cal.transformed(rows, right=found.images).assemble("dense") @ x
    assert np.abs(part - whole[found.functions]).max() < 1e-8 * np.abs(whole).max()
    assert found.asymmetry(whole) < 1e-7


def test_some_functions_have_their_images():
    images, signs = mirrored_ball({"z": 1})
    space = cal.P1(images.whole)
    whole = MirroredFunctions.of(space, images, signs)
    chosen = space.nodes[:, 0] > 0.5
    some = whole.among(chosen)
    assert some.space.dimension == np.count_nonzero(chosen) == some.images.shape[0]
    x = np.random.default_rng(0).standard_normal(len(some.functions))
    spread = np.zeros(len(whole.functions))
    spread[chosen[whole.functions]] = x
    assert np.array_equal(some.images @ x, (whole.images @ spread)[chosen])
    assert np.array_equal(some.part.nodes, space.nodes[whole.functions[chosen[whole.functions]]])
