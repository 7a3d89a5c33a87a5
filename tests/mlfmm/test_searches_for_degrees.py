"""Degrees of plane waves, and points of cubes, are the least ones that hold a tolerance."""

import numpy as np

from calderon.mlfmm.degrees import SampledLevels, Search, least
from calderon.mlfmm.equivalent.cubes import Cubes
from calderon.mlfmm.far import find_degrees
from calderon.mlfmm.points import Points, centres_of
from calderon.products.lists import lists_of
from calderon.products.octree import octree

FALLS = 2.0, 4.0


def levels():
    """The levels of a tree of points on a sphere, half of them close to one of its poles."""
    random = np.random.default_rng(5)
    places = random.standard_normal((4000, 3))
    places /= np.linalg.norm(places, axis=1, keepdims=True)
    places[2000:] = [0, 0, 1] + 1e-3 * places[2000:]
    tree = octree(places, None, 40)
    lists = lists_of(tree)
    starts = np.append(tree.sources[lists.leaves, 0], len(places))
    points = Points.of(places[tree.source_order], starts, centres_of(tree)[lists.leaves], np.float64)
    return SampledLevels(tree, lists, points, points)


def found(sampled, rtol, k=20.0 + 0j):
    """Degrees of the levels of waves, and the cubes of those below."""
    waves = find_degrees(sampled, k, rtol, np.dtype(np.float64), (False, False), np.pi / abs(k))
    assert waves.degrees and waves.cubes is not None
    return waves.degrees, waves.cubes


def test_searches_in_turn_measure_each_error_once(monkeypatch):
    measured = []
    for kind in (Search, Cubes):

        def error(*given, measure=kind.error):
            measured.append(type(given[0]))
            return measure(*given)

        monkeypatch.setattr(kind, "error", error)
    kept = levels()
    first, count = found(kept, 1e-3), len(measured)
    assert set(measured) == {Search, Cubes}
    assert found(kept, 1e-3) == first and len(measured) == count
    finer, others = found(kept, 5e-4), len(measured) - count
    alone = found(levels(), 5e-4)
    assert finer == alone != first
    assert others < len(measured) - count - others


def test_the_least_number_is_found_from_either_side():
    for first in range(2, 12):
        assert least(first, (2, 12), 3.0**-7, FALLS, lambda n: 3.0**-n) == 7
    assert least(5, (2, 7), 3.0**-7, FALLS, lambda n: 3.0**-n) is None


def test_a_search_ends_where_rounding_grows():
    """Errors that have risen by rounding fall no more: higher degrees, which take the longest, are not tried."""
    asked = []

    def error(n):
        asked.append(n)
        return 3.0**-n + 1e-6 * 10.0**n

    assert least(2, (2, 40), 1e-4, FALLS, error) is None
    assert max(asked) < 20
