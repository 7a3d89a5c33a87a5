"""The algebra of lazy operators, sub-blocks, and refusals."""

import numpy as np
import pytest

import calderon as cal
from calderon.dense import dense


@pytest.fixture(scope="module")
def space():
    return cal.P1(cal.mesh.sphere(radius=1.0, h=0.6))


@pytest.fixture(scope="module")
def operator(space):
    return cal.double_layer(cal.Laplace(), space)


def test_any_block_of_entries_equals_the_dense_matrix(operator):
    matrix = operator.assemble().to_array()
    rows, columns = np.array([3, 0, 17, 3, -1]), np.array([5, 2, 5])
    block = operator.entries(rows, columns)
    assert np.abs(block - matrix[np.ix_(rows, columns)]).max() < 1e-14 * np.abs(matrix).max()


def test_entries_outside_are_refused(operator):
    with pytest.raises(IndexError, match="outside"):
        operator.entries([operator.shape[0]], [0])


def test_linear_combinations(operator, space):
    matrix, mass = operator.assemble().to_array(), space.mass_matrix().toarray()
    combined = (0.5 * cal.identity(space) - 2j * operator).assemble().to_array()
    assert np.abs(combined - (0.5 * mass - 2j * matrix)).max() < 1e-14
    assert np.abs((-operator / 2 + operator).assemble().to_array() - matrix / 2).max() < 1e-14


def test_transposed_and_adjoint(operator):
    matrix = (1j * operator).assemble().to_array()
    assert np.abs((1j * operator).T.assemble().to_array() - matrix.T).max() < 1e-15
    assert np.abs((1j * operator).H.assemble().to_array() - matrix.conj().T).max() < 1e-15


def test_product_inserts_the_inverse_mass_matrix(operator, space):
    matrix, mass = operator.assemble().to_array(), space.mass_matrix().toarray()
    expected = matrix @ np.linalg.solve(mass, matrix)
    assert np.abs((operator @ operator).assemble().to_array() - expected).max() < 1e-12
    assert np.abs((operator @ operator).entries([1, 4], [0, 2]) - expected[np.ix_([1, 4], [0, 2])]).max() < 1e-12


def test_blocks(operator, space):
    system = cal.blocks([[operator, None], [cal.identity(space), operator]]).assemble().to_array()
    matrix, n = operator.assemble().to_array(), space.dimension
    assert np.allclose(system[:n, :n], matrix, atol=1e-15)
    assert not system[:n, n:].any()
    assert np.allclose(system[n:, :n], space.mass_matrix().toarray(), atol=1e-15)
    with pytest.raises(ValueError, match="rectangular"):
        cal.blocks([[operator], [operator, operator]])


def test_the_matrix_is_a_linear_operator_that_says_what_it_is(operator):
    matrix = operator.assemble()
    x = np.random.default_rng(0).standard_normal((matrix.shape[1], 2))
    assert np.allclose(matrix @ x, matrix.to_array() @ x)
    assert np.allclose(matrix.H @ x[:, 0], matrix.to_array().T @ x[:, 0])
    assert matrix.nbytes == matrix.to_array().nbytes
    assert np.array_equal(np.asarray(matrix), matrix.to_array())
    assert np.array_equal(np.asarray(matrix, dtype=np.complex64), matrix.to_array().astype(np.complex64))
    assert "dense matrix" in str(matrix) and "numba" in str(matrix) and matrix.seconds > 0


def test_tags_restrict_and_meshes_may_differ(space):
    mesh = cal.mesh.cube(size=1.0, h=0.5)
    halves = cal.TriangleMesh(mesh.vertices, mesh.triangles, tags=(mesh.centroids[:, 2] > 0.25).astype(int))
    whole, top = cal.P0(halves), cal.P0(halves, tags=1)
    matrix = cal.single_layer(cal.Laplace(), whole).assemble().to_array()
    part = cal.single_layer(cal.Laplace(), top).assemble().to_array()
    assert np.allclose(part, matrix[np.ix_(top.triangles, top.triangles)], rtol=1e-10)
    copy = cal.TriangleMesh(halves.vertices.copy(), halves.triangles.copy())
    across = cal.single_layer(cal.Laplace(), whole, cal.P0(copy)).assemble().to_array()
    assert np.allclose(across, matrix, rtol=1e-10)  # the same place under another mesh object: touching pairs are found


