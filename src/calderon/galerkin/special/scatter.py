"""Local matrices of touching and near pairs, from their moments, added to a matrix."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import aligned, complex_product, jitable, lanes, load, number, put, store, width, zero
from calderon.galerkin.forms.form import Form
from calderon.pairs.classes import Pairs
from calderon.spaces.element import Element


def local_functions(element: Element, order: NDArray[np.int8]) -> NDArray[np.integer]:
    """(n, size) local functions of the triangles of n pairs in the order of their rules, from that of their vertices,
    order (n, 3)."""
    return np.ascontiguousarray(element.permuted(order))


def scatter(
    form: Form,
    moments: NDArray[np.float64],
    pairs: Pairs,
    elements: tuple[Element, Element],
    data: tuple[NDArray[np.float64], NDArray[np.float64]],
    places: tuple[NDArray[np.int64], NDArray[np.int64]],
    coefficients: NDArray[np.float64],
    half: bool,
    out: NDArray[Any],
) -> None:
    """Add the local matrices of pairs.

    moments (components, 2, n, A, B) real and imaginary, in the order of the rules; data (triangles, k): numbers of the
    test and of the trial triangles; places (triangles, L), (triangles, B): row and column of each local function, -1
    for none. half: pairs of a triangle with itself count half (see `symmetrise`).
    """
    orders = [local_functions(*each) for each in zip(elements, (pairs.test_order, pairs.trial_order), strict=True)]
    room = form.vectors(1) + data[1].shape[1] + 2 * moments.shape[0] * moments.shape[3] * moments.shape[4]
    run = scatter_kernel(form, out.dtype.kind == "c")
    shape = moments.reshape(-1, *moments.shape[2:])
    run(shape, pairs.triangles, *orders, *data, *places, coefficients, half, _scratch(room), out)


def _scratch(vectors: int) -> NDArray[np.float64]:
    """Working memory of so many vectors."""
    return aligned(vectors * width(np.float64), np.float64)


@jitable_part
def put_moments(s, lane, moments, pair, test_order, trial_order, components, factor):
    """Put the moments of a pair times a factor into a lane of s, in the order of its vertices: real ones of all
    components, then imaginary ones; moments, test_order, trial_order as in `scatter_kernel`."""
    step, (height, across) = lanes(s), moments.shape[2:]
    for k in range(2 * components):
        to = k % 2 * components + k // 2
        for a in range(height):
            for b in range(across):
                place = (to * height + test_order[pair, a]) * across + trial_order[pair, b]
                put(s, place * step + lane, factor * moments[k, pair, a, b])


@jitable
def multiply(s, imaginary, c, d):
    """Multiply the first `imaginary` numbers of s, and as many imaginary parts after them, by c + d i."""
    for n in range(0, imaginary, lanes(s)):
        re, im = complex_product(load(s, n), load(s, n + imaginary), c, d)
        store(s, n, re)
        store(s, n + imaginary, im)


@functools.lru_cache(maxsize=64)
def scatter_kernel(form: Form, complex_out: bool) -> Callable[..., None]:
    """The compiled loop over pairs, which are the lanes of vectors.

    run(moments, triangles, test_order, trial_order, test_data, trial_data, rows, columns, coefficients, half, s, out):
    moments (2 components, n, A, B), real and imaginary in turn, in the order of the rules; triangles (n, 2); test_order
    (n, A), trial_order (n, B): `local_functions`; s: working memory; the others as in `scatter`.
    """
    fields, entries, scaled, trials = form.special_fields, form.entries, form.scaled, form.width
    head, function, room, components = form.head, form.function, form.room, len(form.special)

    @kernel
    def run(
        moments, triangles, test_order, trial_order, test_data, trial_data, rows, columns, coefficients, half, s, out
    ):
        # places in the working memory: moments, data of both triangles, fields, entries
        step, long, (height, across) = lanes(s), trial_data.shape[1], moments.shape[2:]
        own = 2 * components * height * across * step
        other, at = own + (head + function) * step, own + (head + function + long) * step
        e, nothing = at + room * step, zero(s)
        c0, c1, c2, c3 = coefficients[0], coefficients[1], coefficients[2], coefficients[3]
        for start in range(0, len(triangles), step):
            count = min(step, len(triangles) - start)
            # moments, real ones of all components first, and data of the triangles into the lanes
            for lane in range(step):
                pair = start + min(lane, count - 1)
                i, j = triangles[pair, 0], triangles[pair, 1]
                put_moments(
                    s, lane, moments, pair, test_order, trial_order, components, 0.5 if half and i == j else 1.0
                )
                for k in range(head):
                    put(s, own + k * step + lane, test_data[i, k])
                for k in range(long):
                    put(s, other + k * step + lane, trial_data[j, k])
            if scaled:
                multiply(s, own // 2, c0, c1)
            # the local matrix, one test function after the other, and its entries to their places
            fields(
                s, 0, across * step, step, own // 2, at, s, own, step, s, other, step, nothing, nothing, nothing,
                c0, c1, c2, c3,
            )  # fmt: skip
            for a in range(rows.shape[1]):
                for lane in range(step):
                    i = triangles[start + min(lane, count - 1), 0]
                    for k in range(function):
                        put(s, own + (head + k) * step + lane, test_data[i, head + function * a + k])
                # entries of this function with all trial functions, lane by lane to the matrix
                entries(s, at, a, s, own + head * step, step, s, other, step, e)
                for lane in range(count):
                    i, j = triangles[start + lane, 0], triangles[start + lane, 1]
                    row = rows[i, a]
                    for b in range(trials if row >= 0 else 0):
                        column = columns[j, b]
                        if column >= 0:
                            re, im = number(s, e + 2 * b * step + lane), number(s, e + (2 * b + 1) * step + lane)
                            if complex_out:
                                out[row, column] += complex(re, im)
                            else:
                                out[row, column] += re

    return run


def put_products(
    moments: NDArray[np.float64],
    pairs: Pairs,
    elements: tuple[Element, Element],
    coefficients: NDArray[np.float64],
    out: NDArray[Any],
) -> None:
    """Put the local matrices of a form whose entries are moments of products of local functions into out (n, A, B):
    alpha times the moments, as `scatter` would add them. Arguments as there."""
    orders = [local_functions(*each) for each in zip(elements, (pairs.test_order, pairs.trial_order), strict=True)]
    products_kernel(out.dtype.kind == "c")(*np.ascontiguousarray(moments[0]), *orders, *coefficients[:2], out)


@functools.lru_cache(maxsize=2)
def products_kernel(complex_out: bool) -> Callable[..., None]:
    """The compiled loop of `put_products`: run(re, im, test_order, trial_order, c0, c1, out) with real and imaginary
    moments (n, A, B), and the real and the imaginary part of alpha."""

    @kernel
    def run(re, im, test_order, trial_order, c0, c1, out):
        for n in range(out.shape[0]):
            for a in range(out.shape[1]):
                for b in range(out.shape[2]):
                    one, other = test_order[n, a], trial_order[n, b]
                    if complex_out:
                        x, y = re[n, a, b], im[n, a, b]
                        out[n, one, other] = complex(c0 * x - c1 * y, c0 * y + c1 * x)
                    else:
                        out[n, one, other] = c0 * re[n, a, b]

    return run
