"""What rows and columns of the magnetic field need of dual tests, which are affine on triangles (see
edge_field_entries.py).

As the fixed function of a row, u = t x n = u_0 + xi_1 u_1 + xi_2 u_2 sends

    V(y) = int h u x (x - y),  h = G'/r,

with the sums of h times 1, xi_1, xi_2 and their products. In a column they vary: V of the fixed function is summed with
the barycentric coordinates of their triangles, and entries are sum_m u(vertex m) . int l_m V.
"""

from calderon.backends.numba import jitable_part
from calderon.backends.vectors import add, jitable, lanes, load, number, store, zero
from calderon.galerkin.rows.cluster_tables import FUNCTIONS, LENGTH, LISTS, PITCH, PLACES, RECORDS, item

AFFINE_COLUMNS = 9
"""Numbers of a quadrature point: coordinates, weight times 1, xi_1, xi_2, xi_1^2, xi_1 xi_2, xi_2^2."""


@jitable
def three(array, place, step):  # type: ignore[no-untyped-def]
    """The vectors at three places of an array."""
    return load(array, place), load(array, place + step), load(array, place + 2 * step)


@jitable
def emitted_affine(x, centre, arm, y0, y1, y2, here, scratch, sums):  # type: ignore[no-untyped-def]
    """Add V at the points y: U x (c - y) with U = int h u, and along the normal int h (u_1 xi_2 - u_2 xi_1)."""
    step, frame = lanes(scratch), centre + 3
    f0, f1, f2, f3, f4, f5 = sums
    a, b, c = number(x, arm), number(x, arm + 2), number(x, arm + 4)  # first tangential components
    d, e, f = number(x, arm + 1), number(x, arm + 3), number(x, arm + 5)  # second ones
    m1, m2 = a * f0 + b * f1 + c * f2, d * f0 + e * f1 + f * f2
    n = a * f2 + b * f4 + c * f5 - d * f1 - e * f3 - f * f4
    v0 = number(x, frame) * m1 + number(x, frame + 3) * m2
    v1 = number(x, frame + 1) * m1 + number(x, frame + 4) * m2
    v2 = number(x, frame + 2) * m1 + number(x, frame + 5) * m2
    d0, d1, d2 = number(x, centre) - y0, number(x, centre + 1) - y1, number(x, centre + 2) - y2
    add(scratch, here, v1 * d2 - v2 * d1 + number(x, frame + 6) * n)
    add(scratch, here + step, v2 * d0 - v0 * d2 + number(x, frame + 7) * n)
    add(scratch, here + 2 * step, v0 * d1 - v1 * d0 + number(x, frame + 8) * n)


@jitable
def field_moments(numbers, points, v, sums, results, scalars, scratch):  # type: ignore[no-untyped-def]
    """results (18, PITCH): alpha int l_m V of a vector of triangles of unit Jacobian, three m, of each x, y, z, real
    and imaginary."""
    step = lanes(scratch)
    for m in range(3):
        for c in range(3):
            re, im = zero(scratch), zero(scratch)
            for q in range(points):
                weight, here = number(numbers, q) * number(numbers, (m + 1) * points + q), sums + (8 * q + c) * step
                re, im = re + weight * load(scratch, here), im + weight * load(scratch, here + 3 * step)
            place = results + (6 * m + 2 * c) * PITCH + v
            store(scratch, place, scalars[3] * re - scalars[4] * im)
            store(scratch, place + PITCH, scalars[3] * im + scalars[4] * re)


@jitable_part
def scattered_moments(varying, points, chunk, size, first, count, results, scratch, out):  # type: ignore[no-untyped-def]
    """Add the entries of the functions of a cluster on `size` triangles of its list from `chunk` on."""
    numbers, index = varying.numbers, varying.integers
    functions = number(index, FUNCTIONS)
    for k in range(size):
        t = item(index, LISTS, chunk + k)
        values = number(index, RECORDS) + number(index, LENGTH) * t + AFFINE_COLUMNS * points + 21 + 6 * functions
        for b in range(functions):
            target = item(index, PLACES, functions * t + b) - first
            if 0 <= target < count:
                re, im = 0.0, 0.0
                for c in range(9):
                    value, place = number(numbers, values + 9 * b + c), results + 2 * c * PITCH + k
                    re, im = re + value * scratch[place], im + value * scratch[place + PITCH]
                out[target] += complex(re, im)
