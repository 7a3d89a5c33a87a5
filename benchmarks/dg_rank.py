"""One rank of dg_scaling.py: mpiexec -n RANKS python -m benchmarks.dg_rank MESH ORDER LENGTH REPEAT FOLDER."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import calderon as cal
from benchmarks.dg import CELLS, STEPS, plain_phantom
from calderon.parallel import world


class Timeline:
    """Intervals (name, begin, end) in seconds of a clock that all processes of a machine share."""

    def __init__(self) -> None:
        self.events: list[tuple[str, float, float]] = []

    def watched(self, call: Callable[..., Any], name: Callable[..., str]) -> Callable[..., Any]:
        """The same call, its interval noted under name(*arguments)."""

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


def main(mesh: str, order: int, length: int, repeat: int, folder: Path) -> None:
    """Measure, and leave the numbers in a file named after the rank."""
    cells = CELLS[order]
    box = cal.mesh.box([0, 0, 0], [1, 1, length], cells=[cells, cells, cells * length])
    simulation = cal.MaxwellDG(box if mesh == "box" else plain_phantom(), order)
    mode = cal.exact.cubic_cavity((1, 1, 1))
    simulation.set_fields(mode.electric, mode.magnetic)
    system, step, ranks = simulation._system, simulation.time_step, world()

    def advance(steps: int) -> float:
        ranks.total(0.0)  # together
        begin = time.perf_counter()
        system.advance(0.0, step, steps, lambda n: None)
        return time.perf_counter() - begin

    advance(2)
    seconds = min(advance(STEPS) for _ in range(max(1, repeat))) / (STEPS + 0.5)
    line = Timeline()
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
    main(sys.argv[1], *map(int, sys.argv[2:5]), Path(sys.argv[5]))
