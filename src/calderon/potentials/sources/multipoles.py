"""Sources seen from afar: one expansion in outgoing waves about the centre of a patch, for every kind of field.

With G_0 = 4 pi G, G_{n+1} = G_n' / r and D = r u from the centre to a target, the field of sources within a radius is

    sum_{n=0}^N G_n(r) r^n sum_{m=0}^n p_n^m(u_z) (a_nm Re (u_x + i u_y)^m + b_nm Im (u_x + i u_y)^m),

p_n^m the Legendre functions over sin^m, with leading coefficient 1: p_m^m = 1,
p_n^m = u_z p_{n-1}^m - ((n-1)^2 - m^2) / (4 (n-1)^2 - 1) p_{n-2}^m. A unit charge at o has (addition theorem)

    (a_nm, b_nm) = (-1)^n (2n+1) nu_nm j_n(k o) / (k o)^n (Re, Im) B_nm(o),  B_nm(o) = o^n p_n^m (o_x + i o_y)^m,
    nu_nm = (2 - delta_m0) ((2n-1)!!)^2 / ((n-m)! (n+m)!).

The derivative of G_n B by x is G_{n+1} H - k^2 / (2n+1) G_{n-1} B', where x B = H + r^2 B' / (2n+1), H and B' are
harmonic and B' is the derivative of B: gradients, dipoles and curls are such sums again (Epton and Dembart, SIAM J.
Sci. Comput. 16 (1995) 865).
"""

import functools
from collections.abc import Callable
from math import comb, factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vectors import jitable, lanes, load, number, store, zero
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root
from calderon.potentials.sources.point_sources import charged

HIGHEST = 14
"""Largest degree N."""
ROOM = 4
"""Vectors that the sum of an expansion takes for each m up to degree + 1: Re and Im of (x + i y)^m, and p_n^m for the
last two n."""
SERIES = 12
"""Terms of j_n(x) / x^n in powers of x^2."""


def degree_for(accuracy: float, ratio: float, radius: complex, order: int) -> int | None:
    """The degree N from which the field at `ratio` radii from the centre has a relative error below the accuracy;
    None beyond HIGHEST.

    radius: times the wavenumber. order: p of a kernel like exp(i k r) / r^p. The term n of charges spread evenly over a
    disk, relative to the whole, is 2 / (n + 2) (2n+1) |j_n(k R) h_n(k r) / h_0(k r)| times a mean of P_n, whose mean
    square over directions is 1 / (2n+1). Each derivative multiplies it by (n + p - 1) / (p - 1) where k r is small, by
    less for waves.
    """
    last = HIGHEST + 3
    waves = np.abs(_bessel(np.array([radius**2 + 0.0]), last)[:, 0])
    # bounds of r^(2n) |G_n / G_0|, by its recurrence
    out = [1.0, abs(1j * radius * ratio - 1)]
    for n in range(1, last):
        out.append((2 * n + 1) * out[n] + abs(radius * ratio) ** 2 * out[n - 1])
    slower = (1 + abs(radius) * ratio) ** (order - 1)
    terms = [
        2 / (n + 2) * (2 * n + 1) ** 0.5 * waves[n] * out[n] / ratio**n * max(1.0, comb(n + order - 1, n) / slower)
        for n in range(last + 1)
    ]
    rest = np.cumsum(terms[::-1])[::-1]
    return next((n for n in range(2, HIGHEST + 1) if rest[n + 1] <= accuracy), None)


def _bessel(squares: NDArray[Any], last: int) -> NDArray[Any]:
    """(last + 1, n) values of j_n(x) / x^n for x^2 (n,)."""
    out = np.empty((last + 1, *squares.shape), squares.dtype)
    for n in range(last + 1):
        total = np.ones_like(squares)
        for j in range(SERIES, 0, -1):
            total = 1 - squares / (2 * j * (2 * n + 2 * j + 1)) * total
        out[n] = total / prod(range(1, 2 * n + 2, 2))
    return out


def place(n: int, m: int) -> int:
    """The number of the pair n, m among all."""
    return n * (n + 1) // 2 + m


def count(degree: int) -> int:
    """Pairs n, m up to a degree."""
    return place(degree, degree) + 1


def degree_of(numbers: int) -> int:
    """The degree of expansions with so many coefficients a and b."""
    return next(degree for degree in range(numbers) if 2 * count(degree) == numbers)


@functools.cache
def recurrence(degree: int) -> NDArray[np.float64]:
    """The factors of p_{n-2}^m by `place`."""
    out = np.zeros(count(degree))
    for n in range(2, degree + 1):
        for m in range(n - 1):
            out[place(n, m)] = ((n - 1) ** 2 - m * m) / (4 * (n - 1) ** 2 - 1)
    return out


