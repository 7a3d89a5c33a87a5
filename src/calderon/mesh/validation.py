"""Checks by the constructors of meshes; errors list the faulty elements."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.faces.names import TagNames
from calderon.mesh.sizes import LARGEST_LENGTH
from calderon.mesh.tolerances import TOLERANCES
from calderon.validation import unmasked


def set_frozen(mesh: object, **arrays: NDArray) -> None:
    """Attributes of a frozen mesh: read-only arrays."""
    for name, array in arrays.items():
        array.setflags(write=False)
        mesh.__dict__[name] = array


def checked_vertices(vertices: ArrayLike) -> NDArray[np.float64]:
    """An own contiguous copy of finite points (n, 3), or MeshError."""
    try:
        if np.iscomplexobj(vertices):
            raise TypeError("complex numbers")
        vertices = np.array(unmasked(vertices, "vertices"), dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise MeshError(f"vertices cannot be read as an array of real numbers ({error}): give shape (n, 3)") from None
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise MeshError(f"vertices have shape {vertices.shape}: (n, 3) is needed; add z = 0 to points of a plane")
    if not np.isfinite(vertices).all():
        bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
        raise MeshError(f"{len(bad)} vertices are NaN or infinite: {listed(bad)}; correct or remove them")
    if len(far := np.flatnonzero(np.abs(vertices).max(axis=1, initial=0.0) > LARGEST_LENGTH)):
        raise MeshError(
            f"{len(far)} vertices lie beyond {LARGEST_LENGTH:g}: {listed(far)}; check the unit, or the file"
        )
    return vertices


def checked_elements(
    elements: ArrayLike, what: str, width: int, vertices: int, if_empty: str, if_wide: str
) -> NDArray[np.int64]:
    """An own contiguous copy of elements (n, width) with the numbers of so many vertices, or MeshError with advice."""
    elements = _integers(elements, what)
    if elements.size == 0:
        raise MeshError(f"empty mesh: no {what}; {if_empty}")
    if elements.ndim != 2 or elements.shape[1] != width:
        raise MeshError(f"{what} have shape {elements.shape}: (n, {width}) is needed; {if_wide}")
    if elements.min() < 0 or elements.max() >= vertices:
        out = np.flatnonzero(((elements < 0) | (elements >= vertices)).any(axis=1))
        raise MeshError(
            f"{len(out)} {what} refer to vertices outside 0..{vertices - 1}: {listed(out)}; "
            "numbering starts at 0 (subtract 1 if yours starts at 1)"
        )
    return elements


def checked_tags(tags: ArrayLike | None, number: int, what: str = "tags") -> NDArray[np.int64]:
    """An own copy of the tags (number,) of so many elements, zeros for None, or MeshError."""
    if tags is None:
        return np.zeros(number, dtype=np.int64)
    tags = _integers(tags, what)
    if tags.shape != (number,):
        raise MeshError(f"{what} have shape {tags.shape}: one integer for each element is needed, ({number},)")
    return tags


def checked_names(names: Mapping[str, int] | None) -> TagNames:
    """Names of tags {name: tag}, or MeshError."""
    if not isinstance(names, Mapping | None):
        raise MeshError(f"names of tags are {{name: number}}, such as {{'hull': 1}}, got {names!r}")
    given = dict(names or {})
    for name, tag in given.items():
        if not isinstance(name, str) or not isinstance(tag, int | np.integer) or isinstance(tag, bool):
            raise MeshError(f"names of tags are {{name: number}}, such as {{'hull': 1}}, got {{{name!r}: {tag!r}}}")
    return TagNames(
        {name: int(tag) for name, tag in given.items()}, getattr(names, "colours", {}), getattr(names, "solids", {})
    )


def areas_and_flat(vertices: NDArray, triangles: NDArray) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Normal times area of each triangle, (nt, 3), and whether the area vanishes against the longest edge squared, as
    it does where a vertex is repeated, (nt,)."""
    a = vertices[triangles[:, 0]]
    u, v = vertices[triangles[:, 1]] - a, vertices[triangles[:, 2]] - a
    vectors = np.empty_like(u)
    for i, (j, k) in enumerate([(1, 2), (2, 0), (0, 1)]):
        vectors[:, i] = 0.5 * (u[:, j] * v[:, k] - u[:, k] * v[:, j])
    longest = np.maximum(np.einsum("ij,ij->i", u, u), np.einsum("ij,ij->i", v, v))
    u -= v
    longest = np.maximum(longest, np.einsum("ij,ij->i", u, u))
    return vectors, np.einsum("ij,ij->i", vectors, vectors) <= (TOLERANCES.flat_triangle * longest) ** 2


def area_vectors_of(vertices: NDArray, triangles: NDArray) -> NDArray[np.float64]:
    """Normal times area of each triangle, (nt, 3); MeshError for triangles without area."""
    vectors, is_flat = areas_and_flat(vertices, triangles)
    if len(flat := np.flatnonzero(is_flat)):
        raise MeshError(
            f"{len(flat)} degenerate triangles without area: {listed(flat)}; remove them (mesh.read() does)"
        )
    return vectors


def refuse_repeated(triangle_edges: NDArray, number_of_edges: int) -> None:
    """MeshError if two triangles have the same three vertices."""
    repeated = repeated_rows(triangle_edges, number_of_edges)
    if len(repeated):
        raise MeshError(
            f"{len(repeated)} triangles repeat another one (same three vertices): {listed(repeated)}; remove them: "
            "a zero-thickness sheet is meshed once"
        )


def repeated_rows(rows: NDArray, limit: int) -> NDArray:
    """Numbers of the rows (n, 3) of integers below limit that hold the same set as an earlier row.

    Two numbers of a sorted row decide it: no two triangles share two edges without sharing the third.
    """
    ordered = np.sort(rows, axis=1)
    keys = ordered[:, 0] * np.int64(limit) + ordered[:, 1]
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    return np.sort(order[1:][same])


def listed(ids: NDArray, most: int = 8) -> str:
    """The first ids as text: '3, 7, 9, ... (120 in all)'."""
    text = ", ".join(str(int(i)) for i in ids[:most])
    return text if len(ids) <= most else f"{text}, ... ({len(ids)} in all)"


def _integers(values: ArrayLike, what: str) -> NDArray[np.int64]:
    try:
        array = unmasked(values, what)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers")
        with np.errstate(invalid="ignore"):  # what is no integer differs afterwards
            exact = np.array(array, dtype=np.int64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise MeshError(f"{what} cannot be read as an array of integers: {error}") from None
    if array.dtype.kind not in "iub" and not np.array_equal(exact, array):
        raise MeshError(f"{what} hold numbers that are not integers ({array.dtype})")
    return exact
