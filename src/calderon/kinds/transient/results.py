"""Results of a run in time: arrays, ready to be written, complete on each rank."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calderon.case import Angles
from calderon.dg import AveragedSAR, PortAmplitudes
from calderon.kinds.transient.model import Cut, TransientCase
from calderon.mesh import StepReport, TetrahedralMesh
from calderon.report import Result
from calderon.report.formatting import Level


@dataclass(frozen=True)
class Facts:
    """How the fields were advanced: times in s, memory in bytes. elements_by_step: tetrahedra that take the step, half
    of it, a quarter and so on; updates: of an unknown in a step, on average; saving: factor of work saved against
    one step for all."""

    unknowns: int
    step: float
    step_limit: float
    steps: int
    end: float
    memory: int
    ranks: int
    threads: int
    elements_by_step: tuple[int, ...]
    updates: float
    saving: float


@dataclass(frozen=True)
class Signals:
    """Signals of probes: times (t,) in s, points (n, 3) in m, electric in V/m and magnetic in A/m (t, n, 3)."""

    times: NDArray[np.float64]
    points: NDArray[np.float64]
    electric: NDArray[np.float64]
    magnetic: NDArray[np.float64]


@dataclass(frozen=True)
class CutField:
    """The field in a plane: points (rows, columns, 3); electric (rows, columns, 3) in V/m, complex amplitudes or the
    field at the end, NaN outside the mesh; sar (rows, columns) in W/kg, NaN outside of tissue.

    outlines {name: segments (n, 2, 2)}: where the plane cuts each part's surface. frames (f, rows, columns, 3) of the
    electric field at times (f,).
    """

    requested: Cut
    points: NDArray[np.float64]
    electric: NDArray[np.inexact]
    sar: NDArray[np.float64] | None
    outlines: dict[str, NDArray[np.float64]]
    frames: NDArray[np.float64] | None = None
    times: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Pattern:
    """The far field E ~ F exp(ikr) / r at the requested angles: F (n, 3) in V, levels (n,) in decibels."""

    requested: Angles
    far_field: NDArray[np.complex128]
    levels: NDArray[np.float64]
    level: Level


@dataclass(frozen=True)
class Amplitudes:
    """Results of a run at one frequency.

    change: from the period before, relative. absorbed: power in W in each part; outward: that leaves through the
    boundary. feeds: by name. electric, sar: on each tetrahedron |E| in V/m (root of its mean square), and the specific
    absorption rate in W/kg. scale: the factor of all fields that feeds the requested power. averaged: the rate averaged
    over cubes; pattern: the far field; each where it is requested.
    """

    frequency: float
    change: float
    absorbed: dict[str, float]
    outward: float
    feeds: dict[str, PortAmplitudes]
    electric: NDArray[np.float64]
    sar: NDArray[np.float64]
    scale: float
    averaged: AveragedSAR | None
    pattern: Pattern | None

    @property
    def fed(self) -> float:
        """The power of all feeds in W."""
        return sum(feed.power for feed in self.feeds.values())

    @property
    def balance(self) -> float:
        """Absorbed and radiated power less the power fed, over the latter."""
        return (sum(self.absorbed.values()) + self.outward) / self.fed - 1


@dataclass(frozen=True)
class TransientResults(Result[TransientCase]):
    """All requested results of a transient case; final: |E| in V/m at the end at the centroid
    of each tetrahedron, without amplitudes; snapshots: the folder of their files."""

    mesh: TetrahedralMesh
    shape: StepReport
    facts: Facts
    signals: Signals | None
    cuts: tuple[CutField, ...]
    amplitudes: Amplitudes | None
    error: float | None
    final: NDArray[np.float64] | None
    snapshots: Path | None

    @property
    def unknowns(self) -> int:
        return self.facts.unknowns

    equation = "ε ∂E/∂t = curl H − σE − J,  μ ∂H/∂t = −curl E,  nodal discontinuous Galerkin method on tetrahedra"
