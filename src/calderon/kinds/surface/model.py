"""Case files of waves and potentials on surfaces: [mesh], [physics], [incident], [[wave]], [solver], [output]."""

from typing import Any, Literal

import numpy as np
from pydantic import model_validator

from calderon.case.media import Media, checked_media
from calderon.case.mesh import Mesh
from calderon.case.output import Angles, NearFields, Rectangle
from calderon.case.quantities import Place, Pressure, Size
from calderon.case.solver import Backend, WaveSolver
from calderon.case.table import AT_MOST, CaseModel, Table, key
from calderon.case.waves import Wave
from calderon.exact import VACUUM_IMPEDANCE
from calderon.kinds.surface.physics import BY_TAG, Physics
from calderon.operators.methods import require
from calderon.waves import ElectromagneticPlaneWave, PlaneWave, PointSource


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


class Slice(Rectangle):
    """output.slice: by default around the body."""

    quantity: Literal["real", "imag", "abs", "phase", "db"] = key("what is drawn", "real")


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


class Solver(WaveSolver):
    """[solver]: how the equations are discretised and solved.

    method "auto": dense for few unknowns, else the expectedly fastest of "hmatrix" and, for waves, "mlfmm". rtol: of
    GMRES; compression_rtol: of a compressed matrix, default a tenth of it, by "mlfmm" 1e-6 at least. preconditioner:
    default the usual one of the problem, "osrc" for hard, soft and impedance bodies. matrix_file: a .h5 file in the
    folder of the case, to which finished parts of an H-matrix are saved; another run reads the saved parts.
    compare: a backend that solves again, for the deviation of its far field; "auto": the first graphics processor, and
    nothing if there is none.
    """

    compare: Backend | None = key("a backend that solves again, for the deviation of its far field")
    matrix_file: str | None = key(
        "a .h5 file in the folder of the case that keeps finished parts of a matrix for later runs"
    )

    @model_validator(mode="after")
    def _matrix_file(self) -> "Solver":
        if self.matrix_file is not None:
            require(self.method, "matrix_file")
            if not self.matrix_file.endswith((".h5", ".hdf5")):
                raise ValueError(f"matrix_file: {self.matrix_file!r} should end in .h5 or .hdf5")
        return self

    @property
    def options(self) -> dict[str, Any]:
        return super().options | {"matrix_file": self.matrix_file}


class Case(CaseModel):
    """A whole case file."""

    mesh: Mesh
    physics: Physics
    incident: Incident | None = None
    wave: tuple[Incident, ...] = key(
        "further incident waves, for the views of the report", (), max_length=AT_MOST.waves
    )
    solver: Solver = Solver()
    output: Output = Output()
    media: Media = {}

    @property
    def family(self) -> str:
        return self.physics.family

    def completed(self, file: Any) -> "Case":
        uses = list(self.physics.named_media)
        if not (uses or self.media):
            return self
        media = checked_media(file, uses, self.physics.frequencies)
        return self.model_copy(update={"media": media, "physics": self.physics.with_media(media)})

    def estimated(self) -> "Case":
        return self.model_copy(update={"output": self.output.model_copy(update={"estimate": True})})

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