def test_refusals(operator, space, monkeypatch):
    with pytest.raises(ValueError, match="unknown method 'h2': choose 'dense'"):
        operator.assemble("h2")
    with pytest.raises(ValueError, match="unknown backend 'gpu'"):
        operator.assemble(backend="gpu")
    with pytest.raises(RuntimeError, match="'cuda' is not available"):
        operator.assemble(backend="cuda")
    with pytest.raises(ValueError, match="unknown precision 'half'"):
        operator.assemble(precision="half")
    with pytest.raises(ValueError, match="continuous"):
        cal.hypersingular(cal.Laplace(), cal.P0(space.mesh))
    with pytest.raises(ValueError, match="same trial and test space"):
        operator + cal.double_layer(cal.Laplace(), cal.P1(cal.TriangleMesh(space.mesh.vertices, space.mesh.triangles)))
    with pytest.raises(ValueError, match="singular=40"):
        cal.Quadrature(singular=40)
    with pytest.raises(ValueError, match="positive imaginary"):
        cal.Helmholtz(2 - 1j)
    monkeypatch.setattr("calderon.backends.memory.free_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="needs .* and 1.0 kB are free"):
        dense.assemble_dense(operator, backend="numba", precision="double")


def test_sums_begin_at_zero(operator, space):
    total = sum([operator, cal.identity(space), operator])
    assert [part for _, part in total.parts] == [operator, total.parts[1][1], operator]
    assert np.allclose(sum([operator]).entries([1], [2, 3]), operator.entries([1], [2, 3]))
    for other in (1, 2.5, np.ones(3)):
        with pytest.raises(TypeError, match="only boundary operators and sparse matrices can be added to one"):
            other + operator


def test_middle_spaces_that_do_not_pair_are_refused():
    mesh = cal.mesh.cube(size=1.0, h=1.0)
    halves = cal.TriangleMesh(mesh.vertices, mesh.triangles, np.arange(mesh.number_of_triangles) % 2)
    one, other = (cal.single_layer(cal.Laplace(), cal.P0(halves, tags=tag)) for tag in (0, 1))
    product = one @ other
    for matrix in (
        product.assemble,
        lambda: product.assemble("matrix-free"),
        lambda: product.assemble("hmatrix"),
        lambda: product.entries([0], [1]),
    ):
        with pytest.raises(ValueError, match="their middle spaces P0 and P0, both of dimension 6, do not pair"):
            matrix()
    assert (one @ one).assemble().shape == (6, 6)


@pytest.mark.parametrize("size", [1e-25, 1e-15, 1e-13, 1e-11, 1e12, 1e14, 1e30])
def test_entries_beyond_single_precision_are_refused_and_others_right(size):
    """Single layers grow with the third power of lengths, and mass matrices with the second."""
    space = cal.P1(cal.mesh.cube(size=1.0, h=0.5).scaled(size))
    layer, light = cal.single_layer(cal.Laplace(), space), cal.single_layer(cal.Helmholtz(1 / size), space)
    assert np.isfinite(layer.assemble().to_array()).all() and layer.assemble().to_array().all()
    for operator in (layer,) if 1e-12 < size < 1e13 else (layer, light):
        if 1e-12 < size < 1e13:
            exact, single = operator.assemble().to_array(), operator.assemble(precision="single").to_array()
            assert np.abs(single - exact).max() < 1e-4 * np.abs(exact).max()
            with pytest.raises(ValueError, match="compression, which squares the entries .* precision='double'"):
                operator.assemble("hmatrix", precision="single")
            continue
        for method in ("dense", "matrix-free", "hmatrix"):
            with pytest.raises(
                ValueError, match="single_layer on a surface of size .* of float32 .* precision='double'"
            ):
                operator.assemble(method, precision="single")
    if not 1e-19 < size < 1e19:
        with pytest.raises(ValueError, match="the identity needs numbers about .* precision='double'"):
            cal.identity(space).assemble(precision="single")
    assert not (0 * layer).assemble(precision="single").to_array().any()
