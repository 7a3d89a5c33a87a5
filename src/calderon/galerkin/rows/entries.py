"""Entries between two clusters of unknowns: the loops behind rows, columns and blocks of a matrix.

Each pair of triangles is integrated once for all its entries: one triangle of the fixed side with the triangles of the
varying cluster, which are the lanes of vectors, by the sums of pair_sums.py. A row is a block with one row; in a column
the trial side is the fixed one. Results are kept for ROWS rows and a chunk of the varying triangles, and then added to
the unknowns of the cluster.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from calderon.backends.numba import jitable_part
from calderon.backends.vectors import add, complex_product, jitable, lanes, load, number, put, store, width, zero
from calderon.galerkin.forms.form import ALPHA, MASS, PARAMETERS, Form
from calderon.galerkin.regular.component_sums import component_sums
from calderon.galerkin.regular.element_tables import groups_of
from calderon.galerkin.regular.moments import moment_sums
from calderon.galerkin.regular.pair_sums import held_groups, pair_room, pair_sums
from calderon.galerkin.regular.point_sums import combined, folded, three
from calderon.galerkin.rows.cluster_tables import (
    CHUNK,
    CHUNKS,
    FIRST,
    FUNCTIONS,
    LENGTH,
    LISTS,
    OWN,
    PITCH,
    PLACES,
    RECORDS,
    ROW,
    SIZES,
    STARTS,
    TRIANGLES,
    columns_of,
    item,
    list_of,
    marking,
    size_of,
)
from calderon.galerkin.rows.entry_tables import CENTRE, DATA, JACOBIAN, NORMAL, SPREAD, Layout
from calderon.greens import Radial, parameter_reader

ROWS = 64
"""Rows of a block that are computed at a time."""


def entries_scratch(form: Form, points: int, tests: int, trials: int, longest: int, real: DTypeLike) -> int:
    """Numbers of working memory of one thread; tests, trials: local functions; longest: record of a triangle."""
    groups = groups_of(max(tests, trials) * form.summed)
    vectors = pair_room(points, max(2, groups), form.summed) + form.vectors(tests) + longest
    vectors += 2 * form.function * (form.width + 1)
    return (longest + 2 * ROWS * max(tests, trials) + 2) * PITCH + vectors * width(real)


class Entries(NamedTuple):
    """fill(fixed, varying, scalars, position, cluster, scratch, out): out[:n] = the entries of one unknown with those
    of a cluster. block(fixed, varying, scalars, skips, fixed_cluster, cluster, scratch, out): out[:m, :n] = those of
    two clusters, without pairs of triangles t, s with s among skips[skips[t] : skips[t + 1]], which increase. scalars
    as in tile.py."""

    fill: Callable[..., None]
    block: Callable[..., None]


@functools.lru_cache(maxsize=64)
def entry_loops(
    radial: Radial,
    form: Form,
    columns: bool,
    many_tests: bool,
    oscillates: bool,
    fixed: Layout,
    varying: Layout,
    through_centroids: bool,
    second: Form | None = None,
) -> Entries:
    """The compiled loops of one Green's function and form; columns: the trial side is the fixed one; many_tests: a
    triangle has more test functions than each of them has numbers. second: another form whose entries are added, of
    products of the same functions, direct as the first one is; its coefficients follow all scalars of the first."""
    swapped = {"fixed": "varying", "varying": "fixed"} if columns else {}
    forms = (form,) if second is None else (form, second)
    kernel, *others = (swapped.get(each.kernel, each.kernel) for each in forms)
    points, constant = fixed.points, fixed.functions == 1 and varying.functions == 1
    # where points of the triangles may change places, the loop over pairs of points applies the fewer functions
    exchanged = kernel == "slope" and through_centroids and fixed.functions > varying.functions
    inner, outer = (varying, fixed) if exchanged else (fixed, varying)
    if form.summed > 1:
        sums = component_sums(radial, form, fixed.functions, columns, points)
    else:
        every, stored_sums = any(each.curls for each in forms) or constant, any(each.mass for each in forms)
        kinds = groups_of(inner.functions), every, stored_sums and not constant, exchanged, oscillates, fixed.threes
        sums = pair_sums(radial, kernel, *kinds, through_centroids, points, *others)
    stored, copied = (form.function, DATA + form.head) if many_tests else (0, 0)
    gathered = gathering(points, varying.barycentric, "fixed" in (kernel, *others) or not through_centroids, copied)
    if form.direct:
        scalars_of_one = PARAMETERS + radial.parameters
        prepare, finish = nothing_to_prepare, all_functions(forms, scalars_of_one, constant, oscillates, fixed, varying)
    else:
        prepare, finish = local_matrix(form, columns, exchanged, many_tests, oscillates, inner, outer)
    measure, steps, products, ones = varying.measure, fixed.steps, fixed.products, fixed.ones
    parameters_of = parameter_reader(radial.parameters)
    unit, scattered = inner.measure - 1, scattering(oscillates, stored, form.head)

    @jitable
    def pair(  # type: ignore[no-untyped-def]
        x, near, t, row, some, side, flat, pitch, place, v, missing, tables, scalars, parameters, s, mask, w, results,
        apart,
    ):  # fmt: skip
        """Add triangle t and a vector of others to rows row .. row + some of the fixed side in results."""
        base, rows = number(near, RECORDS) + number(near, LENGTH) * t, number(side.integers, LENGTH) - 3 * points
        n, e = three(flat, NORMAL * pitch + place, pitch), three(flat, CENTRE * pitch + place, pitch)
        m = number(x, base + NORMAL), number(x, base + NORMAL + 1), number(x, base + NORMAL + 2)
        c = number(x, base + CENTRE), number(x, base + CENTRE + 1), number(x, base + CENTRE + 2)
        kept, inside = load(s, mask + v), side.numbers if exchanged else x
        f_re, f_im, totals, totals_i = sums(
            x, base + number(near, LENGTH) - 3 * points, m, c, x, base + SPREAD, inside, flat, rows * pitch + place,
            pitch, e, n, flat, SPREAD * pitch + place, tables[0], tables[1], tables[2], tables[3], parameters,
            scalars[0], missing, kept, s, w,
        )  # fmt: skip
        factor = kept * (number(inside, unit) * number(x, base + JACOBIAN)) * load(flat, JACOBIAN * pitch + place)
        f_re, f_im = f_re * factor, f_im * factor
        finish(
            x, near, t, base, row, some, side, flat, pitch, place, f_re, f_im, totals, totals_i, c, e, m, n, scalars, s,
            w, results + v, apart,
        )  # fmt: skip

    @jitable_part
    def block_of(fixed, varying, scalars, skips, masked, top, rows, cluster, scratch, out):  # type: ignore[no-untyped-def]
        """out[:rows, :n] = the entries of the unknowns from position `top` with those of a cluster."""
        x, near, index, step = fixed.numbers, fixed.integers, varying.integers, lanes(scratch)
        own, size, slots = number(index, OWN), number(near, FUNCTIONS), stored or number(index, FUNCTIONS)
        mask = number(index, LENGTH) * PITCH
        results = mask + PITCH
        w = results + 2 * min(rows, ROWS) * slots * PITCH
        parameters = parameters_of(scalars, PARAMETERS)
        tables = x[steps:], x[products:], x[ones:], varying.numbers[measure:]
        count, (low, high) = size_of(index, cluster), list_of(index, cluster)
        for i in range(rows):
            for j in range(count):
                out[i, j] = 0.0
        for k in range(0, PITCH, step):
            store(scratch, mask + k, zero(scratch) + 1.0)
        for chunk in range(low, high, CHUNK):
            many = min(CHUNK, high - chunk)
            apart = (many // step + 1) * step  # numbers of one function and row
            if own:
                flat, pitch, origin = varying.numbers, number(index, ROW), number(index, CHUNKS) + chunk
            else:
                flat, pitch, origin = scratch, PITCH, 0
                gathered(varying, chunk, chunk + many, scratch)
            for group in range(0, rows, ROWS):
                some, row = min(ROWS, rows - group), top + group
                for v in range(0, 2 * some * slots * apart, step):
                    store(scratch, results + v, zero(scratch))
                for r in range(some):
                    for at in range(item(near, STARTS, row + r), item(near, STARTS, row + r + 1)):
                        t = item(near, TRIANGLES, at)
                        if r > 0 and earlier(near, t, size, row, r):
                            continue
                        missing = masked and marking(skips, t, index, chunk, many, scratch, mask, 0.0)
                        prepare(x, near, t, scratch, w)
                        for v in range(0, many, step):
                            pair(
                                x, near, t, row, some, varying, flat, pitch, origin + v, v, missing, tables, scalars,
                                parameters, scratch, mask, w, results, apart,
                            )  # fmt: skip
                        if missing:
                            marking(skips, t, index, chunk, many, scratch, mask, 1.0)
                scattered(varying, cluster, chunk, many, scratch, results, apart, group, some, out)

    @jitable_part
    def fill(fixed, varying, scalars, position, cluster, scratch, out):  # type: ignore[no-untyped-def]
        """As `Entries` says."""
        nothing = varying.integers  # instead of skips, which are not read
        block_of(fixed, varying, scalars, nothing, False, position, 1, cluster, scratch, out.reshape(1, out.size))

    @jitable_part
    def block(fixed, varying, scalars, skips, fixed_cluster, cluster, scratch, out):  # type: ignore[no-untyped-def]
        """As `Entries` says."""
        first, rows = item(fixed.integers, FIRST, fixed_cluster), item(fixed.integers, SIZES, fixed_cluster)
        block_of(fixed, varying, scalars, skips, True, np.int64(first), np.int64(rows), cluster, scratch, out)

    return Entries(fill, block)


def gathering(points: int, barycentric: int, with_points: bool, copied: int) -> Callable[..., None]:
    """What gathers the triangles of a chunk; copied: the first numbers of a record that are read, 0 for all."""

    @jitable_part
    def gathered(side, low, high, scratch):  # type: ignore[no-untyped-def]
        """Gather triangles low..high of the lists of a side into rows of a chunk, in the order of a record."""
        numbers, index, step = side.numbers, side.integers, lanes(scratch)
        rows = number(index, LENGTH) - 3 * points
        length, begin = number(index, LENGTH), number(index, RECORDS)
        for k in range(high - low):
            place = begin + length * item(index, LISTS, low + k)
            for c in range(copied or rows):
                put(scratch, c * PITCH + k, number(numbers, place + c))
        for v in range(0, high - low if with_points else 0, step):
            for c in range(3):
                e, w0 = load(scratch, (CENTRE + c) * PITCH + v), load(scratch, (SPREAD + c) * PITCH + v)
                w1 = load(scratch, (SPREAD + 3 + c) * PITCH + v)
                for q in range(points):
                    b0, b1 = number(numbers, barycentric + q), number(numbers, barycentric + points + q)
                    b2 = number(numbers, barycentric + 2 * points + q)
                    store(scratch, (rows + 3 * q + c) * PITCH + v, e + (b0 - b2) * w0 + (b1 - b2) * w1)

    return gathered


def product_sums(oscillates: bool, points: int, varying: Layout) -> Callable[..., None]:
    """What folds sums with the functions of the varying side."""
    triples, many, threes, table, units = points // 3, varying.functions, varying.threes, varying.table, varying.units

    @jitable
    def put_products(s, place, apart, at, stride, imaginary, numbers, g_re, g_im):  # type: ignore[no-untyped-def]
        """Add the sums at s[at:] times the functions of the varying side to s[place:]."""
        if threes and many > 1:
            for f in range(0, many, 3):
                unit, weight = number(numbers, units + f // 3), table + 2 * triples * (f // 3)
                values = folded(s, at, stride, triples, numbers, weight)
                values_i = zero(s), zero(s), zero(s)
                if oscillates:
                    values_i = folded(s, at + imaginary, stride, triples, numbers, weight)
                add_pair(s, place + 2 * f * apart, apart, values[0], values_i[0], unit * g_re, unit * g_im, oscillates)
                add_pair(
                    s, place + 2 * (f + 1) * apart, apart, values[1], values_i[1], unit * g_re, unit * g_im, oscillates
                )
                add_pair(
                    s, place + 2 * (f + 2) * apart, apart, values[2], values_i[2], unit * g_re, unit * g_im, oscillates
                )
            return
        for f in range(many):
            weight = varying.measure if many == 1 else table + f * points
            re, im = combined(s, at, stride, points, numbers, weight), zero(s)
            if oscillates:
                im = combined(s, at + imaginary, stride, points, numbers, weight)
            add_pair(s, place + 2 * f * apart, apart, re, im, g_re, g_im, oscillates)

    return put_products


def all_functions(
    forms: tuple[Form, ...], scalars_of_one: int, constant: bool, oscillates: bool, fixed: Layout, varying: Layout
) -> Callable[..., Any]:
    """What adds the entries of one form, or of two, each with so many scalars."""
    kinds = constant, oscillates, fixed, varying, len(forms) > 1
    first, *others = (local_functions(each, n, n * scalars_of_one, *kinds) for n, each in enumerate(forms))
    if not others:
        return first
    second = others[0]

    @jitable
    def finish(  # type: ignore[no-untyped-def]
        x, near, t, base, row, some, side, flat, pitch, place, f_re, f_im, totals, totals_i, c, e, m, n, scalars, s, w,
        results, apart,
    ):  # fmt: skip
        """Add the entries of triangle t with a vector of others."""
        given = x, near, t, base, row, some, side, flat, pitch, place, f_re, f_im, totals, totals_i, c, e, m, n, scalars
        first(*given, s, w, results, apart)
        second(*given, s, w, results, apart)

    return finish


def local_functions(
    form: Form,
    number_of_form: int,
    begin: int,
    constant: bool,
    oscillates: bool,
    fixed: Layout,
    varying: Layout,
    joint: bool,
) -> Callable[..., Any]:
    """What adds entries that are products of local functions, and those of their curls. Of several forms: which one it
    is of, and where its scalars begin."""
    points, curls, mass = fixed.points, form.curls, form.mass
    summed = 3 * held_groups(groups_of(fixed.functions), joint)
    put_products, first = product_sums(oscillates, points, varying), points + 3 * number_of_form

    @jitable
    def finish(  # type: ignore[no-untyped-def]
        x, near, t, base, row, some, side, flat, pitch, place, f_re, f_im, totals, totals_i, c, e, m, n, scalars, s, w,
        results, apart,
    ):  # fmt: skip
        """Add the entries of triangle t with a vector of others."""
        step, functions, size = lanes(s), number(side.integers, FUNCTIONS), number(near, FUNCTIONS)
        total, total_i = totals[number_of_form], totals_i[number_of_form]
        g_re, g_im = complex_product(f_re, f_im, zero(s) + scalars[begin + MASS], zero(s) + scalars[begin + MASS + 1])
        if curls:
            cosine = m[0] * n[0] + m[1] * n[1] + m[2] * n[2]
            g_re, g_im = g_re * cosine, g_im * cosine
            alpha, alpha_i = zero(s) + scalars[begin + ALPHA], zero(s) + scalars[begin + ALPHA + 1]
            f_re, f_im = complex_product(f_re, f_im, alpha, alpha_i)
            total, total_i = complex_product(total, total_i, f_re, f_im)
        for a in range(size):
            inside = item(near, PLACES, t * size + a) - row
            if inside < 0 or inside >= some:
                continue
            target = results + 2 * inside * functions * apart
            if constant and mass:
                add_pair(s, target, apart, total, total_i, g_re, g_im, oscillates)
            elif mass:
                at = w + (first + a) * step
                put_products(s, target, apart, at, 2 * summed * step, summed * step, side.numbers, g_re, g_im)
            if curls:
                curl = base + DATA + 3 + 3 * a
                d0, d1, d2 = number(x, curl), number(x, curl + 1), number(x, curl + 2)
                for f in range(functions):
                    k0, k1, k2 = three(flat, (DATA + 3 + 3 * f) * pitch + place, pitch)
                    product = d0 * k0 + d1 * k1 + d2 * k2
                    add(s, target + 2 * f * apart, product * total)
                    if oscillates:
                        add(s, target + (2 * f + 1) * apart, product * total_i)

    return finish


def local_matrix(
    form: Form, columns: bool, exchanged: bool, many_tests: bool, oscillates: bool, inner: Layout, outer: Layout
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What brings the numbers of a fixed triangle to vectors, and what adds entries that a form makes of moments.

    inner: the side whose functions are in the sums, the fixed one unless sides are exchanged.
    """
    points, threes = inner.points, outer.threes
    height, many, table, units = inner.functions * form.summed, outer.functions, outer.table, outer.units
    by_test, by_trial = (1, many) if columns or exchanged else (many, 1)
    fields, entries, head, function, room = form.fields, form.entries, form.head, form.function, form.room
    first = pair_room(points, groups_of(height), form.summed)
    own_data, entries_of = first + 2 * height * many + room, 2 * form.width

    put_moments = moment_sums(height, many, threes, points, oscillates)

    @jitable
    def prepare(x, near, t, s, w):  # type: ignore[no-untyped-def]
        """Store the numbers of triangle t in vectors."""
        length, step = number(near, LENGTH), lanes(s)
        base = number(near, RECORDS) + length * t + DATA
        for k in range(length - 3 * points - DATA):
            store(s, w + (own_data + k) * step, zero(s) + number(x, base + k))

    @jitable
    def add_entry(s, target, apart, entry):  # type: ignore[no-untyped-def]
        """Add a complex number to results."""
        add(s, target, load(s, entry))
        if oscillates:
            add(s, target + apart, load(s, entry + lanes(s)))

    @jitable
    def put_unit_entries(s, at, own, result):  # type: ignore[no-untyped-def]
        """Entries are linear in the numbers of a test function: store those of each number, the others being zero."""
        step = lanes(s)
        unit = result + function * entries_of * step
        for k in range(2 * function - 1):
            store(s, unit + k * step, zero(s) + (1.0 if k == function - 1 else 0.0))
        for k in range(function):
            here = unit + (function - 1 - k) * step
            entries(s, at, 0, s, here, step, s, own, step, result + k * entries_of * step)

    @jitable
    def finish(  # type: ignore[no-untyped-def]
        x, near, t, base, row, some, side, flat, pitch, place, f_re, f_im, totals, totals_i, c, e, m, n, scalars, s, w,
        results, apart,
    ):  # fmt: skip
        """Add the entries of triangle t with a vector of others."""
        step, functions, size = lanes(s), number(side.integers, FUNCTIONS), number(near, FUNCTIONS)
        length, here = number(near, LENGTH) - 3 * points - DATA, DATA * pitch + place
        moments, own = w + first * step, w + own_data * step
        at, result = own - room * step, own + length * step
        f_re, f_im = complex_product(f_re, f_im, zero(s) + scalars[ALPHA], zero(s) + scalars[ALPHA + 1])
        outside = x if exchanged else side.numbers
        put_moments(s, w, moments, outside, table, outside, units, f_re, f_im)
        d0, d1, d2 = c[0] - e[0], c[1] - e[1], c[2] - e[2]
        if columns:
            fields(
                s, moments, by_test * step, by_trial * step, height * many * step, at, flat, here, pitch, s, own,
                step, -d0, -d1, -d2, scalars[ALPHA], scalars[ALPHA + 1], scalars[MASS], scalars[MASS + 1],
            )  # fmt: skip
            if many_tests:
                put_unit_entries(s, at, own, result)
            for a in range(function if many_tests else functions):
                entry = result + (a * entries_of if many_tests else 0) * step
                if not many_tests:
                    entries(s, at, a, flat, here + (head + function * a) * pitch, pitch, s, own, step, result)
                for b in range(size):
                    inside = item(near, PLACES, t * size + b) - row
                    if 0 <= inside < some:
                        target = results + 2 * (inside * (function if many_tests else functions) + a) * apart
                        add_entry(s, target, apart, entry + 2 * b * step)
        else:
            fields(
                s, moments, by_test * step, by_trial * step, height * many * step, at, s, own, step, flat, here,
                pitch, d0, d1, d2, scalars[ALPHA], scalars[ALPHA + 1], scalars[MASS], scalars[MASS + 1],
            )  # fmt: skip
            for a in range(size):
                inside = item(near, PLACES, t * size + a) - row
                if 0 <= inside < some:
                    entries(s, at, a, s, own + (head + function * a) * step, step, flat, here, pitch, result)
                    target = results + 2 * inside * functions * apart
                    for b in range(functions):
                        add_entry(s, target + 2 * b * apart, apart, result + 2 * b * step)

    return prepare, finish