def moments(offsets: NDArray[np.float64], charges: NDArray[np.complex128], k: complex, degree: int) -> NDArray[Any]:
    """(p, c, pairs, 2) coefficients a, b of charges (p, Q, c) at offsets (p, Q, 3) from the centres of p clusters, for
    the wavenumber k."""
    x, y, z = np.moveaxis(offsets, 2, 0)
    # j_n, real where k^2 is
    squares, factors = x * x + y * y + z * z, recurrence(degree)
    k2 = (k * k).real if (k * k).imag == 0 else k * k
    bessel = _bessel(k2 * squares if k else np.zeros((1, 1)), degree)
    out = np.empty((len(offsets), charges.shape[2], count(degree), 2), complex)
    parts = np.concatenate([charges.real, charges.imag], axis=2)
    turn = np.ones(squares.shape, complex)
    for m in range(degree + 1):
        before, p = np.zeros_like(z), np.ones_like(z)
        for n in range(m, degree + 1):
            # B_nm from those of n - 1 and n - 2
            if n > m:
                before, p = p, z * p - factors[place(n, m)] * squares * before
            size = (2 - (m == 0)) * prod(range(1, 2 * n, 2)) ** 2 / (factorial(n - m) * factorial(n + m))
            weights = (-1) ** n * (2 * n + 1) * size * bessel[n] * p
            # sums over the sources of each cluster
            for side, each in enumerate((turn.real, turn.imag)):
                values = weights * each
                if np.iscomplexobj(values):
                    sums = np.einsum("pq,pqc->pc", values, charges)
                else:
                    both = np.matmul(values[:, None], parts)[:, 0]
                    sums = both[:, : charges.shape[2]] + 1j * both[:, charges.shape[2] :]
                out[:, :, place(n, m), side] = sums
        turn = turn * (x + 1j * y)
    return out


