"""The entries of a triangle with a vector of others, from the sums of pair_sums.py: products of local functions and of
their curls, or what a form makes of moments."""

from collections.abc import Callable
from typing import Any

from calderon.backends.vectors import add, complex_product, jitable, lanes, load, number, store, zero
from calderon.galerkin.forms.form import ALPHA, MASS, Form
from calderon.galerkin.regular.element_tables import groups_of
from calderon.galerkin.regular.moments import moment_sums
from calderon.galerkin.regular.pair_sums import held_groups, pair_room
from calderon.galerkin.regular.point_sums import combined, folded, shared, three
from calderon.galerkin.rows.cluster_tables import SIDE, item
from calderon.galerkin.rows.entry_tables import DATA, Layout


def product_sums(oscillates: bool, points: int, varying: Layout, weighed: bool) -> Callable[..., None]:
    """The kernel that applies the functions of the varying side to the sums at its points; weighed: as in `pair_sums`,
    whose shares are at s[w:].

    put_products(s, w, place, apart, at, stride, imaginary, numbers, g_re, g_im): the sums at s[at:], `stride` numbers
    from point to point, their imaginary parts `imaginary` further; numbers: those of the varying side, with the table
    of its functions; g = g_re + i g_im: what all products are multiplied by; results of function f from s[place + 2 f
    apart], imaginary parts `apart` further.
    """
    triples, many, threes, table, units = points // 3, varying.functions, varying.threes, varying.table, varying.units

    @jitable
    def three_at(s, w, at, stride, numbers, weight):
        """The sums from s[at:] on, `stride` numbers from point to point, times three functions with alpha and beta at
        numbers[weight], or with shares at s[w:]."""
        if weighed:
            return shared(s, at, stride, w)
        return folded(s, at, stride, triples, numbers, weight)

    @jitable
    def put_products(s, w, place, apart, at, stride, imaginary, numbers, g_re, g_im):
        """Add g times the sums times each function of the varying side to the results."""
        # functions of three vertices or edges, at points in threes
        if threes and many > 1:
            for f in range(0, many, 3):
                unit, weight = number(numbers, units + f // 3), table + 2 * triples * (f // 3)
                values = three_at(s, w, at, stride, numbers, weight)
                values_i = zero(s), zero(s), zero(s)
                if oscillates:
                    values_i = three_at(s, w, at + imaginary, stride, numbers, weight)
                add_pair(s, place + 2 * f * apart, apart, values[0], values_i[0], unit * g_re, unit * g_im, oscillates)
                add_pair(
                    s, place + 2 * (f + 1) * apart, apart, values[1], values_i[1], unit * g_re, unit * g_im, oscillates
                )
                add_pair(
                    s, place + 2 * (f + 2) * apart, apart, values[2], values_i[2], unit * g_re, unit * g_im, oscillates
                )
            return
        # function by function
        for f in range(many):
            weight = varying.measure if many == 1 else table + f * points
            re, im = combined(s, at, stride, points, numbers, weight), zero(s)
            if oscillates:
                im = combined(s, at + imaginary, stride, points, numbers, weight)
            add_pair(s, place + 2 * f * apart, apart, re, im, g_re, g_im, oscillates)

    return put_products


def all_functions(
    forms: tuple[Form, ...], scalars_of_one: int, constant: bool, oscillates: bool, fixed: Layout, varying: Layout,
    weighed: bool,
) -> Callable[..., Any]:  # fmt: skip
    """The kernel that adds the entries of one form, or of two, each with so many scalars; weighed: as in `pair_sums`.

    finish(x, near, t, base, row, some, side, flat, pitch, place, f_re, f_im, totals, totals_i, c, e, m, n, scalars, s,
    w, results, apart): x, near: numbers and integers of the fixed side, where the record of triangle t begins at
    x[base]; row, some: the rows row .. row + some that are computed; side: the `RowSide` of the varying side, whose
    triangles are the columns place.. of flat, rows of `pitch` numbers; f = f_re + i f_im: phase and areas of each pair;
    totals, totals_i: real and imaginary sums over all pairs of points, one of each form; c, m: centroid and normal of
    triangle t, e, n: those of the others; scalars: `SCALARS` of each form; s[w:]: the sums at the points of the
    others, as `pair_sums` leaves them; results: place in s, where each function of a row has `apart` real and as many
    imaginary numbers.
    """
    kinds = constant, oscillates, fixed, varying, len(forms) > 1, weighed
    first, *others = (local_functions(each, n, n * scalars_of_one, *kinds) for n, each in enumerate(forms))
    if not others:
        return first
    second = others[0]

    @jitable
    def finish(
        x, near, t, base, row, some, side, flat, pitch, place, f_re, f_im, totals, totals_i, c, e, m, n, scalars, s, w,
        results, apart,
    ):  # fmt: skip
        """Add the entries of triangle t with a vector of others; arguments as `entries.pair_loop` passes them."""
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
    weighed: bool,
) -> Callable[..., Any]:
    """The kernel that adds entries of one form that are products of local functions, and those of their curls; its
    arguments are as in `all_functions`, joint: whether there are two forms. number_of_form, begin: which of the forms
    it is, and where its scalars begin."""
    points, curls, mass = fixed.points, form.curls, form.mass
    summed = 3 * held_groups(groups_of(fixed.functions), joint)
    put_products, first = product_sums(oscillates, points, varying, weighed), points + 3 * number_of_form

    @jitable
    def finish(
        x, near, t, base, row, some, side, flat, pitch, place, f_re, f_im, totals, totals_i, c, e, m, n, scalars, s, w,
        results, apart,
    ):  # fmt: skip
        """Add the entries of triangle t with a vector of others; arguments as `entries.pair_loop` passes them."""
        step, functions, size = lanes(s), number(side.integers, SIDE.functions), number(near, SIDE.functions)
        total, total_i = totals[number_of_form], totals_i[number_of_form]
        g_re, g_im = complex_product(f_re, f_im, zero(s) + scalars[begin + MASS], zero(s) + scalars[begin + MASS + 1])
        if curls:
            cosine = m[0] * n[0] + m[1] * n[1] + m[2] * n[2]
            g_re, g_im = g_re * cosine, g_im * cosine
            alpha, alpha_i = zero(s) + scalars[begin + ALPHA], zero(s) + scalars[begin + ALPHA + 1]
            f_re, f_im = complex_product(f_re, f_im, alpha, alpha_i)
            total, total_i = complex_product(total, total_i, f_re, f_im)
        # functions of triangle t that belong to the rows
        for a in range(size):
            inside = item(near, SIDE.places, t * size + a) - row
            if inside < 0 or inside >= some:
                continue
            target = results + 2 * inside * functions * apart
            if constant and mass:
                add_pair(s, target, apart, total, total_i, g_re, g_im, oscillates)
            elif mass:
                at = w + (first + a) * step
                put_products(s, w, target, apart, at, 2 * summed * step, summed * step, side.numbers, g_re, g_im)
            # curls are constant on a triangle: their product times the sum over all points
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
    form: Form, columns: bool, exchanged: bool, many_tests: bool, oscillates: bool, inner: Layout, outer: Layout,
    recorded: int, weighed: bool,
) -> tuple[Callable[..., Any], Callable[..., Any]]:  # fmt: skip
    """The kernel that brings the numbers of a fixed triangle to vectors, and the one that adds entries which a form
    makes of moments. The arguments of the first are as in `nothing_to_prepare`, those of the second as in
    `all_functions`.

    inner: the side whose functions are in the sums, the fixed one unless sides are exchanged. recorded: points of a
    record, at least those of the rule. weighed: as in `pair_sums`.
    """
    height, many, table, units = inner.functions * len(form.regular), outer.functions, outer.table, outer.units
    by_test, by_trial = (1, many) if columns or exchanged else (many, 1)
    fields, room, first = form.fields, form.room, pair_room(recorded, groups_of(height), len(form.regular))
    own_data = first + 2 * height * many + room
    put_moments = moment_sums(height, many, outer.threes, inner.points, oscillates, weighed)
    add_entries = adding_columns(form, many_tests, oscillates) if columns else adding_rows(form, oscillates)

    @jitable
    def finish(
        x, near, t, base, row, some, side, flat, pitch, place, f_re, f_im, totals, totals_i, c, e, m, n, scalars, s, w,
        results, apart,
    ):  # fmt: skip
        """Add the entries of triangle t with a vector of others; arguments as `entries.pair_loop` passes them."""
        step, here = lanes(s), DATA * pitch + place
        moments, own = w + first * step, w + own_data * step
        at, result = own - room * step, own + (number(near, SIDE.length) - 3 * recorded - DATA) * step
        # moments times alpha
        f_re, f_im = complex_product(f_re, f_im, zero(s) + scalars[ALPHA], zero(s) + scalars[ALPHA + 1])
        outside = x if exchanged else side.numbers
        put_moments(s, w, moments, outside, table, outside, units, f_re, f_im)
        d0, d1, d2 = c[0] - e[0], c[1] - e[1], c[2] - e[2]
        # fields, in columns of triangle t as the trial triangle, then the entries that are requested
        if columns:
            fields(
                s, moments, by_test * step, by_trial * step, height * many * step, at, flat, here, pitch, s, own,
                step, -d0, -d1, -d2, scalars[ALPHA], scalars[ALPHA + 1], scalars[MASS], scalars[MASS + 1],
            )  # fmt: skip
        else:
            fields(
                s, moments, by_test * step, by_trial * step, height * many * step, at, s, own, step, flat, here,
                pitch, d0, d1, d2, scalars[ALPHA], scalars[ALPHA + 1], scalars[MASS], scalars[MASS + 1],
            )  # fmt: skip
        functions = number(side.integers, SIDE.functions)
        add_entries(near, t, row, some, functions, s, at, own, flat, here, pitch, result, results, apart)

    return preparing(recorded, own_data), finish


