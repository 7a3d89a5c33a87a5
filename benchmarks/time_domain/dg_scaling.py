"""Time stepping on several threads, ranks and devices: rates, efficiencies, and when each rank computes, sends and
waits.

Strong: the same mesh on one and two processors, as threads of one rank or as ranks. Weak: a box as many times as long
as there are ranks. Where there are graphics processors, large boxes on one rank for each of them; a single one is
shared by two ranks, too. Every rank is a process of its own (dg_rank.py), started by mpiexec.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from argparse import Namespace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.patches import Patch
from rich.console import Console

from benchmarks.common import results
from benchmarks.common.machine import Floor
from benchmarks.gpu import time_stepping
from benchmarks.time_domain import dg
from calderon.backends import DEVICE_BACKENDS, survey
from calderon.plots.style import CURVES, HAIRLINE, new_figure, paper, plain_axes, save

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "rank_timeline.png"
COLOURS = dict(
    zip(
        ("inner elements", "elements at the cut", "send traces", "messages under way", "wait for traces"),
        (CURVES[0], CURVES[4], CURVES[1], CURVES[5], HAIRLINE),
        strict=True,
    )
)


class Row(NamedTuple):
    """One line of the table."""

    kind: str
    mesh: str
    order: int
    ranks: int
    threads: int
    backend: str = "numba"

    @property
    def title(self) -> str:
        where = "" if self.backend == "numba" else f" {self.backend}"
        return f"{self.kind} {self.mesh} P{self.order}{where}"

    @property
    def name(self) -> str:
        return f"{self.title} {self.ranks}x{self.threads}"

    @property
    def cells(self) -> int:
        """Along each side of a box of length 1."""
        return (dg.CELLS if self.backend == "numba" else time_stepping.CELLS)[self.order]


ROWS = [
    *(Row("strong", mesh, order, *shape) for mesh in ("box", "phantom") for order in (2, 3)
      for shape in ((1, 1), (1, 2), (2, 1))),
    *(Row("weak", "box", order, ranks, 1) for order in (2, 3) for ranks in (1, 2)),
]  # fmt: skip


def device_rows() -> list[Row]:
    """Boxes on 1, 2, 4, ... graphics processors of the first kind there is, at least on two ranks; none without one."""
    for backend in DEVICE_BACKENDS:
        cards = sum(device.is_gpu for device in survey(backend).devices)
        ranks = [2**n for n in range(10) if 2**n <= max(cards, 2)]
        if cards:
            kinds = product(("strong", "weak"), (2, 3), ranks)
            return [Row(kind, "box", order, count, 1, backend) for kind, order, count in kinds]
    return []


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Every row whose name contains options.only, and the picture of two ranks' last step."""
    columns = ["", "ranks x threads", "tetrahedra", "10^6 updates/s", "speed-up", "efficiency", "waiting"]
    table = results.table("leap-frog, centred flux, double precision, on ranks and threads", columns)
    rows: list[dict[str, Any]] = []
    alone: dict[str, float] = {}
    for row in ROWS + device_rows():
        if options.only not in row.name:
            continue
        ranks = run(row, options.repeat)
        first = ranks[0]
        rate = first["unknowns"] / max(each["seconds"] for each in ranks)
        if row.ranks * row.threads == 1:
            alone[row.title] = rate
        base = alone.get(row.title, float("nan"))  # not measured
        waited = [each["waiting"] / each["seconds"] for each in ranks if each["waiting"] is not None]
        waiting = max(waited, default=None)
        rows.append(row._asdict() | {"updates": rate, "waiting": waiting, "tetrahedra": first["tetrahedra"]})
        speed, efficiency = rate / base, rate / base / (row.ranks * row.threads)
        table.add_row(
            row.title, f"{row.ranks} x {row.threads}", f"{first['tetrahedra']:,}",
            f"{rate / 1e6:.0f}", f"{speed:.2f}", f"{efficiency:.0%}",
            "-" if waiting is None else f"{waiting:.1%}",
        )  # fmt: skip
        if row.ranks > 1 and row.mesh == "phantom" and row.order == 2 and not options.no_save:
            draw(ranks, PICTURE)
            screen.print(f"picture of the last step: {PICTURE.relative_to(PICTURE.parents[2])}")
    screen.print(table)
    return {"rows": rows}


def run(row: Row, repeat: int) -> list[dict[str, Any]]:
    """Measurements of each rank. RuntimeError where there is no mpiexec or a rank failed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    command = shutil.which("mpiexec", path=path)
    if command is None:
        raise RuntimeError("mpiexec is not available: pip install 'calderon[mpi]'")
    environment = os.environ | {"NUMBA_NUM_THREADS": str(row.threads), "PYTHONPATH": os.pathsep.join(sys.path)}
    with tempfile.TemporaryDirectory() as folder:
        length = row.ranks if row.kind == "weak" else 1
        given = [row.mesh, row.backend, *map(str, (row.order, row.cells, length, repeat)), folder]
        done = subprocess.run(
            [command, "-n", str(row.ranks), sys.executable, "-m", "benchmarks.time_domain.dg_rank", *given],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{row.name} failed:\n{done.stderr}")
        return [json.loads((Path(folder) / f"{rank}.json").read_text()) for rank in range(row.ranks)]


def draw(ranks: list[dict[str, Any]], path: Path) -> None:
    """Bars of what every rank did during its last whole step, over time in ms."""
    begin = min(event[1] for rank in ranks for event in rank["events"])
    with paper():
        figure = new_figure(7.2, 2.1, fitted=True)
        axes = figure.add_subplot()
        for number, rank in enumerate(ranks):
            for name, start, end in rank["events"]:
                place, height = (number + 0.33, 0.1) if name == "messages under way" else (number, 0.45)
                axes.barh(place, 1e3 * (end - start), height, 1e3 * (start - begin), color=COLOURS[name])
        axes.set_yticks(range(len(ranks)), [f"rank {number}" for number in range(len(ranks))])
        axes.invert_yaxis()
        axes.set_xlabel("time (ms)")
        plain_axes(axes)
        axes.grid(False)
        handles = [Patch(color=colour, label=name) for name, colour in COLOURS.items()]
        figure.legend(handles=handles, ncols=len(handles), loc="outside upper center", handlelength=1.2)
        save(figure, path, dpi=200)
