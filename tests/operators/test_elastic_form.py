"""New physics as a form: the weakly singular operator of elastostatics (Kelvin), three components on each triangle.

    U = c ((3 - 4 nu) G I - (G'/r) d d^T),   c = 1 / (4 mu (1 - nu)),   d = x - y,   G = 1 / (4 pi r),

where G = -r^2 G'/r follows from the six components of (G'/r) d d^T alone. A form, its block and its operator are all
that is written here: tiles, rows, touching and near pairs are the project's own.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import calderon as cal
from calderon.backends.vectors import add, jitable, lanes, load, store, zero
from calderon.galerkin.block import Block
from calderon.galerkin.forms.form import Form
from calderon.galerkin.regular.element_tables import barycentric_functions
from calderon.integrands import Integrand
from calderon.operators.boundary import IntegralOperator

POISSON = 0.3


@jitable
def component(c):
    """Row and column of a component."""
    return (c, c) if c < 3 else ((c - 2) % 3, (c - 1) % 3)


@jitable
def corner(x, i, x_step, m, c):
    return load(x, i + (3 * m + c) * x_step)


@jitable
def fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
    """The integrals of (G'/r) d d^T from moments with products of barycentric coordinates l_m l_k and l_n l_o: there
    d = D + a_m - b_n = D + a_k - b_o, weighted by all four."""
    step = lanes(s)
    store(s, w + 6 * step, d0)
    store(s, w + 7 * step, d1)
    store(s, w + 8 * step, d2)
    for c in range(6):
        store(s, w + c * step, zero(s))
    for p in range(3):
        for q in range(3):
            first = p if p == q else 6 - p - q
            for n in range(3):
                for o in range(3):
                    second = n if n == o else 6 - n - o
                    h = load(s, m + first * a + second * b)
                    for c in range(6):
                        row, column = component(c)
                        one = load(s, w + (6 + row) * step)
                        one = one + corner(x, i, x_step, p, row) - corner(y, j, y_step, n, row)
                        two = load(s, w + (6 + column) * step)
                        two = two + corner(x, i, x_step, q, column) - corner(y, j, y_step, o, column)
                        add(s, w + c * step, h * one * two)
    trace(s, w, c2)


@jitable
def special_fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
    step = lanes(s)
    for c in range(6):
        store(s, w + c * step, load(s, m + 2 * c * imaginary))
    trace(s, w, c2)


@jitable
def trace(s, w, factor):
    """Add what stands on the diagonal: (3 - 4 nu) times the trace."""
    step = lanes(s)
    total = factor * (load(s, w) + load(s, w + step) + load(s, w + 2 * step))
    for c in range(3):
        add(s, w + c * step, total)


@jitable
def entries(s, w, a, x, i, x_step, y, j, y_step, e):
    step = lanes(s)
    for c in range(3):
        place = a if a == c else 6 - a - c
        store(s, e + 2 * c * step, load(s, w + place * step))
        store(s, e + (2 * c + 1) * step, zero(s))


KELVIN = Form("kelvin", "slope", "outer", 6, 6, 3, 9, 0, 9, fields, special_fields, entries)
WEAKLY_SINGULAR = Integrand("kelvin", "none", symmetric=True)


class ElasticBlock(Block):
    """A block of the Kelvin operator on constant vectors."""

    @property
    def form(self):
        return KELVIN

    def _coefficients(self, factor):
        alpha = -complex(factor).real * self.scale**-3 / (16 * math.pi * (1 - POISSON))
        return np.array([alpha, 0.0, 3 - 4 * POISSON, 0.0])

    def moment_functions(self, rule):
        return (barycentric_functions(rule, 6),) * 2

    def _form_data(self):
        surfaces = self.test_surface, self.trial_surface
        corners = (each.corners - each.corners.mean(axis=1, keepdims=True) for each in surfaces)
        return tuple(each.reshape(len(each), 9) for each in corners)


@dataclass(frozen=True, eq=False, repr=False)
class ElasticOperator(IntegralOperator):
    """The single layer of elastostatics, of unit shear modulus."""

    block: ClassVar[type[Block]] = ElasticBlock


def kelvin(trial, test=None):
    return ElasticOperator(cal.Laplace(), WEAKLY_SINGULAR, trial, trial if test is None else test)


def point_kernel(x, y):
    """U at pairs of points (n, 3), (n, 3)."""
    d = x - y
    r = np.linalg.norm(d, axis=1)[:, None, None]
    outer = d[:, :, None] * d[:, None, :] / r**2
    return ((3 - 4 * POISSON) * np.eye(3) + outer) / (16 * math.pi * (1 - POISSON) * r)


@pytest.fixture(scope="module")
def sphere():
    return cal.mesh.sphere(1.0, h=0.4)


@pytest.fixture(scope="module")
def dense(sphere):
    return kelvin(cal.P0(sphere, components=3)).assemble().to_array()


def test_the_matrix_is_symmetric_and_positive(dense):
    assert np.abs(dense - dense.T).max() < 1e-13 * np.abs(dense).max()
    assert np.linalg.eigvalsh((dense + dense.T) / 2).min() > 0


def test_distant_triangles_interact_like_points(sphere, dense):
    """At a distance of d triangle sizes the relative difference is of order 1 / d^2."""
    centroids, areas = sphere.centroids, sphere.areas
    i = np.zeros(len(areas), int)
    j = np.flatnonzero(np.linalg.norm(centroids - centroids[0], axis=1) > 1.7)
    block = dense.reshape(len(areas), 3, len(areas), 3)[0][:, j].transpose(1, 0, 2)
    points = point_kernel(centroids[i[: len(j)]], centroids[j]) * (areas[0] * areas[j])[:, None, None]
    assert np.abs(block - points).max() < 0.02 * np.abs(points).max()


def test_constant_tractions_move_a_sphere_rigidly(sphere, dense):
    """The displacement of constant tractions t on the unit sphere is u = t (5 - 6 nu) / (6 mu (1 - nu)) everywhere on
    it, by integration of U over the sphere."""
    areas = np.repeat(sphere.areas, 3)
    for axis in range(3):
        traction = np.tile(np.eye(3)[axis], len(sphere.areas))
        displacement = (dense @ traction / areas).reshape(-1, 3)
        exact = np.eye(3)[axis] * (5 - 6 * POISSON) / (6 * (1 - POISSON))
        assert np.abs(displacement.mean(axis=0) - exact).max() < 0.03 * np.abs(exact).max()


def test_touching_and_near_pairs_converge(sphere, dense):
    """Against a finer rule for all pairs."""
    space = cal.P0(sphere, components=3)
    fine = ElasticOperator(cal.Laplace(), WEAKLY_SINGULAR, space, space, cal.Quadrature(regular=8, singular=12))
    reference = fine.assemble().to_array()
    assert np.abs(dense - reference).max() < 2e-6 * np.abs(reference).max()


def test_the_compressed_matrix_is_the_dense_one():
    space = cal.P0(cal.mesh.sphere(1.0, h=0.25), components=3)
    compressed, dense = kelvin(space).assemble("hmatrix", rtol=1e-5), kelvin(space).assemble()
    x = np.random.default_rng(0).standard_normal(space.dimension)
    assert np.linalg.norm(compressed @ x - dense @ x) < 3e-5 * np.linalg.norm(dense @ x)


def test_the_trace_of_close_pairs_is_a_multiple_of_the_single_layer():
    """Of U, (10 - 12 nu) / (16 pi mu (1 - nu) r), between two plates at 1/50 of an edge."""
    lower = cal.mesh.plate([1.0, 1.0], h=0.5)
    upper = lower.translated([0.05, 0.03, 0.01])
    count = lower.number_of_triangles
    finer = cal.mesh.plate([1.0, 1.0], h=0.25).translated([0.05, 0.03, 0.01])
    for one, two in ((lower, upper), (lower, finer)):  # the smaller triangle is the outer one
        matrix = kelvin(cal.P0(two, components=3), cal.P0(one, components=3)).assemble().to_array()
        blocks = matrix.reshape(count, 3, two.number_of_triangles, 3)
        layer = cal.single_layer(cal.Laplace(), cal.P0(two), cal.P0(one)).assemble().to_array()
        expected = layer * (10 - 12 * POISSON) / (4 * (1 - POISSON))
        assert np.abs(np.einsum("icjc->ij", blocks) - expected).max() < 1e-6 * expected.max()
        assert np.abs(blocks - blocks.transpose(0, 3, 2, 1)).max() < 1e-13 * expected.max()
