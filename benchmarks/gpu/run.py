"""A card from the totals to the kernels, in the order of worth: `python -m benchmarks gpu`, at most eight minutes.

Totals first (bracket, fast multipole, H-matrix, plane waves, lens, dense, sums over points), then four million
unknowns, loads of time stepping that were published for one card, solutions, potentials, boxes of time stepping,
figures in the form in which they were published, and kernels. After each row the record is written as JSON; `--resume`
goes on with the newest one, and leaves out what it has. What may take longer than is left of `--seconds` is left out,
and said to be.

The device is the first of CUDA, else of OpenCL, or that of `--backend`; on a processor, sizes are small, for tests of
the command itself.
"""

import time
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from rich.console import Console

import calderon as cal
from benchmarks.common import results
from benchmarks.common.machine import Floor
from benchmarks.gpu import kernels, published, solutions, time_stepping
from benchmarks.gpu.limits import Limits
from benchmarks.gpu.rows import FOUR_MILLION, ROWS, Row, Section, chosen
from benchmarks.gpu.sampler import shown
from benchmarks.gpu.totals import total
from calderon.backends import Device, format_bytes

Found = dict[str, Any]


def measure(screen: Console, floor: Floor, options: Namespace) -> dict[str, Any]:
    """All rows on one device, as lines and as a record; ends at once where there is no device."""
    began, record = time.perf_counter(), options.record
    device = device_of(options.backend)
    if device is None:
        found = {name: cal.backends.survey(name) for name in cal.backends.DEVICE_BACKENDS}
        reasons = {name: each.missing or each.failures for name, each in found.items()}
        screen.print("no device: " + "; ".join(f"{name}: {reason}" for name, reason in reasons.items()))
        return {"device": None, "reasons": reasons}
    screen.print(f"{device.name}: {device.label}, {format_bytes(device.memory())}")
    rows, left_out = record.content.get("rows", {}), list[str]()
    record.write(device=device.name, label=device.label, rows=rows)
    for section in sections(screen, floor, device, options, record):
        spent = time.perf_counter() - began
        if section.name in rows and "failed" not in rows[section.name]:
            continue
        if spent > options.seconds or (device.is_gpu and spent + section.seconds > options.seconds):
            left_out.append(section.name)
            continue
        started = time.perf_counter()
        try:
            rows[section.name] = section.run()
        except Exception as error:  # noqa: BLE001 - one row that fails must not take the others with it
            rows[section.name] = {"failed": f"{type(error).__name__}: {error}"}
            screen.print(f"[bold red]FAILED {section.name}: {error}", markup=True)
        rows[section.name] |= {"row_seconds": time.perf_counter() - started}
        record.write()
    if left_out:
        screen.print(f"[yellow]left out, as {options.seconds:.0f} s would not do: {', '.join(left_out)}")
    return {"left_out": left_out, "seconds": time.perf_counter() - began}


def device_of(backend: str | None) -> Device | None:
    """The device of a backend; without one the first of CUDA, else of OpenCL, else None."""
    if backend:
        return cal.backends.get(backend)
    return next(
        (each for name in cal.backends.DEVICE_BACKENDS[::-1] for each in cal.backends.survey(name).devices), None
    )


def sections(
    screen: Console, floor: Floor, device: Device, options: Namespace, record: results.Record
) -> Iterator[Section]:
    """The rows whose names contain the words of `--only`, in their order."""
    limits = Limits(device, floor, record)
    precisions = ["double", "single"] if device.has_double else ["single"]

    def totals(row: Row) -> Section:
        unknowns = options.unknowns or (row.unknowns if device.is_gpu else row.few)

        def run() -> Found:
            found = total(row, unknowns, device, options.repeat)
            said = {key: results.seconds(found.get(key)) for key in ("seconds", "product_seconds", "host_seconds")}
            screen.print(
                f"{row.name}, {found['unknowns']:,} unknowns: set-up {said['seconds']} s (host {said['host_seconds']} "
                f"s), product {said['product_seconds']} s, error {found['error']:.1e}\n  {shown(found['phases'])}"
            )
            return found

        return Section(row.name, row.seconds, run)

    found = [totals(row) for row in ROWS]
    if device.is_gpu or "four-million" in options.only:
        found.append(totals(FOUR_MILLION))
    found += time_stepping.loads(screen, device, limits, options)
    found += solutions.rows(screen, device, precisions, options)
    found += kernels.potentials(screen, device, precisions, options)
    found += time_stepping.boxes(screen, device, precisions, limits, options)
    found += published.rows(screen, device, precisions, options)
    found += kernels.assemblies(screen, device, precisions, limits, options)
    yield from (each for each in found if chosen(each.name, options.only))
