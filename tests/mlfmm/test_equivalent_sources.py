"""Equivalent sources on cubes, for boxes that are small against the wavelength."""

import numpy as np
import pytest

import calderon as cal
from calderon.mlfmm import sums
from calderon.mlfmm.degrees import SampledLevels, Samples, Search
from calderon.mlfmm.equivalent.cubes import TURNS, Cubes, potentials, standing
from calderon.mlfmm.far import Far, find_degrees
from calderon.mlfmm.points import Points, centres_of
from calderon.products.direct_sums import Kinds
from calderon.products.far_field import far_product
from calderon.products.lists import OFFSETS, lists_of
from calderon.products.octree import octree
from catalogue import cases

RANDOM = np.random.default_rng(5)
POINTS = RANDOM.standard_normal((6000, 3))
POINTS /= np.linalg.norm(POINTS, axis=1, keepdims=True)
CHARGES = RANDOM.standard_normal(6000) + 1j * RANDOM.standard_normal(6000)
CROWD = np.concatenate([POINTS[:3000], [0, 0, 1] + 1e-3 * POINTS[3000:]])


@pytest.fixture
def cubes_of_few_points(monkeypatch):
    """Equivalent sources also where neighbours are few, and direct sums take less time."""
    monkeypatch.setattr(sums, "RULES", sums.RULES._replace(little=(0, 0), direct=0.0))


def direct_sums(sources, targets, charges, k, gradient):
    return sums.direct_sums(sources, targets, charges[:, None, None], k, Kinds(True, False, gradient))[:, 0]


def distance(one, other):
    return np.linalg.norm(one - other) / np.linalg.norm(other)


@pytest.mark.parametrize(
    ("rtol", "k"), cases([(1e-3, 0.5 + 0.4j), (1e-5, 0.5), (1e-8, 0.005)], [(1e-3, 0.5 + 0.4j), (1e-8, 0.005)])
)
def test_bodies_that_are_small_against_the_wavelength(cubes_of_few_points, rtol, k):
    gradient = rtol == 1e-3
    found = cal.helmholtz_sums(POINTS, CHARGES, k, gradient=gradient, rtol=rtol)
    assert found.info.low_levels
    exact = direct_sums(POINTS, POINTS[::9], CHARGES, complex(k), gradient)
    assert distance(found.potential[::9], exact[:, 0]) <= rtol
    if gradient:
        assert distance(found.gradient[::9], exact[:, 1:]) <= rtol
    again = cal.helmholtz_sums(POINTS, CHARGES, k, gradient=gradient, rtol=rtol)
    assert np.array_equal(again.potential, found.potential)


def test_crowded_points_below_plane_waves(cubes_of_few_points, k=20.0):
    found = cal.helmholtz_sums(CROWD, CHARGES, k, rtol=1e-3)
    assert found.info.levels
    assert found.info.low_levels
    exact = direct_sums(CROWD, CROWD[::9], CHARGES, complex(k), False)[:, 0]
    assert distance(found.potential[::9], exact) <= 1e-3


def far_of(k, rtol, real, kinds):
    """Products with all kinds, and the transposed ones, in a tree with both sorts of levels."""
    tree = octree(CROWD, None, 40)
    lists = lists_of(tree)
    starts = np.append(tree.sources[lists.leaves, 0], len(CROWD))
    points = Points.of(CROWD[tree.source_order], starts, centres_of(tree)[lists.leaves], real)
    sampled = SampledLevels(tree, lists, points, points)
    waves = find_degrees(sampled, k, rtol, real, (True, False), 0.5 * 2 * np.pi / abs(k))
    traversal, low = waves.levels(tree, lists, k, real)
    assert traversal.levels
    assert low.levels
    shared = k, tree, lists, traversal, points, points
    return Far(*shared, *kinds, low), Far(*shared, *kinds[::-1], low)


def test_dipoles_columns_and_transposed_products():
    far, back = far_of(20.0 + 0j, 1e-4, np.dtype(np.float64), (("value", "gradient"), ("value",)))
    x = RANDOM.standard_normal((6000, 3, 4)) + 1j * RANDOM.standard_normal((6000, 3, 4))
    y = RANDOM.standard_normal((6000, 3, 1)) + 1j * RANDOM.standard_normal((6000, 3, 1))
    found, other = far_product(far, x), far_product(back, y)
    one = far_product(far, x[:, 1:2])
    assert distance(found[:, 1:2], one) < 1e-12
    sides = (y * found).sum(axis=(0, 2)), (x * other).sum(axis=(0, 2))
    assert np.allclose(*sides, rtol=1e-9, atol=1e-9 * np.linalg.norm(y) * np.linalg.norm(found))
    assert np.abs(sides[0]).min() > 0


def test_turned_offsets_have_turned_matrices():
    cubes = Cubes(4)
    few, which, turn = standing(OFFSETS)
    assert len(few) == 16
    for n in range(0, len(OFFSETS), 11):
        turned = cubes.turned[turn[n]]
        assert np.allclose(cubes.places[turned], cubes.places @ TURNS[turn[n]].T)
        matrix, own = (
            potentials(cubes.small(1.0) + each, cubes.small(1.0), 2.0) for each in (OFFSETS[n], few[which[n]])
        )
        assert np.allclose(matrix[np.ix_(turned, turned)], own)


@pytest.mark.parametrize(("p", "bound"), [(4, 8e-4), (5, 8e-5), (6, 8e-6), (8, 2e-7)])
def test_error_of_translations_falls_with_points(p, bound):
    random = np.random.default_rng(1)
    places, vectors = random.random((2, 32, 16, 3)) - 0.5, np.zeros((2, 32, 16, 3))
    samples = Samples(OFFSETS[random.integers(len(OFFSETS), size=32)].astype(float), *places, *vectors)
    search = Search(np.pi / 2, np.dtype(np.float64), False, False)
    error = Cubes(p).error(search, samples, 1.0)
    assert bound / 30 < error < bound
