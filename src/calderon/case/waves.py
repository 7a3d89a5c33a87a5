"""Plane waves of case files."""

from typing import Literal

import numpy as np

from calderon.case.quantities import Angle, FieldStrength
from calderon.case.table import Table, key
from calderon.exact.angular import line_of_sight
from calderon.validation import unit_vector

Direction = tuple[float, float, float]


class Travelling(Table):
    """The direction of travel of a plane wave: a vector or angles."""

    direction: Direction | None = key("of travel of the wave, any length; of a current, its direction")
    azimuth: Angle | None = key("of the direction of travel, instead of a vector")
    elevation: Angle | None = key("of the direction of travel above the xy plane; 0 unless given")

    def require_direction(self) -> None:
        """ValueError unless one direction of travel is given."""
        if (self.direction is None) == (self.azimuth is None):
            raise ValueError("a plane wave needs either direction = [x, y, z] or azimuth (with elevation, if not 0)")
        if self.direction is not None and self.elevation is not None:
            raise ValueError("elevation requires azimuth, not direction")
        require_nonzero(self, "direction")

    @property
    def unit_direction(self) -> np.ndarray:
        """Direction of travel (3,), of length one."""
        if self.direction is not None:
            return unit_vector(self.direction)
        azimuth, elevation = self.azimuth or 0.0, self.elevation or 0.0
        return np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])


def require_nonzero(table: Table, name: str) -> None:
    """ValueError for the vector 0 as a direction."""
    if getattr(table, name) is not None and not any(getattr(table, name)):
        raise ValueError(f"{name} = [0, 0, 0] is not a direction")


class Wave(Travelling):
    """A plane wave by its direction of travel (vector or angles). electric_field, 1 V/m if not given, and polarization,
    V (along theta-hat of the direction toward the source), H (along phi-hat) or a vector: of an electromagnetic wave.
    """

    kind: str
    polarization: Literal["V", "H"] | Direction | None = key(
        'of the electric field: "V" (theta-hat), "H" (phi-hat) or a vector perpendicular to the direction'
    )
    electric_field: FieldStrength | None = key("peak value; 1 V/m unless given")

    def require_plane_wave(self) -> None:
        """ValueError unless one direction of travel is given, and a polarisation perpendicular to it or none."""
        self.require_direction()
        require_nonzero(self, "polarization")
        if (vector := self.vector) is not None and abs(vector @ self.unit_direction) > 1e-6:
            raise ValueError("polarization must be perpendicular to the direction of travel")

    @property
    def toward_source(self) -> tuple[float, float]:
        """theta and phi of the direction from which the wave comes."""
        x, y, z = -self.unit_direction + 0.0  # no negative zeros: phi is zero on the z axis
        return float(np.arctan2(np.hypot(x, y), z)), float(np.arctan2(y, x))

    @property
    def vector(self) -> np.ndarray | None:
        """The direction of the electric field (3,), of length one; None where none is given."""
        if self.polarization is None:
            return None
        if not isinstance(self.polarization, str):
            return unit_vector(self.polarization)
        vertical, horizontal = line_of_sight(*self.toward_source)[1:]
        return vertical if self.polarization == "V" else horizontal

    @property
    def polarized(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Direction, polarisation and amplitude in V/m of an electromagnetic wave."""
        assert self.vector is not None
        return self.unit_direction, self.vector, 1.0 if self.electric_field is None else self.electric_field
