"""Touching and near pairs of triangles, integrated with rules over the pair of reference triangles.

A batch is a set of pairs that share one rule. 64 pairs are the lanes of the vector loops: for every point of the rule
the
integrand is evaluated in all lanes, and the moments with products of test and trial functions are accumulated eight
points
at a time. Always in double precision, whatever the precision of the regular part.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import STAMP, kernel, wide_vectors
from calderon.operators.sides import Surface, linear_curls
from calderon.quadrature.singular import PairRule
from calderon.spaces.element import Element

PAIR_LANES = 64
CHUNK = 8


class PairBatch(NamedTuple):
    """Pairs that share a rule, with vertices renamed so that shared ones come first.

    geometry (n, 5, 3): x - y = geometry[0] + u1 g[1] + u2 g[2] - v1 g[3] - v2 g[4]. test_normals, trial_normals (n, 3).
    factor (n,) product of the Jacobians, times n_x . n_y and the mass coefficient where integrated by parts.
    """

    geometry: NDArray[np.float64]
    test_normals: NDArray[np.float64]
    trial_normals: NDArray[np.float64]
    jacobian: NDArray[np.float64]


class RuleTable(NamedTuple):
    """Rule points (4, Q) as u1, u2, v1, v2 and products of local functions (A * B, Q), weights included; Q a multiple
    of 8."""

    points: NDArray[np.float64]
    products: NDArray[np.float64]


def rule_table(rule: PairRule, test: Element, trial: Element) -> RuleTable:
    """Tabulate a rule for two elements; padded with points of no weight."""
    padding = -len(rule.weights) % CHUNK
    points = np.concatenate([rule.test_points, rule.trial_points], axis=1).T
    points = np.pad(points, [(0, 0), (0, padding)], mode="edge")
    left, right = test.values(rule.test_points) * rule.weights, trial.values(rule.trial_points)
    products = (left[:, None] * right[None]).reshape(-1, len(rule.weights))
    return RuleTable(np.ascontiguousarray(points), np.ascontiguousarray(np.pad(products, [(0, 0), (0, padding)])))


def pair_batch(
    test: Surface,
    trial: Surface,
    pairs: NDArray[np.int64],
    test_order: NDArray[np.int64],
    trial_order: NDArray[np.int64],
) -> PairBatch:
    """Geometry of pairs (n, 2) whose vertices are renamed by test_order, trial_order (n, 3)."""
    x = np.take_along_axis(test.corners[pairs[:, 0]], test_order[:, :, None], axis=1)
    y = np.take_along_axis(trial.corners[pairs[:, 1]], trial_order[:, :, None], axis=1)
    parts = (x[:, 0] - y[:, 0], x[:, 1] - x[:, 0], x[:, 2] - x[:, 0], y[:, 1] - y[:, 0], y[:, 2] - y[:, 0])
    jacobian = test.jacobian[pairs[:, 0]] * trial.jacobian[pairs[:, 1]]
    return PairBatch(np.stack(parts, axis=1), test.normals[pairs[:, 0]], trial.normals[pairs[:, 1]], jacobian)


@functools.lru_cache(maxsize=64)
def pair_kernel(radial: Callable[..., Any], evaluate: Callable[..., Any], oscillates: bool) -> Callable[..., None]:
    """Compiled moments: pairs(batch, table, parameters, lo, hi, scratch, out) fills out[0 or 1, lo:hi, A * B] with
    the real
    and imaginary parts of int int k phi_a psi_b over the reference triangles."""
    stamp = STAMP

    @kernel
    def pairs(batch, table, parameters, lo, hi, scratch, out):  # type: ignore[no-untyped-def]
        wide_vectors()
        _ = stamp
        p0, p1 = parameters[0], parameters[1]
        g = scratch[:1536].reshape((24, 64))
        k = scratch[1536:2560].reshape((16, 64))
        moments = table.products.shape[0]
        sums = scratch[2560 : 2560 + 128 * moments].reshape((2 * moments, 64))
        for start in range(lo, hi, 64):
            count = min(64, hi - start)
            for lane in range(64):
                pair = start + min(lane, count - 1)
                for c in range(3):
                    for e in range(5):
                        g[3 * e + c, lane] = batch.geometry[pair, e, c]
                    g[15 + c, lane] = batch.test_normals[pair, c]
                    g[18 + c, lane] = batch.trial_normals[pair, c]
            for ab in range(2 * moments):
                for lane in range(64):
                    sums[ab, lane] = 0.0
            for chunk in range(0, table.points.shape[1], 8):
                for s in range(8):
                    q = chunk + s
                    u1, u2 = table.points[0, q], table.points[1, q]
                    v1, v2 = table.points[2, q], table.points[3, q]
                    for lane in range(64):
                        d0 = g[0, lane] + u1 * g[3, lane] + u2 * g[6, lane] - v1 * g[9, lane] - v2 * g[12, lane]
                        d1 = g[1, lane] + u1 * g[4, lane] + u2 * g[7, lane] - v1 * g[10, lane] - v2 * g[13, lane]
                        d2 = g[2, lane] + u1 * g[5, lane] + u2 * g[8, lane] - v1 * g[11, lane] - v2 * g[14, lane]
                        a, b, h, hi_ = radial(d0 * d0 + 1e-37 + d1 * d1 + d2 * d2, p0, p1)
                        re, im = evaluate(
                            a, b, h, hi_, d0, d1, d2,
                            g[15, lane], g[16, lane], g[17, lane], g[18, lane], g[19, lane], g[20, lane],
                        )  # fmt: skip
                        k[s, lane] = re
                        if oscillates:
                            k[8 + s, lane] = im
                for ab in range(moments):
                    w = table.products[ab]
                    w0, w1, w2, w3 = w[chunk], w[chunk + 1], w[chunk + 2], w[chunk + 3]
                    w4, w5, w6, w7 = w[chunk + 4], w[chunk + 5], w[chunk + 6], w[chunk + 7]
                    for lane in range(64):
                        sums[ab, lane] += (
                            w0 * k[0, lane] + w1 * k[1, lane] + w2 * k[2, lane] + w3 * k[3, lane]
                            + w4 * k[4, lane] + w5 * k[5, lane] + w6 * k[6, lane] + w7 * k[7, lane]
                        )  # fmt: skip
                        if oscillates:
                            sums[moments + ab, lane] += (
                                w0 * k[8, lane] + w1 * k[9, lane] + w2 * k[10, lane] + w3 * k[11, lane]
                                + w4 * k[12, lane] + w5 * k[13, lane] + w6 * k[14, lane] + w7 * k[15, lane]
                            )  # fmt: skip
            for lane in range(count):
                for ab in range(moments):
                    out[0, start + lane, ab] = batch.jacobian[start + lane] * sums[ab, lane]
                    if oscillates:
                        out[1, start + lane, ab] = batch.jacobian[start + lane] * sums[moments + ab, lane]

    return pairs


def pair_scratch(moments: int) -> NDArray[np.float64]:
    """Working memory of one thread of `pair_kernel`."""
    return np.zeros(2560 + 128 * moments)


def curl_products(test: Surface, trial: Surface, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n, 3, 3) products curl l_a . curl l_b of the linear functions of each pair (n, 2)."""
    return np.einsum("pac,pbc->pab", linear_curls(test)[pairs[:, 0]], linear_curls(trial)[pairs[:, 1]])
