"""Regular part of a Galerkin block: every test triangle with every trial triangle by a product of symmetric Gauss
rules.

One call computes a tile: some consecutive test triangles against all trial triangles, added into the rows of the
output. For each pair the sums of pair_sums.py come first; then the trial functions are applied, and the entries of the
pair, or those that a form makes of these moments, are added to the rows of the tile, which go to the output block by
block of trial triangles. Of double layers between linear functions the trial functions are applied first, and the test
functions then. Pairs that touch or are near are masked here and integrated in special/.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import (
    accumulate,
    add,
    aligned,
    any_less,
    complex_product,
    jitable,
    lanes,
    load,
    number,
    prefetch,
    store,
    width,
    zero,
)
from calderon.galerkin.forms.form import ALPHA, MASS, PARAMETERS, Form
from calderon.galerkin.regular.centroid_distances import RECORD
from calderon.galerkin.regular.component_sums import component_sums
from calderon.galerkin.regular.distant import are_weighed, near_lanes
from calderon.galerkin.regular.element_tables import LANES, groups_of
from calderon.galerkin.regular.flush import add_curls, add_product, add_three, taking_results
from calderon.galerkin.regular.moments import moment_sums
from calderon.galerkin.regular.pair_mask import first_left_out, left_out, mark, words_for
from calderon.galerkin.regular.pair_sums import held_groups, pair_room, pair_sums
from calderon.galerkin.regular.point_sums import combined, folded, shared, three
from calderon.galerkin.regular.scatter_columns import Columns, adding_sums, clear, room_for
from calderon.galerkin.regular.series import add_of_series, series_sums
from calderon.greens import Radial, parameter_reader
from calderon.integrands import Components
from calderon.pairs.zones import DEGREE, DistantRule
from calderon.quadrature import triangle_rule

AHEAD = 2
"""Test triangles whose rows are prefetched before entries are added to them: a row lies on a page of its own."""


def tile_scratch(
    rows: int, functions: int, curls: bool, mass: bool, complex_out: bool, points: int, form: Form | None, tests: int,
    columns: Columns, real: DTypeLike,
) -> NDArray[Any]:  # fmt: skip
    """Working memory of one tile: for each of its output rows (a dummy row, and whole vectors of them)
    a vector of each trial function if there are products of functions (mass), and of each component of curls, and sums
    of the columns of a group, real and imaginary; results and sums of some rows; in vectors: a mask, what `pair_sums`
    needs, and for a form its moments, fields and the test data of a triangle with so many functions."""
    step, slots = width(real), (functions if mass else 0) + (3 if curls else 0)
    parts, room = 2 if complex_out else 1, room_for(columns.start, step)
    rowwise = parts * (rows // step + 1) * step * (slots * step + room) + (functions * step + 2 * room) * step
    of_form = 0 if form is None else form.vectors(tests)
    of_pair = pair_room(points, 2)
    if form is not None:
        of_pair = pair_room(points, groups_of(form.height), len(form.regular))
    return aligned(rowwise + (1 + of_pair + of_form) * step, real)


class TileKind(NamedTuple):
    """The choices that a tile is compiled for: a Green's function and its components.

    components: of regular pairs; without a form one, or two of which an entry has its share (`joint`). linear: three
    local test functions at a time (else one, a constant). single_slot: sum over the trial points at once (constant
    trial functions). curls: integrate by parts. oscillates: complex values. threes: points and functions as
    `element_tables.in_threes` says. through_centroids: squared distances as in centroid_distances.py, for points in
    threes. points: quadrature points of a triangle. trials: local trial functions. form: what makes entries from
    moments with barycentric coordinates, instead of products of local functions. distant: the rule of distant pairs,
    None where pairs have one rule at any distance.
    """

    radial: Radial
    components: Components
    linear: bool
    single_slot: bool
    curls: bool
    oscillates: bool
    complex_out: bool
    threes: bool
    through_centroids: bool
    points: int
    trials: int
    form: Form | None = None
    distant: DistantRule | None = None

    @property
    def has_mass(self) -> bool:
        """Whether entries have products of local functions."""
        return self.linear or not self.curls

    @property
    def at_once(self) -> bool:
        """Whether sums over all points of both triangles are entries."""
        return self.single_slot and not self.linear and self.has_mass

    @property
    def joint(self) -> bool:
        """Whether entries are sums of two components, the first one times `ALPHA`, the second one times `MASS`: of
        three linear functions and points in threes."""
        return self.form is None and len(self.components) == 2

    @property
    def weighed(self) -> bool:
        """Whether distant pairs have weights of waves (`distant.are_weighed`)."""
        sizes = (3 if self.linear else 1, self.trials) if self.form is None else (self.form.height, self.form.trials)
        return are_weighed(self.distant, self.radial, *sizes)

    @property
    def exchanged(self) -> bool:
        """Whether sums are those of trial functions, over trial points (pair_sums.py)."""
        of_trial = self.form is None and self.components[0].normal == "trial"
        return of_trial and self.threes and self.through_centroids and self.linear and self.trials == 3


def distant_loops(kind: TileKind) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions of `inner_loops` for distant pairs."""
    loops = inner_loops(kind._replace(points=triangle_rule(DEGREE).number_of_points), kind.weighed)
    if kind.distant is None or kind.distant == "points":
        return loops
    linear = kind.linear and kind.has_mass
    sums = series_sums(kind.distant, kind.radial, kind.components[0], not linear)
    return sums, add_of_series(kind.complex_out) if linear else loops[1]


