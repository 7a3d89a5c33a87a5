"""The excitation: [incident], the wave that meets a body; [[source]] and [initial] of a transient case."""

from typing import ClassVar, Literal

import numpy as np
from pydantic import model_validator

from calderon.case.quantities import Angle, Current, FieldStrength, Place, Pressure
from calderon.case.table import Table, key
from calderon.exact import VACUUM_IMPEDANCE
from calderon.exact.angular import line_of_sight
from calderon.validation import unit_vector
from calderon.waves import (
    CurrentSource,
    ElectromagneticPlaneWave,
    PlaneWave,
    PointSource,
    RampedSine,
    TransientPlaneWave,
)

Direction = tuple[float, float, float]


class Wave(Table):
    """A plane wave by its direction of travel (vector or angles). electric_field, 1 V/m if not given, and polarization,
    V (along theta-hat of the direction toward the source), H (along phi-hat) or a vector: of an electromagnetic wave.
    """

    kind: str
    direction: Direction | None = key("of travel of the wave, any length; of a current, its direction")
    azimuth: Angle | None = key("of the direction of travel, instead of a vector")
    elevation: Angle | None = key("of the direction of travel above the xy plane; 0 unless given")
    polarization: Literal["V", "H"] | Direction | None = key(
        'of the electric field: "V" (theta-hat), "H" (phi-hat) or a vector perpendicular to the direction'
    )
    electric_field: FieldStrength | None = key("peak value; 1 V/m unless given")

    def require_plane_wave(self) -> None:
        """ValueError unless one direction of travel is given, and a polarisation perpendicular to it or none."""
        if (self.direction is None) == (self.azimuth is None):
            raise ValueError("a plane wave needs either direction = [x, y, z] or azimuth (with elevation, if not 0)")
        if self.direction is not None and self.elevation is not None:
            raise ValueError("elevation requires azimuth, not direction")
        for name in ("direction", "polarization"):
            if getattr(self, name) is not None and not any(getattr(self, name)):
                raise ValueError(f"{name} = [0, 0, 0] is not a direction")
        if (vector := self.vector) is not None and abs(vector @ self.unit_direction) > 1e-6:
            raise ValueError("polarization must be perpendicular to the direction of travel")

    @property
    def unit_direction(self) -> np.ndarray:
        """Direction of travel (3,), of length one."""
        if self.direction is not None:
            return unit_vector(self.direction)
        azimuth, elevation = self.azimuth or 0.0, self.elevation or 0.0
        return np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])

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


class Incident(Wave):
    """[incident]: a plane wave, or a point source by its position. amplitude: peak pressure of sound, 1 Pa if not
    given."""

    kind: Literal["plane-wave", "point-source"] = key("a plane wave, or a point source of sound", "plane-wave")
    position: Place | None = key("of a point source")
    amplitude: Pressure | None = key("peak pressure of sound; 1 Pa unless given")

    @model_validator(mode="after")
    def _one_way(self) -> "Incident":
        if self.kind == "plane-wave":
            if self.position is not None:
                raise ValueError('position requires kind = "point-source"; a plane wave accepts direction or azimuth')
            self.require_plane_wave()
            return self
        if self.position is None:
            raise ValueError("a point source needs position = [x, y, z]")
        strange = [name for name in ("direction", "azimuth", "elevation") if getattr(self, name) is not None]
        if strange:
            raise ValueError(f"{', '.join(strange)} is not a key of a point source: it accepts position, amplitude")
        return self

    @property
    def travel(self) -> np.ndarray | None:
        """The direction (3,) along which a plane wave travels; None for a point source."""
        return self.unit_direction if self.position is None else None

    @property
    def pressure(self) -> float:
        return 1.0 if self.amplitude is None else self.amplitude

    def sound(self, wavenumber: float) -> PlaneWave | PointSource:
        """The incident sound at a wavenumber."""
        if self.position is not None:
            return PointSource(np.array(self.position), wavenumber, self.pressure)
        return PlaneWave(self.unit_direction, wavenumber, self.pressure)

    def electromagnetic(self, wavenumber: float) -> ElectromagneticPlaneWave:
        """The incident electromagnetic plane wave at a wavenumber, in vacuum."""
        direction, vector, amplitude = self.polarized
        return ElectromagneticPlaneWave(direction, vector, wavenumber, amplitude, impedance=VACUUM_IMPEDANCE)


# the keys that each kind of source accepts
SOURCES: dict[str, tuple[str, ...]] = {
    "plane-wave": ("direction", "azimuth", "elevation", "polarization", "electric_field"),
    "current": ("part", "direction", "current", "name"),
}


class Source(Wave):
    """[[source]]: a plane wave that enters through the absorbing faces, or a current that flows through a part of the
    mesh along a direction. Both oscillate with the frequency of [physics].

    current: peak value, 1 A if not given. name: of the feed in results, by default the part's.
    """

    SELECTORS: ClassVar = ("kind",)
    kind: Literal["plane-wave", "current"] = key("a wave through the absorbing faces, or a current through a part", ...)
    part: str | None = key("name of the part through which the current flows")
    current: Current | None = key("peak value; 1 A unless given")
    name: str | None = key("of the feed in results; the part's unless given", min_length=1)

    @model_validator(mode="after")
    def _of_one_kind(self) -> "Source":
        self.require_keys(f"kind = {self.kind!r}", (), SOURCES[self.kind])
        if self.kind == "plane-wave":
            if self.polarization is None:
                raise ValueError('a plane wave needs polarization = "V", "H" or [x, y, z]')
            self.require_plane_wave()
        elif self.part is None or self.direction is None or not any(self.direction):
            raise ValueError('a current needs part = "name" and direction = [x, y, z], not all zero')
        return self

    def at(self, frequency: float) -> TransientPlaneWave | CurrentSource:
        """The source at a frequency in Hz."""
        if self.kind == "plane-wave":
            direction, vector, amplitude = self.polarized
            return TransientPlaneWave(direction, vector, frequency, amplitude)
        assert self.part is not None
        signal = RampedSine(frequency, 1.0 if self.current is None else self.current)
        return CurrentSource(self.part, np.array(self.direction), signal, self.name or self.part)


class Initial(Table):
    """[initial]: a standing wave (l, m, n) of the cube that the mesh is, with the largest component of E given."""

    mode: tuple[int, int, int] = key("numbers (l, m, n) of the standing wave of a cube", ...)
    electric_field: FieldStrength = key("largest component", 1.0)
