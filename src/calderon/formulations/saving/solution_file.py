"""Solutions as HDF5 files: small values as JSON, meshes and coefficients as arrays, all under checksums; no pickle."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from calderon.files import DamagedFile, FileKind, SavedGroup, checked_path, new_file, put, put_texts, saved_file
from calderon.files.formats import h5py
from calderon.formulations.saving.encoding import Surface, decoded, encoded, require_types
from calderon.formulations.solution_info import SolutionInfo
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import OrientationWarning
from calderon.quadrature import Quadrature
from calderon.spaces import DP1, DP2, P0, P1, P2, RWG, EdgeSpace, Function, NodalVectorSpace, Space, VectorFunction
from calderon.spaces.element import Element
from calderon.spaces.nodal_vector_space import with_components

KIND = FileKind("calderon solution", "solution", "solve the problem again", version=3, former=3)
NODAL: dict[str, Callable[..., Any]] = {"P0": P0, "DP1": DP1, "DP2": DP2, "P1": P1, "P2": P2}
TABLE = "edge functions"
"""A space of edge functions that is no `RWG`, as of metal between layers, or on a part of a surface."""
NODAL_TABLE = "nodal functions"
"""A nodal space on a part of a surface, or without the functions on its boundary."""
WRONG = KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError
"""Errors that checks raise for values that do not fit each other."""


class SavedSolution:
    """A solution that can be saved in a file and read back by `cal.load`."""

    saved_classes: ClassVar[Sequence[type]] = ()
    """Classes of the objects among its values, besides `SolutionInfo` and `Quadrature`."""

    def _record(self) -> dict[str, Any]:
        """The contents of the file: the fields of the solution by name, unless a class says otherwise."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def _restored(cls, values: dict[str, Any]) -> Self:
        """The solution of what a file holds; TypeError or ValueError for what does not fit together."""
        found = cls(**values)
        require_types(found)
        found._require_consistent()
        return found

    def _require_consistent(self) -> None:
        """ValueError for values of the right types that do not fit together."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the solution in an HDF5 file (.h5), which `cal.load(path)` reads: the same fields and far fields to the
        last bit. Atomic, with checksums. ValueError for what a file cannot hold, such as loads that are functions."""
        place = checked_path(path, KIND)
        text, functions = encoded(self._record(), (SolutionInfo, Quadrature, *self.saved_classes))
        meshes = list({id(each.space.mesh): each.space.mesh for each in functions}.values())
        for function in functions:
            _refuse_others(function)
        with new_file(place, KIND) as file:
            file.attrs["solution"] = type(self).__name__
            put_texts(file, "values", [text])
            for name in ("meshes", "functions"):
                file.create_group(name)
            for number, mesh in enumerate(meshes):
                _put_mesh(file.create_group(f"meshes/{number}"), mesh)
            for number, function in enumerate(functions):
                group = file.create_group(f"functions/{number}")
                group.attrs["mesh"] = next(i for i, m in enumerate(meshes) if m is function.space.mesh)
                _put_function(group, function)


class Restorer(NamedTuple):
    """How solutions of a class are read: the classes among their values besides `SolutionInfo` and `Quadrature`, and
    what makes one of what the file holds."""

    classes: Sequence[type]
    restore: Callable[[dict[str, Any]], Any]


def restored(path: str | os.PathLike[str], restorers: Mapping[str, Restorer]) -> Any:
    """The solution of one of the classes, by name, in a file. FileNotFoundError; ValueError for a file of another kind
    or version, DamagedFile, a ValueError, for one that is damaged or does not fit together, MemoryError for one that is
    larger than the free memory."""
    with saved_file(path, KIND) as file:
        file.require_memory("the solution")
        name = file.text("solution")
        file.require(name in restorers, f"it holds a {name!r}, which this release does not know")
        try:
            with warnings.catch_warnings():  # of surfaces with cavities, whose normals are turned again
                warnings.simplefilter("ignore", OrientationWarning)
                meshes = [_mesh(group) for group in file["meshes"].numbered()]
                functions = [_function(group, meshes) for group in file["functions"].numbered()]
                classes = (SolutionInfo, Quadrature, *restorers[name].classes)
                return restorers[name].restore(decoded(file.texts("values")[0], classes, functions))
        except DamagedFile:
            raise
        except WRONG as error:
            file.refuse(f"what it holds does not fit together ({error})")


def _put_mesh(group: h5py.Group, mesh: TriangleMesh) -> None:
    for name in ("vertices", "triangles", "tags"):
        put(group, name, getattr(mesh, name))
    put_texts(group, "names", [json.dumps(dict(mesh.names))])


def _mesh(group: SavedGroup) -> TriangleMesh:
    vertices = group.array("vertices", np.float64, (None, 3))
    triangles = group.array("triangles", np.int64, (None, 3))
    tags = group.array("tags", np.int64, (len(triangles),))
    return TriangleMesh(vertices, triangles, tags, json.loads(group.texts("names")[0]))


