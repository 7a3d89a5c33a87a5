"""Sparse factors around any expression, and blocks of sparse and lazy operators: by every method the dense product."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import calderon as cal
from calderon.formulations.linear_system import LinearSystem, SolveOptions
from calderon.formulations.preconditioners import near_preconditioner, sharing, sharing_in
from calderon.operators.fingerprint import fingerprint_of_all
from calderon.operators.tree import terms_of

GREEN = cal.Helmholtz(8.0)
MESH = cal.mesh.sphere(radius=1.0, h=0.13)
SPACE = cal.P1(MESH)
N = SPACE.dimension
LAYERS = cal.single_layer(GREEN, SPACE) + cal.double_layer(GREEN, SPACE) + 0.03j * cal.hypersingular(GREEN, SPACE)
RANDOM = np.random.default_rng(5)


def factors(rows, columns, entries=3, is_complex=False):
    """A sparse matrix with that many entries in a row, about."""
    matrix = sp.random_array((rows, columns), density=entries / columns, rng=np.random.default_rng(rows), format="csr")
    return matrix * (1 + 0.5j) if is_complex else matrix


def vectors(size):
    return RANDOM.standard_normal((size, 2)) + 1j * RANDOM.standard_normal((size, 2))


def distance(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


def check(product, exact, bound):
    """Products, transposed and adjoint ones."""
    x, y = vectors(exact.shape[1]), vectors(exact.shape[0])
    assert product.shape == exact.shape
    assert distance(product @ x, exact @ x) < bound
    assert distance(product.T @ y, exact.T @ y) < bound
    assert distance(product.H @ y, exact.conj().T @ y) < bound


S, R = factors(N, N // 2), factors(N, N // 3, is_complex=True).tocoo()
BETWEEN = S.T @ LAYERS @ R


@pytest.fixture(scope="module")
def whole():
    return LAYERS.assemble().to_array()


@pytest.fixture(scope="module")
def exact(whole):
    return S.T @ whole @ R.toarray()


@pytest.mark.parametrize(
    ("method", "options", "bound"),
    [
        ("dense", {}, 1e-12),
        ("dense", {"precision": "single"}, 3e-5),
        ("dense", {"backend": "opencl"}, 1e-12),
        pytest.param("dense", {"backend": "opencl", "keep_on_device": True}, 1e-12, marks=pytest.mark.variant),
        ("matrix-free", {}, 1e-12),
        ("hmatrix", {"rtol": 1e-6}, 1e-6),
        ("mlfmm", {"rtol": 1e-3}, 1e-3),
        pytest.param("mlfmm", {"rtol": 1e-3, "backend": "opencl"}, 1e-3, marks=pytest.mark.variant),
    ],
)
def test_every_method_has_the_dense_product(method, options, bound, exact, request):
    if "backend" in options:
        request.getfixturevalue("opencl")
    matrix = BETWEEN.assemble(method, **options)
    if "keep_on_device" in options:
        assert distance(matrix.to_array(), exact) < bound
    else:
        check(matrix, exact, bound)


def test_terms_of_one_wavenumber_between_factors_share_an_octree(exact):
    """Also where the factors were written around each term, or the operator stands in a table."""
    apart = sum(S.T @ each @ R for each in (cal.single_layer(GREEN, SPACE), cal.double_layer(GREEN, SPACE)))
    both = cal.blocks([[BETWEEN, None], [None, BETWEEN]])
    for operator in (BETWEEN, apart, both):
        fast = operator.assemble("mlfmm", rtol=1e-3)
        assert len(fast.media) == 1 and any(fast.levels[0])
    plan = BETWEEN.plan("mlfmm", 1e-3)
    assert plan.nbytes < 1.1 * LAYERS.plan("mlfmm", 1e-3).nbytes
    rows, columns = S.T.nonzero()[0][:3], R.T.nonzero()[0][:3]
    assert np.abs(BETWEEN.entries(rows, columns) - exact[np.ix_(rows, columns)]).max() < 1e-8 * np.abs(exact).max()


def test_transposed_adjoint_and_repeated_factors(whole, exact):
    once = (2j * BETWEEN.H - BETWEEN.H).assemble().to_array()
    assert distance(once, (2j - 1) * exact.conj().T) < 1e-12
    again = S[:, :5].T @ (factors(N, N).T @ LAYERS @ R)
    assert (
        len(terms_of(again)) == 1
        and distance(again.assemble().to_array(), (factors(N, N) @ S[:, :5]).T @ whole @ R) < 1e-12
    )
    dense = cal.transformed(LAYERS, np.eye(N)[:, :3], R.toarray()[:, :4])
    assert distance(dense.assemble().to_array(), whole[:3] @ R.toarray()[:, :4]) < 1e-12
    assert BETWEEN.trial.name == "combinations of P1" and "sparse factors around" in repr(BETWEEN)
    assert cal.transformed(LAYERS) is LAYERS


def test_factors_begin_with_zeros_that_are_stored(whole):
    """A row of the left factor whose first entry is 0, and a factor of 0 before all of them."""
    columns = S.tocsc(copy=True)
    columns.data[columns.indptr[:-1][np.diff(columns.indptr) > 0]] = 0.0
    stored = columns.tocsr()
    matrix = (0j * BETWEEN + stored.T @ LAYERS @ R).assemble().to_array()
    assert distance(matrix, stored.T @ whole @ R.toarray()) < 1e-12


def test_sparse_operators_stay_sparse():
    operator = S.T @ (2j * cal.identity(SPACE) - cal.laplace_beltrami(SPACE)) @ R
    matrix = S.T @ (2j * SPACE.mass_matrix() - SPACE.laplace_beltrami_matrix()) @ R
    assert abs(operator.assemble().tocsr() - matrix).max() < 1e-15
    assert abs(operator.H.assemble().tocsr() - matrix.conj().T).max() < 1e-15
    assert abs((operator.H.T).assemble().tocsr() - matrix.conj()).max() < 1e-15


def coarse():
    """A small sphere whose mesh is its own mirror image at z = 0, the images of its nodes, and its upper nodes."""
    angles = np.linspace(0, 2 * np.pi, 9)[:-1]
    rings = [(0.0, 0.0, 1.0)]
    rings += [(np.cos(a) * np.sin(t), np.sin(a) * np.sin(t), np.cos(t)) for t in (0.5, 1.0, np.pi / 2) for a in angles]
    top = [(0, 1 + n, 1 + (n + 1) % 8) for n in range(8)]
    for ring in range(2):
        for n in range(8):
            a, b = 1 + 8 * ring + n, 1 + 8 * ring + (n + 1) % 8
            top += [(a, a + 8, b), (b, a + 8, b + 8)]
    half = np.array(rings)
    image = np.arange(len(half))
    image[:-8] = len(half) + np.arange(len(half) - 8)
    vertices = np.concatenate([half, half[:-8] * [1, 1, -1]])
    triangles = np.concatenate([top, image[np.array(top)][:, ::-1]])
    return cal.TriangleMesh(vertices, triangles), image, np.arange(len(half))


def test_mirror_planes_are_sparse_factors():
    """On a surface that is its own mirror image A maps even functions to even ones and odd to odd: rows of the upper
    half, with columns that are folded, say all; even and odd parts do not meet."""
    mesh, image, upper = coarse()
    space, green, n = cal.P1(mesh), cal.Helmholtz(1.5), mesh.number_of_vertices
    operator = cal.single_layer(green, space) + cal.double_layer(green, space) + 0.2j * cal.hypersingular(green, space)
    matrix = operator.assemble().to_array()
    rows = sp.csr_array((np.ones(len(upper)), (upper, upper)), (n, len(upper)))
    moved = image != upper
    folded = {}
    for parity in (1.0, -1.0):
        signs = sp.csr_array((parity * moved[moved], (image[moved], upper[moved])), rows.shape)
        folded[parity] = (rows + signs).tocsr() if parity > 0 else (rows + signs)[:, moved].tocsr()
    for parity, fold in folded.items():
        x = RANDOM.standard_normal(fold.shape[1])
        part = (rows.T @ operator @ fold).assemble() @ x
        back = part if parity > 0 else part[moved]
        assert distance(fold @ back, matrix @ (fold @ x)) < 1e-8
    even, odd = folded[1.0], folded[-1.0]
    assert np.abs((even.T @ operator @ odd).assemble().to_array()).max() < 1e-8 * np.abs(matrix).max()
    layer = cal.single_layer(green, space)
    fold = even[:, moved]  # as many as odd ones
    difference = fold.T @ layer @ fold - odd.T @ layer @ odd
    dense = layer.assemble().to_array()
    expected = fold.T @ dense @ fold - odd.T @ dense @ odd
    assert distance(difference.assemble().to_array(), expected) < 1e-12 and np.abs(expected).max() > 0
    for method in ("matrix-free", "hmatrix"):
        assert distance(difference.assemble(method) @ np.eye(len(expected)), expected) < 1e-9


def test_functions_of_parts_meet_at_a_junction():
    """A surface in two parts, whose functions at the joint are one: the sum over pairs of parts of C_r^T A_rs C_s is
    the operator of the whole."""
    whole = cal.mesh.sphere(radius=1.0, h=0.5)
    tags = (whole.vertices[whole.triangles].mean(axis=1)[:, 2] > 0.1).astype(int)
    mesh = cal.TriangleMesh(whole.vertices, whole.triangles, tags)
    space, green = cal.P1(mesh), cal.Helmholtz(1.5)
    parts = [cal.P1(mesh, tags=tag) for tag in (0, 1)]
    combine = [constraint(space, part) for part in parts]
    total = sum(
        left.T @ (cal.single_layer(green, trial, test) - 2 * cal.double_layer(green, trial, test)) @ right
        for left, test in zip(combine, parts, strict=True)
        for right, trial in zip(combine, parts, strict=True)
    )
    expected = (cal.single_layer(green, space) - 2 * cal.double_layer(green, space)).assemble().to_array()
    assert distance(total.assemble().to_array(), expected) < 1e-8
    check(total.assemble("matrix-free"), expected, 1e-8)
    mass = sum(each.T @ cal.identity(part) @ each for each, part in zip(combine, parts, strict=True))
    assert abs(mass.assemble().tocsr() - space.mass_matrix()).max() < 1e-15
    # parts that are meshes of their own, such as regions of a body, likewise
    own = [cal.P1(mesh.restricted([tag])) for tag in (0, 1)]
    two = sum(C.T @ cal.single_layer(green, each) @ C for C, each in zip(combine, own, strict=True))
    dense = sum(
        C.T @ cal.single_layer(green, each).assemble().to_array() @ C for C, each in zip(combine, own, strict=True)
    )
    assert distance((two + 0 * total).assemble().to_array(), dense) < 1e-12
    with pytest.raises(ValueError, match="as many unknowns"):
        two + cal.single_layer(green, cal.P0(mesh))


def constraint(space, part):
    """(functions of a part, functions of the whole): ones where they are those of one vertex."""
    matrix = sp.lil_array((part.dimension, space.dimension))
    vertices = space.dofs[part.triangles]
    matrix[part.dofs.ravel(), vertices.ravel()] = 1.0
    return matrix.tocsr()


def coupled(inside):
    """A table of finite elements inside and boundary elements around them, and its matrix."""
    trace = factors(N, inside)
    stiffness = (factors(inside, inside, is_complex=True) + sp.diags_array(np.full(inside, 4.0))).tocsr()
    double, single, mass = cal.double_layer(GREEN, SPACE), cal.single_layer(GREEN, SPACE), SPACE.mass_matrix()
    one = cal.identity(SPACE)
    table = cal.blocks([[stiffness, -trace.T @ mass], [(0.5 * one - double) @ trace, single]])
    mixed = (0.5 * mass.toarray() - double.assemble().to_array()) @ trace
    matrix = np.block([[stiffness.toarray(), (-trace.T @ mass).toarray()], [mixed, single.assemble().to_array()]])
    return table, matrix


def test_sparse_and_lazy_blocks(opencl):
    table, matrix = coupled(300)
    assert (
        table.is_complex and table.shape == matrix.shape and [len(each) for each in table.split(matrix[0])] == [300, N]
    )
    for method, options, bound in (
        ("dense", {}, 1e-12),
        ("dense", {"backend": "opencl"}, 1e-12),
        ("matrix-free", {}, 1e-12),
        ("hmatrix", {"rtol": 1e-6}, 1e-6),
        ("mlfmm", {"rtol": 1e-3}, 1e-3),
        ("mlfmm", {"rtol": 1e-3, "backend": "opencl"}, 1e-3),
    ):
        check(table.assemble(method, **options), matrix, bound)
    assert distance(table.H.assemble().to_array(), matrix.conj().T) < 1e-12
    i, j = [0, 301, 5], [300, 2, 1000]
    assert distance(table.entries(i, j), matrix[np.ix_(i, j)]) < 1e-8


def test_blocks_that_are_arrays_and_linear_operators():
    space, green = cal.P1(cal.mesh.sphere(1.0, 0.6)), cal.Helmholtz(1.5)
    layer, n = cal.single_layer(green, space), space.dimension
    array, given = RANDOM.standard_normal((n, 3)), RANDOM.standard_normal((3, n)) * 1j
    counted = LinearOperator(given.shape, given.__matmul__, dtype=complex, rmatvec=given.conj().T.__matmul__)
    table = cal.blocks([[layer, array], [counted, sp.eye_array(3)]])
    matrix = np.block([[layer.assemble().to_array(), array], [given, np.eye(3)]])
    assert distance(table.assemble().to_array(), matrix) < 1e-14
    assert distance(table.T.assemble().to_array(), matrix.T) < 1e-14
    assert distance(table.entries([n, 1], [0, n + 2]), matrix[np.ix_([n, 1], [0, n + 2])]) < 1e-9
    for method in ("matrix-free", "hmatrix"):
        check(table.assemble(method), matrix, 1e-9)
    again = cal.blocks([[layer.assemble(), array]]).assemble().to_array()  # products that were assembled before
    assert distance(again, matrix[:n]) < 1e-14


def test_laplace_by_fast_multipole_products(opencl):
    space, green = cal.P1(MESH), cal.Laplace()
    layers = cal.single_layer(green, space) - cal.double_layer(green, space)
    left, right = factors(N, N // 2), factors(N, N // 3)
    operator, matrix = left.T @ layers @ right, left.T @ layers.assemble().to_array() @ right
    for options in ({}, {"backend": "opencl"}):
        check(operator.assemble("fmm", rtol=1e-4, **options), matrix, 1e-4)
    assert operator.plan("fmm", 1e-4).nbytes > 0


def test_other_matrices_are_another_operator(tmp_path):
    """Keys and files tell sparse factors from others: neither are two operators merged, nor near blocks mistaken."""
    other = factors(N, N // 2, entries=4)
    one, two = S.T @ LAYERS @ S, other.T @ LAYERS @ other
    assert terms_of(one)[0].atom.key != terms_of(two)[0].atom.key
    assert terms_of(one)[0].atom.key == terms_of(S.T @ LAYERS @ S.copy())[0].atom.key
    assert fingerprint_of_all(one) == fingerprint_of_all(S.T @ LAYERS @ S.copy()) != fingerprint_of_all(two)
    given = [cal.blocks([[LAYERS, each]]) for each in (S, other)]
    assert fingerprint_of_all(given[0]) != fingerprint_of_all(given[1])
    path = tmp_path / "near.h5"
    first = one.assemble("mlfmm", rtol=1e-3, matrix_file=path)
    x = vectors(N // 2)
    assert distance(one.assemble("mlfmm", rtol=1e-3, matrix_file=path) @ x, first @ x) < 1e-6
    with pytest.raises(ValueError, match="expression"):
        two.assemble("mlfmm", rtol=1e-3, matrix_file=path)
    path = tmp_path / "compressed.h5"
    first = one.assemble("hmatrix", rtol=1e-4, matrix_file=path)
    assert np.array_equal(one.assemble("hmatrix", rtol=1e-4, matrix_file=path) @ x, first @ x)


@pytest.mark.filterwarnings("ignore:1 of 1 solutions did not converge")
def test_near_entries_of_combinations_precondition():
    """Their pattern is |C|^T P |C|; combinations whose sizes differ by 1e4, which GMRES takes long for, are cured."""
    order = np.random.default_rng(1).permutation(N)
    combine = sp.diags_array(10 ** np.linspace(-2, 2, N)).tocsr()[:, order]
    second = 0.5 * cal.identity(SPACE) - cal.double_layer(GREEN, SPACE)
    operator = combine.T @ second @ combine
    pattern = sharing_in(operator)
    assert (pattern.astype(bool) != (combine.T @ sharing(SPACE) @ combine).astype(bool)).nnz == 0
    i, j = pattern.nonzero()
    dense = combine.T @ second.assemble().to_array() @ combine
    stored = operator.assemble("mlfmm", rtol=1e-3).near_entries(i, j)
    assert distance(stored, dense[i, j]) < 1e-3
    side, steps = vectors(N)[:, :1], {}
    for name in ("none", "near"):
        system = LinearSystem("with scales", operator, (operator.trial,))
        inverse = near_preconditioner(system) if name == "near" else None
        options = SolveOptions(
            "mlfmm", rtol=1e-4, compression_rtol=1e-3, preconditioner=inverse, accept=True, maxiter=100
        )
        _, (info,) = system.solve(side, options)
        steps[name] = info.iterations
    assert steps["near"] < 0.5 * steps["none"], steps


def test_unknowns_without_functions():
    table = cal.blocks([[sp.eye_array(N), sp.eye_array(N)], [sp.eye_array(N), LAYERS]])
    assert [space.name for space in table.trial.spaces] == ["unknowns", "P1"]
    one = cal.blocks([[sp.eye_array(3)]])
    with pytest.raises(ValueError, match="3 unknowns without functions have no mass matrix"):
        (one @ one).assemble()


def test_compositions_pair_combinations_by_their_mass_matrix():
    space = cal.P1(cal.mesh.sphere(1.0, 0.6))
    layer, some = cal.single_layer(cal.Laplace(), space), sp.eye_array(space.dimension).tocsc()[:, ::3]
    matrix, mass = layer.assemble().to_array(), (some.T @ space.mass_matrix() @ some).toarray()
    found = ((layer @ some) @ (some.T @ layer)).assemble().to_array()
    assert distance(found, (matrix @ some) @ np.linalg.solve(mass, some.T @ matrix)) < 1e-12


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: S @ LAYERS,
            ValueError,
            rf"left= is {N // 2} x {N}, and needs {N} rows, .* its transposed matrix has as many",
        ),
        (
            lambda: LAYERS @ S[1:],
            ValueError,
            rf"right= is {N - 1} x {N // 2}, and needs {N} rows, one for each of the c",
        ),
        (lambda: LAYERS @ (S * np.nan), ValueError, "entries of a sparse matrix are finite, got nan"),
        (lambda: cal.transformed(LAYERS, right=np.ones(N)), ValueError, r"two dimensions, got an array of shape"),
        (lambda: cal.transformed(LAYERS, right=[[1.0]]), TypeError, "sparse matrices of SciPy, or arrays, .* got list"),
        (lambda: cal.transformed(S, right=S), TypeError, "sparse factors stand around operators"),
        (lambda: LAYERS @ np.ones(N), TypeError, r"got ndarray: A.assemble\(\) @ x multiplies"),
        (lambda: np.ones((2, N)) @ LAYERS, TypeError, r"got ndarray: A.assemble\(\) @ x multiplies"),
        (lambda: LAYERS @ aslinearoperator(S), TypeError, "@ composes operators that are not assembled"),
        (lambda: aslinearoperator(S.T) @ LAYERS, ValueError, "expected 1-d or 2-d array"),  # SciPy's own
        (lambda: sp.csr_matrix(S.T) * LAYERS, TypeError, "S @ A is for sparse matrices"),
        (lambda: cal.blocks([[LAYERS, S[1:]]]), ValueError, "row 0 of the blocks has operators of dimensions"),
        (
            lambda: cal.blocks([[LAYERS, "S"]]),
            TypeError,
            "sparse matrices, arrays and LinearOperators of SciPy, or None",
        ),
        (lambda: cal.blocks([[LAYERS, np.ones(N)]]), ValueError, "has an array of shape"),
        (lambda: cal.blocks([[S * np.inf]]), ValueError, "entries of a sparse matrix are finite"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_came(make, error, text):
    with pytest.raises(error, match=text):
        make()
