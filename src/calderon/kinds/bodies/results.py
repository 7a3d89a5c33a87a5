"""Results of bodies in a fluid: solutions by frequency, target strengths, powers, motions."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations import Fluid
from calderon.mesh import TetrahedralMesh, TriangleMesh
from calderon.report.sound.results import SoundBand, SoundStep


@dataclass(frozen=True)
class BodyStep(SoundStep):
    """One solution. power: that the forces on a structure send away; power_error: the power that a plane wave loses, by
    the far field ahead, over that scattered and absorbed, minus 1.

    far (n,): far field in Pa m at the angles of output.target_strength, strength (n,) in dB re 1 m; echo: target
    strength back to the source; cross_section: scattering cross-section in m^2. moved (rows, columns, 3): displacement
    in m in the plane of output.slice. mobilities: of the forces at positions, velocity along a force over its size, in
    m/(N s); given, lost: power of the forces, and power lost in the structure, in W.
    """

    far: NDArray[np.complex128] | None = None
    strength: NDArray[np.float64] | None = None
    echo: float | None = None
    cross_section: float | None = None
    moved: NDArray[np.complex128] | None = None
    mobilities: tuple[complex, ...] = ()
    given: float | None = None
    lost: float = 0.0


@dataclass(frozen=True)
class BodyResults(SoundBand[Any]):
    """All requested results of a case. unknowns: of the surface. volume: the tetrahedra; volume_unknowns: of finite
    elements. resolution: elements per wavelength in the body, of a structure that of shear waves. solution: the last
    one, whose volume is written."""

    unknowns: int = 0
    volume: TetrahedralMesh = field(default=None)  # type: ignore[assignment]
    volume_unknowns: int = 0
    resolution: float = np.inf
    solution: Any = None

    @property
    def fluid(self) -> Fluid:
        return self.file.case.fluid

    @property
    def mesh(self) -> TriangleMesh:
        """The whole surface, with its images in mirrors."""
        return self.problem.surface.whole

    @property
    def body(self) -> TetrahedralMesh:
        """The tetrahedra with their images in mirrors."""
        fields = getattr(self.solution, "displacements", None) or [self.solution.interior]
        return fields[0].mesh

    @property
    def inside(self) -> Fluid | None:
        """The fluid in holes, None where they are empty, or there are none."""
        return getattr(self.problem, "inside", None)

    @property
    def outline(self) -> TriangleMesh:
        return self.mesh if self.inside is None else self.body.surface()

    @property
    def blank(self) -> str:
        return "inside" if self.file.case.table == "structure" else "none"

    @property
    def echoes(self) -> NDArray[np.float64] | None:
        """(n,) target strengths back to the source in dB re 1 m, None without a plane wave."""
        found = [step.echo for step in self.steps if step.echo is not None]
        return np.array(found) if found else None

    @property
    def mobilities(self) -> NDArray[np.complex128] | None:
        """(n, forces) in m/(N s), None without forces at positions."""
        found = np.array([step.mobilities for step in self.steps])
        return found if found.size else None

    @property
    def motion(self) -> bool | None:
        """Whether the body has displacements, None where it has none."""
        return True if self.last.moved is not None else None