@functools.lru_cache(maxsize=32)
def derivatives(degree: int, k2: complex) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The matrices (2 pairs of `degree`, 2 pairs of degree + 1) that take coefficients of a field, a row, to those of
    its derivatives by x, y, z; k2: of the equation."""
    rows, columns = count(degree), count(degree + 1)
    out = np.zeros((3, rows, 2, columns, 2), complex if np.imag(k2) else float)
    k2 = k2 if np.imag(k2) else np.real(k2)
    for n in range(degree + 1):
        for m in range(n + 1):
            i, size = place(n, m), n - m
            # z B_nm = B_{n+1,m} + r^2 (...) B_{n-1,m}
            out[2, i, 0, place(n + 1, m), 0] = out[2, i, 1, place(n + 1, m), 1] = 1.0
            if n > m:
                factor = (n * n - m * m) / (4 * n * n - 1)
                out[2, i, 0, place(n - 1, m), 0] = out[2, i, 1, place(n - 1, m), 1] = -k2 * factor
            # (x, y) B_nm: to m + 1, with p_n^m = p_{n+1}^{m+1} - r^2 up p_{n-1}^{m+1}, and to m - 1
            up, half = size * (size - 1) / (4 * n * n - 1) if n else 0.0, 0.5 if m else 1.0
            down = (
                1 + (size * (size - 1) / (2 * (2 * n - 1)) if n else 0.0) - (size + 2) * (size + 1) / (2 * (2 * n + 1))
            )
            for to, outer, inner, turn in ((m + 1, 1.0, -up, 1.0), (m - 1, -1.0, down, -1.0)):
                if to < 0:
                    continue
                for degree_to, value in ((n + 1, outer), (n - 1, -k2 * inner)):
                    if to <= degree_to and degree_to >= 0:
                        j, value = place(degree_to, to), half * value
                        out[0, i, 0, j, 0] += value
                        out[0, i, 1, j, 1] += value
                        out[1, i, 0, j, 1] += turn * value
                        out[1, i, 1, j, 0] -= turn * value
    # b_n0 belongs to nothing
    out[:, [place(n, 0) for n in range(degree + 1)], 1] = 0.0
    out[..., [place(n, 0) for n in range(degree + 2)], 1] = 0.0
    return tuple(each.reshape(2 * rows, 2 * columns) for each in out)  # type: ignore[return-value]


def gradient_of(coefficients: NDArray[Any], k2: complex) -> NDArray[Any]:
    """(3, ..., numbers) coefficients of the gradient from those of a field (..., numbers); k2: of the equation."""
    matrices = derivatives(degree_of(coefficients.shape[-1]), k2)
    return np.stack([coefficients @ each for each in matrices])


def layer_of(double: bool, gradient: bool) -> Callable[[NDArray[Any], complex], NDArray[Any]]:
    """The function to the field (p, 1 or 3, numbers) from coefficients (p, c, numbers) of charges, c = 1, or of the
    three components of dipoles, and k^2."""

    def field(given: NDArray[Any], k2: complex) -> NDArray[Any]:
        found = given
        if double:  # charges of opposite signs next to each other
            found = -np.trace(gradient_of(given, k2), axis1=0, axis2=2)[:, None]
        return np.moveaxis(gradient_of(found[:, 0], k2), 0, 1) if gradient else found

    return field


def current_of(magnetic: bool) -> Callable[[NDArray[Any], complex], NDArray[Any]]:
    """The function to the field (p, 3, numbers) from coefficients (p, 4, numbers) of the components of currents and a
    charge, and k^2: G j + grad G c, or the curl of G j."""

    def field(given: NDArray[Any], k2: complex) -> NDArray[Any]:
        if magnetic:
            slopes = gradient_of(given[:, :3], k2)
            return np.stack([slopes[i - 2][:, i - 1] - slopes[i - 1][:, i - 2] for i in range(3)], axis=1)
        found = np.moveaxis(gradient_of(given[:, 3], k2), 0, 1)
        found[..., : given.shape[2]] += given[:, :3]
        return found

    return field


@functools.cache
def pair_adder(both: bool) -> Callable[..., Any]:
    """The compiled function that adds the term of a pair n, m; both: whether coefficients are complex."""

    @jitable
    def with_pair(q, qi, m, i, c, s):
        """Re and Im of a sum, q and qi, with the coefficients a, b at m[i] times c and s."""
        q = q + number(m, i) * c + number(m, i + 1) * s
        if both:
            qi = qi + number(m, i + 2) * c + number(m, i + 3) * s
        return q, qi

    return with_pair


def expansion_sums(radial: Radial, vector: bool, oscillates: bool, complex_charges: bool) -> Callable[..., Any]:
    """The compiled function to the field of an expansion, six real numbers.

    vector: whether it has three complex values; oscillates: whether G is complex; complex_charges: whether charges are.
    """
    radial_value, both = radial.value, oscillates or complex_charges
    values, sides, with_pair = 3 if vector else 1, 4 if both else 2, pair_adder(both)

    @jitable
    def far(t, d0, d1, d2, square, reference, given):
        """At targets with offsets d0, d1, d2 of that square from the centre.

        t: an array of the type of the sums; reference: see `Radial`; given: working memory, ROOM vectors for each
        degree; coefficients, flat, and where those of this expansion begin, for each pair n, m and value Re a, Re b, Im
        a, Im b, or only the first two; the factors of `recurrence`; the degree; Re and Im of k^2; the parameters of the
        Green's function.
        """
        w, m, i, factors, degree, k_re, k_im, parameters = given
        step, inverse = lanes(t), inverse_square_root(square)
        x, y, z, r = d0 * inverse, d1 * inverse, d2 * inverse, square * inverse
        # G_n r^n and the next one, from n = 0 on
        g, gi, h, hi = radial_value(square, parameters, reference)
        h, hi = (h * r, hi * r) if oscillates else (h * r, zero(t))
        # Re and Im of (x + i y)^m, from 0 on
        store(w, 0, zero(t) + 1.0)
        store(w, step, zero(t))
        s0, s1, s2, s3, s4, s5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
        for n in range(degree + 1):
            q0, q1, q2, q3, q4, q5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
            for order in range(n + 1):
                # p_n^m, which takes the place of p_{n-2}^m
                at = ROOM * step * order
                own, other, p = at + (2 + n % 2) * step, at + (3 - n % 2) * step, zero(t) + 1.0
                if order == n:
                    store(w, other, zero(t))
                else:
                    p = z * load(w, other) - number(factors, i_of(n, order)) * load(w, own)
                store(w, own, p)
                c, s = p * load(w, at), p * load(w, at + step)
                q0, q1 = with_pair(q0, q1, m, i, c, s)
                if vector:
                    q2, q3 = with_pair(q2, q3, m, i + sides, c, s)
                    q4, q5 = with_pair(q4, q5, m, i + 2 * sides, c, s)
                i += values * sides
            s0, s1 = charged(s0, s1, g, gi, q0, q1, oscillates, both)
            if vector:
                s2, s3 = charged(s2, s3, g, gi, q2, q3, oscillates, both)
                s4, s5 = charged(s4, s5, g, gi, q4, q5, oscillates, both)
            # the next power, and the next radial function
            next_power(w, ROOM * step * n, x, y)
            factor = -(2.0 * n + 3.0) * inverse
            if oscillates:
                g, gi, h, hi = h, hi, factor * h - (k_re * g - k_im * gi), factor * hi - (k_re * gi + k_im * g)
            else:
                g, h = h, factor * h - k_re * g
        return s0, s1, s2, s3, s4, s5

    return far


@jitable
def next_power(w, at, x, y):
    """Put Re and Im of (x + i y)^(m + 1) into w, from those of m that are at w[at]."""
    step = lanes(w)
    c, s = load(w, at), load(w, at + step)
    store(w, at + ROOM * step, c * x - s * y)
    store(w, at + (ROOM + 1) * step, c * y + s * x)


@jitable
def i_of(n, m):
    """The number of the pair n, m: see `place`."""
    return n * (n + 1) // 2 + m
