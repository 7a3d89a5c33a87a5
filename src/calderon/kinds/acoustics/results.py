"""Results of a case of sound that bodies make: what sound has over frequency, and what walls and rooms add."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calderon.formulations import FourPole
from calderon.formulations.acoustic.room_modes import RoomMode
from calderon.formulations.impulse_response import ImpulseResponse
from calderon.kinds.acoustics.model import SoundCase
from calderon.mesh import TriangleMesh
from calderon.report.second_mesh import SecondMesh
from calderon.report.sound.results import SoundBand, SoundStep


@dataclass(frozen=True)
class Part:
    """A part of the surface at one frequency. name: of its tag. impedance: radiation impedance in Pa s/m, None where it
    does not move; absorbed: power in W, None where nothing absorbs."""

    name: str
    impedance: complex | None
    absorbed: float | None


@dataclass(frozen=True)
class Step(SoundStep):
    """One solution. power_error: the relative difference of the power by surface and by far field, in a room of that
    given and that absorbed.

    absorbed: power in W. efficiency: of radiation. far (n,): far field in Pa m at the angles of output.directivity,
    directivity (n,) in dB; beam: the loudest of these angles and the beamwidth about it, in rad. parts: of the surface.
    """

    absorbed: float = 0.0
    efficiency: float | None = None
    far: NDArray[np.complex128] | None = None
    directivity: NDArray[np.float64] | None = None
    beam: tuple[float, float] | None = None
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class SoundResults(SoundBand[SoundCase]):
    """All requested results of a case.

    without_sheet (n, points): pressures of the sources alone, None of bodies. four_poles: of a duct at the frequencies,
    those at `solved` (m,) from solutions. modes: of a room.
    """

    response: ImpulseResponse | None = None
    second_mesh: SecondMesh | None = None
    unknowns: int = field(default=0)
    without_sheet: NDArray[np.complex128] | None = None
    four_poles: tuple[FourPole, ...] = ()
    modes: tuple[RoomMode, ...] = ()
    solved: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @property
    def mesh(self) -> TriangleMesh:
        """The whole surface, with its images in mirrors."""
        return self.problem.surface.whole

    @property
    def is_room(self) -> bool:
        return self.file.case.acoustics.side == "interior"

    @property
    def is_sheet(self) -> bool:
        return self.file.case.acoustics.side == "both"

    @property
    def is_unestimated(self) -> bool:
        """Whether nothing tells the error."""
        return bool(self.steps) and self.second_mesh is None and all(s.power_error is None for s in self.steps)

    @property
    def is_weighted(self) -> bool:
        return self.file.case.output.a_weighted
