"""Rigid motions, resultants and the balance of loads."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.elastic.tolerances import TOLERANCES
from calderon.mesh import TriangleMesh
from calderon.quadrature import triangle_rule
from calderon.quadrature.segment import gauss
from calderon.spaces import Space

Array = NDArray[np.float64]
AXES = "xyz"


class Resultant(NamedTuple):
    """A force (3,) in N and its moment (3,) in N m about the origin of coordinates."""

    force: Array
    moment: Array


def rigid_motions(points: Array, centre: Array) -> Array:
    """(n, 3, 6) three translations and three rotations about a centre at points (n, 3)."""
    x = points - centre
    turned = [np.cross(axis, x) for axis in np.eye(3)]
    return np.stack([*(np.broadcast_to(axis, x.shape) for axis in np.eye(3)), *turned], axis=2)


def null_motions(held: Array) -> Array:
    """(6, f) combinations of rigid motions, in units of the size, of which supports hold nothing; held (n, 6)."""
    _, sizes, basis = np.linalg.svd(held, full_matrices=False)
    return np.asarray(basis[sizes <= TOLERANCES.free].T)


def orthonormal(motions: Array, mass: Any) -> Array:
    """Columns (n, f) orthonormal with respect to a mass matrix (n, n)."""
    gram = motions.T @ (mass @ motions)
    return np.asarray(np.linalg.solve(np.linalg.cholesky(gram), motions.T).T) if len(gram) else motions


def resultant(space: Space, values: Array, triangles: NDArray[np.bool_] | None = None) -> Resultant:
    """The resultant of tractions (m, 3) at the nodes of a space of functions that jump, on all triangles or on those
    of a mask (triangles,)."""
    rule = triangle_rule(4)
    chosen = np.arange(len(space.triangles)) if triangles is None else np.flatnonzero(triangles)
    geometry = space.mesh.geometry(space.triangles[chosen])
    t = np.einsum("lq,nlc->nqc", space.element.values(rule.points), values[space.dofs[chosen]])
    force = t * geometry.weights(rule)[:, :, None]
    return Resultant(force.sum(axis=(0, 1)), np.cross(geometry.points(rule.points), force).sum(axis=(0, 1)))


def total_of(mesh: TriangleMesh, triangles: NDArray[np.int64], function: Callable[[Array, Array], Array]) -> Array:
    """The force, moment about the origin and magnitude (7,) of a traction f(x, n) on some triangles (m,)."""
    rule, geometry = triangle_rule(8), mesh.geometry(triangles)
    x, n = geometry.points(rule.points).reshape(-1, 3), geometry.normals_at(rule.points).reshape(-1, 3)
    force = function(x, n) * geometry.weights(rule).ravel()[:, None]
    sums = force.sum(axis=0), np.cross(x, force).sum(axis=0), np.linalg.norm(force, axis=1).sum(keepdims=True)
    return np.concatenate(sums)


def magnitude(space: Space, values: Array) -> float:
    """The integral of |t| of tractions (m, 3) at the nodes of a space of functions that jump."""
    rule = triangle_rule(4)
    t = np.einsum("lq,nlc->nqc", space.element.values(rule.points), values[space.dofs])
    return float((np.linalg.norm(t, axis=2) * space.geometry.weights(rule)).sum())


def volume_integral(mesh: TriangleMesh, function: Callable[[Array], Array], centre: Array) -> Array:
    """The integral of f over the solid, from its surface: that of n_x int_0^x f dx. function: f, a polynomial up to
    degree 5 of points (n, 3) from the centre, with values (n, ...)."""
    rule, line = triangle_rule(8), gauss(4)
    geometry = mesh.geometry(np.arange(mesh.number_of_triangles))
    x = geometry.points(rule.points).reshape(-1, 3) - centre
    weights = (geometry.weights(rule) * mesh.normals[:, :1]).ravel() * x[:, 0]
    total: Any = 0.0
    for share, weight in zip(line.points, line.weights, strict=True):
        total = total + weight * np.tensordot(weights, function(x * np.array([share, 1.0, 1.0])), axes=(0, 0))
    return np.asarray(total)


def name_motions(free: Array) -> str:
    """Words for the span of columns (6, f) of translations and rotations with unit length."""
    names = [f"translation along {axis}" for axis in AXES] + [f"rotation about {axis}" for axis in AXES]
    inside = (free**2).sum(axis=1) > 1 - 1e-6
    named = [name for name, whole in zip(names, inside, strict=True) if whole]
    if (others := free.shape[1] - len(named)) > 0:
        named.append(f"{others} combined motion{'s' if others > 1 else ''}")
    return ", ".join(named)


def refuse_unbalanced(
    total: Resultant, size: float, length: float, free: Array, centre: Array, tags: list[Any]
) -> None:
    """ValueError for loads with a resultant along a free motion, columns (6, f) of rigid motions about the centre with
    rotations in units of length; size: the sum of the magnitudes of the loads."""
    moment = total.moment - np.cross(centre, total.force)
    work = free.T @ np.concatenate([total.force, moment / length])
    if np.linalg.norm(work) <= TOLERANCES.unbalanced * size:
        return

    def shown(vector: Array, scale: float) -> str:
        """A vector (3,) as text, without what is small compared with a scale."""
        rounded = np.where(np.abs(vector) < 1e-6 * scale, 0.0, vector)
        return "(" + ", ".join(f"{each:.4g}" for each in rounded) + ")"

    raise ValueError(
        f"the loads are not balanced, and nothing holds the solid against them: unbalanced force "
        f"{shown(total.force, size)}, moment {shown(moment, size * length)} about {shown(centre, length)}; free rigid "
        f"motions: {name_motions(free)}. Hold the solid, for instance with supports={{tag: Fixed()}} for one of the "
        f"tags {tags}, or balance the loads"
    )
