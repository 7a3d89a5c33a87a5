"""Fields at fixed points, step by step."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.dg.domain import Domain
from calderon.dg.run.checkpoint import digest
from calderon.dg.run.observer import Instant, Observer, Span, State
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedral.location import locate
from calderon.validation import one_or_more_points, whole_number


class Probe(Observer):
    """E and H at points (n, 3) at every `stride`-th step of the runs that follow; made by `MaxwellDG.add_probe`.

    times (t,) of E; electric, magnetic (t, n, 3). H of leap-frog is the mean of the two values half a step
    before and after that time, except at the end of a run, where it is known at that time: second order in the step.
    """

    whole = False
    grows = True

    def __init__(self, points: ArrayLike, domain: Domain, mesh: TetrahedralMesh, stride: int) -> None:
        self.points, self.stride = one_or_more_points(points), whole_number(stride, "stride")
        elements, local = locate(mesh, self.points)
        own, here = domain.own_elements(elements)
        self._values = domain.element_blocks.reference.interpolation(local) * here[:, None]
        self._inverse = np.linalg.inv(domain.element_blocks.frames[own])
        self._places = domain.element_blocks.places_of(own)
        self._impedance, self._ranks = domain.medium.impedance, domain.communicator
        self._times: list[float] = []
        self._rows: list[NDArray[np.float64]] = []
        self._before = np.zeros_like(self.points)

    @property
    def times(self) -> NDArray[np.float64]:
        return np.array(self._times)

    @property
    def electric(self) -> NDArray[np.float64]:
        return self.state()["rows"][:, 0]

    @property
    def magnetic(self) -> NDArray[np.float64]:
        return self.state()["rows"][:, 1] / self._impedance

    @property
    def label(self) -> str:
        return f"probe of {len(self.points)} points ({digest(self.points)}), every {self.stride} steps"

    def begin(self, span: Span, now: Instant) -> None:
        """H half a step before the next one, independent of an earlier run."""
        if now.staggered and (now.step + 1) % self.stride == 0:
            self._before = self._at(now.magnetic)

    def wanted(self, step: int) -> bool:
        """Whether to record this step, or H one step before a record, for its mean."""
        return step % self.stride == 0 or (step + 1) % self.stride == 0

    def record(self, now: Instant) -> None:
        """Record E and H at the time of E; in leap-frog H is the mean of half a step before and after."""
        here = self._at(now.magnetic)
        if now.step % self.stride == 0:
            mean = (here + self._before) / 2 if now.staggered else here
            self._times.append(now.time)
            self._rows.append(np.stack([self._at(now.electric), mean]))
        self._before = here

    def state(self) -> State:
        rows = self._ranks.total(np.stack(self._rows)) if self._rows else np.zeros((0, 2, len(self.points), 3))
        return {"times": self.times, "rows": rows}

    def restore(self, state: State) -> None:
        first = 1.0 if self._ranks.rank == 0 else 0.0  # the ranks' values are summed
        self._times = list(map(float, state["times"]))
        self._rows = [first * row for row in state["rows"]]

    def _at(self, field: NDArray) -> NDArray[np.float64]:
        covariant = np.einsum("qn,qin->qi", self._values, field[self._places].astype(np.float64))
        return np.asarray(np.einsum("qki,qi->qk", self._inverse, covariant))
