"""E and H at points of currents on metal, and of thin vertical currents, in a stack of layers.

For each height of points and each of metal a table of the components of fields, and the rule of a triangle by its
distance from the point: close ones are divided into parts.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.threads import in_parts
from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.layers import Sections
from calderon.layers.field_table import field_table
from calderon.layers.parts import parts_of
from calderon.potentials.layered_upright import upright_fields
from calderon.potentials.near_evaluation import point_distances
from calderon.quadrature import gauss, triangle_rule
from calderon.spaces import VectorFunction


class Limits(NamedTuple):
    """Rules of triangles by their distance, and which points are too close."""

    ratios: NDArray[Any] = np.array([12.0, 6.0, 3.5, 2.2, 1.4])
    """Distances of centroids over radii, from which on the rules of `degrees` are taken, closer ones in parts."""
    degrees: tuple[Any, ...] = (6, 8, 14, 20)
    divided: tuple[Any, ...] = (12, 8)
    """Degrees, and those of 16 and 64 parts."""
    nearest: float = 0.25
    """Fraction of the longest edge of a triangle; closer points are refused."""
    slender: float = 0.2
    """Fraction of the height of a vertical current; closer points are refused."""
    margin: float = 1.001
    """Reach of tables over the largest distance."""


LIMITS = Limits()
Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]


@kernel
def _add_fields(points, low, high, height, triangles, rules, edges, series, out):
    """out (n, 6) += E / (i k0) for eta0 = 1 and mu H at the points (n, 2) from low to high, `height` above metal.

    triangles: corners (m, 3, 2), currents (m, 3, 2) at them, charges (m,) div J / k0^2, areas, centres (m, 2), radii
    (m,);
    rules: barycentric points, weights, beginnings of the rules, distances in radii below which the next one serves;
    edges, series (intervals, degree + 1, 7): Chebyshev series of a `FieldTable`.
    """
    corners, currents, charges, areas, centres, radii = triangles
    barycentric, weights, starts, ratios = rules
    one, two = np.empty(7, np.complex128), np.empty(7, np.complex128)
    for p in range(low, high):
        x, y = points[p, 0], points[p, 1]
        for t in range(len(areas)):
            # the rule for the distance of the triangle
            far = np.sqrt((x - centres[t, 0]) ** 2 + (y - centres[t, 1]) ** 2 + height * height) / radii[t]
            rule = 0
            while rule < len(ratios) and far < ratios[rule]:
                rule += 1
            for q in range(starts[rule], starts[rule + 1]):
                # offset from a point of the rule, current and charge there
                a, b, c = barycentric[q, 0], barycentric[q, 1], barycentric[q, 2]
                dx = x - a * corners[t, 0, 0] - b * corners[t, 1, 0] - c * corners[t, 2, 0]
                dy = y - a * corners[t, 0, 1] - b * corners[t, 1, 1] - c * corners[t, 2, 1]
                w = weights[q] * areas[t]
                jx = w * (a * currents[t, 0, 0] + b * currents[t, 1, 0] + c * currents[t, 2, 0])
                jy = w * (a * currents[t, 0, 1] + b * currents[t, 1, 1] + c * currents[t, 2, 1])
                charge = w * charges[t]
                rho = np.sqrt(dx * dx + dy * dy)
                # the interval of the distance, and its series by Clenshaw's recurrence
                n, last = 0, len(series) - 1
                while n < last:
                    middle = (n + last + 1) // 2
                    if rho >= edges[middle]:
                        n = middle
                    else:
                        last = middle - 1
                s = (2.0 * rho - edges[n] - edges[n + 1]) / (edges[n + 1] - edges[n])
                part = series[n]
                for i in range(7):
                    one[i], two[i] = 0j, 0j
                for m in range(len(part) - 1, 0, -1):
                    for i in range(7):
                        value = part[m, i] + 2.0 * s * one[i] - two[i]
                        two[i] = one[i]
                        one[i] = value
                for i in range(7):
                    one[i] = part[0, i] + s * one[i] - two[i]
                # the components of field_components.py for horizontal currents
                along = dx * jx + dy * jy
                out[p, 0] += one[0] * jx + one[3] * dx * charge
                out[p, 1] += one[0] * jy + one[3] * dy * charge
                out[p, 2] += one[5] * along + one[4] * charge
                out[p, 3] += (one[5] - one[2]) * jy + one[6] * dy * along
                out[p, 4] -= (one[5] - one[2]) * jx + one[6] * dx * along
                out[p, 5] += one[1] * (dx * jy - dy * jx)


def layered_fields(
    sections: Sections, surface: VectorFunction, probes: list[tuple[Any, complex]], top: float, points: Floats
) -> tuple[Complex, Complex]:
    """E (n, 3) in V/m and H in A/m at points (n, 3) of a surface current in A/m and of the currents in A of probes at
    places (x, y), from the ground to the height `top` in m.

    On an interface the values above it. Each height of points takes tables, so that planes of constant z are cheap.
    Errors are about 1e-6 of the largest field there. ValueError for points outside of the layers, and closer to metal
    than a quarter of the edges there, or to a probe than a fifth of its height.
    """
    space: Any = surface.space
    mesh, rows = space.mesh, space.triangles
    corners = mesh.vertices[mesh.triangles[rows]]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    centres = corners.mean(axis=1)
    _refuse_close(points, corners, centres, longest)
    # currents at the corners and charges of the triangles, horizontal and vertical ones apart
    local = np.where(space.dofs >= 0, surface.coefficients[space.dofs], 0)
    currents = np.einsum("na,nabc->nbc", local, space.corner_values)
    radii = np.linalg.norm(corners - centres[:, None], axis=2).max(axis=1)
    charges = (2 * space.scale * local).sum(axis=1) / sections.k0**2
    flat, steep, layers = parts_of(sections, mesh, rows)
    upright = corners[steep], layers, currents[steep], charges[steep]
    data = corners[..., :2], currents[..., :2], charges, mesh.areas[rows], centres[:, :2], radii
    data, centres = tuple(each[flat] for each in data), centres[flat]
    # the interface of each horizontal triangle, and the largest distance of a point from metal
    faces = sections.high[:-1]
    levels = faces[np.abs(centres[:, 2, None] - faces).argmin(axis=1)] if len(flat) else np.zeros(0)
    low, high = (np.stack([f(points[:, :2], axis=0), f(corners[..., :2], axis=(0, 1))]) for f in (np.min, np.max))
    reach = LIMITS.margin * float(np.hypot(*(high.max(axis=0) - low.min(axis=0))))
    out, rules = np.zeros((len(points), 6), complex), _rules()
    nearest = 0.8 * LIMITS.nearest * float(longest.min())
    # tables for each height of points and of metal
    for z in np.unique(points[:, 2]):
        chosen = np.flatnonzero(points[:, 2] == z)
        place, values = np.ascontiguousarray(points[chosen, :2]), np.zeros((len(chosen), 6), complex)
        for level in np.unique(levels):
            away = float(z - level)
            table = field_table(sections, float(z), float(level), nearest if abs(away) < nearest / 2 else 0.0, reach)
            some = tuple(np.ascontiguousarray(each[levels == level]) for each in data)
            given = away, some, rules, table.edges, np.ascontiguousarray(table.series[..., :7]), values

            def add(low: int, high: int, at: Any = place, given: Any = given) -> None:
                _add_fields(at, low, high, *given)

            in_parts(add, len(chosen), most=64)
        if len(steep):
            values += upright_fields(sections, *upright, place, float(z))
        for at, current in probes:
            values += current * _of_probe(sections, np.array(at), top, place, float(z))
        out[chosen] = values
    mu = sections.mu[[sections.layer_of(z) for z in points[:, 2]]]
    return 1j * sections.k0 * VACUUM_IMPEDANCE * out[:, :3], out[:, 3:] / mu[:, None]


def _of_probe(sections: Sections, at: Floats, top: float, points: Floats, z: float) -> Complex:
    """(n, 6) E / (i k0) and mu H at points (n, 2) at the height z, of a vertical current of 1 from the ground."""
    d = points - at
    rho, out = np.linalg.norm(d, axis=1), np.zeros((len(points), 6), complex)
    nearest = float(rho.min())
    mu = complex(sections.mu[sections.layer_of(z)])
    for n, (low, high) in enumerate(zip(sections.low.tolist(), sections.high.tolist(), strict=True)):
        if not low < high <= top:
            continue
        if nearest < LIMITS.slender * (high - low) and z < top + LIMITS.slender * (high - low):
            raise ValueError(
                f"a point at z = {1e3 * z:g} mm is {1e3 * nearest:.3g} mm from the axis of a probe, whose field is "
                f"computed from {1e3 * LIMITS.slender * (high - low):.3g} mm on: leave it out"
            )
        # currents at points of each layer, more of them for a close field point
        rule = gauss(int(np.clip(np.ceil(6 + 3 * (high - low) / max(nearest, 1e-9)), 8, 24)))
        for t, w in zip(rule.points, (high - low) * rule.weights, strict=True):
            source = low + (high - low) * t
            found = field_table(sections, z, source, 0.99 * nearest, LIMITS.margin * float(rho.max()) + 1e-9, n)(rho)[
                7:
            ]
            along, up, turn = w * found
            out[:, :2] += along[:, None] * d
            out[:, 2] += up
            out[:, 3] -= mu * turn * d[:, 1]
            out[:, 4] += mu * turn * d[:, 0]
    return out


def _refuse_close(points: Floats, corners: Floats, centres: Floats, longest: Floats) -> None:
    """ValueError for points too close to the metal for the rules of triangles."""
    close = scipy.spatial.cKDTree(centres).query_ball_point(points, (1 + LIMITS.nearest) * float(longest.max()))
    which = np.repeat(np.arange(len(points)), [len(each) for each in close])
    others = np.array([n for each in close for n in each], dtype=np.int64)
    bad = np.flatnonzero(
        point_distances(points[which], corners[others]) < LIMITS.nearest * longest[others] * (1 - 1e-9)
    )
    if len(bad):
        at, n = points[which[bad[0]]], others[bad[0]]
        text = ", ".join(f"{1e3 * each:.4g}" for each in at)
        raise ValueError(
            f"{len(np.unique(which[bad]))} points are too close to the metal, the first one at ({text}) mm: edges "
            f"there are {1e3 * longest[n]:.3g} mm, and fields need a quarter of that: move points or refine the mesh"
        )


def _rules() -> tuple[Any, ...]:
    """Barycentric coordinates, weights with the sum 1, where each rule starts, and LIMITS.ratios."""
    parts = [(triangle_rule(degree).barycentric, 2 * triangle_rule(degree).weights) for degree in LIMITS.degrees]
    corners, rules = np.eye(3)[None], list(LIMITS.divided)
    for level in range(3):
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        split = (a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)
        corners = np.concatenate([np.stack(each, axis=1) for each in split])
        if level:
            fine, count = triangle_rule(rules.pop(0)), len(corners)
            parts.append(((fine.barycentric @ corners).reshape(-1, 3), np.tile(2 * fine.weights / count, count)))
    starts = np.cumsum([0, *(len(each[1]) for each in parts)])
    return (
        np.concatenate([each[0] for each in parts]),
        np.concatenate([each[1] for each in parts]),
        starts,
        LIMITS.ratios,
    )