def _refuse_others(function: Surface) -> None:
    """ValueError for functions of spaces that no problem has."""
    space: Any = function.space
    known = ("RWG",) if isinstance(function, VectorFunction) else NODAL
    if space.name not in known or (isinstance(function, VectorFunction) and not isinstance(space, EdgeSpace)):
        raise ValueError(
            f"{function.label!r} is a function of {space!r}: functions of {', '.join((*NODAL, 'RWG'))} are saved"
        )


def _is_whole(space: Any) -> bool:
    """Whether a space is that of all functions on its mesh, with any number of components."""
    edges = isinstance(space, EdgeSpace)
    if edges and (space.boundary or space.rotated or not (space.sides >= 0).all()):
        return False
    own, whole = (space, RWG(space.mesh)) if edges else (space.scalar, NODAL[space.name](space.mesh))
    return own is whole or all(np.array_equal(getattr(own, n), getattr(whole, n)) for n in _arrays(space))


def _arrays(space: Any) -> tuple[str, ...]:
    """Names of the arrays of a space that give its functions on triangles, and of edge functions their sides."""
    return ("triangles", "dofs", "signs", "sides") if isinstance(space, EdgeSpace) else ("triangles", "dofs")


def _put_function(group: h5py.Group, function: Surface) -> None:
    """Write a function with its space: by its name, or where it is not whole as a table."""
    space: Any = function.space
    name, whole = space.name, _is_whole(space)
    if not whole and isinstance(space, EdgeSpace):
        name, group.attrs["boundary"] = TABLE, space.boundary
    elif not whole:
        name, group.attrs["element"] = NODAL_TABLE, space.name
    for each in () if whole else _arrays(space):
        put(group, each, getattr(space if isinstance(space, EdgeSpace) else space.scalar, each))
    components = space.components if isinstance(space, NodalVectorSpace) else 0
    group.attrs.update(space=name, components=components, label=function.label, unit=function.unit)
    put(group, "coefficients", function.coefficients)


def _function(group: SavedGroup, meshes: list[TriangleMesh]) -> Surface:
    name, number, components = group.text("space"), group.whole("mesh"), group.whole("components")
    group.require(number < len(meshes), f"mesh {number} of {len(meshes)}")
    group.require(
        name in (*NODAL, "RWG", TABLE, NODAL_TABLE) and components <= 3, f"a space {name!r} of {components} components"
    )
    coefficients, about = group.array("coefficients"), (group.text("label"), group.text("unit"))
    if name == TABLE:
        return VectorFunction(_read_table(group, meshes[number]), coefficients, *about)
    if name == "RWG":
        return VectorFunction(RWG(meshes[number]), coefficients, *about)
    if name == NODAL_TABLE:
        space = with_components(_read_nodal_table(group, meshes[number]), components or 1)
        return Function(space, coefficients, *about)
    space = NODAL[name](meshes[number], **({"components": components} if components else {}))
    return Function(space, coefficients, *about)


def _read_nodal_table(group: SavedGroup, mesh: TriangleMesh) -> Space:
    """The nodal space; DamagedFile for triangles that there are not, and for functions on none."""
    name, degrees = group.text("element"), {"P0": 0, "DP1": 1, "DP2": 2, "P1": 1, "P2": 2}
    group.require(name in degrees, f"an element {name!r}")
    element = Element(degrees[name])
    triangles = group.array("triangles", np.int64, (None,))
    dofs = group.array("dofs", np.int64, (len(triangles), element.size))
    dimension = int(dofs.max(initial=-1)) + 1
    total = mesh.number_of_triangles
    fits = _within(triangles, 0, total) and _within(dofs, -1, dimension)
    every = dimension > 0 and len(np.unique(dofs[dofs >= 0])) == dimension
    group.require(fits and every, f"a table of functions that does not fit a mesh of {total} triangles")
    return Space(name, mesh, element, triangles, dofs, dimension)


def _read_table(group: SavedGroup, mesh: TriangleMesh) -> EdgeSpace:
    """The space of edge functions; DamagedFile for numbers of triangles, functions or edges that there are not."""
    triangles = group.array("triangles", np.int64, (None,))
    dofs = group.array("dofs", np.int64, (len(triangles), 3))
    signs = group.array("signs", np.float64, (len(triangles), 3))
    sides = group.array("sides", np.int64, (None, 2))
    total = mesh.number_of_triangles
    fits = len(sides) and _within(triangles, 0, total) and _within(dofs, -1, len(sides))
    fits = fits and _within(sides[:, 0], 0, 3 * total) and _within(sides[:, 1], -1, 3 * total)
    group.require(fits, f"a table of edge functions that does not fit a mesh of {total} triangles")
    return EdgeSpace("RWG", mesh, triangles, dofs, signs, sides, boundary=group.flag("boundary"))


def _within(numbers: np.ndarray, low: int, end: int) -> bool:
    return bool(np.all((numbers >= low) & (numbers < end)))
