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
from calderon.backends.vectors import any_less, jitable, lanes, load, number, put, store, width, zero
from calderon.galerkin.forms.form import PARAMETERS, Form
from calderon.galerkin.regular.component_sums import component_sums
from calderon.galerkin.regular.distant import are_weighed, near_lanes
from calderon.galerkin.regular.element_tables import groups_of
from calderon.galerkin.regular.pair_sums import pair_room, pair_sums
from calderon.galerkin.regular.point_sums import three
from calderon.galerkin.regular.series import series_sums
from calderon.galerkin.rows.cluster_tables import CHUNK, PITCH, SIDE, columns_of, item, list_of, marking, size_of
from calderon.galerkin.rows.entry_tables import CENTRE, DATA, JACOBIAN, NORMAL, REACH, SPREAD, Layout
from calderon.galerkin.rows.pair_entries import all_functions, local_matrix, nothing_to_prepare
from calderon.greens import Radial, parameter_reader
from calderon.integrands import Component
from calderon.pairs.zones import DistantRule

ROWS = 64
"""Rows of a block that are computed at a time."""


def entries_scratch(form: Form, points: int, tests: int, trials: int, longest: int, real: DTypeLike) -> int:
    """Numbers of working memory of one thread; tests, trials: local functions; longest: record of a triangle."""
    groups = groups_of(max(tests, trials) * len(form.regular))
    vectors = pair_room(points, max(2, groups), len(form.regular)) + form.vectors(tests) + longest
    vectors += 2 * form.function * (form.width + 1)
    return (longest + 2 * ROWS * max(tests, trials) + 2) * PITCH + vectors * width(real)


class Entries(NamedTuple):
    """The compiled loops behind rows, columns and blocks.

    fill(fixed, varying, scalars, position, cluster, scratch, out): out[:n] = the entries of one unknown with those of
    a cluster. block(fixed, varying, scalars, skips, fixed_cluster, cluster, scratch, out): out[:m, :n] = those of
    two clusters, without pairs of triangles t, s with s among skips[skips[t] : skips[t + 1]], which increase.
    fixed, varying: `RowSide` of both sides; scalars: `SCALARS` of each form; position: of the unknown of the fixed side
    in cluster order; fixed_cluster, cluster: numbers of clusters of the fixed and of the varying side; scratch:
    working memory, at least `entries_scratch` numbers.
    """

    fill: Callable[..., None]
    block: Callable[..., None]


class PairLoop(NamedTuple):
    """The compiled loops over the points of a triangle of the fixed side and a vector of triangles of the other.

    prepare(x, near, t, s, w) stores in the working memory s[w:] the numbers of triangle t that `pair` reads there; x,
    near: numbers and integers of the fixed side. tables(fixed, varying): numbers that `pair`
    reads of a rule, from those of both sides.
    pair(x, near, t, row, some, side, flat, pitch, place, v, missing, share, tables, scalars, parameters, s, mask, w,
    results, apart) adds triangle t and a vector of others, times `share` (1, or 0 for those that another rule serves),
    to rows row .. row + some of the fixed side in the results. side: the
    `RowSide` of the varying side, whose triangles are the columns place.. of flat, rows of `pitch` numbers; v: the
    first of them in results and in s[mask:], which is 0 where `missing` ones are left out; scalars: `SCALARS` of each
    form; parameters: those of the Green's function; s[w:]: working memory; results: place in s, where each function of
    a row has `apart` real and as many imaginary numbers.
    """

    prepare: Callable[..., None]
    pair: Callable[..., None]
    tables: Callable[..., Any]


class Kinds(NamedTuple):
    """The kinds of loops that are compiled: a Green's function, one form or two, whether the trial side is the fixed
    one (`columns`), and whether a triangle has `many_tests`, more functions than each of them has numbers; the rest
    as in tile.TileKind."""

    radial: Radial
    forms: tuple[Form, ...]
    columns: bool
    many_tests: bool
    oscillates: bool
    through_centroids: bool