def inner_loops(kind: TileKind, weighed: bool = False) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled sums over pairs of points, and the function that makes entries of a pair of triangles from them;
    weighed: as in `pair_sums`."""
    radial, form, points = kind.radial, kind.form, kind.points
    given = kind.oscillates, kind.complex_out, points
    if form is not None:
        add_entries, groups = add_of_form(form, kind.threes, *given, weighed), groups_of(form.height)
        if not form.is_plain:
            return component_sums(radial, kind.components, form.tests, False, kind.oscillates, points), add_entries
    else:
        by_threes, functions = kind.threes and not kind.single_slot, 3 if kind.linear else 1
        add_entries = add_of_functions(by_threes, kind.exchanged, *given, kind.trials, functions, weighed, kind.joint)
        groups = 1 if kind.linear else 0
    every, stored = kind.curls or kind.at_once, kind.has_mass and not kind.at_once
    rest = kind.oscillates, kind.threes, kind.through_centroids, points
    second = kind.components[1] if kind.joint else None
    sums = pair_sums(radial, kind.components[0], groups, every, stored, kind.exchanged, *rest, second, weighed)
    return sums, add_entries


@functools.lru_cache(maxsize=256)
def tile_kernel(kind: TileKind) -> Callable[..., None]:
    """The compiled tile(test, trial, spread, distant, group, skip_start, skip_position, scalars, lo, hi, upper,
    tile_rows, row_ids, scratch, out), which adds test triangles lo up to, without, hi to the matrix `out` with one
    group of local test functions.

    test, trial: element_tables.TestSide and TrialSide; spread: centroid_distances.Spreads; distant: distant.Distant;
    group: number of the group of test functions in `test`; skip_start (tests + 1,), skip_position: increasing trial
    triangles to leave out of each test triangle; scalars: forms.form.SCALARS, the coefficients times what
    `Radial.multiple` lacks; upper: only pairs with trial number > test number; tile_rows (hi - lo, L): the row in the
    tile of each local function, row_ids: the row in `out` of each row of the tile; scratch: `tile_scratch`.
    """
    radial, linear, curls, trials = kind.radial, kind.linear, kind.curls, kind.trials
    complex_out, points = kind.complex_out, kind.points
    has_mass, at_once = kind.has_mass, kind.at_once
    functions = 3 if linear else 1
    triples = points // 3
    parameters_of, exchanged = parameter_reader(radial.parameters), kind.exchanged
    parts, take_results = 2 if complex_out else 1, taking_results(curls, has_mass, trials, complex_out)
    add_columns, _ = adding_sums(complex_out)
    add_pair, has_zones = adding_pair(kind, *inner_loops(kind)), kind.distant is not None
    add_distant = adding_pair(kind, *distant_loops(kind)) if has_zones else add_pair

    @kernel
    def tile(
        test, trial, spread, distant, group, skip_start, skip_position, scalars, lo, hi, upper, tile_rows, row_ids,
        scratch, out,
    ):  # fmt: skip
        """Add test triangles lo up to, without, hi with all trial triangles to the matrix."""
        tiny, parameters, blocks = scalars[0], parameters_of(scalars, PARAMETERS), trial.centres.shape[0]
        rows, step = row_ids.size, lanes(scratch)
        t, first = scratch, group * functions
        kept = (rows // step + 1) * step
        curl_base = kept * trials * step if has_mass else 0
        imaginary = curl_base + (3 * kept * step if curls else 0)
        columns, room = trial.columns, room_for(trial.columns.start, step)
        places, groups, number_of = columns.place.reshape(-1), columns.group, columns.place.shape[1]
        mask, rest = scratch[parts * imaginary : parts * imaginary + step], scratch[parts * imaginary + step :]
        turned, work = rest[: 2 * room * step], rest[2 * room * step : (2 * room + trials * step) * step]
        sums = rest[turned.size + work.size : turned.size + work.size + parts * kept * room]
        w = parts * imaginary + step + turned.size + work.size + sums.size
        shapes, around = spread.test.reshape(-1), spread.trial.reshape(-1)  # not in loops, where references are counted
        steps, pairs, ones = spread.steps, spread.products.reshape(-1), np.ones(triples, scratch.dtype)
        x, factors = test.nodes.reshape(-1), test.factors[group]
        weights, table = test.weights[group], trial.table
        inner, outer = (table, weights) if exchanged else (weights, table)
        own, others, share = distant.own, distant.others.reshape(-1), number(distant.factors, group)
        far_weights, far_table, far_units = distant.weights[group], distant.table, distant.units
        far_inner, far_outer = (far_table, far_weights) if exchanged else (far_weights, far_table)
        far_steps, far_pairs, far_measure = distant.steps, distant.products.reshape(-1), distant.measure
        test_normals, test_centres, test_curls = test.normals, test.centres, test.curls.reshape(-1)
        y, y_pitch = trial.points.reshape(-1), trial.points.shape[1] * 3 * LANES
        measure, units, jacobian = trial.measure, trial.units, trial.jacobian.reshape(-1)
        all_normals, all_centres = trial.normals.reshape(-1), trial.centres.reshape(-1)
        data, length = test.data.reshape(-1), test.data.shape[1]
        trial_data, trial_length = trial.data.reshape(-1), trial.data.shape[1] * LANES
        flat, pitch, trial_curls = out.reshape(-1), out.shape[1], trial.curls.reshape(-1)
        start, used = lo // LANES if upper else 0, False
        cursors, words = first_left_out(skip_start, skip_position, lo, hi, start), words_for(lo, hi)
        clear(t, 0, parts * imaginary)
        clear(sums, 0, sums.size)
        # block by block of trial triangles, vectors of them, all test triangles
        for b in range(start, blocks):
            column, direct = columns.first[b], at_once and columns.first[b] >= 0
            wide = LANES if direct else step
            mark(words, cursors, skip_start, skip_position, lo, hi, b, upper)
            for strip in range(0, LANES, wide):
                for i in range(lo, min(hi, b * LANES + strip + wide) if upper else hi):
                    m = test_normals[i, 0], test_normals[i, 1], test_normals[i, 2]
                    c = test_centres[i, 0], test_centres[i, 1], test_centres[i, 2]
                    row = tile_rows[i - lo, first if has_mass else 0]
                    target, ahead = number(row_ids, row) * pitch + column if direct else 0, 0
                    if direct:
                        ahead = number(row_ids, tile_rows[min(i + AHEAD, hi - 1) - lo, first]) * pitch + column
                    for v in range(strip, strip + wide, step):
                        if direct:
                            prefetch(flat, ahead + v)
                            if complex_out:
                                prefetch(flat, ahead + v + step // 2)
                        here = 3 * b * LANES + v
                        n, e = three(all_normals, here, LANES), three(all_centres, here, LANES)
                        factor = number(factors, i) * load(jacobian, b * LANES + v)
                        missing = left_out(words, i - lo, v, mask)
                        if missing:
                            factor = factor * load(mask, 0)
                        # near triangles of the vector, then distant ones
                        near, apart, s_re, s_im = zero(t) + 1.0, zero(t), zero(t), zero(t)
                        if has_zones:
                            near = near_lanes(c, e, tiny, number(own, i), load(others, b * LANES + v))
                            apart = 1.0 - near
                        around_v, kept_lanes = b * RECORD * LANES + v, load(mask, 0)
                        if not has_zones or any_less(zero(t), near):
                            s_re, s_im = add_pair(
                                x, 3 * points * i, m, c, shapes, RECORD * i, inner, y, b * y_pitch + v, e, n, around,
                                around_v, steps, pairs, ones, measure, parameters, tiny, missing, kept_lanes,
                                factor * near, scalars, outer, units, data, length * i, trial_data,
                                b * trial_length + v, test_curls, i, tile_rows, i - lo, rows, first, t, w, 0,
                                curl_base, imaginary,
                            )  # fmt: skip
                        if has_zones and any_less(zero(t), apart):
                            a_re, a_im = add_distant(
                                x, 0, m, c, shapes, RECORD * i, far_inner, y, 0, e, n, around, around_v, far_steps,
                                far_pairs, ones, far_measure, parameters, tiny, missing, kept_lanes,
                                share * factor * apart, scalars, far_outer, far_units, data, length * i, trial_data,
                                b * trial_length + v, test_curls, i, tile_rows, i - lo, rows, first, t, w, 0,
                                curl_base, imaginary,
                            )  # fmt: skip
                            s_re, s_im = s_re + a_re, s_im + a_im
                        if direct:  # not in add_pair, which would count references
                            accumulate(flat, target + v, s_re, s_im)
                        elif at_once:
                            add_product(t, row * step, imaginary, s_re, s_im, 1.0, 0.0, complex_out)
                if not direct:  # to the sums of columns
                    where, curls_at, used = b * number_of + strip, 3 * b * trials * LANES + strip, True
                    take_results(t, imaginary, curl_base, kept, rows, trial_curls, curls_at, sums, places, where, work)
            # sums of this group of blocks to the matrix
            if used and (b + 1 == blocks or number(groups, b + 1) != number(groups, b)):
                add_columns(flat, pitch, row_ids, columns, number(groups, b), sums, 0, kept * room, kept, turned)
                used = False

    return tile


def adding_pair(kind: TileKind, sums: Callable[..., Any], add_entries: Callable[..., Any]) -> Callable[..., None]:
    """The compiled function that adds a test triangle with a vector of others by one rule, of which `inner_loops` gives
    the sums and add_entries."""
    curls, has_mass, at_once, complex_out = kind.curls, kind.has_mass, kind.at_once, kind.complex_out
    has_form, joint = kind.form is not None, kind.joint
    last = 3 if joint else 0  # the sums of the last component

    @jitable
    def add_pair(
        x, o, m, c, shapes, record, inner, y, here, e, n, around, there, steps, pairs, ones, measure, parameters, tiny,
        missing, kept, factor, scalars, outer, units, data, place, trial_data, its_place, test_curls, number_of,
        tile_rows, i, rows, first, t, w, base, curls_at, imaginary,
    ):  # fmt: skip
        """Add test triangle i of the tile, test triangle `number_of` of all, with a vector of others.

        x, o, m, c, shapes, record, inner (weights), y, here, e, n, around, there, steps, pairs, ones, measure,
        parameters, tiny, missing, kept: as in `pair_sums`; factor: Jacobians, 0 for lanes that are left out; outer,
        units: of the functions of the outer loop; data[place:], trial_data[its_place:]: what the form reads;
        test_curls: of all test triangles; rows, first: as in `add_of_form` and `add_of_functions`; t, w, base,
        imaginary: as in `add_of_functions`; curls_at: place of the components of curls in t; scalars, tile_rows: as in
        `tile_kernel`. Returns the entry of constant functions, real and imaginary, which is not added.
        """
        # sums over pairs of points, times coefficients
        f_re, f_im, totals, totals_i = sums(
            x, o, m, c, shapes, record, inner, y, here, LANES, e, n, around, there, steps, pairs, ones, measure,
            parameters, tiny, missing, kept, t, w,
        )  # fmt: skip
        total, total_i = totals[0], totals_i[0]
        f_re, f_im = f_re * factor, f_im * factor
        e_re, e_im = complex_product(f_re, f_im, scalars[ALPHA], scalars[ALPHA + 1])
        f_re, f_im = complex_product(f_re, f_im, scalars[MASS], scalars[MASS + 1])
        if curls:
            cosine = m[0] * n[0] + m[1] * n[1] + m[2] * n[2]
            f_re, f_im = f_re * cosine, f_im * cosine
        # entries of the form, products of functions, or a constant function; then curls
        if has_form:
            add_entries(
                t, base, imaginary, w, outer, units, e_re, e_im, c, e, scalars, data, place, trial_data, its_place,
                tile_rows, i, rows,
            )  # fmt: skip
        elif has_mass and not at_once:
            add_entries(t, base, imaginary, w, last, outer, units, f_re, f_im, tile_rows, i, first)
            if joint:
                add_entries(t, base, imaginary, w, 0, outer, units, e_re, e_im, tile_rows, i, first)
        if curls:
            add_curls(
                t, curls_at, imaginary, total, total_i, e_re, e_im, test_curls, number_of, tile_rows, i, complex_out
            )
        return complex_product(total, total_i, f_re, f_im)

    return add_pair


def add_of_functions(
    by_threes: bool, exchanged: bool, oscillates: bool, complex_out: bool, points: int, trials: int, functions: int,
    weighed: bool, joint: bool,
) -> Callable[..., Any]:  # fmt: skip
    """The compiled sums over the points of the outer loop, sum_q w_f(y_q) s_a(y_q), of the sums s_a that `pair_sums`
    stored: entries of pairs of local functions a and f, but for a factor. by_threes: points and functions in threes;
    exchanged: s_a are sums with trial functions a; functions: test functions at a time; weighed: as in `pair_sums`;
    joint: whether there are sums of two components; the rest as in `TileKind`."""
    triples, held = points // 3, 3 * held_groups(1, joint)

    @jitable
    def three_at(t, here, w, table, weight):
        """The sums with three functions of the outer loop of what begins at t[here:], with alpha and beta at
        table[weight] (`folded`), or shares at t[w:]."""
        if weighed:
            return shared(t, here, 2 * held * lanes(t), w)
        return folded(t, here, 2 * held * lanes(t), triples, table, weight)

    @jitable
    def add_entries(t, base, imaginary, w, begin, table, units, f_re, f_im, tile_rows, i, first):
        """Add the entries of test triangle i of the tile with a vector of others to its rows from t[base:] on, from
        the sums at t[w:], of each point number `begin` and the next ones, times f_re + i f_im, imaginary parts
        `imaginary` numbers further; table, units: of the functions of the outer loop (TrialSide); tile_rows: of the
        tile; first: its first local function of this group."""
        step, zeros = lanes(t), (zero(t), zero(t), zero(t))
        at = w + (points + begin) * step
        # functions of the outer loop, three or one at a time, with the factor that their table lacks
        for f in range(0, trials, 3 if by_threes else 1):
            unit = number(units, f // 3)
            g_re, g_im = unit * f_re, unit * f_im
            # sums with a function of one side, times those of the other side at its points
            for a in range(3 if exchanged else functions):
                here, there = at + a * step, at + (a + held) * step
                row = base + (0 if exchanged else tile_rows[i, first + a] * trials + f) * step
                if by_threes:
                    values, values_i = three_at(t, here, w, table, 2 * triples * (f // 3)), zeros
                    if oscillates:
                        values_i = three_at(t, there, w, table, 2 * triples * (f // 3))
                    # of one test function and three trial functions, or exchanged of one trial function and all others
                    if not exchanged:
                        add_three(t, row, imaginary, values, values_i, g_re, g_im, complex_out)
                    for n in range(3 if exchanged else 0):
                        place = row + (tile_rows[i, first + n] * trials + a) * step
                        add_product(t, place, imaginary, values[n], values_i[n], g_re, g_im, complex_out)
                else:
                    s0, i0 = combined(t, here, 2 * held * step, points, table, f * points), zero(t)
                    if oscillates:
                        i0 = combined(t, there, 2 * held * step, points, table, f * points)
                    add_product(t, row, imaginary, s0, i0, g_re, g_im, complex_out)

    return add_entries


def add_of_form(
    form: Form, threes: bool, oscillates: bool, complex_out: bool, points: int, weighed: bool
) -> Callable[..., Any]:  # fmt: skip
    """The compiled sum over trial points for a form: moments, fields, entries; weighed: as in `pair_sums`; the rest as
    in `TileKind`."""
    fields, entries, head, function, room = form.fields, form.entries, form.head, form.function, form.room
    tests, trials, width = form.height, form.trials, form.width
    moments = moment_sums(tests, trials, threes, points, oscillates, weighed)
    sums = pair_room(points, groups_of(tests), len(form.regular))

    @jitable
    def add_entries(
        t, base, imaginary, w, table, units, f_re, f_im, c, e, scalars, data, place, trial_data, there,
        tile_rows, i, rows,
    ):  # fmt: skip
        """Add the entries of test triangle i of the tile with a vector of others, from sums at t[w:] times f_re + i
        f_im; c, e: centroids; scalars: `SCALARS`; test data at data[place:], trial data at trial_data[there:],
        LANES apart; row number `rows` is a dummy; the rest as in `add_of_functions`."""
        # moments, data of the test triangle, fields, then entries of one test function after the other
        step = lanes(t)
        m = w + sums * step
        at = m + 2 * tests * trials * step
        own = at + room * step
        moments(t, w, m, table, 0, units, 0, f_re, f_im)
        for k in range(head):
            store(t, own + k * step, zero(t) + number(data, place + k))
        fields(
            t, m, trials * step, step, tests * trials * step, at, t, own, step, trial_data, there, LANES,
            c[0] - e[0], c[1] - e[1], c[2] - e[2], scalars[ALPHA], scalars[ALPHA + 1], scalars[MASS], scalars[MASS + 1],
        )  # fmt: skip
        result = own + (head + function) * step
        for a in range(tile_rows.shape[1]):
            row = tile_rows[i, a]
            if row == rows:
                continue
            for k in range(function):
                store(t, own + (head + k) * step, zero(t) + number(data, place + head + function * a + k))
            entries(t, at, a, t, own + head * step, step, trial_data, there, LANES, result)
            for b in range(width):
                here, e = base + (width * row + b) * step, result + 2 * b * step
                add(t, here, load(t, e))
                if complex_out:
                    add(t, imaginary + here, load(t, e + step))

    return add_entries
