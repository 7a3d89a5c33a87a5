"""Models of a case file: one model a table, unknown keys refused, every message names what is allowed."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from calderon.case.incident import Incident
from calderon.case.mesh import Mesh
from calderon.case.output import Output
from calderon.case.physics import Physics
from calderon.case.table import Table, backend_name
from calderon.operators.methods import candidates, require


def method_name(name: str) -> str:
    """The name of a method; ValueError naming the choices for another."""
    candidates(name)
    return name


class Solver(Table):
    """[solver]: how the equations are discretised and solved.

    method "auto": dense for few unknowns, else "hmatrix". rtol: of GMRES; compression_rtol: of an H-matrix, default a
    tenth of it. preconditioner: default the usual one of the problem, "osrc" for hard, soft and impedance bodies.
    matrix_file: a .h5 file in the folder of the case, to which finished parts of an H-matrix are saved; another run
    reads the saved parts.
    compare: a backend that solves again, for the deviation of its far field; "auto": the first graphics processor, and
    nothing if there is none.
    """

    method: Annotated[str, AfterValidator(method_name)] = "dense"
    solver: Literal["gmres", "lu"] = "gmres"
    rtol: float = Field(default=1e-5, gt=0, lt=1)
    compression_rtol: float | None = Field(default=None, gt=0, lt=1)
    preconditioner: Literal["mass", "osrc", "hlu"] | None = None
    precision: Literal["double", "single"] = "double"
    backend: Annotated[str, AfterValidator(backend_name)] = "numba"
    compare: Annotated[str, AfterValidator(backend_name)] | None = None
    matrix_file: str | None = None
    max_iterations: int = Field(default=1000, ge=1)

    @model_validator(mode="after")
    def _fits_together(self) -> "Solver":
        if self.compression_rtol is not None:
            require(self.method, "compression_rtol")
        if self.matrix_file is not None:
            require(self.method, "matrix_file")
        if self.matrix_file is not None and not self.matrix_file.endswith((".h5", ".hdf5")):
            raise ValueError(f"matrix_file: {self.matrix_file!r} should end in .h5 or .hdf5")
        if self.solver == "lu":
            require(self.method, "solver='lu'")
        return self


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
        physics, output = self.physics, self.output
        if physics.acoustic or physics.electromagnetic:
            if self.incident is None:
                raise ValueError(f"the problem {physics.problem!r} needs an [incident] table")
            self._wave_fits(self.incident)
        else:
            refused = ("monostatic",) if physics.problem == "antenna" else ("far_field", "monostatic")
            strange = [name for name in refused if getattr(output, name) is not None]
            strange += ["[incident]"] if self.incident is not None else []
            if strange:
                raise ValueError(f"{', '.join(strange)} is not supported by the problem {physics.problem!r}")
        if output.exact and (self.mesh.shape != "sphere" or self.incident is None):
            raise ValueError('output.exact: exact series need mesh.shape = "sphere" and an incident wave')
        if output.exact and self.incident is not None and self.incident.kind != "plane-wave":
            raise ValueError("output.exact: the series is for an incident plane wave")
        if output.far_field is not None and output.far_field.distance is not None:
            if not physics.acoustic or output.exact:
                raise ValueError("output.far_field.distance: for sound only, and without the exact series")
        if self.solver.compare is not None and not (physics.acoustic and output.far_field is not None):
            raise ValueError("solver.compare: it compares far fields of sound and requires output.far_field")
        if self.solver.matrix_file is not None and len(physics.frequency or ()) > 1:
            raise ValueError("solver.matrix_file: it holds the matrix of one frequency, but the case is a sweep")
        tabled = [name for name in ("admittance", "permittivity") if isinstance(getattr(physics, name), dict)]
        if output.exact and tabled:
            raise ValueError(f"output.exact: the series is for one {tabled[0]} of the whole sphere")
        if self.solver.preconditioner == "osrc" and physics.problem not in ("sound-hard", "sound-soft", "impedance"):
            raise ValueError(f'solver.preconditioner = "osrc" is not supported by the problem {physics.problem!r}')
        drawn = set(output.surface) - {"abs", "db"}
        if drawn and (physics.electromagnetic or physics.problem == "antenna"):
            raise ValueError(f'output.surface: a current supports "abs" and "db", got {sorted(drawn)}')
        return self

    def _wave_fits(self, incident: Incident) -> None:
        """ValueError for an incident wave, or polarisations, of the other physics."""
        output, problem = self.output, self.physics.problem
        if self.physics.acoustic:
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
