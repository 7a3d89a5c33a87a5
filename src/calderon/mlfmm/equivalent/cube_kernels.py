"""Kernels of equivalent sources: products with turned matrices, from points to cubes and back."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.register_tiles import add_products
from calderon.backends.vector_loads import total
from calderon.backends.vectors import aligned, lanes, load, number, put, store, width, zero
from calderon.greens.elementary import decaying_exponential, inverse_square_root, sine_cosine
from calderon.greens.green import Radial, parameter_reader

TOGETHER = 24
"""Vectors that are multiplied by a matrix at a time."""
TURNED = 48


@kernel
def multiply(
    matrices, size, pitch, turned, x, y, source, target, columns, runs, blocks, room, out, s, t, low, high,
):  # fmt: skip
    """y[target] += P A P^T x[source] for the pairs of blocks low up to, without, high, with complex matrices A.

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


class Form(NamedTuple):
    """The compiled function of a Green's function of the distance that is not shifted, whose parameters it reads."""

    radial: Radial
    is_complex: bool

    @staticmethod
    def of(green: Any) -> "Form | None":
        """The form of a Green's function; None for None, which stands for waves."""
        return None if green is None else Form(green.radial(math.inf), bool(green.is_complex))


def rows(derivatives: str, lossy: bool, form: Form | None = None) -> Callable[..., None]:
    """Kernel that computes exp(i k r) / r, or 4 pi G of another Green's function, from a point to all points of a cube.

    derivatives: "gradient" adds its gradient at the point, "mixed" replaces it by a times it plus b times its
    derivative along the normal (`patterns.waves`). lossy: whether k has an imaginary part. form: None for waves.
    """
    return wave_rows(derivatives, lossy) if form is None else radial_rows(derivatives, form)


def wave_rows(derivatives: str, lossy: bool) -> Callable[..., None]:
    """Kernel of `rows` for exp(i k r) / r."""
    gradient, mixed = derivatives == "gradient", derivatives == "mixed"

    @jitable_part
    def row(cube, pitch, places, p, normals, mix, k, loss, room):
        """Fill room (part, pitch), two parts, or eight with the gradient, for the point p of places (points, 3).

        cube (3, pitch): points of the cube about the centre of the box; normals (points, 4), mix: as in
        `patterns.emit`; k, loss: Re k and Im k / Re k.
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
            # values, then the gradient (g' / r) d
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


def radial_rows(derivatives: str, form: Form) -> Callable[..., None]:
    """Kernel of `rows` for another Green's function, whose parameters are read where k is."""
    gradient, mixed, is_complex = derivatives == "gradient", derivatives == "mixed", form.is_complex
    value, parameters_of = form.radial.value, parameter_reader(form.radial.parameters)

    @jitable_part
    def row(cube, pitch, places, p, normals, mix, k, loss, room):
        """Fill room (part, pitch) for the point p, as in `wave_rows`; k: parameters; loss is not read."""
        w = lanes(room)
        for i in range(0, pitch, w):
            # the vector from points of the cube to the point, and its squared length
            ex, ey = places[p, 0] - load(cube, i), places[p, 1] - load(cube, pitch + i)
            ez = places[p, 2] - load(cube, 2 * pitch + i)
            r2 = ex * ex + ey * ey + ez * ez
            # g = 4 pi G and h = g' / r
            re, im, hr, hi = value(r2, parameters_of(k, 0), zero(room))
            if not is_complex:
                im, hi = zero(room), zero(room)
            if mixed:  # a g + b h (e . n)
                slope, g = ex * normals[p, 0] + ey * normals[p, 1] + ez * normals[p, 2], int(normals[p, 3])
                hr, hi = hr * slope, hi * slope
                ar = re * mix[g, 0] - im * mix[g, 1] + hr * mix[g, 2] - hi * mix[g, 3]
                im = re * mix[g, 1] + im * mix[g, 0] + hr * mix[g, 3] + hi * mix[g, 2]
                re = ar
            store(room, i, re)
            store(room, pitch + i, im)
            if gradient:
                store(room, 2 * pitch + i, hr * ex)
                store(room, 3 * pitch + i, hi * ex)
                store(room, 4 * pitch + i, hr * ey)
                store(room, 5 * pitch + i, hi * ey)
                store(room, 6 * pitch + i, hr * ez)
                store(room, 7 * pitch + i, hi * ez)

    return row


