"""Four-poles of ducts and modes of rooms, which case files request without any sound."""

from dataclasses import dataclass, replace
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from calderon.case import CaseFile
from calderon.formulations import AcousticProblem, FourPole
from calderon.formulations.acoustic.room_modes import RoomMode
from calderon.formulations.options import SolveChoices
from calderon.formulations.resonances import resonances
from calderon.formulations.sweep import values_of
from calderon.formulations.swept_values import Measured
from calderon.kinds.acoustics.model import SoundCase
from calderon.mesh import MeshError, TriangleMesh


@dataclass(frozen=True, eq=False)
class Duct:
    """A room between two ports as a problem whose solution is its four-pole."""

    problem: AcousticProblem
    ports: tuple[Any, Any]

    @property
    def unknowns(self) -> int:
        """Number of unknowns."""
        return self.problem.unknowns

    def at(self, wavenumber: complex) -> Self:
        """The duct at another wavenumber."""
        return replace(self, problem=self.problem.at(wavenumber))

    def solve(self, data: None = None, **options: Unpack[SolveChoices]) -> FourPole:
        """The four-pole; options as in `AcousticProblem.solve`."""
        return self.problem.four_pole(*self.ports, **options)


def require_ports(file: CaseFile[SoundCase], mesh: TriangleMesh) -> None:
    """CaseError for ports that the mesh does not have, or that have a part in common."""
    ports = file.case.output.four_pole
    if ports is None:
        return
    with file.blamed("output", "four_pole", list(ports)):
        inlet, outlet = (set(mesh.tag_numbers(each).tolist()) for each in ports)
        if inlet & outlet:
            raise MeshError("inlet and outlet are two parts of the surface")


def four_poles(
    file: CaseFile[SoundCase], problems: Any, frequencies: NDArray[np.float64], options: dict[str, Any]
) -> tuple[tuple[FourPole, ...], NDArray[np.float64]]:
    """Four-poles at all frequencies in Hz, and the solved ones among these. problems(frequency): the problem there.
    options: of the solutions."""
    ports, few = file.case.output.four_pole, file.case.acoustics.interpolate
    assert ports is not None
    with file.blamed("output", "four_pole", list(ports)):
        if few is None:
            found = [problems(each).four_pole(*ports, **options) for each in frequencies.tolist()]
            return tuple(found), frequencies
        duct = Duct(problems(float(frequencies.max())), ports)
        some, speed = list[FourPole](), duct.problem.fluid.speed_of_sound

        def matrix_of(pole: FourPole) -> NDArray[np.complex128]:
            some.append(pole)
            return pole.matrix

        measured = Measured(None, matrix_of, "four-pole", "")
        swept = values_of(duct, frequencies, None, speed, measured, few, **options)
        order = np.argsort(swept.frequencies)
        pairs = zip(swept.values[order], frequencies.tolist(), strict=True)
        return tuple(replace(some[0], matrix=matrix, frequency=each) for matrix, each in pairs), np.sort(swept.solved)


def modes(file: CaseFile[SoundCase], problem: AcousticProblem, options: dict[str, Any]) -> tuple[RoomMode, ...]:
    """The modes of a room between the requested frequencies. options: of the matrices."""
    band = file.case.output.resonances
    assert band is not None
    with file.blamed("output", "resonances", list(band)):
        return tuple(resonances(problem, *band, **options))
