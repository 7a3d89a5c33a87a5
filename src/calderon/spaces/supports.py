"""The triangles that carry each function of a space, and boxes around them, by which compression orders functions."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel, read_only


class Supports(NamedTuple):
    """Where the functions of a space are, in m. boxes (dimension, 2, 3): lower and upper corners of the boxes around
    the triangles of each function. middles (dimension, 3): means of the centroids of these; on a body of flat faces
    they tell functions on different edges and faces apart, which middles of boxes do not."""

    boxes: NDArray[np.float64]
    middles: NDArray[np.float64]


def supports_of(space: Any) -> Supports:
    """The supports of a Space, an EdgeSpace or DualTests, with triangles (n,) and dofs (n, L)."""
    if not space.mesh.is_flat:
        space.mesh.flat_triangles(space.triangles, "a box around functions")  # says that there is none
    boxes, middles = np.empty((space.dimension, 2, 3)), np.zeros((space.dimension, 3))
    boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
    numbers = np.zeros(space.dimension, np.int64)
    dofs = np.ascontiguousarray(space.dofs, np.int64)
    vertices, triangles = read_only(space.mesh.vertices), read_only(space.mesh.triangles)
    _put_supports(vertices, triangles, read_only(space.triangles), dofs, boxes, middles, numbers)
    return Supports(boxes, middles)


@kernel
def _put_supports(vertices, triangles, chosen, dofs, boxes, middles, numbers):
    """Store boxes (d, 2, 3) and middles (d, 3) of functions, which are empty boxes and zeros at first.

    vertices (V, 3); triangles (T, 3): vertices of each; dofs (n, L): functions of the chosen (n,) of these, -1 for
    none; numbers (d,): zeros, then how many triangles each function has.
    """
    for t in range(len(chosen)):
        one, two, three = triangles[chosen[t]]
        for axis in range(3):
            a, b, c = vertices[one, axis], vertices[two, axis], vertices[three, axis]
            low, high, middle = min(a, b, c), max(a, b, c), (a + b + c) / 3
            for function in dofs[t]:
                if function >= 0:
                    boxes[function, 0, axis] = min(boxes[function, 0, axis], low)
                    boxes[function, 1, axis] = max(boxes[function, 1, axis], high)
                    middles[function, axis] += middle
                    numbers[function] += axis == 0
    for function in range(len(numbers)):
        for axis in range(3):
            middles[function, axis] /= numbers[function]


@kernel
def put_vertices(vertices, triangles, chosen, dofs, nodes):
    """Fill nodes (d, 3) with the vertices (V, 3) at which linear functions, dofs (n, 3) of the chosen (n,) of the
    triangles (T, 3), -1 for none, are 1."""
    for n in range(len(chosen)):
        for a in range(3):
            if dofs[n, a] >= 0:
                vertex = triangles[chosen[n], a]
                for axis in range(3):  # not rows as a whole: two seconds of compilation, for a message
                    nodes[dofs[n, a], axis] = vertices[vertex, axis]


class Carriers(NamedTuple):
    """Rows of dofs: those with function f stand from start[f] to start[f + 1] in `rows`, as local function `locals`."""

    start: NDArray[np.int64]
    rows: NDArray[np.int32]
    locals: NDArray[np.int32]

    def of(self, functions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of dofs with any of these functions, in order."""
        first, count = self.start[functions], self.start[functions + 1] - self.start[functions]
        ends = np.cumsum(count)
        places = np.repeat(first - ends + count, count) + np.arange(count.sum())
        return np.unique(self.rows[places]).astype(np.int64)


def carriers_of(dofs: NDArray[np.int64], dimension: int) -> Carriers:
    """From dofs (n, L), numbers of so many functions, -1 for none."""
    start, none = np.zeros(dimension + 2, np.int64), np.zeros(0, np.int32)
    dofs = read_only(np.ascontiguousarray(dofs, np.int64))
    _put_carriers(dofs, start, none, none)
    start = np.cumsum(start)
    rows, functions = np.empty((2, int(start[-1])), np.int32)
    _put_carriers(dofs, start, rows, functions)
    return Carriers(start[:-1], rows, functions)


@kernel
def _put_carriers(dofs, start, rows, functions):
    """Put the rows and the local functions of each function f from start[f + 1] on, which becomes where they end; count
    them first, in a call with `rows` empty, in start[f + 2].

    dofs (n, L): the functions of each row, -1 for none; start (dimension + 2,); rows, functions (m,): of `Carriers`.
    """
    for t in range(dofs.shape[0]):
        for n in range(dofs.shape[1]):
            f = dofs[t, n]
            if f >= 0 and rows.size == 0:
                start[f + 2] += 1
            elif f >= 0:
                place = start[f + 1]
                rows[place], functions[place] = t, n
                start[f + 1] += 1
