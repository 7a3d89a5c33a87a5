"""Triangles cut towards points and lines near which an integrand has its peak."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calderon.quadrature import triangle_rule

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
DEGREE = 5
"""Degree of the rule on each part: with parts not larger than their distance from a peak of 1/R it gives 1e-4."""


def cut_towards(corners: Floats, distance: Callable[[Numbers, Floats], Floats], levels: int) -> tuple[Numbers, Floats]:
    """Parts (m, 3, 3) of triangles (n, 3, 3), and (m,) of which each is one: cut into four, `levels` times at most,
    while the longest edge exceeds distance(triangles (m,), centres (m, 3))."""
    owners = np.arange(len(corners))
    found_owners, found = [], []
    for level in range(levels + 1):
        edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
        done = (edges <= distance(owners, corners.mean(axis=1))) | (level == levels)
        found_owners.append(owners[done])
        found.append(corners[done])
        owners, corners = np.repeat(owners[~done], 4), quartered(corners[~done])
        if not len(owners):
            break
    return np.concatenate(found_owners), np.concatenate(found)


def quartered(corners: Floats) -> Floats:
    """Four parts (4 n, 3, 3) of each triangle (n, 3, 3), by the middles of its edges."""
    a, b, c = np.moveaxis(corners, 1, 0)
    ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
    parts = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    return np.stack([np.stack(part, axis=1) for part in parts], axis=1).reshape(-1, 3, 3)


def split_at(x: Floats, corners: Floats) -> Floats:
    """Three parts (3 n, 3, 3) of each triangle (n, 3, 3), with the common corner x (n, 3) in it."""
    sides = [np.stack([x, corners[:, n], corners[:, (n + 1) % 3]], axis=1) for n in range(3)]
    return np.stack(sides, axis=1).reshape(-1, 3, 3)


def rule_points(corners: Floats, degree: int = DEGREE) -> tuple[Floats, Floats]:
    """Points (n, q, 3) and weights (n, q) on triangles (n, 3, 3)."""
    rule = triangle_rule(degree)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return rule.barycentric @ corners, np.linalg.norm(normals, axis=1)[:, None] * rule.weights
