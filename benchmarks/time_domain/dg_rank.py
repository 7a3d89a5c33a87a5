"""One rank of dg_scaling.py:

mpiexec -n RANKS python -m benchmarks.time_domain.dg_rank MESH BACKEND ORDER CELLS LENGTH REPEAT FOLDER
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import calderon as cal
from benchmarks.time_domain.dg import STEPS, plain_phantom
from calderon.dg.stepping.on_device import OnDevice
from calderon.dg.stepping.system import Steps
from calderon.parallel import world


class Timeline:
    """Intervals (name, begin, end) in seconds of a clock that all processes of a machine share."""

    def __init__(self) -> None:
        self.events: list[tuple[str, float, float]] = []

    def watched(self, call: Callable[..., Any], name: Callable[..., str]) -> Callable[..., Any]:
        """A function that makes the call and notes its interval under name(*arguments)."""

        def timed(*arguments: Any) -> Any:
            begin = time.perf_counter()
            result = call(*arguments)
            self.events.append((name(*arguments), begin, time.perf_counter()))
            return result

        return timed

    def watch(self, system: Any) -> None:
        """Note what a leap-frog system does from now on."""
        first_outer = system.inner_blocks[1]
        system._blocks = self.watched(
            system._blocks, lambda *a: "inner elements" if a[4][0] < first_outer else "elements at the cut"
        )
        halo = system.domain.halo
        if halo is not None:
            halo.begin = self.watched(halo.begin, lambda *a: "send traces")
            system.received = self.watched(system.received, lambda *a: "wait for traces")

    def with_messages(self) -> list[tuple[str, float, float]]:
        """All intervals, and those from the end of a sending to the end of the waiting for the answer."""
        sent = [event[2] for event in self.events if event[0] == "send traces"]
        got = [event[2] for event in self.events if event[0] == "wait for traces"]
        return self.events + [("messages under way", *pair) for pair in zip(sent, got, strict=True)]


def main(mesh: str, backend: str, order: int, cells: int, length: int, repeat: int, folder: Path) -> None:
    """Measure, and leave the numbers in a file named after the rank."""
    box = cal.mesh.box([0, 0, 0], [1, 1, length], cells=[cells, cells, cells * length])
    simulation = cal.MaxwellDG(box if mesh == "box" else plain_phantom(), order, backend=backend)
    mode = cal.exact.cubic_cavity((1, 1, 1))
    simulation.set_fields(mode.electric, mode.magnetic)
    system, step, ranks = simulation._system, simulation.time_step, world()

    def advance(steps: int) -> float:
        """Seconds, on a device without those in which fields come and go: from the end of the first step on."""
        ranks.total(0.0)  # together
        marks = [time.perf_counter()]

        def after(done: int) -> None:
            if isinstance(system, OnDevice) and done in (1, steps):
                system._device.synchronize()
                marks.append(time.perf_counter())

        system.advance(Steps(0.0, step, steps, after))
        return marks[-1] - marks[1] if len(marks) > 1 else time.perf_counter() - marks[0]

    advance(2)
    on_device = isinstance(system, OnDevice)
    seconds = min(advance(STEPS) for _ in range(max(1, repeat))) / (STEPS - 1 if on_device else STEPS + 0.5)
    line, waiting = Timeline(), None  # the host of a device waits all the time
    if not on_device:
        line.watch(system)
        advance(STEPS)
        waiting = sum(end - begin for name, begin, end in line.events if name == "wait for traces") / (STEPS + 0.5)
        line.events.clear()
        advance(1)
    (folder / f"{ranks.rank}.json").write_text(json.dumps({
        "seconds": seconds, "waiting": waiting, "events": line.with_messages(),
        "unknowns": simulation.number_of_unknowns, "tetrahedra": simulation.mesh.number_of_tetrahedra,
    }))  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:7]), Path(sys.argv[7]))