def pair_loop(kinds: Kinds, fixed: Layout, varying: Layout, recorded: int, rule: DistantRule | None) -> PairLoop:
    """The loops over pairs of points of the rules of both layouts; recorded: points of the records of triangles; rule:
    of distant pairs, for which the loops are, or None; series expand instead (series.py).

    tables(fixed, varying): from the numbers of both sides the tables of centroid_distances.py (steps, products, ones),
    the weights of the points of the varying triangles, and the table of the functions in the sums.
    """
    radial, forms, columns, many_tests, oscillates, through_centroids = kinds
    form, constant = forms[0], fixed.functions == 1 and varying.functions == 1
    # where points of the triangles may change places, the loop over pairs of points applies the fewer functions
    exchanged = not form.reads_normals and not form.direct and through_centroids
    exchanged = exchanged and fixed.functions > varying.functions
    inner, outer = sides = (varying, fixed) if exchanged else (fixed, varying)
    weighed = are_weighed(rule, radial, fixed.functions, varying.functions)
    if rule is None or rule == "points":
        sums = point_sums(kinds, inner, fixed, exchanged, constant, weighed)
    else:
        sums = series_sums(rule, radial, seen_from(columns, form.regular[0]), constant or form.curls)
    if form.direct:
        kinds_of_sums = PARAMETERS + radial.parameters, constant, oscillates, fixed, varying
        prepare, finish = nothing_to_prepare, all_functions(forms, *kinds_of_sums, weighed)
    else:
        prepare, finish = local_matrix(form, columns, exchanged, many_tests, oscillates, *sides, recorded, weighed)
    measure, steps, products, ones = varying.measure, fixed.steps, fixed.products, fixed.ones
    unit, begin = inner.measure - 1, inner.begin

    @jitable
    def tables(fixed, varying):
        """The parts of both tables that `pair` reads."""
        inside = varying if exchanged else fixed
        return fixed[steps:], fixed[products:], fixed[ones:], varying[measure:], inside[begin:]

    @jitable
    def pair(
        x, near, t, row, some, side, flat, pitch, place, v, missing, share, tables, scalars, parameters, s, mask, w,
        results, apart,
    ):  # fmt: skip
        """Add triangle t and a vector of others to the results; arguments as in `PairLoop`."""
        # records of both: normals and centroids, m and c of triangle t, n and e of the others
        base = number(near, SIDE.records) + number(near, SIDE.length) * t
        rows = number(side.integers, SIDE.length) - 3 * recorded
        n, e = three(flat, NORMAL * pitch + place, pitch), three(flat, CENTRE * pitch + place, pitch)
        m = number(x, base + NORMAL), number(x, base + NORMAL + 1), number(x, base + NORMAL + 2)
        c = number(x, base + CENTRE), number(x, base + CENTRE + 1), number(x, base + CENTRE + 2)
        kept, inside = load(s, mask + v), side.numbers if exchanged else x
        # sums over the pairs of points, apart from the phase f, both areas and the unit of the table
        f_re, f_im, totals, totals_i = sums(
            x, base + number(near, SIDE.length) - 3 * recorded, m, c, x, base + SPREAD, tables[4], flat,
            rows * pitch + place, pitch, e, n, flat, SPREAD * pitch + place, tables[0], tables[1], tables[2], tables[3],
            parameters, scalars[0], missing, kept, s, w,
        )  # fmt: skip
        factor = number(inside, unit) * number(x, base + JACOBIAN)
        factor = share * kept * factor * load(flat, JACOBIAN * pitch + place)
        f_re, f_im = f_re * factor, f_im * factor
        finish(
            x, near, t, base, row, some, side, flat, pitch, place, f_re, f_im, totals, totals_i, c, e, m, n, scalars, s,
            w, results + v, apart,
        )  # fmt: skip

    return PairLoop(prepare, pair, tables)


