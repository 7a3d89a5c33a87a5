"""Results of a tile between the loops over pairs of triangles and the matrix.

The results t of a block have one number for each row of the tile (`kept` of them, whole vectors), local trial function
and trial triangle, and lie as [vector of triangles][row][function][lane]: a loop over test triangles for one vector of
trial triangles stays within a few ten kilobytes. What is taken is replaced by zeros, for the next block.
"""

from collections.abc import Callable

from calderon.backends.vector_loads import transpose_apart
from calderon.backends.vectors import add, complex_product, jitable, lanes, load, number, store, zero
from calderon.galerkin.regular.element_tables import LANES
from calderon.galerkin.regular.scatter_columns import across


@jitable
def take(t, first, kept, functions, top, turned):
    """Take the results of as many rows as a vector has numbers, from `top` on, to turned (functions * LANES, width).

    The results begin at t[first], `kept` rows for each vector of triangles; what is taken is replaced by zeros.
    """
    step = lanes(t)
    for v in range(0, LANES, step):
        for f in range(functions):
            place = first + v * kept * functions + (top * functions + f) * step
            transpose_apart(t, place, functions * step, turned, (f * LANES + v) * step, step)
            for k in range(step):
                store(t, place + k * functions * step, zero(t))


@jitable
def take_curls(t, first, kept, top, curls, begin, functions, results):
    """Take three components, times the curls (functions, 3, LANES) of the trial functions at curls[begin], to results
    (width, functions * LANES); t, first, kept, top as in `take`."""
    step = lanes(t)
    for v in range(0, LANES, step):
        for r in range(step):
            place = first + 3 * (v * kept + (top + r) * step)
            a0, a1, a2 = load(t, place), load(t, place + step), load(t, place + 2 * step)
            for f in range(functions):
                here = begin + 3 * f * LANES + v
                b0, b1, b2 = load(curls, here), load(curls, here + LANES), load(curls, here + 2 * LANES)
                store(results, (r * functions + f) * LANES + v, a0 * b0 + a1 * b1 + a2 * b2)
            for c in range(3):
                store(t, place + c * step, zero(t))


@jitable
def take_values(t, first, kept, functions, top, results):
    """Take results, as in `take`, and add them to results (width, functions * LANES), row after row of the tile."""
    step = lanes(t)
    for v in range(0, LANES, step):
        for r in range(step):
            for f in range(functions):
                place = first + v * kept * functions + ((top + r) * functions + f) * step
                there = (r * functions + f) * LANES + v
                store(results, there, load(results, there) + load(t, place))
                store(t, place, zero(t))


@jitable
def add_product(t, place, imaginary, re, im, c, s, is_complex):
    """Add (re + i im) (c + i s) at t[place], with the imaginary part, if is_complex, `imaginary` numbers further."""
    re, im = complex_product(re, im, c, s)
    add(t, place, re)
    if is_complex:
        add(t, place + imaginary, im)


@jitable
def add_three(t, place, imaginary, re, im, c, s, is_complex):
    """Add the products with c + i s of three vectors that follow each other; arguments as in `add_product`."""
    step, (r0, r1, r2), (i0, i1, i2) = lanes(t), re, im
    add_product(t, place, imaginary, r0, i0, c, s, is_complex)
    add_product(t, place + step, imaginary, r1, i1, c, s, is_complex)
    add_product(t, place + 2 * step, imaginary, r2, i2, c, s, is_complex)


@jitable
def add_curls(t, place, imaginary, total, total_i, f_re, f_im, curls, i, tile_rows, row, is_complex):
    """Add the sum over all points, total + i total_i, times f_re + i f_im and the curls of test triangle i, curls flat
    (triangles, 3, 3), to three components of its rows, tile_rows[row], at t[place:], with imaginary parts, if
    is_complex, `imaginary` numbers further."""
    step = lanes(t)
    total, total_i = complex_product(total, total_i, f_re, f_im)
    for a in range(3):
        here = place + 3 * tile_rows[row, a] * step
        for k in range(3):
            curl = number(curls, 9 * i + 3 * a + k)
            add(t, here + k * step, curl * total)
            if is_complex:
                add(t, imaginary + here + k * step, curl * total_i)


def taking_results(curls: bool, has_mass: bool, trials: int) -> Callable[..., None]:
    """The kernel that takes the results of a block of trial triangles out of a tile, real or imaginary ones.

    take_results(t, begin, curl_base, kept, top, trial_curls, first, side, work): put the results of as many rows as a
    vector has numbers, from row `top` on, into `side` (trials * LANES, width); begin, curl_base: places of values and
    of components of curls in t; kept, trial_curls[first:], work: as in regular/flush.py."""

    @jitable
    def take_results(t, begin, curl_base, kept, top, trial_curls, first, side, work):
        """Take one part of the results, real or imaginary."""
        if curls:
            take_curls(t, curl_base, kept, top, trial_curls, first, trials, work)
            if has_mass:
                take_values(t, begin, kept, trials, top, work)
            across(work, side)
        else:
            take(t, begin, kept, trials, top, side)

    return take_results
