"""The [output] table: quantities computed from the solution, or from a run in time, drawn and written."""

import math
from typing import Literal, Self

import numpy as np
from pydantic import model_validator

from calderon.case.near_field import NearField
from calderon.case.quantities import Angle, Mass, Place, Power, Size
from calderon.case.table import Table, key
from calderon.plots import slice_points


class Angles(Table):
    """Angles in a plane through the origin, from its first axis toward its second; both ends included."""

    plane: Literal["xy", "xz", "yz"] = key("in which the directions lie, through the origin", "xy")
    start: Angle = key("first angle, from the first axis of the plane toward the second", 0.0)
    stop: Angle = key("last angle", 2 * math.pi)
    count: int = key("number of directions", 361, ge=1, le=100_000)

    @property
    def values(self) -> np.ndarray:
        """(count,) angles in radians."""
        return np.linspace(self.start, self.stop, self.count)

    @property
    def directions(self) -> np.ndarray:
        """(count, 3) unit vectors toward the observer."""
        first, second = (np.eye(3)["xyz".index(axis)] for axis in self.plane)
        return np.cos(self.values)[:, None] * first + np.sin(self.values)[:, None] * second

    @property
    def theta_phi(self) -> tuple[np.ndarray, np.ndarray]:
        """theta and phi (count,) toward the observer; on the z axis phi is that of the plane."""
        x, y, z = np.where(np.abs(self.directions) < 1e-14, 0.0, self.directions).T
        pole = (x == 0) & (y == 0)
        of_plane = np.pi / 2 if self.plane == "yz" else 0.0
        return np.arctan2(np.hypot(x, y), z), np.where(pole, of_plane, np.arctan2(y, x))


class FarField(Angles):
    """Bistatic observation; polarization: of the receiver of electromagnetic waves, both together if not given.
    distance: from the origin, at which sound is observed; infinitely far if not given.
    """

    polarization: Literal["V", "H"] | None = key("of the receiver of electromagnetic waves; both unless given")
    distance: Size | None = key("from the origin at which sound is observed; infinitely far unless given")


class Monostatic(Angles):
    """Observation from where the wave comes; polarizations: receiver, then transmitter, of electromagnetic waves."""

    polarizations: tuple[Literal["VV", "HH", "VH", "HV"], ...] | None = key(
        "receiver, then transmitter, of electromagnetic waves", min_length=1
    )


class Reference(Table):
    """A curve of a CSV file (lines that begin with # are notes) drawn with a computed one.

    angle: the column of angles in degrees, level: that of decibels, by their names in the first line. polarization: of
    the computed curve to which the mean difference is reported, "VV" for example.
    """

    curve: Literal["far_field", "monostatic"] = key("with which computed curve it is drawn", ...)
    file: str = key("a .csv file in the folder of the case", ...)
    label: str = key("in the legend", ...)
    angle: str = key("name of the column of angles in degrees", ...)
    level: str = key("name of the column of decibels", ...)
    polarization: Literal["VV", "HH", "VH", "HV"] | None = key(
        "of the computed curve to which the mean difference is reported"
    )


class Rectangle(Table):
    """A rectangle parallel to two axes on which a field is evaluated; points: along its longer side."""

    plane: Literal["xy", "xz", "yz"] = key("to which it is parallel", "xy")
    size: tuple[Size, Size] | None = key("its two lengths")
    centre: Place | None = key("its middle")
    points: int = key("along its longer side", 160, ge=8, le=2000)

    @property
    def axes(self) -> list[int]:
        return ["xyz".index(axis) for axis in self.plane]

    def grid(self, size: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """(rows, columns, 3) points; size (2,) and centre (3,) in m where the case gives none."""
        size = size if self.size is None else np.array(self.size)
        columns, rows = np.maximum(2, np.round(self.points * size / size.max())).astype(int)
        across, up = size[:, None] * np.eye(3)[self.axes]
        return slice_points(centre if self.centre is None else self.centre, across, up, (int(rows), int(columns)))


class Slice(Rectangle):
    """output.slice: by default around the body."""

    quantity: Literal["real", "imag", "abs", "phase", "db"] = key("what is drawn", "real")


class NearFields(Table):
    """Fields at points that a case requests."""

    near_field: tuple[NearField, ...] = ()

    @property
    def near_field_names(self) -> list[str]:
        """Of the files: the names given, else numbers."""
        return [one.name or f"{number:02d}" for number, one in enumerate(self.near_field, start=1)]

    @model_validator(mode="after")
    def _distinct_names(self) -> Self:
        if len(set(self.near_field_names)) < len(self.near_field):
            raise ValueError("two near fields have the same name")
        return self


class Output(NearFields):
    """[output]: what is computed from the solution, drawn and written."""

    surface: tuple[Literal["abs", "real", "imag", "phase", "db"], ...] = key(
        'what is drawn on the surface; currents accept "abs" and "db"', ("abs",)
    )
    far_field: FarField | None = None
    monostatic: Monostatic | None = None
    slice: Slice | None = None
    exact: bool = key("compare with the exact series of a sphere", False)
    estimate: bool | None = key(
        "estimate the error by a solution on a second mesh; unless given, where nothing else does and the mesh is a "
        "small shape"
    )
    reference: tuple[Reference, ...] = ()

    @model_validator(mode="after")
    def _curves_of_references(self) -> "Output":
        for one in self.reference:
            if getattr(self, one.curve) is None:
                raise ValueError(f"reference {one.label!r} is for output.{one.curve}, which is not requested")
        labels = [one.label for one in self.reference]
        if len(set(labels)) < len(labels):
            raise ValueError("two references have the same label")
        return self


class Cut(Rectangle):
    """[[output.slice]] of a transient case: by default around everything that is not air.

    quantity: |E|, its level in dB, or the local specific absorption rate. frames: of an animation of E, over one period
    or over the whole run; 0 for none.
    """

    points: int = key("along its longer side", 240, ge=8, le=2000)
    quantity: Literal["abs", "db", "sar"] = key("|E|, its level, or the absorption rate", "abs")
    frames: int = key("of an animation of E over the last period or the run; 0 for none", 0, ge=0, le=200)


class AveragedSAR(Table):
    """output.sar: the specific absorption rate averaged over cubes of tissue. voxel: side of the grid's cells."""

    mass: Mass = key("of the cubes", 0.010)
    voxel: Size = key("side of the cells of the grid", 0.002)


class Snapshots(Table):
    """output.snapshots: E and H on the whole mesh at `count` times, evenly over the run, or over the last period."""

    count: int = key("number of times, evenly over the last period or the run", ..., ge=1, le=1000)


class TransientOutput(Table):
    """[output] of a transient case: what is recorded, drawn and written.

    probes: points at which both fields are recorded. slice: cuts through the fields. sar: averages over cubes of
    tissue. fed_power: all fields but snapshots are scaled so that currents feed this mean power. exact: the error
    against the standing wave of [initial]. far_field: of the last period, in a plane: the gain of a fed antenna, the
    cross-section of a scatterer of a plane wave.
    """

    probes: tuple[Place, ...] = key("points at which E and H are recorded", ())
    slice: tuple[Cut, ...] = ()
    sar: AveragedSAR | None = None
    fed_power: Power | None = key("mean power that the currents feed, to which all fields but snapshots are scaled")
    snapshots: Snapshots | None = None
    far_field: Angles | None = None
    exact: bool = key("compare with the standing wave of [initial]", False)

    @model_validator(mode="after")
    def _distinct(self) -> "TransientOutput":
        if len(set(self.probes)) < len(self.probes):
            raise ValueError("probes: the same point is given twice")
        return self
