"""The spaces of the displacements and tractions of one body."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.spaces import NodalVectorSpace
from calderon.spaces.space import Space

Array = NDArray[np.float64]


class Spaces(NamedTuple):
    """The spaces of one body.

    displacements: on the whole surface. tractions: on the whole surface. loaded: tractions that may differ from zero;
    None without any. unknown: those that are unknown; None without any.
    """

    displacements: NodalVectorSpace
    tractions: NodalVectorSpace
    loaded: NodalVectorSpace | None
    unknown: NodalVectorSpace | None

    @staticmethod
    def of(
        displacements: NodalVectorSpace,
        tractions: NodalVectorSpace,
        loaded: NDArray[np.bool_],
        supported: NDArray[np.bool_],
    ) -> "Spaces":
        """The spaces for masks (triangles,) of those with tractions, and of those with unknown ones; one space where
        they are the same, so that V is known to be symmetric."""
        unknown = restricted(tractions, supported)
        same = np.array_equal(supported, loaded)
        return Spaces(displacements, tractions, unknown if same else restricted(tractions, loaded), unknown)

    @property
    def tests(self) -> list[NodalVectorSpace]:
        """The spaces that the equation is tested with."""
        return [self.displacements] + ([] if self.unknown is None else [self.unknown])

    @property
    def entries(self) -> int:
        """How many entries all layers have."""
        loaded = 0 if self.loaded is None else self.loaded.dimension
        return sum(test.dimension for test in self.tests) * (self.displacements.dimension + loaded)


def single_layer_sizes(areas: NDArray[Any]) -> Array:
    """(m,) about the diagonal of a single layer, of Laplace or of a solid with E = 1, between constants on triangles
    with areas (m,)."""
    return areas**1.5 / 3


def restricted(space: NodalVectorSpace, triangles: NDArray[np.bool_]) -> NodalVectorSpace | None:
    """A space of functions that jump, on some triangles only and in the same order; None for no triangles."""
    chosen = np.flatnonzero(triangles)
    if not len(chosen):
        return None
    scalar = space.scalar
    dofs = np.arange(len(chosen) * scalar.element.size).reshape(len(chosen), -1)
    part = Space(scalar.name, scalar.mesh, scalar.element, chosen, dofs, dofs.size)
    return NodalVectorSpace(part, space.components)
