"""Compiled rows, columns and blocks are parts of the dense matrix."""

import functools
import subprocess
import sys

import numpy as np
import pytest

import calderon as cal
from calderon.backends import Execution
from calderon.backends.kernel_cache import capture_of
from calderon.backends.numba import kernel
from calderon.galerkin.forms.scalar import scalar_form
from calderon.galerkin.rows.entries import entry_loops
from calderon.galerkin.rows.entry_kernels import BLOCK, COLUMN, ROW, Clusters, block, column, row
from calderon.galerkin.rows.entry_tables import side_table
from calderon.galerkin.rows.galerkin_entries import compiled_rows, functions_of
from calderon.integrands.component import Component
from calderon.mesh.locality import locality_order
from calderon.quadrature import triangle_rule
from calderon.spaces.supports import supports_of


def clusters_of(points, leaf):
    """Nested halves of an order of neighbours, all of them: overlapping runs of positions."""
    order = locality_order(points)
    runs = [(0, len(order))]
    for low, high in runs:
        if high - low > leaf:
            runs += [(low, (low + high) // 2), ((low + high) // 2, high)]
    return Clusters(order, *np.array(runs).T.copy())


@kernel
def probe(board, what, a, b, scratch, out):
    if what == ROW:
        row(board, a, b, scratch, out[0])
    elif what == COLUMN:
        column(board, a, b, scratch, out[0])
    else:
        block(board, a, b, scratch, out)


class Compared:
    """An operator by compiled rows compared with its dense matrix in cluster order."""

    def __init__(self, operator, precision="double", leaf=24):
        test, trial = operator.test, operator.trial
        self.rows, self.columns = (clusters_of(supports_of(each).boxes.mean(axis=1), leaf) for each in (test, trial))
        if test is trial:
            self.columns = self.rows
        self.matrix = compiled_rows(operator, self.rows, self.columns, Execution.of("numba", precision))
        dense = operator.assemble(precision=precision).to_array()
        self.dense = dense[self.rows.order][:, self.columns.order]
        self.special, self.overlap = self.matrix.special.toarray(), self.matrix.overlap().toarray()
        self.functions = self.matrix.functions()
        self.scratch = np.full(self.matrix.scratch, np.nan, self.matrix.real)

    def call(self, what, a, b, shape):
        out = np.full(shape, np.nan, self.matrix.dtype)
        probe(self.functions.board, what, a, b, self.scratch, out)
        return out

    def error_of_rows(self, apart):
        """Error of rows and columns without the entries that are not `apart` (test, trial)."""
        expected, worst = self.dense - self.special + self.overlap, 0.0
        random = np.random.default_rng(2)
        for c, run in enumerate(zip(self.columns.start, self.columns.stop, strict=True)):
            for i in random.integers(0, len(self.rows.order), 3):
                part = slice(*run)
                found = self.call(ROW, i, c, (1, run[1] - run[0]))[0]
                worst = max(worst, np.abs(found - expected[i, part])[apart[i, part]].max(initial=0))
        for c, run in enumerate(zip(self.rows.start, self.rows.stop, strict=True)):
            for j in random.integers(0, len(self.columns.order), 3):
                part = slice(*run)
                found = self.call(COLUMN, c, j, (1, run[1] - run[0]))[0]
                worst = max(worst, np.abs(found - expected[part, j])[apart[part, j]].max(initial=0))
        return worst / np.abs(self.dense).max()

    def error_of_blocks(self):
        expected, worst = self.dense - self.special, 0.0
        random = np.random.default_rng(3)
        for r, (top, bottom) in enumerate(zip(self.rows.start, self.rows.stop, strict=True)):
            for c in random.integers(0, len(self.columns.start), 4):
                left, right = self.columns.start[c], self.columns.stop[c]
                found = self.call(BLOCK, r, c, (bottom - top, right - left))
                worst = max(worst, np.abs(found - expected[top:bottom, left:right]).max())
        return worst / np.abs(self.dense).max()


def supports_apart(operator, rows, columns):
    """(test, trial) in cluster order: whether no triangle of one function touches one of the other."""

    def incidence(space):
        table = np.zeros((space.dimension + 1, space.mesh.number_of_vertices), bool)
        for local in space.dofs.T:
            for vertex in space.mesh.triangles[space.triangles].T:
                table[local, vertex] = True
        return table[:-1].astype(float)

    if operator.test.mesh is not operator.trial.mesh:
        return np.ones(operator.shape, bool)
    apart = incidence(operator.test) @ incidence(operator.trial).T == 0
    return apart[rows.order][:, columns.order]


@functools.cache
def spaces():
    sphere = cal.mesh.sphere(1.0, 0.35)
    cube = cal.mesh.cube(0.7, 0.3)
    cube = cal.TriangleMesh(cube.vertices + [1.7, 0, 0], cube.triangles)
    part = sphere.centroids[:, 2] > 0.2
    cap = cal.TriangleMesh(sphere.vertices, sphere.triangles, tags=part.astype(int))
    return {
        "P0": cal.P0(sphere), "P1": cal.P1(sphere), "P2": cal.P2(sphere),
        "RWG": cal.RWG(sphere), "cube RWG": cal.RWG(cube),
        "cube P1": cal.P1(cube), "cap": cal.P1(cap, tags=1, boundary=False),
    }  # fmt: skip


LAPLACE, WAVE, FAST = cal.Laplace(), cal.Helmholtz(3.0), cal.Helmholtz(25.0)
CASES = [
    ("single_layer", LAPLACE, "P0", "P0"),
    pytest.param("adjoint_double_layer", LAPLACE, "P2", "P0", marks=pytest.mark.variant),
    ("hypersingular", LAPLACE, "cap", "cap"),
    pytest.param("double_layer", FAST, "cube P1", "P1", marks=pytest.mark.variant),
    pytest.param("electric_field", WAVE, "RWG", "cube RWG", marks=pytest.mark.variant),
    ("magnetic_field", WAVE, "cube RWG", "RWG"),
]


@pytest.mark.parametrize("name,green,trial,test", CASES, ids=lambda each: str(each))
def test_parts_of_the_dense_matrix(name, green, trial, test):
    operator = getattr(cal, name)(green, spaces()[trial], spaces()[test])
    compared = Compared(operator)
    apart = supports_apart(operator, compared.rows, compared.columns)
    assert apart.sum() > 0.2 * apart.size
    assert compared.error_of_rows(apart) < 1e-13
    assert compared.error_of_blocks() < 1e-13


@pytest.mark.parametrize(
    "name,space",
    [("single_layer", "P1"), ("double_layer", "P1"), pytest.param("electric_field", "RWG", marks=pytest.mark.variant)],
)
def test_distant_pairs_of_waves(name, space):
    """Rows, columns and blocks have the three points of distant pairs, with weights of waves."""
    accurate, one_rule = (
        getattr(cal, name)(WAVE, spaces()[space], quadrature=cal.Quadrature(accuracy=each)) for each in (1e-3, 0)
    )
    compared = Compared(accurate)
    assert compared.error_of_rows(supports_apart(accurate, compared.rows, compared.columns)) < 1e-13
    assert compared.error_of_blocks() < 1e-13
    exact = one_rule.assemble().to_array()
    assert 1e-8 < np.abs(accurate.assemble().to_array() - exact).max() / np.abs(exact).max() < 1e-3


@pytest.mark.variant
def test_single_precision():
    operator = cal.electric_field(WAVE, spaces()["RWG"])
    compared = Compared(operator, "single")
    apart = supports_apart(operator, compared.rows, compared.columns)
    assert compared.error_of_rows(apart) < 1e-5
    assert compared.error_of_blocks() < 1e-5
    assert compared.matrix.special.dtype == compared.matrix.dtype


@pytest.mark.variant
def test_blocks_of_more_rows_than_are_computed_at_a_time():
    operator = cal.double_layer(FAST, spaces()["cube P1"], spaces()["P1"])
    compared = Compared(operator, leaf=10_000)
    assert len(compared.rows.order) > 64
    assert compared.error_of_blocks() < 1e-13


def test_what_has_no_rows_is_refused():
    clusters = Clusters(np.arange(3), np.array([0]), np.array([3]))
    with pytest.raises(TypeError, match="assemble its parts"):
        compiled_rows(
            2.0 * cal.single_layer(LAPLACE, spaces()["P0"]), clusters, clusters, Execution.of("numba", "double")
        )


def test_boxes_of_supports():
    """A function is zero at all points outside of its box, and the box touches its support on all sides."""
    for space in (spaces()["P1"], spaces()["P0"], spaces()["cap"], cal.RWG(spaces()["P0"].mesh)):
        boxes, mesh = supports_of(space).boxes, space.mesh
        corners = mesh.vertices[mesh.triangles]
        for function, (low, high) in enumerate(boxes):
            support = space.triangles[(space.dofs == function).any(axis=1)]
            assert np.array_equal(low, corners[support].min(axis=(0, 1)))
            assert np.array_equal(high, corners[support].max(axis=(0, 1)))


def fingerprint():
    """Key in Numba's cache on disk of a kernel that captures rows, columns and blocks."""
    rule = triangle_rule(4)
    layout = side_table(rule, rule.barycentric.T, True)[0]
    sums = entry_loops(LAPLACE.radial(0.0), scalar_form(Component(0), 3, 3), False, False, False, layout, layout, True)
    return [capture_of(each) for each in functions_of(sums, sums).values()]


def test_another_process_finds_the_same_functions_in_the_cache():
    command = "import test_compiled_rows; print(test_compiled_rows.fingerprint())"
    folder = __file__.rsplit("test_compiled_rows", 1)[0] or "."
    printed = subprocess.run([sys.executable, "-c", command], cwd=folder, capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == str(fingerprint())