def point_sums(
    kinds: Kinds, inner: Layout, fixed: Layout, exchanged: bool, constant: bool, weighed: bool
) -> Callable[..., Any]:  # fmt: skip
    """The sums over pairs of points; inner: the side whose functions are in them, the fixed one unless sides are
    exchanged; constant: whether all functions are; weighed: as in `pair_sums`."""
    radial, forms, columns, _, oscillates, through_centroids = kinds
    form, points = forms[0], fixed.points
    if not form.is_plain:
        return component_sums(radial, form.regular, fixed.functions, columns, oscillates, points)
    component, *others = (seen_from(columns, each.regular[0]) for each in forms)
    every, stored = any(each.curls for each in forms) or constant, any(each.mass for each in forms) and not constant
    sizes = groups_of(inner.functions), every, stored, exchanged, oscillates, fixed.threes
    return pair_sums(radial, component, *sizes, through_centroids, points, *others, weighed=weighed)


def seen_from(columns: bool, component: Component) -> Component:
    """A component without a monomial for sums in which the fixed triangle is the test triangle, or in columns the trial
    triangle."""
    return component.exchanged() if columns else component


def by_zones(usual: PairLoop, distant: PairLoop) -> PairLoop:
    """The loops of two rules: those of the second for triangles that are distant from the fixed one (pairs/zones.py).

    tables(fixed, varying): those of both rules, from the numbers of both sides.
    """
    usual_pair, distant_pair, usual_tables, distant_tables = usual.pair, distant.pair, usual.tables, distant.tables

    @jitable
    def tables(fixed, varying):
        """The tables of both rules."""
        return usual_tables(fixed, varying), distant_tables(fixed, varying)

    @jitable
    def pair(
        x, near, t, row, some, side, flat, pitch, place, v, missing, share, tables, scalars, parameters, s, mask, w,
        results, apart,
    ):  # fmt: skip
        """Add triangle t and a vector of others by the rule for their distance; arguments as in `pair_loop`."""
        base = number(near, SIDE.records) + number(near, SIDE.length) * t
        c = number(x, base + CENTRE), number(x, base + CENTRE + 1), number(x, base + CENTRE + 2)
        e = three(flat, CENTRE * pitch + place, pitch)
        within = near_lanes(c, e, scalars[0], number(x, base + REACH), load(flat, REACH * pitch + place))
        beyond = 1.0 - within
        if any_less(zero(s), within):
            usual_pair(
                x, near, t, row, some, side, flat, pitch, place, v, missing, share * within, tables[0], scalars,
                parameters, s, mask, w, results, apart,
            )  # fmt: skip
        if any_less(zero(s), beyond):
            distant_pair(
                x, near, t, row, some, side, flat, pitch, place, v, missing, share * beyond, tables[1], scalars,
                parameters, s, mask, w, results, apart,
            )  # fmt: skip

    return PairLoop(usual.prepare, pair, tables)


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
    rule: DistantRule | None = None,
    distant: tuple[Layout, Layout] | None = None,
) -> Entries:
    """The compiled loops of one Green's function and form; columns: the trial side is the fixed one; many_tests: a
    triangle has more test functions than each of them has numbers. second: another form whose entries are added, of
    products of the same functions, direct as the first one is; its coefficients follow all scalars of the first.
    rule, distant: the rule for distant triangles, and the fixed and the varying layout of its points."""
    forms, points = (form,) if second is None else (form, second), fixed.points
    kinds = Kinds(radial, forms, columns, many_tests, oscillates, through_centroids)
    loop = pair_loop(kinds, fixed, varying, points, None)
    if distant is not None:
        loop = by_zones(loop, pair_loop(kinds, *distant, points, rule))
    prepare, pair, tables_of = loop
    stored, copied = (form.function, DATA + form.head) if many_tests else (0, 0)
    gathered = gathering(points, varying.barycentric, not through_centroids, copied)
    parameters_of, scattered = parameter_reader(radial.parameters), scattering(oscillates, stored, form.head)

    @jitable_part
    def block_of(fixed, varying, scalars, skips, masked, top, rows, cluster, scratch, out):
        """out[:rows, :n] = the entries of the unknowns of `fixed` from position `top` with those of a cluster of
        `varying`.

        scalars, skips, cluster, scratch, out: as in `Entries`; masked: whether pairs among `skips` are left out.
        """
        # scratch: LENGTH rows of a chunk, a row of factors 0 or 1 for pairs, results, working memory of the sums
        x, near, index, step = fixed.numbers, fixed.integers, varying.integers, lanes(scratch)
        own, size = number(index, SIDE.own), number(near, SIDE.functions)
        slots = stored or number(index, SIDE.functions)
        mask = number(index, SIDE.length) * PITCH
        results = mask + PITCH
        w = results + 2 * min(rows, ROWS) * slots * PITCH
        parameters = parameters_of(scalars, PARAMETERS)
        tables = tables_of(x, varying.numbers)
        count, (low, high) = size_of(index, cluster), list_of(index, cluster)
        # begin with zeros, and with no pair left out
        for i in range(rows):
            for j in range(count):
                out[i, j] = 0.0
        # chunk by chunk of the varying triangles, groups of rows, triangles of each row that no earlier row has
        whole = zero(scratch) + 1.0
        for k in range(0, PITCH, step):
            store(scratch, mask + k, whole)
        for chunk in range(low, high, CHUNK):
            many = min(CHUNK, high - chunk)
            apart = (many // step + 1) * step  # numbers of one function and row
            # the triangles of the chunk as lanes
            if own:
                flat, pitch, origin = varying.numbers, number(index, SIDE.row), number(index, SIDE.chunks) + chunk
            else:
                flat, pitch, origin = scratch, PITCH, 0
                gathered(varying, chunk, chunk + many, scratch)
            for group in range(0, rows, ROWS):
                some, row = min(ROWS, rows - group), top + group
                for v in range(0, 2 * some * slots * apart, step):
                    store(scratch, results + v, zero(scratch))
                # each triangle of these rows once, with all of its functions among them
                for r in range(some):
                    for at in range(item(near, SIDE.starts, row + r), item(near, SIDE.starts, row + r + 1)):
                        t = item(near, SIDE.triangles, at)
                        if r > 0 and earlier(near, t, size, row, r):
                            continue
                        # mark triangles to leave out, add all others, and take the marks away
                        missing = masked and marking(skips, t, index, chunk, many, scratch, mask, 0.0)
                        prepare(x, near, t, scratch, w)
                        for v in range(0, many, step):
                            pair(
                                x, near, t, row, some, varying, flat, pitch, origin + v, v, missing, whole, tables,
                                scalars, parameters, scratch, mask, w, results, apart,
                            )  # fmt: skip
                        if missing:
                            marking(skips, t, index, chunk, many, scratch, mask, 1.0)
                # from triangles to unknowns
                scattered(varying, cluster, chunk, many, scratch, results, apart, group, some, out)

    @jitable_part
    def fill(fixed, varying, scalars, position, cluster, scratch, out):
        """Store the entries of one unknown with those of a cluster, as in `Entries`."""
        nothing = varying.integers  # instead of skips, which are not read
        block_of(fixed, varying, scalars, nothing, False, position, 1, cluster, scratch, out.reshape(1, out.size))

    @jitable_part
    def block(fixed, varying, scalars, skips, fixed_cluster, cluster, scratch, out):
        """Store the entries of two clusters without the pairs among `skips`, as in `Entries`."""
        near = fixed.integers
        first, rows = item(near, SIDE.first, fixed_cluster), item(near, SIDE.sizes, fixed_cluster)
        block_of(fixed, varying, scalars, skips, True, np.int64(first), np.int64(rows), cluster, scratch, out)

    return Entries(fill, block)


def gathering(points: int, barycentric: int, with_points: bool, copied: int) -> Callable[..., None]:
    """The kernel that gathers the triangles of a chunk. points: of a record; barycentric: place of the coordinates of
    the points in the numbers of the side; with_points: whether points are read; copied: how many of the first numbers
    of a record are read, 0 for all that come before the points."""

    @jitable_part
    def gathered(side, low, high, scratch):
        """Gather triangles low up to, without, high of the lists of a side into rows of a chunk, in the order of a
        record: number c of triangle low + k goes to scratch[c * PITCH + k]."""
        numbers, index, step = side.numbers, side.integers, lanes(scratch)
        rows = number(index, SIDE.length) - 3 * points
        length, begin = number(index, SIDE.length), number(index, SIDE.records)
        for k in range(high - low):
            place = begin + length * item(index, SIDE.lists, low + k)
            for c in range(copied or rows):
                put(scratch, c * PITCH + k, number(numbers, place + c))
        # points from the centroid e and the corners: e + b_0 w_0 + b_1 w_1 + b_2 w_2, w_2 = -w_0 - w_1
        for v in range(0, high - low if with_points else 0, step):
            for c in range(3):
                e, w0 = load(scratch, (CENTRE + c) * PITCH + v), load(scratch, (SPREAD + c) * PITCH + v)
                w1 = load(scratch, (SPREAD + 3 + c) * PITCH + v)
                for q in range(points):
                    b0, b1 = number(numbers, barycentric + q), number(numbers, barycentric + points + q)
                    b2 = number(numbers, barycentric + 2 * points + q)
                    store(scratch, (rows + 3 * q + c) * PITCH + v, e + (b0 - b2) * w0 + (b1 - b2) * w1)

    return gathered


@jitable
def earlier(near, t, size, row, r):
    """Whether triangle t has one of its `size` functions among those at positions row .. row + r; near: integers of a
    side."""
    for a in range(size):
        if row <= item(near, SIDE.places, t * size + a) < row + r:
            return True
    return False


def scattering(oscillates: bool, stored: int, head: int) -> Callable[..., None]:
    """The kernel that adds results to entries. stored: how many numbers a test function has, for each of which there is
    a result, to be multiplied by it; 0 where results are those of the functions themselves. head: numbers of the form
    in the record of a triangle that come before those of its functions. oscillates: whether results are complex."""

    @jitable
    def result_at(scratch, place, apart):
        """The result at scratch[place], with the imaginary part `apart` numbers further where it is complex."""
        if oscillates:
            return complex(number(scratch, place), number(scratch, place + apart))
        return number(scratch, place)

    @jitable_part
    def scattered(side, cluster, chunk, size, scratch, results, apart, group, rows, out):
        """Add the results of `size` triangles of a chunk to rows group .. group + rows of the block `out`.

        side: the `RowSide` of the triangles; cluster: the one of its unknowns; chunk: number of the first triangle in
        its lists; results: place in scratch, where each function has `apart` real and as many imaginary numbers.
        """
        index, functions = side.integers, number(side.integers, SIDE.functions)
        columns = columns_of(index, cluster, chunk, size)
        # results of functions
        for r in range(0 if stored else rows):
            for f in range(functions):
                here = results + 2 * (r * functions + f) * apart
                for k in range(size):
                    target = number(columns, k * functions + f)
                    if target >= 0:
                        out[group + r, target] += result_at(scratch, here + k, apart)
        # results of the numbers of functions, times these
        for k in range(size if stored else 0):
            triangle = item(index, SIDE.lists, chunk + k)
            record = number(index, SIDE.records) + number(index, SIDE.length) * triangle + DATA + head
            for f in range(functions):
                target = number(columns, k * functions + f)
                for r in range(rows if target >= 0 else 0):
                    for n in range(stored):
                        value = number(side.numbers, record + f * stored + n)
                        here = results + 2 * (r * stored + n) * apart + k
                        out[group + r, target] += value * result_at(scratch, here, apart)

    return scattered
