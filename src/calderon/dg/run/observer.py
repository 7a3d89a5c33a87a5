"""What watches a run: fields at points, amplitudes, snapshots."""

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
    """Takes notes during a run, which go into its checkpoints; every rank makes the same calls."""

    @property
    def label(self) -> str:
        """What is observed, in words; it must agree between an interrupted run and the one that goes on."""
        ...

    def state(self) -> State:
        """All that was noted so far, on rank 0."""
        ...

    def restore(self, state: State) -> None:
        """Go on from a state, which every rank is given."""
        ...


class Observer(Recorder, Protocol):
    """Looks at the fields after some of the steps.

    whole: whether it needs all of a field; if not, `record` is given what can only be indexed by flat numbers.
    """

    whole: bool

    def begin(self, span: Span, first: int, electric: NDArray, magnetic: NDArray, staggered: bool) -> None:  # type: ignore[type-arg]
        """A run begins, or goes on after `first` steps (behind `restore`): flat fields E at that time and Z0 H, which
        is half a step ahead where it is `staggered`."""
        ...

    def wanted(self, step: int) -> bool:
        """Whether `record` is to be called after that step of the run."""
        ...

    def record(self, step: int, time: float, electric: NDArray, magnetic: NDArray, staggered: bool) -> None:  # type: ignore[type-arg]
        """Take note of flat fields E at the time and Z0 H, which is half a step ahead where it is `staggered`."""
        ...
