"""Galerkin integrals for fast methods: blocks between boxes."""

import numpy as np
import pytest
import scipy.sparse as sp

import calderon as cal
from calderon.backends import Execution
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.galerkin.rows.galerkin_entries import go_together
from calderon.mesh.locality import locality_order
from calderon.products.near_entries import empty_blocks, fill_blocks
from calderon.quadrature import Quadrature
from calderon.spaces.supports import supports_of

EXECUTION = Execution.of("numba", "double")


def boxes(space, size):
    """Runs of neighbouring unknowns."""
    order = locality_order(supports_of(space).boxes.mean(axis=1))
    starts = np.arange(0, len(order), size)
    return Clusters(order, starts, np.append(starts[1:], len(order)))


def near_blocks(terms, clusters, pairs):
    """The entries of a sum between the boxes of each of the pairs."""
    blocks = empty_blocks(terms, clusters, clusters, pairs, EXECUTION)
    fill_blocks(blocks, np.arange(len(pairs)), terms, EXECUTION)
    return blocks


def matrix_of(blocks):
    """The sparse matrix of all blocks, in the order of the unknowns."""
    order, starts, stops = blocks.rows.order, blocks.rows.start, blocks.rows.stop
    own = [np.meshgrid(*(order[starts[n] : stops[n]] for n in pair), indexing="ij") for pair in blocks.pairs]
    where = np.concatenate([np.reshape(each, (2, -1)) for each in own], axis=1)
    return sp.coo_array((blocks.numbers, tuple(where)), shape=(len(order), len(order))).tocsr()


@pytest.fixture(scope="module")
def mesh():
    return cal.mesh.sphere(1.0, h=0.35)


def test_blocks_of_a_sum_are_parts_of_its_dense_matrix(mesh):
    space = cal.P1(mesh)
    green = cal.Helmholtz(3.0)
    terms = [(0.5j, cal.hypersingular(green, space)), (2.0, cal.double_layer(green, space))]
    clusters = boxes(space, 20)
    number = len(clusters.start)
    pairs = np.array([(i, j) for i in range(number) for j in range(number) if (i + j) % 3 < 2])
    found = matrix_of(near_blocks(terms, clusters, pairs)).toarray()
    dense = sum(factor * operator.assemble().to_array() for factor, operator in terms)
    kept = np.zeros(dense.shape, bool)
    for i, j in pairs:
        rows, columns = (clusters.order[clusters.start[n] : clusters.stop[n]] for n in (i, j))
        kept[np.ix_(rows, columns)] = True
    assert np.abs(found[kept] - dense[kept]).max() < 1e-13 * np.abs(dense).max()
    assert not found[~kept].any()


def test_two_integrands_in_one_pass_are_the_sum_of_both_alone(mesh, monkeypatch):
    """Normals on one side, curls on both; the search is by half for one of them. No other terms are taken together."""
    from calderon.galerkin import special_part

    mesh = cal.TriangleMesh(mesh.vertices, mesh.triangles)  # with which no pairs are kept
    calls, search = [], special_part.near_pairs
    monkeypatch.setattr(special_part, "near_pairs", lambda *given: calls.append(1) or search(*given))
    space, green = cal.P1(mesh), cal.Helmholtz(3.0)
    terms = [(0.5j, cal.hypersingular(green, space)), (-2.0, cal.double_layer(green, space))]
    clusters = boxes(space, 20)
    pairs = np.array([(i, j) for i in range(len(clusters.start)) for j in range(i + 1)])
    together = near_blocks(terms, clusters, pairs).numbers
    assert len(calls) == 1
    alone = [near_blocks([term], clusters, pairs).numbers for term in terms]
    assert all(np.abs(each).max() > 0.01 * np.abs(together).max() for each in alone)
    assert np.abs(together - sum(alone)).max() < 1e-14 * np.abs(together).max()
    others = [
        cal.single_layer(cal.Helmholtz(2.0), space),
        cal.single_layer(green, cal.P2(mesh)),
        cal.single_layer(green, space, quadrature=Quadrature(regular=5)),
    ]
    assert not any(go_together(terms[1][1], each) for each in others)
    assert not go_together(cal.hypersingular(cal.Laplace(), space), cal.double_layer(cal.Laplace(), space))


def test_distant_pairs_have_fewer_points(mesh):
    """Triangles more than some edges apart have; pairs of functions that are close have all their digits."""
    space, green = cal.P1(mesh), cal.Helmholtz(1.5)
    clusters = boxes(space, 20)
    pairs = np.array([(i, j) for i in range(len(clusters.start)) for j in range(i + 1)])

    def matrix(rules):
        terms = [(-1.0, cal.double_layer(green, space, quadrature=rules)),
                 (0.5j, cal.hypersingular(green, space, quadrature=rules))]  # fmt: skip
        return matrix_of(near_blocks(terms, clusters, pairs)).tocoo()

    exact, loose = matrix(Quadrature(accuracy=0)), matrix(Quadrature(accuracy=1e-3))
    error, (rows, columns) = np.abs(loose.data - exact.data), exact.coords
    edges = np.linalg.norm(mesh.vertices[rows] - mesh.vertices[columns], axis=1) / mesh.diameters.max()
    assert error[edges < 1].max() < 1e-7 * np.abs(exact.data).max()
    relative = (error / np.abs(exact.data))[edges > 4]
    assert 1e-5 < np.median(relative) < relative.max() < 2e-3


def test_special_pairs_are_searched_once(mesh, monkeypatch):
    from calderon.galerkin import special_part

    mesh = cal.TriangleMesh(mesh.vertices, mesh.triangles)  # with which no pairs are kept
    calls = []
    search = special_part.near_pairs
    monkeypatch.setattr(special_part, "near_pairs", lambda *given: calls.append(1) or search(*given))
    space, green = cal.RWG(mesh), cal.Helmholtz(2.0)
    clusters = boxes(space, 60)
    other = cal.magnetic_field(green, space)
    near_blocks([(1.0, other), (2.0, other)], clusters, np.array([[0, 0], [0, 1]]))
    assert len(calls) == 1


def test_terms_on_other_spaces_are_refused(mesh):
    operators = [cal.single_layer(cal.Laplace(), space(mesh)) for space in (cal.P0, cal.P1)]
    clusters = boxes(cal.P1(mesh), 20)
    with pytest.raises(ValueError, match="one test and one trial space, got 2"):
        near_blocks([(1.0, each) for each in operators], clusters, np.zeros((1, 2), np.int64))


@pytest.mark.variant
def test_functions_of_degree_two_with_normals_on_the_test_side(mesh):
    """The factors of normals reach the sums with all six functions of a triangle."""
    space = cal.P2(mesh)
    operator, all_of_them = cal.adjoint_double_layer(cal.Laplace(), space), boxes(space, space.dimension)
    found = matrix_of(near_blocks([(1.0, operator)], all_of_them, np.zeros((1, 2), np.int64)))
    dense = operator.assemble().to_array()
    assert np.abs(found.toarray() - dense).max() < 1e-13 * np.abs(dense).max()
