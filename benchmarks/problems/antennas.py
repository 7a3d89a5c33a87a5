"""Composite bodies and wires: what joining regions, ports and segments costs.

- a ball cut in two by an interface of equal media: assembly against that of the operators of its regions apart (bound
  1.15), and steps of GMRES, preconditioner "near", against the ball without the cut (1.3);
- the same with --unknowns (20,000) by plane waves: seconds and bytes an unknown against the ball without the cut (1.4);
- a straight wire of 2001 segments against nec2c, if that is installed (half of its processor time);
- 64 dipoles with 64 ports against one port of them (1.5);
- a ball in halves of two media: two meshes, and the solver in time (`halves`), in dB.
"""

import resource
import shutil
import subprocess
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor
from benchmarks.common.spheres import cut_ball
from benchmarks.problems import halves
from benchmarks.problems.halves import in_halves

WAVE = cal.PlaneWave([0, 0, 1], polarization=[1, 0, 0])
MEDIUM, K, SMALL, SEGMENTS = 2.25, 1.5, (2356, 3920), 2001
DECK = "CE\nGW 1 {0} 0 0 -5 0 0 5 1e-4\nGE 0\nEX 0 1 {1} 0 1 0\nFR 0 1 0 0 299.792458 0\nXQ\nEN\n"


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """All; --unknowns: about so many of the second."""
    record: dict[str, Any] = {}
    table = results.table("Composite bodies and wires", ["", "ratio", "at most", "this", "other"])
    for name, bound, pair in (
        *(row for unknowns in SMALL for row in _ball(unknowns)),
        *_by_plane_waves(options.unknowns or 20_000),
        *_wire(),
        ("64 ports, one port (s)", 1.5, _ports()),
    ):
        ratio = pair[0] / pair[1]
        record[name] = {"ratio": ratio, "bound": bound, "values": list(pair)}
        table.add_row(name, f"{ratio:.3g}", f"{bound:g}", *(f"{each:.4g}" for each in pair))
    screen.print(table)
    return record | {"halves": halves.show(screen)}


def _cut_ball(unknowns: int) -> cal.MaxwellProblem:
    """A ball in two halves of one medium, with about so many unknowns."""
    return in_halves(cut_ball(unknowns), MEDIUM, MEDIUM, K)


def _seconds(work: Callable[[], Any]) -> float:
    """Processor seconds, which depend less on other programs than those of the clock."""
    began = time.process_time()
    work()
    return time.process_time() - began


def _ball(unknowns: int) -> list[tuple[str, float, tuple[float, float]]]:
    def apart() -> None:
        for own, medium in zip(problem.traces, problem.media, strict=True):
            cal.electric_field(medium.green, own.space).assemble("dense")
            cal.magnetic_field(medium.green, own.space, own.space.perpendicular()).assemble("dense")

    outer = _cut_ball(unknowns).mesh.restricted(["upper", "lower"])
    given: dict[str, Any] = {"method": "dense", "solver": "gmres", "preconditioner": "near", "rtol": 1e-5}
    pairs = []
    for _ in range(6):
        problem = _cut_ball(unknowns)
        pairs.append((_seconds(lambda one=problem: one.system.operator.assemble("dense")), _seconds(apart)))  # type: ignore[misc]
    best = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    steps = tuple(float(one.solve(WAVE, **given).info.iterations) for one in (problem, _uncut(outer)))
    size = f"{problem.unknowns:,} unknowns"
    return [
        (f"set-up of {size}, regions apart (s)", 1.15, best),
        (f"steps of GMRES, {size}, cut and uncut", 1.3, (steps[0], steps[1])),
    ]


def _uncut(outer: cal.TriangleMesh) -> cal.MaxwellProblem:
    surfaces = {name: cal.Interface("air", "ball") for name in ("upper", "lower")}
    media = {"air": cal.Material(), "ball": cal.Material(MEDIUM)}
    return cal.MaxwellProblem(outer, regions=media, surfaces=surfaces, wavenumber=K)


def _by_plane_waves(unknowns: int) -> list[tuple[str, float, tuple[float, float]]]:
    cut = _cut_ball(unknowns)
    whole = _uncut(cut.mesh.restricted(["upper", "lower"]))
    given: dict[str, Any] = {"method": "mlfmm", "rtol": 1e-3}  # preconditioner "near" by default
    _cut_ball(SMALL[0]).solve(WAVE, **given)  # kernels are compiled before
    seconds, storage = [], []
    for problem in (cut, whole):
        storage.append(problem.plan(**given).nbytes / problem.unknowns)
        seconds.append(_seconds(lambda one=problem: one.solve(WAVE, **given)) / problem.unknowns)
    return [
        (f"plane waves, {cut.unknowns:,} unknowns (s each)", 1.4, (seconds[0], seconds[1])),
        ("plane waves, planned bytes an unknown", 1.4, (storage[0], storage[1])),
    ]


def _wire() -> list[tuple[str, float, tuple[float, float]]]:
    wire = cal.Wire([[0, 0, -5], [0, 0, 5]], 1e-4, SEGMENTS)

    def solved() -> None:
        cal.WireAntenna(wire, cal.WireGap([0, 0, 0]), cal.exact.SPEED_OF_LIGHT).solve()

    if shutil.which("nec2c") is None:
        return []
    solved()
    with tempfile.TemporaryDirectory() as folder:
        deck = Path(folder) / "wire.nec"
        deck.write_text(DECK.format(SEGMENTS, SEGMENTS // 2 + 1))
        command = ["nec2c", f"-i{deck}", f"-o{folder}/wire.out"]
        began = time.process_time()
        solved()
        own, before = time.process_time() - began, _children()
        subprocess.run(command, check=True)
        return [(f"{SEGMENTS} segments, nec2c (processor s)", 0.5, (own, _children() - before))]


def _children() -> float:
    """Processor seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _ports() -> tuple[float, float]:
    places = [(x, y) for x in range(8) for y in range(8)]
    wires = [cal.Wire([[0.5 * x, 0.5 * y, -0.235], [0.5 * x, 0.5 * y, 0.235]], 1e-3, 20) for x, y in places]
    gaps = [cal.WireGap([0.5 * x, 0.5 * y, 0]) for x, y in places]

    def of(number: int) -> float:
        antenna = cal.WireAntenna(wires, gaps[:number], cal.exact.SPEED_OF_LIGHT)
        return _seconds(antenna.admittance_matrix)

    of(1)
    return min(of(64) for _ in range(2)), min(of(1) for _ in range(2))
