"""Models of a case file of a transient problem."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from calderon.case.quantities import Conductivity, Density, Frequency, Time
from calderon.case.table import Table, backend_name
from calderon.case.transient.excitation import Initial, Source
from calderon.case.transient.mesh import Mesh
from calderon.case.transient.output import Output
from calderon.mesh import Material

PROBLEM = "transient"


class Physics(Table):
    """[physics]: the problem, and the frequency of sources and amplitudes."""

    problem: Literal["transient"]
    frequency: Frequency | None = None


class Medium(Table):
    """[materials.NAME]: constants of the part of the mesh with that name; permittivity and permeability relative."""

    permittivity: float = Field(default=1.0, gt=0)
    permeability: float = Field(default=1.0, gt=0)
    conductivity: Conductivity = 0.0
    density: Density | None = None

    @property
    def material(self) -> Material:
        return Material(self.permittivity, self.permeability, self.conductivity, self.density)


class Solver(Table):
    """[solver]: polynomial degree, flux ("centred" uses leap-frog, "upwind" Runge-Kutta), the step as a
    fraction of the stability limit, precision and backend. local_time_stepping: small elements take several steps while
    the others take one (centred flux, on processors)."""

    order: int = Field(default=2, ge=1, le=6)
    flux: Literal["centred", "upwind"] = "centred"
    courant: float = Field(default=0.9, gt=0, le=1)
    precision: Literal["double", "single"] = "double"
    backend: Annotated[str, AfterValidator(backend_name)] = "numba"
    local_time_stepping: bool = False

    @model_validator(mode="after")
    def _steps_fit(self) -> "Solver":
        if self.local_time_stepping and (self.flux, self.backend) != ("centred", "numba"):
            raise ValueError("local_time_stepping requires flux = 'centred' and backend = 'numba'")
        return self


class Run(Table):
    """[run]: for how long; periods of the frequency in [physics], the last of which gives complex amplitudes, or until
    a time. checkpoint: seconds between two states of the run that are kept, from which an interrupted one continues."""

    periods: int | None = Field(default=None, ge=2)
    until: Time | None = None
    checkpoint: float = Field(default=60.0, ge=0)

    @model_validator(mode="after")
    def _one_end(self) -> "Run":
        if (self.periods is None) == (self.until is None):
            raise ValueError('give either periods or until = "10 ns"')
        return self


class TransientCase(Table):
    """A whole case file of a transient problem."""

    title: str = ""
    mesh: Mesh
    physics: Physics
    materials: dict[str, Medium] = Field(default_factory=dict)
    boundaries: dict[str, Literal["pec", "pmc", "absorbing"]] = Field(default_factory=dict)
    source: tuple[Source, ...] = ()
    initial: Initial | None = None
    solver: Solver = Solver()
    run: Run
    output: Output = Output()

    @model_validator(mode="after")
    def _fits_together(self) -> "TransientCase":
        if not self.source and self.initial is None:
            raise ValueError("no excitation of the fields: give a [[source]] or [initial]")
        if self.physics.frequency is None and (self.source or self.run.periods is not None):
            raise ValueError("sources, and run.periods, need a frequency in [physics]")
        if self.initial is not None and self.mesh.shape != "box":
            raise ValueError("[initial] is the standing wave of a cube: it requires mesh.shape = 'box'")
        feeds = [one.name or one.part for one in self.source if one.kind == "current"]
        if len(set(feeds)) < len(feeds):
            raise ValueError("two currents flow through one part of the mesh: give each [[source]] a name of its own")
        self._output_fits()
        return self

    def _output_fits(self) -> None:
        output = self.output
        absorbing = any(medium.density for medium in self.materials.values())
        wanting = [f"slice of {cut.quantity!r}" for cut in output.slice if cut.quantity == "sar"]
        wanting += ["sar"] if output.sar is not None else []
        if wanting and (self.run.periods is None or not absorbing):
            raise ValueError(f"output: {', '.join(wanting)} needs run.periods and the density of a material")
        if output.fed_power is not None and not (self.run.periods and any(one.part for one in self.source)):
            raise ValueError('output.fed_power requires run.periods and a [[source]] of kind = "current"')
        if output.far_field is not None and self.run.periods is None:
            raise ValueError("output.far_field is that of one frequency: it needs run.periods")
        if output.exact and (self.initial is None or self.source or self.materials):
            raise ValueError("output.exact compares with the standing wave of [initial], in vacuum, without sources")
