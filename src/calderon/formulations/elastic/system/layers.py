"""The layers K and V of one body, tested with its displacements and with its unknown tractions: lazy, and assembled.

    D (u, t) = K u - V t

is all that the equation of a body takes from them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.greens import Elastostatic
from calderon.operators import blocks, double_layer, single_layer
from calderon.quadrature import Quadrature
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


@dataclass(frozen=True, eq=False)
class Layers:
    """Lazy K and V. double: K of displacements, tested with each of `Spaces.tests`. single: V of tractions, likewise;
    None without tractions."""

    double: tuple[Any, ...]
    single: tuple[Any, ...]

    @staticmethod
    def of(green: Elastostatic, spaces: Spaces, quadrature: Quadrature) -> "Layers":
        """The layers of a function of Green by rules of quadrature."""
        trial, loaded = spaces.displacements, spaces.loaded
        double = tuple(double_layer(green, trial, test, quadrature=quadrature) for test in spaces.tests)
        single = tuple(
            None if loaded is None else single_layer(green, loaded, test, quadrature=quadrature)
            for test in spaces.tests
        )
        return Layers(double, single)

    @property
    def table(self) -> Any:
        """The block operator [[K, -V], ...]."""
        return blocks([[K] if V is None else [K, -V] for K, V in zip(self.double, self.single, strict=True)])


@dataclass(frozen=True, eq=False)
class SeparateLayers:
    """K and V assembled one by one: (K, V) for each test space, V is None without tractions."""

    matrices: tuple[tuple[Any, Any], ...]

    @staticmethod
    def of(layers: Layers, assemble: Callable[[Any], Any]) -> "SeparateLayers":
        """The layers, each assembled by a function of an operator."""
        pairs = zip(layers.double, layers.single, strict=True)
        return SeparateLayers(tuple((assemble(K), None if V is None else assemble(V)) for K, V in pairs))

    def difference(self, u: Any, t: Any) -> list[Any]:
        """K u - V t (rows, k) for each test space. u (3 n, k), t (loaded, k): columns, or None for zero."""
        return [self._of_one(K, V, u, t) for K, V in self.matrices]

    def release_known(self) -> None:
        """Nothing: what is known has no columns of its own."""

    @staticmethod
    def _of_one(double: Any, single: Any, u: Any, t: Any) -> Any:
        result = 0.0 if u is None else double @ u
        if t is not None and single is not None:
            result = result - single @ t
        return np.zeros((double.shape[0], t.shape[1])) if np.isscalar(result) else result
