"""The weakly singular operator of elastostatics (Kelvin) as a form, three components on each triangle.

    U = c ((3 - 4 nu) G I - (G'/r) d d^T),   c = 1 / (4 mu (1 - nu)),   d = x - y,   G = 1 / (4 pi r),

where G = -r^2 G'/r follows from the six components of (G'/r) d d^T alone. A form, its header in C, its block and its
operator are all that is written: tiles, rows, touching and near pairs are the project's own, on every backend.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

import calderon as cal
from calderon.backends.vectors import add, jitable, lanes, load, store, zero
from calderon.galerkin.block import Block
from calderon.galerkin.device.forms import SCALAR_DATA, scalar_device_form
from calderon.galerkin.forms.form import Form
from calderon.galerkin.regular.element_tables import barycentric_functions
from calderon.integrands import Component, Integrand, monomials
from calderon.operators.boundary import IntegralOperator

HEADER = Path(__file__).with_name("kelvin.h")
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
        store(s, w + c * step, load(s, m + c * imaginary // 6))
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


SLOPE, DYAD = (Component(1),), monomials(1, 2)
KELVIN = Form("kelvin", SLOPE, DYAD, 6, 6, 3, 9, 0, 9, fields, special_fields, entries)
WEAKLY_SINGULAR = Integrand("kelvin", "none", symmetric=True)


class ElasticBlock(Block):
    """A block of the Kelvin operator on constant vectors."""

    @property
    def form(self):
        return KELVIN

    def _coefficients(self, factor):
        alpha = -complex(factor).real * self.scaling / (4 * (1 - POISSON))
        return np.array([alpha, 0.0, 3 - 4 * POISSON, 0.0])

    @classmethod
    def device_form_of(cls, integrand, test, trial):
        defines = ("FORM", f'"{HEADER}"'), *SCALAR_DATA.defines
        form = scalar_device_form(integrand, test, trial)
        return form._replace(defines=defines, regular=DYAD, rows=SLOPE)

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
