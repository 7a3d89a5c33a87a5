"""The [incident] table: the wave that meets the body."""

from typing import Literal

import numpy as np
from pydantic import model_validator

from calderon.case.quantities import Angle, FieldStrength, Length, Pressure
from calderon.case.table import Table
from calderon.exact.angular import line_of_sight
from calderon.validation import unit_vector


class Incident(Table):
    """[incident]: a plane wave by its direction of travel (vector or angles), or a point source by its position.

    amplitude: peak pressure of a sound wave, 1 Pa if not given. electric_field and polarization, V (along theta-hat of
    the direction toward the source), H (along phi-hat) or a vector: of an electromagnetic wave, 1 V/m if not given.
    """

    kind: Literal["plane-wave", "point-source"] = "plane-wave"
    direction: tuple[float, float, float] | None = None
    azimuth: Angle | None = None
    elevation: Angle | None = None
    position: tuple[Length, Length, Length] | None = None
    amplitude: Pressure | None = None
    electric_field: FieldStrength | None = None
    polarization: Literal["V", "H"] | tuple[float, float, float] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "Incident":
        if self.kind == "point-source":
            if self.position is None:
                raise ValueError("a point source needs position = [x, y, z]")
            strange = [name for name in ("direction", "azimuth", "elevation") if getattr(self, name) is not None]
            if strange:
                raise ValueError(f"{', '.join(strange)} is not a key of a point source: it accepts position, amplitude")
            return self
        if self.position is not None:
            raise ValueError('position requires kind = "point-source"; a plane wave accepts direction or azimuth')
        if (self.direction is None) == (self.azimuth is None):
            raise ValueError("a plane wave needs either direction = [x, y, z] or azimuth (with elevation, if not 0)")
        if self.direction is not None and self.elevation is not None:
            raise ValueError("elevation requires azimuth, not direction")
        if self.direction is not None and not any(self.direction):
            raise ValueError("direction = [0, 0, 0] is not a direction")
        if self.polarization is not None and not any(self.polarization):
            raise ValueError("polarization = [0, 0, 0] is not a direction")
        if (vector := self.vector) is not None:
            if abs(vector @ self.unit_direction) > 1e-6:
                raise ValueError("polarization must be perpendicular to the direction of travel")
        return self

    @property
    def unit_direction(self) -> np.ndarray:
        """Direction of travel (3,), of length one."""
        if self.direction is not None:
            return unit_vector(self.direction)
        azimuth, elevation = self.azimuth or 0.0, self.elevation or 0.0
        return np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])

    @property
    def vector(self) -> np.ndarray | None:
        """The direction of the electric field (3,), of length one; None where none is given."""
        if self.polarization is None or self.position is not None:
            return None
        if not isinstance(self.polarization, str):
            return unit_vector(self.polarization)
        x, y, z = -self.unit_direction + 0.0  # no negative zeros: phi is zero on the z axis
        vertical, horizontal = line_of_sight(np.arctan2(np.hypot(x, y), z), np.arctan2(y, x))[1:]
        return vertical if self.polarization == "V" else horizontal
