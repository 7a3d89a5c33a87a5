"""One run: steps and the actions between them, from a checkpoint or to one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from rich.progress import Progress

from calderon.dg.domain import Domain
from calderon.dg.run.checkpoint import Expected, Moment, Shapes
from calderon.dg.run.observer import Instant, Observer, Recorder, Span
from calderon.dg.run.saving import Checkpoints
from calderon.dg.sources.port import Port
from calderon.dg.stepping.system import Steps, System
from calderon.processes import postponed

STEPS_OF_A_CHECK = 100
"""Steps between two checks that the fields are finite."""
Listener = Callable[[int, int], None]
"""Called with the steps done and all steps."""


@dataclass(frozen=True, eq=False)
class Run:
    """Time steps of a system with observers and ports. courant: the step as a fraction of the stability limit."""

    system: System
    domain: Domain
    span: Span
    observers: Sequence[Observer]
    ports: Sequence[Port]
    courant: float

    def advance(self, report: Callable[[int], None], checkpoints: Checkpoints) -> None:
        """Do the steps, from the checkpoint if there is one; report is called with the steps done.

        A signal that asks the process to end has its effect when the step is done and its checkpoint written. Raises
        FloatingPointError, with the step and the element, where the field is no longer finite; RuntimeError where an
        earlier run left intermediate fields, and there is no checkpoint to continue from.
        """
        first, count, speed = self._resume(checkpoints), self.span.count, self.domain.medium.speed
        if self.system.interrupted and first == 0:
            raise RuntimeError(
                f"an earlier run from t = {self.span.start:.6g} was not finished, so that fields and records are "
                "incomplete: continue from its checkpoint if it wrote one, otherwise create a new simulation"
            )

        # before the first step: fields are incomplete until the last one is done
        def begin() -> None:
            self.system.interrupted = True
            self._begin(first)

        # after each step: observers, then a checkpoint where one is due or the process is asked to end
        def after(n: int) -> None:
            self._observe(n)
            report(n)
            if checkpoints.path is None:
                return
            stops.begin()  # before the first step there is nothing to lose
            late, asked = checkpoints.due(stops)
            if asked or (late and n < count) or (checkpoints.kept and n == count):
                self._save(checkpoints, n)
            if asked:
                stops.take_effect(asked)

        # a signal waits until the step is done and saved
        with postponed() as stops:
            if first < count:
                self.system.advance(Steps(self.span.start * speed, self.span.step * speed, count, after, first, begin))
            else:
                self._begin(first)
            self.system.interrupted = False
            checkpoints.done()

    def _begin(self, first: int) -> None:
        """Actions before the steps that follow the given number of steps."""
        staggered = self.system.h_offset > 0 and first < self.span.count
        for each, now in self._seen_by(self.observers, first, staggered):
            each.begin(self.span, now)

    def _seen_by(self, observers: Sequence[Observer], n: int, staggered: bool) -> Iterator[tuple[Observer, Instant]]:
        """The observers, and the fields after n steps as each needs them."""
        system, time = self.system, self.span.start + n * self.span.step
        if any(each.whole for each in observers):
            system.fetch()
        for each in observers:
            electric, magnetic = (system.electric, system.magnetic) if each.whole else system.views()
            yield each, Instant(n, time, electric, magnetic, staggered)

    def _observe(self, n: int) -> None:
        """Actions after every step."""
        if n % STEPS_OF_A_CHECK == 0 or n == self.span.count:
            self._check(n)
        for port in self.ports:
            port.record(self.span.start + n * self.span.step)
        recording = [each for each in self.observers if each.wanted(n)]
        for each, now in self._seen_by(recording, n, self.system.h_offset > 0 and n < self.span.count):
            each.record(now)

    @property
    def _recorders(self) -> list[Recorder]:
        return [*self.observers, *self.ports]

    def _resume(self, checkpoints: Checkpoints) -> int:
        """Steps done by an interrupted run, whose fields are restored; 0 without one."""
        moment = checkpoints.read(self._expected)
        if moment is None:
            return 0
        self.system.electric[:] = self.domain.restricted(moment.electric)
        self.system.magnetic[:] = self.domain.restricted(moment.magnetic)
        for each, state in zip(self._recorders, moment.observed, strict=True):
            each.restore(state)
        return moment.steps

    def _expected(self) -> Expected:
        """The shapes of a checkpoint of this run; rank 0 alone knows the states of its observers."""
        shapes: list[Shapes] = []
        for each in self._recorders:
            state = {name: np.asarray(values) for name, values in each.state().items()}
            shapes.append((each.grows, {name: (values.dtype.str, values.shape) for name, values in state.items()}))
        blocks, ranks = self.domain.element_blocks, self.domain.communicator
        shape = self.domain.whole, 3, blocks.reference.size
        return Expected(self.system.electric.dtype, shape, ranks.gather(shapes)[0])

    def _save(self, checkpoints: Checkpoints, steps: int) -> None:
        """Write a checkpoint after so many steps; all ranks call it, rank 0 writes."""
        self.system.fetch()
        fields = self.domain.collected(self.system.electric), self.domain.collected(self.system.magnetic)
        checkpoints.write(Moment(steps, *fields, [each.state() for each in self._recorders]))

    def _check(self, n: int) -> None:
        """Raise FloatingPointError on all ranks, with the first tetrahedron, where E or H is not finite after n steps.

        All ranks call it. Finite fields whose sum alone overflows pass.
        """
        if not self.domain.communicator.total(np.int64(not self.system.finite())):
            return
        self.system.fetch()
        fields = [self.domain.collected(each) for each in (self.system.electric, self.system.magnetic)]
        elements = np.flatnonzero(~np.isfinite(fields).all(axis=(0, 2, 3)))
        if len(elements):
            raise FloatingPointError(
                f"the field is no longer finite at step {n}, first in tetrahedron {elements[0]}: take a smaller step "
                f"(courant below {self.courant:.3g}) and check the mesh quality there"
            )


@contextmanager
def progress_of(choice: bool | Listener, text: str, total: int, rank: int) -> Iterator[Callable[[int], None]]:
    """A function to be called with the number of steps done. choice: whether a bar with the time left is shown, or a
    function that is called instead. Only rank 0 reports, every 20 steps."""
    listener = choice if callable(choice) else None
    if listener is None and not isinstance(choice, bool):
        raise ValueError(f"progress={choice!r}: True, False or a function of the parts done and all parts is needed")
    with Progress(transient=True, disable=listener is not None or not choice or rank > 0) as bar:
        task = bar.add_task(text, total=total)

        def report(done: int) -> None:
            if done % 20 and done < total or rank > 0:
                return
            if listener is not None:
                listener(done, total)
            else:
                bar.update(task, completed=done)

        yield report
