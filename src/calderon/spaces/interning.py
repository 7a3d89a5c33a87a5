"""One object for each space of a mesh: equal requests give the same object, so that `is` compares spaces."""

from collections.abc import Callable, Hashable
from typing import TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh

S = TypeVar("S")

_SPACES: WeakKeyDictionary[TriangleMesh, WeakValueDictionary[Hashable, object]] = WeakKeyDictionary()
"""The spaces in use, by mesh object and key. References are weak: neither meshes nor spaces live longer for it."""


def interned(mesh: TriangleMesh, key: Hashable, build: Callable[[], S]) -> S:
    """The space of that key on the mesh that is in use, or `build()`, which is found from then on. key: says all that
    distinguishes the spaces of a mesh; it may contain the id of an object that the space refers to."""
    spaces = _SPACES.setdefault(mesh, WeakValueDictionary())
    space = spaces.get(key)
    if space is None:
        space = spaces.setdefault(key, build())
    return space  # type: ignore[return-value]


def support_key(mesh: TriangleMesh, triangles: NDArray[np.int64]) -> bytes | None:
    """A key that equal sets of triangles (increasing numbers) share, however they were named; None for all
    triangles."""
    return None if len(triangles) == mesh.number_of_triangles else triangles.tobytes()
