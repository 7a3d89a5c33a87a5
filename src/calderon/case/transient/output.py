"""The [output] table of a transient case: quantities recorded, drawn and written."""

from typing import Literal

from pydantic import Field, model_validator

from calderon.case.output import Angles
from calderon.case.quantities import Length, Mass, Power, Size
from calderon.case.table import Table

Place = tuple[Length, Length, Length]


class Cut(Table):
    """[[output.slice]]: a rectangle parallel to two axes, by default around everything that is not air.

    points: along its longer side. quantity: |E|, its level in dB, or the local specific absorption rate. frames: of an
    animation of E, over one period or over the whole run; 0 for none.
    """

    plane: Literal["xy", "xz", "yz"] = "xy"
    size: tuple[Size, Size] | None = None
    centre: Place | None = None
    points: int = Field(default=240, ge=8, le=2000)
    quantity: Literal["abs", "db", "sar"] = "abs"
    frames: int = Field(default=0, ge=0, le=200)


class AveragedSAR(Table):
    """output.sar: the specific absorption rate averaged over cubes of tissue. voxel: side of the grid's cells."""

    mass: Mass = 0.010
    voxel: Size = 0.002


class Snapshots(Table):
    """output.snapshots: E and H on the whole mesh at `count` times, evenly over the run, or over the last period."""

    count: int = Field(ge=1, le=1000)


class Output(Table):
    """[output]: what is recorded, drawn and written.

    probes: points at which both fields are recorded. slice: cuts through the fields. sar: averages over cubes of
    tissue. fed_power: all fields but snapshots are scaled so that currents feed this mean power. exact: the error
    against the standing wave of [initial]. far_field: of the last period, in a plane: the gain of a fed antenna, the
    cross-section of a scatterer of a plane wave.
    """

    probes: tuple[Place, ...] = ()
    slice: tuple[Cut, ...] = ()
    sar: AveragedSAR | None = None
    fed_power: Power | None = None
    snapshots: Snapshots | None = None
    far_field: Angles | None = None
    exact: bool = False

    @model_validator(mode="after")
    def _distinct(self) -> "Output":
        if len(set(self.probes)) < len(self.probes):
            raise ValueError("probes: the same point is given twice")
        return self
