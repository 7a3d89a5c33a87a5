"""The solution of scattering by a body whose field is known at the nodes of tetrahedra."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.acoustic.scattering_solution import ScatteringSolution
from calderon.formulations.mirrors import lies_in, within
from calderon.spaces.volume_function import VolumeFunction
from calderon.validation import of_any_shape, one_or_more_points


@dataclass(frozen=True, eq=False)
class VolumeScatteringSolution(ScatteringSolution):
    """The field u_inc + u_s of an incident wave outside of a body, and the total field `interior` in its tetrahedra.

    surface: the total pressure on the boundary, derivative: du/dn on its outside. The rest is as in
    `ScatteringSolution`.
    """

    interior: VolumeFunction = None  # type: ignore[assignment]

    saved_classes: ClassVar[Sequence[type]] = (*ScatteringSolution.saved_classes, VolumeFunction)

    @of_any_shape
    def field(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.complex128]:
        """The total pressure (n,) in Pa at points (n, 3): in a tetrahedron the finite element function there, elsewhere
        the incident wave and the layers."""
        outside, x = super().field, one_or_more_points(points)
        found = self.interior.or_else(x, (), self.interior.values, lambda far: outside(far, backend, precision))
        return within(self.half_space, x, found)

    @of_any_shape
    def gradient(self, points: ArrayLike, backend: str = "numba", precision: str = "double") -> NDArray[np.complex128]:
        """The gradient of the total pressure (n, 3) in Pa/m at points (n, 3), as `field`."""
        outside, x = super().gradient, one_or_more_points(points)
        found = self.interior.or_else(x, (3,), self.interior.gradients, lambda far: outside(far, backend, precision))
        return within(self.half_space, x, found)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the tetrahedra and their pressure in Pa for ParaView (.vtu); `surface.write` writes the boundary."""
        self.interior.write(path)

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        return lies_in(self.half_space, points)

    def _require_consistent(self) -> None:
        super()._require_consistent()
        if not isinstance(self.interior, VolumeFunction):
            raise ValueError("no field in a volume")
