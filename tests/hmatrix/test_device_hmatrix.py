"""H-matrices on devices: the crosses of the processor, the tolerance, and what devices leave to it or refuse."""

from dataclasses import replace

import numpy as np
import pytest

import calderon as cal
from calderon.backends import Execution, get
from calderon.galerkin.rows.device import device_rows
from calderon.galerkin.rows.galerkin_entries import compiled_rows
from calderon.hmatrix import Admissibility, Choices, assemble_hmatrix, compression
from calderon.hmatrix.device import batches as device_batches
from calderon.hmatrix.device import compression as device_compression
from calderon.hmatrix.device import skeleton as device_skeleton
from calderon.hmatrix.device import store
from calderon.hmatrix.device.dense_blocks import DeviceDenseBlocks
from calderon.hmatrix.galerkin import _Composition, smooth_vectors
from calderon.hmatrix.products import BLOCK, RANK
from calderon.hmatrix.storage import stored
from calderon.hmatrix.tolerances import sums_of
from calderon.spaces import dual_tests

MESH = cal.mesh.sphere(1.0, 0.13)
SPACE = cal.P1(MESH)
COARSE = cal.P1(cal.mesh.sphere(1.0, 0.16))
LAPLACE, HELMHOLTZ = cal.Laplace(), cal.Helmholtz(3.0)

pytestmark = pytest.mark.usefixtures("opencl")


def deviation(one, other):
    """Relative error of a product and of one with the adjoint, for one vector."""
    rng = np.random.default_rng(0)
    found = []
    for first, second in ((one, other), (one.H, other.H)):
        x = rng.standard_normal(first.shape[1])
        found.append(np.linalg.norm(first @ x - second @ x) / np.linalg.norm(second @ x))
    return max(found)


