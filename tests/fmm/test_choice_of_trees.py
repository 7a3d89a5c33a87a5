"""The tree of a fast multipole operator is chosen by a sample of the triangles as well as by all of them."""

import numpy as np
import pytest

import calderon as cal
from calderon.fmm import layout
from calderon.fmm.orders import FUNCTIONS, first_order

WORTH = 8.0


def one_half(mesh):
    """Functions of the vertices with x > 0."""
    return cal.P1(mesh).selected(mesh.vertices[:, 0] > 0)


BALL, SLENDER = cal.mesh.sphere(1.0, 0.05), cal.mesh.ellipsoid((1.0, 0.3, 0.2), 0.03)
SPACES = {
    "ball": [cal.P1(BALL)],
    "slender": [cal.P1(SLENDER)],
    "half of one and another": [one_half(BALL), cal.P1(SLENDER.translated([1.5, 0.2, 0.0]))],
}


@pytest.mark.parametrize("name", SPACES)
def test_costs_of_a_choice_by_a_sample(monkeypatch, name):
    """Costs of products are at most a tenth above those of the tree that all triangles choose, and the tree holds all
    triangles."""
    spaces, promise, costs = SPACES[name], first_order(FUNCTIONS, 1e-4, False)[0], []
    triangles = sum(len(each.triangles) for each in spaces)
    for least in (triangles, triangles // layout.SHARE):
        monkeypatch.setattr(layout, "SAMPLE", least)
        found = layout.Layout.of(spaces, spaces, promise, 0.5, WORTH)
        assert found.rows.counts.sum() == triangles
        costs.append(found.near_triangles + WORTH * promise.order.r * len(found.lists.far.source))
    assert costs[1] < 1.1 * costs[0]


def test_samples_are_of_the_triangles_where_functions_are():
    elements = layout.Elements.of(SPACES["half of one and another"], first_order(FUNCTIONS, 1e-4, False)[0].order, 0.5)
    half, whole = (len(each) for each in elements.triangles)
    assert half < 0.6 * BALL.number_of_triangles
    sample = elements.sample(8).centres
    assert len(sample) == len(np.unique(sample, axis=0)) == len(range(4, half, 8)) + len(range(4, whole, 8))
