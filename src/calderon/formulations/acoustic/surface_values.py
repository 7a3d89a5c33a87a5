"""A property of the surface: one number, one for each tag or triangle, or a function of the place."""

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh import TriangleMesh
from calderon.spaces import Space
from calderon.validation import as_complex, unmasked

SurfaceValues = complex | Mapping[int | str, complex] | ArrayLike | Callable[..., Any]


def values_at_nodes(
    given: SurfaceValues,
    space: Space,
    name: str,
    transform: Callable[[Any], Any] = lambda value: value,
    infinite: bool = False,
) -> complex | NDArray[np.complex128]:
    """transform(given) as one complex number or as values (dimension,) at the nodes of a space on the whole mesh.

    given: a number; {tag or its name: number} with every tag of the mesh; values (triangles,); or f(x), f(x, n) with
    points and normals (n, 3). Where values jump between triangles, a node has their mean, weighted by area.
    TypeError or ValueError for other types and values that are not finite. transform: applied before the mean is taken;
    infinite: whether it accepts infinite values, too.
    """
    if isinstance(given, numbers.Complex) and not isinstance(given, bool):
        return complex(transform(_checked(np.array(as_complex(given, name)), name, infinite)))
    if callable(given):
        values = space.node_values(given, infinite=infinite).astype(complex)  # refuses wrong shapes and NaN
        return np.asarray(transform(values), complex)
    per_triangle = np.asarray(transform(_checked(_per_triangle(given, space.mesh, name), name, infinite)), complex)
    areas = space.mesh.areas[space.triangles]
    dofs, size = space.dofs.ravel(), space.dofs.shape[1]
    weighted = np.zeros(space.dimension, complex)
    np.add.at(weighted, dofs, np.repeat(per_triangle[space.triangles] * areas, size))
    weighted /= np.bincount(dofs, np.repeat(areas, size), space.dimension)
    return weighted


def _per_triangle(given: Any, mesh: TriangleMesh, name: str) -> NDArray[np.complex128]:
    """(triangles,) values of a table of tags or an array."""
    if isinstance(given, Mapping):
        values = np.full(mesh.number_of_triangles, np.nan, complex)
        for tag, value in given.items():
            values[np.isin(mesh.tags, mesh.tag_numbers(tag))] = value
        missing = np.unique(mesh.tags[np.isnan(values) & ~np.isin(mesh.tags, mesh.tag_numbers(given))])
        if len(missing):
            raise ValueError(
                f"{name} is not given for the tags {missing.tolist()}: the mesh has {np.unique(mesh.tags).tolist()} "
                f"and the names {dict(mesh.names)}"
            )
        return values
    array = unmasked(given, name)
    try:
        values = np.asarray(array, complex)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be a number, a table from tags to numbers, one value for each triangle or a function f(x, n) "
            f"of points and normals, got {given!r}"
        ) from None
    if values.shape != (mesh.number_of_triangles,) or isinstance(given, (bool, str)):
        raise ValueError(
            f"{name} as an array needs one value for each of the {mesh.number_of_triangles} triangles, "
            f"got {np.shape(given) or repr(given)}"
        )
    return values


def _checked(values: NDArray[np.complex128], name: str, infinite: bool) -> NDArray[np.complex128]:
    wrong = ~np.isfinite(values) & ~(infinite & np.isinf(values))
    if wrong.any():
        what = "NaN" if infinite else "NaN or infinite"
        raise ValueError(f"{name} must be finite: {np.count_nonzero(wrong)} of {values.size} values are {what}")
    return values
