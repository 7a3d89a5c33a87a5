"""Time-harmonic elasticity as Galerkin forms, from outside of the package: no driver knows of it.

With the wavenumbers k_T, k_L of transverse and longitudinal waves, G_T, G_L = exp(ikr) / (4 pi r) and d = x - y, the
displacement at x of a force at y under exp(-i omega t) is (Kupradze 1979)

    U = [k_T^2 G_T I + grad grad (G_T - G_L)] / (rho omega^2) = (A I + B d d^T) / (4 pi mu),

and T, the displacement of a unit dislocation on a surface with normal n_y, is the traction of U on it, transposed,

    T_ij = (R s d_i d_j + Q (s I_ij - d_j n_i) - P d_i n_j) / (4 pi),   s = -d . n,

with the radial functions, D = (1/r) d/dr,

    P = (lambda / mu) (D A + r^2 D B + 4 B) + 2 B,   Q = D A + B,   R = 2 D B.

In A = (exp(i k_T r) + g_1) / r, B = g_2 / r^3, D A = (f_1(k_T r) + g_2) / r^3 and D B = g_3 / r^5 the g_n are
differences of one function, [f_n(k_T r) - f_n(k_L r)] / (k_T r)^2, of which f_n(0) cancels.
"""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from calderon.backends.vectors import add, jitable, lanes, load, store, where_less
from calderon.galerkin.block import Block
from calderon.galerkin.device.forms import SCALAR_DATA, scalar_device_form
from calderon.galerkin.elastic_block import ElasticBlock
from calderon.galerkin.forms.elastic import MATRIX, NORMAL, matrix_entries
from calderon.galerkin.forms.form import Form
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root, sine_cosine
from calderon.greens.green import no_phase
from calderon.integrands import DOUBLE_LAYER, SINGLE_LAYER, Component, monomials
from calderon.operators.boundary import IntegralOperator

FOLDER = Path(__file__).parent
TERMS = 9
"""Terms of the real and of the imaginary part of a power series, for arguments up to 1."""


def coefficients(polynomial):
    """Coefficients of [f(x) - f(0)] / x^2, f = exp(ix) polynomial: of real even and of imaginary odd powers."""
    powers = np.arange(2 * TERMS + 2)
    exponential = np.cumprod(np.append(1.0, 1j / powers[1:]))
    found = np.convolve(exponential, polynomial)[2 : 2 * TERMS + 2]
    return tuple(found[::2].real.tolist()), tuple(found[1::2].imag.tolist())


EVEN_1, ODD_1 = coefficients([-1, 1j])
EVEN_2, ODD_2 = coefficients([3, -3j, -1])
EVEN_3, ODD_3 = coefficients([-15, 15j, 6, -1j])
VALUES, SLOPES, THIRD, MIXED, FIFTH = range(5)
"""Numbers of the radial functions A, B, P, Q, R."""


@jitable
def horner(z, c):
    """c_0 + c_1 z + ..., with TERMS coefficients."""
    total = z * 0.0 + c[TERMS - 1]
    for n in range(1, TERMS):
        total = total * z + c[TERMS - 1 - n]
    return total


@jitable
def reduced(x, re, im, at_zero, even, odd):
    """[f(x) - f(0)] / x^2 from f = re + i im, for x < 1 by its power series."""
    z = x * x
    one, inverse = z * 0.0 + 1.0, 1.0 / (z + 1e-30)
    far, far_i = (re - at_zero) * inverse, im * inverse
    return where_less(x, one, horner(z, even), far), where_less(x, one, x * horner(z, odd), far_i)


@jitable
def three_functions(x):
    """exp(ix) and, for n = 1, 2, 3, [f_n(x) - f_n(0)] / x^2, real and imaginary parts: D^n exp(ikr)/r = f_n(kr)/r^(2n +
    1)."""
    s, c = sine_cosine(x)
    z = x * x
    a, b = 3.0 - z, 3.0 * x
    p, q = 6.0 * z - 15.0, 15.0 * x - x * z
    one = reduced(x, -c - x * s, x * c - s, -1.0, EVEN_1, ODD_1)
    two = reduced(x, a * c + b * s, a * s - b * c, 3.0, EVEN_2, ODD_2)
    three = reduced(x, p * c - q * s, p * s + q * c, -15.0, EVEN_3, ODD_3)
    return c, s, one, two, three


@jitable
def value(r2, parameters, reference):
    """A, B, P, Q and R at squared distances r2; the compiler removes results that are not used."""
    k, l = parameters
    w = inverse_square_root(r2)
    r = r2 * w
    x, y = k * r, l * r
    ratio = (l / k) ** 2
    lame = 1.0 / ratio - 2.0
    c, s, one, two, three = three_functions(x)
    _c, _s, other, second, third = three_functions(y)
    g1, h1 = one[0] - ratio * other[0], one[1] - ratio * other[1]
    g2, h2 = two[0] - ratio * second[0], two[1] - ratio * second[1]
    g3, h3 = three[0] - ratio * third[0], three[1] - ratio * third[1]
    f, f_i = -c - x * s + g2, x * c - s + h2  # r^3 D A
    w3 = w * w * w
    w5 = w3 * w * w
    a, a_i, b, b_i = (c + g1) * w, (s + h1) * w, g2 * w3, h2 * w3
    p = (lame * (f + g3 + 4.0 * g2) + 2.0 * g2) * w3
    p_i = (lame * (f_i + h3 + 4.0 * h2) + 2.0 * h2) * w3
    return a, a_i, b, b_i, p, p_i, (f + g2) * w3, (f_i + h2) * w3, 2.0 * g3 * w5, 2.0 * h3 * w5


