"""Entries of two clusters, `Sums.block` of scalar_entries.py: each pair of triangles once for all entries of the
block."""

from calderon.backends.numba import jitable_part
from calderon.backends.vectors import add, complex_product, jitable, lanes, load, number, store, zero
from calderon.galerkin.rows.chunks import distance, gathered, marking, run_of
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
    item,
)

ROWS = 64
"""Rows of a block that are computed at a time."""


def block_sums(radial, parts, curls, mass, oscillates, of_fixed, points):  # type: ignore[no-untyped-def]
    """The compiled block; parts: `asked`, `factors`, `cosine` and `plane` of scalar_entries.py, other arguments as
    there."""
    radial_value = radial.value
    asked, factors, cosine, plane = parts
    width = 3 * points

    @jitable
    def pair(x, near, t, row, some, varying, flat, pitch, place, v, mask, scalars, scratch, work, results):  # type: ignore[no-untyped-def]
        """Add triangle t and a vector of others to rows row .. row + some of the fixed side in results."""
        step, p0, p1, tiny = lanes(scratch), scalars[0], scalars[1], scalars[2]
        numbers = varying.numbers
        functions, size = number(varying.integers, FUNCTIONS), number(near, FUNCTIONS)
        # offsets are at `work`, then sums of three functions at points of the varying triangles
        sums = work + points * step
        base = number(near, RECORDS) + number(near, LENGTH) * t
        reference, f_re, f_im = factors(x, base, flat, pitch, place, scratch, work, scalars)
        factor = load(scratch, mask + v) * load(flat, (width + 6) * pitch + place)
        f_re, f_im = f_re * factor, f_im * factor
        g_re, g_im = complex_product(f_re, f_im, zero(scratch) + scalars[5], zero(scratch) + scalars[6])
        if curls:
            angle = cosine(x, base + width + 3, flat, pitch, place)
            g_re, g_im = g_re * angle, g_im * angle
        for group in range(0, size, 3):  # of a constant function the table goes on with other finite numbers
            total, total_i = zero(scratch), zero(scratch)
            for q in range(points):
                here = 3 * q * pitch + place
                y0, y1, y2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
                s0, s1, s2, every = zero(scratch), zero(scratch), zero(scratch), zero(scratch)
                i0, i1, i2, every_i = zero(scratch), zero(scratch), zero(scratch), zero(scratch)
                for p in range(points):
                    r2 = distance(x, base + 3 * p, y0, y1, y2, tiny)
                    k, u = asked(radial_value(r2, p0, p1, reference), scratch, work + p * step)
                    weight = group * points + p
                    w0, w1, w2 = number(x, weight), number(x, weight + points), number(x, weight + 2 * points)
                    if mass:
                        s0, s1, s2 = s0 + w0 * k, s1 + w1 * k, s2 + w2 * k
                        if oscillates:
                            i0, i1, i2 = i0 + w0 * u, i1 + w1 * u, i2 + w2 * u
                    if curls and not mass:
                        w0 = number(x, size * points + p)
                        every, every_i = every + w0 * k, every_i + w0 * u
                if of_fixed:
                    offset = plane(x, base + width, y0, y1, y2)
                    s0, s1, s2, i0, i1, i2 = (
                        s0 * offset,
                        s1 * offset,
                        s2 * offset,
                        i0 * offset,
                        i1 * offset,
                        i2 * offset,
                    )
                if curls:
                    if mass:  # the three linear functions make 1
                        every, every_i = s0 + s1 + s2, i0 + i1 + i2
                    weight = number(numbers, functions * points + q)
                    total, total_i = total + weight * every, total_i + weight * every_i
                if mass:
                    here = sums + 6 * q * step
                    store(scratch, here, s0)
                    store(scratch, here + step, s1)
                    store(scratch, here + 2 * step, s2)
                    if oscillates:
                        store(scratch, here + 3 * step, i0)
                        store(scratch, here + 4 * step, i1)
                        store(scratch, here + 5 * step, i2)
            if curls:
                total, total_i = complex_product(total, total_i, f_re, f_im)
                total, total_i = complex_product(total, total_i, zero(scratch) + scalars[3], zero(scratch) + scalars[4])
            for a in range(group, min(size, group + 3)):
                inside = item(near, PLACES, t * size + a) - row
                if inside < 0 or inside >= some:
                    continue
                for f in range(functions):
                    target = results + 2 * (inside * functions + f) * PITCH + v
                    re, im = zero(scratch), zero(scratch)
                    if mass:
                        for q in range(points):
                            weight, here = number(numbers, f * points + q), sums + (6 * q + a - group) * step
                            re = re + weight * load(scratch, here)
                            if oscillates:
                                im = im + weight * load(scratch, here + 3 * step)
                        re, im = complex_product(re, im, g_re, g_im)
                    if curls:
                        here, curl = (width + 7 + 3 * f) * pitch + place, base + width + 7 + 3 * a
                        product = number(x, curl) * load(flat, here) + number(x, curl + 1) * load(flat, here + pitch)
                        product = product + number(x, curl + 2) * load(flat, here + 2 * pitch)
                        re, im = re + product * total, im + product * total_i
                    add(scratch, target, re)
                    if oscillates:
                        add(scratch, target + PITCH, im)

    @jitable_part
    def scattered(index, scratch, results, chunk, size, first, count, group, rows, out):  # type: ignore[no-untyped-def]
        """Add the results of a chunk to rows group .. group + rows of the block."""
        functions, own = number(index, FUNCTIONS), number(index, OWN)
        for k in range(size):
            for f in range(functions):
                target = chunk + k - first
                if not own:
                    target = item(index, PLACES, item(index, LISTS, chunk + k) * functions + f) - first
                if 0 <= target < count:
                    for r in range(rows):
                        here = results + 2 * (r * functions + f) * PITCH + k
                        if oscillates:
                            out[group + r, target] += complex(scratch[here], scratch[here + PITCH])
                        else:
                            out[group + r, target] += scratch[here]

    @jitable_part
    def block(fixed, varying, scalars, skips, fixed_cluster, cluster, scratch, out):  # type: ignore[no-untyped-def]
        """out[:m, :n] = the entries of two clusters, without those of pairs of triangles t, s with s among
        skips[skips[t] : skips[t + 1]], which increase."""
        x, near, index = fixed.numbers, fixed.integers, varying.integers
        step, own = lanes(scratch), number(index, OWN)
        functions, size = number(index, FUNCTIONS), number(near, FUNCTIONS)
        work = (width + 16) * PITCH
        mask = work + 7 * points * step
        results = mask + PITCH
        first, count = item(index, FIRST, cluster), item(index, SIZES, cluster)
        top, rows = item(near, FIRST, fixed_cluster), item(near, SIZES, fixed_cluster)
        low, high = run_of(index, cluster)
        for i in range(rows):
            for j in range(count):
                out[i, j] = 0.0
        for k in range(PITCH):
            scratch[mask + k] = 1.0
        for chunk in range(low, high, CHUNK):
            many = min(CHUNK, high - chunk)
            if own:
                flat, pitch, origin = varying.numbers, number(index, ROW), number(index, CHUNKS) + chunk
            else:
                flat, pitch, origin = scratch, PITCH, 0
                gathered(varying, points, chunk, chunk + many, curls, scratch)
            for group in range(0, rows, ROWS):
                some = min(ROWS, rows - group)
                for v in range(0, 2 * some * functions * PITCH, step):
                    store(scratch, results + v, zero(scratch))
                for r in range(some):
                    row = top + group
                    for e in range(item(near, STARTS, row + r), item(near, STARTS, row + r + 1)):
                        t = item(near, TRIANGLES, e)
                        if earlier(near, t, size, row, r):
                            continue
                        marked = marking(skips, t, index, chunk, many, scratch, mask, 0.0)
                        for v in range(0, many, step):
                            pair(
                                x, near, t, row, some, varying, flat, pitch, origin + v, v, mask, scalars, scratch,
                                work, results,
                            )  # fmt: skip
                        if marked:
                            marking(skips, t, index, chunk, many, scratch, mask, 1.0)
                scattered(index, scratch, results, chunk, many, first, count, group, some, out)

    return block


@jitable
def earlier(near, t, size, row, r):  # type: ignore[no-untyped-def]
    """Whether triangle t has a function among those at positions row .. row + r."""
    for a in range(size):
        if row <= item(near, PLACES, t * size + a) < row + r:
            return True
    return False
