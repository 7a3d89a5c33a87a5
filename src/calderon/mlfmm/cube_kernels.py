"""Kernels of equivalent sources: products with turned matrices, from points to cubes and back."""

import functools
from collections.abc import Callable

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.register_tiles import add_products
from calderon.backends.vector_loads import total
from calderon.backends.vectors import lanes, load, number, put, store, zero
from calderon.greens.elementary import decaying_exponential, inverse_square_root, sine_cosine

TOGETHER = 24
"""Vectors that are multiplied by a matrix at a time."""
TURNED = 48


@kernel
def multiply(  # type: ignore[no-untyped-def]
    matrices, size, pitch, turned, x, y, source, target, columns, runs, blocks, room, out, s, t, low, high,
):  # fmt: skip
    """y[target] += P A P^T x[source] for the pairs of blocks low .. high, with complex matrices A.

    x, y (box, column, part, pitch). matrices (n, 3 size, pitch): columns of the real part R of A, of its imaginary part
    I, of R + I: as (R + i I)(u + i v) = R u - I v + i ((R + I)(u + v) - R u - I v), three real products are enough.
    source: box times 48, plus the turn P, which takes point i to turned[turn, i]; target (pairs,): boxes. runs (n, 3):
    matrix, first pair and end of the pairs of one matrix; blocks: where the runs of each block begin.
    room, out, s, t: of the vectors u, v, u + v and of their products, and their places, those of each of the three
    TOGETHER apart.
    """
    vectors, places, apart, below = pitch // lanes(matrices), turned.ravel(), TOGETHER * size, TOGETHER * pitch
    for q in range(blocks[low], blocks[high]):
        first = runs[q, 1] * columns
        end = runs[q, 2] * columns
        while first < end:
            count = min(TOGETHER, end - first)
            for n in range(count):
                pair, column = (first + n) // columns, (first + n) % columns
                # u, v and u + v of one column, turned
                box, turn = source[pair] // TURNED, source[pair] % TURNED
                at, to = (box * columns + column) * 2 * pitch, n * size
                for i in range(size):
                    j = at + number(places, turn * size + i)
                    re, im = number(x, j), number(x, j + pitch)
                    put(room, to + i, re)
                    put(room, to + apart + i, im)
                    put(room, to + 2 * apart + i, re + im)
            # three real products for all of them
            for part in range(3):
                for i in range(part * below, part * below + count * pitch):
                    out[i] = 0
                matrix, begin = (3 * runs[q, 0] + part) * size * pitch, part * TOGETHER
                add_products(matrices, matrix, vectors, size, room, s, size, out, t, pitch, begin, begin + count)
            for n in range(count):
                pair, column = (first + n) // columns, (first + n) % columns
                # their real and imaginary parts, turned back
                turn = source[pair] % TURNED
                to, at = (target[pair] * columns + column) * 2 * pitch, n * pitch
                for i in range(size):
                    j = to + number(places, turn * size + i)
                    one, other = number(out, at + i), number(out, at + below + i)
                    put(y, j, number(y, j) + (one - other))
                    put(y, j + pitch, number(y, j + pitch) + (number(out, at + 2 * below + i) - (one + other)))
            first += count


def rows(derivatives: str, lossy: bool) -> Callable[..., None]:
    """The compiled row exp(i k r) / r from a point to all points of a cube; derivatives: "gradient", with its
    gradient at the point, too, or "mixed", a times it plus b times its derivative along the normal
    (`patterns.waves`)."""
    gradient, mixed = derivatives == "gradient", derivatives == "mixed"

    @jitable_part
    def row(cube, pitch, places, p, normals, mix, k, loss, room):  # type: ignore[no-untyped-def]
        """Fill room (part, pitch), two parts, or eight with the gradient, for the point p of places (points, 3).

        cube (3, pitch): points of the cube about the centre of the box; normals (points, 4), mix: as in
        `patterns.emit`; k,
        loss: Re k and Im k / Re k.
        """
        w = lanes(room)
        for i in range(0, pitch, w):
            ex, ey = places[p, 0] - load(cube, i), places[p, 1] - load(cube, pitch + i)
            ez = places[p, 2] - load(cube, 2 * pitch + i)
            r2 = ex * ex + ey * ey + ez * ez
            # exp(i k r) / r
            u = inverse_square_root(r2)
            kr = r2 * u * k
            sine, cosine = sine_cosine(kr)
            if lossy:
                decay = decaying_exponential(kr * loss)
                sine, cosine = sine * decay, cosine * decay
            re, im = cosine * u, sine * u
            if gradient or mixed:
                v = u * u
                fr, fi = zero(room) - v - v * kr * loss, v * kr  # g' / r = (i k - 1 / r) g / r
            # charges and dipoles along normals together
            if mixed:
                slope, g = ex * normals[p, 0] + ey * normals[p, 1] + ez * normals[p, 2], int(normals[p, 3])
                fr, fi = fr * slope, fi * slope
                ar, ai = fr * mix[g, 2] - fi * mix[g, 3] + mix[g, 0], fr * mix[g, 3] + fi * mix[g, 2] + mix[g, 1]
                re, im = re * ar - im * ai, re * ai + im * ar
            store(room, i, re)
            store(room, pitch + i, im)
            if gradient:
                gr, gi = fr * re - fi * im, fr * im + fi * re
                store(room, 2 * pitch + i, gr * ex)
                store(room, 3 * pitch + i, gi * ex)
                store(room, 4 * pitch + i, gr * ey)
                store(room, 5 * pitch + i, gi * ey)
                store(room, 6 * pitch + i, gr * ez)
                store(room, 7 * pitch + i, gi * ez)

    return row