@jitable
def nothing_to_prepare(x, near, t, s, w):  # type: ignore[no-untyped-def]
    """Instead of what `local_matrix` prepares."""


@jitable
def add_pair(s, place, apart, re, im, c, d, oscillates):  # type: ignore[no-untyped-def]
    """Add (re + i im) (c + i d) to results, whose imaginary part lies so much further."""
    re, im = complex_product(re, im, c, d)
    add(s, place, re)
    if oscillates:
        add(s, place + apart, im)


@jitable
def earlier(near, t, size, row, r):  # type: ignore[no-untyped-def]
    """Whether triangle t has a function among those at positions row .. row + r."""
    for a in range(size):
        if row <= item(near, PLACES, t * size + a) < row + r:
            return True
    return False


def scattering(oscillates: bool, stored: int, head: int) -> Callable[..., None]:
    """What brings results to their entries; stored: numbers of a test function for which results are, 0: results are
    those of the functions themselves."""

    @jitable
    def result_at(scratch, place, apart):  # type: ignore[no-untyped-def]
        if oscillates:
            return complex(number(scratch, place), number(scratch, place + apart))
        return number(scratch, place)

    @jitable_part
    def scattered(side, cluster, chunk, size, scratch, results, apart, group, rows, out):  # type: ignore[no-untyped-def]
        """Add the results of `size` triangles of a chunk to rows group .. group + rows of the block."""
        index, functions = side.integers, number(side.integers, FUNCTIONS)
        columns = columns_of(index, cluster, chunk, size)
        for r in range(0 if stored else rows):
            for f in range(functions):
                here = results + 2 * (r * functions + f) * apart
                for k in range(size):
                    target = number(columns, k * functions + f)
                    if target >= 0:
                        out[group + r, target] += result_at(scratch, here + k, apart)
        for k in range(size if stored else 0):
            record = number(index, RECORDS) + number(index, LENGTH) * item(index, LISTS, chunk + k) + DATA + head
            for f in range(functions):
                target = number(columns, k * functions + f)
                for r in range(rows if target >= 0 else 0):
                    for n in range(stored):
                        value = number(side.numbers, record + f * stored + n)
                        here = results + 2 * (r * stored + n) * apart + k
                        out[group + r, target] += value * result_at(scratch, here, apart)

    return scattered
