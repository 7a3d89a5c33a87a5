"""Values that are given on a wall: numbers, arrays by vertex or triangle, functions of points, vectors along nu."""

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh
from calderon.spaces.element import Element
from calderon.spaces.space import called, evaluate_data
from calderon.validation import describe, unmasked

Values = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Wall:
    """A part of a surface, and on which side of it the fluid lies.

    mesh: the surface. triangles (m,): numbers of its triangles. sign: 1 where nu, the unit normal into the fluid, is
    the normal of the mesh, -1 where it is the opposite. name: in errors.
    """

    mesh: TriangleMesh
    triangles: NDArray[np.int64]
    sign: float
    name: str

    def points(self, reference: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m, n, 3) at reference points (n, 2)."""
        return self.mesh.geometry(self.triangles).points(reference)

    def normals(self, reference: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m, n, 3) nu at reference points (n, 2)."""
        return self.sign * self.mesh.geometry(self.triangles).normals_at(reference)


def checked_values(given: Any, name: str, infinite: bool = False) -> Any:
    """A number, an array of one or two dimensions or a function, as it came but for the type; TypeError or ValueError
    for others. infinite: whether values may be so."""
    if callable(given):
        return given
    if isinstance(given, bool | str) or given is None:
        raise TypeError(f"{name} is a number, an array, or a function f(x, nu) of points, got {describe(given)}")
    array = unmasked(given, name)
    if array.dtype.kind not in "fiuc" or array.ndim > 2 or not array.size:
        raise TypeError(
            f"{name} is a number, one value for each vertex or triangle, a vector, or a function f(x, nu) of points "
            f"and normals into the fluid, got {describe(given)}"
        )
    values = array.astype(np.complex128)
    wrong = ~np.isfinite(values) & ~(infinite & np.isinf(values))
    if wrong.any():
        what = "NaN" if infinite else "NaN or infinite"
        raise ValueError(f"{name} must be finite: {np.count_nonzero(wrong)} of {values.size} values are {what}")
    return complex(values) if isinstance(given, numbers.Number) or not array.ndim else values


def is_constant(given: Any, mesh: TriangleMesh) -> bool:
    """Whether checked values, those along nu of vectors, are constant on each triangle of a mesh."""
    if callable(given):
        return False
    array = np.asarray(given)
    vectors = array.ndim == 2 or array.shape == (3,)
    by_vertex = array.ndim > 0 and array.shape != (3,) and len(array) != mesh.number_of_triangles
    return not by_vertex and not (vectors and not mesh.is_flat)


def values_on(wall: Wall, reference: NDArray[np.float64], given: Any, name: str, infinite: bool = False) -> Values:
    """(m, n) checked values, or their parts along nu, at reference points (n, 2) of each triangle of a wall.

    An array has one value, or one vector, for each vertex or triangle of the mesh; one vector (3,) is for all points.
    ValueError for other lengths, and for functions with values of other shapes. infinite: whether values may be so.
    """
    x, nu = wall.points(reference), wall.normals(reference)
    flat, normals = x.reshape(-1, 3), nu.reshape(-1, 3)
    if callable(given):
        found = unmasked(called(given, flat, normals), name)
        if found.shape == flat.shape:
            found = np.einsum("ij,ij->i", found, normals)
        found = evaluate_data(found, flat, normals, infinite=infinite)
    else:
        found = _of_array(wall, reference, np.asarray(given), nu, name)
    return np.broadcast_to(np.asarray(found, np.complex128).reshape(-1, x.shape[1]), x.shape[:2])


def _of_array(
    wall: Wall, reference: NDArray[np.float64], given: Values, nu: NDArray[np.float64], name: str
) -> NDArray[np.complex128]:
    """(m, n) values of a number, a vector, or an array by vertex or triangle; nu (m, n, 3)."""
    mesh = wall.mesh
    if given.ndim == 0:
        return np.full(nu.shape[:2], complex(given))
    if given.shape == (3,):
        return np.asarray(nu @ given)
    if len(given) not in (mesh.number_of_triangles, mesh.number_of_vertices) or given.shape[1:] not in ((), (3,)):
        raise ValueError(
            f"{name} on {wall.name} has the shape {given.shape}: give one value, or one vector (3,), for each of the "
            f"{mesh.number_of_triangles} triangles or {mesh.number_of_vertices} vertices of the mesh, or one for all"
        )
    if mesh.number_of_triangles == mesh.number_of_vertices:
        raise ValueError(
            f"{name} on {wall.name}: the mesh has as many triangles as vertices, give a function of points"
        )
    if len(given) == mesh.number_of_triangles:
        values = np.repeat(given[wall.triangles][:, None], len(reference), axis=1)
    else:
        corners = given[mesh.triangles[wall.triangles]]
        values = np.einsum("ma...,an->mn...", corners, Element(1).values(reference))
    return values if values.ndim == 2 else np.einsum("mni,mni->mn", values, nu)
