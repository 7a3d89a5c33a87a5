"""Time stepping on several threads and ranks: rates, efficiencies, and when each rank computes, sends and waits.

Strong: the same mesh on one and two processors, as threads of one rank or as ranks. Weak: a box twice as long on two
ranks. Every rank is a process of its own (dg_rank.py), started by mpiexec.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.patches import Patch
from rich.console import Console

from benchmarks import results
from benchmarks.machine import Floor
from calderon.plots.style import CURVES, HAIRLINE, new_figure, paper, plain_axes, save

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "rank_timeline.png"
COLOURS = dict(
    zip(
        ("inner elements", "elements at the cut", "send traces", "messages under way", "wait for traces"),
        (CURVES[0], CURVES[4], CURVES[1], CURVES[5], HAIRLINE),
        strict=True,
    )
)


class Row(NamedTuple):
    """One line of the table; like: the row that it is measured against."""

    kind: str
    mesh: str
    order: int
    ranks: int
    threads: int

    @property
    def name(self) -> str:
        return f"{self.kind} {self.mesh} P{self.order} {self.ranks}x{self.threads}"


ROWS = [
    *(Row("strong", mesh, order, *shape) for mesh in ("box", "phantom") for order in (2, 3)
      for shape in ((1, 1), (1, 2), (2, 1))),
    *(Row("weak", "box", order, ranks, 1) for order in (2, 3) for ranks in (1, 2)),
]  # fmt: skip


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """Every row whose name contains options.only, and the picture of two ranks' last step."""
    columns = ["", "ranks x threads", "tetrahedra", "10^6 updates/s", "speed-up", "efficiency", "waiting"]
    table = results.table("leap-frog, centred flux, double precision, on ranks and threads", columns)
    rows: list[dict[str, Any]] = []
    alone: dict[tuple[str, str, int], float] = {}
    for row in ROWS:
        if options.only not in row.name:
            continue
        ranks = run(row, options.repeat)
        first = ranks[0]
        rate = first["unknowns"] / max(each["seconds"] for each in ranks)
        if row.ranks * row.threads == 1:
            alone[row.kind, row.mesh, row.order] = rate
        base = alone.get((row.kind, row.mesh, row.order), float("nan"))  # not measured
        waiting = max(each["waiting"] / each["seconds"] for each in ranks)
        rows.append(row._asdict() | {"updates": rate, "waiting": waiting, "tetrahedra": first["tetrahedra"]})
        speed, efficiency = rate / base, rate / base / (row.ranks * row.threads)
        table.add_row(
            f"{row.kind} {row.mesh} P{row.order}", f"{row.ranks} x {row.threads}", f"{first['tetrahedra']:,}",
            f"{rate / 1e6:.0f}", f"{speed:.2f}", f"{efficiency:.0%}", f"{waiting:.1%}",
        )  # fmt: skip
        if row.ranks > 1 and row.mesh == "phantom" and row.order == 2 and not options.no_save:
            draw(ranks, PICTURE)
            screen.print(f"picture of the last step: {PICTURE.relative_to(PICTURE.parents[2])}")
    screen.print(table)
    return {"rows": rows}


def run(row: Row, repeat: int) -> list[dict[str, Any]]:
    """What each rank measured. RuntimeError where there is no mpiexec or a rank failed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    command = shutil.which("mpiexec", path=path)
    if command is None:
        raise RuntimeError("mpiexec is not at hand: pip install 'calderon[mpi]'")
    environment = os.environ | {"NUMBA_NUM_THREADS": str(row.threads), "PYTHONPATH": os.pathsep.join(sys.path)}
    with tempfile.TemporaryDirectory() as folder:
        cells = 2 if row.kind == "weak" and row.ranks == 2 else 1
        given = [row.mesh, str(row.order), str(cells), str(repeat), folder]
        done = subprocess.run(
            [command, "-n", str(row.ranks), sys.executable, "-m", "benchmarks.dg_rank", *given],
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
        plain_axes(axes, grid=False)
        handles = [Patch(color=colour, label=name) for name, colour in COLOURS.items()]
        figure.legend(handles=handles, ncols=len(handles), loc="outside upper center", handlelength=1.2)
        save(figure, path, dpi=200)
