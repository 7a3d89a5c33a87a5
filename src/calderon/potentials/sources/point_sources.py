"""Sums over point sources, evaluated in lanes of target points: the inner loops of potentials and far fields."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calderon.backends.numba import kernel
from calderon.backends.records import Record
from calderon.backends.vectors import above, add, complex_product, jitable, lanes, load, number, store, zero
from calderon.greens import Radial, parameter_reader
from calderon.greens.elementary import inverse_square_root, short_sine_cosine, sine_cosine
from calderon.potentials.sources.runs import end_of_run, give_values, put_points

SCALARS = Record("SCALARS", square=2, cut=1, parameters=None)
"""Record of the numbers that field kernels read: Re and Im of k^2, a squared distance, the parameters of the Green's
function."""
CUT, PARAMETERS = SCALARS["cut"], SCALARS["parameters"]

TARGETS = 64
"""Target points of one call of a field or far kernel, a multiple of 16."""


@jitable
def products(s0, s1, s2, s3, s4, s5, re, im):
    """Three complex values (s0, s1), (s2, s3), (s4, s5) times re + i im."""
    s0, s1 = complex_product(s0, s1, re, im)
    s2, s3 = complex_product(s2, s3, re, im)
    s4, s5 = complex_product(s4, s5, re, im)
    return s0, s1, s2, s3, s4, s5


@jitable
def add_values(out, v, size, vector, t0, t1, t2, t3, t4, t5):
    """Add one complex value (t0, t1), or three with (t2, t3) and (t4, t5) (`vector`), of the targets from v on to
    out, flat, (1 or 3, 2, size)."""
    add(out, v, t0)
    add(out, size + v, t1)
    if vector:
        add(out, 2 * size + v, t2)
        add(out, 3 * size + v, t3)
        add(out, 4 * size + v, t4)
        add(out, 5 * size + v, t5)


@jitable
def second_slope(r2, u, ui, h, hi, k_re, k_im, oscillates):
    """Re and Im of -h'/r = (k^2 G + 3 h)/r^2, by the equation itself.

    r2: squared distances; u, ui, h, hi: Re and Im of 4 pi G and h = 4 pi G'/r; k_re, k_im: of k^2; oscillates: whether
    imaginary parts are not zero.
    """
    w = inverse_square_root(r2)
    w = w * w
    if oscillates:
        return w * (k_re * u - k_im * ui + 3.0 * h), w * (k_re * ui + k_im * u + 3.0 * hi)
    return w * (k_re * u + 3.0 * h), w


@jitable
def dipole_charge(s, j):
    """Normal and complex charge of the source that begins at s[j]."""
    return number(s, j + 3), number(s, j + 4), number(s, j + 5), number(s, j + 6), number(s, j + 7)


@jitable
def monopole(u, ui, h, hi, r2, d0, d1, d2, source, k_re, k_im):
    """c G: one complex value, in the first two places of six.

    u, ui, h, hi, r2, k_re, k_im: as in `second_slope`; d0, d1, d2: offsets from the source; source: see
    `dipole_charge`.
    """
    w, wi = complex_product(u, ui, source[3], source[4])
    return w, wi, w, w, w, w


@jitable
def dipole(u, ui, h, hi, r2, d0, d1, d2, source, k_re, k_im):
    """c dG/dn_y = -c h d.n: one complex value, in the first two places of six. Arguments as in `monopole`."""
    n0, n1, n2, c, ci = source
    s = -(d0 * n0 + d1 * n1 + d2 * n2)
    w, wi = complex_product(h * s, hi * s, c, ci)
    return w, wi, w, w, w, w


@jitable
def monopole_gradient(u, ui, h, hi, r2, d0, d1, d2, source, k_re, k_im):
    """c grad_x G = c h d: three complex values. Arguments as in `monopole`."""
    w, wi = complex_product(h, hi, source[3], source[4])
    return w * d0, wi * d0, w * d1, wi * d1, w * d2, wi * d2


@jitable
def dipole_gradient(u, ui, h, hi, r2, d0, d1, d2, source, k_re, k_im):
    """c grad_x of -h d.n = -h n - (h'/r)(d.n) d: three complex values. Arguments as in `monopole`."""
    n0, n1, n2, c, ci = source
    f, (w, wi) = d0 * n0 + d1 * n1 + d2 * n2, second_slope(r2, u, ui, h, hi, k_re, k_im, True)
    w, wi = complex_product(f * w, f * wi, c, ci)
    h, hi = complex_product(h, hi, c, ci)
    return (
        w * d0 - h * n0, wi * d0 - hi * n0, w * d1 - h * n1, wi * d1 - hi * n1, w * d2 - h * n2, wi * d2 - hi * n2,
    )  # fmt: skip


@dataclass(frozen=True)
class Emission:
    """The field of a source at a point, or in a direction: a header with kernels for devices, the kind that it is
    built for, and the twins for the processor.

    values: complex numbers at a point. power: of 1/length that a source of unit strength sends. charges: from this
    column on a source scales with its strength. emit: for what `charge` reads of a source, None for far fields.
    """

    header: str
    kind: str
    values: int
    power: int
    charges: int
    emit: Callable[..., Any] | None = None
    charge: Callable[..., Any] | None = None

    @property
    def jumps(self) -> bool:
        """Whether the field of a surface of sources differs on both sides."""
        return self.kind != "MONOPOLE"


LAYER_FIELDS = {
    (False, False): Emission("point_sources.h", "MONOPOLE", 1, 1, 6, monopole, dipole_charge),
    (True, False): Emission("point_sources.h", "DIPOLE", 1, 2, 6, dipole, dipole_charge),
    (False, True): Emission("point_sources.h", "MONOPOLE_GRADIENT", 3, 2, 6, monopole_gradient, dipole_charge),
    (True, True): Emission("point_sources.h", "DIPOLE_GRADIENT", 3, 3, 6, dipole_gradient, dipole_charge),
}
"""By (double layer, gradient)."""
LAYER_FAR_FIELDS = {
    False: Emission("plane_waves.h", "MONOPOLE", 1, 1, 6),
    True: Emission("plane_waves.h", "DIPOLE", 1, 2, 6),
}
"""Whether a double layer."""
CURRENT_FAR_FIELD = Emission("plane_waves.h", "CURRENT", 3, 1, 3)


@jitable
def charged(re, im, u, ui, c, ci, oscillates, complex_charges):
    """(re + i im) + (u + i ui) (c + i ci), where ui (unless `oscillates`) and ci (unless complex_charges) are left
    out."""
    re = re + u * c
    if oscillates:
        im = im + ui * c
    if complex_charges:
        im = im + u * ci
    if oscillates and complex_charges:
        re = re - ui * ci
    return re, im


@jitable
def at_least(square, floor):
    """The larger of two vectors, square and floor."""
    return floor + above(square - floor, 0.0) * (square - floor)


@functools.lru_cache(maxsize=64)
def near_kernel(radial: Radial, emission: Emission, oscillates: bool) -> Callable[..., None]:
    """Compiled near(points, numbers, groups, sources, scalars, lo, hi, s, out): out (values, 2, n) for the pairs lo to
    hi gets Re and Im of the field at points (n, 3) of the sources of the groups numbers (n,); runs of equal numbers
    share a vector.

    groups (m, 5): centre, and two squared distances: points closer to the centre count as the first, which raises those
    of its sources by as much; points closer to a source count as the second. sources (m, Q, C); scalars: SCALARS; for a
    radial part that is not shifted. s: working memory of 3 + 2 values vectors.
    """
    radial_value, parameters_of = radial.value, parameter_reader(radial.parameters)
    emit, charges, vector, values = emission.emit, emission.charge, emission.values == 3, emission.values

    @kernel
    def near(points, numbers, groups, sources, scalars, lo, hi, s, out):
        k_re, k_im, parameters = scalars[0], scalars[1], parameters_of(scalars, PARAMETERS)
        step, each, columns, stop = lanes(s), sources.shape[1], sources.shape[2], lo
        g, y = groups.reshape(-1), sources.reshape(-1)
        while stop < hi:
            # a vector of points with one group
            start, group = stop, numbers[stop]
            stop, i = end_of_run(numbers, start, min(hi, start + step)), 5 * group
            put_points(s, 0, points, (0.0, 0.0, 0.0), start, stop)
            x0, x1, x2 = load(s, 0), load(s, step), load(s, 2 * step)
            d0, d1, d2 = x0 - number(g, i), x1 - number(g, i + 1), x2 - number(g, i + 2)
            square = d0 * d0 + d1 * d1 + d2 * d2
            # how much squared distances are raised for points close to the centre
            raised = at_least(square, number(g, i + 3)) - square
            t0, t1, t2, t3, t4, t5 = zero(s), zero(s), zero(s), zero(s), zero(s), zero(s)
            for j in range(each * columns * group, each * columns * (group + 1), columns):
                d0, d1, d2 = x0 - number(y, j), x1 - number(y, j + 1), x2 - number(y, j + 2)
                # one source: Green's function, and what it emits
                r2 = at_least(d0 * d0 + d1 * d1 + d2 * d2 + raised, number(g, i + 4))
                u, ui, h, hi_ = radial_value(r2, parameters, zero(s))
                if not oscillates:
                    ui, hi_ = zero(s), zero(s)
                a0, b0, a1, b1, a2, b2 = emit(u, ui, h, hi_, r2, d0, d1, d2, charges(y, j), k_re, k_im)
                t0, t1, t2, t3, t4, t5 = t0 + a0, t1 + b0, t2 + a1, t3 + b1, t4 + a2, t5 + b2
            # to the results of these points
            for n in range(3 * step, (3 + 2 * values) * step, step):
                store(s, n, zero(s))
            add_values(s, 3 * step, step, vector, t0, t1, t2, t3, t4, t5)
            give_values(s, 3 * step, 2 * values, out.reshape(-1), start, stop)

    return near


@functools.lru_cache(maxsize=8)
def far_field_kernel(kind: str, short: bool) -> Callable[..., None]:
    """Compiled far(directions, sources, centres, k, out): adds sum_j f_j c_j exp(-i k d.y_j) for the MONOPOLE (f = 1),
    DIPOLE (f = -i k d.n_j) or CURRENT (three charges c, f = 1).

    directions (3, TARGETS); sources (groups, Q, C) as in plane_waves.h, centres (groups, 3); out (1 or 3, 2, TARGETS).
    short: k times the distance of a source from the centre of its group is at most elementary.SHORT.
    """
    double, vector = kind == "DIPOLE", kind == "CURRENT"
    re, im = (3, 6) if vector else (6, 7)

    @kernel
    def far(directions, sources, centres, k, out):
        t = out.reshape(-1)
        size = directions.shape[1]
        for v in range(0, size, lanes(t)):
            x0, x1, x2 = load(directions[0], v) * -k, load(directions[1], v) * -k, load(directions[2], v) * -k
            t0, t1, t2, t3, t4, t5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
            for group in range(sources.shape[0]):
                c0, c1, c2 = centres[group, 0], centres[group, 1], centres[group, 2]
                s0, s1, s2, s3, s4, s5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                # phases of the sources from the centre of their group
                for q in range(sources.shape[1]):
                    s = sources[group, q]
                    angle = x0 * (s[0] - c0) + x1 * (s[1] - c1) + x2 * (s[2] - c2)
                    sine, cosine = short_sine_cosine(angle) if short else sine_cosine(angle)
                    a, b = complex_product(cosine, sine, s[re], s[im])
                    if double:
                        f = x0 * s[3] + x1 * s[4] + x2 * s[5]
                        a, b = f * b * -1.0, f * a
                    s0, s1 = s0 + a, s1 + b
                    if vector:
                        a, b = complex_product(cosine, sine, s[re + 1], s[im + 1])
                        s2, s3 = s2 + a, s3 + b
                        a, b = complex_product(cosine, sine, s[re + 2], s[im + 2])
                        s4, s5 = s4 + a, s5 + b
                # times the phase of the centre
                sine, cosine = sine_cosine(x0 * c0 + x1 * c1 + x2 * c2)
                s0, s1, s2, s3, s4, s5 = products(s0, s1, s2, s3, s4, s5, cosine, sine)
                t0, t1, t2, t3, t4, t5 = t0 + s0, t1 + s1, t2 + s2, t3 + s3, t4 + s4, t5 + s5
            add_values(t, v, size, vector, t0, t1, t2, t3, t4, t5)

    return far