RADIAL = Radial(value, no_phase, False, 2, orders=(1, 3, 3, 3, 5))


@dataclass(frozen=True)
class Elastodynamic:
    """The fundamental solution of time-harmonic elasticity; wavenumbers of transverse and longitudinal waves in 1/m."""

    shear_modulus: float
    transverse: float
    longitudinal: float

    source: ClassVar[str] = str(FOLDER / "elastodynamic_functions.h")
    is_complex: ClassVar[bool] = True
    solves_helmholtz: ClassVar[bool] = False

    @property
    def wavenumber(self):
        return self.transverse

    @property
    def parameters(self):
        return self.transverse, self.longitudinal

    def radial(self, spread):
        return RADIAL


DISPLACEMENT = (Component(VALUES), *monomials(SLOPES, 2))
"""A, then B d d^T."""


def traction(normal):
    """R s d d^T, Q s, Q d and P d."""
    return monomials(FIFTH, 2, normal) + (Component(MIXED, normal=normal), *monomials(MIXED, 1), *monomials(THIRD, 1))


@jitable
def put_dyad(s, m, pitch, at, isotropic):
    """Store S + isotropic I, every second of 18 vectors at s[at:], from the components of S."""
    step = lanes(s)
    for k in range(3):
        p, q = (k + 1) % 3, (k + 2) % 3
        other = load(s, m + (3 + k) * pitch)
        store(s, at + 8 * k * step, load(s, m + k * pitch) + isotropic)
        store(s, at + 2 * (3 * p + q) * step, other)
        store(s, at + 2 * (3 * q + p) * step, other)


@functools.cache
def elastodynamic_form(normal, tests, trials):
    """U, or T of the normal of the trial triangle, of so many local functions of scalar spaces."""
    components = DISPLACEMENT if normal == "none" else traction(normal)

    @jitable
    def displacements(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
        step, pitch = lanes(s), tests * trials * lanes(s)
        for k in range(tests):
            for n in range(trials):
                for part in range(2):
                    here = m + k * a + n * b + part * imaginary
                    at = w + (2 * MATRIX * (k * trials + n) + part) * step
                    put_dyad(s, here + pitch, pitch, at, load(s, here))

    @jitable
    def tractions(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
        step, pitch = lanes(s), tests * trials * lanes(s)
        for k in range(tests):
            for n in range(trials):
                for part in range(2):
                    here = m + k * a + n * b + part * imaginary
                    at = w + (2 * MATRIX * (k * trials + n) + part) * step
                    put_dyad(s, here, pitch, at, load(s, here + 6 * pitch))
                    for p in range(3):
                        for q in range(3):
                            mixed = load(s, here + (7 + q) * pitch) * load(y, j + p * y_step)
                            third = load(s, here + (10 + p) * pitch) * load(y, j + q * y_step)
                            add(s, at + 2 * (3 * p + q) * step, -mixed - third)

    fields = displacements if normal == "none" else tractions
    sizes = tests, trials, 3 * trials, 0 if normal == "none" else NORMAL, 0, 2 * MATRIX * tests * trials
    name = f"elastodynamic {normal}"
    return Form(name, components, components, *sizes, fields, fields, matrix_entries(trials, 2))


class ElastodynamicBlock(ElasticBlock):
    """A block of U or T, by the rules of elastostatics."""

    @property
    def form(self):
        return elastodynamic_form(self.integrand.normal, self.test_space.element.size, self.trial_space.element.size)

    def _coefficients(self, factor):
        alpha = complex(factor) * self.scaling
        if self.integrand.normal == "none":
            alpha /= self.green.shear_modulus
        return np.array([alpha.real, alpha.imag, 0.0, 0.0])

    @classmethod
    def device_form_of(cls, integrand, test, trial):
        scalar, sizes = scalar_device_form(integrand, test, trial), (test.element.size, trial.element.size)
        form, normal = elastodynamic_form(integrand.normal, *sizes), int(integrand.normal == "trial")
        local = ("TESTS", sizes[0]), ("TRIALS", sizes[1]), ("TRACTION", normal)
        rows = Component(FIFTH), Component(MIXED), Component(THIRD)
        return scalar._replace(
            defines=(("FORM", f'"{FOLDER / "elastodynamics.h"}"'), *local, *SCALAR_DATA.defines),
            regular=form.regular,
            rows=rows if normal else (Component(VALUES), Component(SLOPES)),
        )


@dataclass(frozen=True, eq=False, repr=False)
class ElastodynamicOperator(IntegralOperator):
    """U or T between fields of three components."""

    block: ClassVar[type[Block]] = ElastodynamicBlock


def displacement(green, trial, test=None, **options):
    """U."""
    return ElastodynamicOperator(green, SINGLE_LAYER, trial, trial if test is None else test, **options)


def dislocation(green, trial, test=None, **options):
    """T."""
    return ElastodynamicOperator(green, DOUBLE_LAYER, trial, trial if test is None else test, **options)
