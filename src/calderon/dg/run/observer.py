"""Observers of a run: fields at points, amplitudes, snapshots."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

State = dict[str, NDArray]
"""Arrays that go into a checkpoint; they do not depend on the number of ranks."""


@dataclass(frozen=True)
class Span:
    """The time of a run: where it begins, the length and the number of its steps, in the user's unit of time."""

    start: float
    step: float
    count: int


@dataclass(frozen=True, eq=False)
class Instant:
    """The fields after that many steps of a run: E, and Z0 H, which is half a step ahead where it is `staggered`; flat,
    or objects that support flat indexing only."""

    step: int
    time: float
    electric: Any
    magnetic: Any
    staggered: bool


class Recorder(Protocol):
    """Records data during a run, which are saved in its checkpoints; every rank makes the same calls. grows: whether
    the arrays of its state have a row more for each record."""

    grows: bool

    @property
    def label(self) -> str:
        """The observed quantity as text; it must agree between an interrupted run and the one that continues."""
        ...

    def state(self) -> State:
        """All that was recorded so far, on rank 0."""
        ...

    def restore(self, state: State) -> None:
        """Continue from a state, which every rank receives."""
        ...


class Observer(Recorder, ABC):
    """Observes the fields after some of the steps. whole: whether it needs flat arrays of all of a field."""

    whole: bool = True
    grows: bool = False

    def begin(self, span: Span, now: Instant) -> None:  # noqa: B027 - most record nothing before the first step
        """A run begins, or continues after some steps (after `restore`)."""

    @abstractmethod
    def wanted(self, step: int) -> bool:
        """Whether `record` is to be called after that step of the run."""

    @abstractmethod
    def record(self, now: Instant) -> None:
        """Record the fields after a step."""