def preparing(recorded: int, own_data: int) -> Callable[..., None]:
    """The function that stores the numbers of a triangle in vectors from number `own_data` of the working memory on;
    recorded: points of a record."""

    @jitable
    def prepare(x, near, t, s, w):
        """Store the numbers of triangle t in vectors of s[w:]; x, near: numbers and integers of the fixed side."""
        length, step = number(near, SIDE.length), lanes(s)
        base = number(near, SIDE.records) + length * t + DATA
        for k in range(length - 3 * recorded - DATA):
            store(s, w + (own_data + k) * step, zero(s) + number(x, base + k))

    return prepare


def adding_rows(form: Form, oscillates: bool) -> Callable[..., None]:
    """The function that adds the entries of the functions of a fixed test triangle with a vector of trial triangles.

    add(near, t, row, some, functions, s, at, own, flat, here, pitch, result, results, apart): of triangle t of the
    fixed side, with integers `near`, to the rows `row` up to, without, row + some; functions: of a trial triangle;
    s[at:]: fields, s[own:]: data of the fixed triangle, flat[here:]: of the others, rows of `pitch` numbers;
    s[result:]: room for entries of one function; s[results:]: results, `apart` numbers for each function and part.
    """
    entries, head, function = form.entries, form.head, form.function

    @jitable
    def add_rows(near, t, row, some, functions, s, at, own, flat, here, pitch, result, results, apart):
        step, size = lanes(s), number(near, SIDE.functions)
        for a in range(size):
            inside = item(near, SIDE.places, t * size + a) - row
            if 0 <= inside < some:
                entries(s, at, a, s, own + (head + function * a) * step, step, flat, here, pitch, result)
                target = results + 2 * inside * functions * apart
                for b in range(functions):
                    add_entry(s, target + 2 * b * apart, apart, result + 2 * b * step, oscillates)

    return add_rows


