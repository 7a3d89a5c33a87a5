"""Fourier transforms of edge functions, and lattices."""

import numpy as np
import pytest

import calderon as cal
from calderon.floquet import BlochFunctions, Lattice, transforms
from calderon.quadrature import gauss


def by_quadrature(space, waves, points=40):
    """(2, n, dimension) x and y components by a product rule on triangles whose sides at a vertex are its axes."""
    rule = gauss(points)
    a, b = (each.ravel() for each in np.meshgrid(rule.points, rule.points, indexing="ij"))
    weights = np.outer(rule.weights, rule.weights).ravel() * a
    corners = space.mesh.vertices[space.mesh.triangles]
    sides = corners[:, 1:] - corners[:, :1]
    x = corners[:, :1] + np.einsum("sq,tsc->tqc", np.stack([a * (1 - b), a * b]), sides)
    phase = np.exp(-1j * np.einsum("wc,tqc->wtq", waves, x[:, :, :2])) * weights * (2 * space.mesh.areas)[:, None]
    parts = space.expansion(np.stack([a * (1 - b), a * b], axis=1))
    return np.stack([phase.reshape(len(waves), -1) @ parts[c] for c in (0, 1)])


@pytest.mark.parametrize("size", [0.0, 1.0, 20.0, 120.0])
def test_transforms_are_those_of_quadrature_at_short_and_long_wavelengths(size):
    space = BlochFunctions.of(cal.mesh.plate([1.0, 0.6], 0.3), Lattice.of(2.0)).halves
    angle = np.linspace(0.1, 6.1, 7)  # one of them along a side, where a pair of phases is equal
    waves = size * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    waves[0] = [size, 0.0]
    along = np.tile([0.6, 0.8], (len(waves), 1))
    x, y = by_quadrature(space, waves)
    found = transforms(space, waves, along)
    scale = np.abs(x).max()
    assert np.abs(found[0] - (0.6 * x + 0.8 * y)).max() < 1e-13 * scale
    assert np.abs(found[1] - (0.6 * y - 0.8 * x)).max() < 1e-13 * scale


def test_spectra_obey_the_divergence_theorem():
    """i K . F is the transform of the divergence, across the border of the cell, too."""
    mesh = cal.mesh.plate([1.0, 1.0], 0.5)
    lattice = Lattice.of([[1.0, 0.0], [0.0, 1.0]])
    functions = BlochFunctions.of(mesh, lattice)
    transverse = np.array([0.7, -0.4])
    waves = transverse + np.array([[0, 0], [1, 2], [-3, 1]]) @ lattice.reciprocal
    size = np.linalg.norm(waves, axis=1)
    flow = 1j * size[:, None] * functions.spectra(waves, waves / size[:, None], transverse)[0]
    rule = cal.quadrature.triangle_rule(20)
    corners = mesh.vertices[mesh.triangles]
    x = corners[:, :1] + np.einsum("qs,tsc->tqc", rule.points, corners[:, 1:] - corners[:, :1])
    integral = np.einsum(
        "wtq,q,t->wt", np.exp(-1j * x[:, :, :2] @ waves.T).transpose(2, 0, 1), rule.weights, 2 * mesh.areas
    )
    charge = functions.halves.divergence_matrix() @ functions.combination(transverse)
    assert len(functions.pairs) == 4
    assert np.abs(flow - integral @ charge.toarray()).max() < 1e-8 * np.abs(flow).max()


def test_orders_are_all_waves_within_the_limit():
    lattice = Lattice.of([[1.0, 0.2], [0.3, 1.5]])
    assert np.allclose(lattice.periods @ lattice.reciprocal.T, 2 * np.pi * np.eye(2))
    transverse, limit = np.array([1.0, -2.0]), 30.0
    orders = lattice.orders(transverse, limit)
    size = np.linalg.norm(transverse + orders @ lattice.reciprocal, axis=1)
    grid = np.stack(np.meshgrid(np.arange(-20, 21), np.arange(-20, 21)), axis=2).reshape(-1, 2)
    inside = np.linalg.norm(transverse + grid @ lattice.reciprocal, axis=1) <= limit
    assert len(orders) == np.count_nonzero(inside) and (size <= limit).all() and (np.diff(size) > -1e-6).all()
    assert len(lattice.orders(np.array([3.0, 0.0]), 0.0)) == 1  # (0, 0) always


@pytest.mark.parametrize(
    "period, text",
    [("a", "length in m"), ([1.0, 2.0, 3.0], "length in m"), (-1.0, "positive"), (np.nan, "positive"),
     ([[1, 0], [2, 0]], "different directions")],
)  # fmt: skip
def test_periods_that_make_no_cell_are_refused(period, text):
    with pytest.raises(ValueError, match=text):
        Lattice.of(period)
