"""Double integrals of Green's function over pairs of wire segments.

On segment i the functions phi_0 = 1 - s/L and phi_1 = s/L are linear, s the distance from its beginning. The reactions

    I[a, b] = int_i int_j phi_a(s) phi_b(s') G(s, s') ds' ds                                                       (1)

have Green's function exp(ikR) / (4 pi R) on the surfaces of the wires. On one straight wire of radius a it is the mean
over the circumference,

    G(u) = 1/pi int_0^pi exp(ikR) / (4 pi R) dphi,     R^2 = u^2 + 4 a^2 sin^2(phi/2),     u = s - s',              (2)

whose static part is K(m) / (2 pi^2 sqrt(u^2 + 4 a^2)), 1 - m = u^2 / (u^2 + 4 a^2), with the complete elliptic
integral K. It depends on u alone, so that the double integral is

    int G(u) P(u) du,     P(u) = int phi_a(s) phi_b(s - u) ds,                                                    (3)

with the cubic P between the differences of the ends. Between other segments R^2 = d^2 + a^2, with the distance d of
points on both axes and a^2 the mean of both squares.

D. H. Werner, J. S. Huffman and P. L. Werner, IEEE Trans. Antennas Propag. 42 (1994) 1356 (the kernel (2)).
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from calderon.backends.numba import jitable_part, kernel, thread_count
from calderon.backends.threads import counted, run_tasks

GAUSS = {n: np.polynomial.legendre.leggauss(n) for n in (2, 3, 4, 6)}
X2, W2 = tuple((GAUSS[2][0] + 1) / 2), tuple(GAUSS[2][1] / 2)
X3, W3 = tuple((GAUSS[3][0] + 1) / 2), tuple(GAUSS[3][1] / 2)
X4, W4 = tuple((GAUSS[4][0] + 1) / 2), tuple(GAUSS[4][1] / 2)
X6, W6 = tuple((GAUSS[6][0] + 1) / 2), tuple(GAUSS[6][1] / 2)
"""Gauss points and weights on [0, 1]."""
ANGLES = tuple(np.sin((np.arange(8) + 0.5) * np.pi / 16) ** 2)
"""sin^2(phi/2) at the midpoints of eight parts of [0, pi]: the part of (2) without the static one is smooth there."""
DISTANT, MIDDLE, NEAR = 24.0, 6.0, 1.5
"""Lengths of the longer segment between two from which two, three and four Gauss points a segment give entries to about
1e-6; nearer pairs are cut, or integrated by (3)."""
STRAIGHT = 1e-3
"""Radii, or angles in rad, by which segments on one straight wire deviate from its line at most."""
SMALLEST = 1e-5
"""Part of the radius, or of a segment, at which intervals of (3) next to 0 are no longer cut: G is logarithmic."""


@jitable_part
def phase(k, r):
    """exp(ikr) at the distance r, k complex."""
    size = 1.0 if k.imag == 0.0 else math.exp(-k.imag * r)
    return complex(size * math.cos(k.real * r), size * math.sin(k.real * r))


@jitable_part
def mean_green(u, square, k):
    """G of equation (2) times 4 pi, for the distance u along the wire and k; square: of the radius."""
    top = math.sqrt(u * u + 4 * square)
    # K(m) = pi / (2 agm(1, sqrt(1 - m))), so that 2/pi K(m) = 1 / agm
    x, y = 1.0, abs(u) / top
    for _ in range(40):
        x, y = 0.5 * (x + y), math.sqrt(x * y)
        if x - y <= 1e-15 * x:
            break
    total = complex(1.0 / (x * top), 0.0)
    # the dynamic part (exp(ikR) - 1) / R
    for part in ANGLES:
        r = math.sqrt(u * u + 4 * square * part)
        total += 0.125 * (phase(k, r) - 1.0) / r
    return total


@jitable_part
def overlap(u, length, begin, end, reverse, out):
    """P(u) of equation (3) for the segments [0, length] and [begin, end] of one line, to out (2, 2), for all pairs of
    functions. reverse: whether the second segment begins at its upper end."""
    low, high = max(0.0, begin + u), min(length, end + u)
    for a in range(2):
        for b in range(2):
            out[a, b] = 0.0
    for n in range(2):  # the integrand is quadratic
        s = low + (high - low) * X2[n]
        weight = (high - low) * W2[n]
        first, second = s / length, (s - u - begin) / (end - begin)
        if reverse:
            second = 1.0 - second
        out[0, 0] += weight * (1 - first) * (1 - second)
        out[0, 1] += weight * (1 - first) * second
        out[1, 0] += weight * first * (1 - second)
        out[1, 1] += weight * first * second


@jitable_part
def straight_reactions(length, begin, end, reverse, square, k, overlaps, out):
    """Add equation (1) by (3), times 4 pi, to out for the segments [0, length] and [begin, end] of one line. reverse,
    overlaps (2, 2): as in `overlap`; square: of the radius; k: wavenumber."""
    ends = (-end, min(-begin, length - end), max(-begin, length - end), length - begin)
    for side in range(2):  # u > 0 and u < 0
        for piece in range(3):
            low, high = ends[piece], ends[piece + 1]
            if side == 1:
                low, high = -high, -low
            low = max(low, 0.0)
            # cut towards u = 0
            while high > low and high > 0:
                cut = max(low, 0.25 * high)
                if high < SMALLEST * min(math.sqrt(square), length):
                    cut = low
                for n in range(6):
                    u = cut + (high - cut) * X6[n]
                    if side == 1:
                        u = -u
                    overlap(u, length, begin, end, reverse, overlaps)
                    value = (high - cut) * W6[n] * mean_green(u, square, k)
                    for a in range(2):
                        for b in range(2):
                            out[a, b] += value * overlaps[a, b]
                high = cut


@jitable_part
def to_segment(x, y, z, segment):
    """The distance of a point x, y, z from a segment (beginning, direction, length, radius)."""
    x, y, z = x - segment[0], y - segment[1], z - segment[2]
    s = min(max(x * segment[3] + y * segment[4] + z * segment[5], 0.0), segment[6])
    x, y, z = x - s * segment[3], y - s * segment[4], z - s * segment[5]
    return math.sqrt(x * x + y * y + z * z)


@jitable_part
def inner_reactions(x, y, z, segment, square, k, out):
    """int phi_b exp(ikR) / R ds' over a segment, seen from a point x, y, z, to out (2,): 1/R - k^2 R/2 in closed form,
    the rest by four points. square: a^2 of equation (1); k: wavenumber."""
    x, y, z = x - segment[0], y - segment[1], z - segment[2]
    length = segment[6]
    s0 = x * segment[3] + y * segment[4] + z * segment[5]
    across = max(x * x + y * y + z * z - s0 * s0, 0.0) + square
    near, far = math.sqrt(s0 * s0 + across), math.sqrt((length - s0) ** 2 + across)
    rho = math.sqrt(across)
    constant = math.asinh((length - s0) / rho) + math.asinh(s0 / rho)
    linear = (far - near + s0 * constant) / length
    # -k^2 R / 2, which is not smooth either
    constant_r = 0.5 * ((length - s0) * far + s0 * near + across * constant)
    linear_r = ((far**3 - near**3) / 3 + s0 * constant_r) / length
    full, upper = constant - 0.5 * k * k * constant_r, linear - 0.5 * k * k * linear_r
    out[0], out[1] = full - upper, upper
    for n in range(4):
        s = length * X4[n]
        r = math.sqrt((s - s0) ** 2 + across)
        value = (phase(k, r) - 1.0 + 0.5 * k * k * r * r) * (length * W4[n] / r)
        out[0] += (1 - X4[n]) * value
        out[1] += X4[n] * value


@jitable_part
def near_reactions(first, second, square, k, inner, out):
    """Add equation (1), times 4 pi, to out (2, 2): the first segment is cut into parts not longer than their distance
    from the second. square, k, inner (2,): as in `inner_reactions`."""
    low, high = 0.0, 1.0
    while low < 1.0:
        middle = 0.5 * (low + high) * first[6]
        x, y, z = first[0] + middle * first[3], first[1] + middle * first[4], first[2] + middle * first[5]
        distance = math.sqrt(to_segment(x, y, z, second) ** 2 + square)
        if (high - low) * first[6] > distance and high - low > 1e-6:
            high = 0.5 * (low + high)
            continue
        for n in range(6):
            part = low + (high - low) * X6[n]
            s = part * first[6]
            inner_reactions(
                first[0] + s * first[3], first[1] + s * first[4], first[2] + s * first[5], second, square, k, inner
            )
            weight = (high - low) * first[6] * W6[n]
            for b in range(2):
                out[0, b] += weight * (1 - part) * inner[b]
                out[1, b] += weight * part * inner[b]
        low, high = high, min(1.0, high + 2 * (high - low))


@jitable_part
def gauss_reactions(first, second, square, k, points, weights, out):
    """Add equation (1), times 4 pi, to out by the same Gauss points and weights on the first and on the second segment.
    square and k: as in `inner_reactions`."""
    for n in range(len(points)):
        s = points[n] * first[6]
        x = first[0] + s * first[3] - second[0]
        y = first[1] + s * first[4] - second[1]
        z = first[2] + s * first[5] - second[2]
        for m in range(len(points)):
            t = points[m] * second[6]
            dx, dy, dz = x - t * second[3], y - t * second[4], z - t * second[5]
            r = math.sqrt(dx * dx + dy * dy + dz * dz + square)
            weight = weights[n] * weights[m] * first[6] * second[6] / r
            value = weight * phase(k, r)
            out[0, 0] += (1 - points[n]) * (1 - points[m]) * value
            out[0, 1] += (1 - points[n]) * points[m] * value
            out[1, 0] += points[n] * (1 - points[m]) * value
            out[1, 1] += points[n] * points[m] * value


@jitable_part
def reactions(first, second, k, overlaps, inner, out):
    """Equation (1), times 4 pi, of the first and the second segment, to out (2, 2); k: wavenumber. overlaps, inner: as
    in `overlap` and `near_reactions`."""
    for a in range(2):
        for b in range(2):
            out[a, b] = 0.0
    square = 0.5 * (first[7] ** 2 + second[7] ** 2)
    half = 0.5 * second[6]
    x, y, z = second[0] + half * second[3], second[1] + half * second[4], second[2] + half * second[5]
    gap = to_segment(x, y, z, first) - half  # not above the distance of the segments
    longer = max(first[6], second[6])
    # whether both are on one line
    cosine = first[3] * second[3] + first[4] * second[4] + first[5] * second[5]
    x, y, z = second[0] - first[0], second[1] - first[1], second[2] - first[2]
    begin = x * first[3] + y * first[4] + z * first[5]
    across = math.sqrt(max(x * x + y * y + z * z - begin * begin, 0.0))
    tilt = math.sqrt(max(1 - cosine * cosine, 0.0))
    straight = tilt < STRAIGHT and across + tilt * second[6] < STRAIGHT * math.sqrt(square)
    mean = 2 * square if straight else square  # the mean of 4 a^2 sin^2(phi/2) far away
    if gap > DISTANT * longer:
        gauss_reactions(first, second, mean, k, X2, W2, out)
    elif gap > MIDDLE * longer:
        gauss_reactions(first, second, mean, k, X3, W3, out)
    elif gap > NEAR * longer:
        gauss_reactions(first, second, mean, k, X4, W4, out)
    elif straight and cosine > 0:
        straight_reactions(first[6], begin, begin + second[6], False, square, k, overlaps, out)
    elif straight:
        straight_reactions(first[6], begin - second[6], begin, True, square, k, overlaps, out)
    else:
        near_reactions(first, second, square, k, inner, out)


@kernel
def fill_rows(rows, columns, low, high, k, sign, out):
    """Add rows low to high of -i (k A - C / k) to out, both halves of all segments: A of currents, which are along the
    segments, C of charges, which are their derivatives.

    rows, columns (n, 8): beginning, direction, length and radius. sign: -1 for columns that are images in a
    ground, whose horizontal currents are opposite.
    """
    block, overlaps, inner = np.empty((2, 2), np.complex128), np.empty((2, 2)), np.empty(2, np.complex128)
    for i in range(low, high):
        first = rows[i]
        for j in range(len(columns)):
            second = columns[j]
            reactions(first, second, k, overlaps, inner, block)
            along = first[3] * second[3] + first[4] * second[4] + first[5] * second[5]
            total = block[0, 0] + block[0, 1] + block[1, 0] + block[1, 1]
            charge = total / (first[6] * second[6] * k)
            for a in range(2):
                for b in range(2):
                    of_charge = charge if a == b else -charge
                    value = -1j * (k * along * block[a, b] - of_charge) / (4 * math.pi)
                    out[2 * (i - low) + a, 2 * j + b] += sign * value


def half_matrix(segments: NDArray[np.float64], k: complex, ground: bool, low: int, high: int) -> NDArray[np.complex128]:
    """Rows of the segments low to high of the matrix (2 n, 2 n) of both halves of all segments, over eta.

    segments (n, 8): beginning, direction, length and radius. ground: a perfect conductor in z = 0, in which a
    current has the image of the mirrored direction and the opposite sign.
    """
    out = np.zeros((2 * (high - low), 2 * len(segments)), np.complex128)
    parts = [(segments, 1.0)]
    if ground:
        images = segments.copy()
        images[:, [2, 5]] *= -1
        parts.append((images, -1.0))
    for columns, sign in parts:
        fill_rows(segments, np.ascontiguousarray(columns), low, high, complex(k), sign, out)
    return out


def runs_of(functions: sparse.csr_array) -> list[tuple[int, int, NDArray[np.integer]]]:
    """Runs of segments, whose rows of the matrix are filled together: the first one, the one after the last, and the
    functions on them, all others of which have no rows there; functions (2 n, N): as of `reaction_matrix`."""
    segments, starts = functions.shape[0] // 2, functions.indptr
    length = max(1, min(64, segments // 4 + 1))
    cuts = [(low, min(segments, low + length)) for low in range(0, segments, length)]
    return [(low, high, np.unique(functions.indices[starts[2 * low] : starts[2 * high]])) for low, high in cuts]


def bytes_of_assembly(functions: sparse.csr_array) -> int:
    """Bytes that `reaction_matrix` takes at most: the rows of all runs, and either their sum or, on every thread, the
    matrix of halves of a run twice, in both orders, and its product with the functions (2 n, N)."""
    runs, (halves, count) = runs_of(functions), functions.shape
    rows = 16 * count * sum(len(touched) for _, _, touched in runs)
    longest = 2 * max(high - low for low, high, _ in runs)
    return rows + 16 * max(count**2, min(thread_count(), len(runs)) * longest * (2 * halves + count))


def reaction_matrix(
    segments: NDArray[np.float64], k: complex, ground: bool, functions: sparse.csr_array,
    advance: Callable[[int, int], None] | None = None,
) -> NDArray[np.complex128]:  # fmt: skip
    """Z over eta (N, N) between functions (2 n, N), sparse combinations of the halves of all segments.

    advance(done, total): called after each run of segments. Symmetric: the mean with its transpose is taken, since the
    roles of the two segments of a near pair differ.
    """
    runs = runs_of(functions)
    found: list[tuple[NDArray[np.integer], NDArray[np.complex128]] | None] = [None] * len(runs)

    def work(task: int) -> None:
        low, high, touched = runs[task]
        own = functions[2 * low : 2 * high, touched]
        found[task] = touched, own.T @ (half_matrix(segments, k, ground, low, high) @ functions)

    run_tasks(work, len(runs), advance=counted(advance, len(runs)))
    total: NDArray[np.complex128] = np.zeros((functions.shape[1],) * 2, np.complex128)
    while found:
        touched, rows = found.pop()  # type: ignore[misc]
        for function, row in zip(touched, rows, strict=True):  # without a copy of all of them
            total[function] += row
    total += total.T
    total *= 0.5
    return total
