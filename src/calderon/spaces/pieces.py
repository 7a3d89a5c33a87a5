"""Functions of a space cut into pieces, each on one group of triangles."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.spaces.nodal_vector_space import NodalVectorSpace
from calderon.spaces.space import Space


@dataclass(frozen=True, eq=False)
class PieceSpace(Space):
    """Pieces of functions, which jump between groups. Where the whole functions are continuous, curls are those within
    triangles, and triangles have the order of the whole functions, on which the last digits of entries depend."""

    whole_is_continuous: bool = False

    @property
    def is_continuous(self) -> bool:
        """Whether the whole functions are."""
        return self.whole_is_continuous


class Pieces(NamedTuple):
    """space: of the pieces, numbered group by group; whole (n,): the function that each is a piece of, `dimension` of
    them; starts (groups + 1,): where the pieces of each group begin; group: of each triangle of the support. With c
    components all have c numbers next to each other."""

    space: Space | NodalVectorSpace
    whole: NDArray[np.int64]
    starts: NDArray[np.int64]
    dimension: int
    group: NDArray[np.int64]

    @staticmethod
    def of(space: Space, group: NDArray[np.int64], groups: int) -> "Pieces":
        """group (triangles of the support,): the group of each of them, of so many."""
        starts, none = np.zeros(groups + 1, np.int64), np.zeros(0, np.int64)
        seen, dofs = np.full(groups, -1), np.full(space.dofs.shape, -1, np.int64)
        _put_pieces(*space.carriers, group, seen, starts[1:], none, dofs)
        starts = np.cumsum(starts)
        whole, ends = np.empty(int(starts[-1]), np.int64), starts.copy()
        seen[:] = -1
        _put_pieces(*space.carriers, group, seen, ends, whole, dofs)
        numbers = space.triangles, dofs, len(whole)
        pieces = PieceSpace(f"pieces of {space.name}", space.mesh, space.element, *numbers, space.is_continuous)
        return Pieces(pieces, whole, starts, space.dimension, group)

    def with_components(self, count: int) -> "Pieces":
        """The pieces of fields with `count` components of each function."""
        whole = (count * self.whole[:, None] + np.arange(count)).ravel()
        space = NodalVectorSpace(self.space.scalar, count)
        return Pieces(space, whole, count * self.starts, count * self.dimension, self.group)

    def within(self, groups: NDArray[np.bool_]) -> Space | NodalVectorSpace:
        """The space of the pieces, with the triangles of these groups (groups,) alone: all others are zero."""
        if groups.all():
            return self.space
        scalar, kept = self.space.scalar, groups[self.group]
        part = replace(scalar, triangles=scalar.triangles[kept], dofs=scalar.dofs[kept])
        return part if self.space is scalar else NodalVectorSpace(part, self.space.components)  # type: ignore[union-attr]

    def runs(self, size: int) -> list[tuple[int, int, NDArray[np.int64]]]:
        """Groups that follow each other and have about so many triangles: the first one, one beyond the last, and which
        triangles of the support they have."""
        ends = np.append(0, np.cumsum(np.bincount(self.group, minlength=len(self.starts) - 1)))
        bounds = np.append(np.flatnonzero(np.diff(ends[:-1] // size, prepend=-1)), len(self.starts) - 1)
        order = np.argsort(self.group, kind="stable")
        runs = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        return [(first, last, np.sort(order[ends[first] : ends[last]])) for first, last in runs]

    def alone(self, first: int, last: int, triangles: NDArray[np.int64]) -> Space:
        """The space of the scalar pieces of such a run, numbered from 0 on."""
        space, low, high = self.space.scalar, int(self.starts[first]), int(self.starts[last])
        dofs = space.dofs[triangles]
        numbers = np.where(dofs < 0, dofs, dofs - low)
        return replace(space, triangles=space.triangles[triangles], dofs=numbers, dimension=high - low)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """(k, dimension) sums over the pieces (k, n) of each function: the transposed of x[whole]."""
        found = [np.bincount(self.whole, each, self.dimension) for each in values]
        return np.reshape(found, (len(values), self.dimension))


@kernel
def _put_pieces(start, rows, functions, group, seen, ends, whole, dofs):
    """Put the functions that each group has a piece of, increasing, into whole from ends[g] on, which is advanced, and
    the numbers of pieces into dofs (n, L); count pieces first, in a call with `whole` empty, in ends[g].

    start, rows, functions: of `Carriers`; group (n,): of each row; seen (groups,): -1, overwritten.
    """
    for f in range(start.size - 1):
        for e in range(start[f], start[f + 1]):
            g = group[rows[e]]
            is_new = seen[g] != f
            seen[g] = f
            if whole.size == 0:
                ends[g] += is_new
                continue
            if is_new:
                whole[ends[g]] = f
                ends[g] += 1
            dofs[rows[e], functions[e]] = ends[g] - 1