@functools.lru_cache(maxsize=8)
def evaluation_kernel(form: Form) -> Callable[..., None]:
    """Kernel that evaluates a Green's function at many distances."""
    value, parameters_of = form.radial.value, parameter_reader(form.radial.parameters)

    @kernel
    def evaluate(r2, parameters, out):
        """out (4 n) = 4 pi G, re and im, and 4 pi G' / r, re and im, at squared distances r2 (n), n a multiple of the
        lanes of a vector; parameters: the numbers of the Green's function."""
        count = len(r2)
        for i in range(0, count, lanes(r2)):
            re, im, hr, hi = value(load(r2, i), parameters_of(parameters, 0), zero(r2))
            store(out, i, re)
            store(out, count + i, im)
            store(out, 2 * count + i, hr)
            store(out, 3 * count + i, hi)

    return evaluate


def evaluated(green: Any, r: NDArray[np.float64]) -> NDArray[np.complex128]:
    """(2, ...) values 4 pi G and slopes 4 pi G' / r of a Green's function at distances r (...)."""
    form = Form.of(green)
    assert form is not None
    total = -(-r.size // width(np.float64)) * width(np.float64)
    square, out = aligned(total, np.float64), aligned(4 * total, np.float64)
    square[:], square[: r.size] = 1.0, (r**2).ravel()
    evaluation_kernel(form)(square, np.array(green.parameters, np.float64), out)
    re, im, hr, hi = out.reshape(4, -1)[:, : r.size].reshape(4, *r.shape)
    return np.stack([re + 1j * im, hr + 1j * hi] if form.is_complex else [re + 0j, hr + 0j])


@functools.lru_cache(maxsize=6)
def sending_kernel(derivatives: str, lossy: bool, form: Form | None = None) -> Callable[..., None]:
    """Potentials on the cubes of leaves from charges and dipoles in them."""
    row = rows(derivatives, lossy, form)

    @kernel
    def send(
        places, normals, origin, mix, starts, charges, parts, cube, pitch, k, loss, leaves, boxes, x, columns, scale,
        room, low, high,
    ):  # fmt: skip
        """x (box, columns, part, pitch) += of leaves[low : high], from places (n, 3) and normals of the points from
        `origin` on, mix as of `patterns.emit`, and charges (points, columns, parts, 2); parts: 0 charges (with dipoles,
        if these are mixed), 1 .. 3 dipoles; boxes: the numbers of these leaves in their level. starts: where the points
        of each leaf begin; cube, k, loss, room: as in `row` of `rows`; scale: not read here."""
        w = lanes(room)
        count = len(parts)
        for own in range(low, high):
            for p in range(starts[leaves[own]], starts[leaves[own] + 1]):
                # kernels of one point at all points of the cube, then its charges times these
                row(cube, pitch, places, p - origin, normals, mix, k, loss, room)
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
def receiving_kernel(derivatives: str, lossy: bool, form: Form | None = None) -> Callable[..., None]:
    """Fields at the points of leaves from sources on their cubes."""
    row = rows(derivatives, lossy, form)

    @kernel
    def receive(
        places, normals, origin, mix, starts, fields, parts, cube, pitch, k, loss, leaves, boxes, x, columns, scale,
        room, low, high,
    ):  # fmt: skip
        """fields (points, columns, parts, 2) of leaves[low : high], times scale; parts: 0 values, 1 .. 3
        gradients; starts, cube, k, loss, room and all else: as in `send` of `sending_kernel`."""
        w = lanes(room)
        count = len(parts)
        for own in range(low, high):
            for p in range(starts[leaves[own]], starts[leaves[own] + 1]):
                # kernels of one point at all points of the cube, then sums over the sources there
                row(cube, pitch, places, p - origin, normals, mix, k, loss, room)
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
