"""What a case file may say: one model a table, unknown keys refused, every message naming what is allowed."""

import math
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from calderon.case.quantities import (
    Angle,
    Density,
    Frequency,
    Length,
    Potential,
    Pressure,
    Size,
    Speed,
    Wavenumber,
    positive_si,
)
from calderon.mesh import metres_per

# parameters that each shape takes besides h; the names are those of calderon.mesh
SHAPES: dict[str, tuple[str, ...]] = {
    "sphere": ("radius",),
    "ellipsoid": ("semi_axes",),
    "cube": ("size",),
    "cuboid": ("lengths",),
    "cylinder": ("radius", "length"),
    "torus": ("major_radius", "minor_radius"),
    "plate": ("lengths",),
    "almond": ("length",),
    "ogive": ("length",),
}
ACOUSTIC = ("sound-hard", "sound-soft", "impedance", "transmission")


class Table(BaseModel):
    """A table of a case file."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Mesh(Table):
    """[mesh]: a file, a sample that ships with the package, or a shape with its parameters and edge length h."""

    file: str | None = None
    sample: Literal["submarine"] | None = None
    shape: Literal["sphere", "ellipsoid", "cube", "cuboid", "cylinder", "torus", "plate", "almond", "ogive"] | None = (
        None
    )
    unit: Literal["m", "cm", "mm", "um", "km", "in", "ft"] | None = None
    resolution: Literal["coarse", "fine"] | None = None
    h: Size | None = None
    radius: Size | None = None
    size: Size | None = None
    length: Size | None = None
    lengths: tuple[Size, ...] | None = None
    semi_axes: tuple[Size, Size, Size] | None = None
    major_radius: Size | None = None
    minor_radius: Size | None = None

    @model_validator(mode="after")
    def _one_source(self) -> "Mesh":
        sources = [name for name in ("file", "sample", "shape") if getattr(self, name) is not None]
        if len(sources) != 1:
            given = " and ".join(sources) or "none of them"
            raise ValueError(f"give exactly one of file, sample or shape: got {given}")
        needed = {"file": (), "sample": (), "shape": ("h", *SHAPES.get(self.shape or "", ()))}[sources[0]]
        optional = {"file": ("unit",), "sample": ("resolution",), "shape": ()}[sources[0]]
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"the shape {self.shape!r} also needs {' and '.join(missing)}")
        fitting = {*sources, *needed, *optional}
        strange = sorted(
            name for name in self.model_fields_set if getattr(self, name) is not None and name not in fitting
        )
        if strange:
            takes = ", ".join([*needed, *optional]) or "nothing else"
            raise ValueError(
                f"{', '.join(strange)} does not go with {sources[0]} = {getattr(self, sources[0])!r}: it takes {takes}"
            )
        return self

    @property
    def scale(self) -> float:
        """Metres per unit of the file."""
        return metres_per(self.unit or "m")

    @property
    def parameters(self) -> dict[str, Any]:
        """What the shape's function is called with."""
        return {name: getattr(self, name) for name in ("h", *SHAPES[self.shape or ""])}


def _frequencies(value: Any) -> tuple[float, ...]:
    """One frequency, a list of them, or { start, stop, count } with both ends included."""
    if isinstance(value, dict):
        allowed = {"start", "stop", "count"}
        if set(value) != allowed:
            raise ValueError("a sweep is written { start = ..., stop = ..., count = ... }")
        count = value["count"]
        if not isinstance(count, int) or isinstance(count, bool) or count < 2:
            raise ValueError("count must be a whole number of at least 2")
        start, stop = (positive_si(value[name], "frequency") for name in ("start", "stop"))
        return tuple(float(f) for f in np.linspace(start, stop, count))
    if isinstance(value, list):
        if not value:
            raise ValueError("the list of frequencies is empty")
        return tuple(positive_si(one, "frequency") for one in value)
    return (positive_si(value, "frequency"),)


def _complex(value: Any) -> complex:
    """A real number or [real, imaginary]."""
    parts = value if isinstance(value, list) else [value, 0.0]
    if len(parts) != 2 or any(isinstance(part, bool) or not isinstance(part, (int, float)) for part in parts):
        raise ValueError("write a number or [real, imaginary]")
    if not all(math.isfinite(part) for part in parts):
        raise ValueError("both parts must be finite")
    return complex(*parts)


class Physics(Table):
    """[physics]: the problem, the frequency or wavenumber, and the medium.

    admittance: rho c / Z of an impedance surface, without unit, a number or [real, imaginary].
    """

    problem: Literal[
        "sound-hard", "sound-soft", "impedance", "transmission", "laplace-dirichlet", "laplace-neumann"
    ]  # fmt: skip
    frequency: Annotated[tuple[Frequency, ...], BeforeValidator(_frequencies)] | None = None
    wavenumber: Wavenumber | None = None
    speed_of_sound: Speed | None = None
    density: Density | None = None
    interior_speed_of_sound: Speed | None = None
    interior_density: Density | None = None
    admittance: Annotated[complex, BeforeValidator(_complex)] | None = None
    side: Literal["exterior", "interior"] | None = None
    potential: Potential | None = None
    flux: float | None = Field(default=None, allow_inf_nan=False)

    @model_validator(mode="after")
    def _complete(self) -> "Physics":
        needed: tuple[str, ...] = ()
        allowed: tuple[str, ...] = ()
        if self.problem in ACOUSTIC:
            if (self.frequency is None) == (self.wavenumber is None):
                raise ValueError("give either frequency (with speed_of_sound) or wavenumber")
            needed = ("frequency", "speed_of_sound") if self.frequency is not None else ("wavenumber",)
            allowed = ("density",)
            if self.problem == "impedance":
                needed += ("admittance",)
            if self.problem == "transmission":
                needed = ("frequency", "speed_of_sound", "density", "interior_speed_of_sound", "interior_density")
        elif self.problem == "laplace-dirichlet":
            needed, allowed = ("potential",), ("side",)
        else:
            needed, allowed = ("flux",), ("side",)
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"the problem {self.problem!r} also needs {' and '.join(missing)}")
        strange = [name for name in self.model_fields_set if name not in {"problem", *needed, *allowed}]
        if strange:
            takes = ", ".join([*needed, *allowed])
            raise ValueError(
                f"{', '.join(sorted(strange))} does not go with the problem {self.problem!r}: it takes {takes}"
            )
        return self

    @property
    def acoustic(self) -> bool:
        return self.problem in ACOUSTIC


