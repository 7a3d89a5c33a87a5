"""Observers of a run: fields at points, amplitudes, snapshots."""

from dataclasses import dataclass
from typing import Protocol

from numpy.typing import NDArray

State = dict[str, NDArray]  # type: ignore[type-arg]
"""Arrays that go into a checkpoint; they do not depend on the number of ranks."""


@dataclass(frozen=True)
class Span:
    """The time of a run: where it begins, the length and the number of its steps, in the user's unit of time."""

    start: float
    step: float
    count: int


class Recorder(Protocol):
    """Records data during a run, which are saved in its checkpoints; every rank makes the same calls."""

    @property
    def label(self) -> str:
        """What is observed, as text; it must agree between an interrupted run and the one that continues."""
        ...

    def state(self) -> State:
        """All that was recorded so far, on rank 0."""
        ...

    def restore(self, state: State) -> None:
        """Continue from a state, which every rank receives."""
        ...


class Observer(Recorder, Protocol):
    """Observes the fields after some of the steps.

    whole: whether it needs all of a field; if not, `record` receives objects that support flat indexing only.
    """

    whole: bool

    def begin(self, span: Span, first: int, electric: NDArray, magnetic: NDArray, staggered: bool) -> None:  # type: ignore[type-arg]
        """A run begins, or continues after `first` steps (after `restore`): flat fields E at that time and Z0 H, which
        is half a step ahead where it is `staggered`."""
        ...

    def wanted(self, step: int) -> bool:
        """Whether `record` is to be called after that step of the run."""
        ...

    def record(self, step: int, time: float, electric: NDArray, magnetic: NDArray, staggered: bool) -> None:  # type: ignore[type-arg]
        """Record flat fields E at the time and Z0 H, which is half a step ahead where it is `staggered`."""
        ...
