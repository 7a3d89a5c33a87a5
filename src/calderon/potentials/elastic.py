"""Displacement and stress inside a solid from displacements and tractions of its surface (Somigliana).

With e = (y - x) / r and the normal n at y,

    u_i = int U_ij t_j - T_ij u_j dS,
    s_ij = int D_kij t_k - S_kij u_k dS,

    8 pi (1 - nu) r^2 D t = (1 - 2 nu) (t e^T + e t^T - (e.t) I) + 3 (e.t) e e^T,
    4 pi (1 - nu) r^3 / mu S u = 3 (e.n) ((1 - 2 nu) (e.u) I + nu (u e^T + e u^T) - 5 (e.u) e e^T)
        + 3 nu (e.u) (n e^T + e n^T) + (1 - 2 nu) (3 (n.u) e e^T + n u^T + u n^T) - (1 - 4 nu) (n.u) I

(C. A. Brebbia, J. C. F. Telles, L. C. Wrobel, Boundary Element Techniques (1984), chapter 5). Triangles that are not
far from a point in terms of their size are cut into four, again and again, so that every part is.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.threads import in_parts
from calderon.greens import Elastostatic
from calderon.potentials.heat import cut_in_four
from calderon.quadrature import triangle_rule
from calderon.spaces import Function
from calderon.spaces.element import Element
from calderon.validation import one_or_more_points

Array = NDArray[np.float64]
DISPLACEMENT, STRESS = 0, 1
"""Fields of the sums, with 3 and 9 numbers for each point."""


class Limits(NamedTuple):
    """Rules of triangles by their distance."""

    limits: tuple[Any, ...] = (5.0, 1.4, 1e-12)
    """The distance of a point from the centroid of a part, over its longest edge, from which on the coarse and the fine
    rule serve, and the least size of parts relative to the triangle."""
    degrees: tuple[Any, ...] = (4, 10)
    """Degrees of both rules."""
    levels: int = 40
    """Cuts of a triangle at most: points on the surface end there."""


LIMITS = Limits()


def elastic_potentials(
    green: Elastostatic, displacement: Function, traction: Function, points: ArrayLike, stress: bool
) -> Array:
    """(n, 3) displacements, or (n, 3, 3) stresses, at points (n, 3) inside the solid whose outward normals are those of
    the mesh; displacement and traction: functions of three components of degree 2 at most on its whole surface."""
    constants = np.array([green.poissons_ratio, green.shear_modulus])
    tables = _quadratic(displacement), _quadratic(traction)
    out = _summed(displacement.space.mesh, tables, constants, points, STRESS if stress else DISPLACEMENT)
    return out.reshape(len(out), 3, 3) if stress else out


def _summed(mesh: Any, tables: tuple[Array, Array], constants: Array, points: ArrayLike, kind: int) -> Array:
    """The sums at points (n, 3) over triangles with values (m, 6, 3) of two functions."""
    x = one_or_more_points(points)
    corners, normals = mesh.vertices[mesh.triangles], mesh.normals
    rules, limits = [_rule(degree) for degree in LIMITS.degrees], np.array(LIMITS.limits)
    out = np.zeros((len(x), (3, 9)[kind]))
    given = corners, normals, mesh.diameters, *tables, *rules, limits, constants, kind
    in_parts(lambda low, high: _integrate(x[low:high], *given, out[low:high]), len(x), most=32)
    return out


def _quadratic(function: Function) -> Array:
    """(m, 6, 3) values of a function at the nodes of quadratic functions on each triangle of the mesh."""
    values = np.zeros((function.space.mesh.number_of_triangles, 6, 3))
    found = function.values(Element(2).nodes)
    values[function.space.triangles] = found if found.ndim == 3 else found[..., None]
    return values


def _rule(degree: int) -> Array:
    """(Q, 4) barycentric coordinates and weights, relative to twice the area."""
    rule = triangle_rule(degree)
    return np.column_stack([rule.barycentric, rule.weights])


@kernel
def _integrate(x, corners, normals, sizes, displacements, tractions, coarse, fine, limits, constants, kind, out):
    """Add the integrals over all triangles at points x (n, 3) to out (n, 3 or 9), displacements or stresses by `kind`.

    corners (m, 3, 3), normals (m, 3), sizes (m,): longest edges; displacements, tractions (m, 6, 3): at the nodes of
    quadratic functions; coarse, fine (Q, 4): barycentric coordinates and weights; limits: those of LIMITS; constants:
    nu and mu.
    """
    stack, middle = np.empty((4 * LIMITS.levels, 10)), 1.0 / 3.0
    u, t, d, b = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    far, near, least = limits
    for p in range(x.shape[0]):
        for m in range(corners.shape[0]):
            e, f = corners[m, 1] - corners[m, 0], corners[m, 2] - corners[m, 0]
            # twice the area; the whole triangle is the first part on the stack, barycentric corners and relative size
            area = np.sqrt(
                (e[1] * f[2] - e[2] * f[1]) ** 2 + (e[2] * f[0] - e[0] * f[2]) ** 2 + (e[0] * f[1] - e[1] * f[0]) ** 2
            )
            stack[0, :9], stack[0, 9] = 0.0, 1.0
            stack[0, 0], stack[0, 4], stack[0, 8] = 1.0, 1.0, 1.0
            count = 1
            while count > 0:
                count -= 1
                part = stack[count].copy()
                share = part[9]
                # a part that is close in relation to its size is cut into four
                square = 0.0
                for c in range(3):
                    centre = 0.0
                    for k in range(3):
                        centre += middle * (part[k] + part[3 + k] + part[6 + k]) * corners[m, k, c]
                    square += (x[p, c] - centre) ** 2
                ratio = np.sqrt(square) / (share * sizes[m])
                if ratio < near and count + 4 < stack.shape[0] and share > least:
                    cut_in_four(part, stack, count)
                    count += 4
                    continue
                # integrate over the part: y at the points b of the rule, d = y - x
                rule = coarse if ratio > far else fine
                for q in range(rule.shape[0]):
                    for k in range(3):
                        b[k] = rule[q, 0] * part[k] + rule[q, 1] * part[3 + k] + rule[q, 2] * part[6 + k]
                    for c in range(3):
                        y = b[0] * corners[m, 0, c] + b[1] * corners[m, 1, c] + b[2] * corners[m, 2, c]
                        d[c] = y - x[p, c]
                    weight = rule[q, 3] * area * share * share
                    _values(b, displacements[m], u)
                    _values(b, tractions[m], t)
                    if kind == STRESS:
                        _add_stress(d, normals[m], u, t, constants, weight, out[p])
                    else:
                        _add_displacement(d, normals[m], u, t, constants, weight, out[p])


@jitable_part
def _values(b, nodes, out):
    """Fill out (3,) with the quadratic function that has the values nodes (6, 3) at the nodes, at barycentric
    coordinates b (3,)."""
    for c in range(3):
        total = 0.0
        for k in range(3):
            total += b[k] * (2.0 * b[k] - 1.0) * nodes[k, c]
            total += 4.0 * b[(k + 1) % 3] * b[(k + 2) % 3] * nodes[3 + k, c]
        out[c] = total


@jitable_part
def _products(d, n, u, t):
    """r = |d|, and with e = d / r the products e.n, e.u, e.t and u.n; d, n, u and t (3,)."""
    r = np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2)
    e0, e1, e2 = d[0] / r, d[1] / r, d[2] / r
    en, eu, et = e0 * n[0] + e1 * n[1] + e2 * n[2], e0 * u[0] + e1 * u[1] + e2 * u[2], e0 * t[0] + e1 * t[1] + e2 * t[2]
    return r, en, eu, et, u[0] * n[0] + u[1] * n[1] + u[2] * n[2]


@jitable_part
def _add_displacement(d, n, u, t, constants, weight, out):
    """Add to out (3,) the displacement U t - T u of Kelvin's solution times a weight: offset d = y - x, normal n,
    displacement u and traction t at y, all (3,); constants: nu and mu."""
    nu, mu = constants[0], constants[1]
    r, en, eu, et, un = _products(d, n, u, t)
    single, double = weight / (16 * np.pi * mu * (1 - nu) * r), weight / (8 * np.pi * (1 - nu) * r * r)
    for c in range(3):
        e = d[c] / r
        out[c] += single * ((3 - 4 * nu) * t[c] + e * et)
        out[c] += double * (en * ((1 - 2 * nu) * u[c] + 3 * e * eu) - (1 - 2 * nu) * (e * un - n[c] * eu))


@jitable_part
def _add_stress(d, n, u, t, constants, weight, out):
    """Add to out (9,) the stress of U t - T u, row by row; arguments as in `_add_displacement`."""
    nu, mu = constants[0], constants[1]
    r, en, eu, et, un = _products(d, n, u, t)
    single, double = weight / (8 * np.pi * (1 - nu) * r * r), weight * mu / (4 * np.pi * (1 - nu) * r**3)
    for i in range(3):
        for j in range(3):
            a, b, same = d[i] / r, d[j] / r, 1.0 if i == j else 0.0
            out[3 * i + j] += single * ((1 - 2 * nu) * (t[i] * b + t[j] * a - same * et) + 3 * a * b * et)
            value = 3 * en * ((1 - 2 * nu) * same * eu + nu * (u[i] * b + u[j] * a) - 5 * a * b * eu)
            value += 3 * nu * eu * (n[i] * b + n[j] * a)
            value += (1 - 2 * nu) * (3 * un * a * b + n[j] * u[i] + n[i] * u[j]) - (1 - 4 * nu) * un * same
            out[3 * i + j] -= double * value