class Incident(Table):
    """[incident]: a plane wave by its direction of travel (vector or angles), or a point source by its position."""

    kind: Literal["plane-wave", "point-source"] = "plane-wave"
    direction: tuple[float, float, float] | None = None
    azimuth: Angle | None = None
    elevation: Angle | None = None
    position: tuple[Length, Length, Length] | None = None
    amplitude: Pressure = 1.0

    @model_validator(mode="after")
    def _one_way(self) -> "Incident":
        if self.kind == "point-source":
            if self.position is None:
                raise ValueError("a point source needs position = [x, y, z]")
            strange = [name for name in ("direction", "azimuth", "elevation") if getattr(self, name) is not None]
            if strange:
                raise ValueError(f"{', '.join(strange)} does not go with a point source: it takes position, amplitude")
            return self
        if self.position is not None:
            raise ValueError('position goes with kind = "point-source"; a plane wave takes direction or azimuth')
        if (self.direction is None) == (self.azimuth is None):
            raise ValueError("a plane wave needs either direction = [x, y, z] or azimuth (with elevation, if not 0)")
        if self.direction is not None and self.elevation is not None:
            raise ValueError("elevation goes with azimuth, not with direction")
        if self.direction is not None and not any(self.direction):
            raise ValueError("direction = [0, 0, 0] points nowhere")
        return self

    @property
    def unit_direction(self) -> np.ndarray:
        """Direction of travel (3,), of length one."""
        if self.direction is not None:
            vector = np.array(self.direction)
            return vector / np.linalg.norm(vector)
        azimuth, elevation = self.azimuth or 0.0, self.elevation or 0.0
        return np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])


class Solver(Table):
    """[solver]: how the equations are discretised and solved."""

    method: Literal["dense"] = "dense"
    solver: Literal["gmres", "lu"] = "gmres"
    rtol: float = Field(default=1e-5, gt=0, lt=1)
    precision: Literal["double", "single"] = "double"
    backend: Literal["numba", "cuda", "opencl"] = "numba"
    max_iterations: int = Field(default=1000, ge=1)


class Angles(Table):
    """Angles in a plane through the origin, from its first axis toward its second; both ends included."""

    plane: Literal["xy", "xz", "yz"] = "xy"
    start: Angle = 0.0
    stop: Angle = 2 * math.pi
    count: int = Field(default=361, ge=1, le=100_000)

    @property
    def values(self) -> np.ndarray:
        """(count,) angles in radians."""
        return np.linspace(self.start, self.stop, self.count)

    @property
    def directions(self) -> np.ndarray:
        """(count, 3) unit vectors toward the observer."""
        first, second = (np.eye(3)["xyz".index(axis)] for axis in self.plane)
        return np.cos(self.values)[:, None] * first + np.sin(self.values)[:, None] * second


class Slice(Table):
    """A rectangle parallel to two axes on which the field is evaluated; points: along its longer side."""

    plane: Literal["xy", "xz", "yz"] = "xy"
    size: tuple[Size, Size] | None = None
    centre: tuple[Length, Length, Length] | None = None
    points: int = Field(default=160, ge=8, le=2000)
    quantity: Literal["real", "imag", "abs", "phase", "db"] = "real"


class Output(Table):
    """[output]: what is computed from the solution, drawn and written."""

    surface: tuple[Literal["abs", "real", "imag", "phase", "db"], ...] = ("abs",)
    far_field: Angles | None = None
    monostatic: Angles | None = None
    slice: Slice | None = None
    exact: bool = False


class Case(Table):
    """A whole case file."""

    title: str = ""
    mesh: Mesh
    physics: Physics
    incident: Incident | None = None
    solver: Solver = Solver()
    output: Output = Output()

    @model_validator(mode="after")
    def _fits_together(self) -> "Case":
        if self.physics.acoustic and self.incident is None:
            raise ValueError(f"the problem {self.physics.problem!r} needs an [incident] table")
        if not self.physics.acoustic:
            strange = [name for name in ("far_field", "monostatic") if getattr(self.output, name) is not None]
            strange += ["[incident]"] if self.incident is not None else []
            if strange:
                raise ValueError(f"{', '.join(strange)} does not go with the problem {self.physics.problem!r}")
        if self.output.exact and (self.mesh.shape != "sphere" or not self.physics.acoustic):
            raise ValueError('output.exact: exact series are there for mesh.shape = "sphere" with an acoustic problem')
        if self.output.exact and self.incident is not None and self.incident.kind != "plane-wave":
            raise ValueError("output.exact: the series is for an incident plane wave")
        return self
