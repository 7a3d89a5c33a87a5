"""The electric field of currents on metal in a stack of layers: free space, images, several interfaces, mistakes."""

from dataclasses import replace

import numpy as np
import pytest

import calderon as cal
from calderon.galerkin.layered.equal_pieces import equal_pieces
from calderon.operators.fingerprint import fingerprint

FREQUENCY = 3e8
K0 = 2 * np.pi * FREQUENCY / 299792458.0
SLAB = cal.Stack([cal.Layer(0.03, 2.2 + 0.01j), cal.Layer(0.02, 4.0)], below="pec")


def sheet(*heights):
    """A plate of 0.2 by 0.1 m at each height."""
    plate = cal.mesh.plate((0.2, 0.1), 0.05)
    count = plate.number_of_vertices
    points = [plate.vertices * [1, 1, 0] + [0.03 * n, 0, z] for n, z in enumerate(heights)]
    triangles = [plate.triangles + n * count for n in range(len(heights))]
    return cal.TriangleMesh(np.concatenate(points), np.concatenate(triangles))


def matrix(operator):
    return operator.assemble().to_array()


def relative(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


def test_layers_of_vacuum_are_free_space():
    space = cal.RWG(sheet(0.02, 0.05))
    stack = cal.Stack([cal.Layer(0.02), cal.Layer(0.03)])
    found = matrix(cal.layered_electric_field(stack, FREQUENCY, space))
    assert relative(found, matrix(cal.electric_field(K0, space))) < 1e-6
    assert relative(found.T, found) < 1e-14


def test_a_conductor_makes_an_image():
    """Its currents are opposite, its charges too: <f, T f> - <f, T f'> with the functions f' of the mirrored mesh."""
    space = cal.RWG(sheet(0.03))
    mirrored = cal.TriangleMesh(space.mesh.vertices * [1, 1, -1], space.mesh.triangles)
    image = cal.electric_field(K0, cal.RWG(mirrored), space, quadrature=cal.Quadrature(regular=8))
    stack = cal.Stack([cal.Layer(0.03)], below="pec")
    found = matrix(cal.layered_electric_field(stack, FREQUENCY, space))
    assert relative(found, matrix(cal.electric_field(K0, space)) - matrix(image)) < 1e-6


def test_a_part_of_the_matrix_and_finer_rules():
    space = cal.RWG(sheet(0.03, 0.05))
    operator = cal.layered_electric_field(SLAB, FREQUENCY, space)
    whole, rows = matrix(operator), [3, 0, 20]
    assert relative(whole.T, whole) < 1e-10
    assert np.allclose(operator.entries(rows, slice(5, 30)), whole[rows, 5:30], rtol=1e-12, atol=0)
    assert np.allclose(operator.columns(np.array([0, 20])), whole[:, [0, 20]], rtol=1e-12, atol=0)
    few = replace(operator.matrix, functions=np.array([0, 20])).near[1]
    carries = np.isin(space.dofs, [0, 20]).any(axis=1)
    assert len(few) == carries[operator.matrix.near[1]].any(axis=1).sum() < len(operator.matrix.near[1])
    fine = cal.layered_electric_field(SLAB, FREQUENCY, space, quadrature=cal.Quadrature(regular=8, singular=11))
    assert relative(whole, matrix(fine)) < 3e-6


def test_hmatrices_are_the_dense_matrix():
    """Strips on two interfaces have near pairs in blocks of low rank, too."""
    strip = cal.mesh.plate((1.2, 0.1), 0.04)
    space = cal.RWG(cal.mesh.merge([strip.translated([0, 0, z]) for z in (0.03, 0.05)]))
    operator = cal.layered_electric_field(SLAB, FREQUENCY, space, quadrature=cal.Quadrature(near=4.0))
    expected, found = matrix(operator), operator.assemble("hmatrix", rtol=1e-5)
    assert found.nbytes < 0.4 * expected.nbytes and found.correction is not None
    x = np.random.default_rng(1).standard_normal(len(expected))
    for vector in (x, space.load_vector([1.0, 0.0, 0.0])):
        assert np.linalg.norm(found @ vector - expected @ vector) < 1e-5 * np.linalg.norm(expected @ vector)
    assert fingerprint(operator) != fingerprint(cal.layered_electric_field(SLAB, 1.1 * FREQUENCY, space))
    with pytest.raises(ValueError, match="in double precision"):
        operator.assemble("hmatrix", precision="single")


@pytest.mark.parametrize(("precision", "bound"), [("double", 1e-12), ("single", 1e-5)])
def test_devices_give_the_matrix_of_the_processor(opencl, precision, bound):
    """Between one interface and two; where several share it, where it stays, and some rows of it."""
    operator = cal.layered_electric_field(SLAB, FREQUENCY, cal.RWG(sheet(0.03, 0.05)))
    expected, distant = matrix(operator), np.zeros(operator.shape, complex)
    operator.matrix.add_distant(distant, 1.0)
    assert np.abs(distant).max() > 1e-2 * np.abs(expected).max()
    found = operator.assemble(backend="opencl", precision=precision)
    assert found.dtype == (complex if precision == "double" else np.complex64)
    assert relative(found.to_array(), expected) < bound
    if precision == "double":
        both = operator.assemble(backend="numba+opencl")
        assert "%" in str(both) and relative(both.to_array(), expected) < bound
        kept = (operator + 2j * cal.identity(operator.trial)).assemble(backend="opencl", keep_on_device=True)
        assert relative(kept.to_array(), expected + 2j * operator.trial.mass_matrix().toarray()) < bound
        rows = [3, 0, 20]
        part = operator.entries(rows, slice(5, 30), backend="opencl")
        assert relative(part, expected[rows, 5:30]) < bound
        with pytest.raises(ValueError, match="computed on the processor in double precision"):
            operator.assemble("hmatrix", backend="opencl")


def test_equal_layers_are_one():
    space = cal.RWG(sheet(0.03))
    one = cal.Stack([cal.Layer(0.03, 2.2)], below="pec")
    two = cal.Stack([cal.Layer(0.01, 2.2), cal.Layer(0.02, 2.2), cal.Layer(0.05)], below="pec")
    found = [matrix(cal.layered_electric_field(stack, FREQUENCY, space)) for stack in (one, two)]
    assert relative(*found) < 1e-6


def test_equal_pieces_share_their_near_pairs():
    """Three equal plates, one of them at another height, and a different one close to the first: blocks of plates are
    those of one alone, and all pairs that are not distant are there."""
    plate = cal.mesh.plate((0.2, 0.1), 0.05)
    places = ((0.0, 0.0, 0.03), (0.37, 0.123, 0.03), (-0.371, 0.1, 0.03), (0.1, 0.0, 0.05))
    other = cal.mesh.plate((0.1, 0.2), 0.05).translated([0.17, 0.0, 0.03])
    space = cal.RWG(cal.mesh.merge([*(plate.translated(each) for each in places), other]))
    operator = cal.layered_electric_field(SLAB, FREQUENCY, space)
    pieces = equal_pieces(operator.matrix.metal)
    assert pieces.models.tolist() == [True, False, False, True, True] and len(pieces.rows[0][1]) == 2
    found, size = matrix(operator), space.dimension // 5
    assert relative(found.T, found) < 1e-12
    alone = matrix(cal.layered_electric_field(SLAB, FREQUENCY, cal.RWG(plate.translated(places[2]))))
    for n in range(3):
        part = slice(n * size, (n + 1) * size)
        assert relative(found[part, part], alone) < 1e-6
    pairs = operator.matrix.near[1]
    own = pieces.number[pairs]
    counts = np.bincount(own[own[:, 0] == own[:, 1], 0])
    assert counts[0] == counts[1] == counts[2] and (own[:, 0] != own[:, 1]).any() and (pairs[:, 0] <= pairs[:, 1]).all()


def test_mistakes_are_named():
    with pytest.raises(
        cal.MeshError, match=r"16 triangles do not lie on an interface .* 10 mm; interfaces are at 30, 50 mm"
    ):
        cal.layered_electric_field(SLAB, FREQUENCY, cal.RWG(sheet(0.01))).assemble()
    with pytest.raises(TypeError, match="need RWG functions"):
        cal.layered_electric_field(SLAB, FREQUENCY, cal.P1(sheet(0.03)))
    operator = cal.layered_electric_field(SLAB, FREQUENCY, cal.RWG(sheet(0.03)))
    for each in (operator, operator + 2 * operator.T):
        with pytest.raises(ValueError, match="assembled by method='dense' or 'hmatrix' or 'fft', got"):
            each.assemble("matrix-free")
    assert "dense" in str(operator.assemble("auto"))
    with pytest.raises(ValueError, match="frequency must be a positive number, got 0"):
        cal.layered_electric_field(SLAB, 0, cal.RWG(sheet(0.03)))