def adding_columns(form: Form, many_tests: bool, oscillates: bool) -> Callable[..., None]:
    """The function that adds the entries of the functions of a fixed trial triangle with a vector of test triangles;
    arguments as in `adding_rows`, functions: of a test triangle. many_tests: entries are those of each number of a test
    function."""
    entries, head, function, entries_of = form.entries, form.head, form.function, 2 * form.width

    @jitable
    def put_unit_entries(s, at, own, result):
        """Store the entries of each number of a test function, the others being zero, at s[result:]: entries are linear
        in these numbers. at: fields, own: data of the fixed triangle, places in s."""
        step = lanes(s)
        unit = result + function * entries_of * step
        for k in range(2 * function - 1):
            store(s, unit + k * step, zero(s) + (1.0 if k == function - 1 else 0.0))
        for k in range(function):
            here = unit + (function - 1 - k) * step
            entries(s, at, 0, s, here, step, s, own, step, result + k * entries_of * step)

    @jitable
    def add_columns(near, t, row, some, functions, s, at, own, flat, here, pitch, result, results, apart):
        step, size, count = lanes(s), number(near, SIDE.functions), function if many_tests else functions
        if many_tests:
            put_unit_entries(s, at, own, result)
        for a in range(count):
            entry = result + (a * entries_of if many_tests else 0) * step
            if not many_tests:
                entries(s, at, a, flat, here + (head + function * a) * pitch, pitch, s, own, step, result)
            for b in range(size):
                inside = item(near, SIDE.places, t * size + b) - row
                if 0 <= inside < some:
                    add_entry(s, results + 2 * (inside * count + a) * apart, apart, entry + 2 * b * step, oscillates)

    return add_columns


@jitable
def add_entry(s, target, apart, entry, oscillates):
    """Add the number at s[entry:] to results at s[target:], and where it oscillates the imaginary part, which follows,
    to results `apart` numbers further."""
    add(s, target, load(s, entry))
    if oscillates:
        add(s, target + apart, load(s, entry + lanes(s)))


@jitable
def nothing_to_prepare(x, near, t, s, w):
    """Store nothing, instead of `local_matrix`: products of functions read no numbers of the fixed triangle in vectors.

    x, near: numbers and integers of the fixed side; t: its triangle; s[w:]: working memory.
    """


@jitable
def add_pair(s, place, apart, re, im, c, d, oscillates):
    """Add (re + i im) (c + i d) to results at s[place:], whose imaginary part, if it oscillates, lies `apart` numbers
    further."""
    re, im = complex_product(re, im, c, d)
    add(s, place, re)
    if oscillates:
        add(s, place + apart, im)
