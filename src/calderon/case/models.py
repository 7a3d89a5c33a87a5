"""Models of a case file: one model a table, unknown keys refused, every message names what is allowed."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from calderon.case.incident import Incident, Initial, Source
from calderon.case.media import Dispersive, Media, Use
from calderon.case.mesh import Mesh, VolumeMesh
from calderon.case.output import Output, TransientOutput
from calderon.case.physics import BY_TAG, Physics
from calderon.case.quantities import Conductivity, Density, Frequency, Time
from calderon.case.table import OneOf, Table, backend_name, key
from calderon.formulations.options import DEFAULTS
from calderon.mesh import Material
from calderon.operators.methods import AUTO, candidates, require, require_tolerance

Backend = Annotated[str, AfterValidator(backend_name)]
Precision = Literal["double", "single"]


def method_name(name: str) -> str:
    """The name of a method; ValueError naming the choices for another."""
    candidates(name)
    return name


MethodName = Annotated[
    str, AfterValidator(method_name), OneOf(lambda: [AUTO, *(each.name for each in candidates(AUTO))])
]


class Solver(Table):
    """[solver]: how the equations are discretised and solved.

    method "auto": dense for few unknowns, else the expectedly fastest of "hmatrix" and, for waves, "mlfmm". rtol: of
    GMRES; compression_rtol: of a compressed matrix, default a tenth of it, by "mlfmm" 1e-6 at least. preconditioner:
    default the usual one of the problem, "osrc" for hard, soft and impedance bodies. matrix_file: a .h5 file in the
    folder of the case, to which finished parts of an H-matrix are saved; another run reads the saved parts.
    compare: a backend that solves again, for the deviation of its far field; "auto": the first graphics processor, and
    nothing if there is none.
    """

    method: MethodName = key('how operators are stored; "auto" takes the expectedly fastest', DEFAULTS["method"])
    solver: Literal["gmres", "lu"] = key("iterations, or a factorisation of a dense matrix", DEFAULTS["solver"])
    rtol: float = key("relative residual at which GMRES stops", DEFAULTS["rtol"], gt=0, lt=1)
    compression_rtol: float | None = key(
        "relative error of a compressed matrix; a tenth of rtol unless given", gt=0, lt=1
    )
    preconditioner: Literal["mass", "osrc", "hlu"] | None = key("of GMRES; the usual one of the problem unless given")
    precision: Precision = key("of matrices", DEFAULTS["precision"])
    backend: Backend = key(
        'where kernels run: "numba" (processors), "opencl", "cuda", a device such as "cuda:1", or "auto"',
        DEFAULTS["backend"],
    )
    compare: Backend | None = key("a backend that solves again, for the deviation of its far field")
    matrix_file: str | None = key(
        "a .h5 file in the folder of the case that keeps finished parts of a matrix for later runs"
    )
    max_iterations: int = key("of GMRES", DEFAULTS["maxiter"], ge=1)

    @model_validator(mode="after")
    def _fits_together(self) -> "Solver":
        for option in ("compression_rtol", "matrix_file", "compare"):
            if getattr(self, option) is not None:
                require(self.method, option)
        require_tolerance(self.method, self.rtol, self.compression_rtol, self.precision)
        if self.backend != "numba":
            require(self.method, "backend")
        if self.preconditioner == "hlu":
            require(self.method, "preconditioner='hlu'")
        if self.matrix_file is not None and not self.matrix_file.endswith((".h5", ".hdf5")):
            raise ValueError(f"matrix_file: {self.matrix_file!r} should end in .h5 or .hdf5")
        if self.solver == "lu":
            require(self.method, "solver='lu'")
        return self


MOST_WAVES = 64


class Case(Table):
    """A whole case file."""

    title: str = key("of the report; the name of the file unless given", "")
    mesh: Mesh
    physics: Physics
    incident: Incident | None = None
    wave: tuple[Incident, ...] = key("further incident waves, for the views of the report", (), max_length=MOST_WAVES)
    solver: Solver = Solver()
    output: Output = Output()
    media: Media = {}

    @property
    def named_media(self) -> Iterator[Use]:
        """Where media are named."""
        return self.physics.named_media

    def with_media(self, media: dict[str, Dispersive]) -> "Case":
        """The same, with what its names of media stand for."""
        return self.model_copy(update={"media": media, "physics": self.physics.with_media(media)})

    @model_validator(mode="after")
    def _fits_together(self) -> "Case":
        physics, output = self.physics, self.output
        if physics.family in ("acoustic", "electromagnetic"):
            if self.incident is None:
                raise ValueError(f"the problem {physics.problem!r} needs an [incident] table")
            for wave in (self.incident, *self.wave):
                self._wave_fits(wave)
        else:
            refused = ("monostatic",) if physics.family == "antenna" else ("far_field", "monostatic")
            strange = [name for name in refused if getattr(output, name) is not None]
            strange += ["[incident]"] if self.incident is not None else []
            strange += ["[[wave]]"] if self.wave else []
            if strange:
                raise ValueError(f"{', '.join(strange)} is not supported by the problem {physics.problem!r}")
        if output.exact and (self.mesh.shape != "sphere" or self.incident is None):
            raise ValueError('output.exact: exact series need mesh.shape = "sphere" and an incident wave')
        if output.exact and self.incident is not None and self.incident.kind != "plane-wave":
            raise ValueError("output.exact: the series is for an incident plane wave")
        if output.far_field is not None and output.far_field.distance is not None:
            if physics.family != "acoustic" or output.exact:
                raise ValueError("output.far_field.distance: for sound only, and without the exact series")
        if self.solver.compare is not None and not (physics.family == "acoustic" and output.far_field is not None):
            raise ValueError("solver.compare: it compares far fields of sound and requires output.far_field")
        if self.solver.matrix_file is not None and len(physics.frequency or ()) > 1:
            raise ValueError("solver.matrix_file: it holds the matrix of one frequency, but the case is a sweep")
        tabled = [name for name in BY_TAG if isinstance(getattr(physics, name), dict)]
        if output.exact and tabled:
            raise ValueError(f"output.exact: the series is for one {tabled[0]} of the whole sphere")
        if output.exact and physics.rigid:
            raise ValueError("output.exact: the series is for one sphere, not for rigid bodies next to it")
        if self.solver.preconditioner == "osrc" and not (physics.definition.osrc or physics.rigid):
            raise ValueError(f'solver.preconditioner = "osrc" is not supported by the problem {physics.problem!r}')
        drawn = set(output.surface) - {"abs", "db"}
        if drawn and physics.family in ("electromagnetic", "antenna"):
            raise ValueError(f'output.surface: a current supports "abs" and "db", got {sorted(drawn)}')
        return self

    def _wave_fits(self, incident: Incident) -> None:
        """ValueError for an incident wave, or polarisations, of the other physics."""
        output, problem = self.output, self.physics.problem
        if self.physics.family == "acoustic":
            strange = [name for name in ("electric_field", "polarization") if getattr(incident, name) is not None]
            if output.far_field is not None and output.far_field.polarization is not None:
                strange.append("output.far_field.polarization")
            if output.monostatic is not None and output.monostatic.polarizations is not None:
                strange.append("output.monostatic.polarizations")
            if strange:
                raise ValueError(f"{', '.join(strange)} is not supported for sound, the problem {problem!r}")
            return
        if incident.kind != "plane-wave":
            raise ValueError(f"the problem {problem!r} needs an incident plane wave, got kind = {incident.kind!r}")
        if incident.amplitude is not None:
            raise ValueError(f"amplitude is a pressure: the problem {problem!r} accepts electric_field")
        if incident.polarization is None:
            raise ValueError(f'the problem {problem!r} needs incident.polarization = "V", "H" or [x, y, z]')


class TransientPhysics(Table):
    """[physics] of a transient case: the problem, and the frequency of sources and amplitudes."""

    problem: Literal["transient"] = key("fields in time on tetrahedra", ...)
    frequency: Frequency | None = key("of sources and of complex amplitudes")
    title: ClassVar = "Electromagnetic fields in time"
    family: ClassVar = "transient"


class Medium(Table):
    """[materials.NAME]: constants of the part of the mesh with that name; permittivity and permeability relative."""

    permittivity: float = key("relative", 1.0, gt=0)
    permeability: float = key("relative", 1.0, gt=0)
    conductivity: Conductivity = key("of the part", 0.0)
    density: Density | None = key("of tissue, for absorption rates")

    @property
    def material(self) -> Material:
        return Material(self.permittivity, self.permeability, self.conductivity, self.density)


class TransientSolver(Table):
    """[solver] of a transient case: polynomial degree, flux ("centred" uses leap-frog, "upwind" Runge-Kutta), the step
    as a fraction of the stability limit, precision and backend. local_time_stepping: small elements take several steps
    while the others take one (centred flux, on processors)."""

    order: int = key("polynomial degree of the fields in an element", 2, ge=1, le=6)
    flux: Literal["centred", "upwind"] = key(
        '"centred" conserves energy and takes leap-frog steps, "upwind" damps and takes Runge-Kutta steps', "centred"
    )
    courant: float = key("the step as a fraction of the largest stable one", 0.9, gt=0, le=1)
    precision: Precision = key("of fields", "double")
    backend: Backend = key("where kernels run, as for surfaces", "numba")
    local_time_stepping: bool = key(
        "small elements take several steps while others take one (centred flux, on processors)", False
    )

    @model_validator(mode="after")
    def _steps_fit(self) -> "TransientSolver":
        if self.local_time_stepping and (self.flux, self.backend) != ("centred", "numba"):
            raise ValueError("local_time_stepping requires flux = 'centred' and backend = 'numba'")
        return self


class Run(Table):
    """[run]: for how long; periods of the frequency in [physics], the last of which gives complex amplitudes, or until
    a time. checkpoint: seconds between two states of the run that are kept, from which an interrupted one continues."""

    periods: int | None = key("of the frequency in [physics]; the last one gives complex amplitudes", ge=2)
    until: Time | None = key("end of the run, instead of periods")
    checkpoint: float = key(
        "seconds of computing between two states that are kept for a continuation; 0 keeps every step", 60.0, ge=0
    )

    @model_validator(mode="after")
    def _one_end(self) -> "Run":
        if (self.periods is None) == (self.until is None):
            raise ValueError('give either periods or until = "10 ns"')
        return self


class TransientCase(Table):
    """A whole case file of a transient problem."""

    title: str = key("of the report; the name of the file unless given", "")
    mesh: VolumeMesh
    physics: TransientPhysics
    materials: dict[str, Medium] = Field(default_factory=dict)
    boundaries: dict[str, Literal["pec", "pmc", "absorbing"]] = key(
        "what faces of the mesh are, by their names; perfect conductors unless given", {}
    )
    source: tuple[Source, ...] = ()
    initial: Initial | None = None
    solver: TransientSolver = TransientSolver()
    run: Run
    output: TransientOutput = TransientOutput()

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