@functools.lru_cache(maxsize=6)
def sending_kernel(derivatives: str, lossy: bool) -> Callable[..., None]:
    """Potentials on the cubes of leaves from charges and dipoles in them."""
    row = rows(derivatives, lossy)

    @kernel
    def send(  # type: ignore[no-untyped-def]
        places, normals, mix, starts, charges, parts, cube, pitch, k, loss, leaves, boxes, x, columns, scale, room, low,
        high,
    ):  # fmt: skip
        """x (box, columns, part, pitch) += of leaves[low .. high], from places (points, 3), normals and mix as of
        `patterns.emit`, and charges (points, columns, parts, 2); parts: 0 charges (with dipoles, if these are
        mixed), 1 .. 3 dipoles; boxes: the numbers of these leaves in their level. starts: where the points of each
        leaf begin; cube, k, loss, room: as in `row` of `rows`; scale: not read here."""
        w = lanes(room)
        count = len(parts)
        for own in range(low, high):
            for p in range(starts[leaves[own]], starts[leaves[own] + 1]):
                # kernels of one point at all points of the cube, then its charges times these
                row(cube, pitch, places, p, normals, mix, k, loss, room)
                for column in range(columns):
                    to = (boxes[own] * columns + column) * 2 * pitch
                    for c in range(count):
                        q, at = ((p * columns + column) * count + c) * 2, parts[c] * 2 * pitch
                        re, im = number(charges, q), number(charges, q + 1)
                        for i in range(0, pitch, w):
                            a, b = load(room, at + i), load(room, at + pitch + i)
                            store(x, to + i, load(x, to + i) + a * re - b * im)
                            store(x, to + pitch + i, load(x, to + pitch + i) + a * im + b * re)

    return send


@functools.lru_cache(maxsize=6)
def receiving_kernel(derivatives: str, lossy: bool) -> Callable[..., None]:
    """Fields at the points of leaves from sources on their cubes."""
    row = rows(derivatives, lossy)

    @kernel
    def receive(  # type: ignore[no-untyped-def]
        places, normals, mix, starts, fields, parts, cube, pitch, k, loss, leaves, boxes, x, columns, scale, room, low,
        high,
    ):  # fmt: skip
        """fields (points, columns, parts, 2) of leaves[low .. high], times scale; parts: 0 values, 1 .. 3 gradients;
        starts, cube, k, loss, room and all else: as in `send` of `sending_kernel`."""
        w = lanes(room)
        count = len(parts)
        for own in range(low, high):
            for p in range(starts[leaves[own]], starts[leaves[own] + 1]):
                # kernels of one point at all points of the cube, then sums over the sources there
                row(cube, pitch, places, p, normals, mix, k, loss, room)
                for column in range(columns):
                    start = (boxes[own] * columns + column) * 2 * pitch
                    for c in range(count):
                        at, re, im = parts[c] * 2 * pitch, zero(room), zero(room)
                        for i in range(0, pitch, w):
                            a, b = load(room, at + i), load(room, at + pitch + i)
                            f, g = load(x, start + i), load(x, start + pitch + i)
                            re, im = re + (a * f - b * g), im + (a * g + b * f)
                        to = ((p * columns + column) * count + c) * 2
                        fields[to], fields[to + 1] = total(re) * scale, total(im) * scale

    return receive
