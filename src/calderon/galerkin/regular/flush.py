"""Results of a tile between the loops over pairs of triangles and the matrix.

The results t of a block have one number for each row of the tile (`kept` of them, whole vectors), local trial function
and trial triangle, and lie as [vector of triangles][row][function][lane]: a loop over test triangles for one vector of
trial triangles stays within a few ten kilobytes. What is taken is replaced by zeros, for the next block.
"""

from calderon.backends.vector_loads import transpose_apart
from calderon.backends.vectors import jitable, lanes, load, store, zero
from calderon.galerkin.regular.element_tables import LANES


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
