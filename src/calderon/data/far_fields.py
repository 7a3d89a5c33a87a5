"""Far fields with labels: amplitudes, phases and levels by direction."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data.labelled import Axis, LabelledArrays, Quantity
from calderon.data.places import angle_axes
from calderon.exact.angular import line_of_sight

Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Directions:
    """All pairs of angles theta, phi (1-D arrays, radians), or vectors (n, 3): radial and the unit vectors along
    increasing theta and phi, each (..., 3), with the axes of the values."""

    axes: tuple[Axis, ...]
    places: tuple[Quantity, ...]
    radial: NDArray[np.float64]
    polar: NDArray[np.float64]
    azimuthal: NDArray[np.float64]

    @classmethod
    def of(cls, theta: ArrayLike, phi: ArrayLike | None) -> "Directions":
        """Errors as for `exact.unit_directions`."""
        if phi is None:
            frame = line_of_sight(theta)
            names = zip(("direction_x", "direction_y", "direction_z"), frame[0].T, strict=True)
            places = tuple(Quantity(name, values) for name, values in names)
            return cls((Axis("direction", np.arange(len(frame[0]))),), places, *frame)
        axes = angle_axes(theta, phi)
        return cls(axes, (), *line_of_sight(*np.meshgrid(*(each.values for each in axes), indexing="ij")))

    def evaluated(self, far_field: Callable[[NDArray[np.float64]], Any]) -> NDArray[Any]:
        """A far field at directions (n, 3), in the shape of the axes."""
        values = np.asarray(far_field(self.radial.reshape(-1, 3)))
        return values.reshape(*self.radial.shape[:-1], *values.shape[1:])

    def labelled(self, quantities: list[Quantity], attributes: Mapping[str, Any]) -> LabelledArrays:
        """Quantities in the shape of the axes."""
        return LabelledArrays(self.axes, tuple(quantities), self.places, attributes)

    def components(self, far: Complex, unit: str = "V") -> list[Quantity]:
        """Amplitudes along theta and phi, and their phases in rad, of a far electric field (..., 3)."""
        parts = {"theta": np.sum(far * self.polar, axis=-1), "phi": np.sum(far * self.azimuthal, axis=-1)}
        found = [Quantity(f"amplitude_{name}", part, unit, f"far field along {name}") for name, part in parts.items()]
        return found + [
            Quantity(f"phase_{name}", np.angle(part), "rad", f"phase along {name}") for name, part in parts.items()
        ]


def decibels(power: NDArray[np.float64]) -> NDArray[np.float64]:
    """10 log10 of a power ratio; minus infinity for zero."""
    with np.errstate(divide="ignore"):
        return 10 * np.log10(power)
