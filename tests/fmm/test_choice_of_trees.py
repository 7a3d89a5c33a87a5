"""The tree of a fast multipole operator is chosen by a sample of the triangles as well as by all of them."""

import pytest

import calderon as cal
from calderon.fmm import layout
from calderon.fmm.orders import FUNCTIONS, first_order

WORTH = 8.0


@pytest.mark.parametrize("shape", [cal.mesh.sphere(1.0, 0.05), cal.mesh.ellipsoid((1.0, 0.3, 0.2), 0.03)])
def test_costs_of_a_choice_by_a_sample(monkeypatch, shape):
    """Costs of products are at most a tenth above those of the tree that all triangles choose, and the tree holds all
    triangles."""
    space, promise, costs = cal.P1(shape), first_order(FUNCTIONS, 1e-4, False)[0], []
    for least in (shape.number_of_triangles, shape.number_of_triangles // layout.SHARE):
        monkeypatch.setattr(layout, "SAMPLE", least)
        found = layout.Layout.of([space], [space], promise, 0.5, WORTH)
        assert found.rows.counts.sum() == shape.number_of_triangles
        costs.append(found.near_triangles + WORTH * promise.order.r * len(found.lists.far.source))
    assert costs[1] < 1.1 * costs[0]
