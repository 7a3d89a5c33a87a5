"""Results of a tile between the loops over pairs of triangles and the matrix.

The results t of a vector of trial triangles have one number for each row of the tile (`kept` of them, whole vectors),
local trial function and trial triangle, and lie as [row][function][lane]: a loop over test triangles stays within a few
ten kilobytes. What is taken is replaced by zeros, for the next vector.
"""

from collections.abc import Callable

from calderon.backends.vector_loads import transpose_added
from calderon.backends.vectors import add, complex_product, jitable, lanes, load, number, store, zero
from calderon.galerkin.regular.element_tables import LANES


@jitable
def take(t, first, kept, functions, rows, sums, begin, places, place):
    """Add the results of all rows to the sums of their columns, (columns, kept) from sums[begin] on.

    t[first:]: the results, of so many local functions; places[place:]: the numbers of the columns of the vector of
    triangles, those of the next local function LANES further (`Columns`). What is taken is replaced by zeros.
    """
    step = lanes(t)
    for top in range(0, rows, step):
        for f in range(functions):
            here = first + (top * functions + f) * step
            transpose_added(t, here, functions * step, sums, begin + top, kept, places, place + f * LANES)
            for k in range(step):
                store(t, here + k * functions * step, zero(t))


@jitable
def take_curls(t, first, values, kept, functions, rows, curls, there, has_mass, sums, begin, places, place, work):
    """Add three components, which begin at t[first], times the curls (functions, 3, LANES) of the trial functions at
    curls[there], and with has_mass the results at t[values], to the sums of their columns; work: room for the results
    of a vector of rows; the other arguments as in `take`."""
    step = lanes(t)
    for top in range(0, rows, step):
        for r in range(step):
            here = first + 3 * (top + r) * step
            a0, a1, a2 = load(t, here), load(t, here + step), load(t, here + 2 * step)
            for f in range(functions):
                at = there + 3 * f * LANES
                b0, b1, b2 = load(curls, at), load(curls, at + LANES), load(curls, at + 2 * LANES)
                result, own = a0 * b0 + a1 * b1 + a2 * b2, values + ((top + r) * functions + f) * step
                if has_mass:
                    result = result + load(t, own)
                    store(t, own, zero(t))
                store(work, (f * step + r) * step, result)
            for c in range(3):
                store(t, here + c * step, zero(t))
        for f in range(functions):
            transpose_added(work, f * step * step, step, sums, begin + top, kept, places, place + f * LANES)


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


def taking_results(curls: bool, has_mass: bool, trials: int, is_complex: bool) -> Callable[..., None]:
    """The kernel that adds the results of a vector of trial triangles, real ones and if is_complex imaginary ones, to
    sums of their columns.

    take_results(t, imaginary, curl_base, kept, rows, trial_curls, there, sums, places, place, work): results are at
    t[0:], components of curls at t[curl_base:], imaginary ones `imaginary` numbers further; sums: real ones in the
    first half, if there are imaginary ones; places[place:], trial_curls[there:], work: as in `take` and `take_curls`.
    """
    parts = 2 if is_complex else 1

    @jitable
    def take_results(t, imaginary, curl_base, kept, rows, trial_curls, there, sums, places, place, work):
        """Take real results, then imaginary ones."""
        for part in range(parts):
            at, base = part * imaginary, part * (sums.size // 2)
            if curls:
                take_curls(
                    t, at + curl_base, at, kept, trials, rows, trial_curls, there, has_mass, sums, base, places, place,
                    work,
                )  # fmt: skip
            else:
                take(t, at, kept, trials, rows, sums, base, places, place)

    return take_results