def relative(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


def assembled(operator, rtol, backend="opencl"):
    """With small clusters, so that a small matrix has many blocks of low rank."""
    return assemble_hmatrix(operator, rtol=rtol, backend=backend, choices=Choices(leaf=24))


def check(operator, rtol):
    """A device holds the tolerance and agrees with the processor, which puts blocks together besides."""
    dense = operator.assemble("dense")
    there, here = assembled(operator, rtol), assembled(operator, rtol, "numba")
    assert there.backend == get("opencl").name and here.backend == "numba"
    assert there.statistics.total.low_rank > 50
    assert deviation(there, dense) < rtol
    assert deviation(there, here) < rtol


def test_double_layers_hold_the_tolerance():
    check(cal.double_layer(LAPLACE, SPACE), 1e-5)


def test_different_spaces_and_a_lossy_wave():
    check(cal.adjoint_double_layer(cal.Helmholtz(3.0 + 0.5j), COARSE, cal.P0(COARSE.mesh)), 1e-4)


EDGES = cal.RWG(cal.mesh.sphere(1.0, 0.18))


def test_rotated_test_functions():
    check(cal.magnetic_field(3.0, EDGES, cal.SNC(EDGES.mesh)), 1e-3)


def test_the_magnetic_field_tested_with_affine_fields():
    """On a rod, most of whose blocks are of low rank."""
    edges = cal.RWG(cal.mesh.cylinder(0.25, 6.0, 0.25))
    operator = cal.magnetic_field(2.0, edges, dual_tests(edges))
    there = assembled(operator, 1e-3)
    assert there.statistics.total.low_rank > 20
    assert deviation(there, operator.assemble("dense")) < 1e-3
    assert deviation(there, assembled(operator, 1e-3, "numba")) < 1e-3


def test_the_magnetic_field_of_two_plates():
    """Whose blocks fall into parts, the first of which was once taken for the whole."""
    plate = cal.mesh.plate((1.0, 1.0), 0.1)
    vertices = np.concatenate([plate.vertices, plate.vertices + [0, 0, 0.1]])
    triangles = np.concatenate([plate.triangles, plate.triangles + len(plate.vertices)])
    operator = cal.magnetic_field(7.0, cal.RWG(cal.TriangleMesh(vertices, triangles)))
    dense = operator.assemble("dense").to_array()
    for rtol in (1e-3, 1e-4):
        found = operator.assemble("hmatrix", rtol=rtol, backend="opencl").to_array()
        assert relative(found, dense) < 0.8 * rtol


def test_the_electric_field_of_an_open_surface():
    """Triangles at its boundary have a local function that is no unknown."""
    check(cal.electric_field(3.0, cal.RWG(cal.mesh.plate((2.0, 1.0), 0.08))), 1e-3)


def test_fields_in_single_precision():
    operator = cal.magnetic_field(3.0, EDGES)
    compressed = operator.assemble("hmatrix", rtol=1e-4, backend="opencl", precision="single")
    assert compressed.dtype == np.complex64 and compressed.backend == get("opencl").name
    assert compressed.statistics.total.low_rank > 50
    assert deviation(compressed, operator.assemble("dense")) < 1e-4


def test_flat_faces_and_edges_of_a_cube():
    """Where double layers vanish or fall into parts."""
    check(cal.double_layer(LAPLACE, cal.P1(cal.mesh.cube(1.0, 0.08))), 1e-5)


def test_a_device_without_double_precision(opencl, monkeypatch):
    """Crosses are made fewer with small matrices in single precision."""
    operator = cal.single_layer(LAPLACE, SPACE)
    usual = operator.assemble("hmatrix", rtol=1e-3, backend="opencl", precision="single")
    monkeypatch.setattr(opencl, "has_double", False)
    compressed = operator.assemble("hmatrix", rtol=1e-3, backend="opencl", precision="single")
    assert compressed.statistics.total.mean_rank == pytest.approx(usual.statistics.total.mean_rank, rel=0.02)
    assert deviation(compressed, operator.assemble("dense")) < 1e-3


@pytest.mark.parametrize(
    ("name", "precision"), [("symmetric", "double"), ("rectangular", "single"), ("complex", "double")]
)
def test_products_are_those_of_the_array(name, precision):
    """From both sides, for several vectors, and for vectors of higher precision than the matrix has."""
    operator = {
        "symmetric": cal.single_layer(LAPLACE, SPACE),
        "rectangular": cal.double_layer(LAPLACE, COARSE, cal.P0(COARSE.mesh)),
        "complex": cal.double_layer(HELMHOLTZ, COARSE),
    }[name]
    choices = Choices(leaf=40)  # more than one run of places in a leaf
    A = assemble_hmatrix(operator, rtol=1e-3, backend="opencl", precision=precision, choices=choices)
    assert A.on_device is not None and A.tree.symmetric == (name == "symmetric")
    assert A.tree.rows.size[A.tree.rows.is_leaf].max() > 32
    array, rng, kinds = A.to_array(), np.random.default_rng(1), {A.dtype, np.result_type(A.dtype, np.float64)}
    for kind in kinds:
        eps = 100 * np.finfo(A.dtype).eps
        x, z = (rng.standard_normal((size, 3)).astype(kind) for size in A.shape[::-1])
        for found, exact in ((A @ x, array @ x), (A.T @ z, array.T @ z), (A.H @ z, array.conj().T @ z)):
            assert found.dtype == kind
            assert np.abs(found - exact).max() < eps * np.abs(exact).max()
    x = rng.standard_normal(A.shape[1])
    A.on_device, there = None, A @ x
    assert np.linalg.norm(there - A @ x) < 1e-12 * np.linalg.norm(there)  # sums are in double


def test_composed_operators():
    space = cal.P1(cal.mesh.sphere(1.0, 0.25))
    operator = 0.5 * cal.identity(space) - cal.double_layer(HELMHOLTZ, space)
    operator = operator + 0.3j * cal.hypersingular(HELMHOLTZ, space, form="transformed")
    compressed = assembled(operator, 1e-4)
    assert all(part.backend == get("opencl").name for part in compressed.parts)
    assert deviation(compressed, operator.assemble("dense")) < 3e-4


def test_blocks_without_room_get_more(monkeypatch):
    """On the device: the processor has no part in it."""
    operator = cal.single_layer(LAPLACE, SPACE)
    whole = assembled(operator, 1e-5)
    rooms = []
    run = device_skeleton.DeviceCompression._skeletons

    def noted(self, blocks, room, batch):
        rooms.append(room.max())
        return run(self, blocks, room, batch)

    def never(*arguments):
        raise AssertionError("the processor computes a block")

    monkeypatch.setattr(device_skeleton.DeviceCompression, "_skeletons", noted)
    monkeypatch.setattr(compression.Compression, "run", never)
    monkeypatch.setattr(device_skeleton, "CROSSES", 2)
    monkeypatch.setattr(device_skeleton, "CROSSES_PER_DIGIT", 0)
    found = assembled(operator, 1e-5)
    assert min(rooms) == 2 and max(rooms) >= 8
    assert deviation(found, whole) < 1e-10


def test_many_batches_make_one_matrix(monkeypatch):
    """Batches of a few blocks, and small matrices of few of these at a time."""
    operator = cal.single_layer(LAPLACE, SPACE)
    whole = assembled(operator, 1e-4)
    monkeypatch.setattr(device_batches, "BATCH", 200_000)
    monkeypatch.setattr(compression, "MOST_WORK", 2e4)
    monkeypatch.setattr(device_compression, "ROUND", 1e4)
    monkeypatch.setattr(device_compression, "ROUNDS", 12)
    shown, launches = [], []
    execution = Execution.of("opencl", "double")
    launch = execution.device.launch

    def noted(program, kernel, *arguments):
        launches.append(kernel)
        launch(program, kernel, *arguments)

    monkeypatch.setattr(execution.device, "launch", noted)
    choices = Choices(rtol=1e-4, leaf=24)
    composition = _Composition(execution, choices, None, lambda *done: shown.append(done))
    found = composition.compressed(operator)
    assert min(launches.count(kernel) for kernel in ("dense", "approximate", "combine")) > 5
    assert len(found.statistics.levels) == len(whole.statistics.levels)
    assert shown[-1] == (len(shown), len(shown)) and len(shown) > 10
    assert deviation(found, whole) < 1e-12


def test_the_memory_is_known_before_it_is_taken(monkeypatch):
    """The first of several batches says it of the whole matrix, within 10 %."""
    operator, asked = cal.single_layer(LAPLACE, SPACE), []
    monkeypatch.setattr(store, "require_device_memory", lambda device, needed, *text: asked.append(needed))
    monkeypatch.setattr(device_compression, "ROUND", 2e5)
    monkeypatch.setattr(compression, "MOST_WORK", 2e4)
    matrix = assembled(operator, 1e-4)
    numbers = int(stored(matrix.table).sum()) * matrix.dtype.itemsize
    assert asked[0] == pytest.approx(numbers, rel=0.1)
    assert sum(asked) < 1.1 * numbers
    assert np.array_equal(np.sort(matrix.table[:, BLOCK]), np.sort(matrix.tree.leaves))


def test_blocks_are_copied_to_the_host_where_they_are_wanted(tmp_path):
    """For a file, once, and not for products."""
    operator = cal.single_layer(LAPLACE, COARSE)
    matrix, x = assembled(operator, 1e-3), np.ones(COARSE.dimension)
    y = matrix @ x
    assert matrix._slabs is None and matrix.nbytes > 0 and "H-matrix" in str(matrix)
    matrix.save(tmp_path / "matrix.h5")
    assert matrix.slabs is matrix.slabs
    again = type(matrix).load(tmp_path / "matrix.h5")
    assert np.linalg.norm(again @ x - y) < 1e-13 * np.linalg.norm(y)


def test_near_pairs_in_blocks_of_low_rank_are_corrected():
    """Clusters of few functions are admissible where triangles are near for the rules: as on the processor."""
    operator = cal.single_layer(LAPLACE, cal.P0(COARSE.mesh))
    choices = Choices(rtol=1e-6, leaf=4, admissibility=Admissibility(eta=6.0), coarsen=False)
    there, here = (assemble_hmatrix(operator, backend=each, choices=choices) for each in ("opencl", "numba"))
    assert there.correction is not None and here.correction is not None
    assert relative(there.correction.toarray(), here.correction.toarray()) < 1e-10
    assert deviation(there, operator.assemble("dense")) < 1e-6


def test_as_few_crosses_as_on_the_processor():
    """Ranks and memory of both, and the errors of all blocks."""
    operator, choices = cal.single_layer(HELMHOLTZ, COARSE), Choices(leaf=24, coarsen=False)
    there, here, crude = (
        assemble_hmatrix(operator, backend=backend, rtol=rtol, choices=choices)
        for backend, rtol in (("opencl", 1e-4), ("numba", 1e-4), ("opencl", 1e-2))
    )
    few, many = (each.statistics.total.mean_rank for each in (there, here))
    assert few == pytest.approx(many, rel=0.01)
    assert there.nbytes == pytest.approx(here.nbytes, rel=0.01)
    assert crude.statistics.total.mean_rank < 0.7 * few


def test_blocks_that_are_small_beside_the_matrix_have_fewer_crosses():
    """In a hypersingular operator; by the same measure as on the processor."""
    operator = cal.hypersingular(LAPLACE, SPACE)
    usual = assembled(operator, 1e-4)
    each_by_itself = assemble_hmatrix(operator, rtol=1e-4, backend="opencl", choices=Choices(leaf=24, coarsen=False))
    assert usual.statistics.total.mean_rank < 0.8 * each_by_itself.statistics.total.mean_rank
    dense, x = operator.assemble("dense"), smooth_vectors(SPACE, 0.0)
    assert relative(usual @ x, dense @ x) < 1e-4
    single = operator.assemble("hmatrix", rtol=1e-4, backend="opencl", precision="single")
    double = operator.assemble("hmatrix", rtol=1e-4, backend="opencl")
    assert single.statistics.total.mean_rank < 1.1 * double.statistics.total.mean_rank


ACCURATE = {"quadrature": cal.Quadrature(accuracy=1e-4)}
BY_ROWS = {
    "constants": cal.single_layer(LAPLACE, cal.P0(COARSE.mesh), **ACCURATE),
    "linear": cal.single_layer(LAPLACE, SPACE, **ACCURATE),
    "curls of waves": cal.hypersingular(cal.Helmholtz(0.8), COARSE, **ACCURATE),
}


@pytest.mark.parametrize("name", BY_ROWS)
def test_rows_and_columns_have_the_rules_of_the_processor(name):
    """By crosses alone, whose rows and columns are of distant pairs, mostly, and by dense blocks."""
    operator, x = BY_ROWS[name], np.cos(np.arange(BY_ROWS[name].shape[1]))
    there, here = (assemble_hmatrix(operator, rtol=1e-11, backend=each, choices=Choices(leaf=24, coarsen=False))
                   for each in ("opencl", "numba"))  # fmt: skip
    assert relative(there @ x, here @ x) < 1e-10
    assert relative(there.H @ x, here.H @ x) < 1e-10
    without = replace(operator, quadrature=cal.Quadrature(accuracy=0)).assemble()
    assert relative(there @ x, without @ x) > 1e-9


@pytest.mark.parametrize(("name", "precision", "bound"), [("currents", "double", 1e-12), ("constants", "single", 1e-5)])
def test_sums_of_rows_are_those_of_the_processor(monkeypatch, name, precision, bound):
    """In one batch and in many, which cut the rows."""
    operator = BY_ROWS.get(name) or cal.electric_field(3.0, EDGES)
    matrix = assembled(operator, 1e-3)
    execution, rng = Execution.of("opencl", precision), np.random.default_rng(2)
    sides = matrix.tree.rows.clusters, matrix.tree.columns.clusters
    rows = compiled_rows(operator, *sides, execution)
    clusters, vectors = np.flatnonzero(matrix.tree.rows.is_leaf)[::7], rng.standard_normal((operator.shape[1], 3))
    here = sums_of(rows, matrix.tree)(clusters, vectors)
    on_device = device_rows(operator, *sides, execution, execution.device)
    for batch in (device_batches.BATCH, 40_000):
        monkeypatch.setattr(device_batches, "BATCH", batch)
        there = DeviceDenseBlocks(on_device, rows.dtype, matrix.tree).row_sums(clusters, vectors)
        assert relative(there.squares, here.squares) < bound
        assert relative(there.products, here.products) < bound


def test_dense_blocks_are_those_of_the_dense_matrix():
    """Special pairs in their places, for unknowns of constant, linear, and edge functions. Both have one rule of
    distant pairs, which compressed methods choose by their tolerance unless another accuracy than the usual one is
    given."""
    for operator, precision in (
        (cal.single_layer(LAPLACE, cal.P0(COARSE.mesh), quadrature=cal.Quadrature(accuracy=2e-5)), "double"),
        (cal.hypersingular(HELMHOLTZ, COARSE), "single"),
        (cal.magnetic_field(3.0, cal.RWG(cal.mesh.sphere(1.0, 0.3))), "double"),
    ):
        matrix = assemble_hmatrix(operator, backend="opencl", precision=precision, choices=Choices(leaf=24))
        dense = operator.assemble().to_array()[np.ix_(matrix.tree.rows.order, matrix.tree.columns.order)]
        bound, seen = (1e-12 if precision == "double" else 2e-5) * np.abs(dense).max(), 0
        for numbers, table in matrix.slabs:
            for r, m, c, n, _rank, offset, _ in table[table[:, RANK] < 0]:
                block = numbers[offset : offset + m * n].reshape(m, n)
                assert np.abs(block - dense[r : r + m, c : c + n]).max() < bound
                seen += 1
        assert seen > 20


def test_errors_of_a_device_are_raised(monkeypatch):
    """An error of the device is raised with its text, and so is an interrupt."""
    operator = cal.single_layer(LAPLACE, SPACE)
    for error in (KeyboardInterrupt("stop"), OSError("gone")):

        def fail(*arguments, error=error):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(DeviceDenseBlocks, "fill", fail)
            with pytest.raises(type(error), match=str(error)):
                operator.assemble("hmatrix", backend="opencl")


def test_a_block_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(device_batches, "BATCH", 100)
    with pytest.raises(MemoryError, match=r"a dense block needs .* on opencl:0 .* try precision"):
        cal.single_layer(LAPLACE, SPACE).assemble("hmatrix", backend="opencl")
